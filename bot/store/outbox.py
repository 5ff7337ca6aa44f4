"""The outbox: deliveries planned with the edition or promised to a person, before anything leaves."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import uuid4

from sqlalchemy import (
    ColumnElement,
    FromClause,
    Select,
    Text,
    and_,
    case,
    cast,
    literal,
    literal_column,
    select,
    update,
)

from bot.domain.audience import Receiver, Selection, SubscriptionStatus
from bot.domain.delivery import OPEN, Lane, Status
from bot.domain.preference import Timing
from bot.store.database import Insert, built_once, insert
from bot.store.engine import Transaction
from bot.store.tables import cards, deliveries, editions, pushes, subscribers, subscriptions

# Written into the statement: a partial index is used only where its own condition can be read there.
PENDING, SENDING = (literal_column(f"'{status}'", Text) for status in OPEN)


def plan(
    tx: Transaction,
    push: int,
    series: str,
    selection: Selection,
    card_ids: Sequence[int],
    now: datetime,
    lane: Lane = Lane.SINGLE,
    hours: Mapping[Timing, datetime | None] | None = None,
) -> int:
    """One row per active subscriber of that selection and part, in one statement. Returns how many are new.

    `hours`: when it is due for whom; None: not at all this time. Who is not named gets it now.
    """
    chosen = (
        select(subscribers.c.id, subscribers.c.kind, subscribers.c.receiver, _due_at(hours or {}, now).label("due_at"))
        .select_from(subscriptions.join(subscribers))
        .where(
            subscriptions.c.series == series,
            subscriptions.c.status == SubscriptionStatus.ACTIVE,
            subscribers.c.kind == selection.audience,
            subscriptions.c.density == selection.density,
            subscriptions.c.sections == selection.sections,
            *(~_has(timing) for timing, at in (hours or {}).items() if at is None),
        )
    )
    return fan_out(tx, push, chosen, card_ids, now, lane)


def fan_out(tx: Transaction, push: int, chosen: Select[Any], card_ids: Sequence[int], now: datetime, lane: Lane) -> int:
    """One row per card for whoever is chosen: subscribers' `id`, `kind`, `receiver` and `due_at`. Returns how many.

    A receiver's parts get neighbouring ids, in order. Their uuids (at most 44 characters) begin alike, with chance from
    here: the databases agree on no random function, and an index that grows at one end is several times cheaper.
    """
    who, part = chosen.subquery(), cast(cards.c.part, Text)
    rows = (
        select(
            key_of(str(push), who.c.kind, who.c.receiver, part),
            f"{uuid4().hex[:20]}-" + cast(who.c.id, Text) + "-" + part,
            literal(push),
            cards.c.id,
            who.c.kind,
            who.c.receiver,
            cards.c.part,
            literal(lane.value),
            literal(Status.PENDING.value),
            who.c.due_at,
            literal(now, deliveries.c.created_at.type),
        )
        .select_from(who.join(cards, cards.c.id.in_(card_ids)))
        .order_by(who.c.id, cards.c.part)
    )
    first = ("key", "uuid", "push_id", "card_id", "kind", "receiver", "part")
    names = [*first, "lane", "status", "not_before", "created_at"]
    new = insert(tx, deliveries).from_select(names, rows).on_conflict_do_nothing(index_elements=["key"])
    return int(tx.execute(new).rowcount)


def _due_at(hours: Mapping[Timing, datetime | None], now: datetime) -> ColumnElement[datetime]:
    as_instant = deliveries.c.not_before.type
    later = [(_has(timing), literal(at, as_instant)) for timing, at in hours.items() if at is not None and at > now]
    return case(*later, else_=literal(now, as_instant)) if later else literal(now, as_instant)


def _has(timing: Timing) -> ColumnElement[bool]:
    slot = f"{timing.slot:%H:%M}" if timing.slot else None
    return and_(
        subscriptions.c.slot.is_not_distinct_from(slot),
        subscriptions.c.zone.is_not_distinct_from(timing.zone),
        subscriptions.c.workdays == timing.workdays,
    )


def enqueue_push(tx: Transaction, push: int, receiver: Receiver, card_ids: Sequence[int], now: datetime) -> int:
    """The rows of one late receiver, under the same keys as the fan-out. Returns how many are new."""
    return sum(
        enqueue(tx, key_of(str(push), receiver.kind, receiver.id, str(part)), receiver, card, now, push=push, part=part)
        for part, card in enumerate(card_ids, 1)
    )


def enqueue(
    tx: Transaction,
    key: str,
    receiver: Receiver,
    card_id: int,
    now: datetime,
    *,
    push: int | None = None,
    part: int = 1,
) -> bool:
    """One row. False if its key is there already: it was promised before."""
    row = {
        "key": key,
        "uuid": uuid4().hex,
        "push_id": push,
        "card_id": card_id,
        "kind": receiver.kind,
        "receiver": receiver.id,
        "part": part,
        "status": Status.PENDING,
        "not_before": now,
        "created_at": now,
    }
    return bool(tx.execute(_one_more(tx), row).rowcount)


@built_once
def _one_more(tx: Transaction) -> Insert:
    """Where it was cancelled before it was ever tried, because the reader left, who is back now, it holds again."""
    new = insert(tx, deliveries)
    return new.on_conflict_do_update(
        index_elements=["key"],
        set_={"status": Status.PENDING, "reason": None, "not_before": new.excluded.not_before},
        where=(deliveries.c.status == Status.CANCELLED) & deliveries.c.maybe_sent_at.is_(None),
    )


def cancel(tx: Transaction, receiver: Receiver, reason: str, *, series: str | None = None) -> int:
    """Cancel what is still pending for a receiver, of one series or of all. Returns how many.

    What may have arrived stays in doubt: whoever calls it cancelled would send it a second time.
    """
    wanted = select(deliveries.c.id).where(
        deliveries.c.kind == receiver.kind,
        deliveries.c.receiver == receiver.id,
        is_open(deliveries),
        deliveries.c.status == PENDING,
    )
    if series is not None:
        of_series = select(pushes.c.id).join(editions).where(editions.c.series == series)
        wanted = wanted.where(deliveries.c.push_id.in_(of_series))
    found = wanted.order_by(deliveries.c.id).with_for_update().cte("found")
    done = update(deliveries).where(deliveries.c.id.in_(select(found.c.id)))
    end = case((deliveries.c.maybe_sent_at.is_(None), Status.CANCELLED.value), else_=Status.UNKNOWN.value)
    return int(tx.execute(done.values(status=end, reason=reason)).rowcount)


def key_of(push: Any, kind: Any, receiver: Any, part: Any) -> Any:
    """The unique key of a pushed delivery, of texts or of columns: all join with +."""
    return "push:" + push + ":" + kind + ":" + receiver + ":" + part


def is_open(rows: FromClause) -> ColumnElement[bool]:
    return rows.c.status.in_([PENDING, SENDING])
