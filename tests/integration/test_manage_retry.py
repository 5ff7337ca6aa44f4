"""A second try of what failed, on both databases."""

from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import insert, select, update

from bot.domain.audience import Kind, Receiver, Selection, SubscriptionStatus
from bot.domain.delivery import Status
from bot.services import subscriptions
from bot.services.retry import retry
from bot.store import claiming, editions, outbox, pauses, subscribers
from bot.store.retry import Retried, Wanted
from bot.store.subscribers import NewSubscription
from bot.store.tables import deliveries, pushes
from bot.store.tables import subscribers as subscribers_table
from bot.store.tables import subscriptions as subscriptions_table
from tests.builders import make_digest
from tests.integration.conftest import SERIES, on_both

NOW = datetime(2025, 3, 10, tzinfo=UTC)
LATER = NOW + timedelta(hours=1)
USER = Selection(audience=Kind.USER)
NOTHING = Retried(0, 0, 0, {})


def people(count):
    return [Receiver(Kind.USER, f"ou_{number}") for number in range(count)]


def published(store, count, *, parts=1):
    """An edition with one push to so many people, who are all subscribed. Returns the ids of edition and push."""

    def work(tx):
        subscribers.add(tx, [NewSubscription(one, SERIES) for one in people(count)], NOW)
        edition, _ = editions.save(tx, SERIES, make_digest(items=1), "hash", NOW)
        push = editions.start_push(tx, edition, NOW)
        cards = editions.save_cards(tx, edition, USER, ["{}"] * parts, NOW)
        outbox.plan(tx, push, SERIES, USER, cards, NOW)
        return edition.id, push

    return store.write_now(work)


def leave(tx, person, status=SubscriptionStatus.UNSUBSCRIBED):
    """What a reader's own unsubscribing writes, or a pause of their own."""
    ids = select(subscribers_table.c.id).where(subscribers_table.c.receiver == person.id)
    gone = update(subscriptions_table).where(subscriptions_table.c.subscriber_id.in_(ids))
    tx.execute(gone.values(status=status, reason=None))


def pushed_again(store, edition, *, parts=1):
    """A later push of the same edition to everybody."""

    def work(tx):
        again = insert(pushes).values(edition_id=edition, key="again", created_at=LATER)
        push = tx.execute(again.returning(pushes.c.id)).scalar_one()
        cards = [editions.save_card(tx, f"again:{part}", "{}", NOW, part=part) for part in range(1, parts + 1)]
        outbox.plan(tx, push, SERIES, USER, cards, NOW)
        return push

    return store.write_now(work)


def ended(store, *outcomes, push=1, part=1):
    """Write how a push ended for each of its people."""

    def work(tx):
        for one, status in zip(people(len(outcomes)), outcomes, strict=True):
            row = (deliveries.c.push_id == push, deliveries.c.receiver == one.id, deliveries.c.part == part)
            tried = {"status": status, "attempts": 3, "code": 230013, "reason": "no", "maybe_sent_at": NOW}
            tx.execute(update(deliveries).where(*row).values(**tried))

    store.write_now(work)


def rows(store, status):
    query = select(deliveries).where(deliveries.c.status == status).order_by(deliveries.c.id)
    return store.read_now(lambda tx: tx.execute(query).all())


@on_both
def test_what_failed_goes_out_again_as_new(store):
    """New uuid, no attempt made, due now: as if it were the first time. Asked again there is nothing left."""
    published(store, 3)
    ended(store, Status.FAILED, Status.SENT, Status.UNKNOWN)
    (failed,) = rows(store, Status.FAILED)

    dry = retry(store, Wanted(), LATER, "cli", dry_run=True)
    assert rows(store, Status.FAILED) == [failed]
    done = [retry(store, Wanted(), LATER, "cli") for _ in range(2)]

    assert [dry, *done] == [Retried(1, 1, 0, {}), Retried(1, 1, 0, {}), NOTHING]
    (again,) = rows(store, Status.PENDING)
    assert (again.id, again.attempts, again.not_before, again.code, again.maybe_sent_at) == (
        failed.id,
        0,
        LATER,
        None,
        None,
    )
    assert again.uuid != failed.uuid
    assert len(again.uuid) <= 50


@on_both
def test_what_may_have_arrived_goes_again_only_by_its_name(store):
    """Failed ones stay failed meanwhile."""
    published(store, 2)
    ended(store, Status.FAILED, Status.UNKNOWN)

    assert retry(store, Wanted(Status.UNKNOWN), LATER, "cli") == Retried(1, 1, 0, {})
    assert [row.receiver for row in rows(store, Status.PENDING)] == ["ou_1"]


