"""Who changed what. Ids only: no names, no text."""

from datetime import datetime
from typing import Any

from sqlalchemy import insert

from bot.store.engine import Transaction
from bot.store.tables import audit

_NEW = insert(audit)


def append(
    tx: Transaction, now: datetime, actor: str, action: str, target: str, before: Any = None, after: Any = None
) -> None:
    """Write one line, in the transaction of the change. `actor` is an open_id, `cli` or `scheduler`."""
    line = {"at": now, "actor": actor, "action": action, "target": target, "before": before, "after": after}
    tx.execute(_NEW, line)
