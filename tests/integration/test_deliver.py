"""Publishing and delivering against the sandbox: every receiver exactly once, whatever goes wrong."""

import json
from datetime import UTC, datetime

import pytest

from bot.domain.delivery import Status
from bot.domain.errors import UsageError
from bot.sandbox.faults import Fault
from bot.services import manage
from bot.store import editions, ledger, outbox, pauses, subscribers
from tests.builders import make_digest
from tests.integration.conftest import SERIES, House, make_house, until

pytestmark = pytest.mark.anyio
DAY = datetime(2025, 3, 10, tzinfo=UTC).date()


async def publish(house: House, items: int = 3, day=DAY) -> str:
    digest = make_digest(items=items, day=day)
    edition = await house.publisher.import_digest(SERIES, digest, f"hash of {day}", datetime.now(UTC), "cli")
    await house.publisher.publish(SERIES, edition.slug, datetime.now(UTC), "cli")
    return edition.slug


def statuses(house: House) -> dict[Status, int]:
    return house.store.read_now(ledger.counts)


def settled(house: House, **wanted: int) -> bool:
    return statuses(house) == {Status(name): n for name, n in wanted.items()}


async def test_each_subscriber_gets_each_part_once_and_in_order(house):
    """One reader, one copy: a long digest arrives as parts 1/n … n/n."""
    people = house.people(5)
    await publish(house, items=120)

    async with house.bot():
        await until(lambda: set(statuses(house)) == {Status.SENT})

    for person in people:
        parts = [message.content for message in house.cards_to(person.id)]
        assert len(parts) > 1
        for number, content in enumerate(parts, 1):
            assert f"{number}/{len(parts)}" in content


async def test_an_answer_does_not_wait_for_a_push_to_end(tmp_path):
    """Nor for its receiver's own copy: a hundred thousand others may come before that."""
    async with make_house(tmp_path, delivery={"per_second": 10, "per_minute": 600}) as house:
        last = house.people(80)[-1]
        await publish(house)
        async with house.bot():
            await until(lambda: statuses(house).get(Status.SENT, 0) > 1)
            house.store.write_now(answer, last, datetime.now(UTC))
            await until(lambda: len(house.cards_to(last.id)) == 1)

            assert "回答" in house.cards_to(last.id)[0].content
            assert statuses(house)[Status.PENDING] > 0


def answer(tx, receiver, now) -> None:
    card = {"schema": "2.0", "body": {"elements": [{"tag": "markdown", "content": "回答"}]}}
    outbox.enqueue(tx, "an answer", receiver, editions.save_notice(tx, json.dumps(card, ensure_ascii=False), now), now)


async def test_publishing_twice_changes_nothing(house):
    """Editors must never fear the send button."""
    house.people(3)
    slug = await publish(house)

    again = await house.publisher.publish(SERIES, slug, datetime.now(UTC), "cli")

    assert (again.receivers, again.parts) == (3, 3)
    assert settled(house, pending=3)


async def test_a_dry_run_plans_and_changes_nothing(house):
    """`--dry-run` tells the size of a push."""
    house.people(4)
    digest = make_digest(items=2, day=DAY)
    edition = await house.publisher.import_digest(SERIES, digest, "h", datetime.now(UTC), "cli")

    plan = await house.publisher.publish(SERIES, edition.slug, datetime.now(UTC), "cli", dry_run=True)

    assert (plan.id, plan.receivers, statuses(house)) == (None, 4, {})


async def test_a_digest_without_a_day_is_not_stored(house):
    """Nothing is published without a day."""
    with pytest.raises(UsageError, match="no day"):
        await house.publisher.import_digest(SERIES, make_digest(items=1, day=None), "h", datetime.now(UTC), "cli")


@pytest.mark.parametrize(
    "fault",
    [
        Fault("drop_reply", "send", times=3),
        Fault("reset", "send", times=3),
        Fault("revoke_token", "send", times=1),
    ],
    ids=lambda fault: fault.kind,
)
async def test_lost_replies_and_lost_requests_double_nothing(house, fault):
    """The uuid is stored before the call and the same on every attempt, so the platform drops the copy."""
    people = house.people(10)
    house.sandbox.faults.add(fault)
    await publish(house)

    async with house.bot():
        await until(lambda: settled(house, sent=10), passing=house.clock)

    assert [len(house.cards_to(person.id)) for person in people] == [1] * 10
    assert house.sandbox.world.violations == []