@on_both
def test_nobody_gets_what_they_left(store):
    """Neither who unsubscribed, nor who wants a pause or was paused by an admin; a refusal's pause is tried."""
    published(store, 5)
    ended(store, *[Status.FAILED] * 5)
    gone, paused, refused, _, resting = people(5)
    store.write_now(leave, gone)
    store.write_now(leave, resting, SubscriptionStatus.PAUSED)
    subscriptions.pause(store, paused, None, NOW, "cli")
    store.write_now(subscribers.pause, refused, "用户停用了机器人", NOW)

    assert retry(store, Wanted(), LATER, "cli") == Retried(2, 2, 0, {"unsubscribed": 1, "paused": 2})
    assert [row.receiver for row in rows(store, Status.PENDING)] == ["ou_2", "ou_3"]


@on_both
@pytest.mark.parametrize("later", [Status.SENT, Status.UNKNOWN, Status.FAILED, Status.PENDING])
def test_what_a_later_push_has_taken_over_stays(store, later):
    """However that one ended: it is the one to be asked about."""
    edition, first = published(store, 2)
    ended(store, Status.FAILED, Status.FAILED, push=first)
    second = pushed_again(store, edition)
    ended(store, later, Status.CANCELLED, push=second)

    done = retry(
        store, Wanted(ids=[row.id for row in rows(store, Status.FAILED) if row.push_id == first]), LATER, "cli"
    )

    assert done == Retried(1, 1, 0, {"replaced": 1})
    assert [row.receiver for row in rows(store, Status.PENDING) if row.push_id == first] == ["ou_1"]


@on_both
def test_parts_that_were_cut_off_come_along(store):
    """A refused first part had taken the others with it; of who got theirs nothing comes again."""
    published(store, 2, parts=3)
    ended(store, Status.FAILED, Status.SENT, part=1)
    ended(store, Status.CANCELLED, Status.SENT, part=2)
    store.write_now(outbox.cancel, people(1)[0], "no")
    store.write_now(lambda tx: tx.execute(update(deliveries).where(deliveries.c.part == 2).values(attempts=0)))

    assert retry(store, Wanted(), LATER, "cli") == Retried(3, 1, 0, {})
    assert [(row.receiver, row.part) for row in rows(store, Status.PENDING) if row.not_before == LATER] == [
        ("ou_0", 1),
        ("ou_0", 2),
        ("ou_0", 3),
    ]


@on_both
def test_a_stopped_push_goes_on_when_its_edition_is_asked_for(store):
    """Else its failed ones stay: they would only wait behind the stop."""
    edition, push = published(store, 3)
    ended(store, Status.FAILED)
    store.write_now(pauses.begin, f"{pauses.PUSH}{push}", 230099, "bad card", NOW)

    assert retry(store, Wanted(), LATER, "cli") == Retried(0, 0, 0, {"stopped": 1})
    assert retry(store, Wanted(edition=edition), LATER, "cli") == Retried(1, 1, 2, {})
    assert len(store.write_now(claiming.claim, 10, LATER)) == 1, "the first of a card that nobody has got yet"


@on_both
def test_only_what_is_asked_for_goes(store):
    """By id, whatever else failed; what is not there, or in another state, is said."""
    published(store, 3)
    ended(store, Status.FAILED, Status.FAILED, Status.SENT)
    first, _ = rows(store, Status.FAILED)
    (sent,) = rows(store, Status.SENT)

    done = retry(store, Wanted(ids=[first.id, sent.id, 999]), LATER, "cli")

    assert done == Retried(1, 1, 0, {"other_status": 1, "not_there": 1})
    assert [row.id for row in rows(store, Status.PENDING)] == [first.id]


@on_both
def test_an_answer_to_a_person_goes_again_only_by_its_id(store):
    """A welcome of last week helps nobody."""

    def work(tx):
        card = editions.save_card(tx, "notice:1", "{}", NOW)
        outbox.enqueue(tx, "welcome:ou_0", people(1)[0], card, NOW)
        tx.execute(update(deliveries).values(status=Status.FAILED))

    store.write_now(work)
    (failed,) = rows(store, Status.FAILED)

    assert retry(store, Wanted(), LATER, "cli") == NOTHING
    assert retry(store, Wanted(ids=[failed.id]), LATER, "cli") == Retried(1, 1, 0, {})
