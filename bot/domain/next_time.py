"""When a subscriber gets the next one, as far as the calendar tells."""

from datetime import datetime, timedelta, tzinfo

from bot.domain.preference import Preference
from bot.domain.schedule import Hours, is_pushed, slot_at, window

_DAY = timedelta(days=1)
_LOOKED_AHEAD = 400  # days: a pause is at most a year


def next_time(preference: Preference, zone: tzinfo, hours: Hours, now: datetime) -> datetime | None:
    """The next moment after `now`, in the subscriber's zone; None if there is none within a year."""
    day = now.astimezone(hours.zone).date() - _DAY
    for _ in range(_LOOKED_AHEAD):
        if is_pushed(hours, day):
            at = slot_at(preference, zone, hours, day, window(hours, day)[0])
            local = at.astimezone(zone) if at else None
            if local and local > now and not preference.is_paused(local.date()):
                return local
        day += _DAY
    return None
