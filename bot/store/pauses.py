"""What stands still and why: the whole queue, or one push."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.dialects.sqlite import insert

from bot.store.engine import Transaction
from bot.store.tables import pauses

QUEUE = "queue"
PUSH = "push:"  # with the push's id behind it


@dataclass(frozen=True, slots=True)
class Pause:
    """Why nothing goes out. `until` None: until a human has acted."""

    code: int
    reason: str
    until: datetime | None


def begin(tx: Transaction, name: str, code: int, reason: str, now: datetime, until: datetime | None = None) -> bool:
    """Pause the queue or a push. False if it is paused already: nobody is told twice."""
    new = insert(pauses).values(name=name, code=code, reason=reason, since=now, until=until)
    return bool(tx.execute(new.on_conflict_do_nothing(index_elements=["name"])).rowcount)


def lift(tx: Transaction, name: str) -> bool:
    """Go on. False if there was no pause."""
    return bool(tx.execute(pauses.delete().where(pauses.c.name == name)).rowcount)


def of_queue(tx: Transaction, now: datetime) -> Pause | None:
    """Why the whole queue stands still, or None. A pause whose time is over has no effect."""
    row = tx.execute(
        select(pauses).where(pauses.c.name == QUEUE, (pauses.c.until.is_(None)) | (pauses.c.until > now))
    ).first()
    return None if row is None else Pause(row.code, row.reason, row.until)
