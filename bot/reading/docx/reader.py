"""Feishu documents: blocks as the API returns them → digests. Source: docx-v1 document-block/list; notes 9.2."""

from collections.abc import Sequence
from datetime import datetime, tzinfo
from typing import Any

from bot.domain.digest import Reading
from bot.domain.errors import DigestError
from bot.reading.blocks import Document, Placed
from bot.reading.docx.blocks import walk
from bot.reading.drafts import Notes
from bot.reading.encoding import visible
from bot.reading.structure import arrive, read_blocks

MOST_BLOCKS = 100_000

Json = dict[str, Any]


def read_docx(
    document: Json | list[Any],
    *,
    name: str | None = None,
    received_at: datetime | None = None,
    zone: tzinfo,
    noise: Sequence[str] = (),
    title: str | None = None,
    url: str | None = None,
) -> Reading:
    """Read a Feishu document as a careful editor would.

    `document`: a list of blocks, an answer of the API that holds one, or a list of such answers (its pages). `title`:
    for a document without a page block. `url`: where people see it; what cannot be read is linked there.
    Raises: DigestError `not_docx`, `refused`, `empty` or `too_long`.
    """
    notes = Notes()
    blocks = _blocks(document, name, notes)
    if len(blocks) > MOST_BLOCKS:
        raise DigestError("too_long", f"{len(blocks)} blocks are no digest; give one day alone", path=name)
    known_noise = frozenset(visible(line).strip() for line in noise)
    walked = walk(blocks, zone=zone, noise=known_noise, url=url, notes=notes)
    if not walked.blocks:
        raise DigestError("empty", "the document holds no text; write the digest into it", path=name)
    placed = tuple(Placed(None, block) for block in walked.blocks)
    return read_blocks(Document(placed, walked.title or title), arrive(name, received_at, zone), notes)


def _blocks(document: Any, name: str | None, notes: Notes) -> list[Json]:
    """All blocks of a document, in the order of the list, which means nothing."""
    if isinstance(document, dict) and "block_id" not in document:
        return _of_answer(document, name, notes)
    listed = document if isinstance(document, list) else [document]
    blocks: list[Json] = []
    for one in listed:
        if not isinstance(one, dict):
            raise DigestError("not_docx", "is no list of Feishu blocks; export it by the API again", path=name)
        is_block = "block_id" in one or "block_type" in one
        blocks += [one] if is_block else _of_answer(one, name, notes, is_last=one is listed[-1])
    return blocks


def _of_answer(answer: Json, name: str | None, notes: Notes, *, is_last: bool = True) -> list[Json]:
    if answer.get("code"):
        raise DigestError("refused", f"is a refusal of the API (code {answer['code']}), no document", path=name)
    data = answer.get("data")
    page = data if isinstance(data, dict) else answer
    items = page.get("items", page.get("blocks"))
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        raise DigestError("not_docx", "has no list of Feishu blocks under `items`; export it again", path=name)
    if page.get("has_more") and is_last:
        notes.warn("incomplete", None, "the list of blocks goes on after this page; read the other pages too")
    return items
