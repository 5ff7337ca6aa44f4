"""Private copies by the batch call: few calls, everybody once, and no second call in doubt."""

import json
from datetime import UTC, datetime

import pytest

from bot.domain.audience import Kind, Receiver
from bot.domain.delivery import Status
from bot.sandbox.faults import Fault
from bot.services import manage
from bot.store import batches, quota, subscribers
from tests.integration.conftest import SERIES, House, make_house, until
from tests.integration.test_deliver import publish, settled, statuses

pytestmark = pytest.mark.anyio


def handed_out(house: House) -> None:
    """The platform works through a batch in its own time."""
    house.sandbox.clock.advance(60)


def counts(house: House, people: list[Receiver]) -> list[int]:
    return [len(house.cards_to(one.id)) for one in people]


def ledger_rows(house: House) -> list[dict]:
    return manage.list_deliveries(house.store, 500, 0)["deliveries"]


async def test_hundreds_of_people_need_a_few_calls(tmp_path):
    """Everybody gets the card once, with links where buttons would act; groups still go one by one."""
    async with make_house(tmp_path, delivery={"personal": "batch"}) as house:
        people = house.people(230)
        await publish(house)

        async with house.bot():
            await until(lambda: settled(house, sent=230))
        handed_out(house)
        await until(lambda: counts(house, people) == [1] * 230)

        made = house.store.read_now(quota.by_kind, datetime.now(UTC))
        assert made["batch"] == 2
        assert "send" not in made
        assert {row["message_id"][:3] for row in ledger_rows(house)} == {"bm-"}
        card = json.loads(house.cards_to(people[0].id)[0].content)
        assert "callback" not in json.dumps(card)
        assert house.sandbox.world.violations == []


async def test_a_lost_answer_is_told_and_never_repeated(tmp_path):
    """There is no key that would make a second call harmless: a human decides."""
    async with make_house(tmp_path, delivery={"personal": "batch"}) as house:
        people = house.people(5)
        house.sandbox.faults.add(Fault("drop_reply", "batch_send", times=1))
        await publish(house)

        async with house.bot():
            await until(lambda: settled(house, unknown=5))
        handed_out(house)
        await until(lambda: counts(house, people) == [1] * 5)

        assert len(house.sandbox.faults.met) == 1


async def test_a_call_that_was_turned_away_is_made_again(tmp_path):
    """A busy gateway costs only time: nobody was reached, so nothing is in doubt."""
    async with make_house(tmp_path, delivery={"personal": "batch"}) as house:
        people = house.people(5)
        house.sandbox.faults.add(Fault("rate_limited", "batch_send", seconds=1, times=1))
        await publish(house)

        async with house.bot():
            await until(lambda: settled(house, sent=5), passing=house.clock)
        handed_out(house)
        await until(lambda: counts(house, people) == [1] * 5)

        assert len(house.sandbox.faults.met) == 1


async def test_an_id_that_the_platform_does_not_know_is_paused_and_the_others_served(tmp_path):
    """A batch names the ids that it will not write to."""
    async with make_house(tmp_path, delivery={"personal": "batch"}) as house:
        people = house.people(3)
        stranger = Receiver(Kind.USER, "ou_" + "0" * 32)
        house.subscribe(stranger)
        await publish(house)

        async with house.bot():
            await until(lambda: settled(house, sent=3, failed=1))
        handed_out(house)
        await until(lambda: counts(house, people) == [1] * 3)

        assert house.store.read_now(subscribers.status, stranger, SERIES) == "paused"


async def test_a_refused_batch_falls_back_like_a_card(tmp_path):
    """The ladder is the same: what is refused reaches nobody, and everybody gets the next form."""
    async with make_house(tmp_path, delivery={"personal": "batch"}) as house:
        people = house.people(4)
        house.sandbox.faults.add(Fault("code", "batch_send", code=11246, status=200, times=1))
        await publish(house)

        async with house.bot():
            await until(lambda: settled(house, sent=4))
        handed_out(house)
        await until(lambda: counts(house, people) == [1] * 4)

        assert {row["form"] for row in ledger_rows(house)} == {"light"}


async def test_auto_saves_calls_when_the_month_would_not_do_and_says_so(tmp_path):
    """Admins are told once; below the cap everything stays as it was."""
    admin = "ou_admin"
    options = {"admin": {"open_ids": [admin]}, "delivery": {"personal": "auto", "monthly_calls": 20}}
    async with make_house(tmp_path, **options) as house:
        house.sandbox.client.add_user("管理员", open_id=admin)
        people = house.people(30)
        await publish(house)

        async with house.bot():
            await until(lambda: any("私聊改为批量发送" in one.content for one in house.cards_to(admin)))
            await until(lambda: statuses(house).get(Status.SENT, 0) >= 31 and Status.PENDING not in statuses(house))
        handed_out(house)
        await until(lambda: counts(house, people) == [1] * 30)

        lanes = [row["message_id"][:3] for row in ledger_rows(house) if row["receiver"] != admin]
        assert lanes == ["bm-"] * 30
        assert len([one for one in house.cards_to(admin) if "私聊改为批量发送" in one.content]) == 1


async def test_how_far_a_batch_is_is_asked_and_written_down(tmp_path):
    """Whoever cannot be reached is known as a number only."""
    async with make_house(tmp_path, delivery={"personal": "batch"}) as house:
        people = house.people(3)
        await house.sandbox.client.stop_messages(people[0].id)
        await publish(house)

        async with house.bot():
            await until(lambda: settled(house, sent=3))
            handed_out(house)
            await until(lambda: counts(house, people)[1:] == [1, 1])
            push = ledger_rows(house)[0]["push"]
            await until(lambda: house.store.read_now(batches.reach, push) == (3, 2), passing=house.clock)
