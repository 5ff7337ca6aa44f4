"""Handled inbound events and their answers: what makes a redelivery harmless."""

from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import bindparam, delete, insert, select

from bot.store.engine import Transaction
from bot.store.tables import inbox

# The platform delivers again for about seven hours; a day's margin costs little. Source: feishu-platform notes 7.5.
KEPT_FOR = timedelta(days=8)
_ANSWER = select(inbox.c.answer).where(inbox.c.event_id == bindparam("name"))
_NEW = insert(inbox)


def answer_of(tx: Transaction, event_id: str) -> dict[str, Any] | None:
    """The stored answer of an event, or None if it is new."""
    answer: dict[str, Any] | None = tx.execute(_ANSWER, {"name": event_id}).scalar()
    return answer


def remember(tx: Transaction, event_id: str, answer: dict[str, Any], now: datetime) -> None:
    """Store an event with its answer, in the transaction of its effects.

    Of two copies that are handled at once one fails here, on its key, and runs again: it then finds the answer.
    """
    tx.execute(_NEW, {"event_id": event_id, "answer": answer, "received_at": now})


def forget(tx: Transaction, now: datetime) -> None:
    """Drop events that can no longer come again."""
    tx.execute(delete(inbox).where(inbox.c.received_at < now - KEPT_FOR))
