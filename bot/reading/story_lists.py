"""Which lists and tables hold stories, and which lists are about the digest."""

import re
from collections.abc import Sequence

from bot.domain.digest import Block, Listing, Paragraph, Table, plain_inlines
from bot.reading.block_shape import block_line, web_links
from bot.reading.marks import Kind, Line
from bot.reading.vocabulary import COLUMNS, FAREWELL, IMPRINT, STANDING

_ADDRESS_LABEL = re.compile(r"[^:：]{1,10}[:：]\s*$")


def is_item_list(listing: Listing) -> bool:
    """Half of the entries at least are stories with a link of their own."""
    linked = sum(_is_linked(entry) for entry in listing.entries)
    return bool(linked) and 2 * linked >= len(listing.entries) and not is_footer(listing)


def holds_stories(line: Line) -> bool:
    """A list or a table of items, or a title that is a link."""
    match line.block:
        case Listing():
            return is_item_list(line.block)
        case Table():
            return is_item_table(line.block)
    return line.could_be_title and line.url is not None and not line.level


def is_footer(block: Block) -> bool:
    """Who edits, where to subscribe: a list that is no news."""
    if not isinstance(block, Listing):
        return False
    texts = [line.text for entry in block.entries if (line := block_line(0, entry[0]))]
    about = [bool(FAREWELL.match(text) or IMPRINT.match(text)) for text in texts]
    standing = [bool(STANDING.search(text)) for text in texts]
    return (any(about) and 2 * sum(map(any, zip(about, standing, strict=True))) >= len(texts)) or (
        bool(texts) and all(standing)
    )


def is_item_table(table: Table) -> bool:
    """Its head names a title, or something to follow, and its rows hold links."""
    roles = {column_role(plain_inlines(cell).strip()) for cell in table.rows[0]}
    linked = sum(any(web_links(cell) for cell in row) for row in table.rows[1:])
    return len(table.rows) > 1 and (("title" in roles and linked > 0) or 2 * linked > len(table.rows) - 1)


def _is_linked(entry: Sequence[Block]) -> bool:
    first = entry[0]
    found = web_links(first.inlines) if isinstance(first, Paragraph) else []
    if not isinstance(first, Paragraph):
        return False
    line = block_line(0, first)
    if line is None or line.kind in {Kind.LINK, Kind.LABEL}:
        return False
    if found:
        return not _ADDRESS_LABEL.fullmatch(plain_inlines(first.inlines).replace(found[0].text, ""))
    return any(line.kind is Kind.LINK for block in entry[1:2] if (line := block_line(0, block)))


def column_role(name: str) -> str:
    return next((role for role, names in COLUMNS.items() if names.fullmatch(name)), "")
