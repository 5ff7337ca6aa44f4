"""Batches that were sent, and how far the platform says they are."""

from datetime import datetime, timedelta

from sqlalchemy import func, select, update

from bot.ports import BatchProgress
from bot.store.engine import Transaction
from bot.store.tables import batches

FIRST_AFTER = timedelta(seconds=30)
ASKED_FOR = timedelta(hours=1)  # afterwards who has not got it is out of the bot's reach


def save(tx: Transaction, message_id: str, push: int | None, people: int, now: datetime) -> None:
    """Remember a batch that the platform has taken."""
    tx.execute(batches.insert().values(message_id=message_id, push_id=push, people=people, sent_at=now))


def unfinished(tx: Transaction, now: datetime, limit: int = 20) -> list[str]:
    """Batches to ask about: not all have arrived when last asked. The longest unasked first."""
    is_open = batches.c.success.is_(None) | (batches.c.success < batches.c.valid)
    is_young = (batches.c.sent_at <= now - FIRST_AFTER) & (batches.c.sent_at > now - ASKED_FOR)
    order = func.coalesce(batches.c.asked_at, batches.c.sent_at)
    return list(
        tx.execute(select(batches.c.message_id).where(is_open, is_young).order_by(order).limit(limit)).scalars()
    )


def reach(tx: Transaction, push: int) -> tuple[int, int] | None:
    """People of a push's batches as far as was asked, and how many of them have it; None: nothing is known yet."""
    sums = select(func.sum(batches.c.valid), func.sum(batches.c.success)).where(batches.c.push_id == push)
    people, reached = tx.execute(sums).one()
    return None if people is None else (int(people), int(reached or 0))


def note(tx: Transaction, message_id: str, progress: BatchProgress, now: datetime) -> None:
    """Write down what the platform said."""
    counts = {"valid": progress.valid, "success": progress.success, "read": progress.read}
    tx.execute(update(batches).where(batches.c.message_id == message_id).values(**counts, asked_at=now))
