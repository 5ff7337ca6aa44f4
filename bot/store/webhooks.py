"""Webhooks of custom bots: their addresses, and what their messages are signed with."""

from collections.abc import Collection

from sqlalchemy import select

from bot.domain.audience import Kind, Receiver
from bot.store.engine import Transaction
from bot.store.tables import subscribers


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
