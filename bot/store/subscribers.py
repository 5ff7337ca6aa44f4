"""Subscribers and their subscriptions."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, time
from typing import Any

from sqlalchemy import ColumnElement, Row, bindparam, func, select, update

from bot.domain.audience import Density, Kind, Receiver, Selection, SubscriptionStatus
from bot.domain.preference import Timing
from bot.store.database import hold_still, insert
from bot.store.engine import Transaction
from bot.store.tables import subscribers, subscriptions

ACTIVE = SubscriptionStatus.ACTIVE
BY_ADMIN = "管理员暂停"
_RESUME = (
    update(subscriptions)
    .where(
        subscriptions.c.subscriber_id
        == select(subscribers.c.id)
        .where(subscribers.c.kind == bindparam("of_kind"), subscribers.c.receiver == bindparam("of_id"))
        .scalar_subquery(),
        subscriptions.c.status == SubscriptionStatus.PAUSED,
        subscriptions.c.paused_until.is_(None),
        subscriptions.c.reason.is_distinct_from(BY_ADMIN),
    )
    .values(status=ACTIVE, reason=None)
)


@dataclass(frozen=True, slots=True)
class Subscription:
    """One row of the list: a subscriber and one series."""

    id: int
    receiver: Receiver
    name: str
    series: str
    status: SubscriptionStatus
    reason: str | None
    selection: Selection
    slot: str | None
    since: datetime


@dataclass(frozen=True, slots=True)
class NewSubscription:
    """What an import row says."""

    receiver: Receiver
    series: str
    name: str = ""
    sections: frozenset[str] = frozenset()
    density: Density = Density.STANDARD
    slot: str | None = None
    secret: str = field(default="", repr=False)


def ensure(tx: Transaction, receiver: Receiver, now: datetime, *, name: str = "", added_by: str | None = None) -> int:
    """The id of a subscriber, made if it is new. A name or adder that is given replaces the old one."""
    given = {key: value for key, value in (("name", name), ("added_by", added_by)) if value}
    new = {"kind": receiver.kind, "receiver": receiver.id, "created_at": now, **given}
    upsert = insert(tx, subscribers).values(new)
    upsert = upsert.on_conflict_do_update(
        index_elements=["kind", "receiver"], set_=given or {"receiver": subscribers.c.receiver}
    )
    return int(tx.execute(upsert.returning(subscribers.c.id)).scalar_one())


def status(tx: Transaction, receiver: Receiver, series: str) -> SubscriptionStatus | None:
    """The state of one subscription, or None if there never was one."""
    found = tx.execute(
        select(subscriptions.c.status).join(subscribers).where(_is(receiver), subscriptions.c.series == series)
    ).scalar()
    return None if found is None else SubscriptionStatus(found)


def add(tx: Transaction, rows: Sequence[NewSubscription], now: datetime) -> tuple[int, int]:
    """Add active subscriptions; those that exist keep their state. Returns (new, already there)."""
    if not rows:
        return 0, 0
    ids = _ensure_all(tx, rows, now)
    new = insert(tx, subscriptions).values(status=ACTIVE, created_at=now, updated_at=now)
    new = new.on_conflict_do_nothing(index_elements=["subscriber_id", "series"])
    wanted = [
        {
            "subscriber_id": ids[row.receiver],
            "series": row.series,
            "sections": row.sections,
            "density": row.density,
            "slot": row.slot,
        }
        for row in rows
    ]
    made = len(tx.execute(new.returning(subscriptions.c.id), wanted).all())
    return made, len(rows) - made


def _ensure_all(tx: Transaction, rows: Sequence[NewSubscription], now: datetime) -> dict[Receiver, int]:
    """The ids of many subscribers, made where they are new. RETURNING lets the driver send a thousand rows at once."""
    told: dict[Receiver, tuple[str, str]] = {}
    for row in rows:
        name, secret = told.get(row.receiver, ("", ""))
        told[row.receiver] = row.name or name, row.secret or secret
    people = [
        {"kind": one.kind, "receiver": one.id, "name": name, "secret": secret or None}
        for one, (name, secret) in told.items()
    ]
    upsert = insert(tx, subscribers).values(created_at=now)
    named = func.coalesce(func.nullif(upsert.excluded.name, ""), subscribers.c.name)
    kept = func.coalesce(upsert.excluded.secret, subscribers.c.secret)
    upsert = upsert.on_conflict_do_update(index_elements=["kind", "receiver"], set_={"name": named, "secret": kept})
    made = tx.execute(upsert.returning(subscribers.c.id, subscribers.c.kind, subscribers.c.receiver), people)
    return {Receiver(Kind(kind), receiver): number for number, kind, receiver in made}


def pause(tx: Transaction, receiver: Receiver, reason: str, now: datetime) -> int:
    """Pause every active subscription of a receiver that cannot be written to. Returns how many."""
    done = tx.execute(
        update(subscriptions)
        .where(subscriptions.c.subscriber_id == _id_of(receiver), subscriptions.c.status == ACTIVE)
        .values(status=SubscriptionStatus.PAUSED, reason=reason, paused_until=None, updated_at=now)
    )
    return int(done.rowcount)


def resume(tx: Transaction, receiver: Receiver, now: datetime) -> int:
    """Lift the pauses that a refusal caused: the receiver is back. Their own and an admin's stay. Returns how many."""
    return int(tx.execute(_RESUME, {"of_kind": receiver.kind, "of_id": receiver.id, "updated_at": now}).rowcount)


