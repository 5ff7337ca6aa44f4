"""Parts that many card components share: texts, icons, jumps, behaviors. Source: feishu-platform notes 5.2, 5.4."""

from typing import Any

from bot.sandbox.validator_fields import (
    Check,
    Place,
    Reading,
    anything,
    box,
    by_locale,
    either,
    element_id,
    image_key,
    listing,
    malformed,
    mapping,
    number,
    one_of,
    pixels,
    string,
    struct,
)
from bot.sandbox.validator_text import content_of, link, platform_link, text_size

TEXT = string()
SIDE = one_of("left", "center", "right")
HEIGHT = one_of("top", "center", "bottom")
DIRECTION = one_of("vertical", "horizontal")
SPACING = either(one_of("small", "medium", "large", "extra_large"), pixels(0, 99))
RADIUS = either(pixels(0), string(pattern=r"(100|\d{1,2})%"))
PICTURE_SIZE = either(
    one_of("stretch", "large", "medium", "small", "tiny"), string(pattern=r"[1-9]\d{0,2}px [1-9]\d{0,2}px")
)  # stretch_without_padding went with JSON 1.0
MARGIN, PADDING = box(-99, 99), box(0, 99)
SHORT_TEXT_CHARS = 100  # button labels, options, placeholders; that more is an error is an assumption (15.6)


def text_object(*tags: str, content: Check | None = None) -> Check:
    """`{"tag", "content"}` with the looks that texts have; `content` replaces the check that belongs to the tag."""

    def check(value: Any, place: Place, reading: Reading) -> None:
        mapping(value, place, reading)
        tag = value.get("tag")
        if tag not in tags:
            raise malformed(place, f"text tag must be one of {', '.join(tags)}", tag)
        own = content or content_of(tag)
        fields = {**_TEXT_LOOKS, "content": own, "i18n_content": by_locale(own)}
        if tag == "plain_text":
            fields["text_color"] = TEXT
        struct(fields, "tag", "content")(value, place, reading)

    return check


def behavior(value: Any, place: Place, reading: Reading) -> None:
    """open_url or callback; both may stand on one element."""
    mapping(value, place, reading)
    kind = value.get("type")
    if not isinstance(kind, str) or kind not in _BEHAVIORS:
        raise malformed(place, "unknown behavior type", kind)
    _BEHAVIORS[kind](value, place, reading)
    if kind == "callback" and isinstance(value.get("value"), str):
        reading.warn(place, "SDKs take only an object as callback value (200671)")


_TEXT_LOOKS: dict[str, Check] = {
    "tag": anything,
    "element_id": element_id,
    "text_size": text_size,
    "text_align": SIDE,
    "lines": number(1, whole=True),
}
PLAIN = text_object("plain_text")
PLAIN_OR_LARK = text_object("plain_text", "lark_md")
LABEL = text_object("plain_text", content=string(most=SHORT_TEXT_CHARS))
ICON = struct(
    {
        "tag": one_of("standard_icon", "custom_icon"),
        "token": TEXT,
        "color": TEXT,
        "img_key": image_key,
        "size": string(pattern=r"\d{1,3}px \d{1,3}px"),
    },
    "tag",
)
CONFIRM = struct({"title": PLAIN, "text": PLAIN}, "title", "text")
_PLATFORMS: dict[str, Check] = {"pc_url": platform_link, "ios_url": platform_link, "android_url": platform_link}
JUMP = struct({"url": link, **_PLATFORMS}, "url")
_BEHAVIORS: dict[str, Check] = {
    "open_url": struct({"type": TEXT, "default_url": link, **_PLATFORMS}, "default_url"),
    "callback": struct({"type": TEXT, "value": either(mapping, TEXT)}, "type"),
}
BEHAVIORS = listing(behavior)


def card_link(value: Any, place: Place, reading: Reading) -> None:
    """`url`, or all three platforms; when all are given `url` wins."""
    struct({"url": platform_link, **_PLATFORMS})(value, place, reading)
    if not value.get("url") and not all(value.get(one) for one in _PLATFORMS):
        raise malformed(place, "card_link needs url, or the urls of all three platforms")
