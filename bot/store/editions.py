"""Editions, their cards and their pushes."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import Row, Select, exists, func, literal, select, update
from sqlalchemy.dialects.sqlite import insert

from bot.domain.audience import Selection
from bot.domain.delivery import OPEN
from bot.domain.digest import Digest
from bot.store.digest_json import dump, load
from bot.store.engine import Transaction
from bot.store.tables import cards, deliveries, editions, pushes


class State(StrEnum):
    """Life of an edition."""

    DRAFT = "draft"
    READY = "ready"
    PUBLISHING = "publishing"
    PUBLISHED = "published"
    HELD = "held"


@dataclass(frozen=True, slots=True)
class Edition:
    """One publication of a digest."""

    id: int
    series: str
    slug: str
    state: State
    revision: int
    digest: Digest
    published_at: datetime | None

    @property
    def name(self) -> str:
        """What commands and links call it."""
        return f"{self.series}/{self.slug}"


def slug_of(digest: Digest) -> str:
    """Day and label, e.g. `2025-03-08-学术篇`. The digest has a day."""
    assert digest.day is not None
    return f"{digest.day.isoformat()}-{digest.label}" if digest.label else digest.day.isoformat()


def save(tx: Transaction, series: str, digest: Digest, source_hash: str, now: datetime) -> tuple[Edition, bool]:
    """Store a digest as the edition of its day and label. Returns it and whether anything changed.

    A known source changes nothing; another one is a new revision. What was sent is not touched.
    """
    key = {"series": series, "day": digest.day, "label": digest.label or ""}
    content = {
        "title": digest.title,
        "day_end": digest.day_end,
        "digest": dump(digest),
        "source_hash": source_hash,
        "updated_at": now,
    }
    upsert = insert(editions).values(
        **key, **content, slug=slug_of(digest), state=State.READY, revision=1, created_at=now
    )
    upsert = upsert.on_conflict_do_update(
        index_elements=list(key),
        set_={**content, "revision": editions.c.revision + 1},
        where=editions.c.source_hash != source_hash,
    )
    changed = tx.execute(upsert.returning(editions.c.id)).scalar() is not None
    edition = _one(tx, select(editions).filter_by(**key))
    assert edition is not None
    return edition, changed


def find(tx: Transaction, series: str, slug: str) -> Edition | None:
    """An edition by its slug; `latest` is the newest day's, the last made of that day."""
    query = select(editions).where(editions.c.series == series)
    if slug == "latest":
        return _one(tx, query.order_by(editions.c.day.desc(), editions.c.id.desc()).limit(1))
    return _one(tx, query.where(editions.c.slug == slug))


def published_since(tx: Transaction, series: str, since: datetime) -> list[Edition]:
    """Editions that went out at or after `since`, oldest first."""
    query = select(editions).where(editions.c.series == series, editions.c.published_at >= since)
    return [_edition(row) for row in tx.execute(query.order_by(editions.c.published_at, editions.c.id))]


def published_keys(tx: Transaction, series: str) -> list[tuple[date, str]]:
    """Day and label of every edition that went out or is held back: none of them is due again."""
    done = (State.PUBLISHING, State.PUBLISHED, State.HELD)
    rows = tx.execute(
        select(editions.c.day, editions.c.label).where(editions.c.series == series, editions.c.state.in_(done))
    )
    return [(day, label) for day, label in rows]


def page(tx: Transaction, series: str | None, limit: int, after: int) -> list[Edition]:
    """Newest first, from below the cursor `after` (0: from the top)."""
    query = select(editions).order_by(editions.c.id.desc()).limit(limit)
    if after:
        query = query.where(editions.c.id < after)
    if series is not None:
        query = query.where(editions.c.series == series)
    return [_edition(row) for row in tx.execute(query)]


def mark_publishing(tx: Transaction, edition: Edition, now: datetime) -> None:
    """The fan-out is planned. The time of the first publication stays."""
    first = func.coalesce(editions.c.published_at, literal(now, editions.c.published_at.type))
    changed = update(editions).where(editions.c.id == edition.id)
    tx.execute(changed.values(state=State.PUBLISHING, published_at=first, updated_at=now))


def finish(tx: Transaction, now: datetime) -> int:
    """Mark editions as published whose fan-out has nothing open any more. Returns how many."""
    is_open = (
        exists()
        .where(pushes.c.edition_id == editions.c.id, deliveries.c.push_id == pushes.c.id)
        .where(deliveries.c.status.in_(OPEN))
    )
    done = update(editions).where(editions.c.state == State.PUBLISHING, ~is_open)
    return int(tx.execute(done.values(state=State.PUBLISHED, updated_at=now)).rowcount)


def push_id(tx: Transaction, edition: Edition) -> int | None:
    """The edition's fan-out, or None if it was never planned."""
    found: int | None = tx.execute(select(pushes.c.id).where(pushes.c.key == _push_key(edition))).scalar()
    return found


def start_push(tx: Transaction, edition: Edition, now: datetime) -> int:
    """Make the edition's one fan-out."""
    new = insert(pushes).values(edition_id=edition.id, key=_push_key(edition), created_at=now)
    return int(tx.execute(new.returning(pushes.c.id)).scalar_one())


def card_ids(tx: Transaction, edition: Edition, selection: Selection) -> list[int]:
    """The stored rendering of a selection, part by part; empty if it was not rendered yet."""
    rows = tx.execute(select(cards.c.id).where(cards.c.key.startswith(_card_key(edition, selection), autoescape=True)))
    return sorted(row.id for row in rows)


def save_cards(
    tx: Transaction, edition: Edition, selection: Selection, bodies: Sequence[str], now: datetime
) -> list[int]:
    """Store the rendering of a selection. Returns the ids of its parts, in order."""
    return [
        save_card(tx, f"{_card_key(edition, selection)}{part:03}", body, now, part=part, parts=len(bodies))
        for part, body in enumerate(bodies, 1)
    ]


def save_card(tx: Transaction, key: str, body: str, now: datetime, *, part: int = 1, parts: int = 1) -> int:
    """Store a card under its key; one that is there is returned as it is."""
    new = insert(cards).values(key=key, body=body, part=part, parts=parts, created_at=now)
    tx.execute(new.on_conflict_do_nothing(index_elements=["key"]))
    return int(tx.execute(select(cards.c.id).where(cards.c.key == key)).scalar_one())


def _push_key(edition: Edition) -> str:
    return f"publish:{edition.id}"


def _card_key(edition: Edition, selection: Selection) -> str:
    return f"edition:{edition.id}:{edition.revision}:{selection.key}:"


def _one(tx: Transaction, query: Select[Any]) -> Edition | None:
    row = tx.execute(query).first()
    return None if row is None else _edition(row)


def _edition(row: Row[Any]) -> Edition:
    return Edition(row.id, row.series, row.slug, State(row.state), row.revision, load(row.digest), row.published_at)
