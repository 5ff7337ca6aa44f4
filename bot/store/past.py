"""What was published, as readers look at it: page by page, section names, and what of it is on its way to somebody."""

from collections.abc import Collection, Iterator, Sequence
from datetime import date, datetime
from typing import Any

from sqlalchemy import Row, Select, Text, cast, select, tuple_, update

from bot.domain.audience import Receiver
from bot.domain.delivery import OPEN, Status
from bot.store import editions
from bot.store.digest_json import load
from bot.store.editions import Edition, State
from bot.store.engine import Transaction
from bot.store.tables import deliveries
from bot.store.tables import editions as table

_OUT = (State.PUBLISHING, State.PUBLISHED)
_LOOKED_AT = 5  # editions whose sections are offered: names change seldom
_AT_ONCE = 8  # editions in memory


def find(tx: Transaction, series: str, slug: str) -> Edition | None:
    """A published edition; what is not out yet is nobody's business."""
    edition = editions.find(tx, series, slug)
    return edition if edition and edition.state in _OUT else None


def page(tx: Transaction, series: str, limit: int, cursor: str | None) -> tuple[list[Edition], str | None]:
    """Published editions, latest first, from a cursor on, and the cursor of the next page.

    A cursor that is not ours begins with the latest.
    """
    query = _published([series]).with_only_columns(table.c.id, table.c.day)
    at = _place(cursor)
    if at is not None:
        query = query.where(tuple_(table.c.day, table.c.id) <= at)
    rows = tx.execute(query.limit(limit + 1)).all()
    following = f"{rows[limit].day.isoformat()}.{rows[limit].id}" if len(rows) > limit else None
    return _by_ids(tx, [row.id for row in rows[:limit]]), following


def since(tx: Transaction, series: str, at: datetime, limit: int) -> list[Edition]:
    """Editions that went out after a moment, latest first."""
    query = _published([series]).with_only_columns(table.c.id).where(table.c.published_at > at)
    return _by_ids(tx, tx.execute(query.limit(limit)).scalars().all())


def holding(tx: Transaction, series: Collection[str], words: Collection[str], limit: int) -> Iterator[Edition]:
    """Published editions in whose stored text every word stands, latest first; a few too many rather than too few.

    The stored form is JSON: `words` are as they stand in JSON. Looks at the newest `limit` of those that match.
    """
    query = _published(series).with_only_columns(table.c.id)
    for word in words:
        query = query.where(cast(table.c.digest, Text).icontains(word, autoescape=True))
    ids = tx.execute(query.limit(limit)).scalars().all()
    for at in range(0, len(ids), _AT_ONCE):
        yield from _by_ids(tx, ids[at : at + _AT_ONCE])


def sections(tx: Transaction, series: str) -> tuple[str, ...]:
    """Names of sections in the latest editions, in order; those of drafts too, so that a first reader can choose."""
    query = select(table.c.digest).where(table.c.series == series)
    digests = tx.execute(query.order_by(table.c.day.desc(), table.c.id.desc()).limit(_LOOKED_AT)).scalars()
    names = dict.fromkeys(section["name"] for digest in digests for section in digest["sections"])
    return tuple(name for name in names if name)


def is_on_its_way(tx: Transaction, push: int, receiver: Receiver) -> bool:
    """Whether a part of a push is still to come to a receiver."""
    query = select(deliveries.c.id).where(*_of(push, receiver), deliveries.c.status.in_(OPEN))
    return tx.execute(query.limit(1)).first() is not None


def hasten(tx: Transaction, push: int, receiver: Receiver, now: datetime) -> None:
    """Let what waits for the receiver's own hour come now; what waits after a failure keeps waiting."""
    waiting = (deliveries.c.status == Status.PENDING, deliveries.c.attempts == 0, deliveries.c.not_before > now)
    tx.execute(update(deliveries).where(*_of(push, receiver), *waiting).values(not_before=now))


def _by_ids(tx: Transaction, ids: Sequence[int]) -> list[Edition]:
    """Editions in the order of their ids' list."""
    rows = {row.id: row for row in tx.execute(select(table).where(table.c.id.in_(ids)))}
    return [_edition(rows[one]) for one in ids if one in rows]


def _edition(row: Row[Any]) -> Edition:
    return Edition(row.id, row.series, row.slug, State(row.state), row.revision, load(row.digest), row.published_at)


def _of(push: int, receiver: Receiver) -> tuple[Any, ...]:
    return deliveries.c.push_id == push, deliveries.c.kind == receiver.kind, deliveries.c.receiver == receiver.id


def _published(series: Collection[str]) -> Select[Any]:
    query = select(table).where(table.c.series.in_(series), table.c.state.in_(_OUT))
    return query.order_by(table.c.day.desc(), table.c.id.desc())


def _place(cursor: str | None) -> tuple[date, int] | None:
    day, _, number = (cursor or "").partition(".")
    try:
        return (date.fromisoformat(day), int(number)) if number.isdecimal() and len(number) < 16 else None
    except ValueError:
        return None
