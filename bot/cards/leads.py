"""How much of a text is shown before the reader asks for more."""

from collections.abc import Iterator, Sequence
from itertools import takewhile

from bot.cards.lines import Row, TextLine
from bot.cards.pictures import PictureLine
from bot.cards.sentences import Atom, Cut

_LEAD_CHARS = 120
_LEAD_MIN = 40  # a shorter lead takes one more sentence
_LEAD_MAX = 200  # a text up to this is its own lead: the rest would not be worth a tap
_LEAD_BYTES = 3_000  # a lead of many links


def is_short(run: Sequence[Atom]) -> bool:
    """Whether nothing of it should be hidden: the rest would not be worth a tap."""
    return _within(run, _LEAD_MAX)


def lead_length(run: Sequence[Atom]) -> int:
    """How many atoms are shown before the reader asks for more: whole sentences, or clauses of one too long.

    A lead has no table, no photo, no code that it would have to cut, and no heading at its end. Nor does it end before
    a formula: that finishes the sentence.
    """
    run = _before_break(run)
    if is_short(run):
        return len(run)
    stop = 0
    for end in _sentence_ends(run):
        enough = sum(atom.chars for atom in run[:stop]) >= _LEAD_MIN
        if not _within(run[:end], _LEAD_CHARS if enough else _LEAD_MAX):
            break
        stop = end
    return stop or _clauses(list(takewhile(lambda atom: isinstance(atom.line, TextLine), run)))


def first_sentence(run: Sequence[Atom]) -> int:
    """How many atoms make the first sentence, or the beginning of one too long."""
    end = next(_sentence_ends(run), 0)
    return end if _within(run[:end], _LEAD_MAX) else _clauses(run)


def covers(run: Sequence[Atom]) -> int:
    """How many photos stand before the first word: a lead comes before them."""
    return sum(1 for _ in takewhile(_is_photo, run))


def waiting(run: Sequence[Atom]) -> tuple[str, str]:
    """What a reader taps to see these, in Chinese and English."""
    chars = sum(atom.chars for atom in run if not isinstance(atom.line, PictureLine))
    number = sum(map(_is_photo, run)) if chars else len(run)
    pictures = f"{number} picture{'s' if number > 1 else ''}"
    if not chars:
        return (f"看图 · {number} 张" if number > 1 else "看图"), f"See {pictures}"
    zh, en = f"展开全文 · {chars:,} 字", f"Read on · {chars:,} characters"
    return (f"{zh} · {number} 图", f"{en} · {pictures}") if number else (zh, en)


def _before_break(run: Sequence[Atom]) -> Sequence[Atom]:
    """What comes before the first table or photo and its heading; all of it if there is none."""
    stop = next((number for number, atom in enumerate(run) if isinstance(atom.line, Row) or _is_photo(atom)), None)
    while stop and run[stop].cut is Cut.LINE:
        stop -= 1
    return run[:stop]


def _sentence_ends(run: Sequence[Atom]) -> Iterator[int]:
    for end in range(1, len(run) + 1):
        if end == len(run) or (run[end].cut in {Cut.PARAGRAPH, Cut.SENTENCE} and not _is_formula(run[end])):
            yield end


def _clauses(run: Sequence[Atom]) -> int:
    ends = range(1, len(run) + 1)
    return next((end for end in ends if end == len(run) or not _within(run[: end + 1], _LEAD_CHARS)), 0)


def _within(run: Sequence[Atom], chars: int) -> bool:
    return sum(atom.chars for atom in run) <= chars and sum(atom.bytes for atom in run) <= _LEAD_BYTES


def _is_photo(atom: Atom) -> bool:
    return isinstance(atom.line, PictureLine) and not atom.line.is_formula


def _is_formula(atom: Atom) -> bool:
    return isinstance(atom.line, PictureLine) and atom.line.is_formula
