"""The pieces of the card validator: checks of single values, built up to checks of objects.

A check gets a value, its place in the card, and the reading so far; it raises CardRefusedError at the first fault.
Source: feishu-platform notes 2.8 (sub-codes), 5.1 (2.0 refuses what it does not know).
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

MALFORMED = 200621
MALFORMED_ID = 300301
LONGEST_ID = 20
LOCALES = frozenset(
    "zh_cn en_us ja_jp zh_hk zh_tw id_id vi_vn th_th pt_br es_es ko_kr de_de fr_fr it_it ru_ru ms_my".split()  # noqa: SIM905
)


@dataclass(frozen=True, slots=True)
class CardError:
    """Why a card cannot be created: the parts of the platform's message."""

    err_code: int
    err_path: str
    err_msg: str
    err_value: str = ""


class CardRefusedError(Exception):
    def __init__(self, code: int, place: "Place", msg: str, value: str = "") -> None:
        super().__init__(code, msg)
        self.error = CardError(code, place.path, msg, value)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a value stands. `depth` counts the containers around it."""

    path: str = "ROOT"
    depth: int = 0
    in_form: bool = False

    def at(self, key: str) -> "Place":
        return replace(self, path=f"{self.path} -> {key}")

    def item(self, index: int, value: Any) -> "Place":
        tag = f"(tag: {value['tag']})" if isinstance(value, dict) and "tag" in value else ""
        return self.at(f"[{index}]{tag}")

    def inside(self, *, form: bool = False) -> "Place":
        return replace(self, depth=self.depth + 1, in_form=self.in_form or form)


@dataclass(slots=True)
class Reading:
    """What was met on the way: it must be unique, or be compared with the world afterwards."""

    ids: set[str] = field(default_factory=set)
    names: set[str] = field(default_factory=set)
    images: dict[str, str] = field(default_factory=dict)
    users: dict[str, str] = field(default_factory=dict)
    mention_all: str | None = None
    tables: int = 0
    forwardable: bool = True
    audio_ids: set[str] = field(default_factory=set)
    warnings: list[str] = field(default_factory=list)

    def warn(self, place: Place, text: str) -> None:
        self.warnings.append(f"{place.path}: {text}")


Check = Callable[[Any, Place, Reading], None]


def malformed(place: Place, text: str, value: Any = "") -> CardRefusedError:
    return CardRefusedError(MALFORMED, place, f"parse card json err, {text}", str(value)[:80])


def anything(_value: Any, _place: Place, _reading: Reading) -> None:
    """Any JSON."""


def boolean(value: Any, place: Place, _reading: Reading) -> None:
    if not isinstance(value, bool):
        raise malformed(place, "not a boolean", value)


def mapping(value: Any, place: Place, _reading: Reading) -> None:
    if not isinstance(value, dict):
        raise malformed(place, "not an object", value)


def number(low: float = float("-inf"), high: float = float("inf"), *, whole: bool = False) -> Check:
    def check(value: Any, place: Place, _reading: Reading) -> None:
        kinds = int if whole else (int, float)
        if isinstance(value, bool) or not isinstance(value, kinds) or not low <= value <= high:
            raise malformed(place, f"not a number from {low} to {high}", value)

    return check


def string(*, most: int | None = None, least: int = 0, pattern: str = "") -> Check:
    """Length in characters; `pattern` must match the whole string."""
    wanted = re.compile(pattern)

    def check(value: Any, place: Place, _reading: Reading) -> None:
        if not isinstance(value, str):
            raise malformed(place, "not a string", value)
        if len(value) < least or (most is not None and len(value) > most):
            raise malformed(place, f"length must be {least} to {most}", len(value))
        if pattern and not wanted.fullmatch(value):
            raise malformed(place, "invalid format", value)

    return check


def one_of(*allowed: str) -> Check:
    def check(value: Any, place: Place, _reading: Reading) -> None:
        if value not in allowed:
            raise malformed(place, f"not one of {', '.join(allowed)}", value)

    return check


def either(*checks: Check) -> Check:
    """The first check that accepts; the last one's refusal stands."""

    def check(value: Any, place: Place, reading: Reading) -> None:
        for one in checks[:-1]:
            try:
                return one(value, place, reading)
            except CardRefusedError:
                continue
        return checks[-1](value, place, reading)

    return check


def pixels(low: int, high: int | None = None) -> Check:
    """Like `320px`."""

    def check(value: Any, place: Place, _reading: Reading) -> None:
        found = re.fullmatch(r"(-?\d{1,6})px", value) if isinstance(value, str) else None
        if found is None or int(found[1]) < low or (high is not None and int(found[1]) > high):
            raise malformed(place, f"not [{low},{high or '∞'}]px", value)

    return check


def box(low: int, high: int) -> Check:
    """Padding or margin: 1, 2 or 4 pixel values."""
    side = pixels(low, high)

    def check(value: Any, place: Place, reading: Reading) -> None:
        sides = value.split() if isinstance(value, str) else []
        if len(sides) not in (1, 2, 4):
            raise malformed(place, "needs 1, 2 or 4 values", value)
        for one in sides:
            side(one, place, reading)

    return check


def listing(check_item: Check, *, least: int = 0, most: int | None = None) -> Check:
    def check(value: Any, place: Place, reading: Reading) -> None:
        if not isinstance(value, list):
            raise malformed(place, "not a list", value)
        if len(value) < least or (most is not None and len(value) > most):
            raise malformed(place, f"must have {least} to {most} entries", len(value))
        for index, item in enumerate(value):
            check_item(item, place.item(index, item), reading)

    return check


def struct(fields: Mapping[str, Check], *required: str) -> Check:
    """An object with these properties and no others."""

    def check(value: Any, place: Place, reading: Reading) -> None:
        mapping(value, place, reading)
        for key in value:
            if key not in fields:
                raise malformed(place, f"unknown property: {key}, path: [{place.path}]", key)
        for key in required:
            if key not in value:
                raise malformed(place, f"missing required property: {key}", key)
        for key, one in value.items():
            fields[key](one, place.at(key), reading)

    return check


def by_locale(check_text: Check) -> Check:
    """One value a language, e.g. `i18n_content`."""

    def check(value: Any, place: Place, reading: Reading) -> None:
        struct(dict.fromkeys(LOCALES, check_text))(value, place, reading)

    return check


def element_id(value: Any, place: Place, reading: Reading) -> None:
    """300301: letters, digits and `_`, a letter first, at most 20 characters, once in the card."""
    ok = isinstance(value, str) and re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", value) and len(value) <= LONGEST_ID
    if not ok or value in reading.ids:
        raise CardRefusedError(MALFORMED_ID, place, "element_id is invalid or duplicate", str(value)[:80])
    reading.ids.add(value)


def name(value: Any, place: Place, reading: Reading) -> None:
    """Unique in the card, and not empty."""
    string(least=1)(value, place, reading)
    if value in reading.names:
        raise malformed(place, "duplicate name", value)
    reading.names.add(value)


def image_key(value: Any, place: Place, reading: Reading) -> None:
    string(least=1)(value, place, reading)
    reading.images.setdefault(value, place.path)


def user_id(value: Any, place: Place, reading: Reading) -> None:
    string(least=1)(value, place, reading)
    reading.users.setdefault(value, place.path)
