"""What became of a push, receiver by receiver, and what admins were shown of it."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Row, Select, case, exists, func, literal, select, update

from bot.domain.audience import Density, Kind
from bot.domain.delivery import OPEN, Lane, Status
from bot.domain.ladder import Rung
from bot.store.database import insert
from bot.store.editor_tables import receipts
from bot.store.engine import Transaction
from bot.store.tables import batches, cards, deliveries, pushes

WATCHED_FOR = timedelta(days=2)
SLOT = timedelta(minutes=5)  # what was put off for longer from the start waits for its receiver's own hour
# What counts for a receiver with several parts: the one that is worst.
_RANKS = {Status.CANCELLED: 1, Status.SKIPPED: 1, Status.SENT: 2, Status.UNKNOWN: 3, Status.FAILED: 4}
_WAITS, _OPEN = 0, 5


@dataclass(frozen=True, slots=True)
class Watched:
    """A push of which admins are told. `shown`: the hash of what they see, None if they see nothing yet."""

    id: int
    edition: int
    created_at: datetime
    shown: str | None
    shown_at: datetime | None
    number: int
    read: int | None
    is_resend: bool


@dataclass(frozen=True, slots=True)
class Group:
    """Receivers of a push that stand alike. `status`: None for those who wait for an hour of their own.

    `is_partial`: they got some part all the same.
    """

    kind: Kind
    density: Density | None
    rung: Rung
    status: Status | None
    code: int | None
    reason: str | None
    is_partial: bool
    receivers: int


def watched(tx: Transaction, now: datetime) -> list[Watched]:
    """Pushes of the last days of which not all is told, oldest first."""
    is_open = exists().where(deliveries.c.push_id == pushes.c.id, deliveries.c.status.in_(OPEN))
    goes_on = exists().where(batches.c.push_id == pushes.c.id, batches.c.asked_at > receipts.c.shown_at)
    query = _watched(now).where(receipts.c.is_final.is_not(True) | is_open | goes_on)
    return [_one(row) for row in tx.execute(query)]


def unread(tx: Transaction, now: datetime, before: datetime) -> list[Watched]:
    """Pushes of the last days that began before a time, are told, and of which nobody asked who has read them."""
    query = _watched(now).where(receipts.c.read.is_(None), receipts.c.is_final, pushes.c.created_at < before)
    return [_one(row) for row in tx.execute(query)]


def _watched(now: datetime) -> Select[Any]:
    query = select(pushes, receipts.c.shown, receipts.c.shown_at, receipts.c.number, receipts.c.read)
    return query.outerjoin(receipts).where(pushes.c.created_at > now - WATCHED_FOR).order_by(pushes.c.id)


def _one(row: Row[Any]) -> Watched:
    is_resend = row.key.startswith("resend:")
    return Watched(
        row.id, row.edition_id, row.created_at, row.shown, row.shown_at, row.number or 0, row.read, is_resend
    )


def ended_at(tx: Transaction, push: int) -> datetime | None:
    """When the last message of a push was taken."""
    found: datetime | None = tx.execute(
        select(func.max(deliveries.c.sent_at)).where(deliveries.c.push_id == push)
    ).scalar()
    return found


def groups(tx: Transaction, push: Watched, now: datetime) -> Iterator[Group]:
    """Everybody whom a push is for, counted by how they stand."""
    of_own_hour = (
        (deliveries.c.status == Status.PENDING)
        & (deliveries.c.attempts == 0)
        & (deliveries.c.not_before > literal(max(now, push.created_at + SLOT), deliveries.c.not_before.type))
    )
    ranks = [(deliveries.c.status == status, rank) for status, rank in _RANKS.items()]
    rank = case((of_own_hour, _WAITS), *ranks, else_=_OPEN)
    is_failed = deliveries.c.status == Status.FAILED
    each = (
        select(
            deliveries.c.kind,
            func.max(rank).label("rank"),
            func.max(deliveries.c.card_id).label("card"),
            func.max(case((is_failed, deliveries.c.code))).label("code"),
            func.max(case((is_failed, deliveries.c.reason))).label("reason"),
            func.max(case((deliveries.c.status == Status.SENT, 1), else_=0)).label("has_some"),
        )
        .where(deliveries.c.push_id == push.id)
        .group_by(deliveries.c.kind, deliveries.c.receiver)
        .subquery()
    )
    columns = (each.c.kind, each.c.rank, each.c.code, each.c.reason, each.c.has_some, cards.c.key, cards.c.rung)
    query = select(*columns, func.count().label("n")).join(cards, cards.c.id == each.c.card).group_by(*columns)
    statuses = {rank: status for status, rank in _RANKS.items()} | {1: Status.CANCELLED, _WAITS: None}
    for row in tx.execute(query):
        status = Status.PENDING if row.rank == _OPEN else statuses[row.rank]
        density, rung = density_of(row.key), Rung(row.rung)
        yield Group(Kind(row.kind), density, rung, status, row.code, row.reason, bool(row.has_some), row.n)


def density_of(key: str) -> Density | None:
    """Of the card with that key, if it is an edition's."""
    words = key.split(":")
    return Density(words[4]) if words[0] == "edition" else None


def show(tx: Transaction, push: Watched, shown: str, now: datetime, *, is_final: bool) -> bool:
    """Remember what admins see. False if somebody else was quicker."""
    if push.shown is None:
        new = insert(tx, receipts).values(push_id=push.id, shown=shown, shown_at=now, number=1, is_final=is_final)
        return bool(tx.execute(new.on_conflict_do_nothing(index_elements=["push_id"])).rowcount)
    seen = (receipts.c.push_id == push.id, receipts.c.number == push.number)
    values = {"shown": shown, "shown_at": now, "number": push.number + 1, "is_final": is_final}
    return bool(tx.execute(update(receipts).where(*seen).values(values)).rowcount)


def close(tx: Transaction, push: int) -> None:
    """What is shown is the end of it."""
    tx.execute(update(receipts).where(receipts.c.push_id == push).values(is_final=True))


def private_copies(tx: Transaction, push: int, most: int) -> tuple[list[str], list[str]] | None:
    """Messages and batches of private first parts that can be asked who has read them; None if they are too many."""
    sent = (deliveries.c.push_id == push, deliveries.c.status == Status.SENT, deliveries.c.part == 1)
    query = select(deliveries.c.message_id).where(*sent, deliveries.c.kind == Kind.USER).distinct()
    single = tx.execute(query.where(deliveries.c.lane == Lane.SINGLE).limit(most + 1)).scalars().all()
    firsts = query.where(deliveries.c.lane == Lane.BATCH)
    asked = select(batches.c.message_id).where(batches.c.message_id.in_(firsts))
    many = tx.execute(asked.limit(most + 1)).scalars().all()
    if len(single) + len(many) > most:
        return None
    return [one for one in single if one], list(many)


def note_read(tx: Transaction, push: int, read: int) -> None:
    """Write down how many people have read it: that is to be told."""
    tx.execute(update(receipts).where(receipts.c.push_id == push).values(read=read, is_final=False))
