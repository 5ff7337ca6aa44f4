"""The second outbox: changes of messages that were sent. Planned, claimed under a lease and settled like deliveries.

A change waits until the ledger knows its message. Each message's changes go one after the other, and none is made of a
message that never arrived.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any
from uuid import uuid4

from sqlalchemy import ColumnElement, Row, and_, exists, func, or_, select, update

from bot.domain.delivery import LEASE, OPEN, Attempt, Status, Step, lapsed
from bot.store.database import insert, is_shared
from bot.store.editor_tables import changes
from bot.store.engine import Transaction
from bot.store.outbox import PENDING, SENDING
from bot.store.tables import alerts, cards, deliveries

TOLD_FOR = timedelta(days=2)
RECALLED = "已撤回"
NOT_THERE = "消息没有送到，不用改"
IN_DOUBT = "不知道是否送到"
REPLACED = "有了更新的更正"


class ChangeKind(StrEnum):
    """What is done to a message."""

    PATCH = "patch"
    RECALL = "recall"
    RECALL_BATCH = "recall_batch"


@dataclass(frozen=True, slots=True)
class Change:
    """A change that is ours until its lease ends. `body`: the JSON text of the card for a patch, else ""."""

    id: int
    kind: ChangeKind
    delivery_id: int
    message_id: str
    card_id: int | None
    body: str
    attempt: Attempt
    lease_until: datetime


def add(
    tx: Transaction, key: str, purpose: str, kind: ChangeKind, delivery: int, card: int | None, now: datetime
) -> bool:
    """Plan one change; what was planned before for that message and has not begun gives way. False if it is there."""
    row = {"key": key, "purpose": purpose, "kind": kind, "delivery_id": delivery, "card_id": card}
    new = insert(tx, changes).values(**row, status=Status.PENDING, not_before=now, created_at=now)
    made = tx.execute(new.on_conflict_do_nothing(index_elements=["key"]).returning(changes.c.id)).scalar()
    if made is None:
        return False
    older = (changes.c.delivery_id == delivery, changes.c.status == PENDING, changes.c.id < made)
    tx.execute(update(changes).where(*older).values(status=Status.CANCELLED, reason=REPLACED, done_at=now))
    return True


def claim(tx: Transaction, limit: int, now: datetime) -> list[Change]:
    """Take due changes under a lease, at most one a message. What can no longer be made is given up first."""
    _give_up(tx, now)
    due = (
        select(changes.c.id)
        .where(changes.c.status == PENDING, changes.c.not_before <= now)
        .where(exists().where(deliveries.c.id == changes.c.delivery_id, deliveries.c.status == Status.SENT))
        .where(_is_next())
        .order_by(changes.c.not_before, changes.c.id)
        .limit(limit)
        .with_for_update(skip_locked=True)
        .cte("due_changes")
    )
    taken = tx.execute(
        update(changes)
        .where(changes.c.id.in_(select(due.c.id)))
        .values(status=Status.SENDING, lease_until=now + LEASE, started_at=now, attempts=changes.c.attempts + 1)
        .returning(changes.c.id)
    ).scalars()
    rows = (
        select(changes, deliveries.c.message_id, cards.c.body)
        .join(deliveries, deliveries.c.id == changes.c.delivery_id)
        .outerjoin(cards, cards.c.id == changes.c.card_id)
        .where(changes.c.id.in_(list(taken)))
        .order_by(changes.c.id)
    )
    return [_change(row) for row in tx.execute(rows)]


def revive(tx: Transaction, now: datetime, *, orphaned: bool = False) -> int:
    """Put back changes whose lease has lapsed: a repeat does no harm. `orphaned`: nobody else can be at work."""
    left = select(changes).where(changes.c.status == SENDING)
    if is_shared(tx) or not orphaned:
        left = left.where(changes.c.lease_until < now)
    rows = tx.execute(left.with_for_update(skip_locked=True)).all()
    for row in rows:
        _write(tx, _held(row), lapsed(_attempt(row), now), now)
    return len(rows)


def settle(tx: Transaction, change: Change, step: Step, now: datetime) -> bool:
    """Write an outcome, and into the ledger what the reader sees now. False if the lease was lost meanwhile."""
    if not _write(tx, _held(change), step, now):
        return False
    if step.status is Status.SENT:
        _note(tx, change, now)
    return True


def counts(tx: Transaction, purpose: str) -> dict[Status, int]:
    """How many changes of a purpose stand in each state."""
    query = select(changes.c.status, func.count()).where(changes.c.purpose == purpose).group_by(changes.c.status)
    return {Status(status): n for status, n in tx.execute(query)}


def finished(tx: Transaction, now: datetime) -> list[str]:
    """Corrections and recalls of the last days of which nothing is open and nobody was told."""
    ours = or_(*(changes.c.purpose.startswith(f"{one}:") for one in ("correct", "recall")))
    still_open = changes.alias("still_open")
    is_open = exists().where(still_open.c.purpose == changes.c.purpose, still_open.c.status.in_(OPEN))
    told = exists().where(alerts.c.key == "done:" + changes.c.purpose)
    recent = changes.c.created_at > now - TOLD_FOR
    return list(tx.execute(select(changes.c.purpose).where(ours, recent, ~is_open, ~told).distinct()).scalars())


def purposes(tx: Transaction, edition: int) -> list[str]:
    """Corrections and recalls of an edition, in their order."""
    ours = or_(*(changes.c.purpose.startswith(f"{one}:{edition}:") for one in ("correct", "recall")))
    query = select(changes.c.purpose).where(ours).group_by(changes.c.purpose).order_by(func.min(changes.c.id))
    return list(tx.execute(query).scalars())


def misses(tx: Transaction, purpose: str) -> dict[str, int]:
    """How many messages of a purpose stayed as they were, by reason."""
    lost = (changes.c.purpose == purpose, changes.c.status.in_([Status.FAILED, Status.UNKNOWN]))
    query = select(changes.c.reason, func.count()).where(*lost).group_by(changes.c.reason)
    return {reason or "": n for reason, n in tx.execute(query)}


def _note(tx: Transaction, change: Change, now: datetime) -> None:
    of_message = deliveries.c.id == change.delivery_id
    if change.kind is ChangeKind.PATCH:
        tx.execute(update(deliveries).where(of_message).values(card_id=change.card_id))
        unproven = (cards.c.id == change.card_id, cards.c.proven_at.is_(None))
        tx.execute(update(cards).where(*unproven).values(proven_at=now))
        return
    if change.kind is ChangeKind.RECALL_BATCH:
        push = select(deliveries.c.push_id).where(of_message).scalar_subquery()
        of_message = and_(deliveries.c.push_id == push, deliveries.c.message_id == change.message_id)
    # A new uuid: should the reader get it again, it is another message.
    fresh = f"{uuid4().hex[:20]}-" + deliveries.c.id.cast(deliveries.c.uuid.type)
    gone = {"status": Status.CANCELLED, "reason": RECALLED, "uuid": fresh, "maybe_sent_at": None}
    tx.execute(update(deliveries).where(of_message).values(gone))


def _give_up(tx: Transaction, now: datetime) -> None:
    """Changes of messages that will never be there."""
    there = deliveries.c.status.in_([*OPEN, Status.SENT])
    lives = exists().where(deliveries.c.id == changes.c.delivery_id, there)
    lost = update(changes).where(changes.c.status == PENDING, ~lives)
    in_doubt = lost.where(
        exists().where(deliveries.c.id == changes.c.delivery_id, deliveries.c.status == Status.UNKNOWN)
    )
    tx.execute(in_doubt.values(status=Status.UNKNOWN, reason=IN_DOUBT, done_at=now))
    tx.execute(lost.values(status=Status.CANCELLED, reason=NOT_THERE, done_at=now))


def _is_next() -> ColumnElement[bool]:
    earlier = changes.alias("earlier")
    is_open = earlier.c.status.in_([PENDING, SENDING])
    return ~exists().where(earlier.c.delivery_id == changes.c.delivery_id, is_open, earlier.c.id < changes.c.id)


def _held(change: Any) -> ColumnElement[bool]:
    is_same = (changes.c.id == change.id, changes.c.lease_until == change.lease_until)
    return and_(*is_same, changes.c.status == Status.SENDING)


def _write(tx: Transaction, row: ColumnElement[bool], step: Step, now: datetime) -> bool:
    values: dict[str, Any] = {
        "status": step.status,
        "maybe_sent_at": step.maybe_sent_at,
        "code": step.code,
        "reason": step.reason,
        "lease_until": None,
        "done_at": None if step.status in OPEN else now,
    }
    if step.not_before is not None:
        values["not_before"] = step.not_before
    if not step.counts:
        values["attempts"] = changes.c.attempts - 1
    return bool(tx.execute(update(changes).where(row).values(values)).rowcount)


def _attempt(row: Row[Any]) -> Attempt:
    return Attempt(row.attempts, row.maybe_sent_at, row.started_at)


def _change(row: Row[Any]) -> Change:
    return Change(
        row.id,
        ChangeKind(row.kind),
        row.delivery_id,
        row.message_id or "",
        row.card_id,
        row.body or "",
        _attempt(row),
        row.lease_until,
    )
