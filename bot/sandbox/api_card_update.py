"""The delayed update of a card that somebody pressed. Source: feishu-platform notes 3.7, 15.8 (page DELAY).

Errors are HTTP 400. Which code stands for an invalid card (100030) and for an update before the callback was answered
(11311) is an assumption; the page lists both without their cause.
"""

from collections.abc import Sequence
from typing import Any

import msgspec
from starlette.routing import BaseRoute

from bot.sandbox.call_checks import require_bot
from bot.sandbox.card_replacement import card_in, goes_back, is_shared
from bot.sandbox.gateway import Call, Gateway, RefusalError
from bot.sandbox.message_content import CARD_BYTES, check_content
from bot.sandbox.state import CardToken, Message

TOKEN_LIFE_S = 1800
MOST_USES = 2


def routes(gateway: Gateway) -> Sequence[BaseRoute]:
    path = "/open-apis/interactive/v1/card/update"
    return [gateway.route("POST", path, "update_card", CardUpdates(gateway).update)]


class CardUpdates:
    def __init__(self, gateway: Gateway) -> None:
        self._world, self._clock = gateway.world, gateway.clock

    async def update(self, call: Call) -> dict[str, Any]:
        """`card` is an object, not a string. Only a success uses the token up (assumption)."""
        body = call.json()
        token, card = body.get("token"), body.get("card")
        if not isinstance(token, str) or not isinstance(card, dict):
            raise RefusalError(10002, "invalid parameters")
        require_bot(call.app)
        found = self._usable(call, token)
        message = self._world.messages[found.message_id]
        content = self._checked(call, message, card)
        await call.pause()
        used = self._world.card_tokens[token]
        self._world.change(used, uses=used.uses + 1)
        shown = self._world.messages[message.message_id]
        self._world.change(shown, content=content, updated=True, updated_at=self._clock.now())
        return {"code": 0, "msg": "ok", "data": {}}

    def _usable(self, call: Call, token: str) -> CardToken:
        found = self._world.card_tokens.get(token)
        if found is None:
            raise RefusalError(300020, "the card token is invalid")
        if found.app_id != call.app.app_id:
            raise RefusalError(200310, "the card belongs to another app")
        if self._clock.now() - found.at > TOKEN_LIFE_S:
            raise RefusalError(300030, "the card token has expired")
        if found.uses >= MOST_USES:
            raise RefusalError(300040, f"the card token was used {MOST_USES} times")
        if not found.answered:
            raise RefusalError(11311, "the card callback has not been answered")
        return found

    def _checked(self, call: Call, message: Message, card: dict[str, Any]) -> str:
        """The new content. `open_ids` names the viewers of a card that is not shared; a shared one needs none."""
        if message.recalled or message.deleted:
            raise RefusalError(200000, "the message was recalled")
        viewers = card.get("open_ids")
        shown = {key: value for key, value in card.items() if key != "open_ids"}
        content = msgspec.json.encode(shown).decode()
        if len(content.encode()) > CARD_BYTES:  # the page says 30 KB, an older one 100 KB after conversion
            raise RefusalError(100000, "the card is too large")
        if goes_back(card_in(message.content), shown):
            raise RefusalError(100030, "a card of schema V2 cannot become one of schema V1")
        if not is_shared(shown) and not viewers:
            raise RefusalError(300090, "open_ids is required for a card that is not shared")
        try:
            check_content(self._world, call.app, self._world.chats[message.chat_id], "interactive", content)
        except RefusalError as refusal:
            raise RefusalError(100030, refusal.msg) from refusal
        return content
