"""The sandbox's page without a script: what a person sees, and what the bot hears of it."""

import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import httpx
import pytest
from starlette.responses import JSONResponse

import bot.sandbox
from bot.sandbox.app import Sandbox
from bot.sandbox.client_actions import Shown
from bot.sandbox.clock import Clock
from bot.sandbox.page import page_routes
from bot.sandbox.page_actions import IN_CHAT, MINE, PageToast, shown_as_toast
from bot.sandbox.page_words import CLIENT_CODES, words_of_refusal
from bot.sandbox.state import Message
from tests.sandbox.kit import SETTINGS, START, ListeningBot, button, card_of, markdown

pytestmark = pytest.mark.anyio
JSON = {"Accept": "application/json"}
HOSTILE = "<script>alert(1)</script>\"'&"


@dataclass
class Visit:
    """A browser without a script, a bot that listens, and the person who looks."""

    sandbox: Sandbox
    bot: ListeningBot
    web: httpx.AsyncClient
    me: str

    @property
    def home(self):
        return f"/as/{self.me}/"

    @property
    def bot_chat(self):
        return self.sandbox.world.p2p_chat_id(SETTINGS.app_id, self.me)

    def url(self, chat_id):
        return f"{self.home}chats/{chat_id}/"

    async def see(self, url, status=200):
        page = await self.web.get(url)
        assert page.status_code == status
        return page.text

    async def post(self, url, **fields):
        return await self.web.post(url, data=fields, headers={"Origin": "http://sandbox.test"})

    async def ask(self, url, **fields):
        answer = await self.web.post(url, data=fields, headers=JSON)
        assert answer.status_code == 200
        return answer.json()

    async def meet_the_bot(self):
        await self.post(f"{self.home}open")
        return self.bot_chat

    def receive(self, chat_id, card, *, kind="interactive", sender="", **more):
        """A message that arrived without any bot: tests of the page need no API."""
        world, now = self.sandbox.world, self.sandbox.clock.now()
        message_id = world.next_message_id()
        content = json.dumps(card)
        sender_id, sender_type = (sender, "user") if sender else (SETTINGS.app_id, "app")
        world.put(Message(message_id, chat_id, sender_id, sender_type, kind, content, now, now, **more))
        return message_id

    async def group(self, name="读者群", *, with_bot=True):
        """A group of mine with one colleague."""
        friend = self.sandbox.client.add_user("陈默").open_id
        chat_id = (await self.sandbox.client.create_group(name, self.me, [friend])).chat_id
        if with_bot:
            await self.sandbox.client.add_bot(chat_id, self.me)
        return chat_id, friend


@asynccontextmanager
async def visiting(**changes) -> AsyncIterator[Visit]:
    settings = replace(SETTINGS, **changes)
    listening = ListeningBot(settings.encrypt_key)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(listening.app)) as to_bot:
        sandbox = Sandbox(settings, clock=Clock(lambda: START), http=to_bot, page=page_routes)
        me = sandbox.client.add_user("林小满").open_id
        transport = httpx.ASGITransport(sandbox.app)
        async with (
            sandbox.app.router.lifespan_context(sandbox.app),
            httpx.AsyncClient(transport=transport, base_url="http://sandbox.test") as web,
        ):
            yield Visit(sandbox, listening, web, me)


def answering(**body):
    async def answer(_body):
        return JSONResponse(body)

    return answer


def toasts(page):
    return [re.sub(r"<[^>]+>", " ", one).split() for one in re.findall(r'<div class="toast .*?</div>', page, re.DOTALL)]


async def test_one_chooses_among_everybody_who_has_not_resigned():
    """The first page lists people, and finds one by name."""
    async with visiting() as visit:
        other = visit.sandbox.client.add_user("陈默").open_id
        gone = visit.sandbox.client.add_user("离职的人").open_id
        await visit.sandbox.client.resign(gone)

        page = await visit.see("/")
        assert f'href="/as/{visit.me}/"' in page
        assert f'href="/as/{other}/"' in page
        assert gone not in page
        assert other not in await visit.see("/?q=小满")


async def test_a_new_colleague_goes_straight_in():
    """Adding a person leads to that person's chats."""
    async with visiting() as visit:
        answer = await visit.post("/people", name="新来的")
        assert answer.status_code == 303
        assert "新来的" in await visit.see(answer.headers["location"])


