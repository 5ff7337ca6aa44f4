"""The line that is the title of a digest, and the lines that start further days in one file."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from itertools import islice, pairwise, takewhile

from bot.reading.dates import TitleDate, read_title
from bot.reading.headings import is_known
from bot.reading.marks import PSEUDO_LEVEL, Kind, Line
from bot.reading.outline import story_start
from bot.reading.vocabulary import CONTENTS_NAME, DATE_WORDS, DATED_NAME, PAPER_NAME

LONGEST_TITLE_CHARS = 80
LONGEST_DATED_NAME_CHARS = 12
LOOK_AHEAD_LINES = 40

_BAR = re.compile(r"[|｜·•]")


@dataclass(frozen=True, slots=True)
class Day:
    """The lines of one digest: above the title, the title, a line that only writes the day, below the title."""

    above: tuple[Line, ...]
    title: Line | None
    date_line: Line | None
    below: tuple[Line, ...]
    dated: TitleDate | None


def split_days(lines: Sequence[Line], anchor: date | None, *, has_title: bool = False) -> list[Day]:
    """One day, or one for each title with a date of its own. `anchor`: a missing year is the nearest to it.

    `has_title`: the title is known already; only one with a day is looked for.
    """
    story = story_start(lines)
    heads = _dated_heads(lines, story, anchor)
    if not heads:
        day = Day((), None, None, tuple(lines), None) if has_title else _undated(lines, story)
        return [_with_date_line(day, anchor)]
    cuts = [0, *(index for index, _ in heads[1:]), len(lines)]
    days = [
        _dated_day(lines[start:index], lines[index], lines[index + 1 : end], dated)
        for (start, end), (index, dated) in zip(pairwise(cuts), heads, strict=True)
    ]
    return _named_once(days)


def _named_once(days: list[Day]) -> list[Day]:
    """Headings that are dates alone have their title above the first of them, or right below."""
    first = days[0]
    if first.title:
        return days
    above = next((line for line in first.above if line.level), None)
    if above:
        days = [replace(day, above=tuple(line for line in day.above if line is not above)) for day in days]
        return [replace(day, title=above) for day in days]
    return [_with_title_below(day) for day in days]


def _with_title_below(day: Day) -> Day:
    for index, line in enumerate(day.below[:LOOK_AHEAD_LINES]):
        if line.level or line.kind is Kind.LINK:
            dated = read_title(line.text, day.dated.day if day.dated else None)
            if line.level and day.dated and dated.day == day.dated.day and dated.name:
                above = (*day.above, *day.below[:index])
                return replace(day, above=above, title=line, below=day.below[index + 1 :], dated=dated)
            break
    return day


def _dated_day(above: Sequence[Line], head: Line, below: Sequence[Line], dated: TitleDate) -> Day:
    is_title = not DATE_WORDS.fullmatch(dated.name)
    return Day(tuple(above), head if is_title else None, None if is_title else head, tuple(below), dated)


def _dated_heads(lines: Sequence[Line], story: int, anchor: date | None) -> list[tuple[int, TitleDate]]:
    """The title with a date, and the titles of further days, which have the same name."""
    found: list[tuple[int, TitleDate]] = []
    known: set[tuple[date | None, date | None, str | None]] = set()
    for index, line in enumerate(lines):
        if not _could_write_day(line) or (not found and index >= story):
            continue
        dated = read_title(line.text, anchor)
        day = (dated.day, dated.day_end, dated.label)
        if found:
            is_head = dated.day is not None and dated.name == found[0][1].name and day not in known
            is_head = is_head and (bool(dated.name) or bool(line.level) or _stands_alone(lines, index))
        else:
            is_head = dated.dated and _is_head(lines, index, dated)
        if is_head:
            found.append((index, dated))
            known.add(day)
    return found


def _could_write_day(line: Line) -> bool:
    return line.could_be_title and len(line.text) <= LONGEST_TITLE_CHARS and any(map(str.isnumeric, line.body))


def _is_head(lines: Sequence[Line], index: int, dated: TitleDate) -> bool:
    """Named as digests are; or a date that is set off, with little beside it, and items below that it could head.

    In doubt it is the title of an item: a day that is missing is asked for, a wrong one is not noticed.
    """
    if lines[index].level:
        return _is_day_heading(lines, index, dated)
    if DATED_NAME.search(dated.name):
        return True
    if len(dated.name) > LONGEST_DATED_NAME_CHARS:
        return False
    if _stands_alone(lines, index):
        following = lines[index + 1]
        return dated.set_off or (index == 0 and (bool(following.mark) or is_known(following.text)))
    return index == 0 and dated.set_off and _heads_others(lines[1:LOOK_AHEAD_LINES])


def _is_day_heading(lines: Sequence[Line], index: int, dated: TitleDate) -> bool:
    """A date alone, a paper's name, or the first heading of all with its date set off."""
    if DATE_WORDS.fullmatch(dated.name):
        return True
    heading = lines[index]
    if heading.url is not None and index:
        return False
    if DATED_NAME.search(dated.name):
        return True
    is_first = not any(line.level for line in islice(lines, index))
    return is_first and dated.set_off and not any(_is_sibling(heading, line) for line in lines)


