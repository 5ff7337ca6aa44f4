"""Custom bots on the preferences page: who adds one gets the editions into its group, and nobody else learns of it."""

import asyncio
import re
from dataclasses import dataclass
from datetime import timedelta

import httpx
import pytest
from markupsafe import escape
from sqlalchemy import select

from bot.domain.audience import Kind, Receiver
from bot.sandbox.state import Hook
from bot.services import manage, subscriptions
from bot.services.links import HOLDS, PreferenceLinks
from bot.services.preference_hooks import LONGEST_SECRET, MOST
from bot.services.roster import read_row
from bot.store import subscribers, webhooks
from bot.store import tables as stored
from tests.integration import test_hook_sender
from tests.integration.chat import Chat
from tests.integration.conftest import House, make_house, on_both, until
from tests.integration.test_deliver import DAY, publish, settled
from tests.integration.test_preferences_page import LINKS, PLATFORM, Browser, browsing

pytestmark = pytest.mark.anyio
everything_logged = test_hook_sender.everything_logged
PATH = "/open-apis/bot/v2/hook/"
ADDRESS = f"{PLATFORM}{PATH}0123abcd-4567-89ab-cdef-0123456789ab"
OTHER = "ou_other"
SECRET = "密钥 s/=+"
NUMBER = re.compile(r'name="hook" value="(\d+)"')
SHOWN = re.compile(r'class="tail">([^<]*)<')


def address(number: int) -> str:
    return f"{PLATFORM}{PATH}0123abcd-4567-89ab-cdef-{number:012}"


def hook(text: str = ADDRESS) -> Receiver:
    return Receiver(Kind.WEBHOOK, text)


async def add(browser: Browser, text: str = ADDRESS, secret: str = "", **fields) -> httpx.Response:
    return await browser.send("hook-add", address=text, secret=secret, **fields)


async def stop(browser: Browser, number: str, **fields) -> httpx.Response:
    return await browser.send("hook-stop", hook=number, **fields)


async def listed(browser: Browser) -> list[str]:
    """What stands in the list of their page."""
    return SHOWN.findall((await browser.open()).text)


async def numbers(browser: Browser) -> list[str]:
    return NUMBER.findall((await browser.open()).text)


def said(answer: httpx.Response) -> str:
    """The line of a page."""
    return "".join(re.findall(r'class="message[^>]*>([^<]*)<', answer.text))


def kept(chat: Chat) -> list:
    """All that is stored of subscriptions, and what was made of them."""
    wanted = (stored.subscriptions, stored.deliveries, stored.audit)
    rows = chat.store.read_now(lambda tx: [tx.execute(select(table)).all() for table in wanted])
    return [*rows, chat.store.read_now(webhooks.secret_of, ADDRESS)]


def by_operator(chat: Chat, text: str = ADDRESS) -> None:
    row = read_row({"kind": "webhook", "id": text, "series": "ai", "secret": "theirs"}, ["ai"], PLATFORM)
    manage.import_subscriptions(chat.store, [row], chat.now)


@pytest.fixture
async def browser(store):
    async with browsing(Chat(store, names=("灯塔日报", "芯片周报"))) as made:
        yield made


@pytest.fixture
async def other(browser):
    async with browsing(browser.chat, OTHER) as made:
        yield made


@dataclass
class Home:
    """A house whose bot has the page, and somebody with a link to it."""

    house: House
    http: httpx.AsyncClient
    token: str
    csrf: str

    async def send(self, do: str, **fields) -> httpx.Response:
        given = {"t": self.token, "csrf": self.csrf, "series": "ai", "do": do, **fields}
        return await self.http.post("/preferences", data=given)

    async def done(self, do: str, **fields) -> str:
        """Send a form; returns the page that it leads to."""
        sent = await self.send(do, **fields)
        assert sent.status_code == 303
        return (await self.http.get(sent.headers["location"])).text

    async def page(self) -> str:
        return (await self.http.get("/preferences", params={"t": self.token})).text

    async def new_hook(self, secret: str = "") -> Hook:
        """A custom bot of a group in which the app is not."""
        client = self.house.sandbox.client
        chat_id = (await client.create_group("读者群", client.add_user("编辑").open_id, [])).chat_id
        assert chat_id is not None
        return self.house.sandbox.hooks.add(chat_id, "社区日报", secret=secret)

    def address_of(self, hook: Hook) -> str:
        return f"{self.house.settings.feishu.base_url}{PATH}{hook.token}"

    def received(self, hook: Hook) -> list[str]:
        return [one.content for one in self.house.sandbox.hooks.messages_of(hook)]


