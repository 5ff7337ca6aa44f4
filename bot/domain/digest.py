"""The parsed content of one day: what every reader fills and every renderer reads.

Blocks and inlines are plain text by value: markup characters in them mean nothing until a renderer escapes them.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import date, datetime


@dataclass(frozen=True, slots=True)
class Text:
    """Literal text."""

    text: str


@dataclass(frozen=True, slots=True)
class Strong:
    """Text that stands out."""

    inlines: "tuple[Inline, ...]"


@dataclass(frozen=True, slots=True)
class Emphasis:
    """Text in another voice."""

    inlines: "tuple[Inline, ...]"


@dataclass(frozen=True, slots=True)
class Code:
    """A piece of code inside a line."""

    text: str


@dataclass(frozen=True, slots=True)
class Link:
    """A link with its visible text; `url` is http or https."""

    url: str
    text: str


@dataclass(frozen=True, slots=True)
class Formula:
    r"""A formula. `tex` is the source without delimiters, `written` what the editor wrote, delimiters included."""

    tex: str
    written: str
    display: bool = False


Inline = Text | Strong | Emphasis | Code | Link | Formula


@dataclass(frozen=True, slots=True)
class Paragraph:
    """One paragraph; no inline holds a line break that means anything. A display formula is a paragraph of its own."""

    inlines: tuple[Inline, ...]


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading; `level` is 1 to 9, the top one 1."""

    level: int
    inlines: tuple[Inline, ...]


@dataclass(frozen=True, slots=True)
class Listing:
    """A list; each entry is a row of blocks. `start` is the first number of an ordered one, None for bullets."""

    entries: "tuple[tuple[Block, ...], ...]"
    start: int | None = None


@dataclass(frozen=True, slots=True)
class Quote:
    """What somebody else has said."""

    blocks: "tuple[Block, ...]"


@dataclass(frozen=True, slots=True)
class CodeBlock:
    """Code over several lines, line ends as they are."""

    text: str
    language: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of cells of inlines, the head first; every row has as many cells as the head."""

    rows: tuple[tuple[tuple[Inline, ...], ...], ...]


@dataclass(frozen=True, slots=True)
class Image:
    """A picture by its address, as the source gives it."""

    url: str
    alt: str


@dataclass(frozen=True, slots=True)
class Rule:
    """A line between two thoughts."""


Block = Paragraph | Heading | Listing | Quote | CodeBlock | Table | Image | Rule


@dataclass(frozen=True, slots=True)
class Item:
    """One entry. `key` identifies the story within its digest; two items never share one."""

    key: str
    title: str | None
    url: str | None
    blocks: tuple[Block, ...] = ()
    tags: tuple[str, ...] = ()
    source: str | None = None
    published_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Section:
    """An ordered group of items; `name` is None where the text has no heading."""

    name: str | None
    items: tuple[Item, ...]


@dataclass(frozen=True, slots=True)
class Digest:
    """`day_end` is set for a range only; None everywhere means that the text does not say."""

    title: str | None = None
    day: date | None = None
    day_end: date | None = None
    label: str | None = None
    intro: tuple[Block, ...] = ()
    outro: tuple[Block, ...] = ()
    sections: tuple[Section, ...] = ()

    @property
    def items(self) -> tuple[Item, ...]:
        """All items, in order."""
        return tuple(item for section in self.sections for item in section.items)

    @property
    def last_day(self) -> date | None:
        """The day on which this digest is news: the end of a range."""
        return self.day_end or self.day

    def keep(self, sections: frozenset[str]) -> "Digest":
        """Only the named sections, order kept; an empty set means all."""
        if not sections:
            return self
        return replace(self, sections=tuple(s for s in self.sections if s.name in sections))


@dataclass(frozen=True, slots=True)
class ReadingWarning:
    """Something an editor should look at; `code` is stable, `message` is for people."""

    code: str
    message: str
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Dropped:
    """Text of the source that is in no digest, and why."""

    line: int | None
    text: str
    reason: str


@dataclass(frozen=True, slots=True)
class Reading:
    """What a source said: at least one digest, what to look at, and what was left out."""

    digests: tuple[Digest, ...]
    warnings: tuple[ReadingWarning, ...] = ()
    dropped: tuple[Dropped, ...] = ()


def plain(blocks: Iterable[Block]) -> str:
    """Text of blocks as a person would copy it: one line a paragraph, formulas as they were written."""
    return "\n".join(filter(None, map(_plain_block, blocks)))


def plain_inlines(inlines: Iterable[Inline]) -> str:
    """Text of inlines, links by what is seen of them."""
    return "".join(map(_plain_inline, inlines))


def links(blocks: Iterable[Block]) -> Iterator[Link]:
    """Links inside blocks, in order."""
    for inline in _inlines(blocks):
        if isinstance(inline, Link):
            yield inline
        elif isinstance(inline, Strong | Emphasis):
            yield from links((Paragraph(inline.inlines),))


def images(blocks: Iterable[Block]) -> Iterator[Image]:
    """Pictures among blocks, those inside lists and quotes too, in order."""
    for block in blocks:
        match block:
            case Image():
                yield block
            case Listing(entries):
                for entry in entries:
                    yield from images(entry)
            case Quote(inner):
                yield from images(inner)


def _plain_block(block: Block) -> str:
    match block:
        case Paragraph(inlines) | Heading(_, inlines):
            return plain_inlines(inlines)
        case Listing(entries):
            return "\n".join(map(plain, entries))
        case Quote(inner):
            return plain(inner)
        case CodeBlock(text):
            return text
        case Table(rows):
            return "\n".join(" | ".join(map(plain_inlines, row)) for row in rows)
        case Image(_, alt):
            return alt
        case Rule():
            return ""


def _plain_inline(inline: Inline) -> str:
    match inline:
        case Formula():
            return inline.written
        case Strong(inner) | Emphasis(inner):
            return plain_inlines(inner)
        case _:
            return inline.text


def _inlines(blocks: Iterable[Block]) -> Iterator[Inline]:
    for block in blocks:
        match block:
            case Paragraph(inlines) | Heading(_, inlines):
                yield from inlines
            case Listing(entries):
                for entry in entries:
                    yield from _inlines(entry)
            case Quote(inner):
                yield from _inlines(inner)
            case Table(rows):
                for row in rows:
                    for cell in row:
                        yield from cell
