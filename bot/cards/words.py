"""Our own words for days, hours and choices, in Chinese and English."""

from dataclasses import dataclass
from datetime import date, datetime

from bot.cards.text import plain
from bot.domain.audience import Density
from bot.domain.preference import Preference
from bot.domain.schedule import Days
from bot.domain.series import Series

_WEEKDAYS = "一二三四五六日"


@dataclass(frozen=True, slots=True)
class Words:
    """The same said twice."""

    zh: str
    en: str


DENSITIES = {
    Density.BRIEF: Words("只看标题", "Titles only"),
    Density.STANDARD: Words("标题加要点", "Titles and key points"),
    Density.FULL: Words("全文", "Full text"),
}


def day(one: date, today: date | None = None) -> Words:
    """「3月9日 周日」, and 「今天」 or 「明天」 where it is; another year is named."""
    distance = None if today is None else (one - today).days
    if distance in {0, 1}:
        return (Words("今天", "today"), Words("明天", "tomorrow"))[distance]
    year = "" if today is None or today.year == one.year else f"{one.year}年"
    return Words(
        f"{year}{one.month}月{one.day}日 周{_WEEKDAYS[one.weekday()]}",
        f"{one:%a} {one.day} {one:%b}{year and f' {one:%Y}'}",
    )


def span(first: date, last: date | None = None, today: date | None = None) -> Words:
    """「3月8日」, 「3月8–9日」 or 「3月31日–4月1日」; another year than today's is named."""
    year = f"{first.year}年" if today and today.year != first.year else ""
    start = f"{year}{first.month}月{first.day}"
    of_year = f" {first.year}" if year else ""
    if last is None or last == first:
        return Words(f"{start}日", f"{first.day} {first:%b}{of_year}")
    same_month = (first.year, first.month) == (last.year, last.month)
    end = f"–{last.day}日" if same_month else f"日–{last.month}月{last.day}日"
    return Words(start + end, f"{first.day}{'' if same_month else f' {first:%b}'}–{last.day} {last:%b}{of_year}")


def stamp(at: datetime) -> Words:
    """「3月8日 08:41」, on the wall of its zone."""
    day_ = span(at.date())
    return Words(f"{day_.zh} {at:%H:%M}", f"{day_.en} {at:%H:%M}")


def joined(*parts: Words | None) -> Words:
    """What is there, with a dot between."""
    there = [part for part in parts if part and part.zh]
    return Words(" · ".join(part.zh for part in there), " · ".join(part.en for part in there))


def same(text: str) -> Words:
    """A name, which no language changes."""
    return Words(text, text)


def moment(at: datetime, now: datetime) -> Words:
    """「明天 08:37」, on the wall of the zone of `at`."""
    words = day(at.date(), now.astimezone(at.tzinfo).date())
    return Words(f"{words.zh} {at:%H:%M}", f"{words.en} {at:%H:%M}")


def duration(seconds: float) -> Words:
    """「不到 1 分钟」 or whole minutes and hours."""
    minutes = round(seconds / 60)
    if seconds < 60:
        return Words("不到 1 分钟", "under a minute")
    if minutes < 60:
        return Words(f"{minutes} 分钟", f"{minutes} min")
    hours, rest = divmod(minutes, 60)
    return Words(f"{hours} 小时{f' {rest} 分' if rest else ''}", f"{hours} h{f' {rest} min' if rest else ''}")


def hour(series: Series, preference: Preference | None = None) -> Words:
    """When it comes: 「每个工作日 08:37」."""
    own = preference or Preference()
    at = own.slot or series.hours.push_at
    if own.workdays or series.hours.days is Days.WORKDAYS:
        return Words(f"每个工作日 {at:%H:%M}", f"on workdays at {at:%H:%M}")
    return Words(f"每天 {at:%H:%M}", f"daily at {at:%H:%M}")


def choice(preference: Preference) -> Words:
    """What of it is shown: 「3 个栏目 · 标题加要点」; the name, where it is one section."""
    density, sections = DENSITIES[preference.density], preference.sections
    if not sections:
        shown = Words("全部栏目", "All sections")
    elif len(sections) == 1:
        name = plain(next(iter(sections)))[:30]
        shown = Words(f"「{name}」", name)
    else:
        shown = Words(f"{len(sections)} 个栏目", f"{len(sections)} sections")
    return Words(f"{shown.zh} · {density.zh}", f"{shown.en} · {density.en}")
