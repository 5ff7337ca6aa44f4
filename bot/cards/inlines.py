"""Inlines as one line of card markdown, with bold, italics and code where the platform's dialect can show them."""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby

from bot.cards.formulas import unicode_of
from bot.cards.text import clean, entity, escape, link
from bot.domain.digest import Code, Emphasis, Formula, Inline, Link, Strong, Text

Leaf = Text | Code | Link | Formula

_EMPHASIS, _STRONG = 1, 2  # stars of card markdown; both together are three

_BLOCK_START = re.compile(r"(?:\d{1,9}(?=[.)]))?[#+=|.) -]")
_ONE_CODE = re.compile("`[^`]*`")
_CODE_TAG = re.compile(r"([<&])(?=[A-Za-z/#!?])")


@dataclass(frozen=True, slots=True)
class Run:
    """An inline without others inside, and how it stands out: `stars` is 1 for emphasis, 2 for strong, 3 for both."""

    leaf: Leaf
    stars: int = 0


def runs_of(inlines: Iterable[Inline], stars: int = 0) -> Iterator[Run]:
    """Inlines without their nesting, in order."""
    for inline in inlines:
        match inline:
            case Strong(inner):
                yield from runs_of(inner, stars | _STRONG)
            case Emphasis(inner):
                yield from runs_of(inner, stars | _EMPHASIS)
            case _:
                yield Run(inline, stars)


def paragraph(inlines: Iterable[Inline]) -> str:
    """One line that is a paragraph and nothing else, whatever it begins with; empty if nothing would be seen."""
    return line_of(runs_of(inlines))


def line_of(runs: Iterable[Run]) -> str:
    """Runs as a paragraph."""
    line = _written(runs)
    if not line.strip():
        return ""
    start = _BLOCK_START.match(line)
    if start is None:
        return line
    return line[: start.end() - 1] + entity(start[0][-1]) + line[start.end() :]


def cell(inlines: Iterable[Inline]) -> str:
    """What stands between two bars of a table. No entity is read inside code, so code with a bar becomes text."""
    runs = (Run(_without_bar(run.leaf), run.stars) for run in runs_of(inlines))
    text = _written(runs).strip().replace("|", entity("|"))
    return entity("-") + text[1:] if text.startswith("-") else text  # a row of dashes would begin another table


def formula(inline: Formula) -> str:
    """A formula as text where text can say the same, else its TeX as code.

    Entities are not read inside code, so what might be one there, or a tag, gets a space: TeX ignores it. A back
    quote, the only way out, is TeX for a typographic quote.
    """
    tex = clean(inline.tex).strip()
    if not tex:
        return escape(inline.written)
    text = unicode_of(tex)
    return escape(text) if text else f"`{_defused(tex).replace('`', '‘')}`"


def grey(text: str) -> str:
    """Small print."""
    return f"<font color='grey'>{escape(text)}</font>"


def chars_of(leaf: Leaf) -> int:
    """How many characters a reader sees, be it one or two more or less."""
    if not isinstance(leaf, Formula):
        return len(leaf.text)
    tex = clean(leaf.tex).strip()
    return len(unicode_of(tex) or tex or leaf.written)


def _written(runs: Iterable[Run]) -> str:
    """Neighbours of the same style share their stars, so four never meet."""
    pieces = [""]
    for stars, group in groupby(runs, key=lambda run: run.stars):
        piece = _starred(_joined(run.leaf for run in group), stars)
        if piece:
            pieces += [_gap(pieces[-1][-4:], piece[:4]), piece]
    return "".join(pieces)


def _code(text: str) -> str:
    """Code, but text where a back quote would end it: the right letters matter more than their look."""
    shown = clean(text).strip()
    return escape(text) if not shown or "`" in shown else f"`{_defused(shown)}`"


def _defused(code: str) -> str:
    return _CODE_TAG.sub(r"\1 ", code)


def _leaf(leaf: Leaf) -> str:
    match leaf:
        case Text(text):
            return escape(text)
        case Code(text):
            return _code(text)
        case Link("", text):
            return grey(text)  # it stands for something that only a source has, and the source is not known
        case Link(url, text):
            return link(url, text)
        case Formula():
            return formula(leaf)


def _joined(leaves: Iterable[Leaf]) -> str:
    pieces = [""]
    for piece in filter(None, map(_leaf, leaves)):
        touching = pieces[-1].endswith("`") and piece.startswith("`")  # two code spans would become one
        pieces.append(f" {piece}" if touching else piece)
    return "".join(pieces)


def _starred(text: str, stars: int) -> str:
    """Stars hold only at the words themselves: a blank on their inner side makes them text. A lone code needs none."""
    inner = text.strip()
    if not stars or not inner or _ONE_CODE.fullmatch(inner):
        return text
    before, after = text[: len(text) - len(text.lstrip())], text[len(text.rstrip()) :]
    return f"{before}{'*' * stars}{inner}{'*' * stars}{after}"


def _gap(before: str, after: str) -> str:
    """A space where two pieces must not touch.

    Stars between punctuation inside and a letter outside, as in `**结论：**我们`, are no marks (CommonMark, flanking);
    the platform's advice for bold that does not show is a space (card rich-text page). A zero-width one would not do:
    it is neither a blank nor punctuation.
    """
    if not before or not after:
        return ""
    if before[-1] in "*`" and after[0] in "*`":
        return " "
    closing = before[-1] == "*" and _breaks(before.rstrip("*")[-1], after[0])
    opening = after[0] == "*" and _breaks(after.lstrip("*")[0], before[-1])
    return " " if closing or opening else ""


def _breaks(inside: str, outside: str) -> bool:
    """Whether stars between these two are text. Symbols count as punctuation in some versions of CommonMark only."""
    return not (inside.isalnum() or outside.isspace() or unicodedata.category(outside)[0] == "P")


def _without_bar(leaf: Leaf) -> Leaf:
    match leaf:
        case Code(text) if "|" in text:
            return Text(text)
        case Formula(tex, written) if "|" in tex and not unicode_of(clean(tex).strip()):
            return Text(tex or written)
        case _:
            return leaf
