"""Blocks -> lines: the tree of a text, flat, with as much of its nesting as a card can show.

The dialect documents lists with four spaces a level, quotes of plain text, and code and tables at the start of a line
(card rich-text page, read 2026-05). So code, tables, pictures and quotes inside a list stand between its entries, which
then go on with their numbers; a list inside a quote is drawn with bullets of its own; a quote inside a quote is part
of it.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import count

from bot.cards.inlines import Run, cell, line_of, paragraph, runs_of
from bot.cards.pictures import PictureLine, in_words, is_long, picture_line
from bot.cards.render import wire_bytes
from bot.cards.text import clean
from bot.domain.digest import (
    Block,
    CodeBlock,
    Heading,
    Image,
    Inline,
    Listing,
    Paragraph,
    Quote,
    Rule,
    Strong,
    Table,
    Text,
    plain_inlines,
)
from bot.domain.pictures import Picture, Pictures, set_off, source_of

_BULLET = "- "
_LEVELS = 4  # deeper entries stand on the last level: a phone has no room for more
_MOST_NUMBER = 999_999_999  # longer numbers begin no list (CommonMark)

_COLUMNS = 5  # wider tables are unreadable on a phone
_ROW_BYTES = 2_000  # a row is never cut, so longer ones are no rows
_LABEL_BYTES = 200  # of a column's name; a longer one is told once and then repeated in part

_LANGUAGE = re.compile(r"[A-Za-z0-9+#.-]{1,20}")
_LIVE_TAG = re.compile(r"<(?=/?(?:at|person|audio|raw)\b)", re.IGNORECASE)  # acts, should code not protect from it
_LONG_TICKS = re.compile("`{8}(?=`)")
_JOINER = "\u200d"  # has no form on a screen
_NOTHING = "\u200b"  # neither, and is no blank: an entry with only a number


@dataclass(frozen=True, slots=True)
class TextLine:
    """One paragraph or heading. Lines of one `group` belong together: a list or a quote. `marker` begins an entry of a
    list at `depth`, 1 being the outer one.
    """

    group: int
    runs: tuple[Run, ...]
    marker: str = ""
    depth: int = 0
    quoted: bool = False
    heading: bool = False

    def begin(self, level: int) -> str:
        """What stands before the text on this level of lists, 0 being the outer one."""
        if not self.quoted:
            return "    " * level + self.marker
        bullet = "• " if self.marker == _BULLET else self.marker.replace(".", "&#46;")
        return "\u2003" * level + bullet


@dataclass(frozen=True, slots=True)
class CodeLine:
    """One line of the code that `opening` begins and `fence` ends."""

    group: int
    text: str
    fence: str
    opening: str


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a table, below `head`; `lines` say the same where no table may stand."""

    group: int
    head: str
    text: str
    lines: tuple[TextLine, ...]


Line = TextLine | CodeLine | Row | PictureLine