@pytest.fixture
async def home(tmp_path, store_url):
    public_url = "https://bot.example.com"
    async with make_house(tmp_path, store={"url": store_url}, web={"public_url": public_url}) as house:
        (person,) = house.people(1)
        links = PreferenceLinks(house.settings.feishu.app_secret, public_url)
        token = links.token(person, house.clock() + HOLDS)
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{house.bot_port}") as http:
            yield Home(house, http, token, links.form_token(token))


@on_both
async def test_a_group_gets_todays_edition_at_once_then_the_next_ones_and_none_after_a_stop(home):
    """Signed, as the custom bot asks for; no control of the card is dead."""
    custom = await home.new_hook(SECRET)
    async with home.house.bot():
        await publish(home.house)
        await until(lambda: settled(home.house, sent=1))

        page = await home.done("hook-add", address=home.address_of(custom), secret=SECRET)
        await until(lambda: len(home.received(custom)) == 1)
        await publish(home.house, day=DAY + timedelta(days=1))
        await until(lambda: len(home.received(custom)) == 2)
        await home.done("hook-stop", hook=NUMBER.findall(page)[0])
        await publish(home.house, day=DAY + timedelta(days=2))
        await until(lambda: settled(home.house, sent=5))

    assert len(home.received(custom)) == 2
    assert all("流水线" in one for one in home.received(custom))
    assert home.house.sandbox.world.violations == []


async def test_a_wrong_secret_is_told_there_and_mended_by_adding_again(home):
    """Whoever mistyped it needs no operator."""
    custom = await home.new_hook(SECRET)
    where = home.address_of(custom)
    async with home.house.bot():
        await home.done("hook-add", address=where, secret="mistyped")
        await publish(home.house)
        await until(lambda: settled(home.house, sent=1, failed=1))
        before = await home.page()

        after = await home.done("hook-add", address=where, secret=SECRET)
        await publish(home.house, day=DAY + timedelta(days=1))
        await until(lambda: len(home.received(custom)) == 1)

    assert "已停发：签名不对" in before
    assert "已恢复" in after
    assert "已停发" not in after


async def test_neither_address_nor_secret_stand_in_a_page_a_log_or_the_audit(home, everything_logged):
    """Whoever has them writes to the group."""
    custom = await home.new_hook("s3cret-word")
    where = home.address_of(custom)
    async with home.house.bot():
        await publish(home.house)
        pages = [await home.done("hook-add", address=where, secret=one) for one in ("s3cret", "s3cret-word", "")]
        await until(lambda: not settled(home.house, sent=1, pending=1))
        refused = await home.send("hook-add", address=f"{where}/", secret="s3cret-word")
        pages.append(await home.done("hook-stop", hook=NUMBER.findall(pages[-1])[0]))
    lines = home.house.store.read_now(lambda tx: tx.execute(select(stored.audit)).all())

    assert custom.token[-4:] in pages[0]
    assert custom.token[-4:] in str(lines)
    for told in (*pages, str(lines), everything_logged()):
        assert custom.token not in told
        assert "s3cret" not in told
    assert "s3cret" not in refused.text


@on_both
async def test_what_waits_for_a_webhook_goes_with_it_and_comes_back_with_it(browser):
    """Under the keys of the push: never a second copy."""
    await browser.chat.push()
    await add(browser)
    added = browser.chat.rows(hook())
    await stop(browser, (await numbers(browser))[0])
    stopped = browser.chat.rows(hook())
    await add(browser)
    back = browser.chat.rows(hook())

    assert [row.status for row in (*added, *stopped, *back)] == ["pending", "cancelled", "pending"]
    assert {row.key for row in (*stopped, *back)} == {added[0].key}


async def test_adding_twice_changes_nothing_and_says_so(browser):
    """Whatever the spelling, and without typing the secret again."""
    await add(browser, secret=SECRET)
    before = kept(browser.chat)

    again = await add(browser, f" {ADDRESS.replace('https://open.feishu.cn', 'HTTPS://Open.Feishu.cn:443')} ")
    page = await browser.http.get(again.headers["location"])

    assert said(page) == "这个地址你已经添加过了，没有改动。"
    assert kept(browser.chat) == before


async def test_another_secret_replaces_the_old_one_with_a_line_in_the_audit(browser):
    """The line says so much and no more."""
    await add(browser, secret="old")
    again = await add(browser, secret=SECRET)

    page = await browser.http.get(again.headers["location"])
    *_, (_, _, actor, action, target, before, after) = kept(browser.chat)[2]
    assert said(page) == "密钥已更新。"
    assert kept(browser.chat)[-1] == SECRET
    assert (actor, action, target, before, after) == (
        "ou_reader",
        "secret",
        "ai:webhook:open.feishu.cn…89ab",
        None,
        None,
    )


