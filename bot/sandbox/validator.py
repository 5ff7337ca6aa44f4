"""Strict validator of card JSON 2.0: the first reason why the platform would not create a card, and what looks bad.

Two steps, so that one card for thousands of receivers is read once: `check_card` needs only the content,
`check_references` compares what it names with the world. Source: feishu-platform notes 5.2-5.6, 15.6.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import msgspec

from bot.sandbox.validator_components import elements
from bot.sandbox.validator_fields import (
    LOCALES,
    CardError,
    CardRefusedError,
    Check,
    Place,
    Reading,
    boolean,
    by_locale,
    element_id,
    listing,
    malformed,
    number,
    one_of,
    string,
    struct,
)
from bot.sandbox.validator_parts import (
    DIRECTION,
    HEIGHT,
    ICON,
    PADDING,
    PLAIN,
    PLAIN_OR_LARK,
    SIDE,
    SPACING,
    TEXT,
    card_link,
)
from bot.sandbox.validator_text import ELEMENT_LIMIT, NO_SUCH_USER

MOST_ELEMENTS = 200
MOST_TABLES = 5
SAFE_TABLES = 3  # reports from the field differ between 4 and 7 (5.6.5)
MOST_TAGS_SHOWN = 3
NO_SUCH_IMAGE = 200570
NO_SUCH_TEMPLATE = 200380
ONLY_MULTI = 300302
UNCOUNTED = {"value", "chart_spec", "rows"}  # their objects are the app's own data
TAG_COLOURS = (
    "neutral", "blue", "turquoise", "lime", "orange", "violet", "indigo", "wathet", "green", "yellow", "red", "purple",
    "carmine",
)  # fmt: skip
TEMPLATES = (
    "blue", "wathet", "turquoise", "green", "yellow", "orange", "red", "carmine", "violet", "purple", "indigo", "grey",
    "default",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class CardReport:
    """`error` is the first refusal. `images` and `users` map what the card names to the place where it does."""

    error: CardError | None
    warnings: tuple[str, ...] = ()
    images: Mapping[str, str] | None = None
    users: Mapping[str, str] | None = None
    mention_all: str | None = None


@lru_cache(maxsize=256)
def check_card(content: str) -> CardReport:
    """Read the JSON string of an interactive message. JSON 1.0 ignores what it does not know, so it is not checked."""
    root, reading = Place(), Reading()
    try:
        card = _parsed(content, root)
        if card.get("schema", "1.0") == "1.0":
            return CardReport(None, ("ROOT: without schema 2.0 this is a JSON 1.0 card, which is not checked",))
        _read_card(card, root, reading)
    except CardRefusedError as refused:
        return CardReport(refused.error, tuple(reading.warnings))
    except RecursionError:
        return CardReport(malformed(root, "nested too deeply").error)
    return CardReport(None, tuple(reading.warnings), reading.images, reading.users, reading.mention_all)


def check_references(
    report: CardReport, *, has_user: Callable[[str], bool], owns_image: Callable[[str], bool], may_mention_all: bool
) -> CardError | None:
    """Unknown people, images of nobody or of another app, and a mention of all where the owner does not allow it."""
    for user, path in (report.users or {}).items():
        if not has_user(user):
            return CardError(NO_SUCH_USER, path, "invalid user resource (at/person)", user)
    for image, path in (report.images or {}).items():
        if not owns_image(image):
            return CardError(NO_SUCH_IMAGE, path, "invalid image keys", image)
    if report.mention_all is not None and not may_mention_all:
        return CardError(NO_SUCH_USER, report.mention_all, "no permission to mention all", "all")
    return None


def count_elements(value: Any) -> int:
    """Every object with a tag: the platform counted more than the components (5.6.4)."""
    if isinstance(value, list):
        return sum(map(count_elements, value))
    if not isinstance(value, dict):
        return 0
    return ("tag" in value) + sum(count_elements(one) for key, one in value.items() if key not in UNCOUNTED)


def _parsed(content: str, root: Place) -> dict[str, Any]:
    try:
        card = msgspec.json.decode(content)
    except msgspec.DecodeError as exc:
        raise malformed(root, f"not JSON: {exc}") from None
    if not isinstance(card, dict):
        raise malformed(root, "a card is an object")
    if card.get("type") in ("template", "card"):
        raise CardRefusedError(
            NO_SUCH_TEMPLATE, root, "template does not exist: the sandbox keeps neither these nor entities"
        )
    return card


def _read_card(card: dict[str, Any], root: Place, reading: Reading) -> None:
    count = count_elements(card)
    if count > MOST_ELEMENTS:
        raise CardRefusedError(ELEMENT_LIMIT, root, "element exceeds the limit", str(count))
    reading.forwardable = not (isinstance(config := card.get("config"), dict) and config.get("enable_forward") is False)
    _CARD(card, root, reading)
    if reading.tables > MOST_TABLES:
        raise CardRefusedError(ELEMENT_LIMIT, root, "card table number over limit", "table")
    if reading.tables > SAFE_TABLES:
        reading.warn(root, f"more than {SAFE_TABLES} tables failed for some")


def _multi_only(value: Any, place: Place, reading: Reading) -> None:
    boolean(value, place, reading)
    if not value:
        raise CardRefusedError(ONLY_MULTI, place, "update_multi of schema V2 must be true")


def _tag_list(value: Any, place: Place, reading: Reading) -> None:
    listing(_TAG)(value, place, reading)
    if len(value) > MOST_TAGS_SHOWN:
        reading.warn(place, f"only {MOST_TAGS_SHOWN} tags are shown")


def _map_of(fields: Mapping[str, Check]) -> Check:
    """An object with free keys: the card's own text sizes and colours."""
    one = struct(fields)

    def check(value: Any, place: Place, reading: Reading) -> None:
        struct(dict.fromkeys(value if isinstance(value, dict) else (), one))(value, place, reading)

    return check


