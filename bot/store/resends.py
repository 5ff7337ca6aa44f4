"""Whom an edition has missed, and a push of its own for them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import ColumnElement, Select, case, exists, func, literal, select, tuple_, union_all, update

from bot.domain.audience import Density, Kind, Receiver, Selection, SubscriptionStatus
from bot.domain.delivery import OPEN, Lane, Status
from bot.store import outbox, pauses
from bot.store.archive import deliveries_archive
from bot.store.database import hold_still
from bot.store.editions import Edition, card_prefix, push_ids
from bot.store.engine import Transaction
from bot.store.subscribers import BY_ADMIN
from bot.store.tables import cards, deliveries, pushes, subscribers, subscriptions
from bot.store.tables import pauses as pauses_table

PREVIEW = "preview:"  # how the keys of an admin's looks begin: whoever looked has not been served
REPLACED = "由补发代替"
# Why somebody is left out.
HAS_IT, ON_ITS_WAY, UNSUBSCRIBED, PAUSED = "has_it", "on_its_way", "unsubscribed", "paused"
WORKDAYS_ONLY = "workdays_only"


class Only(StrEnum):
    """Whom a resend is for. `to_one`: one receiver who is named, whatever they have."""

    FAILED = "failed"
    UNSENT = "unsent"
    ALL = "all"
    TO_ONE = "to"


@dataclass(frozen=True, slots=True)
class Missed:
    """Receivers by selection, and how many others were left out, by reason."""

    sizes: dict[Selection, int]
    skipped: dict[str, int]


@dataclass(frozen=True, slots=True)
class Wish:
    """Whom a resend is for. `resting`: it went out on a day on which some do not want it."""

    only: Only
    to: Receiver | None = None
    resting: bool = False


def missed(tx: Transaction, edition: Edition, wish: Wish) -> Missed:
    """Who is to get an edition again. Whoever has any part of it, or may have, is left out unless asked for."""
    found = _candidates(edition, wish).subquery()
    columns = (found.c.why, found.c.kind, found.c.sections, found.c.density)
    sizes: dict[Selection, int] = {}
    skipped: dict[str, int] = {}
    for why, kind, sections, density, n in tx.execute(select(*columns, func.count()).group_by(*columns)):
        if why is None:
            sizes[Selection(sections, Density(density), Kind(kind))] = n
        else:
            skipped[why] = skipped.get(why, 0) + n
    return Missed(sizes, skipped)


def stand_still(tx: Transaction) -> None:
    """Nobody comes or leaves before this transaction ends."""
    hold_still(tx, subscriptions)


def plan(
    tx: Transaction,
    edition: Edition,
    push: int,
    wish: Wish,
    selection: Selection,
    card_ids: Sequence[int],
    now: datetime,
    lane: Lane,
) -> int:
    """One row per receiver of a selection and part, in one statement, under keys and uuids of its own."""
    found = _candidates(edition, wish).subquery()
    chosen = (
        select(found.c.id, found.c.kind, found.c.receiver, literal(now, deliveries.c.not_before.type).label("due_at"))
        .where(found.c.why.is_(None), found.c.kind == selection.audience)
        .where(found.c.density == selection.density, found.c.sections == selection.sections)
    )
    return outbox.fan_out(tx, push, chosen, card_ids, now, lane)


def give_up_stopped(tx: Transaction, edition: Edition) -> int:
    """Cancel what waits, never tried, behind a stop of an edition's pushes: a resend takes its place."""
    names = {f"{pauses.PUSH}{one}": one for one in push_ids(tx, edition)}
    stopped = tx.execute(select(pauses_table.c.name).where(pauses_table.c.name.in_(names))).scalars().all()
    waiting = (deliveries.c.status == Status.PENDING, deliveries.c.maybe_sent_at.is_(None))
    done = update(deliveries).where(deliveries.c.push_id.in_([names[one] for one in stopped]), *waiting)
    given_up = tx.execute(done.values(status=Status.CANCELLED, reason=REPLACED)).rowcount
    for name in stopped:
        pauses.lift(tx, name)
    return int(given_up)


