"""Rendered JSON text -> Card: parsed, dumped compactly, counted and measured as the request that will carry it."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NoReturn

from bot.domain.errors import BotError

# Everything of the request but the encoded card: field names, an open_id or chat_id (35 characters) and a uuid (at
# most 50) make 148 bytes; the rest is reserve for a longer id.
ENVELOPE_BYTES = 200

compact = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
_EMPTY_BYTES = len(compact(compact("")))

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Limits:
    """What one card may cost. The platform: 30 KB of request body and 200 elements, both counted in ways it does
    not document (message create 230025, card 11310, read 2026-05); so we stay clear of them.
    """

    body_bytes: int = 28_000
    elements: int = 150


@dataclass(frozen=True, slots=True)
class Card:
    """A card ready to send. `bytes`: UTF-8 size of the final request body; `elements`: JSON objects with a `tag`."""

    body: str
    bytes: int
    elements: int

    def fits(self, limits: Limits) -> bool:
        """Whether the platform will take it."""
        return self.bytes <= limits.body_bytes and self.elements <= limits.elements


def card(template: str, rendered: str) -> Card:
    """What a template made, as a card.

    Raises: BotError naming the template if it is not one JSON object.
    """
    try:
        tree = json.loads(rendered, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise BotError(f"card template {template} does not produce JSON ({error}); correct or remove it") from error
    if not isinstance(tree, dict):
        raise BotError(f"card template {template} does not produce a JSON object; correct or remove it")
    # Half of a surrogate pair has no UTF-8 form: it would fail only when the request is written.
    body = _LONE_SURROGATE.sub("\ufffd", compact(tree))
    return Card(body, body_bytes(body), sum(1 for _ in _tagged(tree)))


def body_bytes(content: str) -> int:
    """UTF-8 size of the request body that carries a message with this JSON text."""
    return ENVELOPE_BYTES + len(compact(content).encode())


def wire_bytes(text: str) -> int:
    """What a string inside a card adds to the request body: the card is JSON, and a JSON string once more."""
    return len(compact(compact(text)).encode()) - _EMPTY_BYTES


def _tagged(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        if "tag" in value:
            yield value
        value = list(value.values())
    if isinstance(value, list):
        for child in value:
            yield from _tagged(child)


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")
