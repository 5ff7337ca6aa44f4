"""Holes in a text: `[公式]`, `[Math]` and their like stand where its source has a picture of a formula."""

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise

from bot.domain.digest import Block, Emphasis, Heading, Inline, Link, Listing, Paragraph, Quote, Strong, Table, Text

_HOLE = re.compile(r"([\[［](?:公式|math|formula)[\]］])", re.IGNORECASE)
_WORDS = "公式见原文"


def without_holes(blocks: Iterable[Block], url: str | None) -> tuple[Block, ...]:
    """Blocks that say where to find the formula: a link to `url`, which has none where the source is not known."""
    return tuple(_block(block, Link(url or "", _WORDS)) for block in blocks)


def _block(block: Block, filling: Link) -> Block:
    match block:
        case Paragraph(inlines):
            return Paragraph(_filled(inlines, filling))
        case Heading(level, inlines):
            return Heading(level, _filled(inlines, filling))
        case Listing(entries, start):
            return Listing(tuple(tuple(_block(one, filling) for one in entry) for entry in entries), start)
        case Quote(inner):
            return Quote(tuple(_block(one, filling) for one in inner))
        case Table(rows):
            return Table(tuple(tuple(_filled(cell, filling) for cell in row) for row in rows))
        case _:
            return block


def _filled(inlines: tuple[Inline, ...], filling: Link) -> tuple[Inline, ...]:
    pieces = list(_pieces(inlines, filling))
    return tuple(_spaced(pieces, filling)) if filling in pieces else tuple(pieces)


def _pieces(inlines: Iterable[Inline], filling: Link) -> Iterator[Inline]:
    for inline in inlines:
        match inline:
            case Text(text) if _HOLE.search(text):
                yield from (filling if _HOLE.fullmatch(one) else Text(one) for one in _HOLE.split(text) if one)
            case Strong(inner):
                yield Strong(_filled(inner, filling))
            case Emphasis(inner):
                yield Emphasis(_filled(inner, filling))
            case _:
                yield inline


def _spaced(pieces: list[Inline], filling: Link) -> Iterator[Inline]:
    """A space where a filling would run into its neighbour."""
    yield pieces[0]
    for before, after in pairwise(pieces):
        if (before is filling and _clings(after, slice(1))) or (after is filling and _clings(before, slice(-1, None))):
            yield Text(" ")
        yield after


def _clings(inline: Inline, end: slice) -> bool:
    """Beside Chinese text its colour is enough; letters, digits, and what has a look of its own, stand off."""
    return not isinstance(inline, Text) or (inline.text[end].isascii() and inline.text[end].isalnum())
