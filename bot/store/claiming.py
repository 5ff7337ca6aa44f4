"""Claims: deliveries taken before the request leaves, and settled after the answer."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    FromClause,
    Integer,
    Row,
    Select,
    and_,
    bindparam,
    cast,
    exists,
    func,
    or_,
    select,
    update,
)

from bot.domain.audience import Kind, Receiver
from bot.domain.delivery import LEASE, Attempt, Lane, Status, Step, lapsed
from bot.domain.ladder import Rung
from bot.store.changes import ChangeKind
from bot.store.database import is_shared
from bot.store.editor_tables import changes
from bot.store.engine import Transaction
from bot.store.outbox import PENDING, SENDING, is_open
from bot.store.pauses import PUSH
from bot.store.tables import cards, deliveries, pauses

# Receivers of a card that are looked at for one that may go now. Before its first part is out nobody is next for a
# second one, and looking through a hundred thousand would tell no more.
LOOKED_AT = 500
_ANSWER = (
    select(deliveries.c.id)
    .where(deliveries.c.status == PENDING, deliveries.c.push_id.is_(None), deliveries.c.lane == Lane.SINGLE)
    .where(deliveries.c.not_before <= bindparam("now"))
    .limit(1)
)


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
    rung: Rung


def claim(tx: Transaction, limit: int, now: datetime, *, pushed: bool = True) -> list[Claimed]:
    """Take up to `limit` due deliveries under a lease. At most one per receiver, its oldest: order is kept.

    A card that nobody has got yet goes to one receiver alone: a refused one must not be burnt on everybody.
    Answers to people come first: who has pressed a button does not wait for a push to end. `pushed` False: no others.
    """
    if pushed and tx.execute(_ANSWER, {"now": now}).first() and (answers := _claim(tx, limit, now, pushed=False)):
        return answers
    return _claim(tx, limit, now, pushed=pushed)


def _claim(tx: Transaction, limit: int, now: datetime, *, pushed: bool) -> list[Claimed]:
    canaries = _canaries(tx, now, pushed=pushed)
    unproven = select(cards.c.id).where(cards.c.proven_at.is_(None))
    is_safe = deliveries.c.card_id.not_in(unproven) | deliveries.c.id.in_(canaries)
    return _take(tx, _due(now, Lane.SINGLE, pushed=pushed).where(is_safe), limit, now)


def claim_batch(tx: Transaction, room_for: Callable[[str, Rung], int], now: datetime) -> list[Claimed]:
    """Take due deliveries of one card, as many as one call has room for. A refused call reaches nobody: no canary."""
    first = _due(now, Lane.BATCH).limit(1).subquery()
    card = tx.execute(select(cards).join(deliveries).where(deliveries.c.id == select(first.c.id).scalar_subquery()))
    if (row := card.first()) is None:
        return []
    room = max(1, room_for(row.body, Rung(row.rung)))
    return _take(tx, _due(now, Lane.BATCH).where(deliveries.c.card_id == row.id), room, now)


def _due(now: datetime, lane: Lane, *, pushed: bool = True) -> Select[tuple[int]]:
    """What may go now on a lane, the longest due first."""
    return (
        select(deliveries.c.id)
        .where(deliveries.c.status == PENDING, deliveries.c.not_before <= now)
        .where(deliveries.c.lane == lane, _goes_on(deliveries, pushed=pushed))
        .where(_is_next(deliveries, now, pushed=pushed))
        .order_by(deliveries.c.not_before, deliveries.c.id)
    )


def _take(tx: Transaction, wanted: Select[tuple[int]], limit: int, now: datetime) -> list[Claimed]:
    due = wanted.limit(limit).with_for_update(skip_locked=True).cte("due")
    taken = tx.scalars(
        update(deliveries)
        .where(deliveries.c.id.in_(select(due.c.id)))
        .values(
            status=Status.SENDING,
            lease_until=now + LEASE,
            started_at=now,
            attempts=deliveries.c.attempts + 1,
        )
        .returning(deliveries.c.id)
    ).all()
    if not taken:
        return []
    rows = tx.execute(
        select(deliveries, cards.c.body, cards.c.proven_at, cards.c.rung)
        .join(cards)
        .where(deliveries.c.id.in_(taken))
        .order_by(deliveries.c.id)
    )
    return [_claimed(row) for row in rows]


def revive(tx: Transaction, now: datetime, *, orphaned: bool = False) -> int:
    """Settle deliveries whose lease has lapsed: their sender died. Returns how many.

    `orphaned`: nobody else can be sending, so all are; on a shared database somebody can, and it changes nothing.
    """
    left = select(deliveries).where(deliveries.c.status == SENDING)
    if is_shared(tx) or not orphaned:
        left = left.where(deliveries.c.lease_until < now)
    rows = tx.execute(left.with_for_update(skip_locked=True)).all()
    if rows:
        tx.execute(_SETTLE, [_settled(row, lapsed(_attempt(row), now), now) for row in rows])
    return len(rows)


def settle(tx: Transaction, steps: Sequence[tuple[Claimed, Step]], now: datetime) -> int:
    """Write outcomes of attempts. Returns how many were still ours: of a lost lease the new owner decides."""
    if not steps:
        return 0
    proven = {one.card_id for one, step in steps if step.status is Status.SENT and not one.is_proven}
    if proven:
        tx.execute(update(cards).where(cards.c.id.in_(proven), cards.c.proven_at.is_(None)).values(proven_at=now))
    return tx.execute(_SETTLE, [_settled(one, step, now) for one, step in steps]).rowcount


def to_single(tx: Transaction, claims: Sequence[Claimed], now: datetime) -> None:
    """Let claims of a batch that reached nobody go one by one."""
    again = {"lane": Lane.SINGLE, "status": Status.PENDING, "not_before": now, "lease_until": None, "attempts": 0}
    for claimed in claims:
        tx.execute(update(deliveries).where(held(claimed)).values(**again))


def held(claim: Any) -> ColumnElement[bool]:
    """The row of a claim as long as it is ours: the lease tells it from a later claim of the same row."""
    is_same = (deliveries.c.id == claim.id, deliveries.c.lease_until == claim.lease_until)
    return and_(*is_same, deliveries.c.status == Status.SENDING)


# Built once: most of what a push costs the database would be the making of this statement for each message.
_SETTLE = (
    update(deliveries)
    .where(deliveries.c.id == bindparam("row"), deliveries.c.lease_until == bindparam("lease"))
    .where(deliveries.c.status == SENDING)
    .values(
        status=bindparam("to"),
        maybe_sent_at=bindparam("maybe"),
        message_id=bindparam("message"),
        code=bindparam("answer"),
        reason=bindparam("why"),
        sent_at=bindparam("sent"),
        lease_until=None,
        not_before=func.coalesce(bindparam("due", type_=deliveries.c.not_before.type), deliveries.c.not_before),
        attempts=deliveries.c.attempts - bindparam("uncounted", type_=Integer),
    )
)


def _settled(claim: Any, step: Step, now: datetime) -> dict[str, Any]:
    return {
        "row": claim.id,
        "lease": claim.lease_until,
        "to": step.status,
        "maybe": step.maybe_sent_at,
        "message": step.message_id,
        "answer": step.code,
        "why": step.reason,
        "sent": now if step.status is Status.SENT else None,
        "due": step.not_before,
        "uncounted": int(not step.counts),
    }


def _is_next(rows: FromClause, now: datetime, *, pushed: bool) -> ColumnElement[bool]:
    """Nothing earlier to the same receiver is in its way: no earlier part, and nothing else that goes now.

    What waits behind a stop is not: whoever it is for gets everything else meanwhile.
    """
    earlier = deliveries.alias("earlier")
    goes_now = (earlier.c.status == SENDING) | _goes_on(earlier, pushed=pushed)
    return ~exists().where(
        (earlier.c.push_id == rows.c.push_id) | ((earlier.c.not_before <= now) & goes_now),
        earlier.c.kind == rows.c.kind,
        earlier.c.receiver == rows.c.receiver,
        is_open(earlier),
        earlier.c.id < rows.c.id,
    )


def _goes_on(rows: FromClause, *, pushed: bool) -> ColumnElement[bool]:
    """Nothing stops it, neither for all pushes nor for its own.

    What may have arrived and is to be taken back goes on all the same: asked for again, it tells which message it is.
    """
    of_no_push = rows.c.push_id.is_(None)
    if not pushed:
        return of_no_push
    number = cast(func.substr(pauses.c.name, len(PUSH) + 1), BigInteger)
    stopped = select(number).where(pauses.c.name.startswith(PUSH))
    is_recall = (changes.c.kind == ChangeKind.RECALL, changes.c.status == PENDING)
    recalled = select(changes.c.delivery_id).where(*is_recall)
    return or_(of_no_push, rows.c.push_id.not_in(stopped), rows.c.id.in_(recalled))


def _canaries(tx: Transaction, now: datetime, *, pushed: bool) -> list[int]:
    """The deliveries that are to prove a card each: its first that may go now, unless one is on its way.

    Who has locked the card decides for it. The second statement then sees whatever an earlier owner of the lock did.
    """
    is_for_card = deliveries.c.card_id == cards.c.id
    waited_for = exists().where(is_for_card, deliveries.c.status == PENDING)
    unproven = select(cards.c.id).where(cards.c.proven_at.is_(None), waited_for)
    # A weak lock: rows for the card may still be added.
    own = tx.execute(unproven.order_by(cards.c.id).with_for_update(skip_locked=True, key_share=True)).scalars().all()
    if not own:
        return []
    on_its_way = exists().where(is_for_card, deliveries.c.status == SENDING)
    in_order = (deliveries.c.not_before, deliveries.c.id)
    due = select(deliveries).where(is_for_card, deliveries.c.status == PENDING, deliveries.c.not_before <= now)
    front = (
        due.where(_goes_on(deliveries, pushed=pushed))
        .order_by(*in_order)
        .limit(LOOKED_AT)
        .correlate(cards)
        .subquery("front")
    )
    first = (
        select(front.c.id).where(_is_next(front, now, pushed=pushed)).order_by(front.c.not_before, front.c.id).limit(1)
    )
    found = tx.execute(select(first.scalar_subquery()).where(cards.c.id.in_(own), ~on_its_way)).scalars()
    return [one for one in found if one is not None]


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
        Rung(row.rung),
    )


def _attempt(row: Row[Any]) -> Attempt:
    settles = row.kind != Kind.WEBHOOK and row.lane == Lane.SINGLE
    return Attempt(row.attempts, row.maybe_sent_at, row.started_at, settles)
