"""What was promised to be finished after the answer, because it has to be asked of the platform first.

Such a promise is a row of the inbox under a name of its own: stored with the answer, forgotten like it, gone once kept.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import delete, insert, select

from bot.store.engine import Transaction
from bot.store.tables import inbox

_NAME = "followup:"


@dataclass(frozen=True, slots=True)
class Promise:
    """What is to be done, in the words of whoever promised it."""

    event_id: str
    what: dict[str, Any]
    since: datetime


def promise(tx: Transaction, event_id: str, what: dict[str, Any], now: datetime) -> None:
    """Store it in the transaction of the answer that promises it."""
    tx.execute(insert(inbox).values(event_id=_NAME + event_id, answer=what, received_at=now))


def open_(tx: Transaction, limit: int) -> list[Promise]:
    """The oldest of those not kept yet."""
    rows = tx.execute(
        select(inbox).where(inbox.c.event_id.startswith(_NAME)).order_by(inbox.c.received_at).limit(limit)
    )
    return [Promise(row.event_id.removeprefix(_NAME), row.answer, row.received_at) for row in rows]


def keep(tx: Transaction, event_id: str) -> bool:
    """It is done, in this transaction. False if somebody else has done it."""
    return bool(tx.execute(delete(inbox).where(inbox.c.event_id == _NAME + event_id)).rowcount)
