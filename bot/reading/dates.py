"""The day, the range and the label that a title or a file name writes. A day that is not certain is no day."""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date

LONGEST_RANGE_DAYS = 31
SURELY_FRESH_DAYS = 7
LEAP_CYCLE_YEARS = 8  # 29 February is at most eight years away

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_NUMERAL = re.compile(r"[〇零○一二三四五六七八九十]{1,4}(?=\s?[年月日号])")
_LUNAR = re.compile(r"(?:农历|阴历|夏历)\s?(?:[^\s,)]{2,3}年\s?)?[^\s,)]*")
_WEEKDAY = re.compile(
    r"\((?:星期|礼拜|周)[一二三四五六日天]\)|(?:星期|礼拜|周)[一二三四五六日天](?![报刊])"
    r"|\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b",
    re.IGNORECASE,
)
_ORDINAL = re.compile(r"第\s?\d+\s?[期号]|\bno\.\s?\d+", re.IGNORECASE)
_LONE_YEAR = re.compile(r"(?<!\d)((?:19|20)\d\d)\s?年(?!\s?\d{1,2}\s?月)")
_BRACKETED = re.compile(r"[(\[【「《]([^()\[\]【】「」《》]*)[)\]】」》]")
_UPDATED = re.compile(r"更新于?|发布于?")
_CLOCK = re.compile(r"(?<![\d:])(?:[01]?\d|2[0-3]):[0-5]\d(?::[0-5]\d)?(?![\d:])")
_LABEL = re.compile(
    r"(?:(?<=[报刊])|(?<![^\W_]))((?:[^\W_报刊]{2,8}(?:篇|版|专场)|(?:[^\W_报刊]{2,4})?(?:合刊|特刊|专刊|增刊|专辑|特辑|号外)"
    r"|[a-z]+ edition))(?![^\W_])",
    re.IGNORECASE,
)
_EDGES = " \t,.:;|/·•-–—_~'\"，。：；、｜"

_TO = r"\s?(?P<to>-{1,2}|[–—―~]{1,2}|至|到|to|[、&和及])\s?"
_NAME = "(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}"
_TH = "(?:st|nd|rd|th)?"
_START = r"(?:(?<!\d)(?P<y>\d{4}|\d\d)\s?年\s?)?(?<!\d)(?P<m>\d{1,2})\s?月\s?(?P<d>\d{1,2})"
_CHINESE_RANGE = (
    rf"{_START}\s?[日号]?{_TO}(?:(?:(?P<y2>\d{{4}})\s?年\s?)?(?P<m2>\d{{1,2}})\s?月\s?)?(?P<d2>\d{{1,2}})"
    r"(?:\s?[日号]|(?=\s?(?:$|[)\]】」》])))"
)
_CHINESE_DAY = rf"{_START}(?:\s?[日号]|(?=\s?(?:$|[)\]】」》,|·])))"
_NUMERIC = (
    r"(?<!\d)(?P<y>\d{4})(?P<mark>[-./_])(?P<m>\d{1,2})(?P=mark)(?P<d>\d{1,2})(?!\d)"
    rf"(?:{_TO}(?:(?:(?P<y2>\d{{4}})(?P=mark))?(?P<m2>\d{{1,2}})(?P=mark))?(?P<d2>\d{{1,2}})(?![\d:时点]))?"
)
_COMPACT = (
    r"(?<!\d)(?P<y>20\d\d)(?P<m>0[1-9]|1[0-2])(?P<d>0[1-9]|[12]\d|3[01])(?![0-9A-Za-z])"
    rf"(?:{_TO}(?:(?P<y2>20\d\d)?(?P<m2>0[1-9]|1[0-2]))?(?P<d2>0[1-9]|[12]\d|3[01])(?![\d:时点]))?"
)
_ENGLISH = (
    rf"\b(?P<m>{_NAME})\.?\s(?P<d>\d{{1,2}})(?!\d){_TH}(?:{_TO}(?:(?P<m2>{_NAME})\.?\s)?(?P<d2>\d{{1,2}})(?!\d){_TH})?"
    r"(?:,?\s(?P<y>\d{4})|(?=\s?(?:$|[)\]|,–—-])))"
)
_BRITISH = rf"(?<!\d)(?P<d>\d{{1,2}}){_TH}(?:{_TO}(?P<d2>\d{{1,2}}){_TH})?\s(?P<m>{_NAME})\.?,?\s(?P<y>\d{{4}})"
_SLASHED = (
    r"(?<![\d/])(?P<m>\d{1,2})/(?P<d>\d{1,2})/(?P<y>\d{4})(?![\d/])"
    rf"(?:{_TO}(?P<m2>\d{{1,2}})/(?P<d2>\d{{1,2}})/(?P<y2>\d{{4}})(?!\d))?"
)
_SHAPES = tuple(
    re.compile(shape, re.IGNORECASE)
    for shape in (_CHINESE_RANGE, _CHINESE_DAY, _NUMERIC, _COMPACT, _ENGLISH, _BRITISH, _SLASHED)
)