def lines_of(blocks: Iterable[Block], pictures: Pictures) -> list[Line]:
    """Blocks as lines, in order, without those in which nothing would be seen."""
    lines = _Lines(pictures)
    lines.add(blocks, _Place())
    return lines.lines


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a block stands: in which group (0 is none, so each block its own), list level and quote."""

    group: int = 0
    depth: int = 0
    quoted: bool = False


class _Lines:
    def __init__(self, pictures: Pictures) -> None:
        self._pictures = pictures
        self.lines: list[Line] = []
        self._groups = count(1)
        self._marker = ""  # of the entry that has begun, until its first line

    def add(self, blocks: Iterable[Block], place: _Place) -> None:
        for block in (piece for one in blocks for piece in set_off(one, self._pictures)):
            picture = self._pictures.get(source_of(block) or "")
            if picture:
                self._picture(block, picture, place)
            else:
                self._block(block, place)

    def _block(self, block: Block, place: _Place) -> None:
        match block:
            case Paragraph(inlines):
                self._text(inlines, place)
            case Heading(_, inlines):
                self._text((Strong(inlines),), place, heading=True)
            case Image():
                self._text((in_words(block),), place)
            case Listing(entries, start):
                self._number_alone(place)
                self._listing(entries, start, replace(place, group=self._group(place)))
            case Quote(inner):
                self._quote(inner, place)
            case CodeBlock():
                self._number_alone(place)
                self.lines += _code(block, next(self._groups))
            case Table():
                self._number_alone(place)
                self._table(block, place)
            case Rule():
                pass  # a card draws lines between items and sections; inside a text a paragraph will do

    def _group(self, place: _Place) -> int:
        return place.group or next(self._groups)

    def _text(self, inlines: Iterable[Inline], place: _Place, *, heading: bool = False) -> None:
        runs = tuple(runs_of(inlines))
        if line_of(runs):
            self.lines.append(TextLine(self._group(place), runs, self._marker, place.depth, place.quoted, heading))
            self._marker = ""

    def _picture(self, block: Block, picture: Picture, place: _Place) -> None:
        self._number_alone(place)
        self.lines.append(picture_line(block, picture, next(self._groups)))
        if isinstance(block, Image) and is_long(block.alt):
            self._text((Text(block.alt),), place)

    def _number_alone(self, place: _Place) -> None:
        """An entry that begins with something else than text: its number is shown, a lone bullet is not."""
        if self._marker != _BULLET and self._marker:
            self._text((Text(_NOTHING),), place)
        self._marker = ""

    def _listing(self, entries: Iterable[tuple[Block, ...]], start: int | None, place: _Place) -> None:
        inner = replace(place, depth=min(place.depth + 1, _LEVELS))
        for number, entry in enumerate(entries, start or 0):
            self._marker = _BULLET if start is None or not 0 <= number <= _MOST_NUMBER else f"{number}. "
            self.add(entry, inner)
            self._marker = ""

    def _quote(self, blocks: Iterable[Block], place: _Place) -> None:
        if not place.quoted:
            self._number_alone(place)
            place = _Place(next(self._groups), quoted=True)
        self.add(blocks, place)

    def _table(self, table: Table, place: _Place) -> None:
        if not any(paragraph(one) for row in table.rows for one in row):
            return
        rows = _rows(table, next(self._groups))
        if rows and max(wire_bytes(row.text) for row in rows) <= _ROW_BYTES:
            self.lines += rows
        else:
            self._listing(_as_list(table), None, replace(place, group=self._group(place)))


def _rows(table: Table, group: int) -> list[Row]:
    """A table as such; nothing if a list will be easier to read."""
    head, *body = table.rows
    if not 0 < len(head) <= _COLUMNS or _labels(head) != list(head):
        return []
    cells = [cell(one) for one in head]
    top = f"{_row(cells)}\n{_row(['---'] * len(cells))}"
    return [Row(group, top, _row(map(cell, row)), tuple(_row_lines(group, list(head), row))) for row in body]


def _code(block: CodeBlock, group: int) -> Iterator[CodeLine]:
    lines = [clean(line.expandtabs(4)).rstrip() for line in block.text.splitlines()]
    while lines and not lines[-1]:
        lines.pop()
    first = next((number for number, line in enumerate(lines) if line), 0)
    shown = [_LONG_TICKS.sub(rf"\g<0>{_JOINER}", _LIVE_TAG.sub("< ", line)) for line in lines[first:]]
    longest = max((len(ticks) for line in shown for ticks in re.findall("`+", line)), default=0)
    fence = "`" * max(3, longest + 1)
    opening = fence + (block.language if _LANGUAGE.fullmatch(block.language) else "")
    for line in shown:
        yield CodeLine(group, line, fence, opening)


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _as_list(table: Table) -> Iterator[tuple[Paragraph, ...]]:
    """A table as entries of a list: one a row, a line a cell."""
    head, *body = table.rows
    labels = _labels(head)
    if not body or labels != list(head):
        yield tuple(map(Paragraph, head))
    for row in body:
        yield tuple(_labelled(labels, row))


def _row_lines(group: int, labels: list[tuple[Inline, ...]], row: Iterable[tuple[Inline, ...]]) -> Iterator[TextLine]:
    marker = _BULLET
    for one in _labelled(labels, row):
        yield TextLine(group, tuple(runs_of(one.inlines)), marker, 1)
        marker = ""


def _labels(head: Iterable[tuple[Inline, ...]]) -> list[tuple[Inline, ...]]:
    """The names of columns, the long ones shortened: they will be repeated in every row."""
    return [one if wire_bytes(paragraph(one)) <= _LABEL_BYTES else (Text(_short(one)),) for one in head]


def _short(inlines: Iterable[Inline]) -> str:
    return clean(plain_inlines(inlines))[:20] + "…"


def _labelled(labels: list[tuple[Inline, ...]], row: Iterable[tuple[Inline, ...]]) -> Iterator[Paragraph]:
    """「列名：值」; cells without anything in them are left out."""
    for label, inlines in zip(labels, row, strict=False):
        if paragraph(inlines):
            yield Paragraph((Strong(label), Text("："), *inlines) if paragraph(label) else inlines)
