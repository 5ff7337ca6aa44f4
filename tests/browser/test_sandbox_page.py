"""The sandbox's page in a real browser: with and without a script, on a phone and on a desk."""

import asyncio
import json
import queue
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
import pytest
import uvicorn
from playwright.sync_api import Browser, Page, expect, sync_playwright
from starlette.responses import JSONResponse

from bot.sandbox.app import Sandbox
from bot.sandbox.page import page_routes
from bot.sandbox.state import Message
from tests.browser.chromium import SWITCHES, installed_chromium
from tests.sandbox.kit import SETTINGS, ListeningBot, button, card_of, markdown

pytestmark = pytest.mark.browser

PHONE, DESK = {"width": 390, "height": 844}, {"width": 1280, "height": 820}
PARAGRAPH = "一段很长的正文，用来把卡片撑高。" * 12


def words(content):
    return {"tag": "plain_text", "content": content}


def card(title, *elements):
    return card_of(*elements, header={"title": words(title), "template": "blue"})


WELCOME = card(
    "欢迎",
    markdown("每天早上送到。"),
    {**button({"do": "subscribe"}), "text": words("订阅社区精选")},
    {**button({"do": "slow"}), "text": words("很慢")},
    {
        **button({"do": "leave"}),
        "text": words("退订"),
        "confirm": {"title": words("真的退订？"), "text": words("可以撤销")},
    },
)
PREFERENCES = card(
    "偏好",
    {
        "tag": "form",
        "name": "prefs",
        "elements": [
            {"tag": "input", "name": "topic", "placeholder": words("主题")},
            {
                "tag": "multi_select_static",
                "name": "sections",
                "options": [{"text": words(one), "value": one} for one in ("论文", "产品")],
            },
            {
                **button({"do": "save"}),
                "text": words("保存"),
                "name": "save",
                "form_action_type": "submit",
            },
        ],
    },
)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=installed_chromium(), args=SWITCHES)
        yield launched
        launched.close()


class Town:
    """A sandbox on a loopback port with an echo bot: it greets, repeats what it hears, answers clicks by a toast."""

    def __init__(self, http: httpx.AsyncClient, listening: ListeningBot) -> None:
        self.sandbox = Sandbox(SETTINGS, http=http, page=page_routes)
        self.address = ""
        self.asked_slowly = threading.Event()
        listening.answer = self.answer
        self.loop = asyncio.get_running_loop()

    async def answer(self, body):
        event, kind = body["event"], body["header"]["event_type"]
        if kind == "card.action.trigger":
            return await self.click(event["action"])
        if kind == "im.message.receive_v1":
            self.write(
                event["message"]["chat_id"], {"text": "收到 " + json.loads(event["message"]["content"])["text"]}, "text"
            )
        elif kind.endswith("bot_p2p_chat_entered_v1") and not self.sandbox.world.messages_in(event["chat_id"]):
            self.write(event["chat_id"], WELCOME)
        return JSONResponse({})

    async def click(self, action):
        if action.get("value") == {"do": "slow"}:
            self.asked_slowly.set()
            await asyncio.Event().wait()
        said = action.get("form_value") or action["value"]
        return JSONResponse({"toast": {"type": "success", "content": json.dumps(said, ensure_ascii=False)}})

    def write(self, chat_id, content, kind="interactive", sender=None):
        world, now = self.sandbox.world, self.sandbox.clock.now()
        sender_id, sender_type = (sender, "user") if sender else (SETTINGS.app_id, "app")
        text = json.dumps(content, ensure_ascii=False)
        world.put(Message(world.next_message_id(), chat_id, sender_id, sender_type, kind, text, now, now))

    def call(self, function, *arguments):
        """Do something to the town where it lives: on its own thread."""

        async def run():
            result = function(*arguments)
            return await result if asyncio.iscoroutine(result) else result

        return asyncio.run_coroutine_threadsafe(run(), self.loop).result(10)

    def person(self, name):
        return self.call(self.sandbox.client.add_user, name).open_id

    def group(self, name, owner, *members):
        chat_id = self.call(self.sandbox.client.create_group, name, owner, members).chat_id
        self.call(self.sandbox.client.add_bot, chat_id, owner)
        return chat_id


class _Server(uvicorn.Server):
    """Tells when it listens, and where."""

    def __init__(self, town: Town, listens) -> None:
        super().__init__(uvicorn.Config(town.sandbox.app, port=0, log_level="warning", ws="none"))
        self.town, self.listens = town, listens

    async def startup(self, sockets=None) -> None:
        await super().startup(sockets)
        self.town.address = f"http://127.0.0.1:{self.servers[0].sockets[0].getsockname()[1]}"
        self.listens(self)


async def _serve(listens) -> None:
    listening = ListeningBot(SETTINGS.encrypt_key)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(listening.app)) as http:
        await _Server(Town(http, listening), listens).serve()


