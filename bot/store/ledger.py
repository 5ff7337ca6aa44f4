"""Reading the ledger: counts and rows for people, and the questions asked after an outcome."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Row, func, select

from bot.domain.audience import Kind, Receiver
from bot.domain.delivery import Lane, Status
from bot.domain.ladder import Rung
from bot.store.engine import Transaction
from bot.store.outbox import PENDING
from bot.store.tables import cards, deliveries, editions, pushes


@dataclass(frozen=True, slots=True)
class Delivery:
    """One row of the ledger, for people."""

    id: int
    edition: str | None
    push: int | None
    receiver: Receiver
    part: int
    status: Status
    attempts: int
    code: int | None
    reason: str | None
    message_id: str | None
    sent_at: datetime | None
    rung: Rung


def failures(tx: Transaction, push: int, code: int) -> int:
    """How many deliveries of a push have failed with that very code."""
    same = (deliveries.c.push_id == push, deliveries.c.status == Status.FAILED, deliveries.c.code == code)
    return int(tx.execute(select(func.count()).where(*same)).scalar_one())


def counts(tx: Transaction, push: int | None = None) -> dict[Status, int]:
    """How many deliveries stand in each state, of one push or of all."""
    query = select(deliveries.c.status, func.count()).group_by(deliveries.c.status)
    if push is not None:
        query = query.where(deliveries.c.push_id == push)
    return {Status(status): n for status, n in tx.execute(query)}


def last_sent(tx: Transaction) -> datetime | None:
    """When the platform last took a message. Looks at all rows."""
    latest: datetime | None = tx.execute(select(func.max(deliveries.c.sent_at))).scalar()
    return latest


def receivers(tx: Transaction, push: int) -> int:
    """How many receivers a push has."""
    distinct = select(deliveries.c.kind, deliveries.c.receiver).where(deliveries.c.push_id == push).distinct()
    return int(tx.execute(select(func.count()).select_from(distinct.subquery())).scalar_one())


def oldest_due_s(tx: Transaction, now: datetime) -> float:
    """How long the longest waiting delivery has been due, in seconds; 0 if none is."""
    # Lane by lane and with the status in the statement: then it is one step into the index of what waits.
    waits = (deliveries.c.status == PENDING, deliveries.c.not_before <= now)
    earliest = select(func.min(deliveries.c.not_before)).where(*waits)
    found = [tx.execute(earliest.where(deliveries.c.lane == lane)).scalar() for lane in Lane]
    return max(((now - oldest).total_seconds() for oldest in found if oldest), default=0.0)


def id_of(tx: Transaction, key: str) -> int | None:
    """The row that was promised under a key."""
    found: int | None = tx.execute(select(deliveries.c.id).where(deliveries.c.key == key)).scalar()
    return found


def page(
    tx: Transaction,
    limit: int,
    after: int,
    *,
    edition: int | None = None,
    status: Status | None = None,
    receiver: Receiver | None = None,
) -> list[Delivery]:
    """Ledger rows from behind the cursor `after`, oldest first."""
    query = (
        select(deliveries, editions.c.series, editions.c.slug, cards.c.rung)
        .select_from(deliveries.join(cards).outerjoin(pushes).outerjoin(editions, editions.c.id == pushes.c.edition_id))
        .where(deliveries.c.id > after)
        .order_by(deliveries.c.id)
        .limit(limit)
    )
    if edition is not None:
        query = query.where(pushes.c.edition_id == edition)
    if status is not None:
        query = query.where(deliveries.c.status == status)
    if receiver is not None:
        query = query.where(deliveries.c.kind == receiver.kind, deliveries.c.receiver == receiver.id)
    return [_delivery(row) for row in tx.execute(query)]


def _delivery(row: Row[Any]) -> Delivery:
    return Delivery(
        row.id,
        f"{row.series}/{row.slug}" if row.series else None,
        row.push_id,
        Receiver(Kind(row.kind), row.receiver),
        row.part,
        Status(row.status),
        row.attempts,
        row.code,
        row.reason,
        row.message_id,
        row.sent_at,
        Rung(row.rung),
    )
