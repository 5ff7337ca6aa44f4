"""Values of table fields in the forms in which the API gives them. Source: bitable-v1 app-table-record; notes 9.4.

Text: [{"text", "type", "link"?}]; a link: {"link", "text"}; people: [{"name"}]; choices: "a" or ["a", "b"]; a day:
milliseconds; a formula or a look-up: {"type", "value": [...]}; a place: {"full_address"}.
"""

import re
from collections.abc import Iterator
from datetime import date, datetime, tzinfo
from typing import Any

from bot.domain.digest import Inline, Link
from bot.reading.docx.inlines import web_url
from bot.reading.encoding import visible
from bot.reading.inlines import inlines

_NAMES = ("text", "name", "full_address", "link")
_BREAK = re.compile(r"\r\n|[\r\n]")
_LEAST_MS = 10**11  # 1973: a smaller number is no day in milliseconds


def texts_of(value: Any) -> list[str]:
    """The choices, people or texts of a field. The pieces of a rich text are one text."""
    if isinstance(value, list) and any(isinstance(one, dict) and "type" in one for one in value):
        return ["".join(text for one in value for text in texts_of(one))]
    if isinstance(value, list):
        return [text for one in value for text in texts_of(one)]
    if isinstance(value, dict):
        inner = value.get("value", next((value[name] for name in _NAMES if value.get(name)), None))
        return texts_of(inner)
    if value is None or isinstance(value, bool):
        return []
    text = f"{value:g}" if isinstance(value, float) else str(value)
    return [visible(text)]


def link_of(value: Any) -> str | None:
    """The first web address in a field."""
    if isinstance(value, dict):
        return web_url(value.get("link")) or link_of(value.get("value")) or link_of(value.get("text"))
    if isinstance(value, list):
        return next(filter(None, map(link_of, value)), None)
    return web_url(value)


def day_of(value: Any, zone: tzinfo) -> date | None:
    """The day of a date field; the platform gives the moment at which the day begins in the table's zone."""
    if isinstance(value, dict):
        value = value.get("value")
    if isinstance(value, list):
        value = value[0] if value else None
    if not isinstance(value, int | float) or isinstance(value, bool) or value < _LEAST_MS:
        return None
    try:
        return datetime.fromtimestamp(value / 1000, zone).date()
    except (ValueError, OverflowError, OSError):
        return None


def lines_of(value: Any) -> list[tuple[Inline, ...]]:
    """The paragraphs of a text field with its links and formulas."""
    lines: list[list[Inline]] = [[]]
    for text, link in _segments(value):
        for number, part in enumerate(_BREAK.split(text)):
            if number:
                lines.append([])
            if part.strip():
                lines[-1] += [Link(link, part)] if link else inlines(part)
    return [tuple(line) for line in lines if line]


def _segments(value: Any) -> Iterator[tuple[str, str | None]]:
    """Pieces of text, each with where it leads."""
    if isinstance(value, list) and all(isinstance(one, dict) for one in value):
        for one in value:
            yield "".join(texts_of(one)), web_url(one.get("link"))
    elif isinstance(value, dict) and "value" not in value:
        yield "".join(texts_of(value)), web_url(value.get("link"))
    else:
        yield "\n".join(texts_of(value)), None
