"""A group as its owner and its members live it, in a browser, with the real bot behind the sandbox's page."""

from dataclasses import dataclass

import pytest
from playwright.async_api import expect

from bot.domain.audience import Kind, Receiver
from bot.store import preferences
from bot.store.preferences import Present
from tests.browser.chromium import Person
from tests.browser.test_first_push import push
from tests.integration.chat import Chat
from tests.integration.conftest import SERIES, House

pytestmark = [pytest.mark.anyio, pytest.mark.browser]
NAME = "大模型学习群"


@dataclass(frozen=True)
class Hall:
    """A group founded on the page, whose owner has just brought the bot; `member` has no say in it."""

    house: House
    group: Receiver
    owner: Person
    member: Person

    def row(self, of: Receiver | None = None) -> Present | None:
        """A subscription as the database has it: the group's, or that of somebody."""
        return self.house.store.read_now(preferences.present, of or self.group, SERIES)

    def sent(self) -> str:
        """All that was or would be sent to the group."""
        return "\n".join(Chat.rows_of(self.house.store, self.group))


@pytest.fixture
async def hall(house: House, newcomer) -> Hall:
    member, owner = await newcomer("读者甲"), await newcomer("群主")
    await owner.page.get_by_text("操作台").click()
    await owner.page.get_by_label("群名").fill(NAME)
    await owner.page.get_by_text("把机器人一起拉进来").click()  # it is ticked
    await owner.page.get_by_role("button", name="新建", exact=True).click()
    await owner.page.wait_for_url("**/chats/*/")
    await owner.operate("把机器人拉进群")
    await owner.told("机器人已进群")
    (chat_id,) = (one.chat_id for one in house.sandbox.world.chats.values() if one.name == NAME)
    await member.open_group(NAME)
    return Hall(house, Receiver(Kind.GROUP, chat_id), owner, member)


async def test_an_owner_subscribes_the_group_chooses_stops_and_starts_again(hall):
    """Offered by a card, done by buttons and the form; what the cards say is what the database has."""
    owner = hall.owner
    await push(hall.house, "学术篇")
    await expect(owner.cards).to_have_count(1)
    await expect(owner.cards).to_contain_text("大家好，我是灯塔大模型日报")
    assert hall.row() is None

    await owner.press("为本群订阅")
    await owner.told("订阅成功")
    issue = owner.messages.get_by_role("link", name="学术篇：怎样排得更满")
    await expect(issue).to_be_visible()
    assert (hall.row().status, hall.row().set_by) == ("active", owner.receiver.id)

    await owner.press("设置")
    await expect(owner.cards.last).to_contain_text("由 请我进群的人 设置")
    await owner.choose("栏目", "产品")
    await owner.choose("内容", "全文")
    await owner.press("保存")
    await owner.told("已保存")
    chosen = hall.row().preference
    assert (chosen.sections, chosen.density) == ({"产品"}, "full")

    await owner.press("停止推送")
    await owner.told("本群已停止推送")
    await expect(owner.cards.last).to_contain_text("本群已停止推送")
    assert hall.row().status == "unsubscribed"

    await owner.press("撤销停止")
    await owner.told("已撤销停止")
    await expect(owner.cards.last).to_contain_text("「产品」 · 全文")
    assert (hall.row().status, hall.row().preference) == ("active", chosen)
    await expect(issue).to_have_count(1)


async def test_a_member_decides_for_nobody_but_themselves(hall):
    """Refused politely: in private at first, while the right is looked up, then by a toast. Their own copy they get."""
    member = hall.member
    await hall.owner.press("为本群订阅")
    await push(hall.house, "学术篇")
    await member.look()
    before = hall.row()

    await member.press("停止推送")
    await member.told("正在核对权限")
    await member.press("停止推送")
    await member.told("只有群主、群管理员或请我进群的人可以为本群设置")
    assert (hall.row(), hall.row(member.receiver)) == (before, None)

    digest = member.cards.last
    await expect(digest).to_contain_text("学术篇")
    await member.submit(digest.get_by_role("button", name="订阅社区精选"))
    await member.told("订阅成功")
    assert (hall.row(), hall.row(member.receiver).status) == (before, "active")
    await member.open_bot_chat()
    await expect(member.messages.locator(".bubble")).to_contain_text("只有群主")
    await expect(member.messages.get_by_role("link", name="学术篇：怎样排得更满")).to_be_visible()


async def test_a_group_that_put_the_bot_out_gets_nothing_until_it_is_back(hall):
    """Paused with the reason, while members get their own; back again a card says that it goes on, and it does."""
    owner, member = hall.owner, hall.member
    await owner.press("为本群订阅")
    await member.look()
    await member.press("订阅社区精选")

    await owner.operate("把机器人移出群")
    await owner.told("机器人已移出")
    await push(hall.house, "学术篇")
    assert (hall.row().status, hall.row().reason) == ("paused", "机器人已被移出群")
    await member.open_bot_chat()
    await expect(member.messages.get_by_role("link", name="学术篇：怎样排得更满")).to_be_visible()
    assert "学术篇" not in hall.sent()
    await owner.look()
    await expect(owner.cards).to_have_count(2)

    await owner.operate("把机器人拉进群")
    await owner.told("机器人已进群")
    await expect(owner.messages).to_contain_text(["订阅中"])
    assert (hall.row().status, hall.row().reason) == ("active", None)
    await owner.look()
    await expect(owner.messages.get_by_role("link", name="学术篇：怎样排得更满")).to_be_visible()
    await push(hall.house, "产品篇")
    await owner.look()
    await expect(owner.messages.get_by_role("link", name="产品篇：怎样排得更满")).to_be_visible()
