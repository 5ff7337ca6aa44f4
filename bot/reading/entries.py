"""One line that is a whole item, `1. [title](link) - text`, and rows of a table that are items."""

import re
from collections.abc import Iterator, Sequence

from bot.domain.digest import (
    Block,
    Inline,
    Link,
    Paragraph,
    Strong,
    Table,
    Text,
    links,
    plain_inlines,
)  # fmt: skip
from bot.reading.block_shape import block_line, is_badge, is_generic, web_links
from bot.reading.blocks import merged
from bot.reading.drafts import ItemDraft, Notes
from bot.reading.labels import published
from bot.reading.marks import Kind, columns, has_words, mark_line
from bot.reading.story_lists import column_role
from bot.reading.vocabulary import NOTHING

LEAST_TITLE_COLUMNS = 12  # of a link that a sentence follows: shorter, and it is a name in the sentence
LEAST_BOLD_COLUMNS = 8

_SEPARATOR = re.compile(r"\s*(?:[-–—]{1,2}|[:：|｜,，])\s*")
_TITLE_END = " \t:：|｜-–—"
_INDEX = re.compile(r"[\[【]\d{1,3}[\]】]\s*")
_ASIDE = re.compile(r"\s*[\[【(（][^\]】)）]*[\]】)）]\W*")
_BEFORE_TITLE = re.compile(r"[\[【(（][^\]】)）]{1,20}[\]】)）]")


def read_entry(number: int, blocks: Sequence[Block], notes: Notes) -> ItemDraft:
    """An entry of a list as an item."""
    item = ItemDraft(number)
    first, *rest = blocks
    if isinstance(first, Paragraph):
        read_line(item, first.inlines, notes)
        if not item.url:
            rest = _with_link(item, rest, notes)
    else:
        rest = list(blocks)
    item.paragraphs += rest
    return item


def read_line(item: ItemDraft, inlines: tuple[Inline, ...], notes: Notes) -> None:
    """Fill an item from the line that opens it: title, link, and what else the line says."""
    inlines = _without_mark(item, inlines, notes)
    found = web_links(inlines)
    titled = next((link for link in found if not is_generic(link)), None)
    head, tail = _parted(inlines, titled)
    item.url = titled.url if titled and head else found[0].url if found else None
    rest = _without_marks_of_link(item, tail if head else inlines, notes)
    if head:
        shown = _without_marks_of_link(item, head, notes)
        item.title = " ".join(plain_inlines(shown).split()).rstrip(_TITLE_END) or None
        others = [link for link in web_links(head) if link.url != item.url]
        rest = (*rest, *others)
    else:
        item.title, rest = _whole_title(item, rest)
    if has_words(plain_inlines(rest)):
        item.paragraphs.append(Paragraph(merged(rest)))
    elif rest:
        notes.drop(item.line, plain_inlines(rest), "链接标记")


def read_table(number: int, table: Table, notes: Notes) -> Iterator[ItemDraft]:
    """One item a row; the head says what each column holds."""
    names = [plain_inlines(cell).strip() for cell in table.rows[0]]
    notes.drop(number, " | ".join(names), "表头")
    roles = [column_role(name) for name in names]
    for row in table.rows[1:]:
        item = ItemDraft(number)
        for name, role, cell in zip(names, roles, row, strict=True):
            _read_cell(item, name, role, cell, notes)
        if item.title is None:
            _promote_cell(item)
        if item.title or item.url or item.paragraphs:
            yield item


def _without_mark(item: ItemDraft, inlines: tuple[Inline, ...], notes: Notes) -> tuple[Inline, ...]:
    if not inlines or not isinstance(inlines[0], Text):
        return inlines
    text = inlines[0].text.lstrip()
    found = _INDEX.match(text)
    mark = found[0] if found else mark_line(item.line, f"{text}x").mark
    if not mark:
        return inlines
    notes.drop(item.line, mark, "编号")
    rest = text[len(mark) :]
    return (Text(rest), *inlines[1:]) if rest else inlines[1:]


