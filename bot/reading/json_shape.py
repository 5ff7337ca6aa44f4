"""A reading as the JSON document of `digest check --json`; body text becomes CommonMark."""

import re
from collections.abc import Iterable
from typing import Any

from bot.domain.digest import Block, Digest, Formula, Inline, Item, Link, Reading, Text, links, plain

_SPECIAL = str.maketrans({char: f"\\{char}" for char in "\\`*_[]<>&$~"})
_NEEDS_BRACKETS = set("() <>")
_BLOCK_START = re.compile(r"(?:(?P<digits>[0-9]{1,9})(?=[.)])|(?=[#+=-]))")


def to_json(reading: Reading) -> dict[str, Any]:
    """The document of the contract; what is missing is null, never an empty text."""
    return {
        "digests": [_digest(digest) for digest in reading.digests],
        "warnings": [
            {"code": warning.code, "line": warning.line, "message": warning.message} for warning in reading.warnings
        ],
        "dropped": [{"line": each.line, "text": each.text, "reason": each.reason} for each in reading.dropped],
    }


def _digest(digest: Digest) -> dict[str, Any]:
    return {
        "title": digest.title,
        "day": digest.day and digest.day.isoformat(),
        "day_end": digest.day_end and digest.day_end.isoformat(),
        "label": digest.label,
        "intro": _markdown(digest.intro),
        "outro": _markdown(digest.outro),
        "sections": [
            {"name": section.name, "items": [_item(item) for item in section.items]} for section in digest.sections
        ],
    }


def _item(item: Item) -> dict[str, Any]:
    return {
        "key": item.key,
        "title": item.title,
        "url": item.url,
        "paragraphs": _markdown(item.blocks),
        "text": plain(item.blocks),
        "links": [{"text": link.text, "url": link.url} for link in links(item.blocks)],
        "images": [{"url": image.url, "alt": image.alt} for image in item.images],
        "tags": list(item.tags),
        "source": item.source,
        "published_at": item.published_at and item.published_at.isoformat(),
    }


def _markdown(blocks: Iterable[Block]) -> list[str]:
    return [_paragraph(block.inlines) for block in blocks]


def _paragraph(inlines: tuple[Inline, ...]) -> str:
    pieces: list[str] = []
    for inline in inlines:
        piece = _piece(inline)
        if piece.startswith("[") and pieces and pieces[-1].endswith("!"):
            pieces[-1] = f"{pieces[-1][:-1]}\\!"  # or the link would be an image
        pieces.append(piece)
    return _without_block_start("".join(pieces)) if inlines and isinstance(inlines[0], Text) else "".join(pieces)


def _piece(inline: Inline) -> str:
    if isinstance(inline, Link):
        is_bare = inline.text == inline.url and not any(char in " <>" for char in inline.url)
        return f"<{inline.url}>" if is_bare else f"[{_escaped(inline.text)}]({_destination(inline.url)})"
    if isinstance(inline, Formula):
        if "$" in inline.tex:
            return _escaped(inline.written)  # a dollar inside would end the formula
        return f"$${inline.tex}$$" if inline.display else f"${inline.tex}$"
    return _escaped(inline.text)


def _escaped(text: str) -> str:
    return text.translate(_SPECIAL)


def _destination(url: str) -> str:
    is_plain = not any(char in _NEEDS_BRACKETS for char in url)
    return url if is_plain else f"<{url.replace('<', '%3C').replace('>', '%3E')}>"


def _without_block_start(text: str) -> str:
    """The paragraph with what would begin a list, a heading or a quotation escaped."""
    found = _BLOCK_START.match(text)
    if not found:
        return text
    place = found.end()
    return f"{text[:place]}\\{text[place:]}"
