"""How long somebody means to pause: 「3天」, 「两周」, 「到 3月12日」, 「到下周一」, `3 days`, `until 2025-03-12`."""

import re
from datetime import date, timedelta

_DIGITS = {"零": 0, "一": 1, "二": 2, "两": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9}
_NUMBER = r"(\d{1,3}|[零一二两三四五六七八九十]{1,3})"
_UNITS = {"天": 1, "日": 1, "day": 1, "days": 1, "d": 1, "周": 7, "星期": 7, "礼拜": 7, "week": 7, "weeks": 7, "月": 30}
_SPAN = re.compile(_NUMBER + r"\s*个?\s*(天|日|周|星期|礼拜|月|days?|d|weeks?)?")
_UNTIL = re.compile(r"(?:暂停)?(?:一直)?(?:到|至|until|till|to)\s*")
_FULL = re.compile(r"(\d{4})\s*[-/.年]\s*(\d{1,2})\s*[-/.月]\s*(\d{1,2})\s*[日号]?")
_MONTH_DAY = re.compile(r"(\d{1,2})\s*(?:月|[-/.])\s*(\d{1,2})\s*[日号]?")
_OF_MONTH = re.compile(r"(\d{1,2})\s*[日号]")
_OF_WEEK = re.compile(r"(下|这|本)?(?:周|星期|礼拜)([一二三四五六日天])")
_NEAR = {"明天": 1, "tomorrow": 1, "后天": 2, "大后天": 3}
_DAY = timedelta(days=1)


def pause_wish(text: str, today: date) -> int | date | None:
    """A number of days, or the day on which it is to come again; None if it says neither.

    `text` is folded: lower case, half-width. A day without its year is the next one of that name.
    """
    text = text.strip()
    until = _UNTIL.match(text)
    if until:
        return _day(text[until.end() :].strip(), today)
    if text == "半个月":
        return 15
    span = _SPAN.fullmatch(text)
    if span and (number := _number(span[1])):
        return number * _UNITS[span[2] or "天"]
    return _day(text, today) if not _OF_MONTH.fullmatch(text) or text.endswith("号") else None


def _number(text: str) -> int:
    """Up to 99 in Chinese."""
    if text.isdecimal():
        return int(text)
    tens, ten, ones = text.rpartition("十")
    if not ten:
        return _DIGITS[text] if len(text) == 1 else 0
    if len(tens) > 1 or len(ones) > 1 or "十" in tens:
        return 0
    return 10 * (_DIGITS[tens] if tens else 1) + (_DIGITS[ones] if ones else 0)


def _day(text: str, today: date) -> date | None:
    if text in _NEAR:
        return today + _NEAR[text] * _DAY
    if found := _FULL.fullmatch(text):
        return _date(int(found[1]), int(found[2]), int(found[3]))
    if found := _MONTH_DAY.fullmatch(text):
        month, day = int(found[1]), int(found[2])
        # A leap day is at most eight years away.
        return next(filter(None, (_after(today, today.year + n, month, day) for n in range(9))), None)
    if found := _OF_MONTH.fullmatch(text):
        months = ((today.year + (today.month - 1 + n) // 12, (today.month - 1 + n) % 12 + 1) for n in range(3))
        return next(filter(None, (_after(today, *month, int(found[1])) for month in months)), None)
    if found := _OF_WEEK.fullmatch(text):
        return _of_week(found[1] == "下", "一二三四五六日".index(found[2].replace("天", "日")), today)
    return None


def _of_week(is_next: bool, weekday: int, today: date) -> date:
    """Weeks begin on Monday. One that is over this week is the next week's."""
    monday = today - today.weekday() * _DAY
    day = monday + weekday * _DAY
    return day + 7 * _DAY if is_next or day <= today else day


def _after(today: date, year: int, month: int, day: int) -> date | None:
    found = _date(year, month, day)
    return found if found and found > today else None


def _date(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None
