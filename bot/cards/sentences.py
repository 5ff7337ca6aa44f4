"""Text as a row of atoms: the pieces between which it may be cut, and how good each cut is.

A link, a formula, inline code, a picture or a row is never cut. A link or code that is too long to be shown whole
becomes text first, so it may.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum

from bot.cards.inlines import Run, chars_of, line_of
from bot.cards.lines import CodeLine, Line, Row, TextLine, lines_of
from bot.cards.pictures import PictureLine, picture_bytes
from bot.cards.render import wire_bytes
from bot.cards.text import host, link_as_text, link_url
from bot.domain.digest import Block, Code, Formula, Link, Text, plain_inlines
from bot.domain.pictures import Pictures

_SENTENCE_CHARS = 180  # longer sentences get emergency cuts
_SENTENCE_BYTES = 2_500
_CLAUSE_CHARS = 120
_LINK_CHARS = 200  # a longer link text is a paragraph, not a link
_CODE_BYTES = 1_500
_FORMULA_CHARS, _PHOTO_CHARS = 30, 60  # what the time and room for a picture are worth
_PARAGRAPH_BYTES = wire_bytes("\n\n&#35;")  # the blank line, and an entity for a first character that needs one
_QUOTE = "> "
_TOUCHY = {"*", "`"}  # may need a space before or after them

_SENTENCE_END = re.compile(r"[。！？；…]+[”’」』）》\])\"']*|[.!?]{1,6}[\"')\]]{0,3}\s+")
_JOINED = r"[\u0300-\u036f\ufe00-\ufe0f\U0001f3fb-\U0001f3ff]|\u200d."  # belongs to the character before it
_CLAUSE = re.compile(rf".{{1,{_CLAUSE_CHARS}}}[，、,;：\s]|.{{1,{_CLAUSE_CHARS}}}(?:{_JOINED})*", re.DOTALL)
_CODE_PIECE = re.compile(rf".{{1,500}}(?:{_JOINED})*", re.DOTALL)  # of a line of code too long for a card


class Cut(IntEnum):
    """The place before an atom, the best one first. At `PARAGRAPH` and `LINE` a line begins."""

    PARAGRAPH = 0
    LINE = 1  # inside code or a table, or below a heading
    SENTENCE = 2
    ANYWHERE = 3


@dataclass(frozen=True, slots=True)
class Atom:
    """A sentence, a line of code, a picture or a row, or a piece of one that is too long.

    `bytes`: what its markdown adds to a request body; `again`: what comes to it where a part begins with it, such as
    the head of its table; `as_list`: what comes to a row where no table may stand. `elements`: those of a picture.
    """

    line: Line
    cut: Cut
    chars: int
    bytes: int
    again: int = 0
    as_list: int = 0
    elements: int = 0


def atoms_of(blocks: Iterable[Block], pictures: Pictures | None = None) -> tuple[Atom, ...]:
    """Blocks as atoms, in order, nothing lost but lines in which nothing would be seen.

    What a picture costs beside its words only a template can tell: `bytes` and `elements` are without it.
    """
    return tuple(_atoms(lines_of(blocks, pictures or {})))


def joined(run: Iterable[Atom]) -> Iterator[Line]:
    """Atoms as lines again. A run that begins inside a line begins with the rest of it."""
    pieces: list[Line] = []
    for atom in run:
        if atom.cut <= Cut.LINE and pieces:
            yield _whole(pieces)
            pieces = []
        pieces.append(atom.line)
    if pieces:
        yield _whole(pieces)


def text_of(run: Iterable[Atom]) -> str:
    """Atoms as a person would copy them."""
    return "\n".join(map(_plain, joined(run)))


def _whole(pieces: Sequence[Line]) -> Line:
    first = pieces[0]
    match first:
        case TextLine() if len(pieces) > 1:
            texts = (piece for piece in pieces if isinstance(piece, TextLine))
            return replace(first, runs=tuple(run for text in texts for run in text.runs))
        case CodeLine() if len(pieces) > 1:
            return replace(first, text="".join(piece.text for piece in pieces if isinstance(piece, CodeLine)))
        case _:
            return first


def _plain(line: Line) -> str:
    match line:
        case TextLine():
            return plain_inlines(run.leaf for run in line.runs)
        case CodeLine():
            return line.text
        case Row():
            return "\n".join(map(_plain, line.lines))
        case PictureLine():
            return line.alt


def _atoms(lines: Iterable[Line]) -> Iterator[Atom]:
    group, cut = 0, Cut.PARAGRAPH
    for line in lines:
        first = line.group != group
        match line:
            case TextLine():
                yield from _text(line, cut)
            case CodeLine():
                yield from _code(line, cut if first else Cut.LINE, first=first)
            case Row():
                yield _row(line, cut if first else Cut.LINE, first=first)
            case PictureLine():
                yield Atom(line, cut, _FORMULA_CHARS if line.is_formula else _PHOTO_CHARS, picture_bytes(line))
        group, cut = line.group, Cut.LINE if isinstance(line, TextLine) and line.heading else Cut.PARAGRAPH


def _text(line: TextLine, cut: Cut) -> Iterator[Atom]:
    for sentence in _sentences(tamed for run in line.runs for tamed in _tame(run)):
        yield from _pieces(line, sentence, cut)
        cut = Cut.SENTENCE


def _code(line: CodeLine, cut: Cut, *, first: bool) -> Iterator[Atom]:
    fences = wire_bytes(f"\n\n{line.opening}\n\n{line.fence}")
    for piece in _CODE_PIECE.findall(line.text) or ("",):
        size = wire_bytes(f"\n{piece}")
        now, again = (fences, 0) if first else (0, fences)
        yield Atom(replace(line, text=piece), cut, max(1, len(piece)), size + now, again)
        cut, first = Cut.ANYWHERE, False


def _row(row: Row, cut: Cut, *, first: bool) -> Atom:
    head = wire_bytes(f"\n\n{row.head}")
    size = wire_bytes(f"\n{row.text}") + (head if first else 0)
    entry = sum(_line_bytes(line) for line in row.lines)
    chars = sum(chars_of(run.leaf) for line in row.lines for run in line.runs)
    return Atom(row, cut, chars, size, 0 if first else head, max(0, entry - size))


def _sentences(runs: Iterable[Run]) -> Iterator[tuple[Run, ...]]:
    sentence: list[Run] = []
    for run in runs:
        if not isinstance(run.leaf, Text):
            sentence.append(run)
            continue
        text, start = run.leaf.text, 0
        for end in _SENTENCE_END.finditer(text):
            yield (*sentence, Run(Text(text[start : end.end()]), run.stars))
            sentence, start = [], end.end()
        if text[start:]:
            sentence.append(Run(Text(text[start:]), run.stars))
    if sentence:
        yield tuple(sentence)


def _pieces(line: TextLine, sentence: tuple[Run, ...], cut: Cut) -> Iterator[Atom]:
    whole = _atom(line, sentence, cut)
    if whole.chars <= _SENTENCE_CHARS and whole.bytes <= _SENTENCE_BYTES:
        yield whole
        return
    for run in sentence:
        pieces = map(Text, _CLAUSE.findall(run.leaf.text)) if isinstance(run.leaf, Text) else (run.leaf,)
        for piece in pieces:
            yield _atom(line, (Run(piece, run.stars),), cut)
            cut = Cut.ANYWHERE


def _atom(line: TextLine, runs: tuple[Run, ...], cut: Cut) -> Atom:
    first = cut <= Cut.LINE
    piece = TextLine(line.group, runs, line.marker if first else "", line.depth, line.quoted, line.heading)
    chars = sum(chars_of(run.leaf) for run in runs)
    written = line_of(runs)
    size = wire_bytes(written) + (written[-1:] in _TOUCHY) + (written[:1] in _TOUCHY)
    if not first:
        return Atom(piece, cut, chars, size, wire_bytes(_QUOTE) if line.quoted else 0)
    return Atom(piece, cut, chars, size + _begin_bytes(line))


def _line_bytes(line: TextLine) -> int:
    return wire_bytes(line_of(line.runs)) + _begin_bytes(line)


def _begin_bytes(line: TextLine) -> int:
    quote = _QUOTE if line.quoted else ""
    return _PARAGRAPH_BYTES + wire_bytes(quote + line.begin(max(0, line.depth - 1)))


def _tame(run: Run) -> Iterator[Run]:
    """Inlines that may stay whole, as they are; too long or unusable ones as text."""
    match run.leaf:
        case Link(url, text) if url and link_url(url) is None:
            yield Run(Text(link_as_text(url, text)), run.stars)
        case Link(url, text) if len(text) > _LINK_CHARS:
            yield Run(Text(f"{text} "), run.stars)
            yield Run(Link(url, host(url)), run.stars)
        case Formula(_, written) if wire_bytes(line_of((run,))) > _CODE_BYTES:
            yield Run(Text(written), run.stars)
        case Code(text) if wire_bytes(line_of((run,))) > _CODE_BYTES:
            yield Run(Text(text), run.stars)
        case _:
            yield run