async def test_opening_the_bot_chat_tells_the_bot_each_time():
    """A new person meets the bot by a form; the bot hears of every opening."""
    async with visiting() as visit:
        assert "打开机器人会话" in await visit.see(visit.home)

        answer = await visit.post(f"{visit.home}open")
        await visit.post(f"{visit.home}open")

        assert answer.headers["location"] == visit.url(visit.bot_chat)
        events = visit.bot.of_type("im.chat.access_event.bot_p2p_chat_entered_v1")
        assert [event["operator_id"]["open_id"] for event in events] == [visit.me, visit.me]


async def test_looking_changes_nothing_and_tells_nobody():
    """No GET changes the world or reaches the bot."""
    async with visiting() as visit:
        chat_id, _ = await visit.group()
        visit.receive(await visit.meet_the_bot(), card_of(markdown("正文")))
        before, heard = list(visit.sandbox.world.rows()), len(visit.bot.heard)

        for url in ("/", visit.home, visit.url(chat_id), visit.url(visit.bot_chat), f"{visit.home}updates"):
            await visit.see(url)
        for action in (*MINE, *IN_CHAT):
            assert (await visit.web.get(f"{visit.home}{action}")).status_code in {404, 405}
            assert (await visit.web.get(f"{visit.url(chat_id)}{action}")).status_code in {404, 405}

        assert list(visit.sandbox.world.rows()) == before
        assert len(visit.bot.heard) == heard


async def test_a_click_without_a_script_shows_the_toast_once():
    """The answer travels to the next page, and is gone on the one after."""
    async with visiting() as visit:
        message_id = visit.receive(await visit.meet_the_bot(), card_of(button({"do": "subscribe"})))
        visit.bot.answer = answering(toast={"type": "success", "content": "已订阅"})

        answer = await visit.post(f"{visit.url(visit.bot_chat)}click", message_id=message_id, press="body.elements.0")

        assert answer.status_code == 303
        assert toasts(await visit.see(answer.headers["location"])) == [["已订阅"]]
        assert toasts(await visit.see(visit.url(visit.bot_chat))) == []
        (event,) = visit.bot.of_type("card.action.trigger")
        assert event["action"] == {"tag": "button", "value": {"do": "subscribe"}}
        assert event["operator"]["open_id"] == visit.me


async def test_a_click_with_a_script_is_answered_in_place():
    """The script gets the toast as data, and draws the card the bot answered with."""
    async with visiting() as visit:
        message_id = visit.receive(await visit.meet_the_bot(), card_of(button({"do": "subscribe"})))
        visit.bot.answer = answering(
            toast={"type": "info", "content": "好"}, card={"type": "raw", "data": card_of(markdown("换好了"))}
        )
        url = f"{visit.url(visit.bot_chat)}click"
        outcome = await visit.ask(url, message_id=message_id, press="body.elements.0")
        assert outcome == {"toast": {"kind": "info", "text": "好", "detail": ""}, "goto": None}
        assert "换好了" in await visit.see(visit.url(visit.bot_chat))


async def test_a_form_reaches_the_bot_with_everything_filled_in():
    """Fields are posted by their place on the card, and arrive by their name."""
    form = {
        "tag": "form",
        "name": "prefs",
        "elements": [
            {"tag": "input", "name": "topic"},
            {"tag": "checker", "name": "workdays"},
            button({"do": "save"}, name="save", form_action_type="submit"),
        ],
    }
    async with visiting() as visit:
        message_id = visit.receive(await visit.meet_the_bot(), card_of(form))
        at = "body.elements.0.elements"
        fields = {f"field.{at}.0": "代理", f"field.{at}.1": "1", "press": f"{at}.2", "message_id": message_id}
        await visit.post(f"{visit.url(visit.bot_chat)}click", **fields)
        (event,) = visit.bot.of_type("card.action.trigger")
        assert event["action"]["form_value"] == {"topic": "代理", "workdays": True}


async def test_a_choice_outside_a_form_reaches_the_bot():
    """A select that calls back by itself reports its option."""
    select = {
        "tag": "select_static",
        "behaviors": [{"type": "callback", "value": {"do": "choose"}}],
        "options": [{"text": {"tag": "plain_text", "content": "甲"}, "value": "a"}],
    }
    async with visiting() as visit:
        message_id = visit.receive(await visit.meet_the_bot(), card_of(select))
        fields = {"field.body.elements.0": "a", "press": "body.elements.0", "message_id": message_id}
        await visit.post(f"{visit.url(visit.bot_chat)}click", **fields)
        (event,) = visit.bot.of_type("card.action.trigger")
        assert event["action"]["option"] == "a"


