"""The preferences page: opened by a signed link, changed by forms only."""

from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import date, timedelta
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.applications import Starlette

from bot.domain.audience import Density
from bot.domain.errors import ActionError
from bot.domain.preference import Preference
from bot.services.links import HOLDS, PreferenceLinks
from bot.services.preference_hooks import PreferenceHooks
from bot.services.preference_page import PreferencePage
from bot.store import preferences
from bot.web.preferences import Preferences
from tests.integration.chat import READER, START, Chat, reader
from tests.integration.conftest import on_both

pytestmark = pytest.mark.anyio
LINKS = PreferenceLinks("secret", "https://bot.example.com")
PLATFORM = "https://open.feishu.cn"


@dataclass
class Browser:
    """A person with a link, and the bot's page."""

    chat: Chat
    http: httpx.AsyncClient
    token: str

    async def open(self, **query: str) -> httpx.Response:
        return await self.http.get("/preferences", params={"t": self.token, **query})

    async def send(self, do: str, **fields) -> httpx.Response:
        given = {"t": self.token, "csrf": LINKS.form_token(self.token), "series": "ai", "do": do, **fields}
        return await self.http.post("/preferences", data=given)


@asynccontextmanager
async def browsing(chat: Chat, person: str = READER):
    replies, subscribing = chat.interactor.replies, chat.interactor.subscribing
    hooks = PreferenceHooks(replies, subscribing, PLATFORM)
    page = PreferencePage(chat.store, replies, subscribing, hooks, LINKS, lambda: None)
    app = Starlette(routes=Preferences(page, lambda: chat.now).routes())
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport, base_url="http://bot") as http:
        yield Browser(chat, http, LINKS.token(reader(person), chat.now + HOLDS))


@pytest.fixture
async def browser(store):
    async with browsing(Chat(store)) as made:
        yield made


@on_both
async def test_what_a_form_saves_stands_on_the_page(browser):
    """Saved with a redirect: to load the page again sends nothing again."""
    await browser.chat.push()
    await browser.chat.say("订阅")
    fields = {"sections": ["学习"], "density": "full", "slot": "07:30", "zone": "Asia/Tokyo", "days": "workdays"}

    sent = await browser.send("save", **fields)
    shown = await browser.http.get(sent.headers["location"])

    assert sent.status_code == 303
    assert browser.chat.preference(reader()).density is Density.FULL
    assert "已保存" in shown.text
    assert 'value="学习" checked' in shown.text
    assert 'value="07:30" selected' in shown.text


@on_both
async def test_people_subscribe_pause_resume_leave_and_undo_there(browser):
    """The same states as in the chat."""
    steps = [
        ("subscribe", {}, "active"),
        ("pause", {"pause": "2025-03-14"}, "paused"),
        ("resume", {}, "active"),
        ("leave", {}, "unsubscribed"),
        ("undo", {}, "active"),
    ]
    for do, fields, status in steps:
        answer = await browser.send(do, **fields)
        assert (answer.status_code, browser.chat.status(reader())) == (303, status), do


async def test_opening_the_link_changes_nothing(browser):
    """Scanners open every link, with GET and HEAD, and with whatever stands in it."""
    await browser.chat.say("订阅")
    rows = browser.chat.rows()

    for do in ("leave", "pause", "save"):
        await browser.open(do=do, series="ai", csrf=LINKS.form_token(browser.token), pause="2025-03-14")
        await browser.http.head("/preferences", params={"t": browser.token, "do": do, "series": "ai"})

    assert (browser.chat.status(reader()), browser.chat.rows()) == ("active", rows)


@pytest.mark.parametrize("csrf", ["", "x", "ä", None])
async def test_a_form_that_is_not_ours_changes_nothing(browser, csrf):
    """The address alone is not enough to change something."""
    await browser.chat.say("订阅")
    own = {"csrf": csrf} if csrf is not None else {}

    answer = await browser.http.post("/preferences", data={"t": browser.token, "series": "ai", "do": "leave", **own})

    assert (answer.status_code, browser.chat.status(reader())) == (403, "active")


