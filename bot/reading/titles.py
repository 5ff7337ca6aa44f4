"""The line that is the title of a digest, and the lines that start further days in one file."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from itertools import pairwise, takewhile

from bot.reading.dates import TitleDate, read_title
from bot.reading.headings import is_known
from bot.reading.marks import Kind, Line
from bot.reading.outline import story_start
from bot.reading.vocabulary import DATE_WORDS, DATED_NAME, PAPER_NAME

LONGEST_TITLE_CHARS = 80
LONGEST_DATED_NAME_CHARS = 12
LOOK_AHEAD_LINES = 40


@dataclass(frozen=True, slots=True)
class Day:
    """The lines of one digest: above the title, the title, a line that only writes the day, below the title."""

    above: tuple[Line, ...]
    title: Line | None
    date_line: Line | None
    below: tuple[Line, ...]
    dated: TitleDate | None


def split_days(lines: Sequence[Line], anchor: date | None) -> list[Day]:
    """One day, or one for each title with a date of its own. `anchor`: a missing year is the nearest to it."""
    story = story_start(lines)
    heads = _dated_heads(lines, story, anchor)
    if not heads:
        return [_with_date_line(_undated(lines, story), anchor)]
    cuts = [0, *(index for index, _ in heads[1:]), len(lines)]
    return [
        _dated_day(lines[start:index], lines[index], lines[index + 1 : end], dated)
        for (start, end), (index, dated) in zip(pairwise(cuts), heads, strict=True)
    ]


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
            is_head = is_head and (bool(dated.name) or _stands_alone(lines, index))
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
    if DATED_NAME.search(dated.name):
        return True
    if len(dated.name) > LONGEST_DATED_NAME_CHARS:
        return False
    if _stands_alone(lines, index):
        following = lines[index + 1]
        return dated.set_off or (index == 0 and (bool(following.mark) or is_known(following.text)))
    return index == 0 and dated.set_off and _heads_others(lines[1:LOOK_AHEAD_LINES])


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
    """A name such as 灯塔日报 at the top, or right above the first section, is a title as well."""
    for index, line in enumerate(lines[:story]):
        heads = index == 0 or (index + 1 < len(lines) and is_known(lines[index + 1].text))
        if heads and line.kind is Kind.SHORT and len(line.text) <= LONGEST_TITLE_CHARS:
            dated = read_title(line.text, None)
            if PAPER_NAME.search(dated.name):
                return Day(tuple(lines[:index]), line, None, tuple(lines[index + 1 :]), dated)
    return Day((), None, None, tuple(lines), None)


def _with_date_line(day: Day, anchor: date | None) -> Day:
    """The day that a line of its own writes, `2025年3月8日 星期六` or `今天是…`, before the first item."""
    for index, line in enumerate(day.below[:LOOK_AHEAD_LINES]):
        written = read_title(line.text, anchor) if len(line.text) <= LONGEST_TITLE_CHARS else None
        if written and written.day and DATE_WORDS.fullmatch(written.name):
            label = (day.dated.label if day.dated else None) or written.label
            below = day.below[:index] + day.below[index + 1 :]
            return replace(day, date_line=line, below=below, dated=replace(written, label=label))
        if line.kind not in {Kind.PROSE, Kind.EXCLAIMED}:
            break
    return day
