"""Blocks as they grow while a page is walked through: the line at hand, and the list, quote or cell around it."""

from collections.abc import Callable
from dataclasses import dataclass, field

from bot.domain.digest import (
    Block,
    CodeBlock,
    Formula,
    Heading,
    Image,
    Inline,
    Listing,
    Paragraph,
    Table,
    Text,
    plain_inlines,
)
from bot.reading.html.inlines import Look, Piece, to_inlines
from bot.reading.marks import columns

DEEPEST_BLOCKS = 24  # lists in lists, quotes in quotes; what lies deeper stands beside each other
HEADING_COLUMNS = 120
LOWEST_LEVEL = 9

Leave = Callable[[], None]
Cell = tuple[Block, ...]


def nothing() -> None:
    """What most elements do where they end."""


@dataclass(slots=True)
class Place:
    """A list entry, a quote, a cell or the page itself. `entries` of a list, `rows` of a table."""

    blocks: list[Block] = field(default_factory=list)
    entries: list[tuple[Block, ...]] | None = None
    rows: list[list[Cell]] | None = None
    has_head: bool = False
    level: int | None = None


@dataclass(slots=True)
class Builder:
    """`depth` is how many elements are around the place where the walk stands."""

    place: Place = field(default_factory=Place)
    pieces: list[Piece] = field(default_factory=list)
    images: list[Image] = field(default_factory=list)  # shown below the line in which they stand
    badges: list[Piece] | None = None  # words beside a title; None outside titles
    look: Look = field(default_factory=Look)
    raw: list[str] | None = None  # text of a <pre>
    depth: int = 0
    nested: int = 0
    _written: dict[tuple[int, int], int] = field(default_factory=dict)  # (depth, level in the tag) -> level
    _titled: dict[int, int] = field(default_factory=dict)  # depth -> level

    def add(self, content: str | Formula) -> None:
        """Text or a formula where the walk stands."""
        if self.raw is None:
            self.pieces.append((content, self.look))
        else:
            self.raw.append(content if isinstance(content, str) else content.written)

    def flush(self) -> None:
        """End the line; its pictures follow it."""
        if not (self.pieces or self.images):
            return
        for inlines in _apart(to_inlines(self.pieces)):
            if self.place.level is not None:
                self.place.blocks.append(Heading(self.place.level, inlines))
            else:
                self.place.blocks.append(Paragraph(inlines))
        self.pieces = []
        self.place.blocks += self.images
        self.images = []

    def heading(self, level: int) -> Leave:
        """`<h1>` to `<h6>`. One inside what is only called a title is of a lower level than that."""
        if self.place.level is not None:
            return self.flush
        outer = max((titled for depth, titled in self._titled.items() if depth < self.depth), default=0)
        given = self._written.setdefault((self.depth, level), min(max(level, outer + 1), LOWEST_LEVEL))
        return self.line(given)

    def line(self, level: int) -> Leave:
        """A heading, its badges below it."""
        self.place.level, self.badges = level, []

        def leave() -> None:
            self.flush()
            self.place.level = None
            self._put_badges()

        return leave

    def titled(self) -> Leave:
        """An element that is called a title: a heading if it is as short as one and holds nothing else."""
        if self.place.level is not None or self.badges is not None:
            return self.flush
        place, first, depth = self.place, len(self.place.blocks), self.depth
        self.badges = []

        def leave() -> None:
            self.flush()
            match place.blocks[first:]:
                case [Paragraph(inlines) | Heading(_, inlines)] if is_short(inlines, HEADING_COLUMNS):
                    place.blocks[first] = Heading(self._level_of(depth), inlines)
            self._put_badges()

        return leave

    def badge(self) -> Leave:
        """A word beside a title: `<span class="badge">`."""
        pieces, self.pieces = self.pieces, []

        def leave() -> None:
            if self.badges is None:  # a block in it has ended the title
                self.pieces[:0] = pieces
            else:
                self.badges += [*self.pieces, (" ", self.look)]
                self.pieces = pieces

        return leave

    def container(self, make: Callable[[Place], list[Block]], place: Place | None = None) -> Leave:
        """Gather what is inside; `make` says which blocks stand in its stead."""
        self.flush()
        if self.nested >= DEEPEST_BLOCKS:
            return self.flush
        outer, badges = self.place, self.badges
        self.place, self.badges = place or Place(), None
        self.nested += 1

        def leave() -> None:
            self.flush()
            made = make(self.place)
            self.nested -= 1
            self.place, self.badges = outer, badges
            outer.blocks += made

        return leave

    def preformatted(self, language: str) -> Leave:
        """Text whose line ends count."""
        self.flush()
        raw: list[str] = []
        self.raw = raw

        def leave() -> None:
            self.raw = None
            text = "".join(raw).replace("\r\n", "\n").replace("\r", "\n").strip("\n")
            self.place.blocks += [CodeBlock(text, language)] if text.strip() else []

        return leave

    def _put_badges(self) -> None:
        badges, self.badges = to_inlines(self.badges or ()), None
        self.place.blocks += [Paragraph(badges)] if badges else []

    def _level_of(self, depth: int) -> int:
        """The level of what is called a title: below all that stand further out, the same as its like."""
        known = [*self._titled.items(), *((written_at, level) for (written_at, _), level in self._written.items())]
        outer = max((level for other, level in known if other < depth), default=1)
        return self._titled.setdefault(depth, min(outer + 1, LOWEST_LEVEL))


