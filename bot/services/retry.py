"""An operator's second try of what failed."""

from datetime import datetime

from bot.store import audit
from bot.store import retry as store_retry
from bot.store.engine import Store, Transaction
from bot.store.retry import Retried, Wanted


class _Undone(Exception):  # noqa: N818  nothing is wrong: it takes a dry run back
    """Carries what would have been done."""

    def __init__(self, retried: Retried) -> None:
        super().__init__()
        self.retried = retried


def retry(store: Store, wanted: Wanted, now: datetime, actor: str, *, dry_run: bool = False) -> Retried:
    """Put what is wanted back into the queue. `dry_run`: the same, and all of it taken back."""
    try:
        return store.write_now(_retry, wanted, now, actor, dry_run=dry_run)
    except _Undone as undone:
        return undone.retried


def _retry(tx: Transaction, wanted: Wanted, now: datetime, actor: str, *, dry_run: bool) -> Retried:
    done = store_retry.retry(tx, wanted, now)
    if dry_run:
        raise _Undone(done)
    if done.deliveries or done.waiting:
        target = f"edition {wanted.edition}" if wanted.edition is not None else "deliveries"
        after = {"status": wanted.status, "deliveries": done.deliveries, "waiting": done.waiting}
        audit.append(tx, now, actor, "retry", target, after=after)
    return done
