"""Lines of one text → digests: the title and its day, the introduction, the sections, what was left out.

The format-independent part of reading: every format comes as lines (`read_lines`) or as blocks (`read_blocks`).
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, tzinfo
from itertools import groupby

from bot.domain.digest import Block, Digest, Item, Paragraph, Reading, Section, plain
from bot.reading.block_lines import block_lines
from bot.reading.blocks import Document, Placed
from bot.reading.dates import TitleDate, read_title
from bot.reading.drafts import BodyDraft, ItemDraft, Notes, Part, draft_body, is_tidy
from bot.reading.encoding import visible
from bot.reading.headings import find_headings
from bot.reading.inlines import inlines
from bot.reading.keys import Keys
from bot.reading.labels import take_labels
from bot.reading.layouts import find_outline
from bot.reading.marked_text import draft_marked, is_marked
from bot.reading.marks import Kind, Line, is_ended, split_link
from bot.reading.stories import tell_once
from bot.reading.titles import LONGEST_TITLE_CHARS, Day, split_days

STALE_DAYS = 90
AHEAD_DAYS = 7

_BLANK_IN_BRACKET = re.compile(r"(?<=[（(【\[「《])\s+|\s+(?=[）)】\]」》])|(?<=[年月])\s+(?=\d)")
_EXTENSION = re.compile(r"\.[A-Za-z][A-Za-z0-9]{0,4}$")


@dataclass(frozen=True, slots=True)
class Arrival:
    """What is known beside the text: the local day on which it arrived, and what its file name writes."""

    today: date | None
    by_name: TitleDate
    zone: tzinfo

    @property
    def anchor(self) -> date | None:
        """The day to which a missing year is nearest."""
        return self.today or self.by_name.day


def arrive(name: str | None, received_at: datetime | None, zone: tzinfo) -> Arrival:
    """What the file name and the moment of arrival say. A naive moment is in `zone`.

    The name counts without its folders and its extension.
    """
    if received_at and received_at.tzinfo is None:
        received_at = received_at.replace(tzinfo=zone)
    today = received_at.astimezone(zone).date() if received_at else None
    stem = _EXTENSION.sub("", re.split(r"[/\\]", name)[-1]) if name else ""
    return Arrival(today, read_title(stem[:LONGEST_TITLE_CHARS], today), zone)


def read_lines(lines: Sequence[Line], arrived: Arrival, notes: Notes) -> Reading:
    """One digest, or one for each day that has a title of its own."""
    return _reading(split_days(lines, arrived.anchor), arrived, notes)


def without_noise(blocks: Iterable[Placed], noise: Sequence[str], notes: Notes) -> tuple[Placed, ...]:
    """Blocks but for those whose text is one of these lines."""
    known = {" ".join(visible(line).split()) for line in noise}
    kept: list[Placed] = []
    for placed in blocks:
        text = " ".join(plain((placed.block,)).split())
        if text in known:
            notes.drop(placed.line, text, "配置的干扰行")
        else:
            kept.append(placed)
    return tuple(kept)


def _reading(days: Iterable[Day], arrived: Arrival, notes: Notes) -> Reading:
    digests = tuple(_read_day(day, arrived, notes) for day in days)
    warnings = sorted(notes.warnings, key=lambda warning: warning.line or 0)
    dropped = sorted(notes.dropped, key=lambda dropped: dropped.line or 0)
    return Reading(digests, tuple(warnings), tuple(dropped))


def read_blocks(document: Document, arrived: Arrival, notes: Notes) -> Reading:
    """One digest, or one for each day that has a title of its own, out of the blocks of any format."""
    lines = block_lines(document.blocks, notes)
    days = split_days(lines, arrived.anchor, has_title=document.title is not None)
    return _reading((_with_metadata(day, document, arrived, notes) for day in days), arrived, notes)


def assemble(title: str | None, dated: TitleDate | None, body: BodyDraft, arrived: Arrival, notes: Notes) -> Digest:
    """The digest of drafts that any reader filled. Warns where an editor should look."""
    day, day_end, label = _day(dated, arrived, notes)
    keys = Keys()
    sections = tuple(
        Section(section.name, tuple(_item(item, keys) for item in section.items)) for section in body.sections
    )
    _warn_about_links(body.items, notes)
    return Digest(title, day, day_end, label, _blocks(body.intro), _blocks(body.outro), sections)


def _with_metadata(day: Day, document: Document, arrived: Arrival, notes: Notes) -> Day:
    """A title in the text with its day is more than one in the metadata, and that more than one without a day."""
    written = (document.title or "").strip()
    by_title = read_title(written, arrived.anchor)
    if written and day.title is None:
        day = replace(day, title=Line(0, written, Kind.SHORT))
    elif written and day.title and day.title.text != written:
        notes.drop(None, written, "元数据里的标题")
    if day.dated and day.dated.day:
        return day
    for dated in (by_title, read_title(document.day_text or "", arrived.anchor)):
        if dated.day:
            return replace(day, dated=dated)
    return day


def _read_day(day: Day, arrived: Arrival, notes: Notes) -> Digest:
    if day.date_line:
        notes.drop(day.date_line.number, day.date_line.text, "日期行，已读作本期日期")
    lines = _without_overview(_without_repeated_title(day, notes), notes)
    body = draft_marked(lines, notes) if is_marked(lines) else _draft_unmarked(lines, notes)
    body.intro[:0] = [line.part for line in day.above]
    tell_once(body, notes)
    for item in body.items:
        take_labels(item, arrived.zone, notes)
    if not body.sections:
        notes.warn("no_items", None, "the text holds no item; look whether it is a digest at all")
    elif not body.outro:
        _warn_if_cut_off(body.items[-1], lines, notes)
    title = _tidy_title(day.title, notes) if day.title else None
    return assemble(title, day.dated, body, arrived, notes)


def _draft_unmarked(lines: Sequence[Line], notes: Notes) -> BodyDraft:
    headings = find_headings(_with_links_split(lines))
    for stray in headings.strays:
        notes.drop_stray(stray)
    return draft_body(find_outline(headings.lines, headings.sections), notes)


def _without_repeated_title(day: Day, notes: Notes) -> list[Line]:
    kept: list[Line] = []
    for line in day.below:
        if day.title and line.text == day.title.text:
            notes.drop(line.number, line.text, "重复的标题")
        else:
            kept.append(line)
    return kept


def _without_overview(lines: Sequence[Line], notes: Notes) -> list[Line]:
    """Titles in a row that all stand again below are a table of contents, unless they head text themselves."""
    last_place = {line.body: index for index, line in enumerate(lines) if line.kind is Kind.SHORT}
    kept: list[Line] = []
    for again, group in groupby(enumerate(lines), key=lambda each: last_place.get(each[1].body, -1) > each[0]):
        places, block = zip(*group, strict=True)
        is_list = again and len({line.body for line in block}) > 1 and lines[places[-1] + 1].could_be_title
        for line in block if is_list else ():
            notes.drop(line.number, line.text, "目录，正文中另有")
        kept += () if is_list else block
    return kept


def _with_links_split(lines: Sequence[Line]) -> list[Line]:
    """Where most links stand at the end of a line of text, each such line is its text and its link."""
    split = [split_link(line) for line in lines]
    links = sum(line.kind is Kind.LINK for line in lines)
    if sum(len(parts) > 1 for parts in split) <= links:
        return list(lines)
    return [part for parts in split for part in parts]


def _tidy_title(line: Line, notes: Notes) -> str:
    notes.drop_mark(line)
    return _BLANK_IN_BRACKET.sub("", " ".join(line.body.split()))


def _warn_if_cut_off(last: ItemDraft, lines: Sequence[Line], notes: Notes) -> None:
    text = lines[-1].text
    is_sentence = lines[-1].kind is Kind.PROSE or "，" in text or "。" in text
    is_open = is_sentence and not is_ended(text) and is_tidy(lines)
    if last.last_line == lines[-1].number and (is_open or text.endswith(("...", "…"))):
        notes.warn("cut_off", last.last_line, "the last item stops in the middle of a sentence")


def _day(dated: TitleDate | None, arrived: Arrival, notes: Notes) -> tuple[date | None, date | None, str | None]:
    """The day that the text writes, else the one of the file name, else the one on which it arrived."""
    label = dated.label if dated else None
    if dated and dated.day:
        age_days = (arrived.today - dated.day).days if arrived.today else 0
        if age_days > STALE_DAYS and not dated.has_year:
            notes.warn("day_assumed", None, f"the year is not written; {dated.day} is long before the day of arrival")
        if age_days < -AHEAD_DAYS:
            notes.warn("day_assumed", None, f"{dated.day} is long after the day of arrival; look whether it is meant")
        return dated.day, dated.day_end, label
    if arrived.by_name.day:
        notes.warn("day_assumed", None, f"the day {arrived.by_name.day} is the one in the file name")
        return arrived.by_name.day, arrived.by_name.day_end, label or arrived.by_name.label
    if arrived.today:
        notes.warn(
            "day_assumed", None, f"the text writes no certain day; {arrived.today} is the day on which it arrived"
        )
        return arrived.today, None, label
    notes.warn("no_day", None, "the text writes no certain day; write it in the title or give the day of arrival")
    return None, None, label


def _item(draft: ItemDraft, keys: Keys) -> Item:
    blocks = _blocks(draft.paragraphs)
    key = keys.give(draft.url, draft.title, plain(blocks))
    return Item(key, draft.title, draft.url, blocks, draft.tags, draft.source, draft.published_at)


def _blocks(parts: Sequence[Part]) -> tuple[Block, ...]:
    return tuple(Paragraph(inlines(part)) if isinstance(part, str) else part for part in parts)


def _warn_about_links(items: Sequence[ItemDraft], notes: Notes) -> None:
    if any(item.url for item in items):
        for item in items:
            if item.url is None:
                notes.warn("item_without_link", item.line, "this item has no link although others have one")
