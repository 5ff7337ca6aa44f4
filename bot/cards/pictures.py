"""Pictures on cards: how large, what they say in words, what stands below them.

A picture is a row of its own between pieces of markdown (card image page, read 2026-05), also inside lists and quotes.
"""

from dataclasses import dataclass

from bot.cards.inlines import grey
from bot.cards.render import wire_bytes
from bot.cards.text import clean, escape, link, link_url, plain
from bot.domain.digest import Block, Formula, Image, Inline, Link, Paragraph, Text
from bot.domain.pictures import Picture

_NARROW = 280  # pixels that every phone has room for; a wider picture is as wide as the card
_HIGHEST = 999  # of a size in pixels, by the same page
_ALT_CHARS = 500
_CAPTION_BYTES = 600  # a longer caption is a paragraph below its picture: it may be cut, and a picture may not
_NAMELESS = "图片"
_ORIGINAL = "原图"


@dataclass(frozen=True, slots=True)
class PictureLine:
    """A picture. `alt` is plain text, `caption` card markdown below it, `size` is "Wpx Hpx"; "" fills the width."""

    group: int
    key: str
    alt: str
    size: str = ""
    caption: str = ""
    is_formula: bool = False


def picture_line(block: Block, picture: Picture, group: int) -> PictureLine:
    """The picture of a block that could be one."""
    match block:
        case Paragraph((Formula(tex),)):
            return PictureLine(group, picture.key, _alt(tex), _size(picture), is_formula=True)
        case Image(url, alt):
            return PictureLine(group, picture.key, _alt(alt), caption=_caption(url, "" if is_long(alt) else alt))
        case _:
            raise TypeError(block)


def is_long(caption: str) -> bool:
    """Whether a caption has to be a paragraph."""
    return wire_bytes(escape(caption)) > _CAPTION_BYTES


def in_words(image: Image) -> Inline:
    """An image that the platform does not hold: a link to it, else its caption."""
    caption = f"{_NAMELESS}：{image.alt}" if image.alt else _NAMELESS
    return Link(image.url, caption) if link_url(image.url) else Text(f"[{caption}]")


def picture_bytes(line: PictureLine) -> int:
    """What its words add to a request body, beside the template's share."""
    return sum(map(wire_bytes, (line.key, line.alt, line.size, line.caption)))


def shape(line: PictureLine) -> PictureLine:
    """The same for all pictures of which a template makes the same elements."""
    return PictureLine(0, "x", "x", line.size and "x", line.caption and "x", line.is_formula)


def _alt(text: str) -> str:
    words = plain(text) or _NAMELESS
    return words if len(words) <= _ALT_CHARS else words[: _ALT_CHARS - 1] + "…"


def _size(picture: Picture) -> str:
    is_exact = 0 < picture.width <= _NARROW and 0 < picture.height <= _HIGHEST
    return f"{picture.width}px {picture.height}px" if is_exact else ""


def _caption(url: str, alt: str) -> str:
    """What it shows and, as a tap on a picture only enlarges it, where it is from."""
    words = grey(alt) if clean(alt).strip() else ""
    return " · ".join(filter(None, (words, link(url, _ORIGINAL) if link_url(url) else "")))
