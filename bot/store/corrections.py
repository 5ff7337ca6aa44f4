"""Which messages of an edition stand where, and changes of all of them at once."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import uuid4

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Row,
    Text,
    and_,
    case,
    cast,
    exists,
    func,
    literal,
    null,
    or_,
    select,
    update,
)

from bot.domain.audience import Density, Kind, Selection
from bot.domain.delivery import OPEN, Lane, Status
from bot.domain.ladder import Rung
from bot.store.changes import REPLACED, ChangeKind
from bot.store.database import insert
from bot.store.editions import Edition, card_prefix
from bot.store.editor_tables import changes
from bot.store.engine import Transaction
from bot.store.outbox import PENDING, SENDING
from bot.store.tables import cards, deliveries, pushes, subscriptions

AT_ONCE = 500  # ids in one statement
MERGED = "已并入前面的卡片"
TAKEN_BACK = "这一期已撤回"


@dataclass(frozen=True, slots=True)
class Standing:
    """Deliveries that carry one card and stand alike. `is_old`: sent before a given time; `begun`: it may be out."""

    card: "Shown"
    status: Status
    kind: Kind
    lane: Lane
    is_old: bool
    begun: bool
    number: int


@dataclass(frozen=True, slots=True)
class Shown:
    """A card of an edition as it was sent."""

    id: int
    revision: int
    selection: Selection
    part: int
    parts: int
    rung: Rung
    body: str


def standings(tx: Transaction, edition: Edition, since: datetime) -> list[Standing]:
    """Everything that was planned of an edition, counted by card and state."""
    is_old = case((deliveries.c.sent_at < since, 1), else_=0)
    begun = case((deliveries.c.maybe_sent_at.is_not(None), 1), else_=0)
    columns = (_carries().label("card_id"), deliveries.c.status, deliveries.c.kind, deliveries.c.lane)
    query = select(*columns, is_old.label("old"), begun.label("begun"), func.count().label("n"))
    query = query.where(_of(edition)).group_by(*columns, is_old, begun)
    rows = tx.execute(query).all()
    known = _sections(tx, edition)
    wanted = select(cards).where(cards.c.id.in_({row.card_id for row in rows}))
    shown = {row.id: _shown(row, known) for row in tx.execute(wanted)}
    return [
        Standing(
            shown[row.card_id],
            Status(row.status),
            Kind(row.kind),
            Lane(row.lane),
            bool(row.old),
            bool(row.begun),
            row.n,
        )
        for row in rows
    ]


def patch(tx: Transaction, edition: Edition, purpose: str, old: int, new: int, since: datetime, now: datetime) -> int:
    """Plan that whatever shows an old card shows a new one, as far as it can be changed. Returns how many."""
    may_be = (_of(edition), _carries() == old, can_change(since))
    ids = tx.execute(select(deliveries.c.id).where(*may_be)).scalars().all()
    for at in range(0, len(ids), AT_ONCE):
        chosen = deliveries.c.id.in_(ids[at : at + AT_ONCE])
        _replace(tx, chosen)
        key = f"correct:{new}:" + cast(deliveries.c.id, Text)
        kind = literal(ChangeKind.PATCH.value)
        _add(tx, select(key, literal(purpose), kind, deliveries.c.id, literal(new), *_planned(now)).where(chosen))
    return len(ids)


def turn(tx: Transaction, edition: Edition, old: int, new: int | None) -> int:
    """Let what waits and was never tried carry another card; without one it is not sent. Returns how many."""
    waiting = (_of(edition), deliveries.c.card_id == old, waits())
    values = {"card_id": new} if new is not None else {"status": Status.CANCELLED, "reason": MERGED}
    return int(tx.execute(update(deliveries).where(*waiting).values(values)).rowcount)


def follow(
    tx: Transaction, edition: Edition, last: int, new: Sequence[int], which: ColumnElement[bool], now: datetime
) -> int:
    """Plan further parts for those who have, or get, the card that was the last one. Returns how many messages.

    `which` of them: `waits` or `can_change`.
    """
    part = cast(cards.c.part, Text)
    stem = func.substr(deliveries.c.key, 1, func.length(deliveries.c.key) - func.length(cast(deliveries.c.part, Text)))
    batch = uuid4().hex[:20]
    rows = (
        select(
            stem + part,
            f"{batch}-" + cast(deliveries.c.id, Text) + "-" + part,
            deliveries.c.push_id,
            cards.c.id,
            deliveries.c.kind,
            deliveries.c.receiver,
            cards.c.part,
            deliveries.c.lane,
            literal(Status.PENDING.value),
            case(
                (deliveries.c.status == Status.PENDING, deliveries.c.not_before),
                else_=literal(now, deliveries.c.not_before.type),
            ),
            literal(now, deliveries.c.created_at.type),
        )
        .select_from(deliveries.join(cards, cards.c.id.in_(new)))
        .where(_of(edition), _carries() == last, which)
        .order_by(deliveries.c.id, cards.c.part)
    )
    first = ("key", "uuid", "push_id", "card_id", "kind", "receiver", "part")
    names = [*first, "lane", "status", "not_before", "created_at"]
    made = insert(tx, deliveries).from_select(names, rows).on_conflict_do_nothing(index_elements=["key"])
    return int(tx.execute(made).rowcount)


def take_back(tx: Transaction, edition: Edition, purpose: str, now: datetime) -> None:
    """Plan that whatever can be deleted is deleted: message by message, and batch by batch. What waits is cancelled."""
    cancelled = {"status": Status.CANCELLED, "reason": TAKEN_BACK}
    tx.execute(update(deliveries).where(_of(edition), waits()).values(cancelled))
    asked = _has_open(changes.c.kind != ChangeKind.PATCH)
    there = and_(_of(edition), deliveries.c.kind != Kind.WEBHOOK, deliveries.c.status.in_([*OPEN, Status.SENT]), ~asked)
    _replace(tx, there)
    for kind, lane in ((ChangeKind.RECALL, Lane.SINGLE), (ChangeKind.RECALL_BATCH, Lane.BATCH)):
        target = deliveries.c.id if lane is Lane.SINGLE else func.min(deliveries.c.id)
        rows = select(
            f"{purpose}:" + cast(target, Text),
            literal(purpose),
            literal(kind.value),
            target,
            cast(null(), BigInteger),
            *_planned(now),
        ).where(there, deliveries.c.lane == lane)
        _add(tx, rows if lane is Lane.SINGLE else rows.group_by(deliveries.c.message_id))


def can_change(since: datetime) -> ColumnElement[bool]:
    """A card in a chat of its own, young enough, or one that is just on its way there."""
    one = deliveries.c
    is_there = and_(one.status == Status.SENT, one.sent_at >= since)
    on_its_way = or_(one.status == Status.SENDING, and_(one.status == Status.PENDING, one.maybe_sent_at.is_not(None)))
    stays = ~_has_open(changes.c.kind != ChangeKind.PATCH)
    return and_(one.lane == Lane.SINGLE, one.kind != Kind.WEBHOOK, or_(is_there, on_its_way), stays)


def waits() -> ColumnElement[bool]:
    """What was never tried."""
    return and_(deliveries.c.status == Status.PENDING, deliveries.c.maybe_sent_at.is_(None))


def _has_open(which: ColumnElement[bool]) -> ColumnElement[bool]:
    is_open = changes.c.status.in_([PENDING, SENDING])
    return exists().where(changes.c.delivery_id == deliveries.c.id, is_open, which)


def _carries() -> ColumnElement[int]:
    """The card that a delivery shows, or will show once the change that is planned for it is made."""
    planned = (changes.c.delivery_id == deliveries.c.id, changes.c.status.in_([PENDING, SENDING]))
    to_come = select(func.max(changes.c.card_id)).where(*planned).scalar_subquery()
    return func.coalesce(to_come, deliveries.c.card_id)


def _replace(tx: Transaction, of: ColumnElement[bool]) -> None:
    """Changes that have not begun give way to later ones."""
    ids = select(deliveries.c.id).where(of)
    older = (changes.c.delivery_id.in_(ids), changes.c.status.in_([PENDING, SENDING]), changes.c.status == PENDING)
    tx.execute(update(changes).where(*older).values(status=Status.CANCELLED, reason=REPLACED))


def _planned(now: datetime) -> tuple[Any, ...]:
    at = literal(now, changes.c.created_at.type)
    return literal(Status.PENDING.value), at, at


def _add(tx: Transaction, rows: Any) -> int:
    names = ["key", "purpose", "kind", "delivery_id", "card_id", "status", "not_before", "created_at"]
    new = insert(tx, changes).from_select(names, rows).on_conflict_do_nothing(index_elements=["key"])
    return int(tx.execute(new).rowcount)


def _of(edition: Edition) -> ColumnElement[bool]:
    """Deliveries of an edition's pushes, and of its cards by wish."""
    ours = select(pushes.c.id).where(pushes.c.edition_id == edition.id)
    prefix = card_prefix(edition)
    its_cards = select(cards.c.id).where(cards.c.key >= prefix, cards.c.key < f"{prefix[:-1]};")  # behind the colon
    return or_(
        deliveries.c.push_id.in_(ours), and_(deliveries.c.push_id.is_(None), deliveries.c.card_id.in_(its_cards))
    )


def _sections(tx: Transaction, edition: Edition) -> dict[str, frozenset[str]]:
    """Section names by what stands for them in keys, for cards that do not say theirs."""
    query = select(subscriptions.c.sections).where(subscriptions.c.series == edition.series).distinct()
    return {_chosen(Selection(one).key): one for one in tx.execute(query).scalars()}


def _chosen(selection_key: str) -> str:
    return selection_key.split(":")[2]


def _shown(row: Row[Any], known: dict[str, frozenset[str]]) -> Shown:
    """The key of a card says of what it is made: `edition:ID:REVISION:AUDIENCE:DENSITY:SECTIONS[:links]:PART`."""
    words = row.key.split(":")
    sections = known.get(words[5], frozenset()) if row.sections is None else row.sections
    selection = Selection(sections, Density(words[4]), Kind(words[3]), calls_back=words[6] != "links")
    return Shown(row.id, int(words[2]), selection, row.part, row.parts, Rung(row.rung), row.body)
