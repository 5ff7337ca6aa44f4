"""What admins were asked about editions, and what they decided: once for each revision."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from sqlalchemy import ColumnElement, Row, exists, func, select, update

from bot.domain.audience import Density, Kind, SubscriptionStatus
from bot.ports import LinkAnswer, LinkState
from bot.store.database import insert
from bot.store.editions import State
from bot.store.editor_tables import reviews
from bot.store.engine import Transaction
from bot.store.tables import editions, subscribers, subscriptions


@dataclass(frozen=True, slots=True)
class Asked:
    """One revision that admins were asked about. `answers`: of its links; `round`: how often they were asked."""

    edition: int
    revision: int
    round: int
    answers: dict[str, LinkAnswer]
    decision: str | None
    decided_by: str | None
    decided_at: datetime | None


def unasked(tx: Transaction, series: Collection[str], since: date) -> list[int]:
    """Ids of drafts of these series, for days from `since` on, about whose revision nobody was asked."""
    is_asked = exists().where(reviews.c.edition_id == editions.c.id, reviews.c.revision == editions.c.revision)
    is_draft = (editions.c.state == State.DRAFT, editions.c.series.in_(series))
    is_news = func.coalesce(editions.c.day_end, editions.c.day) >= since
    query = select(editions.c.id).where(*is_draft, is_news, ~is_asked)
    return list(tx.execute(query.order_by(editions.c.id)).scalars())


def begin(
    tx: Transaction, edition: int, revision: int, answers: dict[str, LinkAnswer], remind_at: datetime | None
) -> bool:
    """Remember that admins are asked. False if they were."""
    kept = {url: [one.state.value, one.reason] for url, one in answers.items()}
    row = {"edition_id": edition, "revision": revision, "answers": kept, "round": 1, "remind_at": remind_at}
    new = insert(tx, reviews).values(row).on_conflict_do_nothing(index_elements=["edition_id", "revision"])
    return bool(tx.execute(new).rowcount)


def of(tx: Transaction, edition: int, revision: int) -> Asked | None:
    """What is known of a revision; nobody else decides before this transaction ends."""
    row = tx.execute(select(reviews).where(*_is(edition, revision)).with_for_update()).first()
    return None if row is None else _asked(row)


def to_remind(tx: Transaction, now: datetime) -> list[Asked]:
    """Undecided drafts about which admins are to be asked again."""
    is_due = (reviews.c.remind_at <= now, reviews.c.decision.is_(None))
    query = select(reviews).join(editions).where(*is_due, editions.c.revision == reviews.c.revision)
    return [_asked(row) for row in tx.execute(query.where(editions.c.state == State.DRAFT))]


def ask_again(tx: Transaction, asked: Asked) -> bool:
    """Begin a further round. False if somebody else has."""
    again = update(reviews).where(*_is(asked.edition, asked.revision), reviews.c.round == asked.round)
    return bool(tx.execute(again.values(round=asked.round + 1, remind_at=None)).rowcount)


def later(tx: Transaction, asked: Asked, at: datetime) -> None:
    """Let admins be asked again at that time."""
    tx.execute(update(reviews).where(*_is(asked.edition, asked.revision)).values(remind_at=at))


def decide(tx: Transaction, asked: Asked, decision: str, who: str, now: datetime) -> None:
    """Write a decision down; a later one, such as to skip what was approved, takes its place."""
    made = {"decision": decision, "decided_by": who, "decided_at": now, "remind_at": None, "shown_at": None}
    tx.execute(update(reviews).where(*_is(asked.edition, asked.revision)).values(made))


def unshown(tx: Transaction) -> list[Asked]:
    """Decisions that the admins' cards do not show yet."""
    query = select(reviews).where(reviews.c.decision.is_not(None), reviews.c.shown_at.is_(None))
    return [_asked(row) for row in tx.execute(query)]


def show(tx: Transaction, asked: Asked, now: datetime) -> None:
    """The admins' cards say what was decided."""
    same = (*_is(asked.edition, asked.revision), reviews.c.decided_at == asked.decided_at)
    tx.execute(update(reviews).where(*same).values(shown_at=now))


def densities(tx: Transaction, series: str) -> dict[Density, int]:
    """How many active subscriptions take which density."""
    active = (subscriptions.c.series == series, subscriptions.c.status == SubscriptionStatus.ACTIVE)
    query = select(subscriptions.c.density, func.count()).where(*active).group_by(subscriptions.c.density)
    return {Density(density): n for density, n in tx.execute(query)}


def name_of(tx: Transaction, admin: str) -> str:
    """What an admin is called."""
    wanted = (subscribers.c.kind == Kind.USER, subscribers.c.receiver == admin)
    return tx.execute(select(subscribers.c.name).where(*wanted)).scalar() or "管理员"


def _is(edition: int, revision: int) -> tuple[ColumnElement[bool], ...]:
    return reviews.c.edition_id == edition, reviews.c.revision == revision


def _asked(row: Row[Any]) -> Asked:
    answers = {url: LinkAnswer(LinkState(state), reason) for url, (state, reason) in row.answers.items()}
    return Asked(row.edition_id, row.revision, row.round, answers, row.decision, row.decided_by, row.decided_at)