@dataclass(frozen=True, slots=True)
class TitleDate:
    """What a title writes.

    `dated` is True where a date stands, even one that cannot be trusted; then `day` is None. `set_off`: the date stands
    as headings write it, apart from the words, and in brackets, as a range, with its year or its weekday.
    """

    day: date | None
    day_end: date | None
    label: str | None
    name: str
    dated: bool
    has_year: bool = False
    set_off: bool = False


@dataclass(frozen=True, slots=True)
class _Written:
    """One date as written, in the normalised title; None is what the writer left out."""

    start: int
    end: int
    year: int | None
    month: int
    day: int
    last_year: int | None = None
    last_month: int | None = None
    last_day: int | None = None
    certain: bool = True


_Days = tuple[date, date | None]


def read_title(title: str, today: date | None) -> TitleDate:
    """Day, range, label and the bare name of a title.

    `today` is the local day on which the text arrived: a year that is not written is the nearest that is not after it.
    """
    text = _LUNAR.sub(" ", _normalised(title))
    written = _written_dates(text, today)
    readings = {_resolve(each, today, _lone_year(text)) for each in written}
    days = readings.pop() if len(readings) == 1 and all(each.certain for each in written) else None
    day, day_end = days or (None, None)
    label, name = _label_and_name(text, written)
    has_year = any(each.year or each.last_year for each in written) or _lone_year(text) is not None
    set_off = bool(written) and _is_set_off(text, written[0], has_year=has_year)
    return TitleDate(day, day_end, label, name, dated=bool(written), has_year=has_year, set_off=set_off)


def _normalised(title: str) -> str:
    text = " ".join(unicodedata.normalize("NFKC", title).split())
    return _NUMERAL.sub(lambda numeral: _arabic(numeral[0]), text)


def _arabic(numeral: str) -> str:
    """Digits of a Chinese numeral: 二〇二五 is 2025, 二十三 is 23."""
    digits = {"〇": 0, "零": 0, "○": 0, **{char: value for value, char in enumerate("一二三四五六七八九", 1)}}
    if "十" not in numeral:
        return "".join(str(digits[char]) for char in numeral)
    tens, _, ones = numeral.partition("十")
    if len(tens) > 1 or len(ones) > 1 or "十" in ones:
        return numeral
    return str(digits.get(tens, 1) * 10 + digits.get(ones, 0))


def _lone_year(text: str) -> int | None:
    found = _LONE_YEAR.search(text)
    return int(found[1]) if found else None


def _written_dates(text: str, today: date | None) -> list[_Written]:
    """All dates in the text; where two shapes overlap, the one named first in `_SHAPES` wins."""
    found: list[_Written] = []
    for shape in _SHAPES:
        for match in shape.finditer(text):
            if all(match.end() <= other.start or match.start() >= other.end for other in found):
                found.append(_ordered(_from_match(match), today) if shape is _SHAPES[-1] else _from_match(match))
    return found


