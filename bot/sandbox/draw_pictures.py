"""Pictures that stand by themselves: `img` with its crops and sizes, `img_combination`, and those in messages.

A length that a card asks for becomes the `width` and `height` of the `<img>`, never a style; a radius the nearest
class. Source: feishu-platform notes 5.4 (page V2C image: sizes in pixels, 16:9 at most when stretched).
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from bot.sandbox.draw_html import Spot, Viewer, classes, nearest, pixels, tag
from bot.sandbox.draw_inline_tags import picture
from bot.sandbox.loose import LANGUAGE, mapping, sequence, text_of, whole

_SQUARES = {"large": 160, "medium": 80, "small": 40, "tiny": 16}
_LENGTHS = re.compile(r"([1-9]\d{0,2})px ([1-9]\d{0,2})px", re.ASCII)
_RADII_PX = (0, 2, 4, 6, 8, 12, 16, 20, 24, 32)
_OVALS = (0, 10, 20, 30, 40, 50)  # percent
_COMPACT_PX = 278
_MOST = {"double": 2, "triple": 3, "bisect": 6, "trisect": 9}
_CARD_EDGE_PX = -12  # a margin of this or less takes the picture to the edges of the card


@dataclass(frozen=True, slots=True)
class _Shape:
    """Classes of `card.css`, and the box in pixels where the card gives one."""

    class_: str
    width: int | None = None
    height: int | None = None


_WIDE = _Shape("image-wide")


def draw_image(element: Mapping[str, Any], spot: Spot) -> Markup:
    """`alt` appears at the mouse, `title` above the picture, which opens large unless `preview` is off."""
    key = text_of(mapping(element.get("i18n_img_key")).get(LANGUAGE)) or text_of(element.get("img_key"))
    alt, title = text_of(element.get("alt")), text_of(element.get("title"))
    shape = _shape(element)
    class_ = classes("image", shape.class_, _radius(element), _ground(element, "transparent"))
    size = {"width": _number(shape.width), "height": _number(shape.height)}
    drawn = picture(key, alt or title, spot.viewer, class_ or "", **size)
    if element.get("preview") is not False:
        drawn = enlarging(drawn, key, spot.viewer)
    caption = tag("figcaption", title) if title else ""
    return tag("figure", caption, drawn, class_=_margin(element))


def draw_image_combination(element: Mapping[str, Any], spot: Spot) -> Markup:
    """Squares beside and below each other; in `triple` the first one is twice as high."""
    mode = text_of(element.get("combination_mode"))
    mode = mode if mode in _MOST else "trisect"
    keys = [text_of(mapping(one).get("img_key")) for one in sequence(element.get("img_list"))[: _MOST[mode]]]
    class_ = classes("image", _radius(element), _ground(element, "combination_transparent")) or ""
    drawn = (enlarging(picture(key, "", spot.viewer, class_), key, spot.viewer) for key in keys)
    return tag("div", *drawn, class_=classes("combination", f"combination-{mode}", _margin(element)))


def draw_sent_picture(image_key: str, viewer: Viewer) -> Markup:
    """An image message, or the picture in a post."""
    return enlarging(picture(image_key, "图片", viewer, "image image-sent"), image_key, viewer)


def enlarging(drawn: Markup, image_key: str, viewer: Viewer) -> Markup:
    """The picture as a link to itself where it has an address of its own: a browser opens no `data:` page."""
    address = viewer.image_url(image_key)
    if address is None or address.startswith("data:"):
        return drawn
    return tag("a", drawn, class_="enlarging", href=address, target="_blank", rel="noopener noreferrer")


def _shape(element: Mapping[str, Any]) -> _Shape:
    scale, size = text_of(element.get("scale_type")), text_of(element.get("size"))
    if scale == "fit_horizontal":
        return _WIDE
    if not scale and not size:
        return _old_shape(element)
    return _cropped(size, top=scale == "crop_top")


def _cropped(size: str, *, top: bool) -> _Shape:
    """What is cut off lies at both ends, or with `top` at the lower one. No size, or `stretch`: the whole width."""
    crop = "image-crop image-top" if top else "image-crop"
    if size in _SQUARES:
        return _Shape(crop, _SQUARES[size], _SQUARES[size])
    lengths = _LENGTHS.fullmatch(size)
    return _Shape(crop, int(lengths[1]), int(lengths[2])) if lengths else _Shape(f"image-stretch {crop}")


def _old_shape(element: Mapping[str, Any]) -> _Shape:
    """The properties that JSON 1.0 had; without any of them the picture is as wide as its container."""
    mode = text_of(element.get("mode"))
    if mode in _SQUARES or mode in {"crop_center", "stretch"}:
        return _cropped(mode, top=False)
    if element.get("compact_width") is True:
        return _Shape("", _COMPACT_PX)
    if "custom_width" in element:
        return _Shape("", whole(element["custom_width"], _COMPACT_PX, 580, 580))
    return _WIDE


def _radius(element: Mapping[str, Any]) -> str | None:
    value = text_of(element.get("corner_radius"))
    if value.endswith("%"):
        wanted = whole(value[:-1], 0, 50, 0)
        return f"oval-{min(_OVALS, key=lambda step: abs(step - wanted))}"
    return nearest("round", value, _RADII_PX)


def _ground(element: Mapping[str, Any], key: str) -> str | None:
    """White under a picture with holes, unless the card says `transparent`."""
    return "image-clear" if element.get(key) is True else None


def _margin(element: Mapping[str, Any]) -> str | None:
    sides = text_of(element.get("margin")).split()
    beside = pixels(sides[1]) if len(sides) in (2, 4) else None
    return classes(
        nearest("mt", sides[0]) if sides else None,
        "to-the-edges" if beside is not None and beside <= _CARD_EDGE_PX else None,
    )


def _number(value: int | None) -> str | None:
    return None if value is None else str(value)
