"""Sending again: only to whom an edition has missed, however often and by whomever it is asked for."""

from datetime import datetime

import pytest

from bot.cards.actions import Missed, Resend
from bot.domain.audience import Kind, Receiver, SubscriptionStatus
from bot.domain.commands import Command, Order
from bot.domain.delivery import Status
from bot.domain.errors import UsageError
from bot.parts import all_series
from bot.sandbox.faults import Fault
from bot.services.resend import Again
from bot.store import editions, ledger, pauses, preferences, subscribers
from bot.store.engine import Transaction
from bot.store.resends import Only
from tests.integration.conftest import SERIES, make_house, on_both
from tests.integration.office import ADMIN, ADMINS, make_office

pytestmark = pytest.mark.anyio


@pytest.fixture
async def office(tmp_path, store_url):
    async with make_house(tmp_path, store={"url": store_url}, **ADMINS) as house, make_office(house) as made:
        yield made


def copies(office, people) -> list[int]:
    return [len(office.cards_to(one.id)) for one in people]


def leave(tx: Transaction, person: Receiver, now: datetime) -> None:
    """What a reader does who wants no more."""
    present = preferences.present(tx, person, SERIES)
    assert present is not None
    preferences.put(tx, person, SERIES, present, SubscriptionStatus.UNSUBSCRIBED, present.preference, now)


@on_both
async def test_the_failed_get_it_once_and_are_active_again(office):
    """One has stopped the bot and come back, one is still away, one has left: who has it gets nothing."""
    house, world = office.house, office.house.sandbox.client
    people = house.people(5)
    for one in people[:3]:
        await world.stop_messages(one.id)
    name = await office.publish()
    async with office.at_work():
        await office.quiet()
        assert copies(office, people) == [0, 0, 0, 1, 1]
        await world.stop_messages(people[0].id, stopped=False)
        await world.stop_messages(people[2].id, stopped=False)
        house.store.write_now(leave, people[2], office.now)

        push = office.resend(name, Only.FAILED)
        assert (push.receivers, push.skipped) == (2, {"unsubscribed": 1})
        assert office.resend(name, Only.FAILED).receivers == 0  # they are on their way
        await office.quiet()
        await office.desk.tick(office.now)

    assert copies(office, people) == [1, 0, 0, 1, 1]
    assert house.store.read_now(subscribers.status, people[0], SERIES) == "active"
    assert house.store.read_now(subscribers.status, people[1], SERIES) == "paused"


@on_both
async def test_the_unsent_are_those_who_came_since_and_those_behind_a_stop(office):
    """What waits behind a stopped push is given up for the new one."""
    house = office.house
    people = house.people(3)
    name = await office.publish()
    edition = house.store.read_now(editions.find, *name)
    push = house.store.read_now(editions.push_id, edition)
    house.store.write_now(pauses.begin, f"{pauses.PUSH}{push}", 230028, "没过审核", office.now)
    people += house.people(1)

    again = office.resend(name, Only.UNSENT)
    async with office.at_work():
        await office.quiet()

    assert again.receivers == 4
    assert copies(office, people) == [1, 1, 1, 1]
    assert house.store.read_now(ledger.counts, push) == {Status.CANCELLED: 3}


async def test_a_button_that_is_pressed_often_is_one_push(office):
    """Two admins, three presses: the answers are the same."""
    house = office.house
    people = house.people(2)
    house.sandbox.faults.add(Fault("code", "send", code=230013, times=1))
    name = await office.publish()
    edition = house.store.read_now(editions.find, *name)
    async with office.at_work():
        await office.quiet()
        push = house.store.read_now(editions.push_id, edition)
        action = Resend("/".join(name), push, Missed.FAILED)
        answers = [
            house.store.write_now(office.desk.resender.pressed, action, admin, office.now)
            for admin in (ADMIN, ADMIN, "ou_other")
        ]
        await office.quiet()

    assert {one.toast for one in answers} == {"正在补发给 1 个，发完有回执"}
    assert len(house.store.read_now(editions.push_ids, edition)) == 2
    assert copies(office, people) == [1, 1]


async def test_everybody_and_one_who_is_named(office):
    """`all` reaches those who have it too; a name reaches one person, subscriber or not, but nobody who left."""
    house = office.house
    people = house.people(3)
    name = await office.publish()
    async with office.at_work():
        await office.quiet()
        assert office.resend(name, Only.ALL).receivers == 3
        await office.quiet()
        assert office.resend(name, Only.TO_ONE, to=people[0]).receivers == 1
        assert office.resend(name, Only.TO_ONE, to=Receiver(Kind.USER, ADMIN)).receivers == 1
        await office.quiet()
    house.store.write_now(leave, people[1], office.now)

    with pytest.raises(UsageError, match="left"):
        office.resend(name, Only.TO_ONE, to=people[1])
    assert copies(office, people) == [3, 2, 2]
    assert len([one for one in office.cards_to(ADMIN) if "流水线" in one.content]) == 1


async def test_a_dry_run_changes_nothing(office):
    """It tells the same numbers."""
    house = office.house
    house.people(2)
    name = await office.publish()
    before = house.store.read_now(ledger.counts)
    house.people(2)

    would = office.desk.resender.would_resend(house.store, name, Again(Only.UNSENT), office.now)

    assert (would.id, would.receivers, would.skipped) == (None, 2, {"on_its_way": 2})
    assert house.store.read_now(ledger.counts) == before


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        ("3月10日", "正在补发给 1 个"),
        ("2025-03-10 没收到", "正在补发给 1 个"),
        ("3月10日 失败", "没有要补发的人"),
        ("3月9日", "没有发过"),
        ("全部", "没有看懂"),
    ],
)
async def test_words_in_a_chat_do_the_same(office, said, answer):
    """「补发 3月10日」 and its answers."""
    house = office.house
    house.people(1)
    await office.publish()
    house.people(1)
    order = Order(Command.RESEND, all_series(house.settings)[0], said)
    now = office.now.replace(year=2025, month=3, day=12)

    assert answer in house.store.write_now(office.desk.resender.asked, order, ADMIN, now)
