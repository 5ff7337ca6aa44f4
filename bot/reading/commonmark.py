"""Blocks as canonical CommonMark, with `$…$` for formulas and pipe tables: literal text reads back as literal text.

What Markdown has no way to say is normalised: blanks at the ends of a paragraph go, a line break is a blank, emphasis
inside the same emphasis is one, blanks at its ends stand outside it, a heading is at most of level 6.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

from bot.domain import digest as model
from bot.domain.digest import Block, Code, Emphasis, Formula, Inline, Link, Strong, Text

DEEPEST_HEADING = 6
HIGHEST_NUMBER = 999_999_999

_LINE_BREAK = re.compile("[ \t]*[\n\r\v\f\x85\u2028\u2029]+[ \t]*")
_SPECIAL = str.maketrans({char: f"\\{char}" for char in "\\`*_[]<>&$~"})
_BARE_ADDRESS = re.compile(r"(?<![A-Za-z0-9])https?(?=://)", re.IGNORECASE)
_BLOCK_START = re.compile(r"(?:(?P<digits>[0-9]{1,9})(?=[.)])|(?=[#+=-]))")
_CLOSING_HASHES = re.compile(r"#(?=#*$)")
_ENTITY = re.compile(r"&(?=#?\w+;)")
_NEEDS_BRACKETS = re.compile(r"[()<>\s]|^$")
_AUTOLINK = re.compile(r"https?:[^\s<>\x00-\x1f]*", re.IGNORECASE)
_BACKTICKS = re.compile("`+")
_CJK = re.compile("[\u2e80-\ud7ff\uf900-\ufaff\ufe30-\ufe4f\uff00-\uffef“”‘’…—·]")


@dataclass(slots=True)
class _Piece:
    """Source of one inline and the mark that stands at both its ends, if any."""

    source: str
    mark: str = ""


def to_commonmark(block: Block) -> str:
    """One block, without a line end behind it; empty where the block says nothing."""
    match block:
        case model.Paragraph(inlines):
            return _paragraph(inlines)
        case model.Heading(level, inlines):
            return _heading(level, inlines)
        case model.Listing(entries, start):
            return _listing(entries, start, "-" if start is None else ".")
        case model.Quote(blocks):
            return "\n".join(f"> {line}" if line else ">" for line in _blocks(blocks).split("\n"))
        case model.CodeBlock(text, language):
            return _code_block(text, language)
        case model.Table(rows):
            return _table(rows)
        case model.Image(url, alt):
            return f"![{_escaped(alt)}]({_destination(url)})"
        case model.Rule():
            return "___"  # of dashes or stars it would melt into the mark of a list


def _blocks(blocks: Sequence[Block]) -> str:
    """Blocks in a row. Of two lists side by side the second has another mark, or they would be one."""
    pieces: list[str] = []
    other_mark = False
    for before, block in pairwise([None, *blocks]):
        other_mark = _follows_list(before, block) and not other_mark
        if isinstance(block, model.Listing) and other_mark:
            pieces.append(_listing(block.entries, block.start, "*" if block.start is None else ")"))
        elif block is not None:
            pieces.append(to_commonmark(block))
    return "\n\n".join(filter(None, pieces))


def _follows_list(before: Block | None, block: Block | None) -> bool:
    return (
        isinstance(before, model.Listing)
        and isinstance(block, model.Listing)
        and (before.start is None) == (block.start is None)
    )


def _listing(entries: Sequence[Sequence[Block]], start: int | None, mark: str) -> str:
    """The entries with a blank line between them as soon as one has several blocks."""
    written = [
        _entry(entry, mark if start is None else f"{min(start + place, HIGHEST_NUMBER)}{mark}")
        for place, entry in enumerate(entries)
    ]
    return ("\n\n" if any(len(entry) > 1 for entry in entries) else "\n").join(written)


def _entry(blocks: Sequence[Block], mark: str) -> str:
    indent = " " * (len(mark) + 1)
    lines = _blocks(blocks).split("\n")
    return "\n".join(
        [f"{mark} {lines[0]}" if lines[0] else mark, *(indent + line if line else "" for line in lines[1:])]
    )


def _paragraph(inlines: Iterable[Inline]) -> str:
    text = _inlines(inlines).strip()
    found = _BLOCK_START.match(text)
    return f"{text[: found.end()]}\\{text[found.end() :]}" if found else text


def _heading(level: int, inlines: Iterable[Inline]) -> str:
    text = _CLOSING_HASHES.sub(r"\#", _inlines(inlines).strip())
    return f"{'#' * min(level, DEEPEST_HEADING)} {text}".rstrip(" ")


def _code_block(text: str, language: str) -> str:
    fence = "`" * max(3, _longest_run(text) + 1)
    info = re.sub(r"[\s`]+", "", language)
    return f"{fence}{info}\n{text}\n{fence}" if text else f"{fence}{info}\n{fence}"


def _table(rows: Sequence[Sequence[Sequence[Inline]]]) -> str:
    if not rows or not rows[0]:
        return ""
    written = ["| " + " | ".join(_inlines(cell).strip().replace("|", "\\|") for cell in row) + " |" for row in rows]
    written.insert(1, "|" + " --- |" * len(rows[0]))
    return "\n".join(written)


def _inlines(inlines: Iterable[Inline], *, inside_stars: bool = False) -> str:
    tidy = _merged(inlines)
    pieces: list[_Piece] = []
    for place, inline in enumerate(tidy):
        around = tidy[max(place - 1, 0) : place] + tidy[place + 1 : place + 2]
        touches = any(isinstance(one, Strong) for one in around) or (inside_stars and len(around) < 2)
        pieces += _pieces(inline, touches_stars=touches)
    for left, right in pairwise(pieces):
        _keep_apart(left, right)
    return "".join(piece.source for piece in pieces)


def _pieces(inline: Inline, *, touches_stars: bool) -> list[_Piece]:
    match inline:
        case Text(text):
            return [_Piece(_literal(text))]
        case Strong(inner):
            return _marked("**", _inlines(_flat(inner, Strong), inside_stars=True))
        case Emphasis(inner):
            return _emphasis(_flat(inner, Emphasis), touches_stars=touches_stars)
        case Code(text):
            return [_Piece(_code(_LINE_BREAK.sub(" ", text)))]
        case Link(url, text):
            is_bare = text == url and _AUTOLINK.fullmatch(url)
            return [_Piece(f"<{url}>" if is_bare else f"[{_escaped(text)}]({_destination(url)})")]
        case Formula():
            return [_formula(inline)]


def _emphasis(inner: Sequence[Inline], *, touches_stars: bool) -> list[_Piece]:
    """By a low line where stars stand already: `**_so_**`."""
    touches_stars |= any(isinstance(one, Strong) for one in (*inner[:1], *inner[-1:]))
    return _marked("_" if touches_stars else "*", _inlines(inner, inside_stars=not touches_stars))


def _merged(inlines: Iterable[Inline]) -> list[Inline]:
    """Without empty inlines; neighbours of one kind are one, as Markdown cannot tell them apart."""
    told = (one for one in inlines if isinstance(one, Link | Formula) or model.plain_inlines((one,)))
    return [one for kind, group in groupby(told, key=type) for one in _as_one(kind, list(group))]


def _as_one(kind: type[Inline], group: list[Inline]) -> list[Inline]:
    if kind in {Text, Code}:
        text = model.plain_inlines(group)
        return [Text(text) if kind is Text else Code(text)]
    if kind in {Strong, Emphasis}:
        inner = tuple(one for each in group if isinstance(each, Strong | Emphasis) for one in each.inlines)
        return [Strong(inner) if kind is Strong else Emphasis(inner)]
    return group


def _flat(inlines: Iterable[Inline], kind: type[Strong] | type[Emphasis]) -> list[Inline]:
    """Without the same emphasis inside itself."""
    flat: list[Inline] = []
    for inline in inlines:
        flat += _flat(inline.inlines, kind) if isinstance(inline, kind) else [inline]
    return flat


def _marked(mark: str, inner: str) -> list[_Piece]:
    """Blanks stand outside the marks: `** so **` is no emphasis."""
    text = inner.strip()
    if not text:
        return [_Piece(inner)]
    before, _, after = inner.partition(text)
    pieces = (_Piece(before), _Piece(f"{mark}{text}{mark}", mark), _Piece(after))
    return [piece for piece in pieces if piece.source]


def _keep_apart(left: _Piece, right: _Piece) -> None:
    """Change the edge of what stands beside a mark where the mark would not be one otherwise."""
    if left.mark == right.mark == "$":
        left.source += " "
    elif right.mark == "$" and left.source.endswith("\\$"):
        left.source = f"{left.source[:-2]}&#36;"  # or the dollars would be one mark
    elif left.mark and not right.mark and _hides(left.mark, left.source[: -len(left.mark)][-1], right.source[0]):
        right.source = f"&#{ord(right.source[0])};{right.source[1:]}"
    elif right.mark and not left.mark and _hides(right.mark, right.source[len(right.mark)], left.source[-1]):
        left.source = f"{left.source[:-1]}&#{ord(left.source[-1])};"
    elif right.source.startswith("[") and left.source.endswith("!"):
        left.source = f"{left.source[:-1]}\\!"  # or the link would be an image


def _hides(mark: str, inside: str, outside: str) -> bool:
    """Whether a mark between these two characters is taken for text.

    Our reader takes Chinese on either side as a reason for a mark (`**粗体。**后文`); CommonMark itself does not.
    """
    if not outside.isalnum():
        return False
    if mark == "$":
        return outside.isascii()
    return mark == "_" or not (inside.isalnum() or _CJK.match(inside) or _CJK.match(outside))


def _code(text: str) -> str:
    fence = "`" * (_longest_run(text) + 1)
    is_blank = not text.strip(" ")
    needs_blanks = text[0] == "`" or text[-1] == "`" or (text[0] == text[-1] == " " and not is_blank)
    return f"{fence} {text} {fence}" if needs_blanks else f"{fence}{text}{fence}"


def _longest_run(text: str) -> int:
    return max(map(len, _BACKTICKS.findall(text)), default=0)


def _formula(formula: Formula) -> _Piece:
    if "$" in formula.tex or not formula.tex.strip():
        return _Piece(_literal(formula.written))  # a dollar inside would end the formula
    tex = _LINE_BREAK.sub(" ", formula.tex)
    return _Piece(f"$${tex}$$" if formula.display else f"${tex}$", "$")


def _literal(text: str) -> str:
    """Escaped, and no bare address in it a link."""
    return _BARE_ADDRESS.sub(r"\g<0>\\", _escaped(text))


def _escaped(text: str) -> str:
    return _LINE_BREAK.sub(" ", text).translate(_SPECIAL)


def _destination(url: str) -> str:
    escaped = _ENTITY.sub(r"\\&", url.replace("\\", "\\\\"))
    return f"<{escaped.replace('<', '%3C').replace('>', '%3E')}>" if _NEEDS_BRACKETS.search(url) else escaped
