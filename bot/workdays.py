"""The official Chinese calendar, with its make-up working days, under days that the operator has set."""

import logging
from collections.abc import Collection
from datetime import date

import chinese_calendar

from bot.domain.workdays import Holiday, Weekdays

log = logging.getLogger(__name__)

_DECEMBER = 12
_WEEKDAYS = Weekdays()
_HOLIDAYS = {
    chinese_calendar.Holiday.new_years_day.value: Holiday.NEW_YEAR,
    chinese_calendar.Holiday.spring_festival.value: Holiday.SPRING,
    chinese_calendar.Holiday.tomb_sweeping_day.value: Holiday.TOMB_SWEEPING,
    chinese_calendar.Holiday.labour_day.value: Holiday.LABOUR,
    chinese_calendar.Holiday.dragon_boat_festival.value: Holiday.DRAGON_BOAT,
    chinese_calendar.Holiday.national_day.value: Holiday.NATIONAL,
    chinese_calendar.Holiday.mid_autumn_festival.value: Holiday.MID_AUTUMN,
}


class OfficialCalendar:
    """What the operator has set comes first, then what the State Council has announced, then Monday to Friday.

    The holidays of a year are announced in November of the year before and known here with the next release of the
    package, so a year may be unknown for a while: that is warned of once.
    """

    def __init__(self, workdays: Collection[date] = (), holidays: Collection[date] = ()) -> None:
        self._own = dict.fromkeys(holidays, False) | dict.fromkeys(workdays, True)
        self._warned: set[int] = set()

    def is_workday(self, day: date) -> bool:
        """Whether people work on that day, be it a Saturday."""
        if (own := self._own.get(day)) is not None:
            return own
        try:
            return bool(chinese_calendar.is_workday(day))
        except NotImplementedError:  # how the package says that it does not know the year
            self._warn(day.year)
            return _WEEKDAYS.is_workday(day)

    def holiday(self, day: date) -> Holiday | None:
        """The holiday for which that day is free, as far as it was announced."""
        if self.is_workday(day) or not _is_known(day.year):
            return None
        return _HOLIDAYS.get(chinese_calendar.holidays.get(day, ""))

    def _warn(self, year: int) -> None:
        if year not in self._warned:
            self._warned.add(year)
            log.warning("holidays_unknown", extra={"year": year})


def _is_known(year: int) -> bool:
    try:
        chinese_calendar.is_workday(date(year, 1, 1))
    except NotImplementedError:
        return False
    return True
