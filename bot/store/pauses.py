"""What stands still and why: the whole queue, or one push."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select

from bot.store.database import insert
from bot.store.engine import Transaction
from bot.store.tables import pauses

QUEUE = "queue"
PUSH = "push:"  # with the push's id behind it
BY_HAND = 0  # the code of a pause that an admin asked for: pushes wait, people still get their answers


@dataclass(frozen=True, slots=True)
class Pause:
    """Why nothing goes out. `until` None: until a human has acted."""

    code: int
    reason: str
    until: datetime | None

    @property
    def is_by_hand(self) -> bool:
        """Whether an admin wanted it; if not, nothing at all can be sent."""
        return self.code == BY_HAND


def begin(tx: Transaction, name: str, code: int, reason: str, now: datetime, until: datetime | None = None) -> bool:
    """Pause the queue or a push. False if it is paused already: nobody is told twice."""
    why = {"code": code, "reason": reason, "since": now, "until": until}
    new = insert(tx, pauses).values(name=name, **why)
    is_over = pauses.c.until <= now
    return bool(tx.execute(new.on_conflict_do_update(index_elements=["name"], set_=why, where=is_over)).rowcount)


def lift(tx: Transaction, name: str) -> bool:
    """Go on. False if there was no pause."""
    return bool(tx.execute(pauses.delete().where(pauses.c.name == name)).rowcount)


def of_queue(tx: Transaction, now: datetime) -> Pause | None:
    """Why the whole queue stands still, or None. A pause whose time is over has no effect."""
    row = tx.execute(
        select(pauses).where(pauses.c.name == QUEUE, (pauses.c.until.is_(None)) | (pauses.c.until > now))
    ).first()
    return None if row is None else Pause(row.code, row.reason, row.until)