@pytest.fixture(scope="module")
def town() -> Iterator[Town]:
    listening: queue.Queue[_Server] = queue.Queue()
    thread = threading.Thread(target=lambda: asyncio.run(_serve(listening.put)))
    thread.start()
    server = listening.get(timeout=10)
    yield server.town
    server.should_exit = True
    thread.join(10)


@contextmanager
def page_in(browser: Browser, town: Town, size=DESK, **options) -> Iterator[Page]:
    """A fresh browser profile. Whatever it complains about, and whatever it fetches elsewhere, fails the test."""
    context = browser.new_context(viewport=size, base_url=town.address, locale="zh-CN", **options)
    page = context.new_page()
    complaints = []
    page.on(
        "console", lambda message: complaints.append(message.text) if message.type in {"error", "warning"} else None
    )
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on(
        "request",
        lambda request: complaints.append(request.url) if not request.url.startswith((town.address, "data:")) else None,
    )
    yield page
    context.close()
    assert complaints == []


def notice(page):
    """What coming back to the tab does: look at once instead of at the next tick."""
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")


def fits(page):
    return page.evaluate("document.documentElement.scrollWidth <= innerWidth && scrollY === 0")


def test_everything_works_without_a_script(browser, town):
    """Choose who you are, meet the bot, click, fill in a form, talk: by forms alone."""
    town.person("无脚本")
    with page_in(browser, town, java_script_enabled=False) as page:
        page.goto("/")
        page.get_by_role("link", name="无脚本").click()
        page.get_by_role("navigation").get_by_role("button", name="打开机器人会话").click()
        page.get_by_role("button", name="订阅社区精选").click()
        expect(page.locator(".toast")).to_have_text('{"do": "subscribe"}')
        page.get_by_text("退订", exact=True).first.click()
        page.get_by_role("button", name="确定").click()
        expect(page.locator(".toast")).to_have_text('{"do": "leave"}')
        page.get_by_label("消息", exact=True).fill("订阅")
        page.get_by_role("button", name="发送").click()
        expect(page.locator(".bubble")).to_have_text(["订阅", "收到 订阅"])


def test_with_a_script_a_click_answers_in_place(browser, town):
    """The toast comes without a reload, and the form's values reach the bot."""
    me = town.person("有脚本")
    chat_id = town.call(town.sandbox.client.open_bot_chat, me).chat_id
    town.call(town.write, chat_id, PREFERENCES)
    with page_in(browser, town) as page:
        page.goto(f"/as/{me}/chats/{chat_id}/")
        page.evaluate("window.unchanged = true")
        page.get_by_role("button", name="订阅社区精选").click()
        expect(page.locator(".toast")).to_have_text('{"do": "subscribe"}')
        page.get_by_placeholder("主题").fill("代码代理")
        page.get_by_text("论文").click()
        page.get_by_role("button", name="保存").click()
        expect(page.locator(".toast").last).to_have_text('{"topic": "代码代理", "sections": ["论文"]}')
        page.get_by_label("消息", exact=True).fill("今日")
        page.keyboard.press("Enter")
        expect(page.locator(".bubble")).to_have_text(["今日", "收到 今日"])
        expect(page.get_by_label("消息", exact=True)).to_have_value("")
        assert page.evaluate("window.unchanged")


def test_a_slow_bot_is_shown_as_the_client_shows_it(browser, town):
    """No answer within three seconds is code 200341."""
    me = town.person("耐心的人")
    chat_id = town.call(town.sandbox.client.open_bot_chat, me).chat_id
    with page_in(browser, town) as page:
        page.goto(f"/as/{me}/chats/{chat_id}/")
        page.get_by_role("button", name="很慢").click()
        assert town.asked_slowly.wait(10)
        town.call(town.sandbox.clock.advance, 3)
        expect(page.locator(".toast-error")).to_have_text("操作失败 200341机器人没有在 3 秒内回应")


def test_new_messages_come_without_disturbing_what_one_does(browser, town):
    """Half-typed text, the place one reads at and an unfolded panel survive; at the end the page follows along."""
    me, friend = town.person("读的人"), town.person("说的人")
    chat_id = town.group("长长的群", me, friend)
    town.call(town.write, chat_id, PREFERENCES)
    for number in range(6):
        panel = {"tag": "collapsible_panel", "header": {"title": words(f"展开{number}")}}
        town.call(
            town.write, chat_id, card(f"第 {number} 期", markdown(PARAGRAPH), {**panel, "elements": [markdown("里面")]})
        )
    with page_in(browser, town) as page:
        page.goto(f"/as/{me}/chats/{chat_id}/")
        scroll = page.locator("#scroll")
        assert scroll.evaluate("e => Math.abs(e.scrollTop) < 2")

        town.call(town.write, chat_id, {"text": "底部的新消息"}, "text", friend)
        notice(page)
        expect(page.get_by_text("底部的新消息").last).to_be_in_viewport()

        page.get_by_text("展开1").click()
        page.get_by_label("消息", exact=True).fill("写到一半")
        page.get_by_placeholder("主题").fill("卡片里")
        page.get_by_text("第 1 期").scroll_into_view_if_needed()
        before = page.get_by_text("第 1 期").bounding_box()["y"]
        town.call(town.write, chat_id, {"text": "又一条"}, "text", friend)
        notice(page)
        expect(page.get_by_role("button", name="有新消息 ↓")).to_be_visible()
        assert abs(page.get_by_text("第 1 期").bounding_box()["y"] - before) < 2
        expect(page.get_by_label("消息", exact=True)).to_have_value("写到一半")
        page.keyboard.type("接着写")
        expect(page.get_by_placeholder("主题")).to_have_value("卡片里接着写")
        expect(page.get_by_text("里面").nth(1)).to_be_visible()

        page.get_by_role("button", name="有新消息 ↓").click()
        expect(page.get_by_text("又一条").last).to_be_in_viewport()