def resume_reached(tx: Transaction, push: int, now: datetime) -> int:
    """Let those whom a refusal had paused, and whom a push has reached since, be active again. Returns how many."""
    reached = (
        select(subscribers.c.id)
        .join(deliveries, (deliveries.c.kind == subscribers.c.kind) & (deliveries.c.receiver == subscribers.c.receiver))
        .where(deliveries.c.push_id == push, deliveries.c.status == Status.SENT)
        .where(deliveries.c.sent_at > subscriptions.c.updated_at, subscribers.c.id == subscriptions.c.subscriber_id)
    )
    done = update(subscriptions).where(_is_refused(), exists(reached.correlate(subscriptions)))
    return int(tx.execute(done.values(status=SubscriptionStatus.ACTIVE, reason=None, updated_at=now)).rowcount)


def _candidates(edition: Edition, wish: Wish) -> Select[Any]:
    """Subscriptions that are in question, each with why its subscriber is left out, or NULL."""
    columns = (subscribers.c.id, subscribers.c.kind, subscribers.c.receiver)
    query = (
        select(*columns, subscriptions.c.sections, subscriptions.c.density, _why(edition, wish).label("why"))
        .select_from(subscriptions.join(subscribers))
        .where(subscriptions.c.series == edition.series)
    )
    if wish.only is Only.FAILED:
        return query.where(_is_in(edition, [Status.FAILED]))
    if wish.to is not None:
        return query.where(subscribers.c.kind == wish.to.kind, subscribers.c.receiver == wish.to.id)
    return query


def _why(edition: Edition, wish: Wish) -> ColumnElement[str | None]:
    only = wish.only
    left_out = {
        UNSUBSCRIBED: subscriptions.c.status == SubscriptionStatus.UNSUBSCRIBED,
        ON_ITS_WAY: _is_in(edition, OPEN),
    }
    if only is not Only.TO_ONE:
        is_paused = subscriptions.c.status == SubscriptionStatus.PAUSED
        # A refusal's pause is no reason: the try shows whether the receiver is back.
        left_out[PAUSED] = is_paused & ~_is_refused() if only is Only.FAILED else is_paused
    if only in {Only.FAILED, Only.UNSENT}:
        left_out[HAS_IT] = _is_in(edition, [Status.SENT, Status.UNKNOWN])
    if wish.resting and only is not Only.TO_ONE:
        left_out[WORKDAYS_ONLY] = subscriptions.c.workdays
    if only is Only.UNSENT:
        left_out["failed"] = _is_in(edition, [Status.FAILED])
    return case(*((condition, why) for why, condition in left_out.items()))


def _is_refused() -> ColumnElement[bool]:
    is_own = subscriptions.c.paused_until.is_not(None) | (subscriptions.c.reason == BY_ADMIN)
    return (subscriptions.c.status == SubscriptionStatus.PAUSED) & func.coalesce(~is_own, literal(True))


def _is_in(edition: Edition, statuses: Sequence[Status]) -> ColumnElement[bool]:
    """A delivery of the edition to this subscriber stands so: of a push, or sent by wish."""
    of_edition = select(pushes.c.id).where(pushes.c.edition_id == edition.id)
    prefix = card_prefix(edition)
    its_cards = select(cards.c.id).where(cards.c.key >= prefix, cards.c.key < f"{prefix[:-1]};")  # behind the colon
    so = deliveries.c.status.in_(statuses)
    by_push = select(deliveries.c.kind, deliveries.c.receiver).where(deliveries.c.push_id.in_(of_edition), so)
    by_wish = (
        select(deliveries.c.kind, deliveries.c.receiver)
        .where(deliveries.c.push_id.is_(None), deliveries.c.card_id.in_(its_cards), so)
        .where(~deliveries.c.key.startswith(PREVIEW))
    )
    old = deliveries_archive.c
    put_away = select(old.kind, old.receiver).where(old.push_id.in_(of_edition), old.status.in_(statuses))
    return tuple_(subscribers.c.kind, subscribers.c.receiver).in_(union_all(by_push, by_wish, put_away))