async def test_a_press_on_a_card_that_was_replaced_is_explained():
    """The page in front of you may be older than the card."""
    async with visiting() as visit:
        message_id = visit.receive(await visit.meet_the_bot(), card_of(markdown("没有按钮了")))
        for press in ("body.elements.7", "body.elements.0", ""):
            url = f"{visit.url(visit.bot_chat)}click"
            outcome = await visit.ask(url, message_id=message_id, press=press)
            assert "卡片刚刚更新过" in outcome["toast"]["text"]
        assert visit.bot.of_type("card.action.trigger") == []


async def test_without_an_address_a_click_shows_the_clients_own_code():
    """Codes are shown the way a client shows them, with a short explanation."""
    async with visiting(card_url=None) as visit:
        message_id = visit.receive(await visit.meet_the_bot(), card_of(button({"a": 1})))
        url = f"{visit.url(visit.bot_chat)}click"
        outcome = await visit.ask(url, message_id=message_id, press="body.elements.0")
        assert outcome["toast"] == {"kind": "error", "text": "操作失败 200340", "detail": "机器人没有配置卡片回调地址"}


@pytest.mark.parametrize("code", CLIENT_CODES)
async def test_every_client_code_has_its_words(code):
    """No code of the platform's page is shown without an explanation."""
    assert shown_as_toast(Shown(code=code)) == PageToast("error", f"操作失败 {code}", CLIENT_CODES[code])


async def test_every_refusal_of_the_client_has_chinese_words():
    """Whoever adds a refusal adds its words."""
    folder = Path(bot.sandbox.__file__).parent
    sources = [folder / f"{name}.py" for name in ("client_actions", "visibility", "card_elements")]
    pattern = r"(?:ActionRefusedError|NoSuchElementError)\(f?\"([^\"]+)\""
    reasons = [reason for source in sources for reason in re.findall(pattern, source.read_text(encoding="utf-8"))]
    assert len(reasons) > 10
    assert [reason for reason in reasons if words_of_refusal(reason).startswith("现在不能")] == []


async def test_in_a_group_the_bot_hears_only_what_mentions_it():
    """The tick beside the line and a typed @ are the same."""
    async with visiting() as visit:
        chat_id, _ = await visit.group()
        say = f"{visit.url(chat_id)}say"
        await visit.post(say, text="大家好")
        await visit.post(say, text="今日", mention="1")
        await visit.post(say, text="@日报机器人 订阅")

        heard = [event["message"]["content"] for event in visit.bot.of_type("im.message.receive_v1")]
        assert [json.loads(content)["text"] for content in heard] == ["@_user_1 今日", "@_user_1 订阅"]
        page = await visit.see(visit.url(chat_id))
        assert "@日报机器人 订阅" in page
        assert "大家好" in page


async def test_the_menu_of_the_bot_works():
    """Menus exist in the chat with the bot only."""
    async with visiting() as visit:
        chat_id, _ = await visit.group()
        assert "机器人菜单" in await visit.see(visit.url(await visit.meet_the_bot()))
        assert "机器人菜单" not in await visit.see(visit.url(chat_id))
        await visit.post(f"{visit.url(visit.bot_chat)}menu", key="subscribe")
        assert [event["event_key"] for event in visit.bot.of_type("application.bot.menu_v6")] == ["subscribe"]


async def test_a_bot_that_does_not_answer_an_event_is_noticed():
    """The person who tries it sees why nothing happens."""

    async def broken(_body):
        return JSONResponse({}, 500)

    async with visiting() as visit:
        await visit.meet_the_bot()
        visit.bot.answer = broken
        outcome = await visit.ask(f"{visit.url(visit.bot_chat)}say", text="订阅")
        assert outcome["toast"]["text"] == "机器人没有应答这个事件"