async def test_a_link_ends_after_a_week_and_holds_for_one_person(browser):
    """And says where to get another one."""
    await browser.chat.say("订阅")
    other = LINKS.token(reader("ou_other"), browser.chat.now + HOLDS)
    forged = f"{other.partition('.')[0]}.{browser.token.partition('.')[2]}"
    assert (await browser.http.get("/preferences", params={"t": forged})).status_code == 403

    browser.chat.now += HOLDS
    late = await browser.open()
    sent = await browser.send("leave")

    assert (late.status_code, sent.status_code, browser.chat.status(reader())) == (403, 403, "active")
    assert "发「设置」" in late.text


@pytest.mark.parametrize("token", ["", ".", "a.b", "ä.ö", "x" * 5000, "dXNlci5vdV8xLjk5OTk5OTk5OTk.AAAA", "\0"])
async def test_a_link_that_is_none_opens_nothing(browser, token):
    """A page that says so, never an error."""
    answers = [await browser.http.get("/preferences", params={"t": token}), await browser.http.get("/preferences")]

    assert [one.status_code for one in answers] == [403, 403]


@given(st.text(max_size=60), st.text(max_size=60))
def test_no_made_up_token_opens_anything(said, signature):
    """Without the key there is none."""
    with pytest.raises(ActionError):
        LINKS.open(f"{said}.{signature}", START)


@given(st.text(min_size=1, max_size=60).filter(lambda text: text.isprintable()))
def test_a_token_opens_for_whom_it_was_made(person):
    """Whatever the id looks like; and a form's token is no link."""
    token = LINKS.token(reader(person), START + timedelta(seconds=1))

    assert LINKS.open(token, START) == reader(person)
    assert not LINKS.is_form_token(token, token.partition(".")[2])


@pytest.mark.parametrize(
    ("do", "fields", "status"),
    [
        ("pause", {"pause": "2025-03-01"}, 422),
        ("pause", {"pause": "soon"}, 422),
        ("save", {"density": "all"}, 422),
        ("save", {"sections": "没有的栏目"}, 422),
        ("explode", {}, 403),
        ("save", {"series": "gone"}, 403),
        ("save", {"slot": "x" * 70_000}, 403),
    ],
)
async def test_a_wrong_form_is_a_page_with_the_reason(browser, do, fields, status):
    """Nothing changes, and the form is there again."""
    await browser.chat.say("订阅")

    answer = await browser.send(do, **fields)

    assert answer.status_code == status
    assert 'role="alert"' in answer.text
    assert browser.chat.preference(reader()) == Preference()


async def test_names_are_text_and_the_page_runs_nothing(store):
    """Whatever a series or a section is called; no script, no cache, no referrer."""
    chat = Chat(store, names=("<script>alert(1)</script>",))
    await chat.push(text="x")
    wanted = Preference(frozenset({'"><img src=x>'}))
    store.write_now(preferences.put, reader(), "ai", None, "active", wanted, chat.now)
    async with browsing(chat) as browser:
        shown = await browser.open(said="<b>")

    assert "<script" not in shown.text
    assert "<img" not in shown.text
    assert "<b>&lt;" not in shown.text
    assert shown.headers["cache-control"] == "no-store"
    assert shown.headers["referrer-policy"] == "no-referrer"
    assert "default-src 'none'" in shown.headers["content-security-policy"]


async def test_the_cards_link_opens_the_page(browser):
    """The address in the settings card, as it is."""
    query = parse_qs(urlsplit(LINKS.url(reader(), browser.chat.now)).query)

    shown = await browser.http.get("/preferences", params=query)

    assert shown.status_code == 200
    assert READER not in shown.text


async def test_a_pause_may_end_tomorrow_and_in_a_year(browser):
    """What the calendar offers is what is taken."""
    await browser.chat.say("订阅")
    shown = await browser.open()
    assert 'min="2025-03-11" max="2026-03-11"' in shown.text

    for day in ("2025-03-11", "2026-03-11"):
        await browser.send("pause", pause=day)
        assert browser.chat.preference(reader()).paused_until == date.fromisoformat(day)
