"""Whether another card may take the place of a sent one. Sources: feishu-platform notes 3.2, 2.8 (lock), 15.11."""

from typing import Any

import msgspec

from bot.sandbox.call_checks import invalid
from bot.sandbox.message_content import card_refusal, check_content
from bot.sandbox.state import App, Message, World
from bot.sandbox.validator_fields import CardError

LOCKED = CardError(11310, "ROOT", "card action is lock")
WENT_BACK = CardError(200830, "ROOT", "a card of schema V2 cannot become one of schema V1")


def check_replacement(world: World, app: App, message: Message, content: str) -> None:
    """The new card is valid, and both are shared ones: that is the default of JSON 2.0, not of 1.0.

    While somebody's click waits for its answer the card is locked. The code for a card that is not shared is assumed.
    """
    if message.message_id in world.in_interaction:
        raise card_refusal(LOCKED)
    before = card_in(message.content)
    if not is_shared(before):
        raise invalid("the card was sent without update_multi")
    check_content(world, app, world.chats[message.chat_id], "interactive", content)
    after = card_in(content)
    if goes_back(before, after):
        raise card_refusal(WENT_BACK)
    if not is_shared(after):
        raise invalid("update_multi must be true")


def card_in(content: str) -> dict[str, Any]:
    card: dict[str, Any] = msgspec.json.decode(content)
    return card


def goes_back(before: dict[str, Any], after: dict[str, Any]) -> bool:
    """JSON 2.0 cards stay 2.0."""
    return before.get("schema") == "2.0" and after.get("schema") != "2.0"


def is_shared(card: dict[str, Any]) -> bool:
    config = card.get("config")
    chosen = config.get("update_multi") if isinstance(config, dict) else None
    return chosen is True or (chosen is None and card.get("schema") == "2.0")
