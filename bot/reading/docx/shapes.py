"""Lists, quotations and tables of a Feishu document while they are read: frames that fill, then blocks."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from bot.domain.digest import (
    Block,
    Code,
    CodeBlock,
    Formula,
    Heading,
    Image,
    Inline,
    Listing,
    Paragraph,
    Quote,
    Rule,
    Table,
    Text,
)

Cell = tuple[Inline, ...]


@dataclass(slots=True)
class Frame:
    """A place that takes blocks. `depth`: how many lists and quotations it is inside."""

    parts: "list[Block | Wrap | Grid]" = field(default_factory=list)
    depth: int = 0


@dataclass(slots=True)
class Wrap:
    """A quotation."""

    frame: Frame = field(default_factory=Frame)


@dataclass(slots=True)
class Entry(Wrap):
    """An entry of a list: of an ordered one with the number it is given, or `auto`; of bullets with None."""

    number: int | str | None = None


@dataclass(slots=True)
class Grid:
    """A table: its cells row by row, and `row_size`, `column_size`, `merge_info`."""

    cells: list[Frame]
    shape: dict[str, Any]


def blocks_in(frame: Frame) -> tuple[Block, ...]:
    """The blocks of a frame; entries that follow each other are one list."""
    blocks: list[Block] = []
    entries: list[Entry] = []
    last_number = 0
    for part in [*frame.parts, None]:
        if entries and not (isinstance(part, Entry) and _continues(entries, part)):
            start = _start(entries[0], last_number)
            last_number = start + len(entries) - 1 if start is not None else last_number
            contents = tuple(filter(None, (blocks_in(entry.frame) for entry in entries)))
            blocks += [Listing(contents, start)] if contents else []
            entries = []
        if isinstance(part, Entry):
            entries.append(part)
        elif isinstance(part, Wrap):
            inner = blocks_in(part.frame)
            blocks += [Quote(inner)] if inner else []
        elif isinstance(part, Grid):
            blocks += _table(part)
        elif part is not None:
            blocks.append(part)
    return tuple(blocks)


def _continues(entries: Sequence[Entry], entry: Entry) -> bool:
    """A number of its own begins another list; so does a change between numbers and bullets."""
    first = entries[0].number
    return entry.number is None if first is None else entry.number == "auto"


def _start(first: Entry, last_number: int) -> int | None:
    """`auto` goes on from the list before, across what stands between."""
    if isinstance(first.number, str):
        return last_number + 1
    return first.number


def _table(grid: Grid) -> list[Block]:
    """The table, and after it the pictures of its cells, which a cell cannot hold."""
    read = [blocks_in(cell) for cell in grid.cells]
    if not read:
        return []
    columns = _size(grid.shape.get("column_size"), len(read))
    spans = grid.shape.get("merge_info")
    rows = _spread([_inlines(cell) for cell in read], columns, spans if isinstance(spans, list) else [])
    pictures = [block for cell in read for block in _pictures(cell)]
    return [Table(tuple(rows)), *pictures]


def _size(number: Any, cells: int) -> int:
    return min(number, cells) if isinstance(number, int) and number > 0 else 1


def _spread(cells: Sequence[Cell], columns: int, spans: Sequence[Any]) -> list[tuple[Cell, ...]]:
    """Rows of equal length; what is merged over several rows stands in each of them, so that each row says all."""
    rows: list[list[Cell]] = []
    carried: list[tuple[Cell, int]] = [((), 0)] * columns
    for index in range(0, len(cells), columns):
        row = list(cells[index : index + columns])
        row += [()] * (columns - len(row))
        for column, cell in enumerate(row):
            value, left = carried[column]
            if cell or left < 1:
                value, left = cell, _row_span(spans, index + column)
            row[column] = value
            carried[column] = (value, left - 1)
        rows.append(row)
    return [tuple(row) for row in rows]


def _row_span(spans: Sequence[Any], index: int) -> int:
    span = spans[index] if index < len(spans) else None
    rows = span.get("row_span") if isinstance(span, dict) else None
    return rows if isinstance(rows, int) else 1


def _inlines(blocks: Iterable[Block]) -> Cell:
    """Blocks of a cell in one line."""
    found: list[Inline] = []
    for line in _lines(blocks):
        found += [Text(" "), *line] if found else line
    return tuple(found)


def _lines(blocks: Iterable[Block]) -> list[Cell]:
    lines: list[Cell] = []
    for block in blocks:
        match block:
            case Paragraph((Formula(tex, written, True),)):
                lines.append((Formula(tex, written),))
            case Paragraph(inlines) | Heading(_, inlines):
                lines.append(inlines)
            case Listing(entries):
                lines += [line for entry in entries for line in _lines(entry)]
            case Quote(inner):
                lines += _lines(inner)
            case CodeBlock(text):
                lines.append((Code(text),))
            case Table(rows):
                lines += [cell for row in rows for cell in row if cell]
            case Image() | Rule():
                pass
    return lines


def _pictures(blocks: Iterable[Block]) -> list[Block]:
    found: list[Block] = []
    for block in blocks:
        match block:
            case Image():
                found.append(block)
            case Listing(entries):
                found += [one for entry in entries for one in _pictures(entry)]
            case Quote(inner):
                found += _pictures(inner)
    return found
