"""Changes of an edition's state, and what was in its earlier revisions."""

from datetime import datetime, timedelta

from sqlalchemy import select, update

from bot.domain.digest import Digest
from bot.store import pauses
from bot.store.digest_json import load
from bot.store.editions import Edition, State, by_id, push_ids
from bot.store.editor_tables import edition_revisions
from bot.store.engine import Transaction
from bot.store.tables import editions

STOPPED = 0  # the code of a stop that no answer of the platform caused
HELD = "这一期已扣住"


def change(tx: Transaction, edition: Edition, state: State, now: datetime) -> bool:
    """Give an edition another state. False if it is no longer in the one that was seen."""
    seen = (editions.c.id == edition.id, editions.c.state == edition.state)
    return bool(tx.execute(update(editions).where(*seen).values(state=state, updated_at=now)).rowcount)


def hold(tx: Transaction, edition: Edition, now: datetime) -> bool:
    """Let nobody get an edition any more; what is open of it waits. False if it is held already."""
    if edition.state is State.HELD or not change(tx, edition, State.HELD, now):
        return False
    for push in push_ids(tx, edition):
        pauses.begin(tx, f"{pauses.PUSH}{push}", STOPPED, HELD, now)
    return True


def release(tx: Transaction, edition: Edition, otherwise: State, now: datetime) -> State | None:
    """Let an edition go on where it was; one that never went out is in state `otherwise`. None if it is not held."""
    if edition.state is not State.HELD:
        return None
    ours = push_ids(tx, edition)
    for push in ours:
        pauses.lift(tx, f"{pauses.PUSH}{push}")
    state = State.PUBLISHING if ours else otherwise  # with nothing open it is soon a published one
    change(tx, edition, state, now)
    return state


def locked(tx: Transaction, edition: Edition) -> Edition:
    """The edition as it is now; nobody else changes it before this transaction ends."""
    tx.execute(select(editions.c.id).where(editions.c.id == edition.id).with_for_update())
    now = by_id(tx, edition.id)
    assert now is not None
    return now


def revision(tx: Transaction, edition: int, number: int) -> Digest | None:
    """What an edition was at that revision."""
    wanted = (edition_revisions.c.edition_id == edition, edition_revisions.c.revision == number)
    found = tx.execute(select(edition_revisions.c.digest).where(*wanted)).scalar()
    return load(found) if found else None


def neighbours(tx: Transaction, edition: Edition, within: timedelta) -> list[tuple[str, Digest]]:
    """Names and digests of the series' other editions of those days."""
    day = edition.digest.day
    assert day is not None
    near = (editions.c.series == edition.series, editions.c.day.between(day - within, day + within))
    rows = tx.execute(select(editions.c.slug, editions.c.digest).where(*near, editions.c.id != edition.id))
    return [(f"{edition.series}/{slug}", load(digest)) for slug, digest in rows]
