"""Putting old deliveries away: the ledger stays as small as a month, reports still find what was before.

The rows' ids and keys stay, so that it can be asked who has got what. Cards that nothing refers to any more go.
"""

from datetime import datetime, timedelta

from sqlalchemy import BigInteger, Column, Index, Integer, Table, Text, delete, exists, func, insert, select

from bot.domain.delivery import OPEN
from bot.store.engine import Transaction
from bot.store.tables import Instant, Word, cards, deliveries, id_column, metadata

KEPT = timedelta(days=30)
LIMIT = 2_000

deliveries_archive = Table(
    "deliveries_archive",
    metadata,
    id_column(),
    Column("key", Word, nullable=False, unique=True),  # still promised once: it tells who has got what
    Column("push_id", BigInteger),
    Column("kind", Word, nullable=False),
    Column("receiver", Word, nullable=False),
    Column("part", Integer, nullable=False),
    Column("rung", Integer, nullable=False),
    Column("lane", Word, nullable=False),
    Column("status", Word, nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("code", BigInteger),
    Column("reason", Text),
    Column("message_id", Text),
    Column("sent_at", Instant),
    Column("created_at", Instant, nullable=False),
    Index("ix_deliveries_archive_push", "push_id", "status"),
)


def archive(tx: Transaction, now: datetime, keep: timedelta = KEPT, limit: int = LIMIT) -> int:
    """Move final deliveries that are older than `keep`, up to `limit` of them. Returns how many.

    The newest one stays whatever its age: an empty table would give its ids again.
    """
    young = select(deliveries.c.id).where(deliveries.c.created_at >= now - keep).order_by(deliveries.c.id).limit(1)
    edge = func.coalesce(young.scalar_subquery(), select(func.max(deliveries.c.id)).scalar_subquery())
    old = select(deliveries.c.id).where(deliveries.c.id < edge, deliveries.c.status.not_in(OPEN))
    ids = tx.execute(old.order_by(deliveries.c.id).limit(limit).with_for_update(skip_locked=True)).scalars().all()
    if ids:
        columns = {column.name: deliveries.c.get(column.name, cards.c.rung) for column in deliveries_archive.c}
        rows = select(*columns.values()).select_from(deliveries.join(cards)).where(deliveries.c.id.in_(ids))
        tx.execute(insert(deliveries_archive).from_select(list(columns), rows))
        tx.execute(delete(deliveries).where(deliveries.c.id.in_(ids)))
    return len(ids)


def unused_cards(tx: Transaction, now: datetime, keep: timedelta = KEPT) -> list[int]:
    """Cards older than `keep` that no delivery and no lower form refers to; not the newest one, as above."""
    newest = select(func.max(cards.c.id)).scalar_subquery()
    forms = select(cards.c.of_card).where(cards.c.of_card.is_not(None))
    unused = select(cards.c.id).where(cards.c.created_at < now - keep, cards.c.id < newest)
    unused = unused.where(cards.c.id.not_in(select(deliveries.c.card_id)), cards.c.id.not_in(forms))
    return list(tx.execute(unused.order_by(cards.c.id)).scalars())


def forget_card(tx: Transaction, card: int) -> bool:
    """Delete a card unless something refers to it by now.

    One at a time: without an index on what refers to cards, which would slow every push down, each one costs a look
    through the ledger.
    """
    forms = cards.alias("forms")
    used = exists().where(deliveries.c.card_id == card) | exists().where(forms.c.of_card == card)
    return bool(tx.execute(delete(cards).where(cards.c.id == card, ~used)).rowcount)
