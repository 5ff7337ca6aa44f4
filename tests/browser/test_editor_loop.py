"""An editor's morning in a browser: looked at, approved, sent, sent again to two, corrected, taken back."""

import os
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from anyio.to_thread import run_sync
from playwright.async_api import Browser, expect
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from bot.app import running
from bot.domain.audience import Kind, Receiver
from bot.domain.delivery import Status
from bot.ports import LinkAnswer
from bot.sandbox.faults import Fault
from bot.sandbox.page import page_routes
from bot.sandbox.state import Message
from bot.serving import listen, serving
from bot.sources.fetch import new_client
from bot.sources.link_check import check_links
from bot.store import ledger
from tests.browser.chromium import Person
from tests.integration.bot_process import write_config
from tests.integration.conftest import SERIES, House, make_house, until
from tests.integration.office import ADMIN, ADMINS, Office, make_office
from tests.integration.test_cli import answer

pytestmark = [pytest.mark.anyio, pytest.mark.browser]

SHOTS = Path(os.environ["SCREENSHOTS"]) if os.environ.get("SCREENSHOTS") else None  # where to keep pictures to look at
PHONE, DESK = {"width": 390, "height": 844}, {"width": 1280, "height": 900}
READERS, FIRST_PUSH = 60, 1
EDITION = f"{SERIES}/latest"
TYPO, MENDED = "流水钱气泡该怎么填", "流水线气泡该怎么填"
CONTACT = "想试的读者请打 13800138000。"
TEXT = f"""灯塔日报（{{day}}）

学习

{TYPO}

多机训练时，前一级还没算完，后一级只能等着，这段空转就叫气泡。{CONTACT}

{{site}}/gone

产品

三步看懂采样温度

这篇短文用掷骰子的比方解释温度的作用，读完就会调。

{{site}}/members
"""


@dataclass(frozen=True)
class Newsroom:
    """An office whose editions are reviewed, its editor at the page, and everybody who has subscribed."""

    office: Office
    browser: Browser
    editor: Person
    readers: Sequence[Receiver]

    @property
    def house(self) -> House:
        return self.office.house

    async def lay_out(self, text: str) -> None:
        """A file is in the folder, and the bot looks there."""
        day = self.house.clock().date()
        (self.house.digests / f"{day}.txt").write_text(text, encoding="utf-8")
        await self.office.desk.publisher.publish_due(self.house.clock())
        await self.tell()

    async def tell(self) -> None:
        """What the bot has to say to the editor arrives and is seen, whatever is on its way to readers."""
        await self.office.quiet()
        self.house.clock.advance(11)
        await self.office.desk.tick(self.house.clock())
        await self.office.quiet()
        await self.editor.look()

    async def command(self, *words: str) -> dict:
        """What the editor's command line answers."""
        return await run_sync(partial(answer, "edition", *words, cwd=self.house.digests.parent))

    async def at(self, reader: Receiver) -> Person:
        """A reader who looks at the chat with the bot."""
        home = f"/as/{reader.id}/"
        chat_id = self.house.sandbox.world.p2p_chat_id(self.house.settings.feishu.app_id, reader.id)
        page = await self.browser.new_page(viewport=PHONE, base_url=self.house.settings.feishu.base_url)
        await page.goto(f"{home}chats/{chat_id}/" if chat_id in self.house.sandbox.world.chats else home)
        return Person(page, self.house, reader)

    def seen(self) -> dict[Receiver, list[Message]]:
        """What every reader can see of the bot."""
        return {reader: self.office.cards_to(reader.id) for reader in self.readers}

    def copies(self) -> dict[Receiver, int]:
        """How many messages that are."""
        return {reader: len(messages) for reader, messages in self.seen().items()}

    async def shoot(self, name: str, person: Person) -> None:
        """Keep pictures of what somebody sees, on a phone and on a desk."""
        for size in (DESK, PHONE) if SHOTS else ():
            await person.page.set_viewport_size(size)
            await person.page.screenshot(path=SHOTS / f"{name}-{size['width']}.png")


@pytest.fixture
async def site() -> AsyncIterator[str]:
    """The address of a web server one of whose pages is gone, and one not for everybody."""

    async def page(request: Request) -> Response:
        return Response(status_code={"/gone": 404, "/members": 403}.get(request.url.path, 200))

    listener = listen("127.0.0.1", 0)
    async with serving(Starlette(routes=[Route("/{path:path}", page)]), listener):
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"


async def ask_this_machine(urls: Iterable[str]) -> Mapping[str, LinkAnswer]:
    """The bot's own look at links, which would otherwise ask the public web only."""
    async with new_client() as client:
        return await check_links(client, urls, allow_private=True, gap_s=0)


@pytest.fixture
async def newsroom(tmp_path: Path, browser: Browser) -> AsyncIterator[Newsroom]:
    """The hour of its series has just come. The command line has the same settings, in a file."""
    now, source = datetime.now(UTC), {"kind": "folder", "path": "digests"}
    hours = {"push_at": f"{now:%H:%M}", "wait_until": f"{now + timedelta(hours=12):%H:%M}"}
    series = {"id": SERIES, "name": "灯塔大模型日报", "timezone": "UTC", "source": source, "review": "approve", **hours}
    async with (
        make_house(tmp_path, page=page_routes, series=[series], **ADMINS) as house,
        make_office(house, ask_this_machine) as office,
        running(house.settings, house.clock, check_links=ask_this_machine) as web,
        serving(web, listen("127.0.0.1", house.bot_port)),
    ):
        port = urlsplit(house.settings.feishu.base_url).port
        lines = 'timezone = "UTC"\nsource = { kind = "folder", path = "digests" }\nreview = "approve"'
        write_config(tmp_path / "config.toml", sandbox_port=port or 0, bot_port=house.bot_port, series=lines)
        page = await browser.new_page(viewport=PHONE, base_url=house.settings.feishu.base_url)
        editor = Person(page, house, Receiver(Kind.USER, ADMIN))
        await editor.open_bot_chat()
        yield Newsroom(office, browser, editor, house.people(READERS))
        for context in browser.contexts:
            await context.close()


