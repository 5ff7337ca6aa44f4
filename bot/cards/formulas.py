r"""TeX → Unicode text, for formulas that lose nothing by it: `w_{k+1} = \frac{1}{k}` → wₖ₊₁ = 1/k.

The parser is pylatexenc's; the text is ours, as its own drops brackets. What cannot be said without doubt is refused:
matrices, cases, unknown macros, accents over more than a letter. Brackets that TeX draws by size are written out.
"""

import logging
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any

from pylatexenc import latexwalker  # type: ignore[import-untyped]
from pylatexenc.macrospec import LatexContextDb, MacroSpec, SpecialsSpec  # type: ignore[import-untyped]

from bot.cards.formula_signs import (
    ACCENTS,
    ALPHABETS,
    CHARACTERS,
    MACROS,
    SILENT,
    UPRIGHT,
    Kind,
    Piece,
    RefusedError,
    as_product,
    joined,
    ratio,
    root,
    scripted,
    styled_letter,
)

_LONGEST = 2_000
_DEEPEST = 12

_RATIOS = ("frac", "dfrac", "tfrac")
_ARGUMENTS = dict.fromkeys((*UPRIGHT, *ALPHABETS, *ACCENTS), "{") | dict.fromkeys(_RATIOS, "{{")
_ARGUMENTS |= {"sqrt": "[{", "operatorname": "*{"}
_CONTEXT = LatexContextDb()
_CONTEXT.add_context_category("ours", [MacroSpec(*one) for one in _ARGUMENTS.items()], [], [SpecialsSpec("~")])
_CONTEXT.set_unknown_macro_spec(MacroSpec(""))
logging.getLogger("pylatexenc").setLevel(logging.ERROR)  # it warns of every bad macro

_SIZED = {"left", "right"}
_TOKEN = re.compile(r"\s+|:?[=<>]+|.", re.DOTALL)
_BLANKS = re.compile(" {2,}")
_LOOSE_SPACE = re.compile(r"(?<!\w) +| +(?!\w)")


def unicode_of(tex: str) -> str | None:
    """A formula as a line of plain text, for which markup means nothing yet; None if it would say less or be in doubt.

    Scripts without Unicode characters are written `_ref`, `_(i,j)` or `^(…)`. Never raises.
    """
    return _unicode_of(tex) if len(tex) <= _LONGEST else None


@lru_cache(maxsize=1_024)  # a formula is measured before it is written
def _unicode_of(tex: str) -> str | None:
    try:
        nodes, _, _ = latexwalker.LatexWalker(tex, _CONTEXT, tolerant_parsing=False).get_latex_nodes()
        return _BLANKS.sub(" ", joined(_pieces(nodes, 0))).strip() or None
    except Exception:  # noqa: BLE001  the parser raises more than it documents, and a formula never costs a card
        return None


def _pieces(nodes: Iterable[Any], depth: int) -> list[Piece]:
    """Nodes as pieces, with scripts at what they belong to."""
    if depth > _DEEPEST:
        raise RefusedError
    tokens = list(_tokens(nodes))[::-1]
    pieces: list[Piece] = []
    while tokens:
        token = tokens.pop()
        if _name(token) in _SIZED:
            if tokens[-1:] in ([], ["."], ["<"], [">"]):
                raise RefusedError  # a bracket that is not drawn, or not as it is written
            continue
        inner = _inner(token, depth)
        if len(inner) > 1 and _next(tokens) in {"_", "^", "'"}:
            inner = [Piece(as_product(joined(inner)))]
        last = inner.pop() if inner else Piece("", Kind.SPACE)
        pieces += [*inner, last if last.kind is Kind.SPACE and last.text else _scripts(last, tokens, depth)]
    return pieces


