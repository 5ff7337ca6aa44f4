"""After a push the admins know what became of it, on one card that is kept true."""

import json

import pytest
from sqlalchemy import select

from bot.sandbox.faults import Fault
from bot.services import retry
from bot.store import batches
from bot.store.resends import Only
from bot.store.retry import Wanted
from bot.store.tables import pushes
from tests.integration.conftest import make_house, on_both, until
from tests.integration.office import ADMIN, ADMINS, Office, make_office

pytestmark = pytest.mark.anyio


@pytest.fixture
async def office(tmp_path, store_url):
    async with make_house(tmp_path, store={"url": store_url}, **ADMINS) as house, make_office(house) as made:
        yield made


def receipts(office: Office) -> list[str]:
    """What stands on the receipt cards in the admin's chat."""
    marks = ("正在发送", "已发完", "全部送达")
    return [one.content for one in office.cards_to(ADMIN) if any(mark in one.content for mark in marks)]


@on_both
async def test_a_receipt_tells_who_got_it_and_why_others_did_not(office):
    """Grouped by cause, with the cure and a button for those who failed."""
    house = office.house
    people = house.people(4)
    await house.sandbox.client.stop_messages(people[0].id)
    await office.publish()
    async with office.at_work():
        await office.quiet()
        await office.desk.tick(office.now)
        await office.quiet()

    (receipt,) = receipts(office)
    for text in ("1 个没送到", "对方停止接收机器人消息", "请对方给机器人发一条消息", "私聊 3", "只补发失败的 1 个"):
        assert text in receipt


async def test_a_long_push_shows_its_progress_on_the_same_card(office):
    """The card is sent once it lasts, and changed until the end, no more often than every ten seconds."""
    house = office.house
    people = house.people(3)
    house.sandbox.faults.add(Fault("code", "send", code=230020, times=3))
    await office.publish()
    async with office.at_work():
        await until(lambda: len(house.sandbox.faults.met) == 3)
        house.clock.advance(3)
        await office.desk.tick(office.now)
        assert receipts(office) == []
        await until(lambda: len(house.cards_to(people[0].id)) == 1, passing=house.clock)
        house.clock.advance(60)
        await office.desk.tick(office.now)
        await office.quiet()
        house.clock.advance(11)
        await office.desk.tick(office.now)
        await office.quiet()

    (receipt,) = receipts(office)
    assert "全部送达" in receipt


async def test_the_next_morning_it_tells_how_many_have_read_it(office):
    """In totals; asked once."""
    house = office.house
    people = house.people(3)
    await office.publish()
    async with office.at_work():
        await office.quiet()
        await office.desk.tick(office.now)
        await office.quiet()
        for one in people[:2]:
            await house.sandbox.client.read_chat(one.id, house.cards_to(one.id)[0].chat_id)
        house.clock.advance(21 * 3600)
        await office.desk.receipts.ask_who_read(office.now)
        await office.desk.tick(office.now)
        await office.quiet()

    tiles = [json.loads(one) for one in receipts(office)]
    assert len(tiles) == 1
    assert "已读" in receipts(office)[0]


async def test_where_calls_are_capped_nobody_is_asked_who_read_it(tmp_path):
    """It would cost as much as to send it."""
    async with (
        make_house(tmp_path, delivery={"monthly_calls": 10_000}, **ADMINS) as house,
        make_office(house) as office,
    ):
        house.people(1)
        await office.publish()
        async with office.at_work():
            await office.quiet()
            await office.desk.tick(office.now)
            await office.quiet()
            house.clock.advance(21 * 3600)
            await office.desk.receipts.ask_who_read(office.now)

        assert "已读" not in receipts(office)[0]
        assert house.sandbox.world.violations == []


async def test_who_has_a_part_is_told_apart(office):
    """A resend would bring them that part again, so its button does not count them; the cure completes their copy."""
    house = office.house
    (reader,) = house.people(1)
    house.sandbox.faults.add(Fault("code", "send", code=230053, after=1, times=1))
    await office.publish(items=70)
    async with office.at_work():
        await office.quiet()
        await office.desk.tick(office.now)
        await office.quiet()
        (receipt,) = receipts(office)
        retry.retry(house.store, Wanted(), office.now, "cli")
        await office.quiet()

    assert "只收到了一部分" in receipt
    assert "delivery retry" in receipt
    assert "只补发失败的" not in receipt
    assert len({one.content for one in house.cards_to(reader.id)}) == len(house.cards_to(reader.id)) > 1


async def test_of_a_batch_it_tells_how_many_the_platform_has_reached(tmp_path):
    """A batch is taken as a whole: without that figure whoever is out of reach would count as served."""
    async with make_house(tmp_path, delivery={"personal": "batch"}, **ADMINS) as house, make_office(house) as office:
        people = house.people(3)
        await house.sandbox.client.stop_messages(people[0].id)
        await office.publish()
        async with office.at_work():
            await office.quiet()
            await office.desk.tick(office.now)
            house.sandbox.clock.advance(60)
            push = house.store.read_now(lambda tx: tx.execute(select(pushes.c.id)).scalar_one())
            await until(lambda: house.store.read_now(batches.reach, push) == (3, 2), passing=house.clock)
            house.clock.advance(60)
            await office.desk.tick(office.now)
            await office.quiet()

        assert "批量的 3 份，飞书已送到 2 份" in receipts(office)[0]


async def test_a_resend_has_a_receipt_of_its_own(office):
    """With a button that belongs to it."""
    house = office.house
    house.people(1)
    name = await office.publish()
    async with office.at_work():
        await office.quiet()
        await office.desk.tick(office.now)
        house.people(1)
        office.resend(name, Only.UNSENT)
        await office.quiet()
        await office.desk.tick(office.now)
        await office.quiet()

    assert len(receipts(office)) == 2
