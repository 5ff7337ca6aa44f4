"""What a subscription is at present, and how it is changed: status, preference, who set it."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, time, timedelta, tzinfo
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from sqlalchemy import Row, bindparam, select, update

from bot.domain.audience import Density, Kind, Receiver, SubscriptionStatus
from bot.domain.preference import Preference
from bot.store import subscribers
from bot.store.engine import Transaction
from bot.store.subscribers import NewSubscription
from bot.store.tables import subscribers as people
from bot.store.tables import subscriptions
from bot.store.units import LostRace

ACTIVE, PAUSED = SubscriptionStatus.ACTIVE, SubscriptionStatus.PAUSED
_FARTHEST_EAST = timedelta(hours=14)
_OF_RECEIVER = (
    select(subscriptions)
    .join(people)
    .where(people.c.kind == bindparam("of_kind"), people.c.receiver == bindparam("of_id"))
    .order_by(subscriptions.c.id)
)
_PUT = update(subscriptions).where(subscriptions.c.id == bindparam("of"), subscriptions.c.status == bindparam("was"))


@dataclass(frozen=True, slots=True)
class Present:
    """One subscription. `reason`: why it is paused, where that was not the subscriber's own wish.

    `set_by`: the open_id of who set up a group or added a webhook. `changed_at`: when the status last changed.
    """

    id: int
    status: SubscriptionStatus
    reason: str | None
    preference: Preference
    set_by: str | None
    changed_at: datetime

    @property
    def is_own_pause(self) -> bool:
        """Paused by the subscriber until a day, not by a refusal."""
        return self.status is PAUSED and self.preference.paused_until is not None

    @property
    def stop_reason(self) -> str | None:
        """Why nothing is sent until somebody wants it again; None where that is not so."""
        return self.reason if self.status is PAUSED and not self.is_own_pause else None

    @property
    def is_refused(self) -> bool:
        """Paused because the receiver could not be written to."""
        return self.stop_reason not in {None, subscribers.BY_ADMIN}


@dataclass(frozen=True, slots=True)
class Returned:
    """A subscription whose pause has ended by itself. `paused_at`: since when nothing came."""

    id: int
    receiver: Receiver
    series: str
    preference: Preference
    paused_at: datetime


def present(tx: Transaction, receiver: Receiver, series: str) -> Present | None:
    """A subscription, or None if there never was one."""
    return present_of_all(tx, receiver).get(series)


def present_of_all(tx: Transaction, receiver: Receiver) -> dict[str, Present]:
    """All subscriptions of a receiver, left ones too, by series."""
    rows = tx.execute(_OF_RECEIVER, {"of_kind": receiver.kind, "of_id": receiver.id})
    return {row.series: _present(row) for row in rows}


def put(
    tx: Transaction,
    receiver: Receiver,
    series: str,
    before: Present | None,
    status: SubscriptionStatus,
    preference: Preference,
    now: datetime,
    *,
    reason: str | None = None,
    set_by: str | None = None,
) -> None:
    """Make a subscription what it is wanted to be. `before`: what it was when that was decided."""
    if before is None:
        if not subscribers.add(tx, [NewSubscription(receiver, series)], now)[0]:
            raise LostRace
        before = present(tx, receiver, series)
        assert before is not None
    changed_at = before.changed_at if status is before.status else now
    values = {
        "status": status,
        "reason": reason,
        "sections": preference.sections,
        "density": preference.density,
        "slot": f"{preference.slot:%H:%M}" if preference.slot else None,
        "zone": preference.zone,
        "workdays": preference.workdays,
        "paused_until": preference.paused_until,
        "set_by": set_by or before.set_by,
        "updated_at": changed_at,
    }
    if not tx.execute(_PUT, {"of": before.id, "was": before.status, **values}).rowcount:
        raise LostRace


def zone_of(name: str | None) -> ZoneInfo | None:
    """A subscriber's own zone; None where there is none, or where this machine does not know it."""
    try:
        return ZoneInfo(name) if name else None
    except (ZoneInfoNotFoundError, ValueError):
        return None


def end_pauses(tx: Transaction, zones: Mapping[str, tzinfo], now: datetime) -> list[Returned]:
    """Let those come back whose day it is: in their own zone, else in that of the series (`zones`, by id).

    The day stays written: an old card that still shows it means nothing new. Returns who is back.
    """
    farthest = (now + _FARTHEST_EAST).date()
    rows = tx.execute(
        select(subscriptions, people.c.kind, people.c.receiver)
        .join(people)
        .where(subscriptions.c.status == PAUSED, subscriptions.c.paused_until <= farthest)
        .order_by(subscriptions.c.id)
    ).all()
    back = []
    for row in rows:
        preference = _preference(row)
        zone = zone_of(preference.zone) or zones.get(row.series)
        if zone is None or preference.is_paused(now.astimezone(zone).date()):
            continue
        done = tx.execute(
            update(subscriptions)
            .where(subscriptions.c.id == row.id, subscriptions.c.status == PAUSED)
            .where(subscriptions.c.paused_until == row.paused_until)
            .values(status=ACTIVE, reason=None, updated_at=now)
        )
        if done.rowcount:
            receiver = Receiver(Kind(row.kind), row.receiver)
            back.append(Returned(row.id, receiver, row.series, preference, row.updated_at))
    return back


def _present(row: Row[Any]) -> Present:
    status = SubscriptionStatus(row.status)
    return Present(row.id, status, row.reason, _preference(row), row.set_by, row.updated_at)


def _preference(row: Row[Any]) -> Preference:
    return Preference(
        row.sections,
        Density(row.density),
        time.fromisoformat(row.slot) if row.slot else None,
        row.zone,
        row.workdays,
        row.paused_until,
    )