def _parted(inlines: tuple[Inline, ...], titled: Link | None) -> tuple[tuple[Inline, ...], tuple[Inline, ...]]:
    """The title and what stands behind it; no title where the line is one sentence."""
    place = _title_place(inlines, titled)
    if place is None or has_words(_BEFORE_TITLE.sub("", plain_inlines(inlines[:place]))):
        return (), inlines
    head, after = inlines[: place + 1], inlines[place + 1 :]
    tail = plain_inlines(link for link in after if not isinstance(link, Link) or not is_generic(link))
    if not has_words(tail) or _ASIDE.fullmatch(tail):
        return inlines, ()
    if titled and not has_words(plain_inlines(each for each in after if not isinstance(each, Link))):
        return head, after
    separator = _SEPARATOR.match(tail)
    if separator and isinstance(after[0], Text):
        return head, (Text(after[0].text[separator.end() :]), *after[1:])
    is_line = mark_line(0, " ".join(plain_inlines(inlines).split())).could_be_title
    if is_line and titled:
        return inlines, ()
    least = LEAST_TITLE_COLUMNS if titled else LEAST_BOLD_COLUMNS
    is_title = columns(plain_inlines(head)) >= least or plain_inlines(head)[-1:] in ":："
    return (head, after) if is_title else ((), inlines)


def _title_place(inlines: tuple[Inline, ...], titled: Link | None) -> int | None:
    for place, inline in enumerate(inlines):
        if titled and titled in web_links((inline,)):
            return place
        if isinstance(inline, Strong) and not web_links((inline,)) and titled is None:
            return place
    return None


def _without_marks_of_link(item: ItemDraft, inlines: Sequence[Inline], notes: Notes) -> tuple[Inline, ...]:
    """Without the arrow, the word or the address that is nothing but the link of the item."""
    kept: list[Inline] = []
    for inline in inlines:
        is_mark = isinstance(inline, Link) and inline.url == item.url and is_generic(inline)
        if is_mark and isinstance(inline, Link):
            notes.drop(item.line, inline.text if inline.text != inline.url else "", "链接标记")
        elif is_badge(inline):
            notes.drop(item.line, plain_inlines((inline,)), "编号")
        else:
            kept.append(inline)
    return tuple(kept)


def _whole_title(item: ItemDraft, rest: tuple[Inline, ...]) -> tuple[str | None, tuple[Inline, ...]]:
    """A short line is a title as a whole; a sentence is text."""
    text = " ".join(plain_inlines(rest).split()).rstrip(_TITLE_END)
    if not text or not mark_line(0, text).could_be_title:
        return None, rest
    return text, tuple(link for link in web_links(rest) if link.url != item.url)


def _with_link(item: ItemDraft, rest: Sequence[Block], notes: Notes) -> list[Block]:
    """A link on its own line below the title is the item's."""
    kept: list[Block] = []
    for block in rest:
        line = block_line(item.line, block)
        if line and line.kind is Kind.LINK and item.url is None:
            item.url = line.url
            notes.drop(line.number, line.around_url, "链接标记")
        else:
            kept.append(block)
    return kept


def _read_cell(item: ItemDraft, name: str, role: str, cell: tuple[Inline, ...], notes: Notes) -> None:
    text = " ".join(plain_inlines(cell).split())
    if not text or role == "number" or NOTHING.fullmatch(text):
        notes.drop(item.line, text, "编号" if role == "number" else "空单元格")
        return
    found = web_links(cell)
    if role == "title" and item.title is None:
        item.title, item.url = text, found[0].url if found else item.url
        item.paragraphs += [Paragraph((link,)) for link in found[1:]]
    elif role == "link" and len(found) == 1 and item.url is None:
        item.url = found[0].url
        notes.drop(item.line, text if text != item.url else "", "链接标记")
    elif role == "date" and (day := published(text, None)) and item.published_at is None:
        item.published_at = day
    elif role == "tags":
        item.tags += tuple(part for part in re.split(r"[\s,，、;；|]+", text) if part)
    elif role == "source" and item.source is None and not found:
        item.source = text
    else:
        item.paragraphs.append(Paragraph((Text(f"{name}: "), *cell) if name else cell))


def _promote_cell(item: ItemDraft) -> None:
    """Without a column of titles, the words of the first linked cell are the title, else those of the first cell."""
    paragraphs = [part for part in item.paragraphs if isinstance(part, Paragraph)]
    for part in paragraphs:
        found = [link for link in links((part,)) if not is_generic(link)]
        if found and item.url is None:
            item.url = found[0].url
            item.title = " ".join(found[0].text.split())
            item.paragraphs.remove(part)
            if len(part.inlines) > 2 or len(found) > 1:
                item.paragraphs.insert(0, part)
            return
