"""Webhooks of custom bots: their addresses, and what their messages are signed with."""

from collections.abc import Collection
from dataclasses import dataclass

from sqlalchemy import select, update

from bot.domain.audience import Kind, Receiver, SubscriptionStatus
from bot.store.engine import Transaction
from bot.store.tables import subscribers, subscriptions


@dataclass(frozen=True, slots=True)
class Added:
    """A webhook's subscription to one series, of somebody who added it. `reason`: why it is paused."""

    id: int
    receiver: Receiver
    series: str
    status: SubscriptionStatus
    reason: str | None


def secret_of(tx: Transaction, address: str) -> str | None:
    """The secret of a webhook by its address; None if it signs nothing."""
    return secrets(tx, [address]).get(address)


def secrets(tx: Transaction, addresses: Collection[str]) -> dict[str, str]:
    """The secrets of those webhooks that sign, by address."""
    rows = tx.execute(
        select(subscribers.c.receiver, subscribers.c.secret)
        .where(subscribers.c.kind == Kind.WEBHOOK, subscribers.c.receiver.in_(addresses))
        .where(subscribers.c.secret != "")
    )
    return {row.receiver: row.secret for row in rows}


def receivers(tx: Transaction) -> list[Receiver]:
    """All webhooks, oldest first."""
    found = select(subscribers.c.receiver).where(subscribers.c.kind == Kind.WEBHOOK).order_by(subscribers.c.id)
    return [Receiver(Kind.WEBHOOK, address) for address in tx.execute(found).scalars()]


def added_by(tx: Transaction, person: str) -> list[Added]:
    """What a person has added, ended ones too, oldest first. An operator's belong to nobody."""
    columns = (subscriptions.c.id, subscribers.c.receiver, subscriptions.c.series)
    found = (
        select(*columns, subscriptions.c.status, subscriptions.c.reason)
        .join_from(subscribers, subscriptions)
        .where(subscribers.c.kind == Kind.WEBHOOK, subscriptions.c.set_by == person)
        .order_by(subscriptions.c.id)
    )
    return [
        Added(row.id, Receiver(Kind.WEBHOOK, row.receiver), row.series, SubscriptionStatus(row.status), row.reason)
        for row in tx.execute(found)
    ]


def put_secret(tx: Transaction, address: str, secret: str | None) -> None:
    """Sign with this from now on; None: not at all."""
    wanted = (subscribers.c.kind == Kind.WEBHOOK, subscribers.c.receiver == address)
    tx.execute(update(subscribers).where(*wanted).values(secret=secret))
