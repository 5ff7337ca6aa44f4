"""Text as a row of atoms: the pieces between which it may be cut, and how good each cut is.

A link or a formula is never cut. One that is too long to be shown whole becomes text first, so it may.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum

from bot.cards.render import wire_bytes
from bot.cards.text import formula, host, link_as_text, link_url, markdown
from bot.domain.digest import Block, Formula, Inline, Link, Paragraph, Text

_LEAD_CHARS = 120
_LEAD_MIN = 40  # a shorter lead takes one more sentence
_LEAD_MAX = 200  # a text up to this is its own lead: the rest would not be worth a tap
_LEAD_BYTES = 3_000  # a lead of many links

_SENTENCE_CHARS = 180  # longer sentences get emergency cuts
_SENTENCE_BYTES = 2_500
_LINK_CHARS = 200  # a longer link text is a paragraph, not a link
_FORMULA_BYTES = 1_500
_PARAGRAPH_BYTES = wire_bytes("\n\n&#35;")  # the blank line, and an entity for a first character that needs one

_SENTENCE_END = re.compile(r"[。！？；…]+[”’」』）》\])\"']*|[.!?]{1,6}[\"')\]]{0,3}\s+")
_JOINED = r"[\u0300-\u036f\ufe00-\ufe0f\U0001f3fb-\U0001f3ff]|\u200d."  # belongs to the character before it
_CLAUSE = re.compile(rf".{{1,{_LEAD_CHARS}}}[，、,;：\s]|.{{1,{_LEAD_CHARS}}}(?:{_JOINED})*", re.DOTALL)


class Cut(IntEnum):
    """The place before an atom, the best one first."""

    PARAGRAPH = 0
    SENTENCE = 1
    ANYWHERE = 2


@dataclass(frozen=True, slots=True)
class Atom:
    """A sentence, or a piece of one that is too long. `bytes`: what its markdown adds to a request body."""

    inlines: tuple[Inline, ...]
    cut: Cut
    chars: int
    bytes: int


def atoms_of(blocks: Iterable[Block]) -> tuple[Atom, ...]:
    """Blocks as atoms, in order, nothing lost but paragraphs in which nothing would be seen."""
    return tuple(atom for block in blocks if markdown((block,)) for atom in _paragraph(block.inlines))


def blocks_of(run: Sequence[Atom]) -> tuple[Block, ...]:
    """Atoms as blocks. A run that begins inside a paragraph begins with the rest of it."""
    paragraphs: list[list[Inline]] = []
    for atom in run:
        if atom.cut is Cut.PARAGRAPH or not paragraphs:
            paragraphs.append([])
        paragraphs[-1].extend(atom.inlines)
    return tuple(Paragraph(tuple(inlines)) for inlines in paragraphs)


def lead_length(run: Sequence[Atom]) -> int:
    """How many atoms are shown before the reader asks for more: whole sentences, or clauses of one too long."""
    if _within(run, _LEAD_MAX):
        return len(run)
    stop = 0
    for end in _sentence_ends(run):
        enough = sum(atom.chars for atom in run[:stop]) >= _LEAD_MIN
        if not _within(run[:end], _LEAD_CHARS if enough else _LEAD_MAX):
            break
        stop = end
    return stop or _clauses(run)


def first_sentence(run: Sequence[Atom]) -> int:
    """How many atoms make the first sentence, or the beginning of one too long."""
    end = next(_sentence_ends(run), 0)
    return end if _within(run[:end], _LEAD_MAX) else _clauses(run)


def _sentence_ends(run: Sequence[Atom]) -> Iterator[int]:
    for end in range(1, len(run) + 1):
        if end == len(run) or run[end].cut is not Cut.ANYWHERE:
            yield end


def _clauses(run: Sequence[Atom]) -> int:
    return next(end for end in range(1, len(run) + 1) if not _within(run[: end + 1], _LEAD_CHARS) or end == len(run))


def _within(run: Sequence[Atom], chars: int) -> bool:
    return sum(atom.chars for atom in run) <= chars and sum(atom.bytes for atom in run) <= _LEAD_BYTES


def _paragraph(inlines: Iterable[Inline]) -> Iterator[Atom]:
    cut = Cut.PARAGRAPH
    for sentence in _sentences(tamed for inline in inlines for tamed in _tame(inline)):
        yield from _pieces(sentence, cut)
        cut = Cut.SENTENCE


def _sentences(inlines: Iterable[Inline]) -> Iterator[tuple[Inline, ...]]:
    sentence: list[Inline] = []
    for inline in inlines:
        start = 0
        if isinstance(inline, Text):
            for end in _SENTENCE_END.finditer(inline.text):
                yield (*sentence, Text(inline.text[start : end.end()]))
                sentence, start = [], end.end()
        rest = Text(inline.text[start:]) if isinstance(inline, Text) else inline
        if rest != Text(""):
            sentence.append(rest)
    if sentence:
        yield tuple(sentence)


def _pieces(sentence: tuple[Inline, ...], cut: Cut) -> Iterator[Atom]:
    whole = _atom(sentence, cut)
    if whole.chars <= _SENTENCE_CHARS and whole.bytes <= _SENTENCE_BYTES:
        yield whole
        return
    for inline in sentence:
        pieces = map(Text, _CLAUSE.findall(inline.text)) if isinstance(inline, Text) else (inline,)
        for piece in pieces:
            yield _atom((piece,), cut)
            cut = Cut.ANYWHERE


def _atom(inlines: tuple[Inline, ...], cut: Cut) -> Atom:
    block = Paragraph(inlines)
    size = wire_bytes(markdown((block,)))
    chars = sum(len(inline.tex if isinstance(inline, Formula) else inline.text) for inline in inlines)
    return Atom(inlines, cut, chars, size + (_PARAGRAPH_BYTES if cut is Cut.PARAGRAPH else 0))


def _tame(inline: Inline) -> Iterator[Inline]:
    """Inlines that may stay whole, as they are; too long or unusable ones as text."""
    match inline:
        case Link(url, text) if link_url(url) is None:
            yield Text(link_as_text(url, text))
        case Link(url, text) if len(text) > _LINK_CHARS:
            yield Text(f"{text} ")
            yield Link(url, host(url))
        case Formula() if wire_bytes(formula(inline)) > _FORMULA_BYTES:
            yield Text(inline.written)
        case _:
            yield inline
