"""Atoms -> card markdown and the pictures between it: blocks put together again, closed where a part ends or a picture
stands, and opened anew where one begins.
"""

from collections.abc import Iterable
from dataclasses import replace

from bot.cards.inlines import line_of
from bot.cards.lines import CodeLine, Row, TextLine
from bot.cards.pictures import PictureLine
from bot.cards.sentences import Atom, joined

# Markdown tables count towards a limit that nobody documents: cards were refused from 4 on (feishu-platform notes 5.6).
MOST_TABLES = 3

Piece = str | PictureLine  # card markdown, or a picture


class Tables:
    """How many tables a card may still have."""

    def __init__(self, left: int = MOST_TABLES) -> None:
        self._left = left

    def take(self) -> bool:
        """Whether one more may stand here; if so, it does."""
        self._left -= 1
        return self._left >= 0


def are_crowded(runs: Iterable[Iterable[Atom]]) -> bool:
    """Whether some tables of a digest may have to be lists. Which ones is known only when its parts are."""
    tables = (atom for run in runs for atom in run if isinstance(atom.line, Row) and not atom.again)
    return sum(1 for _ in tables) > MOST_TABLES


def with_list(atom: Atom) -> Atom:
    """The same, with room for the longer of its two forms. Costs fullness of parts with tables, and only theirs."""
    return replace(atom, bytes=atom.bytes + atom.as_list) if atom.as_list else atom


def markdown(run: Iterable[Atom], tables: Tables | None = None) -> str:
    """Atoms without pictures as card markdown."""
    return "".join(piece for piece in pieces(run, tables) if isinstance(piece, str))


def pieces(run: Iterable[Atom], tables: Tables | None = None) -> tuple[Piece, ...]:
    """Atoms as a card shows them, a blank line between blocks. Tables beyond those left are written as lists."""
    writer = _Writer(tables or Tables())
    for line in joined(run):
        match line:
            case TextLine():
                writer.text(line)
            case CodeLine():
                writer.code(line)
            case Row():
                writer.row(line)
            case PictureLine():
                writer.picture(line)
    return writer.end()


class _Writer:
    def __init__(self, tables: Tables) -> None:
        self._tables = tables
        self._done: list[Piece] = []
        self._pieces: list[str] = []  # of the markdown that is not done
        self._group = 0  # of the line before
        self._levels: list[int] = []  # depths of the list entries around it
        self._closing = ""  # of the code that is open
        self._is_table = False

    def end(self) -> tuple[Piece, ...]:
        self._finish()
        return tuple(self._done)

    def text(self, line: TextLine) -> None:
        written = line_of(line.runs)
        if not written:
            return
        glued = self._goes_on(line.group)
        if line.quoted:
            self._put(line.begin(max(0, line.depth - 1)) + written, "<br>" if glued else "\n\n", "" if glued else "> ")
        elif line.marker:
            between = "\n" if self._levels else "\n\n"
            self._put(line.begin(self._level(line.depth)) + written, between)
        elif self._levels[-1:] == [line.depth]:
            self._put(written, "<br>")  # one more paragraph of this entry
        else:
            self._levels.clear()
            self._put(written, "\n\n")

    def code(self, line: CodeLine) -> None:
        if self._goes_on(line.group):
            self._put(line.text, "\n")
        else:
            self._put(f"{line.opening}\n{line.text}", "\n\n")
            self._closing = f"\n{line.fence}"

    def row(self, row: Row) -> None:
        if row.group != self._group:
            self._is_table = self._tables.take()
        if not self._is_table:
            for line in row.lines:
                self.text(line)
        elif self._goes_on(row.group):
            self._put(row.text, "\n")
        else:
            self._put(f"{row.head}\n{row.text}", "\n\n")

    def picture(self, line: PictureLine) -> None:
        self._finish()
        self._done.append(line)

    def _finish(self) -> None:
        self._goes_on(0)
        text = "".join(self._pieces)
        self._done += [text] if text else []
        self._pieces = []

    def _goes_on(self, group: int) -> bool:
        """Whether a line of this group belongs to the one before; if not, whatever is open ends here."""
        if group == self._group:
            return True
        self._pieces.append(self._closing)
        self._group, self._closing, self._levels = group, "", []
        return False

    def _level(self, depth: int) -> int:
        """The level of an entry. A part may begin inside a list, and four blanks more than its parent would be code."""
        while self._levels and self._levels[-1] >= depth:
            self._levels.pop()
        self._levels.append(depth)
        return len(self._levels) - 1

    def _put(self, written: str, between: str, quote: str = "") -> None:
        self._pieces += [between if any(self._pieces) else "", quote, written]
