"""Reading JSON that may hold anything anywhere: every function answers for every value and none raises."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

LANGUAGE = "zh_cn"


def mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def sequence(value: object) -> Sequence[Any]:
    return value if isinstance(value, list | tuple) else ()


def text_of(value: object) -> str:
    """The text a Chinese client shows: of a string, a number, or a text object with or without translations."""
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return _translated(mapping(value.get("i18n_content"))) or text_of(value.get("content"))
    if isinstance(value, bool) or not isinstance(value, int | float):
        return ""
    return number_text(value)


def _translated(translations: Mapping[str, Any]) -> str:
    chosen = translations.get(LANGUAGE)
    return chosen if isinstance(chosen, str) else ""


def number_text(value: float) -> str:
    try:
        return str(value)
    except ValueError:  # an integer of more digits than Python prints
        return "…"


def number(value: object, default: float = 0.0) -> float:
    """A finite number out of a number or its text."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return default
    try:
        found = float(value)
    except (ValueError, OverflowError):
        return default
    return found if math.isfinite(found) else default


def whole(value: object, low: int, high: int, default: int) -> int:
    """An integer between two bounds; whatever is not a number is the default."""
    return int(min(max(number(value, default), low), high))
