"""Who does the work that one process does for all. An old owner may live on unawares: its epoch no longer holds."""

from datetime import datetime, timedelta

from sqlalchemy import case, select, update

from bot.store.database import insert
from bot.store.engine import Transaction
from bot.store.tables import leases

# Whoever looks every TRY_EVERY_S takes over within the sum of both after a death; two renewals may be late or lost.
LASTS = timedelta(seconds=7)
TRY_EVERY_S = 2.5
SCHEDULER = "scheduler"  # whatever is done by the clock


def take(tx: Transaction, name: str, owner: str, now: datetime) -> int | None:
    """Take a lease that is free or has lapsed, or renew one's own. Returns its epoch, None if another has it.

    `owner` names one life of one process: a new name after every start.
    """
    until = now + LASTS
    is_own = leases.c.owner == owner
    upsert = insert(tx, leases).values(name=name, owner=owner, epoch=1, until=until)
    upsert = upsert.on_conflict_do_update(
        index_elements=["name"],
        set_={"owner": owner, "until": until, "epoch": case((is_own, leases.c.epoch), else_=leases.c.epoch + 1)},
        where=is_own | (leases.c.until <= now),
    )
    epoch: int | None = tx.execute(upsert.returning(leases.c.epoch)).scalar()
    return epoch


def holds(tx: Transaction, name: str, epoch: int, now: datetime) -> bool:
    """Whether that epoch still has the lease; if so nobody takes it before this transaction ends.

    Ask before the first write and write nothing on a no: that fences what an owner does who was away for too long.
    """
    mine = (leases.c.name == name, leases.c.epoch == epoch, leases.c.until > now)
    return tx.execute(select(leases.c.epoch).where(*mine).with_for_update(read=True)).first() is not None


def until(tx: Transaction, name: str) -> datetime | None:
    """When the lease lapses or has lapsed, whoever has it; None if nobody ever had."""
    lapses: datetime | None = tx.execute(select(leases.c.until).where(leases.c.name == name)).scalar()
    return lapses


def give_back(tx: Transaction, name: str, epoch: int, now: datetime) -> None:
    """Let it lapse at once: another takes over without waiting."""
    tx.execute(update(leases).where(leases.c.name == name, leases.c.epoch == epoch).values(until=now))
