"""Trying again what failed: on an operator's word alone, and never what its reader has got since."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import uuid4

from sqlalchemy import ColumnElement, Select, Subquery, Text, case, cast, exists, func, literal, select, tuple_, update

from bot.domain.audience import SubscriptionStatus
from bot.domain.delivery import Status
from bot.store.database import hold_still
from bot.store.engine import Transaction
from bot.store.outbox import key_of
from bot.store.pauses import PUSH
from bot.store.subscribers import BY_ADMIN
from bot.store.tables import deliveries, pauses, pushes, subscribers, subscriptions
from bot.store.tables import editions as editions_table

# Why a delivery stays as it is.
OTHER_STATUS, STOPPED, UNSUBSCRIBED, PAUSED, REPLACED = "other_status", "stopped", "unsubscribed", "paused", "replaced"
NOT_THERE, GOES = "not_there", ""


@dataclass(frozen=True, slots=True)
class Wanted:
    """Deliveries of one state: those of these ids, else those of the pushes, of one edition or of all."""

    status: Status = Status.FAILED
    ids: Collection[int] = ()
    edition: int | None = None


@dataclass(frozen=True, slots=True)
class Retried:
    """What goes out again. `waiting` never failed: it goes on with its stopped push. `skipped` counts by reason."""

    deliveries: int
    receivers: int
    waiting: int
    skipped: dict[str, int]


def retry(tx: Transaction, wanted: Wanted, now: datetime) -> Retried:
    """Put deliveries back into the queue under new uuids, with no attempt made.

    A stopped push goes on if its edition is asked for. Later parts that were cancelled with a failed one come along.
    """
    hold_still(tx, subscriptions)  # who leaves from now on sees what is pending, and cancels it
    waiting = _go_on(tx, wanted.edition) if wanted.edition is not None else 0
    chosen = _chosen(wanted).subquery()
    skipped = _skipped(tx, wanted, chosen)
    batch = uuid4().hex[:20]
    again = {
        "status": Status.PENDING,
        "uuid": f"{batch}-" + cast(deliveries.c.id, Text),
        "not_before": now,
        "attempts": 0,
        **dict.fromkeys(("lease_until", "started_at", "maybe_sent_at", "code", "reason")),
    }
    free = deliveries.c.id.in_(select(chosen.c.id).where(chosen.c.why.is_(None)))
    failed = tx.execute(update(deliveries).where(free, deliveries.c.status == wanted.status).values(again)).rowcount
    receiver = (deliveries.c.kind, deliveries.c.receiver)
    of_batch = (deliveries.c.uuid > f"{batch}-") & (deliveries.c.uuid < f"{batch}-:")  # a colon comes behind digits
    people = select(func.count()).select_from(select(*receiver).where(of_batch).distinct().subquery())
    receivers = tx.execute(people).scalar_one()
    back = select(deliveries.c.push_id, *receiver).where(of_batch)
    cut_off = tuple_(deliveries.c.push_id, *receiver).in_(back) & (deliveries.c.attempts == 0)
    of_pushes = deliveries.c.push_id.in_(select(back.subquery().c.push_id))
    is_cut_off = (of_pushes, deliveries.c.status == Status.CANCELLED, cut_off)
    along = tx.execute(update(deliveries).where(*is_cut_off).values(again)).rowcount
    return Retried(failed + along, receivers, waiting, skipped)


def _skipped(tx: Transaction, wanted: Wanted, chosen: Subquery) -> dict[str, int]:
    rows = tx.execute(select(chosen.c.why, func.count()).group_by(chosen.c.why)).all()
    found = {why or GOES: number for why, number in rows}
    if missing := len(set(wanted.ids)) - sum(found.values()) if wanted.ids else 0:
        found[NOT_THERE] = missing
    found.pop(GOES, None)
    return found


def _go_on(tx: Transaction, edition: int) -> int:
    """Lift the stop of an edition's pushes. Returns how many deliveries were waiting behind it."""
    stopped = select(pushes.c.id).where(pushes.c.edition_id == edition, _is_stopped(pushes.c.id))
    ids = tx.execute(stopped).scalars().all()
    waiting = select(func.count()).where(deliveries.c.push_id.in_(ids), deliveries.c.status == Status.PENDING)
    number = tx.execute(waiting).scalar_one()
    tx.execute(pauses.delete().where(pauses.c.name.in_([f"{PUSH}{one}" for one in ids])))
    return number


def _chosen(wanted: Wanted) -> Select[Any]:
    """Ids of what is wanted, each with why it stays as it is, or NULL."""
    is_theirs = (subscribers.c.kind == deliveries.c.kind) & (subscribers.c.receiver == deliveries.c.receiver)
    is_subscription = (subscriptions.c.subscriber_id == subscribers.c.id) & (
        subscriptions.c.series == editions_table.c.series
    )
    query = select(deliveries.c.id, _why(wanted.status).label("why")).select_from(
        deliveries.outerjoin(pushes)
        .outerjoin(editions_table, editions_table.c.id == pushes.c.edition_id)
        .outerjoin(subscribers, is_theirs)
        .outerjoin(subscriptions, is_subscription)
    )
    if wanted.ids:
        query = query.where(deliveries.c.id.in_(wanted.ids))
    else:
        query = query.where(deliveries.c.status == wanted.status, deliveries.c.push_id.is_not(None))
    return query if wanted.edition is None else query.where(pushes.c.edition_id == wanted.edition)


def _why(status: Status) -> ColumnElement[str | None]:
    # Without a reason it is the reader's own. A refusal's is no obstacle: the try shows whether they are back.
    is_held = subscriptions.c.reason.is_(None) | (subscriptions.c.reason == BY_ADMIN)
    return case(
        (deliveries.c.status != status, OTHER_STATUS),
        (subscriptions.c.status == SubscriptionStatus.UNSUBSCRIBED, UNSUBSCRIBED),
        ((subscriptions.c.status == SubscriptionStatus.PAUSED) & is_held, PAUSED),
        (_is_replaced(), REPLACED),
        (_is_stopped(deliveries.c.push_id), STOPPED),
    )


def _is_replaced() -> ColumnElement[bool]:
    """A later push of the edition has taken over that part for that receiver, however it ended."""
    later, other = pushes.alias("later"), deliveries.alias("other")
    part = cast(deliveries.c.part, Text)
    key = key_of(cast(later.c.id, Text), deliveries.c.kind, deliveries.c.receiver, part)  # a unique index finds it
    return exists().where(
        later.c.edition_id == pushes.c.edition_id,
        later.c.id > pushes.c.id,
        other.c.key == key,
        other.c.status.not_in([Status.CANCELLED, Status.SKIPPED]),
    )


def _is_stopped(push: ColumnElement[Any]) -> ColumnElement[bool]:
    return exists().where(pauses.c.name == literal(PUSH) + cast(push, Text))
