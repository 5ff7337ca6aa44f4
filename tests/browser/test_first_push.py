"""Subscribing as a reader lives it, in a browser, with the real bot behind the sandbox's page."""

from datetime import UTC, datetime, time

import pytest
from playwright.async_api import expect

from bot.domain.audience import Kind, Receiver
from bot.domain.digest import Section
from bot.store import preferences
from bot.store.preferences import Present
from tests.builders import make_digest, make_item
from tests.integration.conftest import SERIES, House
from tests.integration.test_scheduler import lay_out

pytestmark = [pytest.mark.anyio, pytest.mark.browser]


async def push(house: House, label: str) -> None:
    """Publish an edition of today with an item in each of two sections, which its label tells from those of others."""
    now = house.clock()
    items = make_item(1, title=f"{label}：怎样排得更满"), make_item(2, title=f"{label}：一键试跑")
    sections = Section("论文", items[:1]), Section("产品", items[1:])
    digest = make_digest(sections=sections, day=now.date(), label=label)
    edition = await house.publisher.import_digest(SERIES, digest, label, now, "cli")
    await house.publisher.publish(SERIES, edition.slug, now, "cli")


def row_of(house: House, receiver: Receiver) -> Present:
    """The subscription as the database has it."""
    found = house.store.read_now(preferences.present, receiver, SERIES)
    assert found is not None
    return found


async def test_a_reader_subscribes_reads_and_leaves(house, newcomer):
    """Welcome → toast → digest with working links → already subscribed → 退订 → silence; and the group has it too."""
    owner = house.sandbox.client.add_user("管理员").open_id
    group = (await house.sandbox.client.create_group("学习群", owner=owner, members=[])).chat_id
    await house.sandbox.client.add_bot(group, operator=owner)
    house.subscribe(Receiver(Kind.GROUP, group))
    me = await newcomer("读者甲")
    await me.open_bot_chat()

    await me.press("订阅社区精选")
    await me.told("订阅成功")
    lay_out(house, datetime.now(UTC).date())
    await house.publisher.publish_due(datetime.now(UTC))
    await me.look()

    link = me.messages.get_by_role("link", name="流水线气泡该怎么填")
    await expect(link).to_have_attribute("href", "https://read.example.com/p/1")
    assert any("流水线气泡该怎么填" in card.content for card in house.cards_in(group))

    await me.press("订阅社区精选")
    await me.told("已经订阅")
    await me.say("退订")
    await expect(me.messages.get_by_role("button", name="撤销退订")).to_be_in_viewport()
    await push(house, "产品篇")
    await me.look()
    await expect(me.messages).not_to_contain_text("产品篇")


async def test_a_new_reader_subscribes_chooses_pauses_leaves_and_takes_it_back_without_typing(house, newcomer):
    """Everything by buttons and the form; what the cards say is what the database has."""
    await push(house, "学术篇")
    me = await newcomer("读者甲")
    await me.open_bot_chat()
    await expect(me.cards.last).to_contain_text("你好，我是灯塔大模型日报")

    await me.press("订阅社区精选")
    await me.told("订阅成功")
    await expect(me.cards).to_have_count(3)
    await expect(me.cards.nth(2).get_by_role("link", name="学术篇：一键试跑")).to_be_visible()
    assert row_of(house, me.receiver).status == "active"

    await me.press("设置")
    await me.told("设置在下面")
    await me.choose("栏目", "产品")
    await me.choose("内容", "只看标题")
    await me.choose("时间", "21:00")
    await me.press("保存")
    await me.told("已保存")
    await expect(me.cards.last).to_contain_text("「产品」 · 只看标题")
    await expect(me.cards.last).to_contain_text("21:00")
    chosen = row_of(house, me.receiver).preference
    assert (chosen.sections, chosen.density, chosen.slot) == ({"产品"}, "brief", time(21))

    await me.press("暂停 3 天")
    await me.told("暂停到")
    await expect(me.cards.last).to_contain_text("已暂停")
    paused = row_of(house, me.receiver)
    assert paused.is_own_pause
    assert paused.preference.paused_until is not None
    assert (paused.preference.paused_until - datetime.now(UTC).date()).days in {3, 4}

    await me.press("现在恢复")
    await me.told("已恢复")
    assert row_of(house, me.receiver).preference == chosen

    await me.press("退订")
    await me.told("已退订")
    await expect(me.cards.last).to_contain_text("已退订")
    assert row_of(house, me.receiver).status == "unsubscribed"

    await me.press("撤销退订")
    await me.told("已撤销退订")
    assert (row_of(house, me.receiver).status, row_of(house, me.receiver).preference) == ("active", chosen)
    await expect(me.messages.get_by_role("link", name="学术篇：一键试跑")).to_have_count(1)