async def test_who_added_it_is_kept_and_sees_it_alone(browser, other):
    """By series and the end of the address; closed until somebody looks."""
    closed = (await browser.open()).text
    await add(browser)
    await add(browser, series="chips")
    by_operator(browser.chat, address(1))

    assert '<details class="hooks" id="hooks">' in closed
    assert browser.chat.present(hook()).set_by == "ou_reader"
    assert await listed(browser) == ["open.feishu.cn…89ab", "open.feishu.cn…89ab"]
    assert "<b>芯片周报</b>" in (await browser.open()).text
    assert (await listed(other), await numbers(other)) == ([], [])


async def _by_an_operator(browser: Browser) -> None:
    by_operator(browser.chat)


async def _by_a_colleague(browser: Browser) -> None:
    await add(browser, secret="theirs")


async def _for_another_series(browser: Browser) -> None:
    await add(browser, secret="theirs", series="chips")


async def _paused_by_a_refusal(browser: Browser) -> None:
    await add(browser, secret="theirs")
    browser.chat.store.write_now(subscribers.pause, hook(), "签名不对", browser.chat.now)


@on_both
async def test_an_address_in_use_is_not_taken_over_and_the_answer_tells_nothing_of_who_has_it(browser, other):
    """The same words whoever has it and however it stands; nothing changes, nothing is listed."""
    answers = set()
    for has_it in (_by_an_operator, _by_a_colleague, _for_another_series, _paused_by_a_refusal):
        await has_it(browser)
        before = kept(browser.chat)

        answer = await add(other, secret="mine")

        assert (answer.status_code, await listed(other)) == (422, [])
        assert kept(browser.chat) == before
        answers.add(answer.text)
        subscriptions.remove(browser.chat.store, hook(), None, browser.chat.now, "cli")

    assert said(answer) == "没能添加这个地址，请从群设置里重新复制一次；还是不行，请找管理员。"
    assert len(answers) == 1
    assert "ou_reader" not in answer.text


async def test_an_address_that_is_free_again_brings_nothing_along(browser, other):
    """Neither the secret nor the way to stop it."""
    await add(browser, secret="theirs")
    (number,) = await numbers(browser)
    await stop(browser, number)

    taken = await add(other)
    late = await stop(browser, number)

    assert (taken.status_code, late.status_code) == (303, 403)
    assert (await listed(browser), await listed(other)) == ([], ["open.feishu.cn…89ab"])
    assert browser.chat.store.read_now(webhooks.secret_of, ADDRESS) is None
    assert browser.chat.status(hook()) == "active"


async def test_nobody_stops_what_another_person_added(browser, other):
    """Neither with their own link nor by the right number, and it is told as a number that never was."""
    await add(browser)
    by_operator(browser.chat, address(1))
    before = kept(browser.chat)

    (number,) = await numbers(browser)
    tried = [number, str(int(number) + 1), "999", "-1", "9" * 400, "x", "", "\0", f"{number} "]
    answers = [await stop(other, one) for one in tried]
    wrong_series = await stop(browser, number, series="chips")

    assert {one.status_code for one in (*answers, wrong_series)} == {403}
    assert len({one.text for one in answers}) == 1
    assert kept(browser.chat) == before


async def test_a_form_that_is_not_ours_or_too_late_changes_nothing(browser):
    """The address of the page alone is not enough, nor is a link that has ended."""
    await add(browser)
    (number,) = await numbers(browser)
    before = kept(browser.chat)

    answers = [await browser.open(do="hook-stop", hook=number, series="ai", csrf=LINKS.form_token(browser.token))]
    answers += [await add(browser, address(1), csrf=one) for one in ("", "x", LINKS.form_token("x"))]
    answers += [await stop(browser, number, csrf=one) for one in ("", "x", LINKS.form_token("x"))]
    browser.chat.now += HOLDS
    answers += [await add(browser, address(1)), await stop(browser, number)]

    assert [one.status_code for one in answers] == [200] + [403] * 8
    assert kept(browser.chat) == before


async def test_a_replayed_form_does_nothing_more(browser):
    """A double click, or a page sent again: the end state is the same, with no second line in the audit."""
    for step in (add, stop):
        fields = [] if step is add else await numbers(browser)
        await step(browser, *fields)
        before = kept(browser.chat)
        again = [await step(browser, *fields) for _ in range(2)]

        assert [one.status_code for one in again] == [303, 303]
        assert kept(browser.chat) == before


