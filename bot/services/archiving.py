"""The daily chore that keeps the ledger small. Every batch is a unit of work of its own: senders hardly notice."""

import logging
from datetime import datetime

from bot.store import archive
from bot.store.engine import Store

log = logging.getLogger(__name__)


async def put_away(store: Store, now: datetime) -> tuple[int, int]:
    """Archive old deliveries and forget cards that nobody needs. Returns how many of each."""
    moved = 0
    while batch := await store.write(archive.archive, now):
        moved += batch
    unused = await store.read(archive.unused_cards, now)
    forgotten = sum([await store.write(archive.forget_card, card) for card in unused])
    if moved or forgotten:
        log.info("ledger_archived", extra={"deliveries": moved, "cards": forgotten})
    return moved, forgotten