async def test_a_receiver_that_cannot_be_written_to_is_paused_with_the_reason(house):
    """Its subscription says why, in Chinese; the others get their copy."""
    gone, *others = house.people(3)
    await house.sandbox.client.set_available(gone.id, available=False)
    await publish(house)

    async with house.bot():
        await until(lambda: settled(house, sent=2, failed=1))

    assert house.store.read_now(subscribers.status, gone, SERIES) == "paused"
    row = next(r for r in manage.list_subscriptions(house.store, None, 50, 0)["subscribers"] if r["id"] == gone.id)
    assert row["reason"] == "对方不在应用可用范围内"
    assert [len(house.cards_to(person.id)) for person in others] == [1, 1]


async def test_a_card_that_is_refused_in_every_form_stops_the_push(house):
    """What is bad for everybody is tried on one of them: the rest is not burnt on it."""
    house.people(40)
    house.sandbox.faults.add(Fault("code", "send", code=230099, times=None))
    await publish(house)

    async with house.bot():
        await until(lambda: settled(house, failed=1, pending=39))
        house.sandbox.faults.clear()

    assert len(house.sandbox.faults.met) == 4
    assert settled(house, failed=1, pending=39)


async def test_one_slow_receiver_holds_up_nobody_even_as_the_first(house):
    """A card goes to one receiver first; if that one has to wait, the next one proves it."""
    people = house.people(10)
    house.sandbox.faults.add(Fault("code", "send", code=230020, receiver=people[0].id, times=None))
    await publish(house)

    async with house.bot():
        await until(lambda: settled(house, sent=9, pending=1))


async def test_a_slow_receiver_holds_up_no_later_part_either(house):
    """Its second part waits behind its first; the others prove the second card among themselves."""
    people = house.people(6)
    house.sandbox.faults.add(Fault("code", "send", code=230020, receiver=people[0].id, times=None))
    await publish(house, items=120)
    planned = sum(statuses(house).values())
    parts = planned // 6
    assert parts > 1

    async with house.bot():
        await until(lambda: settled(house, sent=planned - parts, pending=parts))


async def test_a_fault_of_the_app_pauses_the_queue_and_a_restart_goes_on(house):
    """Rows stay pending while a human mends the cause; nothing counts as failed."""
    people = house.people(5)
    house.sandbox.faults.add(Fault("code", "send", code=99991672, times=None))
    await publish(house)
    async with house.bot():
        await until(lambda: house.store.read_now(pauses.of_queue, datetime.now(UTC)) is not None)
        await until(lambda: settled(house, pending=5))

    house.sandbox.faults.clear()
    async with house.bot():
        await until(lambda: settled(house, sent=5))

    assert [len(house.cards_to(person.id)) for person in people] == [1] * 5


async def test_a_limit_answer_holds_everybody_for_as_long_as_it_says(house):
    """No request goes out in the time that the platform asked for."""
    house.people(5)
    house.sandbox.faults.add(Fault("rate_limited", "send", seconds=1, times=1))
    await publish(house)

    async with house.bot():
        await until(lambda: settled(house, sent=5))

    refused = [fault for _, fault in house.sandbox.faults.met]
    assert len(refused) == 1, "one answer was enough"


async def test_the_bodies_that_arrive_are_no_larger_than_the_cards_say(house):
    """Budgets are about the final request body, envelope included."""
    from bot.cards.digest_card import digest_cards
    from bot.cards.templates import CardTemplates
    from bot.feishu.client import message_body

    cards = digest_cards(CardTemplates(), make_digest(items=60, day=DAY), *_preview(), edition=None)

    for card in cards:
        assert len(message_body("ou_" + "0" * 32, card.body, "f" * 50)) <= card.bytes <= 28_000


async def test_the_edition_is_published_once_nothing_is_open(house):
    """`publishing` while messages are on their way, `published` afterwards."""
    house.people(2)
    slug = await publish(house)
    assert house.store.read_now(editions.find, SERIES, slug).state == "publishing"

    async with house.bot():
        await until(lambda: house.store.read_now(editions.find, SERIES, slug).state == "published")


async def test_pacing_stays_under_the_platforms_limits(tmp_path):
    """Limits on, on both sides: a burst of sends and not one limit answer."""
    async with make_house(tmp_path, limits=True, delivery={}) as house:
        house.people(70)
        await publish(house)

        async with house.bot():
            await until(lambda: settled(house, sent=70))

        assert house.sandbox.limits.answers == []


def _preview():
    from bot.domain.audience import Selection
    from bot.services.publish import PREVIEW

    return PREVIEW, Selection()
