"""An item out of its title and the lines below it."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from bot.domain.digest import Block, Heading, Listing, Paragraph
from bot.reading.block_shape import block_line, web_links
from bot.reading.drafts import ItemDraft, Notes, add_link, last_ending_link
from bot.reading.entries import read_line
from bot.reading.marks import Kind, Line, has_words, is_link_label


def titled_item(head: Line, lines: Iterable[Line], notes: Notes) -> ItemDraft:
    """The item under a heading."""
    item = open_item(head, notes)
    fill(item, lines, notes)
    return item


def open_item(line: Line, notes: Notes) -> ItemDraft:
    """An item by the line that opens it."""
    item = ItemDraft(line.number)
    part = line.unmarked_part
    notes.drop_mark(line)
    if isinstance(part, Heading | Paragraph):
        read_line(item, part.inlines, notes)
    if line.mark and item.title and item.title.startswith(line.mark):  # a number inside bold
        item.title = item.title.removeprefix(line.mark).strip()
    if item.title is None and item.paragraphs and line.level:
        item.title, item.paragraphs = " ".join(line.body.split()), item.paragraphs[1:]
    return item


def fill(item: ItemDraft, lines: Iterable[Line], notes: Notes) -> None:
    """Give the lines to the item; its link is one by itself, else one of a list, else the one that ends the text."""
    for line in lines:
        if line.kind is Kind.LINK and not line.level:
            add_link(item, line, notes)
        else:
            item.paragraphs.append(line.part)
            item.last_line = line.number
    if item.url is None:
        _take_listed_link(item, notes)
    item.url = item.url or last_ending_link(item.paragraphs)


def listed_link(line: Line) -> str | None:
    """The link of an entry that is nothing else: `- [阅读原文](…)`."""
    found = _link_entry(line.block)
    return found.url if found else None


def _link_entry(block: Block | None) -> Line | None:
    if not isinstance(block, Listing):
        return None
    lines = (block_line(0, entry[0]) for entry in block.entries if len(entry) == 1)
    return next((line for line in map(_as_link, lines) if line), None)


def _as_link(line: Line | None) -> Line | None:
    """The line if it is a link, by itself or behind a label: `来源：[港口网](…)`."""
    if line is None or line.kind is Kind.LINK or not isinstance(line.block, Paragraph):
        return line if line and line.kind is Kind.LINK else None
    found = web_links(line.block.inlines)
    before, _, after = line.text.partition(found[0].text) if len(found) == 1 else ("", "", "")
    is_label = bool(found) and has_words(before) and is_link_label(before) and not has_words(after)
    return replace(line, url=found[0].url) if is_label else None


def _take_listed_link(item: ItemDraft, notes: Notes) -> None:
    for place, part in enumerate(item.paragraphs):
        found = None if isinstance(part, str) else _link_entry(part)
        if found and isinstance(part, Listing):
            item.url = found.url
            if found.kind is not Kind.LINK:  # its words say more than that it is a link
                return
            notes.drop(item.line, found.around_url, "链接标记")
            rest: Sequence[tuple[Block, ...]] = [entry for entry in part.entries if entry != (found.block,)]
            item.paragraphs[place : place + 1] = [replace(part, entries=tuple(rest))] if rest else []
            return
