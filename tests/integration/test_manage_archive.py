"""Putting old deliveries away, on both databases."""

from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import func, select, update

from bot.domain.audience import Kind, Receiver
from bot.domain.delivery import Status
from bot.services.archiving import put_away
from bot.store import archive, editions, outbox
from bot.store.archive import deliveries_archive
from bot.store.tables import cards, deliveries
from tests.integration.conftest import on_both

pytestmark = pytest.mark.anyio

NOW = datetime(2025, 3, 10, tzinfo=UTC)
OLD = NOW - timedelta(days=40)
PERSON = Receiver(Kind.USER, "ou_1")


@pytest.fixture
def ledger(store):
    """A store that can tell a delivery: `add(key, at, status)`; every one has the card of its day."""
    store.write_now(lambda tx: deliveries_archive.create(tx, checkfirst=True))

    def add(key, at, status=Status.SENT, card=None):
        def work(tx):
            body = editions.save_card(tx, card or f"card:{at}", "{}", at)
            outbox.enqueue(tx, key, PERSON, body, at)
            tx.execute(update(deliveries).where(deliveries.c.key == key).values(status=status, message_id=f"om_{key}"))

        store.write_now(work)

    store.add = add
    return store


def keys(store, table):
    return store.read_now(lambda tx: list(tx.execute(select(table.c.key).order_by(table.c.id)).scalars()))


@on_both
async def test_what_is_old_and_final_is_put_away(ledger):
    """With what reports ask for; a second time there is nothing to do."""
    ledger.add("old", OLD)
    ledger.add("failed", OLD, Status.FAILED)
    ledger.add("waiting", OLD, Status.PENDING)
    ledger.add("new", NOW - timedelta(days=29))

    assert await put_away(ledger, NOW) == (2, 0), "the waiting one still needs the card"
    assert await put_away(ledger, NOW) == (0, 0)

    assert (keys(ledger, deliveries), keys(ledger, deliveries_archive)) == (["waiting", "new"], ["old", "failed"])
    kept = ledger.read_now(lambda tx: tx.execute(select(deliveries_archive)).first())
    assert (kept.receiver, kept.status, kept.message_id, kept.rung, kept.created_at) == (
        "ou_1",
        "sent",
        "om_old",
        0,
        OLD,
    )


@on_both
async def test_batches_are_bounded(ledger):
    """Each is a short unit of work."""
    for number in range(5):
        ledger.add(f"old{number}", OLD)
    ledger.add("new", NOW)

    moved = [ledger.write_now(archive.archive, NOW, limit=2) for _ in range(4)]

    assert moved == [2, 2, 1, 0]


@on_both
async def test_an_id_is_given_once(ledger):
    """Also after a quiet month: else the next one could not be put away one day."""
    ledger.add("first", OLD)
    ledger.add("second", OLD)

    await put_away(ledger, NOW)
    ledger.add("third", NOW)

    everything = [
        *ledger.read_now(lambda tx: tx.execute(select(deliveries.c.id)).scalars().all()),
        *ledger.read_now(lambda tx: tx.execute(select(deliveries_archive.c.id)).scalars().all()),
    ]
    assert (len(everything), len(set(everything))) == (3, 3)


@on_both
async def test_cards_that_nothing_refers_to_go(ledger):
    """Not those in use, not young ones, and not one whose lower form is still in use."""
    ledger.add("a", OLD, card="unused")
    ledger.add("b", OLD, Status.PENDING, card="refused")
    ledger.add("c", OLD, Status.PENDING, card="waiting")
    ledger.write_now(editions.save_card, "young", "{}", NOW)

    def refuse(tx):
        refused, form = (
            tx.execute(select(cards.c.id).where(cards.c.key == key)).scalar_one() for key in ("refused", "young")
        )
        tx.execute(update(deliveries).where(deliveries.c.key == "b").values(card_id=form))
        tx.execute(update(cards).where(cards.c.id == form).values(of_card=refused))

    ledger.write_now(refuse)
    ledger.add("d", NOW, card="newest")

    assert await put_away(ledger, NOW) == (1, 1)
    assert set(keys(ledger, cards)) == {"refused", "waiting", "young", "newest"}


@on_both
async def test_a_card_that_is_needed_again_meanwhile_stays(ledger):
    """Between the look and the deletion somebody may have got it."""
    ledger.add("old", OLD, card="welcome")
    ledger.add("new", NOW, card="newest")
    ledger.write_now(archive.archive, NOW)
    (unused,) = ledger.read_now(archive.unused_cards, NOW)
    ledger.add("again", NOW, card="welcome")

    assert not ledger.write_now(archive.forget_card, unused)
    assert ledger.read_now(lambda tx: tx.execute(select(func.count()).select_from(cards)).scalar_one()) == 2
