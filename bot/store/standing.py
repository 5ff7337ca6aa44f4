"""An operator's word on the subscriptions of one receiver: pause, resume, remove."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ColumnElement, or_, select, update

from bot.domain.audience import Receiver, SubscriptionStatus
from bot.store.engine import Transaction
from bot.store.subscribers import BY_ADMIN
from bot.store.tables import subscribers, subscriptions

ACTIVE, PAUSED, UNSUBSCRIBED = SubscriptionStatus
# Told from other pauses and leavings by their reason: who wrote it may take it back.
REMOVED = "管理员移除"


@dataclass(frozen=True, slots=True)
class Standing:
    """How one subscription stands."""

    id: int
    series: str
    status: SubscriptionStatus
    reason: str | None


def of(tx: Transaction, receiver: Receiver, series: str | None) -> list[Standing]:
    """Subscriptions of a receiver, to one series or to all; nobody else changes them before this transaction ends."""
    query = (
        select(subscriptions.c.id, subscriptions.c.series, subscriptions.c.status, subscriptions.c.reason)
        .join(subscribers)
        .where(subscribers.c.kind == receiver.kind, subscribers.c.receiver == receiver.id)
        .order_by(subscriptions.c.series)
        .with_for_update(of=subscriptions)
    )
    if series is not None:
        query = query.where(subscriptions.c.series == series)
    return [Standing(row.id, row.series, SubscriptionStatus(row.status), row.reason) for row in tx.execute(query)]


def pause(tx: Transaction, standing: Standing, now: datetime) -> bool:
    """Let nothing more come, whatever it was paused for before. False for one that is so, or has left."""
    others = subscriptions.c.reason.is_distinct_from(BY_ADMIN) | (subscriptions.c.status == ACTIVE)
    return _change(tx, standing, PAUSED, BY_ADMIN, now, (subscriptions.c.status != UNSUBSCRIBED) & others)


def resume(tx: Transaction, standing: Standing, now: datetime) -> bool:
    """Go on, whoever paused it. Somebody who has left comes back only by themselves."""
    ours = or_(subscriptions.c.status == PAUSED, subscriptions.c.reason == REMOVED)
    return _change(tx, standing, ACTIVE, None, now, (subscriptions.c.status != ACTIVE) & ours)


def remove(tx: Transaction, standing: Standing, now: datetime) -> bool:
    """End a subscription in its subscriber's place. False for one that has ended."""
    return _change(tx, standing, UNSUBSCRIBED, REMOVED, now, subscriptions.c.status != UNSUBSCRIBED)


def _change(
    tx: Transaction,
    standing: Standing,
    status: SubscriptionStatus,
    reason: str | None,
    now: datetime,
    condition: ColumnElement[bool],
) -> bool:
    changed = update(subscriptions).where(subscriptions.c.id == standing.id, condition)
    return bool(tx.execute(changed.values(status=status, reason=reason, paused_until=None, updated_at=now)).rowcount)
