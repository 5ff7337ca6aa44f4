"""One click on a card, between person and app. Sources: feishu-platform notes 6.1, 6.2, 3.7 (token), 2.8 (lock)."""

from typing import Any

import msgspec

from bot.sandbox.card_answers import Answer
from bot.sandbox.events import Pusher
from bot.sandbox.state import CardToken, Message, World
from bot.sandbox.visibility import ActionRefusedError

CLICK_DAYS = 14  # CBK: a JSON 2.0 card stops calling back after 14 days


def pressable_card(message: Message, now: float) -> dict[str, Any]:
    """The card of a message whose buttons still work."""
    if message.msg_type != "interactive" or message.sender_type != "app":
        raise ActionRefusedError("this message is not a card")
    if now - message.created_at > CLICK_DAYS * 86_400:
        raise ActionRefusedError(f"the card is older than {CLICK_DAYS} days: its buttons no longer work")
    card: dict[str, Any] = msgspec.json.decode(message.content)
    return card


async def call_back(world: World, pusher: Pusher, app_id: str, event: dict[str, Any]) -> Answer:
    """The app's answer. The card is locked meanwhile, and its token works only once the app has answered."""
    message_id = event["context"]["open_message_id"]
    token = CardToken(event["token"], app_id, message_id, pusher.clock.now())
    world.put(token)
    world.in_interaction.append(message_id)
    try:
        answer = await pusher.call_back(event)
    finally:
        world.in_interaction.remove(message_id)
    if answer.code == 0:
        world.change(token, answered=True)
    return answer