async def test_whatever_people_and_bots_write_stays_text():
    """Names, group names, messages, previews and toasts are escaped."""
    async with visiting() as visit:
        visit.me = visit.sandbox.client.add_user(HOSTILE).open_id
        chat_id, _ = await visit.group(HOSTILE)
        await visit.post(f"{visit.url(chat_id)}say", text=HOSTILE)
        message_id = visit.receive(
            chat_id, card_of(button({}), markdown(HOSTILE), config={"summary": {"content": HOSTILE}})
        )
        visit.receive(chat_id, {"text": HOSTILE}, kind="text")
        visit.bot.answer = answering(toast={"type": "info", "content": HOSTILE})
        await visit.post(f"{visit.url(chat_id)}click", message_id=message_id, press="body.elements.0")
        for url in (visit.url(chat_id), visit.home, "/", f"{visit.home}updates?chat={chat_id}"):
            assert "<script>alert" not in await visit.see(url)


async def test_a_page_holds_no_inline_script_style_or_handler():
    """A strict policy is sent, and the pages keep to it."""
    async with visiting() as visit:
        chat_id, _ = await visit.group()
        visit.receive(chat_id, card_of(markdown("# 甲\n| a |\n|---|\n| b |"), button({})))
        for url in ("/", visit.home, visit.url(chat_id), "/as/nobody/"):
            answer = await visit.web.get(url)
            policy = answer.headers["content-security-policy"]
            assert policy.startswith("default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:;")
            assert not re.search(r"<style|<script(?! src=\"/assets/)|\sstyle=|\son\w+=|https?://", answer.text)
        for name in ("card.css", "page.css", "page.js"):
            assert (await visit.web.get(f"/assets/{name}")).status_code == 200
        assert (await visit.web.get("/assets/client.html.j2")).status_code == 404