def _from_match(match: re.Match[str]) -> _Written:
    parts = match.groupdict()
    numbers = {name: _value(parts.get(name)) for name in ("y", "m", "d", "y2", "m2", "d2")}
    year, month, day = numbers["y"], numbers["m"] or 0, numbers["d"] or 0
    last_day, to = numbers["d2"], (parts.get("to") or "").strip()
    certain = True
    if last_day is not None and numbers["m2"] is None:
        if to in {"、", "&", "和", "及"}:
            certain = last_day == day + 1
        elif to == "-" and parts.get("mark") == "-":
            # 2025-03-08-01 carries a serial number; 2025-03-08-12 may be a range or an hour
            certain = last_day <= day
            last_day = None
    year = year + 2000 if year is not None and year < 100 else year
    return _Written(*match.span(), year, month, day, numbers["y2"], numbers["m2"], last_day, certain=certain)


def _value(written: str | None) -> int | None:
    if written is None:
        return None
    return int(written) if written.isdecimal() else _MONTHS.index(written[:3].lower()) + 1


def _ordered(slashed: _Written, today: date | None) -> _Written:
    """3/8/2025 with month and day in the one order that is possible, or the one that is fresh; else not certain."""
    other = replace(
        slashed, month=slashed.day, day=slashed.month, last_month=slashed.last_day, last_day=slashed.last_month
    )
    possible = [(each, days) for each in (slashed, other) if (days := _resolve(each, today, None))]
    if len({days for _, days in possible}) > 1 and today:
        possible = [(each, days) for each, days in possible if 0 <= (today - days[0]).days <= SURELY_FRESH_DAYS]
    if len({days for _, days in possible}) == 1:
        return possible[0][0]
    return replace(slashed, certain=False)


def _resolve(written: _Written, today: date | None, lone_year: int | None) -> _Days | None:
    """Real days of a written date, or None where they do not exist or run backwards."""
    for year in _possible_years(written, today, lone_year):
        first = _date(year, written.month, written.day)
        if first is None or (written.year is None and lone_year is None and today and first > today):
            continue
        if written.last_day is None:
            return first, None
        last = _last(written, first)
        if last and 0 <= (last - first).days <= LONGEST_RANGE_DAYS:
            return first, last if last > first else None
    return None


def _possible_years(written: _Written, today: date | None, lone_year: int | None) -> Iterator[int]:
    if written.year or lone_year:
        yield written.year or lone_year or 0
    elif written.last_year:
        yield from (written.last_year, written.last_year - 1)
    elif today:
        yield from range(today.year, today.year - LEAP_CYCLE_YEARS - 1, -1)


def _last(written: _Written, first: date) -> date | None:
    month, day = written.last_month or first.month, written.last_day or 0
    if written.last_year:
        return _date(written.last_year, month, day)
    last = _date(first.year, month, day)
    over_new_year = written.last_month is not None and last is not None and last < first
    return _date(first.year + 1, month, day) if over_new_year else last


def _date(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None


def _is_set_off(text: str, written: _Written, *, has_year: bool) -> bool:
    if any(found.start() < written.start < found.end() for found in _BRACKETED.finditer(text)):
        return True
    before, after = text[: written.start], text[written.end :]
    is_apart = not before[-1:].isalnum() and (not after[:1].isalnum() or bool(_WEEKDAY.match(after)))
    return is_apart and (has_year or written.last_day is not None or bool(_WEEKDAY.search(text)))


def _label_and_name(text: str, written: list[_Written]) -> tuple[str | None, str]:
    """The label is what else stands in the bracket of the date, or a word such as 学术篇 outside it."""
    masked = list(text)
    for each in written:
        masked[each.start : each.end] = "\0" * (each.end - each.start)
    bare = "".join(masked)
    for other in (_WEEKDAY, _ORDINAL, _UPDATED, _CLOCK):
        bare = other.sub(" ", bare)
    label = None
    for bracket in _BRACKETED.finditer(bare):
        if "\0" in bracket[1]:
            label = " ".join(bracket[1].replace("\0", " ").split()).strip(_EDGES) or None
            bare = bare.replace(bracket[0], " ")
            break
    bare = " ".join(bare.replace("\0", " ").split())
    if label is None and (outside := _LABEL.search(bare)):
        label = outside[1]
        bare = bare.replace(label, " ")
    return label, bare.strip(_EDGES + "()[]【】「」《》")
