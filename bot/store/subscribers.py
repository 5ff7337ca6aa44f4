"""Subscribers and their subscriptions."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Row, bindparam, func, select, update
from sqlalchemy.dialects.sqlite import insert

from bot.domain.audience import Density, Kind, Receiver, Selection, SubscriptionStatus
from bot.store.engine import Transaction
from bot.store.tables import subscribers, subscriptions

ACTIVE = SubscriptionStatus.ACTIVE


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


def ensure(tx: Transaction, receiver: Receiver, now: datetime, *, name: str = "", added_by: str | None = None) -> int:
    """The id of a subscriber, made if it is new. A name or adder that is given replaces the old one."""
    given = {key: value for key, value in (("name", name), ("added_by", added_by)) if value}
    new = {"kind": receiver.kind, "receiver": receiver.id, "created_at": now, **given}
    upsert = insert(subscribers).values(new)
    upsert = upsert.on_conflict_do_update(
        index_elements=["kind", "receiver"], set_=given or {"receiver": subscribers.c.receiver}
    )
    return int(tx.execute(upsert.returning(subscribers.c.id)).scalar_one())


def added_by(tx: Transaction, receiver: Receiver) -> str | None:
    """Who brought the bot into a group, as far as we saw."""
    who: str | None = tx.execute(select(subscribers.c.added_by).where(_is(receiver))).scalar()
    return who


def status(tx: Transaction, receiver: Receiver, series: str) -> SubscriptionStatus | None:
    """The state of one subscription, or None if there never was one."""
    found = tx.execute(
        select(subscriptions.c.status).join(subscribers).where(_is(receiver), subscriptions.c.series == series)
    ).scalar()
    return None if found is None else SubscriptionStatus(found)


def set_status(
    tx: Transaction,
    receiver: Receiver,
    series: str,
    wanted: SubscriptionStatus,
    now: datetime,
    *,
    reason: str | None = None,
) -> SubscriptionStatus | None:
    """Make a subscription what it is wanted to be. Returns what it was; None if it is new."""
    before = status(tx, receiver, series)
    if before is None:
        add(tx, [NewSubscription(receiver, series)], now)
    if before is not None or wanted is not ACTIVE:
        tx.execute(
            update(subscriptions)
            .where(subscriptions.c.subscriber_id == _id_of(receiver), subscriptions.c.series == series)
            .values(status=wanted, reason=reason, updated_at=now)
        )
    return before


def add(tx: Transaction, rows: Iterable[NewSubscription], now: datetime) -> tuple[int, int]:
    """Add active subscriptions; those that exist keep their state. Returns (new, already there)."""
    given = list(rows)
    if not given:
        return 0, 0
    people = [{"kind": row.receiver.kind, "receiver": row.receiver.id, "name": row.name} for row in given]
    upsert = insert(subscribers).values(created_at=now)
    named = func.coalesce(func.nullif(upsert.excluded.name, ""), subscribers.c.name)
    tx.execute(upsert.on_conflict_do_update(index_elements=["kind", "receiver"], set_={"name": named}), people)
    whose = (subscribers.c.kind == bindparam("of_kind")) & (subscribers.c.receiver == bindparam("of_receiver"))
    new = insert(subscriptions).values(
        subscriber_id=select(subscribers.c.id).where(whose).scalar_subquery(),
        status=ACTIVE,
        created_at=now,
        updated_at=now,
    )
    wanted = [
        {
            "of_kind": row.receiver.kind,
            "of_receiver": row.receiver.id,
            "series": row.series,
            "sections": row.sections,
            "density": row.density,
            "slot": row.slot,
        }
        for row in given
    ]
    done = tx.execute(new.on_conflict_do_nothing(index_elements=["subscriber_id", "series"]), wanted)
    return done.rowcount, len(given) - done.rowcount


def pause(tx: Transaction, receiver: Receiver, reason: str, now: datetime) -> int:
    """Pause every active subscription of a receiver that cannot be written to. Returns how many."""
    done = tx.execute(
        update(subscriptions)
        .where(subscriptions.c.subscriber_id == _id_of(receiver), subscriptions.c.status == ACTIVE)
        .values(status=SubscriptionStatus.PAUSED, reason=reason, updated_at=now)
    )
    return int(done.rowcount)


def resume(tx: Transaction, receiver: Receiver, now: datetime) -> int:
    """Lift the pauses that a refusal caused: the receiver is back. Returns how many."""
    done = tx.execute(
        update(subscriptions)
        .where(
            subscriptions.c.subscriber_id == _id_of(receiver),
            subscriptions.c.status == SubscriptionStatus.PAUSED,
        )
        .values(status=ACTIVE, reason=None, updated_at=now)
    )
    return int(done.rowcount)


def sizes(tx: Transaction, series: str) -> dict[Selection, int]:
    """How many active subscriptions share each selection: so many renderings are needed, for so many receivers."""
    columns = (subscribers.c.kind, subscriptions.c.sections, subscriptions.c.density)
    rows = tx.execute(
        select(*columns, func.count())
        .select_from(subscriptions)
        .join(subscribers)
        .where(subscriptions.c.series == series, subscriptions.c.status == ACTIVE)
        .group_by(*columns)
    )
    return {selection_of(kind, sections, density): n for kind, sections, density, n in rows}


def selection(tx: Transaction, receiver: Receiver, series: str) -> Selection:
    """What one subscription selects; the default where there is none."""
    row = tx.execute(
        select(subscribers.c.kind, subscriptions.c.sections, subscriptions.c.density)
        .join(subscribers)
        .where(_is(receiver), subscriptions.c.series == series)
    ).first()
    return selection_of(*row) if row else Selection(audience=receiver.kind)


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
