"""Rate rows: one row a key holds when the next send is due, exact over tasks and processes."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from sqlalchemy import BigInteger, Executable, bindparam, case, delete, literal_column, select

from bot.domain.rate import Rate
from bot.store.database import built_once, insert
from bot.store.engine import Transaction
from bot.store.tables import pace

APP = "app"
RESTED = timedelta(hours=1)
_DUE = select(pace.c.tat_ms).where(pace.c.key == bindparam("name"))


def reserve(tx: Transaction, keys: Sequence[str], sends: int, rate: Rate, now: datetime) -> list[float]:
    """Take the next `sends` slots of each key. Returns seconds until the first, negative while the burst lasts.

    The keys are different ones. A reserved slot that is never used costs only time.
    """
    now_ms = now.timestamp() * 1000
    earliest = round(now_ms - rate.burst * rate.interval_s * 1000)
    taken = round(sends * rate.interval_s * 1000)
    # In one order for all, so that two who want the same rows never wait for each other.
    rows = [{"key": key, "tat_ms": earliest + taken} for key in sorted(keys)]
    tat = {row.key: row.tat_ms for row in tx.execute(_taking(tx, taken), rows)}
    return [(tat[key] - taken - now_ms) / 1000 for key in keys]


@built_once
def _taking(tx: Transaction, ms: int) -> Executable:
    upsert = insert(tx, pace)
    # Written as a literal: with a parameter here rows would be sent one at a time.
    further = pace.c.tat_ms + literal_column(str(ms), BigInteger)
    later = case((further > upsert.excluded.tat_ms, further), else_=upsert.excluded.tat_ms)
    upsert = upsert.on_conflict_do_update(index_elements=[pace.c.key], set_={"tat_ms": later})
    return upsert.returning(pace.c.key, pace.c.tat_ms)


def wait_s(tx: Transaction, key: str, now: datetime) -> float:
    """Seconds until the next slot of a key, 0 if there is one now."""
    tat = tx.execute(_DUE, {"name": key}).scalar()
    return max(0.0, (tat or 0) / 1000 - now.timestamp())


def hold(tx: Transaction, key: str, seconds: float, now: datetime) -> None:
    """Let no send through before `seconds` have passed, and none of the burst then: the platform asked for it."""
    until = round((now + timedelta(seconds=seconds)).timestamp() * 1000)
    upsert = insert(tx, pace).values(key=key, tat_ms=until)
    later = case((pace.c.tat_ms > upsert.excluded.tat_ms, pace.c.tat_ms), else_=upsert.excluded.tat_ms)
    tx.execute(upsert.on_conflict_do_update(index_elements=[pace.c.key], set_={"tat_ms": later}))


def forget(tx: Transaction, now: datetime) -> None:
    """Drop rows that have rested for long: a row younger than its burst would give the burst a second time."""
    tx.execute(delete(pace).where(pace.c.tat_ms < round((now - RESTED).timestamp() * 1000)))
