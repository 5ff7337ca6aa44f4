"""What went wrong in other senders, tried on ours: stops, copies, dead receivers.

The numbers are those of our own collection of such reports.
"""

import contextlib
import signal
import sqlite3
from collections import Counter
from typing import Any

import pytest

from bot.app import running
from bot.domain.delivery import Status
from bot.sandbox.faults import Fault
from bot.settings import Settings
from bot.store import editions, ledger, subscribers
from bot.store.engine import Store
from tests.campaign import stage
from tests.campaign.faults import deaf_bot, group
from tests.integration.bot_process import bot_process
from tests.integration.conftest import SERIES, House, house_settings, until
from tests.integration.test_reports_sending import SLOWLY, rows, sent

pytestmark = pytest.mark.anyio
NO_LIMITS = {"per_second": 5000, "per_minute": 200_000}
IN_PROGRESS = 230049


def settings_like(house: House, **tables: Any) -> Settings:
    """The settings of another bot for the same platform."""
    return house_settings(
        house.digests.parent, int(house.settings.feishu.base_url.rpartition(":")[2]), house.bot_port, **tables
    )


async def test_report_36_a_platform_slower_than_every_run_gets_one_message(house: House, tmp_path):
    """Two processes die while the first request is still being worked on, and a third one finds it done."""
    (person,) = house.people(1)
    house.sandbox.faults.add(Fault("slow", "send", seconds=3_600))
    await stage.plan(house)
    config = stage.config_of(house, tmp_path)

    async with bot_process(config):
        await until(lambda: house.sandbox.faults.met != [])
    async with bot_process(config):
        await until(lambda: [row["code"] for row in rows(house)] == [IN_PROGRESS])
    house.sandbox.clock.advance(3_600)
    async with house.bot():
        await until(lambda: stage.is_final(house), passing=house.clock)

    assert len(house.cards_to(person.id)) == 1
    assert house.store.read_now(ledger.counts) == {Status.SENT: 1}


async def test_report_38_a_stop_in_the_middle_is_no_end(house: House, tmp_path):
    """SIGTERM: exit 0, the edition is still being published, and the rest goes out at the next start."""
    people = house.people(200)
    await stage.plan(house)
    config = stage.config_of(house, tmp_path, delivery=SLOWLY)

    async with bot_process(config) as process:
        await until(lambda: stage.arrived(house) >= 40)
        process.send_signal(signal.SIGTERM)
        assert await process.wait() == 0
    left = 200 - sent(house)
    assert left > 0
    assert house.store.read_now(ledger.counts) == {Status.SENT: 200 - left, Status.PENDING: left}
    assert house.store.read_now(editions.find, SERIES, str(stage.FIRST_DAY)).state == "publishing"

    async with house.bot():
        await until(lambda: stage.is_final(house))
    assert stage.verdict(house, people).is_clean
    assert {row["attempts"] for row in rows(house)} == {1}, "what was put back was no attempt"


async def test_report_39_another_rate_in_the_middle_changes_nothing_else(house: House):
    """The plan is rows, not a position: who was promised it gets it."""
    people = house.people(120)
    await stage.plan(house)
    slow = settings_like(house, store={"url": house.settings.store.url}, delivery={"per_second": 30})

    async with running(slow, house.clock):
        await until(lambda: sent(house) >= 30)
    assert not stage.is_final(house)
    async with house.bot():
        await until(lambda: stage.is_final(house))

    assert stage.verdict(house, people).is_clean


async def test_report_40_two_copies_of_a_database_send_one_message_each(house: House, tmp_path):
    """Somebody moved house and left the old bot running: the uuids moved too, and the platform drops the double."""
    people = house.people(30)
    await stage.plan(house)
    original, copy = sqlite3.connect(tmp_path / "bot.db"), sqlite3.connect(tmp_path / "copy.db")
    with contextlib.closing(original), contextlib.closing(copy):
        original.backup(copy)

    async with house.bot():
        await until(lambda: stage.is_final(house))
    url = f"sqlite:///{tmp_path}/copy.db"
    with contextlib.closing(Store(url)) as moved:
        async with running(settings_like(house, store={"url": url}, delivery=NO_LIMITS), house.clock):
            await until(lambda: moved.read_now(ledger.counts) == {Status.SENT: 30})

    assert stage.verdict(house, people).is_clean


async def test_report_41_a_long_digest_needs_no_setting(house: House):
    """Ten times what one card may hold arrives as parts, each in its place."""
    people = house.people(3)
    await stage.plan(house, items=300)

    async with house.bot():
        await until(lambda: stage.is_final(house))

    for person in people:
        contents = [message.content for message in house.cards_to(person.id)]
        assert len(contents) > 2
        assert all(f"{number}/{len(contents)}" in content for number, content in enumerate(contents, 1))
        assert all(len(content.encode()) < 28_000 for content in contents)


async def test_report_42_a_refusal_inside_http_200_is_a_refusal(house: House):
    """The body's code decides."""
    refused, other = house.people(2)
    house.sandbox.faults.add(Fault("code", "send", code=230013, status=200, receiver=refused.id, times=None))
    await stage.plan(house)

    async with house.bot():
        await until(lambda: stage.is_final(house))

    assert Counter((row["status"], row["code"]) for row in rows(house)) == {("failed", 230013): 1, ("sent", 0): 1}
    assert house.store.read_now(subscribers.status, refused, SERIES) == "paused"
    assert len(house.cards_to(other.id)) == 1


async def test_report_80_a_group_without_the_bot_is_asked_once_and_not_every_day(house: House):
    """The first clear answer pauses it; three days cost one call. It comes back with the bot."""
    (reader,) = house.people(1)
    chat = await group(house, "日报群", reader.id)
    house.subscribe(chat)
    world = house.sandbox.world
    world.change(world.chats[chat.id], bots=())

    async with deaf_bot(house):
        for day in range(3):
            await stage.plan(house, day)
            await until(lambda: stage.is_final(house))
    # Refused once, or known to be gone from the platform's list of groups before it was asked.
    ended = Counter(row["status"] for row in rows(house) if row["receiver"] == chat.id)
    assert ended in ({"failed": 1}, {"cancelled": 1}, {})
    assert house.store.read_now(subscribers.status, chat, SERIES) == "paused"

    async with house.bot():
        await house.sandbox.client.add_bot(chat.id, reader.id)
        await until(lambda: house.store.read_now(subscribers.status, chat, SERIES) == "active")


@pytest.mark.parametrize("code", [230002, 230013, 230018, 230029, 230035, 230053, 232009])
async def test_report_82_a_receiver_that_is_gone_is_paused_at_the_first_refusal(house: House, code):
    """One call, its reason kept; what waits for it is cancelled, and nobody else notices."""
    gone, other = house.people(2)
    house.sandbox.faults.add(Fault("code", "send", code=code, receiver=gone.id, times=None))
    await stage.plan(house, items=120)

    async with deaf_bot(house):
        await until(lambda: stage.is_final(house))

    own = [row["status"] for row in rows(house) if row["receiver"] == gone.id]
    assert own == ["failed"] + ["cancelled"] * (len(own) - 1)
    assert len(house.sandbox.faults.met) == 1
    assert house.store.read_now(subscribers.status, gone, SERIES) == "paused"
    assert len(house.cards_to(other.id)) == len(own) > 1
