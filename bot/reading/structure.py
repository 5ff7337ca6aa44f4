"""Lines of one text → digests: the title and its day, the introduction, the sections, what was left out.

The format-independent part of reading: a reader for another format fills the drafts and calls `assemble`.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from itertools import groupby

from bot.domain.digest import Digest, Item, Paragraph, Reading, Section, plain
from bot.reading.dates import TitleDate, read_title
from bot.reading.drafts import BodyDraft, ItemDraft, Notes, draft_body, is_tidy
from bot.reading.headings import find_headings
from bot.reading.inlines import inlines
from bot.reading.keys import Keys
from bot.reading.layouts import find_outline
from bot.reading.marks import Kind, Line, is_ended, split_link
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

    @property
    def anchor(self) -> date | None:
        """The day to which a missing year is nearest."""
        return self.today or self.by_name.day


def arrival(today: date | None, name: str | None) -> Arrival:
    """The file name counts without its folders and its extension."""
    stem = _EXTENSION.sub("", re.split(r"[/\\]", name)[-1]) if name else ""
    return Arrival(today, read_title(stem[:LONGEST_TITLE_CHARS], today))


def read_lines(lines: Sequence[Line], arrived: Arrival, notes: Notes) -> Reading:
    """One digest, or one for each day that has a title of its own."""
    digests = tuple(_read_day(day, arrived, notes) for day in split_days(lines, arrived.anchor))
    warnings = sorted(notes.warnings, key=lambda warning: warning.line or 0)
    dropped = sorted(notes.dropped, key=lambda dropped: dropped.line or 0)
    return Reading(digests, tuple(warnings), tuple(dropped))


def assemble(title: str | None, dated: TitleDate | None, body: BodyDraft, arrived: Arrival, notes: Notes) -> Digest:
    """The digest of drafts that any reader filled. Warns where an editor should look."""
    day, day_end, label = _day(dated, arrived, notes)
    keys = Keys()
    sections = tuple(
        Section(section.name, tuple(_item(item, keys) for item in section.items)) for section in body.sections
    )
    _warn_about_links([item for section in body.sections for item in section.items], notes)
    return Digest(title, day, day_end, label, _blocks(body.intro), _blocks(body.outro), sections)


def _read_day(day: Day, arrived: Arrival, notes: Notes) -> Digest:
    if day.date_line:
        notes.drop(day.date_line.number, day.date_line.text, "日期行，已读作本期日期")
    lines = _without_overview(_without_repeated_title(day, notes), notes)
    headings = find_headings(_with_links_split(lines))
    for stray in headings.strays:
        notes.drop_stray(stray)
    body = draft_body(find_outline(headings.lines, headings.sections), notes)
    body.intro[:0] = [line.text for line in day.above]
    if not body.sections:
        notes.warn("no_items", None, "the text holds no item; look whether it is a digest at all")
    elif not body.outro:
        _warn_if_cut_off(body.sections[-1].items[-1], headings.lines, notes)
    title = _tidy_title(day.title, notes) if day.title else None
    return assemble(title, day.dated, body, arrived, notes)


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
    return Item(keys.give(draft.url, draft.title, plain(blocks)), draft.title, draft.url, blocks)


def _blocks(paragraphs: Sequence[str]) -> tuple[Paragraph, ...]:
    return tuple(Paragraph(inlines(text)) for text in paragraphs)


def _warn_about_links(items: Sequence[ItemDraft], notes: Notes) -> None:
    if any(item.url for item in items):
        for item in items:
            if item.url is None:
                notes.warn("item_without_link", item.line, "this item has no link although others have one")
