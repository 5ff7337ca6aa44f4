"""Editions, their cards and their pushes."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import Row, Select, bindparam, case, func, literal, select, update

from bot.domain.audience import Selection
from bot.domain.delivery import OPEN
from bot.domain.digest import Digest
from bot.domain.schedule import Published
from bot.store.database import Insert, built_once, insert
from bot.store.digest_json import dump, load
from bot.store.editor_tables import edition_revisions
from bot.store.engine import Transaction
from bot.store.tables import cards, deliveries, editions, pushes

LOOKED_AT = 60  # editions that say what is due: older ones decide nothing
_CARD = select(cards.c.id).where(cards.c.key == bindparam("name"))
_PARTS = (
    select(cards.c.id, cards.c.part, cards.c.proven_at)
    .where(cards.c.key >= bindparam("first"), cards.c.key < bindparam("end"))
    .order_by(cards.c.part, cards.c.rung)
)
_PUSH = select(pushes.c.id).where(pushes.c.key == bindparam("name"))


class State(StrEnum):
    """Life of an edition. A draft waits for somebody to approve it."""

    DRAFT = "draft"
    READY = "ready"
    PUBLISHING = "publishing"
    PUBLISHED = "published"
    HELD = "held"


_SINCE = (
    select(editions)
    .where(editions.c.series == bindparam("of_series"), editions.c.published_at >= bindparam("since"))
    .where(editions.c.state != State.HELD)
    .order_by(editions.c.published_at, editions.c.id)
)


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


def save(
    tx: Transaction, series: str, digest: Digest, source_hash: str, now: datetime, state: State = State.READY
) -> tuple[Edition, bool]:
    """Store a digest as the edition of its day and label. Returns it and whether anything changed.

    A known source changes nothing; another one is a new revision, which before a push is in `state` again. What was
    sent is not touched.
    """
    key = {"series": series, "day": digest.day, "label": digest.label or ""}
    content = {
        "title": digest.title,
        "day_end": digest.day_end,
        "digest": dump(digest),
        "source_hash": source_hash,
        "updated_at": now,
    }
    upsert = insert(tx, editions).values(
        **key, **content, slug=slug_of(digest), state=state, revision=1, created_at=now
    )
    waits = editions.c.state.in_([State.DRAFT, State.READY])
    upsert = upsert.on_conflict_do_update(
        index_elements=list(key),
        set_={
            **content,
            "revision": editions.c.revision + 1,
            "state": case((waits, state.value), else_=editions.c.state),
        },
        where=editions.c.source_hash != source_hash,
    )
    changed = tx.execute(upsert.returning(editions.c.id)).scalar() is not None
    edition = _one(tx, select(editions).filter_by(**key))
    assert edition is not None
    if changed:
        kept = {"edition_id": edition.id, "revision": edition.revision, "digest": content["digest"], "created_at": now}
        tx.execute(edition_revisions.insert().values(kept))
    return edition, changed


def find(tx: Transaction, series: str, slug: str) -> Edition | None:
    """An edition by its slug; `latest` is the newest day's, the last made of that day."""
    query = select(editions).where(editions.c.series == series)
    if slug == "latest":
        return _one(tx, query.order_by(editions.c.day.desc(), editions.c.id.desc()).limit(1))
    return _one(tx, query.where(editions.c.slug == slug))


def of_day(tx: Transaction, series: str, day: date) -> list[Edition]:
    """Editions that are for a day, be it one of several."""
    query = select(editions).where(editions.c.series == series, editions.c.day <= day)
    rows = tx.execute(query.where(func.coalesce(editions.c.day_end, editions.c.day) >= day).order_by(editions.c.id))
    return [_edition(row) for row in rows]


def published_since(tx: Transaction, series: str, since: datetime) -> list[Edition]:
    """Editions that went out at or after `since` and are not held back, oldest first."""
    return [_edition(row) for row in tx.execute(_SINCE, {"of_series": series, "since": since})]


