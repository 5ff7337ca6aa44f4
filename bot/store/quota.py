"""Calls of the month, by kind."""

from collections.abc import Mapping
from datetime import datetime

from sqlalchemy import select

from bot.domain.quota import month_of
from bot.store.database import insert
from bot.store.engine import Transaction
from bot.store.tables import calls


def add(tx: Transaction, made: Mapping[str, int], now: datetime) -> int:
    """Count calls that were made. Returns those of the month so far."""
    for kind, number in sorted(made.items()):
        new = insert(tx, calls).values(month=month_of(now), kind=kind, calls=number)
        tx.execute(new.on_conflict_do_update(index_elements=["month", "kind"], set_={"calls": calls.c.calls + number}))
    return used(tx, now)


def used(tx: Transaction, now: datetime) -> int:
    """Calls of the month so far."""
    return sum(by_kind(tx, now).values())


def by_kind(tx: Transaction, now: datetime) -> dict[str, int]:
    """Calls of the month so far, by kind."""
    rows = tx.execute(select(calls.c.kind, calls.c.calls).where(calls.c.month == month_of(now)).order_by(calls.c.kind))
    return {row.kind: row.calls for row in rows}
