"""Reading and changing what the bot knows: the same functions for commands and pages."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any

from bot.domain.audience import Receiver
from bot.domain.delivery import Status
from bot.domain.errors import UsageError
from bot.domain.webhooks import shown
from bot.store import audit, editions, ledger, subscribers
from bot.store.editions import Edition
from bot.store.engine import Store, Transaction
from bot.store.subscribers import NewSubscription

IMPORT_BATCH = 5_000


def import_subscriptions(
    store: Store, rows: Iterable[NewSubscription], now: datetime, told: Callable[[], None] = lambda: None
) -> tuple[int, int]:
    """Add subscriptions in bounded batches. Returns (new, already there); running it again adds nothing.

    `told` is called after each full batch. A UsageError of `rows` ends it: what stood before is in, and the error
    says so.
    """
    new = seen = 0
    for batch, refusal in _batches(rows):
        added, there = store.write_now(_import_batch, batch, now)
        new, seen = new + added, seen + there
        if refusal:
            before = f"the {new + seen} rows before it are in ({new} new)" if new + seen else "nothing was imported"
            raise UsageError(f"{refusal}; {before}; mend it and import the file again") from refusal
        if len(batch) == IMPORT_BATCH:
            told()
    return new, seen


def list_subscriptions(store: Store, series: str | None, limit: int, after: int) -> dict[str, Any]:
    """One row per subscription: the shape of `subscriber list --json`."""
    rows = store.read_now(subscribers.page, series, limit, after)
    return {
        "subscribers": [
            {
                "kind": row.receiver.kind,
                "id": shown(row.receiver),
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
    store: Store,
    limit: int,
    after: int,
    *,
    edition: str | None = None,
    status: Status | None = None,
    receiver: Receiver | None = None,
) -> dict[str, Any]:
    """The ledger: the shape of `delivery list --json`. Raises UsageError if there is no such edition."""
    edition_id = edition_named(store, edition).id if edition else None
    rows = store.read_now(ledger.page, limit, after, edition=edition_id, status=status, receiver=receiver)
    return {
        "deliveries": [
            {
                "id": row.id,
                "edition": row.edition,
                "push": row.push,
                "receiver_kind": row.receiver.kind,
                "receiver": shown(row.receiver),
                "part": row.part,
                "form": row.rung.label,
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


def edition_named(store: Store, name: str) -> Edition:
    """The edition of that name. Raises UsageError if there is none."""
    found = store.read_now(editions.find, *split_name(name))
    if found is None:
        raise UsageError(f"there is no edition {name}; see `digest-bot edition list`")
    return found


def _batches(rows: Iterable[NewSubscription]) -> Iterator[tuple[list[NewSubscription], UsageError | None]]:
    batch: list[NewSubscription] = []
    try:
        for row in rows:
            batch.append(row)
            if len(batch) == IMPORT_BATCH:
                yield batch, None
                batch = []
    except UsageError as exc:
        yield batch, exc
    else:
        yield batch, None


def _import_batch(tx: Transaction, rows: Sequence[NewSubscription], now: datetime) -> tuple[int, int]:
    new, seen = subscribers.add(tx, rows, now)
    if new:
        audit.append(tx, now, "cli", "import_subscribers", "subscribers", after={"new": new})
    return new, seen


def _cursor(ids: Sequence[int], limit: int) -> int | None:
    return ids[-1] if len(ids) == limit else None