async def test_an_editor_brings_a_digest_out_and_mends_it_and_takes_it_back(newsroom, site):
    """What is wrong is named before it goes; who missed it gets it once; a correction and a recall reach everybody."""
    house, editor, world = newsroom.house, newsroom.editor, newsroom.house.sandbox.client
    first, silent, barred, *slow = newsroom.readers[:6]
    await world.stop_messages(silent.id)
    await world.set_available(barred.id, available=False)
    day = house.clock().date()
    text = TEXT.format(day=f"{day.month}月{day.day}日", site=site)

    await newsroom.lay_out(text)
    asked = editor.cards.nth(1)
    for words in (
        *("发送前请过目", "2 处留意", "另有 1 个链接没能确认", "链接打不开", f"{TYPO}　页面不存在（404）"),
        *("有电话或邮箱", f"138•••00　{TYPO}"),
    ):
        await expect(asked).to_contain_text(words)
    await expect(asked).not_to_contain_text("13800138000")
    await newsroom.shoot("1-preflight", editor)

    text = text.replace("/gone", "/p/1").replace(CONTACT, "")
    await newsroom.lay_out(text)
    await expect(editor.cards.nth(2)).to_contain_text("没有发现问题")
    await expect(editor.cards.nth(2)).to_contain_text("第 2 版")
    await editor.submit(asked.get_by_role("button", name="通过"))
    await editor.told("内容已经更新")
    await newsroom.shoot("2-preflight-of-the-mended", editor)
    assert set(newsroom.copies().values()) == {0}

    house.sandbox.faults.add(*(Fault("code", "send", one.id, code=230020, times=2) for one in slow))
    await editor.press("通过")
    await editor.told("已通过，马上发出")
    await newsroom.office.desk.tick(house.clock())
    stands = {Status.SENT: 55, Status.FAILED: 2, Status.PENDING: 3}
    await until(lambda: house.store.read_now(ledger.counts, FIRST_PUSH) == stands)
    house.clock.advance(11)
    await newsroom.office.desk.tick(house.clock())
    await until(lambda: len(newsroom.office.cards_to(ADMIN)) == 4)
    await editor.page.reload()
    receipt = editor.cards.nth(3)
    for words in ("正在发送", "95%", "55送达", "2失败", "3待发"):
        await expect(receipt).to_contain_text(words)
    await newsroom.shoot("3-progress", editor)

    await newsroom.tell()
    await expect(editor.cards.nth(2)).to_contain_text("已通过 · 管理员")
    for words in ("已发完，2 个没送到", "58送达", "对方停止接收机器人消息", "对方不在应用可用范围内", "再补发"):
        await expect(receipt).to_contain_text(words)
    await newsroom.shoot("4-receipt", editor)
    assert newsroom.copies() == dict.fromkeys(newsroom.readers, 1) | {silent: 0, barred: 0}

    await world.set_available(barred.id, available=True)
    back = await newsroom.at(silent)
    await back.page.get_by_text("操作台").click()
    await back.page.get_by_role("button", name="重新接收机器人消息").click()
    await back.told("重新接收机器人的消息")
    for toast in ("正在补发给 2 个", "已经补发给 2 个了"):
        await editor.submit(receipt.get_by_role("button", name="只补发失败的 2 个"))
        await editor.told(toast)
    await newsroom.tell()
    await expect(editor.cards.nth(4)).to_contain_text("全部送达")
    await newsroom.shoot("5-receipt-of-the-two", editor)
    assert [one["messages"] for one in (await newsroom.command("show", EDITION))["pushes"]] == [
        {"sent": 58, "failed": 2},
        {"sent": 2},
    ]
    assert newsroom.copies() == dict.fromkeys(newsroom.readers, 1)

    before = newsroom.seen()
    people = [await newsroom.at(one) for one in (first, silent, barred)]
    for one in people:
        await expect(one.cards).to_contain_text(TYPO)
    await newsroom.lay_out(text.replace(TYPO, MENDED))
    corrected = await newsroom.command("correct", EDITION, "--yes")
    await newsroom.tell()
    assert (corrected["messages"], corrected["difference"]["changed"]) == (READERS, [MENDED])
    for reader, (message,) in newsroom.seen().items():
        assert message.message_id == before[reader][0].message_id
        assert ("已更正" in message.content, TYPO in message.content) == (True, False)
    for one in people:
        await one.look()
        await expect(one.cards).to_contain_text(MENDED)
        await expect(one.cards).to_contain_text("已更正")
    await newsroom.shoot("6-corrected", people[1])

    recalled = await newsroom.command("recall", EDITION, "--yes")
    await newsroom.tell()
    assert (recalled["messages"], recalled["misses"]) == (READERS, {})
    assert set(newsroom.copies().values()) == {0}
    for one in people:
        await one.look()
        await expect(one.cards).to_have_count(0)
        await expect(one.messages).to_contain_text("撤回了一条消息")
    await newsroom.shoot("7-recalled", people[1])
    await newsroom.tell()
    await expect(editor.cards.last).to_contain_text("撤回完成：60 条已完成")
    await newsroom.shoot("8-told-of-it", editor)
    assert house.sandbox.world.violations == []