def _is_sibling(heading: Line, line: Line) -> bool:
    """Another heading of the same level and without a day: then both are titles of items."""
    return line.level == heading.level and line is not heading and not _could_write_day(line)


def _stands_alone(lines: Sequence[Line], index: int) -> bool:
    """Neither under a title nor over its text: the date is not one of an item."""
    under_title = index > 0 and lines[index - 1].kind is Kind.SHORT
    following = lines[index + 1] if index + 1 < len(lines) else None
    return not under_title and following is not None and (following.could_be_title or bool(following.mark))


def _heads_others(lines: Sequence[Line]) -> bool:
    """Before the first link there are titles, or there is no link: the line above is no title of a linked item."""
    before_link = list(takewhile(lambda line: line.kind is not Kind.LINK, lines))
    return len(before_link) == len(lines) or any(line.kind is Kind.SHORT or line.mark for line in before_link)


def _undated(lines: Sequence[Line], story: int) -> Day:
    """A name such as 灯塔日报 at the top, or right above the first section, is a title as well; so is a top heading."""
    top = _top_heading(lines)
    if top is not None:
        dated = read_title(lines[top].text, None)
        return Day(tuple(lines[:top]), lines[top], None, tuple(lines[top + 1 :]), dated)
    for index, line in enumerate(lines[:story]):
        heads = index == 0 or (index + 1 < len(lines) and is_known(lines[index + 1].text))
        if heads and line.kind is Kind.SHORT and len(line.text) <= LONGEST_TITLE_CHARS:
            dated = read_title(line.text, None)
            if PAPER_NAME.search(dated.name):
                return Day(tuple(lines[:index]), line, None, tuple(lines[index + 1 :]), dated)
    return Day((), None, None, tuple(lines), None)


def _top_heading(lines: Sequence[Line]) -> int | None:
    """The first heading, if it stands above all others, names no section, and has more below it than one story."""
    levels = [line.level for line in lines if line.level]
    index = next((index for index, line in enumerate(lines) if line.level), None)
    if index is None or lines[index].kind is Kind.LINK or len(lines[index].text) > LONGEST_TITLE_CHARS:
        return None
    line = lines[index]
    is_top = line.level == 1 or index == 0 or bool(PAPER_NAME.search(line.body))
    is_alone = levels.count(line.level) == 1 and min(levels) == line.level and line.level < PSEUDO_LEVEL
    is_other = is_known(line.body) or CONTENTS_NAME.fullmatch(line.body)
    has_more = len(levels) > 1 or any(below.opens for below in lines[index + 1 :])
    return index if is_top and is_alone and not is_other and has_more else None


def _day_among_parts(line: Line, anchor: date | None) -> TitleDate | None:
    """`2025-03-12 | 共 2 篇`: a full date alone between bars."""
    if len(line.text) > LONGEST_TITLE_CHARS or not _BAR.search(line.text):
        return None
    parts = [read_title(part, anchor) for part in _BAR.split(line.text)]
    days = [part for part in parts if part.day and part.has_year and DATE_WORDS.fullmatch(part.name)]
    return days[0] if len(days) == 1 else None


def _with_date_line(day: Day, anchor: date | None) -> Day:
    """The day that a line of its own writes, `2025年3月8日 星期六` or `今天是…`, before the first item."""
    is_headed = any(line.level for line in day.below)
    for index, line in enumerate(day.below[:LOOK_AHEAD_LINES]):
        written = read_title(line.text, anchor) if len(line.text) <= LONGEST_TITLE_CHARS else None
        if written and written.day and DATE_WORDS.fullmatch(written.name):
            label = (day.dated.label if day.dated else None) or written.label
            below = day.below[:index] + day.below[index + 1 :]
            return replace(day, date_line=line, below=below, dated=replace(written, label=label))
        if dated := _day_among_parts(line, anchor):
            return replace(day, dated=replace(dated, label=day.dated.label if day.dated else None))
        if line.level or not (is_headed or line.kind in {Kind.PROSE, Kind.EXCLAIMED, Kind.LABEL}):
            break
    return day
