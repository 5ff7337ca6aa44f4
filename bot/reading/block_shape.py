"""What one block looks like to somebody who reads for structure: the line that stands for it."""

import re
from collections.abc import Sequence
from dataclasses import replace

from bot.domain.digest import (
    Block,
    Code,
    Heading,
    Image,
    Inline,
    Link,
    Paragraph,
    Strong,
    Text,
    images,
    links,
    plain,
    plain_inlines,
)  # fmt: skip
from bot.reading.marks import PSEUDO_LEVEL, Kind, Line, has_words, is_link_label, mark_line
from bot.reading.vocabulary import CONTROL

LONGEST_ASIDE_CHARS = 8

_HASH = re.compile(r"[#＃]{1,6}\s?(?=[^\s#＃!])")
_BEFORE_TITLE = re.compile(r"[\[【(（][^\]】)）]*[\]】)）]|[0-9一二三四五六七八九十]+")
_BADGE = re.compile(r"#\d+")


def block_line(number: int, block: Block) -> Line | None:
    """The line that stands for a block; None for a block that says nothing."""
    match block:
        case Heading(level, inlines):
            line = _of_inlines(number, block, inlines)
            return line and replace(line, level=level, kind=Kind.SHORT if line.kind is not Kind.LINK else line.kind)
        case Paragraph(inlines):
            line = _of_inlines(number, block, inlines)
            return line and _as_heading(line, inlines)
        case Image(url, alt):
            return Line(number, alt.strip() or url or "?", Kind.LABEL, block=block)
        case _:
            text = plain((block,)).strip() or " ".join(picture.url for picture in images((block,)))
            return Line(number, text, Kind.PROSE, block=block) if text.strip() else None


def is_badge(inline: Inline) -> bool:
    """A number that refers to the same story elsewhere: `#3` set as code."""
    return isinstance(inline, Code) and bool(_BADGE.fullmatch(inline.text.strip()))


def is_generic(link: Link) -> bool:
    """A link that says where it goes, or that it goes somewhere, and nothing of the story."""
    text = link.text.strip()
    return text == link.url or not has_words(text) or is_link_label(text) or bool(CONTROL.fullmatch(text))


def web_links(inlines: Sequence[Inline]) -> list[Link]:
    """All links in a line, those inside bold text too."""
    return list(links((Paragraph(tuple(inlines)),)))


def _of_inlines(number: int, block: Block, inlines: tuple[Inline, ...]) -> Line | None:
    text = " ".join(plain_inlines(inlines).split())
    if not text:
        return None
    found = web_links(inlines)
    line = replace(mark_line(number, text), block=block)
    if not found or line.kind is Kind.LABEL:
        return line
    around = text
    for link in found:
        around = around.replace(link.text.strip(), "", 1)
    if len(found) == 1 and is_generic(found[0]) and (is_link_label(around) or not has_words(around)):
        return replace(line, kind=Kind.LINK, url=found[0].url, mark="")
    if line.kind is Kind.LINK:  # the words of a link that are an address themselves
        line = replace(line, kind=Kind.PROSE, url=None)
    titled = next((link for link in found if not is_generic(link)), None)
    if titled and line.could_be_title and _leads(text, titled):
        return replace(line, url=titled.url)
    return line


def _leads(text: str, link: Link) -> bool:
    """The link is the title: before it stand a number or a label in brackets, behind it little."""
    before, _, after = text.partition(link.text.strip())
    return not has_words(_BEFORE_TITLE.sub("", before)) and len(after) <= len(link.text) + LONGEST_ASIDE_CHARS


def _as_heading(line: Line, inlines: tuple[Inline, ...]) -> Line:
    """A bold line, or a hash without its blank, is meant as a heading."""
    if not line.could_be_title:
        return line
    pieces = [each for each in inlines if not isinstance(each, Text) or each.text.strip()]
    hashed = _HASH.match(line.text)
    if hashed:
        return replace(line, level=PSEUDO_LEVEL, mark=hashed[0])
    if len(pieces) == 1 and isinstance(pieces[0], Strong):
        return replace(line, level=PSEUDO_LEVEL)
    return line
