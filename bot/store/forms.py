"""Lower forms of refused cards: made once, and used for whoever has not got the card yet."""

from datetime import datetime
from uuid import uuid4

from sqlalchemy import select, update

from bot.domain.delivery import Status
from bot.domain.errors import CardError
from bot.domain.ladder import Rung
from bot.store.claiming import Claimed, held
from bot.store.database import insert
from bot.store.engine import Transaction
from bot.store.tables import cards, deliveries


def designed(tx: Transaction, card_id: int) -> str:
    """The JSON text of a card as it was designed, whichever of its forms is asked about."""
    own = select(cards.c.of_card).where(cards.c.id == card_id).scalar_subquery()
    bodies = select(cards.c.body).where(cards.c.id.in_([card_id, own])).order_by(cards.c.rung)
    return str(tx.execute(bodies.limit(1)).scalar_one())


def fall_back(tx: Transaction, claimed: Claimed, rung: Rung, content: str, error: CardError, now: datetime) -> bool:
    """Let a refused delivery go on in another form, with a key of its own: what was refused was another message.

    A card that nobody has got and that is refused for all takes along whoever waits for it. What may have arrived of
    the refused one keeps its form and its key. Returns whether the form is new.
    """
    form, is_new = _save(tx, claimed.card_id, rung, content, now)
    values = {"card_id": form, "code": error.code, "reason": error.reason}
    again = {"status": Status.PENDING, "uuid": uuid4().hex, "not_before": now, "lease_until": None, "attempts": 0}
    tx.execute(update(deliveries).where(held(claimed)).values(**values, **again))
    if error.for_all and not claimed.is_proven:
        waiting = (deliveries.c.card_id == claimed.card_id, deliveries.c.status == Status.PENDING)
        tx.execute(update(deliveries).where(*waiting, deliveries.c.maybe_sent_at.is_(None)).values(card_id=form))
    return is_new


def _save(tx: Transaction, card_id: int, rung: Rung, content: str, now: datetime) -> tuple[int, bool]:
    card = tx.execute(select(cards).where(cards.c.id == card_id)).one()
    key = f"{card.key.partition('#')[0]}#{rung.label}"
    new = insert(tx, cards).values(
        key=key,
        body=content,
        part=card.part,
        parts=card.parts,
        rung=rung,
        of_card=card.of_card or card.id,
        created_at=now,
    )
    is_new = bool(tx.execute(new.on_conflict_do_nothing(index_elements=["key"])).rowcount)
    return int(tx.execute(select(cards.c.id).where(cards.c.key == key)).scalar_one()), is_new
