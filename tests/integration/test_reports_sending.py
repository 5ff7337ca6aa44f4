"""What went wrong in other senders, tried on ours: limits, lost and missing answers.

The numbers are those of our own collection of such reports.
"""

import asyncio

import pytest

from bot.domain.delivery import Status
from bot.sandbox.faults import Fault
from bot.services import manage
from bot.store import ledger, pace
from tests.campaign import stage
from tests.integration.bot_process import bot_process
from tests.integration.conftest import House, make_house, until

pytestmark = pytest.mark.anyio
SLOWLY = "per_second = 40\nper_minute = 2400"


def rows(house: House) -> list[dict]:
    return manage.list_deliveries(house.store, 1000, 0)["deliveries"]


def sent(house: House) -> int:
    return house.store.read_now(ledger.counts).get(Status.SENT, 0)


def pace_s(house: House) -> float:
    """How long the app has to wait."""
    return house.store.read_now(pace.wait_s, pace.APP, house.clock())


@pytest.mark.parametrize(
    ("fault", "least_s", "most_s"),
    [
        (Fault("rate_limited", "send", seconds=7), 6, 7),
        (Fault("code", "send", code=99991400, status=400), 59, 60),
        (Fault("code", "send", code=11232), 59, 60),
        (Fault("server_error", "send", status=429), 59, 60),
    ],
    ids=["header", "old style", "congestion", "gateway"],
)
async def test_report_28_the_wait_of_a_limit_answer_is_honoured_by_the_whole_app(house: House, fault, least_s, most_s):
    """As long as the header says, a minute where there is none; nothing goes out meanwhile."""
    people = house.people(8)
    house.sandbox.faults.add(fault)
    await stage.plan(house)

    async with house.bot():
        await until(lambda: pace_s(house) > 1)
        assert least_s - 1 < pace_s(house) <= most_s
    assert (sent(house), len(house.sandbox.faults.met)) == (0, 1), "the first one alone was tried"
    house.clock.advance(most_s)
    async with house.bot():
        await until(lambda: stage.is_final(house))

    assert stage.verdict(house, people).is_clean
    assert house.sandbox.faults.met == [("send", fault)]


async def test_report_29_one_slow_receiver_of_500_holds_up_nobody(house: House):
    """The platform takes its time for one of them; the other 499 have theirs."""
    people = house.people(500)
    house.sandbox.faults.add(Fault("slow", "send", receiver=people[250].id, seconds=9))
    await stage.plan(house)

    async with house.bot():
        await until(lambda: sent(house) == 499)
        assert house.cards_to(people[250].id) == []
        house.sandbox.clock.advance(9)
        await until(lambda: stage.is_final(house))

    assert stage.verdict(house, people).is_clean


async def test_report_29_a_wait_of_twelve_hours_is_cut_to_one_and_shown(house: House):
    """The operator sees why nothing goes; a restart changes nothing, the clock does."""
    people = house.people(3)
    house.sandbox.faults.add(Fault("rate_limited", "send", seconds=43_000))
    await stage.plan(house)

    async with house.bot():
        await until(lambda: pace_s(house) > 1)
    assert 3_500 < pace_s(house) <= 3_600
    assert {row["reason"] for row in rows(house)} == {"调用太频繁，平台要求等待", None}

    house.clock.advance(3_600)
    async with house.bot():
        await until(lambda: stage.is_final(house))
    assert stage.verdict(house, people).is_clean


async def test_report_31_a_reply_that_is_lost_twice_leaves_one_message(house: House):
    """Every attempt of a delivery says the same uuid."""
    (person,) = house.people(1)
    house.sandbox.faults.add(Fault("drop_reply", "send", times=2))
    await stage.plan(house)

    async with house.bot():
        await until(lambda: stage.is_final(house), passing=house.clock)

    assert len(house.cards_to(person.id)) == 1
    assert [(row["status"], row["attempts"]) for row in rows(house)] == [("sent", 3)]
    assert house.sandbox.world.violations == []


async def test_report_32_a_failure_in_the_middle_repeats_nobody_else(house: House):
    """The eleventh of twenty answers is an error: that one is tried again, nobody else is."""
    people = house.people(20)
    house.sandbox.faults.add(Fault("server_error", "send", after=10))
    await stage.plan(house)

    async with house.bot():
        await until(lambda: stage.is_final(house), passing=house.clock)

    assert stage.verdict(house, people).is_clean
    assert sorted(row["attempts"] for row in rows(house)) == [1] * 19 + [2]


async def test_report_33_a_process_that_dies_after_the_seventh_of_twenty_repeats_nothing(house: House, tmp_path):
    """What was in flight is settled by its uuid; the rest goes on."""
    people = house.people(20)
    await stage.plan(house)
    config = stage.config_of(house, tmp_path, delivery=SLOWLY)

    async with bot_process(config) as process:
        await until(lambda: stage.arrived(house) >= 7)
        process.kill()
        await process.wait()
    assert not stage.is_final(house)
    async with house.bot():
        await until(lambda: stage.is_final(house), passing=house.clock)

    assert stage.verdict(house, people).is_clean


async def test_report_34_a_platform_that_never_answers_is_given_up(tmp_path):
    """Neither a token nor a message is waited for without end, and the same uuid settles what became of it."""

    async def push(name: str, fault: Fault) -> None:
        (tmp_path / name).mkdir()
        async with make_house(tmp_path / name) as house:
            people = house.people(5)
            house.sandbox.faults.add(fault)
            await stage.plan(house)
            async with house.bot():
                await until(lambda: any("没有等到飞书的回答" in (row["reason"] or "") for row in rows(house)))
                house.sandbox.clock.advance(fault.seconds)
                await until(lambda: stage.is_final(house), passing=house.clock)
            found = stage.verdict(house, people)
            assert (found.lost, found.doubled, found.statuses) == (0, 0, {Status.SENT: 5})

    async with asyncio.TaskGroup() as pushes:
        pushes.create_task(push("token", Fault("slow", "token", seconds=3_600, times=2)))  # the greeting asks too
        pushes.create_task(push("send", Fault("slow", "send", seconds=3_600)))
