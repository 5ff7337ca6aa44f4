"""When an edition is due: pure functions of the series' hours and a given now."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from enum import StrEnum
from typing import Generic, TypeVar

from bot.domain.digest import Digest
from bot.domain.preference import Preference
from bot.domain.workdays import Calendar, Rest, Weekdays, rest_before

# A digest older than this is history: it is published by hand or not at all.
NEWS_FOR = timedelta(days=3)

_DAY = timedelta(days=1)

T = TypeVar("T")


class Days(StrEnum):
    """On which days a series is pushed."""

    DAILY = "daily"
    WORKDAYS = "workdays"


@dataclass(frozen=True, slots=True)
class Hours:
    """A series' clock: pushed at `push_at`, looked for until `wait_until`, both on the wall of `zone`.

    A `wait_until` that is not later than `push_at` is on the next day. `calendar` knows working days.
    """

    push_at: time
    wait_until: time
    zone: tzinfo
    days: Days = Days.DAILY
    calendar: Calendar = field(default=Weekdays(), compare=False)


class Verdict(StrEnum):
    """What a series needs now. `late`, `empty` and `over` are for a human, once a day each."""

    PUBLISH = "publish"
    WAIT = "wait"
    LATE = "late"  # the hour has come, the digest has not; it is looked for until the window closes
    EMPTY = "empty"  # the digest has come without items
    OVER = "over"  # the window has closed on a day without its digest: nothing goes without a human


@dataclass(frozen=True, slots=True)
class Published:
    """An edition that went out at `at`, or that is held back: then `at` is None."""

    day: date
    last_day: date
    label: str = ""
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Due(Generic[T]):
    """A verdict on the window of `day`. `digests`: those to publish, the empty ones, or those that came too late."""

    verdict: Verdict
    day: date
    digests: tuple[tuple[Digest, T], ...] = ()

    @property
    def notice(self) -> str | None:
        """The key under which a human is told of it, unique in a series; None if there is nothing to tell."""
        if self.verdict in {Verdict.PUBLISH, Verdict.WAIT}:
            return None
        return f"{self.verdict}:{self.day.isoformat()}"


def window(hours: Hours, day: date) -> tuple[datetime, datetime]:
    """First and last moment at which that day's digest is published without a human.

    In the night on which the clock jumps over `push_at` the whole window moves along with it.
    """
    opens = datetime.combine(day, hours.push_at)
    closes = datetime.combine(day if hours.wait_until > hours.push_at else day + _DAY, hours.wait_until)
    start = _moment(opens, hours.zone)
    jump = start.replace(tzinfo=None) - opens
    return start, _moment(closes + jump, hours.zone)


def open_day(hours: Hours, now: datetime) -> date | None:
    """The day whose window is open at `now`, or None. After midnight that may still be yesterday's."""
    today = now.astimezone(hours.zone).date()
    for day in (today, today - _DAY):
        start, end = map(_utc, window(hours, day))
        if start <= _utc(now) <= end and is_pushed(hours, day):
            return day
    return None


def next_push(hours: Hours, now: datetime) -> datetime:
    """The next moment at which a window opens, strictly after `now`."""
    day = now.astimezone(hours.zone).date() - _DAY
    while True:
        start, _ = window(hours, day)
        if _utc(start) > _utc(now) and is_pushed(hours, day):
            return start
        day += _DAY


def goes_at(hours: Hours, digest: Digest, now: datetime) -> datetime | None:
    """When a digest that is ready goes by itself: `now`, or when its window opens; None once it is over."""
    for day in sorted(_days_for(hours, digest.day, digest.last_day)):
        start, end = window(hours, day)
        if _utc(now) <= _utc(end):
            return max(start, now, key=_utc)
    return None


def is_pushed(hours: Hours, day: date) -> bool:
    """Whether the series goes out on that day."""
    return hours.days is Days.DAILY or hours.calendar.is_workday(day)


def rest(hours: Hours, day: date) -> Rest | None:
    """The days since the last push on which the series had no issue, to be told on `day`; None if there were none."""
    return None if hours.days is Days.DAILY else rest_before(hours.calendar, day)


def slot_at(preference: Preference, zone: tzinfo, hours: Hours, day: date, pushed_at: datetime) -> datetime | None:
    """When a subscriber gets what is pushed in the window of `day`; None if this is no day for it.

    The slot is meant on the wall of `zone`, on the day on which the window ends, and is never before the push. Far in
    the west the window opens on the eve: a slot that comes sooner on that evening is that evening's.
    """
    if preference.workdays and not hours.calendar.is_workday(day):
        return None
    if preference.slot is None:
        return pushed_at
    start, end = window(hours, day)
    slot = datetime.combine(end.date(), preference.slot)
    while _utc(_moment(slot, zone)) >= _utc(start) + _DAY:
        slot -= _DAY
    return max(_utc(_moment(slot, zone)), _utc(pushed_at))


