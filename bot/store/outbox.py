"""The outbox: deliveries planned with the edition, claimed before the request leaves, settled after the answer."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Row, Text, and_, cast, exists, func, literal, select, update
from sqlalchemy.dialects.sqlite import insert

from bot.domain.audience import Kind, Receiver, Selection, SubscriptionStatus
from bot.domain.delivery import LEASE, OPEN, Attempt, Status, Step, lapsed
from bot.store.engine import Transaction
from bot.store.pauses import PUSH
from bot.store.tables import cards, deliveries, editions, pauses, pushes, subscribers, subscriptions


@dataclass(frozen=True, slots=True)
class Claimed:
    """A delivery that is ours until its lease ends."""

    id: int
    uuid: str
    receiver: Receiver
    body: str
    attempt: Attempt
    push_id: int | None
    lease_until: datetime
    card_id: int
    is_proven: bool


def plan(tx: Transaction, push: int, series: str, selection: Selection, card_ids: Sequence[int], now: datetime) -> int:
    """One row per active subscriber of that selection and part, in one statement. Returns how many are new.

    A receiver's parts get neighbouring ids, in order.
    """
    rows = (
        select(
            _key(push, subscribers.c.kind, subscribers.c.receiver, cast(cards.c.part, Text)),
            func.lower(func.hex(func.randomblob(16))),
            literal(push),
            cards.c.id,
            subscribers.c.kind,
            subscribers.c.receiver,
            cards.c.part,
            literal(Status.PENDING.value),
            literal(now, deliveries.c.not_before.type),
            literal(now, deliveries.c.created_at.type),
        )
        .select_from(subscriptions.join(subscribers).join(cards, cards.c.id.in_(card_ids)))
        .where(
            subscriptions.c.series == series,
            subscriptions.c.status == SubscriptionStatus.ACTIVE,
            subscribers.c.kind == selection.audience,
            subscriptions.c.density == selection.density,
            subscriptions.c.sections == selection.sections,
        )
        .order_by(subscribers.c.id, cards.c.part)
    )
    names = ["key", "uuid", "push_id", "card_id", "kind", "receiver", "part", "status", "not_before", "created_at"]
    new = insert(deliveries).from_select(names, rows).on_conflict_do_nothing(index_elements=["key"])
    return int(tx.execute(new, execution_options={"preserve_rowcount": True}).rowcount)


def enqueue_push(tx: Transaction, push: int, receiver: Receiver, card_ids: Sequence[int], now: datetime) -> int:
    """The rows of one late receiver, under the same keys as the fan-out. Returns how many are new."""
    return sum(
        enqueue(tx, _key(push, receiver.kind, receiver.id, str(part)), receiver, card, now, push=push, part=part)
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
    new = insert(deliveries).values(
        key=key,
        uuid=func.lower(func.hex(func.randomblob(16))),
        push_id=push,
        card_id=card_id,
        kind=receiver.kind,
        receiver=receiver.id,
        part=part,
        status=Status.PENDING,
        not_before=now,
        created_at=now,
    )
    # Cancelled before it was ever tried, because the reader left, who is back now: the promise holds again.
    again = new.on_conflict_do_update(
        index_elements=["key"],
        set_={"status": Status.PENDING, "reason": None, "not_before": now},
        where=(deliveries.c.status == Status.CANCELLED) & deliveries.c.maybe_sent_at.is_(None),
    )
    return bool(tx.execute(again).rowcount)


def claim(tx: Transaction, limit: int, now: datetime) -> list[Claimed]:
    """Take up to `limit` due deliveries under a lease. At most one per receiver, its oldest: order is kept.

    A card that nobody has got yet goes to one receiver alone: a refused one must not be burnt on everybody.
    """
    waited_for = exists().where(deliveries.c.card_id == cards.c.id, deliveries.c.status == Status.PENDING)
    unproven = tx.execute(select(cards.c.id).where(cards.c.proven_at.is_(None), waited_for)).scalars().all()
    canaries = [first for card in unproven if (first := _canary(tx, card, now)) is not None]
    stopped = exists().where(pauses.c.name == PUSH + cast(deliveries.c.push_id, Text))
    due = (
        select(deliveries.c.id)
        .where(deliveries.c.status == Status.PENDING, deliveries.c.not_before <= now, _is_next(), ~stopped)
        .where(deliveries.c.card_id.not_in(unproven) | deliveries.c.id.in_(canaries))
        .order_by(deliveries.c.not_before, deliveries.c.id)
        .limit(limit)
    )
    taken = tx.execute(
        update(deliveries)
        .where(deliveries.c.id.in_(due.scalar_subquery()))
        .values(
            status=Status.SENDING,
            lease_until=now + LEASE,
            started_at=now,
            attempts=deliveries.c.attempts + 1,
        )
        .returning(deliveries.c.id)
    ).scalars()
    rows = tx.execute(
        select(deliveries, cards.c.body, cards.c.proven_at)
        .join(cards)
        .where(deliveries.c.id.in_(list(taken)))
        .order_by(deliveries.c.id)
    )
    return [_claimed(row) for row in rows]


def revive(tx: Transaction, now: datetime, *, orphaned: bool = False) -> int:
    """Settle deliveries whose lease has lapsed: their sender died. `orphaned`: nobody else can be sending, so all are.

    Returns how many.
    """
    left = select(deliveries).where(deliveries.c.status == Status.SENDING)
    if not orphaned:
        left = left.where(deliveries.c.lease_until < now)
    rows = tx.execute(left).all()
    for row in rows:
        _write(tx, row.id, row.lease_until, lapsed(_attempt(row), now))
    return len(rows)


def settle(tx: Transaction, claimed: Claimed, step: Step, now: datetime) -> bool:
    """Write the outcome of an attempt. False if the lease was lost meanwhile: then the new owner decides."""
    is_sent = step.status is Status.SENT
    if is_sent and not claimed.is_proven:
        tx.execute(update(cards).where(cards.c.id == claimed.card_id).values(proven_at=now))
    return _write(tx, claimed.id, claimed.lease_until, step, sent_at=now if is_sent else None)


def cancel(tx: Transaction, receiver: Receiver, reason: str, *, series: str | None = None) -> int:
    """Cancel what is still pending for a receiver, of one series or of all. Returns how many."""
    wanted = [
        deliveries.c.kind == receiver.kind,
        deliveries.c.receiver == receiver.id,
        deliveries.c.status == Status.PENDING,
    ]
    if series is not None:
        of_series = select(pushes.c.id).join(editions).where(editions.c.series == series)
        wanted.append(deliveries.c.push_id.in_(of_series.scalar_subquery()))
    done = tx.execute(update(deliveries).where(*wanted).values(status=Status.CANCELLED, reason=reason))
    return int(done.rowcount)


def _key(push: int, kind: Any, receiver: Any, part: Any) -> Any:
    """The unique key of a pushed delivery, of texts or of columns: both join with +."""
    return f"push:{push}:" + kind + ":" + receiver + ":" + part


def _write(tx: Transaction, delivery: int, lease: datetime, step: Step, sent_at: datetime | None = None) -> bool:
    # The lease tells this claim from a later one of the same row.
    held = and_(deliveries.c.id == delivery, deliveries.c.status == Status.SENDING, deliveries.c.lease_until == lease)
    values: dict[str, Any] = {
        "status": step.status,
        "maybe_sent_at": step.maybe_sent_at,
        "message_id": step.message_id,
        "code": step.code,
        "reason": step.reason,
        "lease_until": None,
        "sent_at": sent_at,
    }
    if step.not_before is not None:
        values["not_before"] = step.not_before
    if not step.counts:
        values["attempts"] = deliveries.c.attempts - 1
    return bool(tx.execute(update(deliveries).where(held).values(values)).rowcount)


def _is_next() -> ColumnElement[bool]:
    """Nothing earlier to the same receiver is still open."""
    earlier = deliveries.alias("earlier")
    return ~exists().where(
        earlier.c.kind == deliveries.c.kind,
        earlier.c.receiver == deliveries.c.receiver,
        earlier.c.status.in_(OPEN),
        earlier.c.id < deliveries.c.id,
    )


def _canary(tx: Transaction, card: int, now: datetime) -> int | None:
    """The delivery that is to prove a card: the first that may go now, unless one is on its way."""
    of_card = select(deliveries.c.id).where(deliveries.c.card_id == card)
    if tx.execute(of_card.where(deliveries.c.status == Status.SENDING).limit(1)).first() is not None:
        return None
    due = of_card.where(deliveries.c.status == Status.PENDING, deliveries.c.not_before <= now, _is_next())
    found: int | None = tx.execute(due.order_by(deliveries.c.id).limit(1)).scalar()
    return found


def _claimed(row: Row[Any]) -> Claimed:
    receiver = Receiver(Kind(row.kind), row.receiver)
    return Claimed(
        row.id,
        row.uuid,
        receiver,
        row.body,
        _attempt(row),
        row.push_id,
        row.lease_until,
        row.card_id,
        row.proven_at is not None,
    )


def _attempt(row: Row[Any]) -> Attempt:
    return Attempt(row.attempts, row.maybe_sent_at, row.started_at)
