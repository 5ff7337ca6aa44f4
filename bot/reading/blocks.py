"""What the reader of a format hands over: blocks in order with their places in the source, and what metadata says."""

from collections.abc import Iterable
from dataclasses import dataclass

from bot.domain.digest import Block, Inline, Text


@dataclass(frozen=True, slots=True)
class Placed:
    """A block and the 1-based line of the source on which it starts; None where a format has no lines."""

    line: int | None
    block: Block


@dataclass(frozen=True, slots=True)
class Document:
    """A source as blocks.

    `title`: from metadata (docx title, HTML <title>, front matter), no text of the body. `day_text`: a date written in
    metadata, as it is written.
    """

    blocks: tuple[Placed, ...]
    title: str | None = None
    day_text: str | None = None


def merged(pieces: Iterable[Inline]) -> tuple[Inline, ...]:
    """Neighbouring texts as one, blanks at the ends and empty texts left out."""
    found: list[Inline] = []
    for piece in pieces:
        if isinstance(piece, Text) and found and isinstance(found[-1], Text):
            found[-1] = Text(found[-1].text + piece.text)
        elif piece != Text(""):
            found.append(piece)
    if found and isinstance(found[0], Text):
        found[0] = Text(found[0].text.lstrip())
    if found and isinstance(found[-1], Text):
        found[-1] = Text(found[-1].text.rstrip())
    return tuple(piece for piece in found if piece != Text(""))
