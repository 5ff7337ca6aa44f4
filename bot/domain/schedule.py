"""When an edition is due: pure functions of the series' hours and a given now."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta, tzinfo
from enum import StrEnum
from typing import TypeVar

from bot.domain.digest import Digest

# A digest older than this is history: it is published by hand or not at all.
NEWS_FOR = timedelta(days=3)

T = TypeVar("T")


class Days(StrEnum):
    """On which days a series is pushed."""

    DAILY = "daily"
    WORKDAYS = "workdays"


@dataclass(frozen=True, slots=True)
class Hours:
    """A series' clock: pushed at `push_at`, looked for until `wait_until`, both on the wall of `zone`."""

    push_at: time
    wait_until: time
    zone: tzinfo
    days: Days = Days.DAILY


def window(hours: Hours, day: date) -> tuple[datetime, datetime]:
    """First and last moment at which that day's digest is published without a human."""
    return (
        datetime.combine(day, hours.push_at, hours.zone),
        datetime.combine(day, hours.wait_until, hours.zone),
    )


def open_day(hours: Hours, now: datetime) -> date | None:
    """The local day whose window is open at `now`, or None. A window that ends before its start passes midnight."""
    today = now.astimezone(hours.zone).date()
    for day in (today, today - timedelta(days=1)):
        start, end = window(hours, day)
        if end <= start:
            end += timedelta(days=1)
        if start <= now <= end and is_pushed(hours, day):
            return day
    return None


def next_push(hours: Hours, now: datetime) -> datetime:
    """The next moment at which a window opens, strictly after `now`."""
    day = now.astimezone(hours.zone).date()
    while True:
        start, _ = window(hours, day)
        if start > now and is_pushed(hours, day):
            return start
        day += timedelta(days=1)


def is_pushed(hours: Hours, day: date) -> bool:
    """Whether the series goes out on that day. Weekends only: the official calendar is not known here yet."""
    return hours.days is Days.DAILY or day.weekday() < 5


def due(found: Iterable[tuple[Digest, T]], day: date, published: Sequence[tuple[date, str]]) -> list[tuple[Digest, T]]:
    """Digests to publish on `day`, oldest first: news of the last days that nobody has published.

    `published` holds (day, label) of the series' editions so far. What is older than the newest of them stays history,
    and a first run takes the newest day only, so that a full folder does not become a flood.
    """
    news = [(d, x) for d, x in found if d.day and d.last_day and day - NEWS_FOR <= d.last_day <= day]
    news = [(d, x) for d, x in news if (d.day, d.label or "") not in published]
    if not news:
        return []
    newest = max((first for first, _ in published), default=None)
    floor = max(d.day for d, _ in news if d.day) if newest is None else newest
    return sorted(
        ((d, x) for d, x in news if d.day and d.day >= floor), key=lambda pair: (pair[0].day, pair[0].label or "")
    )
