"""What one subscription prefers, and which values it may have."""

import re
from dataclasses import dataclass, replace
from datetime import date, time, timedelta

from bot.domain.audience import Density, Kind, Selection

LONGEST_PAUSE = timedelta(days=366)
_ZONE = re.compile(r"[A-Za-z][A-Za-z0-9_+/-]{0,63}")  # the form of a zone's name; whether it exists is known outside


@dataclass(frozen=True, slots=True)
class Preference:
    """How a subscriber wants one series; the defaults are what a new subscription gets.

    `sections`: none means all. `slot`, `zone`: None means the series' own; a slot is a whole minute on the wall of the
    zone. `workdays`: only on working days, even if the series comes daily. `paused_until`: the day on which it comes
    again, in the subscriber's zone.
    Raises: ValueError for what no subscription can have.
    """

    sections: frozenset[str] = frozenset()
    density: Density = Density.STANDARD
    slot: time | None = None
    zone: str | None = None
    workdays: bool = False
    paused_until: date | None = None

    def __post_init__(self) -> None:
        slot = self.slot
        if slot is not None and (slot.second or slot.microsecond or slot.tzinfo is not None):
            raise ValueError("a slot is a whole minute without a zone of its own")
        if self.zone is not None and not _ZONE.fullmatch(self.zone):
            raise ValueError("a zone is named like Asia/Shanghai")
        if not all(self.sections):
            raise ValueError("a section has a name")

    def is_paused(self, today: date) -> bool:
        """Whether nothing is to come on that day. A pause ends by itself."""
        return self.paused_until is not None and today < self.paused_until

    def resumed(self) -> "Preference":
        """The same without a pause."""
        return replace(self, paused_until=None)

    def selection(self, audience: Kind) -> Selection:
        """What of an edition it selects."""
        return Selection(self.sections, self.density, audience)


@dataclass(frozen=True, slots=True)
class Timing:
    """The part of a preference that says when. Subscriptions with equal ones are planned together."""

    slot: time | None = None
    zone: str | None = None
    workdays: bool = False

    @property
    def preference(self) -> Preference:
        """The rest being as it is for everybody."""
        return Preference(slot=self.slot, zone=self.zone, workdays=self.workdays)


def may_pause_until(day: date, today: date) -> bool:
    """Whether a pause may end on that day: not before tomorrow, and within a year."""
    return today < day <= today + LONGEST_PAUSE