FOREIGN = (
    {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site"},
    {"Origin": "http://evil.example"},
    {"Origin": "null"},
    {"Origin": "http://sandbox.test.evil.example"},
)


@pytest.mark.parametrize("headers", FOREIGN, ids=str)
async def test_what_another_site_posts_is_refused(headers):
    """Every POST is refused before anything is read or done."""
    async with visiting() as visit:
        chat_id, _ = await visit.group()
        before = list(visit.sandbox.world.rows())
        urls = ["/people", *(visit.home + name for name in MINE), *(visit.url(chat_id) + name for name in IN_CHAT)]
        for url in urls:
            assert (await visit.web.post(url, data={"name": "x", "text": "x"}, headers=headers)).status_code == 403
        assert list(visit.sandbox.world.rows()) == before


async def test_a_chat_is_unread_until_it_was_shown():
    """What one person has seen is remembered in that browser only."""
    async with visiting() as visit:
        chat_id, friend = await visit.group()
        visit.receive(chat_id, {"text": "早"}, kind="text", sender=friend)
        visit.receive(chat_id, {"text": "我说的"}, kind="text", sender=visit.me)
        assert "1 条未读" in await visit.see(visit.home)
        await visit.see(visit.url(chat_id))
        assert "未读" not in await visit.see(visit.home)
        assert "条未读" in await visit.see(f"/as/{friend}/")


async def test_updates_are_empty_until_something_happens():
    """Polling costs nothing while nothing is new, and brings the drawn parts when it is."""
    async with visiting() as visit:
        chat_id, _ = await visit.group()
        version = re.search(r'data-version="(\w+)"', await visit.see(visit.url(chat_id)))[1]
        url = f"{visit.home}updates?chat={chat_id}&version={version}"
        assert (await visit.web.get(url)).status_code == 204

        message_id = visit.receive(chat_id, card_of(markdown("新的一期")))
        news = (await visit.web.get(url)).json()
        assert "新的一期" in news["parts"]["messages"]
        assert set(news["parts"]) == {"chats", "head", "messages", "composer"}

        again = f"{visit.home}updates?chat={chat_id}&version={news['version']}"
        assert (await visit.web.get(again)).status_code == 204
        visit.sandbox.world.change(visit.sandbox.world.messages[message_id], recalled=True)
        assert "撤回了一条消息" in (await visit.web.get(again)).json()["parts"]["messages"]


async def test_other_peoples_chats_and_the_resigned_are_not_there():
    """Nobody looks into a chat they are not in."""
    async with visiting() as visit:
        chat_id, friend = await visit.group()
        outsider = visit.sandbox.client.add_user("外人").open_id
        await visit.see(f"/as/{outsider}/chats/{chat_id}/", 404)
        await visit.see(f"/as/{outsider}/updates?chat={chat_id}", 404)
        await visit.post(f"/as/{friend}/resign")
        await visit.see(f"/as/{friend}/", 404)


async def test_the_operators_drawer_does_what_it_says():
    """Add and remove the bot, mute, dissolve: each with the event a bot would get."""
    async with visiting() as visit:
        chat_id, friend = await visit.group(with_bot=False)
        url, hears = visit.url(chat_id), f"/as/{friend}/chats/{chat_id}/"
        assert "把机器人拉进群" in await visit.see(url)
        await visit.post(f"{url}add-bot")
        assert "把机器人移出群" in await visit.see(url)
        await visit.post(f"{url}mute", on="1")
        assert "全员禁言中" in await visit.see(url)
        assert (await visit.ask(f"{hears}say", text="喂"))["toast"]["text"] == words_of_refusal("the group is muted")
        await visit.post(f"{url}mute", on="0")
        await visit.post(f"{url}remove-bot")
        await visit.post(f"{url}dissolve", keep="1")
        assert "这个群已解散" in await visit.see(url)
        types = [one["header"]["event_type"] for one in visit.bot.heard]
        assert types == [
            "im.chat.member.bot.added_v1",
            "im.chat.updated_v1",
            "im.chat.updated_v1",
            "im.chat.member.bot.deleted_v1",
        ]


async def test_a_dissolved_group_leaves_the_list():
    """Without its history a dissolved group is gone, and the page goes home."""
    async with visiting() as visit:
        chat_id, _ = await visit.group()
        assert (await visit.ask(f"{visit.url(chat_id)}dissolve"))["goto"] == visit.home
        assert chat_id not in await visit.see(visit.home)
        await visit.see(visit.url(chat_id), 404)


async def test_a_group_is_made_with_the_bot_inside():
    """One form: name, members, and whether the bot comes along."""
    async with visiting() as visit:
        friend = visit.sandbox.client.add_user("陈默").open_id
        answer = await visit.post(f"{visit.home}group", name="新读书会", member=[friend], with_bot="1")
        page = await visit.see(answer.headers["location"])
        assert "新读书会" in page
        assert "3 位成员" in page
        assert len(visit.bot.of_type("im.chat.member.bot.added_v1")) == 1


async def test_one_can_stop_the_bots_messages_and_resign():
    """Both change only the person who acts."""
    async with visiting() as visit:
        await visit.meet_the_bot()
        await visit.post(f"{visit.home}stop", on="1")
        assert visit.sandbox.world.users[visit.me].stopped
        assert "你已停收机器人消息" in await visit.see(visit.url(visit.bot_chat))
        await visit.post(f"{visit.home}stop", on="0")
        assert not visit.sandbox.world.users[visit.me].stopped
        answer = await visit.post(f"{visit.home}resign")
        assert toasts(await visit.see(answer.headers["location"])) == [["林小满", "已离职"]]


@pytest.mark.parametrize(("hours", "moved_s"), [("24", 86400), ("0", 0), ("-1", 0), ("x", 0), ("99999", 0)])
async def test_the_clock_moves_forward_only(hours, moved_s):
    """From one hour to a month; anything else is refused."""
    async with visiting() as visit:
        await visit.post(f"{visit.home}forward", hours=hours)
        assert visit.sandbox.clock.now() - START == moved_s


async def test_a_person_outside_the_range_is_told_so():
    """The bot cannot be opened, and the page stays where it was."""
    async with visiting() as visit:
        await visit.sandbox.client.set_available(visit.me, False)
        answer = await visit.post(f"{visit.home}open")
        assert "不在应用的可用范围内" in toasts(await visit.see(answer.headers["location"]))[0][0]


async def test_long_chats_show_the_latest_messages_and_lead_to_the_earlier():
    """Thirty at first, thirty more a step."""
    async with visiting() as visit:
        chat_id, friend = await visit.group()
        for number in range(70):
            visit.receive(chat_id, {"text": f"第{number}条。"}, kind="text", sender=friend)
        page = await visit.see(visit.url(chat_id))
        assert "第40条。" in page
        assert "第39条。" not in page
        assert "第10条。" in await visit.see(visit.url(chat_id) + "?show=60")
        assert "第0条。" in await visit.see(visit.url(chat_id) + "?show=90")


async def test_a_broken_flash_cookie_shows_nothing():
    """A cookie that is no toast of ours is ignored."""
    async with visiting() as visit:
        for value in ("x", "e30=", "bnVsbA==", "////"):
            visit.web.cookies.set("flash", value)
            assert toasts(await visit.see("/")) == []
            visit.web.cookies.clear()