def _inner(token: Any, depth: int) -> list[Piece]:
    """What a token or an argument holds: braces are not seen."""
    if isinstance(token, str):
        return [_character(token)]
    if token.isNodeType(latexwalker.LatexGroupNode):
        return _pieces(token.nodelist, depth + 1)
    if token.isNodeType(latexwalker.LatexCharsNode):
        return _pieces([token], depth + 1)
    if token.isNodeType(latexwalker.LatexSpecialsNode):
        return [Piece(" ", Kind.SPACE)]
    if token.isNodeType(latexwalker.LatexMacroNode):
        return [_macro(token, depth)]
    raise RefusedError  # comments, environments, formulas in formulas


def _tokens(nodes: Iterable[Any]) -> Iterator[Any]:
    """Characters one by one, and nodes; the blank that ends the name of a macro may mean something."""
    for node in nodes:
        if node.isNodeType(latexwalker.LatexCharsNode):
            yield from _TOKEN.findall(node.chars)
        elif _name(node) not in SILENT:
            yield node
        if node.isNodeType(latexwalker.LatexMacroNode) and node.macro_post_space and node.macroname not in _ARGUMENTS:
            yield " "


def _scripts(base: Piece, tokens: list[Any], depth: int) -> Piece:
    """The piece with the scripts that follow it; takes them from the tokens, the last of which is the next."""
    primes, scripts = "", {"_": "", "^": ""}
    while (mark := _next(tokens)) in {"_", "^", "'"}:
        _take(tokens)
        if mark == "'":
            primes += "′"
            continue
        if scripts[mark]:
            raise RefusedError
        scripts[mark] = _LOOSE_SPACE.sub("", joined(_inner(_take(tokens), depth + 1)))
    return scripted(base, scripts["_"], primes + scripts["^"])


def _next(tokens: list[Any]) -> str:
    """The next token that is no blank, if it is a character."""
    ahead = next((token for token in reversed(tokens) if not _is_blank(token)), None)
    return ahead if isinstance(ahead, str) else ""


def _take(tokens: list[Any]) -> Any:
    while tokens and _is_blank(tokens[-1]):
        tokens.pop()
    if not tokens:
        raise RefusedError
    return tokens.pop()


def _is_blank(token: Any) -> bool:
    return isinstance(token, str) and token.isspace()


def _name(token: Any) -> str:
    return "" if isinstance(token, str) else getattr(token, "macroname", "")


def _character(token: str) -> Piece:
    if token.isspace():
        return Piece(" ", Kind.SPACE)
    if token in {"_", "^", "&", "#", "'", "`"}:
        raise RefusedError
    return Piece({"-": "−"}.get(token, token), CHARACTERS.get(token[-1], Kind.PLAIN))


def _macro(node: Any, depth: int) -> Piece:
    name = node.macroname
    if name in MACROS:
        return Piece(*MACROS[name])
    arguments = node.nodeargd.argnlist
    if name in UPRIGHT:
        text = _upright(arguments[-1])
        return Piece(text, Kind.WORD if len(text) > 1 else Kind.PLAIN)
    if name in _RATIOS:
        return ratio(*(_inner(argument, depth + 1) for argument in arguments))
    if name == "sqrt":
        return root(*(joined(_inner(argument, depth + 1)) if argument else "" for argument in arguments))
    if name in ALPHABETS:
        return _styled(ALPHABETS[name], _inner(arguments[0], depth + 1))
    if name in ACCENTS:
        text = joined(_inner(arguments[0], depth + 1))
        if len(text) == 1 and text.isalpha():
            return Piece(unicodedata.normalize("NFC", text + ACCENTS[name]))
    raise RefusedError


def _upright(node: Any) -> str:
    """Words inside a formula, where scripts and signs are only characters."""
    if node.isNodeType(latexwalker.LatexCharsNode):
        return str(node.chars)
    if node.isNodeType(latexwalker.LatexGroupNode):
        return "".join(map(_upright, node.nodelist))
    if _name(node) in MACROS and not node.macro_post_space:
        return MACROS[node.macroname][0]
    raise RefusedError


def _styled(style: str, pieces: Sequence[Piece]) -> Piece:
    if any(piece.kind in {Kind.RATIO, Kind.ROOT} for piece in pieces):
        raise RefusedError
    return Piece("".join(styled_letter(style, character) for character in joined(pieces)))