def what_is_due(
    hours: Hours,
    now: datetime,
    found: Iterable[tuple[Digest, T]],
    published: Sequence[Published],
    told: Collection[str] = (),
) -> Due[T]:
    """What to do now with what a source holds. Asked again it says the same, until the caller has acted on it.

    `published`: the series' editions so far; `told`: notices that a human has had. A digest goes by itself only in the
    window of its own day; one for days without a push, in the next. Only a range, which may be written after its end,
    has one more.
    """
    opened = open_day(hours, now)
    day = opened or _closed_day(hours, now)
    found = tuple(found)
    missing = due(found, day, [(one.day, one.label) for one in published])
    missing = [(digest, x) for digest, x in missing if day in _days_for(hours, digest.day, digest.last_day)]
    ready = tuple((digest, x) for digest, x in missing if digest.items)
    if opened and ready:
        return Due(Verdict.PUBLISH, day, ready)
    if opened is None:
        to_come = push_day(hours, day + _DAY)
        missing = [(digest, x) for digest, x in missing if to_come not in _days_for(hours, digest.day, digest.last_day)]
    answer = Due(_verdict(hours, day, found, missing, published, is_open=opened is not None), day, tuple(missing))
    return Due(Verdict.WAIT, day) if answer.notice in told or answer.notice is None else answer


def push_day(hours: Hours, day: date) -> date:
    """The first day from `day` on, itself included, on which the series goes out."""
    while not is_pushed(hours, day):
        day += _DAY
    return day


def due(found: Iterable[tuple[Digest, T]], day: date, published: Sequence[tuple[date, str]]) -> list[tuple[Digest, T]]:
    """Digests that are news on `day` and that nobody has published, oldest first.

    `published` holds (day, label) of the series' editions so far. What is older than the newest of them stays history,
    and a first run takes the newest day only, so that a full folder does not become a flood.
    """
    news = [(d, x) for d, x in found if d.day and d.last_day and day - NEWS_FOR <= d.last_day <= day]
    news = [(d, x) for d, x in news if (d.day, d.label or "") not in published]
    if not news:
        return []
    newest = max((first for first, _ in published if first <= day), default=None)
    floor = max(d.last_day for d, _ in news if d.last_day) if newest is None else newest
    return sorted(
        ((d, x) for d, x in news if d.last_day and d.last_day >= floor),
        key=lambda pair: (pair[0].day, pair[0].label or ""),
    )


def _verdict(
    hours: Hours,
    day: date,
    found: Iterable[tuple[Digest, T]],
    missing: Sequence[tuple[Digest, T]],
    published: Sequence[Published],
    *,
    is_open: bool,
) -> Verdict:
    """What to say where nothing can be published."""
    if missing:
        return Verdict.EMPTY if is_open else Verdict.OVER
    if _is_served(hours, day, published) or any(d.day and d.last_day and d.day <= day <= d.last_day for d, _ in found):
        return Verdict.WAIT
    if is_open:
        return Verdict.LATE
    # A series that has never gone out is being set up: nobody waits for yesterday's.
    return Verdict.OVER if published else Verdict.WAIT


def _is_served(hours: Hours, day: date, published: Iterable[Published]) -> bool:
    """Whether readers have had what that day was for: a digest of it, or one that was to go in its window and did."""
    start, _ = window(hours, day)
    return any(
        one.day <= day <= push_day(hours, one.last_day)
        or (one.at and _utc(one.at) >= _utc(start) and day in _days_for(hours, one.day, one.last_day))
        for one in published
    )


def _days_for(hours: Hours, first: date | None, last: date | None) -> set[date]:
    """The days in whose windows a digest of these days goes by itself."""
    if first is None or last is None:
        return set()
    own = push_day(hours, last)
    return {own} if first == last else {own, push_day(hours, last + _DAY)}


def _closed_day(hours: Hours, now: datetime) -> date:
    """The last day whose window has closed."""
    day = now.astimezone(hours.zone).date()
    while not (is_pushed(hours, day) and _utc(window(hours, day)[1]) < _utc(now)):
        day -= _DAY
    return day


def _moment(wall: datetime, zone: tzinfo) -> datetime:
    """The moment at which the wall of `zone` shows a naive time: the first of two, and one that is left out, later."""
    return wall.replace(tzinfo=zone).astimezone(UTC).astimezone(zone)


def _utc(moment: datetime) -> datetime:
    """Moments of one zone are compared by what the wall shows, be it twice: so never in a zone."""
    return moment.astimezone(UTC)
