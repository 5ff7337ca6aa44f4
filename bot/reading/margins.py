"""What stands around the items of marked text: tables of contents, closing words, groups inside one list."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import takewhile

from bot.domain.digest import Block, Listing, plain
from bot.reading.block_shape import block_line
from bot.reading.drafts import Notes
from bot.reading.marks import PSEUDO_LEVEL, Kind, Line
from bot.reading.story_lists import holds_stories, is_footer
from bot.reading.vocabulary import CONTENTS_NAME, FAREWELL, STANDING

LONGEST_CLOSING = 6


def closing_start(lines: Sequence[Line]) -> int:
    """Farewells, and lists of who edits and where to subscribe, at the very end."""
    end = len(lines)
    while end and not lines[end - 1].level and _is_closing(lines[end - 1]):
        end -= 1
    tail = list(takewhile(lambda line: not line.level, reversed(lines[:end])))[:LONGEST_CLOSING]
    rule = next((back for back, line in enumerate(tail, start=1) if line.parted), 0)
    about = any(STANDING.search(line.text) or _is_closing(line) for line in tail[:rule])
    return end - rule if about else end


def _is_closing(line: Line) -> bool:
    return bool(FAREWELL.match(line.text)) or (line.block is not None and is_footer(line.block))


def groups_apart(lines: Sequence[Line]) -> Iterator[Line]:
    """`- 科技` with a list of stories inside is a heading over a list."""
    for line in lines:
        groups = line.block.entries if isinstance(line.block, Listing) else ()
        if not groups or not all(_is_group(entry) for entry in groups):
            yield line
            continue
        for entry in groups:
            for block in entry:
                part = block_line(line.number, block)
                if part:
                    level = 0 if isinstance(block, Listing) else PSEUDO_LEVEL - 1
                    yield replace(part, level=level, opens=holds_stories(part))


def _is_group(entry: Sequence[Block]) -> bool:
    head, *lists = (block_line(0, block) for block in entry)
    is_name = head is not None and head.could_be_title and head.url is None
    return is_name and len(lists) == 1 and lists[0] is not None and holds_stories(lists[0])


def without_contents(lines: Sequence[Line], notes: Notes) -> list[Line]:
    """A list without links whose entries stand again as headings is a table of contents, as is what is called so."""
    titles = {_bare(line.body) for line in lines if line.level}
    kept: list[Line] = []
    for line in lines:
        if isinstance(line.block, Listing) and not line.opens and _is_contents(line.block, titles):
            notes.drop(line.number, line.text, "目录，正文中另有")
        elif CONTENTS_NAME.fullmatch(line.body) and not (line.url or line.kind is Kind.LINK):
            notes.drop(line.number, line.text, "目录")
        else:
            kept.append(line)
    return kept


def _is_contents(listing: Listing, titles: set[str]) -> bool:
    entries = [_bare(text) for entry in listing.entries for text in plain(entry).split("\n")]
    known = sum(entry in titles for entry in entries)
    return bool(known) and 2 * known >= len(entries)


def _bare(text: str) -> str:
    """For comparison: without a count behind it and without blanks."""
    return "".join(text.split("[", maxsplit=1)[0].split()) or "".join(text.split())