def test_on_a_phone_list_and_conversation_are_two_views(browser, town):
    """A chat covers the list, and a link leads back; nothing is wider than the screen."""
    me, friend = town.person("手机用户"), town.person("同事")
    chat_id = town.group("一个名字非常非常长的群用来看看会不会撑破手机的屏幕", me, friend)
    table = "| 很长的列名一 | 很长的列名二 | 很长的列名三 | 很长的列名四 |\n|---|---|---|---|\n| 1 | 2 | 3 | 4 |"
    town.call(
        town.write, chat_id, card("长" * 80, markdown("x" * 300), markdown(table), markdown(f"```\n{'y' * 300}\n```"))
    )
    with page_in(browser, town, PHONE) as page:
        page.goto(f"/as/{me}/")
        expect(page.get_by_role("main")).to_be_hidden()
        assert fits(page)
        page.get_by_role("link", name="一个名字").click()
        expect(page.get_by_role("navigation")).to_be_hidden()
        expect(page.get_by_label("消息", exact=True)).to_be_in_viewport()
        assert fits(page)
        page.get_by_role("link", name="返回会话列表").click()
        expect(page.get_by_role("navigation")).to_be_visible()


def test_on_a_desk_both_stand_side_by_side(browser, town):
    """The list stays beside the conversation, and the line to write in is in sight."""
    me = town.person("桌面用户")
    chat_id = town.group("桌面群", me, town.person("另一位"))
    for _ in range(5):
        town.call(town.write, chat_id, card("一期", markdown(PARAGRAPH)))
    with page_in(browser, town) as page:
        page.goto(f"/as/{me}/chats/{chat_id}/")
        expect(page.get_by_role("navigation")).to_be_visible()
        expect(page.get_by_label("消息", exact=True)).to_be_in_viewport()
        assert fits(page)


def test_the_drawer_changes_the_page_in_place(browser, town):
    """Take the bot out of a group: the drawer, the head and the line follow."""
    me = town.person("群主本人")
    chat_id = town.group("有机器人的群", me, town.person("成员甲"))
    with page_in(browser, town) as page:
        page.goto(f"/as/{me}/chats/{chat_id}/")
        page.get_by_text("成员与操作").click()
        expect(page.locator("#drawer").get_by_text("成员甲")).to_be_visible()
        page.get_by_role("button", name="把机器人移出群").click()
        expect(page.locator(".toast")).to_have_text("机器人已移出")
        expect(page.locator(".mention")).to_have_count(0)
        page.get_by_text("成员与操作").click()
        expect(page.get_by_role("button", name="把机器人拉进群")).to_be_visible()


def test_an_unread_dot_appears_by_itself(browser, town):
    """A message in another chat is noticed without a reload."""
    me, friend = town.person("等消息的人"), town.person("发消息的人")
    here, there = town.group("在看的群", me, friend), town.group("没在看的群", me, friend)
    with page_in(browser, town) as page:
        page.goto(f"/as/{me}/chats/{here}/")
        town.call(town.write, there, {"text": "喂"}, "text", friend)
        expect(page.get_by_label("1 条未读")).to_be_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_words_stand_out_from_what_is_behind_them(browser, town, scheme):
    """Body text has a contrast of at least 7, in the light and in the dark."""
    me = town.person(f"看颜色的人 {scheme}")
    chat_id = town.call(town.sandbox.client.open_bot_chat, me).chat_id
    with page_in(browser, town, color_scheme=scheme) as page:
        page.goto(f"/as/{me}/chats/{chat_id}/")
        colours = page.locator(".card").evaluate(
            "e => [getComputedStyle(e).color, getComputedStyle(e).backgroundColor]"
        )
        ink, paper = (_luminance(colour) for colour in colours)
        assert (max(ink, paper) + 0.05) / (min(ink, paper) + 0.05) >= 7


def _luminance(colour):
    """Relative luminance of `rgb(r, g, b)` (WCAG 2)."""
    parts = [int(part) / 255 for part in colour.removeprefix("rgb(").removesuffix(")").split(", ")]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
