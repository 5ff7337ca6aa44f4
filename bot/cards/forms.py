"""The preferences form: what it offers, and what a submitted one means."""

import re
from collections.abc import Collection, Mapping, Sequence
from datetime import date, time, tzinfo
from typing import Any, Final

from bot.cards.words import Words
from bot.domain.audience import Density
from bot.domain.errors import ActionError
from bot.domain.preference import Preference, may_pause_until
from bot.domain.series import Series

# Names of the fields; the submitted values come under them.
SECTIONS, DENSITY, SLOT, ZONE, DAYS, PAUSE = "sections", "density", "slot", "zone", "days", "pause"
DEFAULT: Final = "default"  # the series' own hour or zone
DAILY, WORKDAYS = "daily", "workdays"
SLOTS = tuple(
    time(*divmod(minutes, 60))
    for minutes in (*range(6 * 60, 10 * 60, 30), *range(10 * 60, 13 * 60, 60), *range(17 * 60, 23 * 60, 60))
)
ZONES = {
    "Asia/Shanghai": Words("北京时间", "Beijing"),
    "Asia/Singapore": Words("新加坡", "Singapore"),
    "Asia/Tokyo": Words("东京", "Tokyo"),
    "Europe/London": Words("伦敦", "London"),
    "Europe/Berlin": Words("柏林", "Berlin"),
    "America/New_York": Words("纽约", "New York"),
    "America/Los_Angeles": Words("洛杉矶", "Los Angeles"),
}
_MOST_SECTIONS = 30  # each is an element of the card, and their names are in it twice
_SECTION_CHARS = 100  # of a name that can be offered
_PICKED = re.compile(r"(\d{4}-\d{2}-\d{2})(?: [+-]\d{2}:?\d{2})?")  # callback page (2026-05): the day and an offset
_CLOCK = re.compile(r"([01]\d|2[0-3]):([0-5]\d)")
_RELOAD = "请重新打开「设置」再试"


def offered_sections(known: Sequence[str], present: Preference) -> tuple[str, ...]:
    """Names that can be chosen, in order. Those chosen now come before others where there is no room for all."""
    names = dict.fromkeys((*known, *sorted(present.sections)))
    fitting = [name for name in names if name and len(name) <= _SECTION_CHARS]
    kept = set(sorted(fitting, key=lambda name: name not in present.sections)[:_MOST_SECTIONS])
    return tuple(name for name in fitting if name in kept)


def offered_slots(present: Preference) -> tuple[time, ...]:
    """Hours that can be chosen, the present one among them."""
    return tuple(sorted({*SLOTS, *((present.slot,) if present.slot else ())}))


def offered_zones(series: Series, present: Preference) -> tuple[str, ...]:
    """Zones that can be chosen beside the series' own, the present one among them."""
    own = zone_name(series.hours.zone)
    chosen = (present.zone,) if present.zone and present.zone not in ZONES else ()
    return (*(name for name in ZONES if name != own or name == present.zone), *chosen)


def zone_name(zone: tzinfo) -> str:
    """What a zone is called, "" where it has no name."""
    return str(getattr(zone, "key", ""))


def preference_of(
    form_value: object, *, present: Preference, sections: Sequence[str], series: Series, today: date
) -> Preference:
    """What a submitted form wants. A field that did not come stays as it is at `present`; `sections` are those known.

    Raises: ActionError with a line for the person who submitted it.
    """
    if not isinstance(form_value, Mapping) or not set(form_value) <= {SECTIONS, DENSITY, SLOT, ZONE, DAYS, PAUSE}:
        raise ActionError(f"没有看懂这份设置，{_RELOAD}")
    chosen = {key: value for key, value in form_value.items() if value is not None}
    return Preference(
        sections=_sections(chosen.get(SECTIONS), present, sections),
        density=Density(_one(chosen, DENSITY, tuple(Density), present.density, "内容多少")),
        slot=_slot(chosen.get(SLOT), present),
        zone=_zone(chosen, series, present),
        workdays=_workdays(chosen, present),
        paused_until=_pause(chosen.get(PAUSE), present, today),
    )


def _sections(value: Any, present: Preference, known: Sequence[str]) -> frozenset[str]:
    if value is None:
        return present.sections
    names = [] if value == "" else value
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise ActionError(f"没有看懂所选的栏目，{_RELOAD}")
    if not set(names) <= set(offered_sections(known, present)):
        raise ActionError(f"有的栏目已经改名或停了，{_RELOAD}")
    return frozenset(names)


def _one(chosen: Mapping[str, Any], field: str, allowed: Collection[str], present: str, label: str) -> str:
    """The choice of a list. A list cannot be emptied, so nothing is no choice."""
    value = chosen.get(field, "")
    if value == "":
        return present
    if not isinstance(value, str) or value not in allowed:
        raise ActionError(f"「{label}」没有这个选项，{_RELOAD}")
    return value


def _slot(value: Any, present: Preference) -> time | None:
    if value is None or value == "":
        return present.slot
    found = _CLOCK.fullmatch(value) if isinstance(value, str) else None
    if found is None and value != DEFAULT:
        raise ActionError("送达时间要像 08:30 这样，请重新选一次")
    return time(int(found[1]), int(found[2])) if found else None


def _zone(chosen: Mapping[str, Any], series: Series, present: Preference) -> str | None:
    allowed = (DEFAULT, *offered_zones(series, present))
    zone = _one(chosen, ZONE, allowed, present.zone or DEFAULT, "时区")
    return None if zone == DEFAULT else zone


def _workdays(chosen: Mapping[str, Any], present: Preference) -> bool:
    return _one(chosen, DAYS, (DAILY, WORKDAYS), WORKDAYS if present.workdays else DAILY, "哪些天") == WORKDAYS


def _pause(value: Any, present: Preference, today: date) -> date | None:
    """An emptied picker resumes; a pause that ended by itself may still stand in an old card."""
    if value is None or value == "":
        return None if value == "" else present.paused_until
    found = _PICKED.fullmatch(value) if isinstance(value, str) else None
    try:
        day = date.fromisoformat(found[1]) if found else None
    except ValueError:
        day = None
    if day is None:
        raise ActionError("没有看懂暂停到哪天，请重新选一次")
    if day == present.paused_until and day <= today:
        return None
    if not may_pause_until(day, today):
        raise ActionError("暂停到的日子要在明天以后、一年以内，请重新选一次")
    return day
