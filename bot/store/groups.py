"""Groups that we know, and who may decide for them as far as we saw."""

from collections.abc import Collection
from dataclasses import dataclass

from sqlalchemy import bindparam, select, update

from bot.domain.audience import Kind, SubscriptionStatus
from bot.store.engine import Transaction
from bot.store.tables import subscribers, subscriptions

_FIND = select(subscribers.c.name, subscribers.c.added_by).where(
    subscribers.c.kind == Kind.GROUP, subscribers.c.receiver == bindparam("chat")
)


@dataclass(frozen=True, slots=True)
class Group:
    """A group. `added_by`: who brought the bot into it."""

    name: str
    added_by: str | None


def find(tx: Transaction, chat_id: str) -> Group | None:
    """A group, or None if we never heard of it. Every chat but the private ones that holds a card of ours is known."""
    row = tx.execute(_FIND, {"chat": chat_id}).first()
    return None if row is None else Group(row.name, row.added_by)


def ids(tx: Transaction) -> set[str]:
    """The chat_ids of all groups that we know."""
    return set(tx.execute(select(subscribers.c.receiver).where(subscribers.c.kind == Kind.GROUP)).scalars())


def away(tx: Transaction, reasons: Collection[str]) -> set[str]:
    """The chat_ids of groups with a subscription that is paused for one of these reasons."""
    wanted = (subscribers.c.kind == Kind.GROUP, subscriptions.c.reason.in_(reasons))
    paused = subscriptions.c.status == SubscriptionStatus.PAUSED
    query = select(subscribers.c.receiver).select_from(subscriptions).join(subscribers).where(*wanted, paused)
    return set(tx.execute(query).scalars())


def forget_adder(tx: Transaction, chat_id: str, people: Collection[str]) -> None:
    """Who brought the bot into a group has left it, and decides no more."""
    wanted = (subscribers.c.kind == Kind.GROUP, subscribers.c.receiver == chat_id)
    tx.execute(update(subscribers).where(*wanted, subscribers.c.added_by.in_(people)).values(added_by=None))


def name_of(tx: Transaction, person: str) -> str:
    """What a person is called, "" where nobody told us."""
    wanted = (subscribers.c.kind == Kind.USER, subscribers.c.receiver == person)
    return tx.execute(select(subscribers.c.name).where(*wanted)).scalar() or ""
