"""Text of a page, piece by piece with its looks → inlines."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from bot.domain.digest import Code, Emphasis, Formula, Inline, Link, Strong, Text
from bot.reading.inlines import inlines

DEEPEST_FORMULA = 40

_BLANKS = re.compile(r"\s+")
_TEX_FENCE = {"mfrac": "\\frac{%s}{%s}", "msup": "%s^{%s}", "msub": "%s_{%s}", "msubsup": "%s_{%s}^{%s}",
              "munder": "%s_{%s}", "mover": "%s^{%s}", "munderover": "%s_{%s}^{%s}", "mroot": "\\sqrt{%s}"}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Look:
    """How a piece of text looks. `href` is the address of the link around it."""

    strong: bool = False
    emphasis: bool = False
    code: bool = False
    href: str | None = None


PLAIN = Look()
Piece = tuple[str | Formula, Look]


def to_inlines(pieces: Sequence[Piece]) -> tuple[Inline, ...]:
    """The pieces as one line: blanks collapsed, bare links and formulas found, nothing where only blanks stand."""
    runs = _tidied(pieces)
    if len(runs) == 1 and runs[0][1] == PLAIN:
        return _leaves(*runs[0])
    found: list[Inline] = []
    for is_strong, strong in groupby(runs, key=lambda run: run[1].strong):
        inner: list[Inline] = []
        for is_emphasis, same in groupby(strong, key=lambda run: run[1].emphasis):
            leaves = tuple(leaf for run in same for leaf in _leaves(*run))
            inner += [Emphasis(leaves)] if is_emphasis else leaves
        found += [Strong(tuple(inner))] if is_strong else inner
    return tuple(found)


def _tidied(pieces: Sequence[Piece]) -> list[Piece]:
    runs: list[Piece] = []
    ends_blank = True
    for is_text, same in groupby(pieces, key=lambda piece: (isinstance(piece[0], str), piece[1])):
        group = list(same)
        if not is_text[0]:
            runs += group
            ends_blank = False
            continue
        text = _BLANKS.sub(" ", "".join(str(piece[0]) for piece in group))
        text = text[1:] if ends_blank and text.startswith(" ") else text
        if text:
            runs.append((text, is_text[1]))
            ends_blank = text.endswith(" ")
    while runs and isinstance(runs[-1][0], str):
        text, look = str(runs[-1][0]).rstrip(" "), runs[-1][1]
        runs.pop()
        if text:
            runs.append((text, look))
            break
    return runs


def _leaves(content: str | Formula, look: Look) -> tuple[Inline, ...]:
    if isinstance(content, Formula):
        return (content,)
    if look.href:
        return _link(content, look.href)
    if look.code:
        return (Code(content),) if content.strip() else (Text(content),)
    return inlines(content)


def _link(text: str, url: str) -> tuple[Inline, ...]:
    """Blanks at the ends of a link are not underlined."""
    bare = text.strip()
    if not bare:
        return (Text(text),)
    before, after = text[: len(text) - len(text.lstrip())], text[len(text.rstrip()) :]
    return tuple(part for part in (Text(before), Link(url, bare), Text(after)) if part.text)


def math_formula(node: Any) -> Formula | None:
    """A formula in MathML: the TeX it was made from if it says so, else what its elements say."""
    attributes = node.attributes
    source = node.css_first("annotation[encoding*='tex'], annotation[encoding*='TeX']")
    tex = (source.text() if source else attributes.get("alttext") or _tex(node, DEEPEST_FORMULA)).strip()
    tex = _BLANKS.sub(" ", tex).removeprefix("{\\displaystyle ").strip() if source else tex
    is_display = attributes.get("display") == "block"
    return tex_formula(tex, display=is_display) if tex else None


def script_formula(node: Any) -> Formula | None:
    """A formula that MathJax is to draw: `<script type="math/tex; mode=display">`."""
    kind = (node.attributes.get("type") or "").lower()
    tex = (node.child.text_content or "").strip() if node.child is not None else ""
    return tex_formula(tex, display="display" in kind) if tex and kind.startswith("math/tex") else None


def tex_formula(tex: str, *, display: bool) -> Formula:
    """A formula whose delimiters nobody wrote."""
    mark = "$$" if display else "$"
    return Formula(tex, f"{mark}{tex}{mark}", display)


def _tex(node: Any, deepest: int) -> str:
    if node.is_text_node:
        return str(node.text_content or "").strip()
    if not deepest or node.tag == "annotation":
        return str(node.text()).strip() if node.tag != "annotation" else ""
    parts = [part for child in _children(node) if (part := _tex(child, deepest - 1))]
    shape = _TEX_FENCE.get(node.tag)
    if shape and len(parts) >= shape.count("%s"):
        return shape % tuple(parts[: shape.count("%s")])
    inner = " ".join(parts)
    return f"\\sqrt{{{inner}}}" if node.tag == "msqrt" else inner


def _children(node: Any) -> Iterator[Any]:
    child = node.child
    while child is not None:
        yield child
        child = child.next