def published(tx: Transaction, series: str) -> list[Published]:
    """The last editions that went out or are held back: none of them is due again."""
    done = (State.PUBLISHING, State.PUBLISHED, State.HELD)
    columns = (editions.c.day, editions.c.day_end, editions.c.label, editions.c.published_at)
    rows = tx.execute(
        select(*columns)
        .where(editions.c.series == series, editions.c.state.in_(done))
        .order_by(editions.c.day.desc())
        .limit(LOOKED_AT)
    )
    return [Published(day, day_end or day, label, at) for day, day_end, label, at in rows]


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
    # LIMIT keeps it a question about each edition, answered by an index: joined, it would count the whole ledger.
    still_open = (
        select(deliveries.c.id)
        .where(pushes.c.edition_id == editions.c.id, deliveries.c.push_id == pushes.c.id)
        .where(deliveries.c.status.in_(OPEN))
        .correlate(editions)
        .limit(1)
        .scalar_subquery()
    )
    done = update(editions).where(editions.c.state == State.PUBLISHING, still_open.is_(None))
    return int(tx.execute(done.values(state=State.PUBLISHED, updated_at=now)).rowcount)


def push_id(tx: Transaction, edition: Edition, key: str | None = None) -> int | None:
    """The edition's fan-out, or the push of another key; None if it was never planned."""
    found: int | None = tx.execute(_PUSH, {"name": key or _push_key(edition)}).scalar()
    return found


def start_push(tx: Transaction, edition: Edition, now: datetime, key: str | None = None) -> int:
    """Make the edition's one fan-out, or a push of another key."""
    new = insert(tx, pushes).values(edition_id=edition.id, key=key or _push_key(edition), created_at=now)
    return int(tx.execute(new.returning(pushes.c.id)).scalar_one())


def push_ids(tx: Transaction, edition: Edition) -> list[int]:
    """All pushes of an edition, oldest first."""
    query = select(pushes.c.id).where(pushes.c.edition_id == edition.id).order_by(pushes.c.id)
    return list(tx.execute(query).scalars())


def by_id(tx: Transaction, edition: int) -> Edition | None:
    """An edition by its number."""
    return _one(tx, select(editions).where(editions.c.id == edition))


def card_prefix(edition: Edition) -> str:
    """How the keys of all cards of an edition begin."""
    return f"edition:{edition.id}:"


def card_ids(tx: Transaction, edition: Edition, selection: Selection) -> list[int]:
    """The stored rendering of a selection, part by part; empty if it was not rendered yet.

    Of a part that was refused, the first form that was taken, else the last that was made.
    """
    # The number of the part follows: what goes on otherwise is of another selection, or a correction.
    key = _card_key(edition, selection)
    chosen: dict[int, Row[Any, Any, Any]] = {}
    for row in tx.execute(_PARTS, {"first": f"{key}0", "end": f"{key}:"}):
        if row.part not in chosen or chosen[row.part].proven_at is None:
            chosen[row.part] = row
    return [row.id for row in chosen.values()]


def save_cards(
    tx: Transaction, edition: Edition, selection: Selection, bodies: Sequence[str], now: datetime, mark: str = ""
) -> list[int]:
    """Store the rendering of a selection. Returns the ids of its parts, in order.

    `mark`: letters that tell a correction from what is sent as it is.
    """
    key = _card_key(edition, selection) + mark
    return [
        save_card(tx, f"{key}{part:03}", body, now, part=part, parts=len(bodies), sections=selection.sections)
        for part, body in enumerate(bodies, 1)
    ]


@built_once
def _new_card(tx: Transaction) -> Insert:
    return insert(tx, cards).on_conflict_do_nothing(index_elements=["key"])


def save_card(
    tx: Transaction,
    key: str,
    body: str,
    now: datetime,
    *,
    part: int = 1,
    parts: int = 1,
    **more: Any,
) -> int:
    """Store a card under its key; one that is there is returned as it is. `more`: other columns."""
    there = tx.execute(_CARD, {"name": key}).scalar()
    if there is None:  # and if somebody else puts it there just now, it is found after all
        row = {"key": key, "body": body, "part": part, "parts": parts, "created_at": now, **more}
        tx.execute(_new_card(tx), row)
        there = tx.execute(_CARD, {"name": key}).scalar_one()
    return int(there)


def save_notice(tx: Transaction, body: str, now: datetime) -> int:
    """Store a card that belongs to no edition; equal ones are one."""
    return save_card(tx, f"notice:{hashlib.sha256(body.encode()).hexdigest()}", body, now)


def _push_key(edition: Edition) -> str:
    return f"publish:{edition.id}"


def _card_key(edition: Edition, selection: Selection) -> str:
    return f"edition:{edition.id}:{edition.revision}:{selection.key}:"


def _one(tx: Transaction, query: Select[Any]) -> Edition | None:
    row = tx.execute(query).first()
    return None if row is None else _edition(row)


def _edition(row: Row[Any]) -> Edition:
    return Edition(row.id, row.series, row.slug, State(row.state), row.revision, load(row.digest), row.published_at)
