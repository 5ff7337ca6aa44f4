"""Source lines of one paragraph → paragraphs: line ends mean nothing, but where a line stands by itself."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from bot.domain.digest import Block, Formula, Image, Inline, Link, Paragraph, Strong, Text, plain_inlines
from bot.reading.blocks import merged
from bot.reading.marks import columns, is_ended, sets_off

HARD_WRAP_COLUMNS = 60

_WIDE_EDGE = re.compile(r"[\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef\u201c\u201d]")


@dataclass(slots=True)
class Row:
    """One line of a paragraph; `is_hard`: the line end before it is meant."""

    offset: int
    is_hard: bool
    pieces: list[Inline | Image] = field(default_factory=list)


def joined(rows: Sequence[Row]) -> Iterator[Row]:
    """Rows whose line end means nothing are one."""
    texts = [plain_inlines(piece for piece in row.pieces if not isinstance(piece, Image)).strip() for row in rows]
    set_off = [_is_set_off(row, text) for row, text in zip(rows, texts, strict=True)]
    is_listed = any(set_off)
    current: Row | None = None
    for place, row in enumerate(rows):
        before = texts[place - 1] if place else ""
        is_open = columns(before) > HARD_WRAP_COLUMNS or before.endswith(("，", "、", ","))
        is_wrapped = is_open and not is_ended(before) and not set_off[place - 1]
        is_meant = row.is_hard or (is_listed and (set_off[place] or not is_wrapped))
        if current is None or is_meant:
            if current:
                yield current
            current = row
        else:
            join(current.pieces, row.pieces)
    if current:
        yield current


def _is_set_off(row: Row, text: str) -> bool:
    """A line by itself: a link, a label, something numbered, a picture, a bold line."""
    if not text:
        return bool(row.pieces)
    pieces = [piece for piece in row.pieces if not isinstance(piece, Text) or piece.text.strip()]
    is_bold = len(pieces) == 1 and isinstance(pieces[0], Strong)
    is_link = len(pieces) == 1 and isinstance(pieces[0], Link)
    return is_bold or is_link or sets_off(text)


def join(whole: list[Inline | Image], more: Sequence[Inline | Image]) -> None:
    """Between Chinese characters a line end is nothing, elsewhere it is a blank."""
    before = plain_inlines(piece for piece in whole[-1:] if not isinstance(piece, Image))[-1:]
    after = plain_inlines(piece for piece in more[:1] if not isinstance(piece, Image))[:1]
    if before and after and not (_WIDE_EDGE.match(before) and _WIDE_EDGE.match(after)):
        whole.append(Text(" "))
    whole.extend(more)


def blocks(pieces: Iterable[Inline | Image]) -> Iterator[Block]:
    run: list[Inline] = []
    for piece in pieces:
        is_display = isinstance(piece, Formula) and piece.display
        if not isinstance(piece, Image) and not is_display:
            run.append(piece)
            continue
        if inner := merged(run):
            yield Paragraph(inner)
        run = []
        yield piece if isinstance(piece, Image) else Paragraph((piece,))
    if inner := merged(run):
        yield Paragraph(inner)