_TAG = struct(
    {"tag": one_of("text_tag"), "element_id": element_id, "text": PLAIN, "color": one_of(*TAG_COLOURS)}, "tag", "text"
)
_PER_CLIENT = struct(dict.fromkeys(("default", "android", "ios", "pc"), number(1, whole=True)))
_CONFIG: dict[str, Check] = {
    "streaming_mode": boolean,
    "streaming_config": struct(
        {"print_frequency_ms": _PER_CLIENT, "print_step": _PER_CLIENT, "print_strategy": one_of("fast", "delay")}
    ),
    "summary": struct({"content": TEXT, "i18n_content": by_locale(TEXT)}),
    "locales": listing(one_of(*sorted(LOCALES))),
    "enable_forward": boolean,
    "update_multi": _multi_only,
    "width_mode": one_of("default", "compact", "fill"),
    "use_custom_translation": boolean,
    "enable_forward_interaction": boolean,
    "style": struct(
        {
            "text_size": _map_of(dict.fromkeys(("default", "pc", "mobile"), TEXT)),
            "color": _map_of(dict.fromkeys(("light_mode", "dark_mode"), TEXT)),
        }
    ),
}
_HEADER: dict[str, Check] = {
    "title": PLAIN_OR_LARK,
    "subtitle": PLAIN_OR_LARK,
    "text_tag_list": _tag_list,
    "i18n_text_tag_list": by_locale(_tag_list),
    "template": one_of(*TEMPLATES),
    "icon": ICON,
    "padding": PADDING,
}
_BODY: dict[str, Check] = {
    "direction": DIRECTION,
    "padding": PADDING,
    "horizontal_spacing": SPACING,
    "vertical_spacing": SPACING,
    "horizontal_align": SIDE,
    "vertical_align": HEIGHT,
    "elements": elements,
}
_CARD = struct(
    {
        "schema": string(pattern=r"2\.0"),
        "config": struct(_CONFIG),
        "card_link": card_link,
        "header": struct(_HEADER, "title"),
        "body": struct(_BODY),
    }
)