@pytest.mark.parametrize(
    "text",
    [
        "",
        "oc_group",
        "\0",
        '"><script>alert(1)</script>',
        f'{ADDRESS}"><img src=x onerror=alert(1)>',
        ADDRESS.replace("https", "http"),
        ADDRESS.replace("open.feishu.cn", "evil.example.com"),
        ADDRESS.replace("open.feishu.cn", "open.feishu.cn.evil.example.com"),
        ADDRESS.replace("open.feishu.cn", "open.larksuite.com"),
        ADDRESS.replace("open.feishu.cn", "open.feishu.cn:8443"),
        ADDRESS.replace("open.feishu.cn", "me@open.feishu.cn"),
        ADDRESS.replace("open.feishu.cn", "open.feishu.cn@evil.example.com"),
        ADDRESS.replace("https://open.feishu.cn", "http://127.0.0.1:8080"),
        ADDRESS.replace("https://open.feishu.cn", "http://localhost"),
        ADDRESS.replace("open.feishu.cn", "10.1.2.3"),
        ADDRESS.replace("open.feishu.cn", "169.254.169.254"),
        ADDRESS.replace("open.feishu.cn", "[::1]"),
        f"{PLATFORM}/open-apis/im/v1/messages",
        f"{PLATFORM}{PATH}",
        f"{ADDRESS}?x=1",
        f"{ADDRESS}#x",
        f"{ADDRESS}/../x",
        f"{ADDRESS}\nx",
        f"{PLATFORM}{PATH}" + "a" * 129,
        f"{PLATFORM}{PATH}" + "a" * 60_000,
    ],
)
async def test_what_is_no_address_of_the_platform_is_refused_with_one_line(browser, text):
    """What was typed is there again, but for the secret; nothing is stored, and markup is text."""
    before = kept(browser.chat)

    answer = await add(browser, text, "s3cret-word", series="chips")

    assert (answer.status_code, kept(browser.chat)) == (422, before)
    assert said(answer) == f"地址不对，请从群设置里复制完整的地址，它以 {PLATFORM}{PATH} 开头。"
    assert '<details class="hooks" id="hooks" open>' in answer.text
    assert '<option value="chips" selected>' in answer.text
    assert "s3cret-word" not in answer.text
    assert "<script" not in answer.text
    assert "<img" not in answer.text
    assert f'name="address" value="{escape(text)}"' in answer.text


@pytest.mark.parametrize("secret", ["a\nb", "a\0b", "x" * (LONGEST_SECRET + 1), "x" * 50_000, "\x1b[31m"])
async def test_what_is_no_secret_is_refused_with_one_line(browser, secret):
    """Before anything is stored."""
    before = kept(browser.chat)

    answer = await add(browser, secret=secret)

    assert (answer.status_code, kept(browser.chat)) == (422, before)
    assert said(answer).startswith("密钥不对")
    assert f'value="{ADDRESS}"' in answer.text
    assert secret not in answer.text


async def test_a_secret_may_hold_markup_and_is_never_shown(browser):
    """It is kept as it is."""
    await add(browser, secret='"><script>x')

    assert browser.chat.store.read_now(webhooks.secret_of, ADDRESS) == '"><script>x'
    assert "script" not in (await browser.open()).text


async def test_five_are_enough_for_one_person(browser, other):
    """One that is stopped makes room, and what a colleague has does not count."""
    await add(other, address(99))
    done = [(await add(browser, address(one))).status_code for one in range(MOST)]
    sixth = await add(browser, address(MOST))
    again = await add(browser, address(0))
    await stop(browser, (await numbers(browser))[0])
    then = await add(browser, address(MOST))

    assert done == [303] * MOST
    assert (sixth.status_code, said(sixth)) == (422, "最多添加 5 个，先停止一个再添加。")
    assert (again.status_code, then.status_code) == (303, 303)
    assert len(await listed(browser)) == MOST


@on_both
async def test_five_are_enough_also_all_at_once(browser):
    """Whoever sends eight forms in the same moment."""
    answers = await asyncio.gather(*(add(browser, address(one)) for one in range(8)))

    assert sorted(one.status_code for one in answers) == [303] * MOST + [422] * 3
    assert len(await listed(browser)) == MOST


@on_both
async def test_two_who_add_the_same_address_at_once_do_not_both_have_it(store):
    """Not even for two series: there is one secret."""
    chat = Chat(store, names=("灯塔日报", "芯片周报"))
    for number in range(10):
        text = address(number)
        async with browsing(chat, f"ou_a{number}") as one, browsing(chat, f"ou_b{number}") as two:
            answers = await asyncio.gather(add(one, text, "one"), add(two, text, "two", series="chips"))
            lists = [await listed(one), await listed(two)]

        assert sorted(answer.status_code for answer in answers) == [303, 422]
        assert sorted(len(found) for found in lists) == [0, 1]
        first = answers[0].status_code == 303
        assert store.read_now(webhooks.secret_of, text) == ("one" if first else "two")


async def test_who_adds_and_adds_is_slowed_down(browser):
    """As in the chat; to stop one is always possible."""
    await add(browser)
    (number,) = await numbers(browser)

    added = [await add(browser) for _ in range(10)]
    stopped = await stop(browser, number)

    assert [one.status_code for one in added] == [303] * 9 + [422]
    assert said(added[-1]) == "点得有点快，歇一会儿再试。"
    assert stopped.status_code == 303
