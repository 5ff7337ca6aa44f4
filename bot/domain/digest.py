"""The parsed content of one day: what every reader fills and every renderer reads.

Blocks and inlines are plain text by value: markup characters in them mean nothing until a renderer escapes them.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date, datetime


@dataclass(frozen=True, slots=True)
class Text:
    """Literal text."""

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


Inline = Text | Link | Formula


@dataclass(frozen=True, slots=True)
class Paragraph:
    """One paragraph; no inline holds a line break that means anything."""

    inlines: tuple[Inline, ...]


Block = Paragraph


@dataclass(frozen=True, slots=True)
class Image:
    """A picture by its address, as the source gives it."""

    url: str
    alt: str


@dataclass(frozen=True, slots=True)
class Item:
    """One entry. `key` identifies the story within its digest; two items never share one."""

    key: str
    title: str | None
    url: str | None
    blocks: tuple[Block, ...] = ()
    images: tuple[Image, ...] = ()
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


def plain(blocks: tuple[Block, ...]) -> str:
    """Text of blocks as a person would copy it: one line a paragraph, formulas as they were written."""
    return "\n".join("".join(_written(inline) for inline in block.inlines) for block in blocks)


def links(blocks: tuple[Block, ...]) -> Iterator[Link]:
    """Links inside blocks, in order."""
    for block in blocks:
        for inline in block.inlines:
            if isinstance(inline, Link):
                yield inline


def _written(inline: Inline) -> str:
    return inline.written if isinstance(inline, Formula) else inline.text