def sizes(tx: Transaction, series: str) -> dict[Selection, int]:
    """How many active subscriptions share each selection: so many renderings are needed, for so many receivers.

    Nobody comes or leaves before this transaction ends: who is counted is planned, and who comes later sees the plan.
    """
    hold_still(tx, subscriptions)
    columns = (subscribers.c.kind, subscriptions.c.sections, subscriptions.c.density)
    rows = tx.execute(
        select(*columns, func.count())
        .select_from(subscriptions)
        .join(subscribers)
        .where(subscriptions.c.series == series, subscriptions.c.status == ACTIVE)
        .group_by(*columns)
    )
    return {selection_of(kind, sections, density): n for kind, sections, density, n in rows}


def timings(tx: Transaction, series: str) -> dict[Timing, int]:
    """How many active subscriptions share each wish for a time."""
    columns = (subscriptions.c.slot, subscriptions.c.zone, subscriptions.c.workdays)
    active = (subscriptions.c.series == series, subscriptions.c.status == ACTIVE)
    rows = tx.execute(select(*columns, func.count()).where(*active).group_by(*columns))
    return {Timing(time.fromisoformat(slot) if slot else None, zone, workdays): n for slot, zone, workdays, n in rows}


def selection_of(kind: str, sections: frozenset[str], density: str) -> Selection:
    """A selection from its columns."""
    return Selection(sections, Density(density), Kind(kind))


def page(tx: Transaction, series: str | None, limit: int, after: int) -> list[Subscription]:
    """Subscriptions in the order in which they came, from behind the cursor `after`."""
    query = (
        select(subscriptions, subscribers.c.kind, subscribers.c.receiver, subscribers.c.name)
        .join(subscribers)
        .where(subscriptions.c.id > after)
        .order_by(subscriptions.c.id)
        .limit(limit)
    )
    if series is not None:
        query = query.where(subscriptions.c.series == series)
    return [_subscription(row) for row in tx.execute(query)]


def counts(tx: Transaction, series: str | None = None) -> dict[tuple[Kind, SubscriptionStatus], int]:
    """How many subscriptions there are by kind and status."""
    query = (
        select(subscribers.c.kind, subscriptions.c.status, func.count())
        .select_from(subscriptions)
        .join(subscribers)
        .group_by(subscribers.c.kind, subscriptions.c.status)
    )
    if series is not None:
        query = query.where(subscriptions.c.series == series)
    return {(Kind(kind), SubscriptionStatus(state)): n for kind, state, n in tx.execute(query)}


def _is(receiver: Receiver) -> ColumnElement[bool]:
    return (subscribers.c.kind == receiver.kind) & (subscribers.c.receiver == receiver.id)


def _id_of(receiver: Receiver) -> Any:
    return select(subscribers.c.id).where(_is(receiver)).scalar_subquery()


def _subscription(row: Row[Any]) -> Subscription:
    return Subscription(
        row.id,
        Receiver(Kind(row.kind), row.receiver),
        row.name,
        row.series,
        SubscriptionStatus(row.status),
        row.reason,
        selection_of(row.kind, row.sections, row.density),
        row.slot,
        row.created_at,
    )
