"""From a file in a folder to the chat, by the clock."""

import asyncio
import json
import logging
from datetime import UTC, date, datetime, timedelta

import pytest

from bot.app import Role, running
from bot.domain.delivery import Status
from bot.log import JsonLines
from bot.parts import all_series
from bot.sandbox.app import Sandbox, SandboxSettings
from bot.services import status as service
from bot.store import ledger
from tests.docx_builder import heading, lines, run, text
from tests.integration.conftest import House, make_house, on_postgres, until

pytestmark = pytest.mark.anyio

TEXT = """灯塔日报（{day}学术篇）

学习

流水线气泡该怎么填

多机训练时，前一级还没算完，后一级只能等着，这段空转就叫气泡。

https://read.example.com/p/1
"""


def lay_out(house: House, day: date, name: str = "today.txt") -> None:
    text = TEXT.replace("{day}", f"{day.month}月{day.day}日")
    (house.digests / name).write_text(text, encoding="utf-8")


async def test_a_restart_inside_the_window_catches_up_and_a_second_run_changes_nothing(house):
    """The window is open since a moment: the digest goes out at the start, and only once."""
    (person,) = house.people(1)
    lay_out(house, datetime.now(UTC).date())

    async with house.bot():
        await until(lambda: len(house.cards_to(person.id)) == 1)
    async with house.bot():
        assert await house.publisher.publish_due(datetime.now(UTC)) == []

    assert house.store.read_now(ledger.counts) == {Status.SENT: 1}


async def test_outside_the_window_nothing_goes_by_itself(house):
    """Yesterday's missed digest needs a human."""
    house.people(1)
    lay_out(house, datetime.now(UTC).date())

    assert await house.publisher.publish_due(datetime.now(UTC) + timedelta(hours=13)) == []
    assert house.store.read_now(ledger.counts) == {}


async def test_a_late_digest_is_taken_when_it_comes(house):
    """`status` says late meanwhile."""
    house.people(1)
    now = datetime.now(UTC) + timedelta(minutes=5)
    assert await house.publisher.publish_due(now) == []
    assert service.status(house.store, all_series(house.settings), 0, now)["series"][0]["late"]

    lay_out(house, now.date())

    assert [push.receivers for push in await house.publisher.publish_due(now)] == [1]
    assert not service.status(house.store, all_series(house.settings), 0, now)["series"][0]["late"]


async def test_a_bad_file_is_told_once_and_holds_nobody_up(house, caplog):
    """The good one beside it goes out."""
    house.people(1)
    (house.digests / "bad.txt").write_bytes(bytes(range(256)))
    lay_out(house, datetime.now(UTC).date())

    with caplog.at_level(logging.ERROR):
        await house.publisher.publish_due(datetime.now(UTC))
        await house.publisher.publish_due(datetime.now(UTC))

    assert house.store.read_now(ledger.counts) == {Status.PENDING: 1}
    assert [record.message for record in caplog.records] == ["digest_refused", "alert"]


async def test_logs_hold_no_secret_no_name_and_no_text(house, caplog):
    """Everything the bot logs in a day of its life, as JSON lines."""
    open_id = house.sandbox.client.add_user("某某某").open_id
    lay_out(house, datetime.now(UTC).date())
    with caplog.at_level(logging.DEBUG):
        async with house.bot():
            await house.sandbox.client.open_bot_chat(open_id)
            await until(lambda: len(house.cards_to(open_id)) == 1)
            await house.sandbox.client.say(open_id, house.cards_to(open_id)[0].chat_id, "一句私房话")
            await until(lambda: len(house.cards_to(open_id)) == 2)

    ours = [record for record in caplog.records if record.name.startswith("bot.")]
    text = "\n".join(JsonLines().format(record) for record in ours)
    assert "delivery_sent" in text
    assert all(json.loads(line)["event"] for line in text.splitlines())
    feishu = house.settings.feishu
    for secret in (feishu.app_secret, feishu.encrypt_key, feishu.verification_token, "某某某", "一句私房话", "气泡"):
        assert secret not in text
    assert not [token for token in house.sandbox.world.tokens if str(token) in text]


async def test_a_page_of_a_wiki_goes_to_the_chat(tmp_path):
    """Another source, the same way: wiki → edition → card."""
    space = Sandbox(SandboxSettings()).library.add_space("灯塔日报")  # ids come from names
    series = {"id": "ai", "name": "灯塔日报", "source": {"kind": "feishu_wiki", "space": space}, "timezone": "UTC"}
    now = datetime.now(UTC)
    hours = {"push_at": f"{now:%H:%M}", "wait_until": f"{now + timedelta(hours=12):%H:%M}"}
    async with make_house(tmp_path, series=[series | hours]) as house:
        (person,) = house.people(1)
        house.sandbox.library.add_space("灯塔日报")
        link = run("长序列并行的显存账", link="https%3A%2F%2Fpapers.example.org%2Fabs%2F1")
        page = lines(heading(1, "论文"), heading(3, link), text("显存随长度平方增长，文章给出三种省法。"))
        house.sandbox.library.add_page(space, f"灯塔日报（{now.month}月{now.day}日学术篇）", page)

        async with house.bot():
            await until(lambda: len(house.cards_to(person.id)) == 1)

        (card,) = house.cards_to(person.id)
        assert "https://papers.example.org/abs/1" in card.content
        assert "三种省法" in card.content


@on_postgres
async def test_a_stop_waits_for_what_the_clock_began(tmp_path, store_url, postgres):
    """Whoever stops leaves nothing at work behind: no thread, no connection, no half-told admin."""
    async with make_house(tmp_path, store={"url": store_url}) as house:
        for turns in range(0, 400, 40):
            async with running(house.settings, house.clock, Role.SCHEDULER):
                for _ in range(turns):  # the jobs begin at once, and are cut off in the middle
                    await asyncio.sleep(0)
        house.store.close()
        name = store_url.partition("@/")[2].partition("?")[0]
        with postgres.admin() as admin:
            left = admin.execute("SELECT count(*) FROM pg_stat_activity WHERE datname = %s", (name,)).fetchone()

        assert left == (0,)
