"""Elements of a Feishu text block → inlines. Source: docx-v1 data structure of blocks, text elements; notes 9.2."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from typing import Any
from urllib.parse import unquote, urlsplit

from bot.domain.digest import Code, Emphasis, Formula, Inline, Link, Strong, Text
from bot.reading.drafts import Notes
from bot.reading.encoding import visible
from bot.reading.inlines import inlines

UNREADABLE = "[此处有一段暂时读不了的内容]"
SOMEBODY = "@成员"  # the block has an id; the name needs another scope, and an id is nobody's text

_BREAK = re.compile("\r\n|[\r\n\v\f\x85\u2028\u2029]")


@dataclass(frozen=True, slots=True)
class _Run:
    """Text of one look. `url`: where it leads."""

    text: str
    bold: bool = False
    italic: bool = False
    code: bool = False
    url: str | None = None


_Piece = _Run | Formula | Link


def lines_of(body: Any, zone: tzinfo, notes: Notes) -> list[tuple[Inline, ...]]:
    """The lines of a text-like block, its own line breaks apart; lines without anything to see are left out."""
    lines: list[list[_Piece]] = [[]]
    for element in elements_of(body):
        for piece in _pieces(element, zone, notes):
            if isinstance(piece, _Run):
                first, *others = _BREAK.split(piece.text)
                _add_run(lines[-1], piece, first)
                for text in others:
                    lines.append([])
                    _add_run(lines[-1], piece, text)
            else:
                lines[-1].append(piece)
    return [line for line in map(_line, lines) if line]


def line_of(body: Any, zone: tzinfo, notes: Notes) -> tuple[Inline, ...]:
    """All of a text-like block in one line."""
    first, *others = lines_of(body, zone, notes) or [()]
    for other in others:
        first = (*first, Text(" "), *other)
    return first


def text_of(body: Any) -> str:
    """Characters of a text-like block as they stand, for code and names."""
    values = [value for element in elements_of(body) for value in element.values() if isinstance(value, dict)]
    return visible("".join(str(value.get("content") or "") for value in values))


def web_url(written: Any) -> str | None:
    """The address of a link; Feishu encodes the whole of it. None for anything but http and https."""
    if not isinstance(written, str):
        return None
    url = written.strip()
    url = url if "://" in url else unquote(url).strip()
    try:
        parts = urlsplit(url)
        is_web = parts.scheme in {"http", "https"} and bool(parts.hostname)
    except ValueError:
        return None
    return url if is_web and not re.search(r"\s", url) else None


def elements_of(body: Any) -> list[dict[str, Any]]:
    """The pieces of a text-like block."""
    elements = body.get("elements") if isinstance(body, dict) else None
    return [one for one in elements if isinstance(one, dict)] if isinstance(elements, list) else []


def _pieces(element: dict[str, Any], zone: tzinfo, notes: Notes) -> Iterator[_Piece]:
    for kind, value in element.items():
        content = value if isinstance(value, dict) else {}
        if kind == "text_run":
            yield _run(content)
        elif kind == "equation":
            tex = str(content.get("content") or "").strip()
            yield Formula(tex, f"${tex}$") if tex else _Run("")
        elif kind == "mention_user":
            yield _Run(SOMEBODY)
        elif kind == "mention_doc":
            url, title = web_url(content.get("url")), visible(str(content.get("title") or ""))
            yield Link(url, title or url) if url else _Run(title)
        elif kind == "reminder":
            yield _Run(_day(content.get("expire_time"), zone))
        elif kind == "file":
            yield _Run("[附件]")
        elif kind != "inline_block":  # its text is a block of its own
            notes.warn("unreadable_block", None, f"a piece of text ({kind}) cannot be read; look at the document")
            yield _Run(str(content.get("content") or UNREADABLE))


def _run(content: dict[str, Any]) -> _Run:
    style = content.get("text_element_style")
    style = style if isinstance(style, dict) else {}
    link = style.get("link")
    return _Run(
        visible(str(content.get("content") or "")),
        bold=bool(style.get("bold")),
        italic=bool(style.get("italic")),
        code=bool(style.get("inline_code")),
        url=web_url(link.get("url")) if isinstance(link, dict) else None,
    )


def _day(written: Any, zone: tzinfo) -> str:
    """The day of a reminder: milliseconds, as a number or a string."""
    try:
        return f"{datetime.fromtimestamp(int(written) / 1000, zone):%Y-%m-%d}"
    except (ValueError, TypeError, OverflowError, OSError):
        return ""


def _add_run(line: list[_Piece], run: _Run, text: str) -> None:
    """Text that looks like the run before it continues it: a link over two runs is one link."""
    last = line[-1] if line else None
    if run.url is not None:
        run = _Run(text, url=run.url)  # a link has text alone
    elif run.code:
        run = _Run(text, code=True)
    else:
        run = _Run(text, run.bold, run.italic)
    if isinstance(last, _Run) and _look(last) == _look(run):
        line[-1] = _Run(last.text + text, run.bold, run.italic, run.code, run.url)
    elif text:
        line.append(run)


def _look(run: _Run) -> tuple[bool, bool, bool, str | None]:
    return run.bold, run.italic, run.code, run.url


def _line(pieces: Sequence[_Piece]) -> tuple[Inline, ...]:
    seen = [one for one in pieces if not isinstance(one, _Run) or one.text.strip()]
    if not seen:
        return ()
    if len(seen) == 1 and isinstance(seen[0], Formula):
        tex = seen[0].tex
        return (Formula(tex, f"$${tex}$$", display=True),)
    return tuple(inline for piece in pieces for inline in _inlines(piece))


def _inlines(piece: _Piece) -> tuple[Inline, ...]:
    if not isinstance(piece, _Run):
        return (piece,)
    if not piece.text.strip():
        return (Text(piece.text),)
    if piece.url is not None:
        return (Link(piece.url, piece.text),)
    if piece.code:
        return (Code(piece.text),)
    inner = inlines(piece.text)
    if piece.italic:
        inner = (Emphasis(inner),)
    return (Strong(inner),) if piece.bold else inner
