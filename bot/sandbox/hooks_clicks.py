"""Clicks on cards that nobody hears of: batch-sent ones (feishu-platform notes 3.6), those of custom bots (5.4, 12)."""

from typing import Any

from bot.sandbox.card_answers import Answer, failed
from bot.sandbox.events import NO_ADDRESS, Pusher


class OneWayPusher(Pusher):
    """Shows 200340 for them, as for an app without a callback address (6.3: the nearest code), and pushes nothing."""

    async def call_back(self, event: dict[str, Any]) -> Answer:
        message = self._world.messages.get(event.get("context", {}).get("open_message_id", ""))
        if message is not None and (message.batch_id or message.sender_id not in self._world.apps):
            return failed(NO_ADDRESS)
        return await super().call_back(event)
