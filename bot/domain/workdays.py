"""Working days as the domain sees them: which days count, and how to tell of those on which nothing came."""

from dataclasses import dataclass
from datetime import date, timedelta
from enum import Enum
from typing import Protocol

_LONGEST_REST = timedelta(days=31)  # the longest official one is under ten days
_SATURDAY = 5


class Holiday(Enum):
    """The official holidays, in Chinese and English."""

    NEW_YEAR = ("元旦", "New Year")
    SPRING = ("春节", "Spring Festival")
    TOMB_SWEEPING = ("清明", "Tomb-Sweeping Day")
    LABOUR = ("五一", "Labour Day")
    DRAGON_BOAT = ("端午", "Dragon Boat Festival")
    NATIONAL = ("国庆", "National Day")
    MID_AUTUMN = ("中秋", "Mid-Autumn Festival")


class Calendar(Protocol):
    """Knows working days."""

    def is_workday(self, day: date) -> bool:
        """Whether people work on that day, be it a Saturday."""
        ...

    def holiday(self, day: date) -> Holiday | None:
        """The holiday for which that day is free; None for a working day and for a mere weekend."""
        ...


class Weekdays:
    """Monday to Friday, for want of a better calendar."""

    def is_workday(self, day: date) -> bool:
        """Whether it is no weekend."""
        return day.weekday() < _SATURDAY

    def holiday(self, day: date) -> Holiday | None:  # noqa: ARG002  it knows none
        """None: weekends have no name."""
        return None


@dataclass(frozen=True, slots=True)
class Rest:
    """Days in a row on which nothing came, both ends included. `holidays`: what they were free for, in their order."""

    first: date
    last: date
    holidays: tuple[Holiday, ...] = ()

    @property
    def days(self) -> tuple[date, ...]:
        """Each of them."""
        return tuple(self.first + timedelta(days=n) for n in range((self.last - self.first).days + 1))

    @property
    def is_weekend(self) -> bool:
        """Whether it is the usual one, which hardly needs a word."""
        return not self.holidays and all(day.weekday() >= _SATURDAY for day in self.days)

    @property
    def zh(self) -> str:
        """「国庆假期（10月1日–7日）休刊，今天接着见。」"""
        day, end = f"{self.first.month}月{self.first.day}日", f"{self.last.day}日"
        if self.last.month != self.first.month:
            end = f"{self.last.month}月{end}"
        span = day if self.first == self.last else f"{day}–{end}"
        name = "周末" if self.is_weekend else "、".join(one.value[0] for one in self.holidays)
        if name:
            span = f"{name}{'假期' if self.holidays else ''}（{span}）"
        return f"{span}休刊，今天接着见。"

    @property
    def en(self) -> str:
        """The same in English."""
        first = f"{self.first.day}" if self.first.month == self.last.month else f"{self.first.day} {self.first:%b}"
        span = f"{self.last.day} {self.last:%b}"
        if self.first != self.last:
            span = f"{first}–{span}"
        name = "weekend" if self.is_weekend else " and ".join(one.value[1] for one in self.holidays)
        if not name:
            return f"No issue on {span}. Good to be back."
        return f"No issue over the {name}{' holiday' if self.holidays else ''} ({span}). Good to be back."


def rest_before(calendar: Calendar, day: date) -> Rest | None:
    """The free days that end the day before, or None if that was a working day."""
    first = day
    while day - first < _LONGEST_REST and not calendar.is_workday(first - timedelta(days=1)):
        first -= timedelta(days=1)
    if first == day:
        return None
    rest = Rest(first, day - timedelta(days=1))
    names = dict.fromkeys(filter(None, map(calendar.holiday, rest.days)))
    return Rest(rest.first, rest.last, tuple(names))
