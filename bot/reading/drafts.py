"""Items and sections while they are being read: text by value, with the line each came from."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from bot.domain.digest import Block, Dropped, Link, Paragraph, ReadingWarning, links, plain_inlines
from bot.reading.headings import section_name
from bot.reading.marks import Kind, Line, columns, ending_link, has_words, is_ended
from bot.reading.outline import Outline
from bot.reading.vocabulary import OPENER

BROKEN_COLUMNS = 60
TIDY_SHARE = 0.75

Part = str | Block

_INNER_STOP = re.compile(r"[，。；,;]")


@dataclass(slots=True)
class Notes:
    """What an editor should look at, collected while reading."""

    warnings: list[ReadingWarning] = field(default_factory=list)
    dropped: list[Dropped] = field(default_factory=list)

    def warn(self, code: str, line: int | None, message: str) -> None:
        """Record a warning."""
        self.warnings.append(ReadingWarning(code, message, line))

    def drop(self, line: int | None, text: str, reason: str) -> None:
        """Record text that is in no digest; blanks alone are not worth a record. Line 0 is no line."""
        if text.strip():
            self.dropped.append(Dropped(line or None, text.strip(), reason))

    def drop_mark(self, line: Line) -> None:
        """Record the list mark of a line that starts an item."""
        self.drop(line.number, line.mark, "编号" if any(map(str.isalnum, line.mark)) else "列表符号")

    def drop_stray(self, line: Line) -> None:
        """Record a line that belongs nowhere."""
        self.drop(line.number, line.text, "零散残留文字")
        self.warn("stray_line", line.number, f"“{line.text}” belongs to no item and was left out")


@dataclass(slots=True)
class ItemDraft:
    """An item as read so far: text that is still to be searched for links and formulas, or blocks as they are.

    `last_line` is the last line of its text; 0 where it has none.
    """

    line: int
    title: str | None = None
    url: str | None = None
    paragraphs: list[Part] = field(default_factory=list)
    last_line: int = 0
    tags: tuple[str, ...] = ()
    source: str | None = None
    published_at: datetime | None = None


@dataclass(slots=True)
class SectionDraft:
    """A section as read so far."""

    line: int
    name: str | None = None
    items: list[ItemDraft] = field(default_factory=list)


@dataclass(slots=True)
class BodyDraft:
    """The text of one day below its title."""

    intro: list[Part] = field(default_factory=list)
    sections: list[SectionDraft] = field(default_factory=list)
    outro: list[Part] = field(default_factory=list)

    @property
    def items(self) -> list[ItemDraft]:
        """All items, in order."""
        return [item for section in self.sections for item in section.items]


def draft_body(outline: Outline, notes: Notes) -> BodyDraft:
    """Every line put where the outline says."""
    body = BodyDraft()
    tidy = is_tidy(outline.lines)
    item: ItemDraft | None = None
    previous: Line | None = None
    for index, line in enumerate(outline.lines):
        if index < outline.body_start:
            body.intro.append(line.part)
        elif index >= outline.body_end:
            body.outro.append(line.part)
        elif index in outline.sections:
            _open_section(body, line, notes)
        elif item is None or index in outline.starts or not body.sections[-1].items:
            item = _open_item(body, line, notes)
        else:
            _continue(item, line, previous if tidy else None, notes)
        previous = line
    _drop_empty_sections(body, notes)
    if not outline.has_links:
        _without_link_lines(body)
    return body


def _open_section(body: BodyDraft, line: Line, notes: Notes) -> None:
    name = section_name(line)
    if body.sections and body.sections[-1].name == name:
        notes.drop(line.number, line.text, "重复的栏目名")
        return
    before, _, after = line.text.partition(name)
    notes.drop(line.number, f"{before}{after}", "栏目标记")
    body.sections.append(SectionDraft(line.number, name))


def _open_item(body: BodyDraft, line: Line, notes: Notes) -> ItemDraft:
    if not body.sections:
        body.sections.append(SectionDraft(line.number))
    item = ItemDraft(line.number)
    body.sections[-1].items.append(item)
    notes.drop_mark(line)
    if line.kind is Kind.LINK:
        add_link(item, line, notes)
    elif line.could_be_title:
        item.title = " ".join(line.body.split())
    else:
        _add_text(item, line, line.unmarked_part)
    return item


def _continue(item: ItemDraft, line: Line, previous: Line | None, notes: Notes) -> None:
    if line.kind is Kind.LINK:
        add_link(item, line, notes)
    elif previous and previous.number == item.last_line and _is_broken(previous, line):
        join = " " if previous.text[-1:].isascii() and line.text[:1].isascii() else ""
        item.paragraphs[-1] = f"{item.paragraphs[-1]}{join}{line.text}"
        item.last_line = line.number
        notes.warn("joined_lines", line.number, "a sentence was broken by a line end and is one again")
    else:
        _add_text(item, line, line.part)


def _add_text(item: ItemDraft, line: Line, part: Part) -> None:
    item.paragraphs.append(part)
    item.last_line = line.number


def add_link(item: ItemDraft, line: Line, notes: Notes) -> None:
    """The first link is the item's; further ones are text, a repeated one is dropped."""
    if item.url is None:
        item.url = line.url
        notes.drop(line.number, line.around_url, "链接标记")
    elif item.url == line.url:
        notes.drop(line.number, line.text, "重复的链接")
    else:
        item.paragraphs.append(line.part)


def _is_broken(line: Line, following: Line) -> bool:
    """One sentence over two paragraphs: the first half stops in the middle, the second starts like no paragraph."""
    if line.block or following.block:
        return False
    text = line.text
    unfinished = (text[-1].isalnum() or text[-1] in "，、,") and line.kind in {Kind.PROSE, Kind.SHORT}
    is_sentence = columns(text) > BROKEN_COLUMNS or bool(_INNER_STOP.search(text))
    continues = following.kind is Kind.PROSE and not following.mark and following.text[0] not in "“「『《【（([<$\\"
    return unfinished and is_sentence and continues and not OPENER.match(following.text)


def is_tidy(lines: Sequence[Line]) -> bool:
    """The paragraphs of this text end with a stop, so that one without it is broken or cut."""
    prose = [is_ended(line.text) for line in lines if line.kind is Kind.PROSE and line.text[-1] not in ":："]
    return bool(prose) and sum(prose) >= TIDY_SHARE * len(prose)


def _drop_empty_sections(body: BodyDraft, notes: Notes) -> None:
    for section in body.sections:
        if not section.items:
            notes.drop(section.line, section.name or "", "没有条目的栏目")
    body.sections = [section for section in body.sections if section.items]


def _without_link_lines(body: BodyDraft) -> None:
    """In a list without links a single line is the news itself; a link that ends the text is the link of its item."""
    for item in (item for section in body.sections for item in section.items):
        if item.title and not item.paragraphs:
            item.paragraphs, item.title = [item.title], None
        item.url = last_ending_link(item.paragraphs)


def last_ending_link(parts: Sequence[Part]) -> str | None:
    """The link with which the last of the paragraphs that end with one ends."""
    ends = (ending_link(part) if isinstance(part, str) else _ending_link(part) for part in reversed(parts))
    return next((url for url in ends if url), None)


def _ending_link(block: Block) -> str | None:
    if not isinstance(block, Paragraph):
        return None
    last = next((each for each in reversed(block.inlines) if has_words(plain_inlines((each,)))), None)
    return last.url if isinstance(last, Link) and len(list(links((block,)))) == 1 else None