def is_short(inlines: tuple[Inline, ...], most_columns: int) -> bool:
    """As short as titles are."""
    return columns(plain_inlines(inlines)) <= most_columns


def listing(place: Place, start: int | None) -> list[Block]:
    """A list, and what stood in it beside its entries."""
    return [*([Listing(tuple(place.entries), start)] if place.entries else []), *place.blocks]


def table(place: Place) -> list[Block]:
    """A table of data as one; one that only holds the layout of a page as what it holds."""
    rows = [row for row in place.rows or () if any(row)]
    cells = [cell for row in rows for cell in row]
    is_text = all(isinstance(block, Paragraph | Heading) for cell in cells for block in cell)
    is_short_text = place.has_head or all(len(cell) <= 1 for cell in cells)
    if not (is_text and is_short_text and len(rows) > 1 and all(len(row) > 1 for row in rows)):
        return [*place.blocks, *(block for cell in cells for block in cell)]
    width = max(map(len, rows))
    written = tuple(tuple(map(_cell, [*row, *[()] * (width - len(row))])) for row in rows)
    return [*place.blocks, Table(written)]


def _cell(blocks: Cell) -> tuple[Inline, ...]:
    inlines: list[Inline] = []
    for block in blocks:
        if isinstance(block, Paragraph | Heading):
            inlines += [*([Text(" ")] if inlines else []), *block.inlines]
    return tuple(inlines)


def _apart(inlines: tuple[Inline, ...]) -> list[tuple[Inline, ...]]:
    """A display formula is a line of its own."""
    if not any(isinstance(inline, Formula) and inline.display for inline in inlines):
        return [inlines] if inlines else []
    lines: list[tuple[Inline, ...]] = []
    line: list[Inline] = []
    for inline in inlines:
        if isinstance(inline, Formula) and inline.display:
            lines += [tuple(line), (inline,)]
            line = []
        else:
            line.append(inline)
    lines.append(tuple(line))
    return [stripped for line in lines if (stripped := _stripped(line))]


def _stripped(line: tuple[Inline, ...]) -> tuple[Inline, ...]:
    """Without the blanks that a formula left at the ends."""
    parts = list(line)
    if parts and isinstance(parts[0], Text):
        parts[:1] = [Text(text)] if (text := parts[0].text.lstrip(" ")) else []
    if parts and isinstance(parts[-1], Text):
        parts[-1:] = [Text(text)] if (text := parts[-1].text.rstrip(" ")) else []
    return tuple(parts)
