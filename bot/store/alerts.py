"""What people were told, so that nobody is told twice."""

from datetime import datetime, timedelta

from sqlalchemy import delete, select

from bot.store.database import insert
from bot.store.engine import Transaction
from bot.store.tables import alerts

KEPT = timedelta(days=60)


def begin(tx: Transaction, key: str, now: datetime) -> bool:
    """Whether this is to be told now: only the first time for a key."""
    new = insert(tx, alerts).values(key=key, at=now)
    return bool(tx.execute(new.on_conflict_do_nothing(index_elements=["key"])).rowcount)


def forget(tx: Transaction, now: datetime) -> None:
    """Drop what nobody would be told again anyhow."""
    tx.execute(delete(alerts).where(alerts.c.at < now - KEPT))


def is_told(tx: Transaction, key: str) -> bool:
    """Whether people were told under that key."""
    return tx.execute(select(alerts.c.key).where(alerts.c.key == key)).first() is not None
