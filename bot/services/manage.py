"""Reading and changing what the bot knows: the same functions for commands and pages."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from bot.domain.delivery import Status
from bot.domain.errors import UsageError
from bot.store import audit, editions, ledger, subscribers
from bot.store.engine import Store, Transaction
from bot.store.subscribers import NewSubscription

IMPORT_BATCH = 5_000


def import_subscriptions(store: Store, rows: Iterable[NewSubscription], now: datetime) -> tuple[int, int]:
    """Add subscriptions in bounded batches. Returns (new, already there); running it again adds nothing."""
    new = seen = 0
    batch: list[NewSubscription] = []
    for row in rows:
        batch.append(row)
        if len(batch) == IMPORT_BATCH:
            added, there = store.write_now(_import_batch, batch, now)
            new, seen, batch = new + added, seen + there, []
    added, there = store.write_now(_import_batch, batch, now)
    return new + added, seen + there


def _import_batch(tx: Transaction, rows: Sequence[NewSubscription], now: datetime) -> tuple[int, int]:
    new, seen = subscribers.add(tx, rows, now)
    if new:
        audit.append(tx, now, "cli", "import_subscribers", "subscribers", after={"new": new})
    return new, seen


def list_subscriptions(store: Store, series: str | None, limit: int, after: int) -> dict[str, Any]:
    """One row per subscription: the shape of `subscriber list --json`."""
    rows = store.read_now(subscribers.page, series, limit, after)
    return {
        "subscribers": [
            {
                "kind": row.receiver.kind,
                "id": row.receiver.id,
                "name": row.name,
                "series": row.series,
                "status": row.status,
                "reason": row.reason,
                "sections": sorted(row.selection.sections),
                "density": row.selection.density,
                "slot": row.slot,
                "since": row.since,
            }
            for row in rows
        ],
        "next": _cursor([row.id for row in rows], limit),
    }


def list_editions(store: Store, series: str | None, limit: int, after: int) -> dict[str, Any]:
    """Newest first: the shape of `edition list --json`."""
    rows = store.read_now(editions.page, series, limit, after)
    return {
        "editions": [
            {
                "edition": row.name,
                "title": row.digest.title,
                "day": row.digest.day,
                "day_end": row.digest.day_end,
                "label": row.digest.label,
                "state": row.state,
                "revision": row.revision,
                "items": len(row.digest.items),
            }
            for row in rows
        ],
        "next": _cursor([row.id for row in rows], limit),
    }


def list_deliveries(
    store: Store, limit: int, after: int, *, edition: str | None = None, status: Status | None = None
) -> dict[str, Any]:
    """The ledger: the shape of `delivery list --json`. Raises UsageError if there is no such edition."""
    edition_id = None
    if edition is not None:
        series, slug = split_name(edition)
        found = store.read_now(editions.find, series, slug)
        if found is None:
            raise UsageError(f"there is no edition {edition}; see `digest-bot edition list`")
        edition_id = found.id
    rows = store.read_now(ledger.page, limit, after, edition=edition_id, status=status)
    return {
        "deliveries": [
            {
                "id": row.id,
                "edition": row.edition,
                "push": row.push,
                "receiver_kind": row.receiver.kind,
                "receiver": row.receiver.id,
                "part": row.part,
                "status": row.status,
                "attempts": row.attempts,
                "code": row.code,
                "reason": row.reason,
                "message_id": row.message_id,
                "sent_at": row.sent_at,
            }
            for row in rows
        ],
        "next": _cursor([row.id for row in rows], limit),
    }


def split_name(edition: str) -> tuple[str, str]:
    """`SERIES/SLUG` in two. Raises UsageError for anything else."""
    series, slash, slug = edition.partition("/")
    if not (series and slash and slug):
        raise UsageError(f"{edition!r} is not SERIES/SLUG, e.g. ai/2025-03-08 or ai/latest")
    return series, slug


def _cursor(ids: Sequence[int], limit: int) -> int | None:
    return ids[-1] if len(ids) == limit else None
