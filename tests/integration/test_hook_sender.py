"""Messages to custom bots: the sender, real HTTP, and the sandbox's webhook with its limits on."""

import asyncio
import json
import logging
import traceback
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.responses import JSONResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

from bot import log
from bot.cards.fallback import fallback
from bot.domain.audience import Kind, Receiver
from bot.domain.errors import CardError, ReceiverError, SendError, TemporaryError
from bot.domain.ladder import Rung
from bot.feishu.codes import Reaction
from bot.feishu.hook_codes import ROWS
from bot.feishu.hooks import HookSender
from bot.sandbox.app import Sandbox, SandboxSettings
from bot.sandbox.clock import Clock
from bot.sandbox.faults import Fault
from bot.sandbox.page import page_routes
from bot.sandbox.state import Hook
from bot.serving import listen, serving
from tests.builders import make_cards, make_rich_digest
from tests.integration.conftest import free_port, until
from tests.sandbox.kit import START

pytestmark = pytest.mark.anyio
TEXT = '{"text":"今日日报"}'
PATH = "/open-apis/bot/v2/hook/"
DAY_S = 86_400
WRONG_ADDRESSES = (
    "",
    "社区日报",
    "oc_1",
    "//{host}{path}abc",
    "ftp://{host}{path}abc",
    "http://{host}/open-apis/im/v1/messages",
    "http://{host}{path}",
    "http://{host}{path}abc/def",
    "http://{host}{path}abc?x=1",
    "http://{host}{path}abc#x",
    "http://{host}{path}%61bc",
    "http://{host}{path}a..b",
    "http://{host}{path}abc\n",
    "http://{host}{path}" + "a" * 129,
    "http://user:word@{host}{path}abc",
    "http://localhost{path}abc",
    "http://open.feishu.cn{path}abc",
    "https://{host}{path}abc",
    "https://127.0.0.1{path}abc",
    "https://2130706433{path}abc",
    "https://[::1]{path}abc",
    "https://[::ffff:10.0.0.1]{path}abc",
    "https://localhost{path}abc",
    "https://10.1.2.3{path}abc",
    "https://169.254.169.254{path}abc",
    "https://192.168.1.1:8443{path}abc",
    "https://open.feishu.cn:99999{path}abc",
)


@dataclass
class Rig:
    """A sandbox, and what sends to its custom bots. `secrets` are known by the whole address."""

    sandbox: Sandbox
    url: str
    sender: HookSender
    secrets: dict[str, str] = field(default_factory=dict)

    async def hook(self, **safety: Any) -> Hook:
        """A custom bot of a new group, in which the app's bot is not."""
        owner = self.sandbox.client.add_user("编辑").open_id
        chat_id = (await self.sandbox.client.create_group("读者群", owner, [])).chat_id
        assert chat_id is not None
        hook = self.sandbox.hooks.add(chat_id, "社区日报", **safety)
        if hook.secret:
            self.secrets[self.to(hook).id] = hook.secret
        return hook

    def to(self, hook: Hook) -> Receiver:
        return Receiver(Kind.WEBHOOK, f"{self.url}{PATH}{hook.token}")

    async def send(self, hook: Hook, content: str = TEXT, rung: Rung = Rung.TEXT) -> str:
        return await self.sender.send(self.to(hook), content, "uuid", rung)

    async def refusal(self, hook: Hook, content: str = TEXT, rung: Rung = Rung.TEXT) -> SendError:
        with pytest.raises(SendError) as caught:
            await self.send(hook, content, rung)
        return caught.value

    def received(self, hook: Hook) -> list[tuple[str, str]]:
        return [(one.msg_type, one.content) for one in self.sandbox.hooks.messages_of(hook)]


@asynccontextmanager
async def making(*, call_s: float = 15.0, late_s: float = 0.0) -> AsyncIterator[Rig]:
    """`late_s`: by how much the sender's clock is behind the platform's."""
    sandbox = Sandbox(SandboxSettings(bot_shares_clock=True), clock=Clock(lambda: START), page=page_routes)
    listener = listen("127.0.0.1", 0)
    url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    secrets: dict[str, str] = {}

    async def secret_of(address: str) -> str | None:
        return secrets.get(address)

    async with (
        serving(sandbox.app, listener),
        HookSender(url, secret_of, clock=lambda: sandbox.clock.now() - late_s, call_s=call_s) as sender,
    ):
        yield Rig(sandbox, url, sender, secrets)


@pytest.fixture
async def rig() -> AsyncIterator[Rig]:
    """Time stands still until a test moves it; both sides go by the same clock."""
    async with making() as made:
        yield made


@pytest.mark.parametrize(
    ("rung", "kind"),
    [(Rung.CARD, "interactive"), (Rung.LIGHT, "interactive"), (Rung.POST, "post"), (Rung.TEXT, "text")],
)
async def test_a_digest_arrives_in_every_form(rig, rung, kind):
    """As the group sees it; no message id comes back, no control is dead, and no call counts for the month."""
    hook = await rig.hook()
    card = make_cards(make_rich_digest(), audience=Kind.WEBHOOK)[0]
    content = fallback(card.body, rung)

    told = await rig.send(hook, content, rung)

    assert told == ""
    assert [(one, json.loads(text)) for one, text in rig.received(hook)] == [(kind, json.loads(content))]
    assert rig.sandbox.world.violations == []
    assert not rig.sandbox.limits.calls_by_month


async def test_the_group_sees_the_custom_bots_own_name(rig):
    """Not the app's."""
    hook = await rig.hook()
    await rig.send(hook)
    owner = rig.sandbox.world.chats[hook.chat_id].owner_id

    page = await rig.sandbox.http.get(f"{rig.url}/as/{owner}/chats/{hook.chat_id}/")

    assert page.status_code == 200
    assert "社区日报：" in page.text


async def test_a_message_is_signed_when_it_is_sent(rig):
    """A day later too, with a secret of any letters; a bot without a secret asks for nothing."""
    hook = await rig.hook(secret="密钥 s/=+")
    for _ in range(2):
        await rig.send(hook)
        rig.sandbox.clock.advance(DAY_S)
    await rig.send(await rig.hook())

    assert len(rig.received(hook)) == 2


@pytest.mark.parametrize("secret", ["other", ""])
async def test_a_wrong_secret_is_told_with_both_its_causes(rig, secret):
    """Or none at all: the admin reads of the secret and of the clock, and nobody reads the secret itself."""
    hook = await rig.hook(secret="s3cret")
    rig.secrets[rig.to(hook).id] = secret

    error = await rig.refusal(hook)

    assert (type(error), error.code) == (ReceiverError, 19021)
    assert "密钥" in error.reason
    assert "时钟" in error.reason
    assert error.log_id
    assert rig.received(hook) == []


async def test_a_clock_that_is_off_by_more_than_an_hour_is_told_alike():
    """Also where the secret is right."""
    async with making(late_s=3601) as rig:
        assert (await rig.refusal(await rig.hook(secret="s"))).code == 19021


@pytest.mark.parametrize(
    ("safety", "code"), [({"ips": ["10.0.0.1"]}, 19022), ({"keywords": ["告警"]}, 19024)], ids=["address", "keyword"]
)
async def test_a_custom_bots_own_rules_stop_only_its_receiver(rig, safety, code):
    """Another group's bot gets its message."""
    strict, plain = await rig.hook(**safety), await rig.hook()

    error = await rig.refusal(strict)
    await rig.send(plain)

    assert (type(error), error.code) == (ReceiverError, code)
    assert (len(rig.received(strict)), len(rig.received(plain))) == (0, 1)


async def test_a_removed_bot_is_a_receiver_that_is_gone(rig):
    """As is one that never was."""
    hook = await rig.hook()
    rig.sandbox.hooks.remove(hook.token)

    error = await rig.refusal(hook)

    assert (type(error), error.code) == (ReceiverError, 19001)


async def test_what_is_no_custom_bots_address_is_never_called(rig):
    """Another path, scheme or port, or a machine of our own network that is not the platform."""
    rig.sandbox.faults.add(Fault("server_error", times=None))

    for address in WRONG_ADDRESSES:
        given = address.format(host=rig.url.removeprefix("http://"), path=PATH)
        with pytest.raises(ReceiverError, match="这不是自定义机器人的地址"):
            await rig.sender.send(Receiver(Kind.WEBHOOK, given), TEXT, "uuid", Rung.TEXT)

    assert rig.sandbox.faults.met == []


async def test_twenty_thousand_bytes_pass_and_one_more_never_leaves(rig):
    """Signature and all; what is too long may be shorter in another form."""
    hook = await rig.hook(secret="s")
    await rig.send(hook, '{"text":"x"}')
    rest = 20_000 - (len('{"timestamp":"1800000000","sign":"","msg_type":"text","content":{"text":""}}') + 44)

    await rig.send(hook, json.dumps({"text": "x" * rest}))
    rig.sandbox.faults.add(Fault("server_error", times=None))
    error = await rig.refusal(hook, json.dumps({"text": "x" * (rest + 1)}))

    assert isinstance(error, CardError)
    assert (error.code, error.least) == (230025, Rung.LIGHT)
    assert rig.sandbox.faults.met == []
    assert [len(json.loads(content)["text"]) for _, content in rig.received(hook)] == [1, rest]


async def test_a_card_that_cannot_be_created_may_pass_lighter(rig):
    """The webhook's own code of it."""
    hook = await rig.hook()

    error = await rig.refusal(hook, '{"schema":"2.0","elements":[]}', Rung.CARD)

    assert isinstance(error, CardError)
    assert (error.code, error.least, error.for_all) == (11246, Rung.LIGHT, True)


async def test_limits_are_each_bots_own(rig):
    """The sixth in a second waits, and nobody else does: neither another bot nor the app."""
    hook, other = await rig.hook(), await rig.hook()
    for _ in range(5):
        await rig.send(hook)

    error = await rig.refusal(hook)
    await rig.send(other)

    assert isinstance(error, TemporaryError)
    assert (error.code, error.whole_app, error.maybe_sent, error.retry_after_s) == (11232, False, False, None)
    rig.sandbox.clock.advance(1)
    await rig.send(hook)
    assert len(rig.received(hook)) == 6


async def test_every_code_of_the_table_does_what_its_row_says(rig):
    """With HTTP 200, whatever it is about; none stops the app, and one that a fault names meets one bot."""
    hook, other = await rig.hook(), await rig.hook()
    kinds = {Reaction.LATER: TemporaryError, Reaction.CARD: CardError}

    for row in ROWS[1:]:
        rig.sandbox.faults.add(Fault("code", "hook", hook.token, code=row.code, status=200))
        error = await rig.refusal(hook)

        assert type(error) is kinds.get(row.reaction, ReceiverError)
        assert (error.code, error.reason) == (row.code, row.reason)
        assert getattr(error, "least", None) == row.least
        assert not getattr(error, "whole_app", False)
        assert not getattr(error, "maybe_sent", False)
        assert any("一" <= char <= "鿿" for char in row.reason)
        assert row.page
    rig.sandbox.faults.add(Fault("server_error", "hook", hook.token))
    await rig.send(other)


def test_no_code_stands_twice():
    """Two rows for a code would make the reaction depend on their order."""
    assert len({row.code for row in ROWS}) == len(ROWS)


async def test_an_unknown_code_is_tried_in_another_form_and_blames_nobody_else(rig):
    """It may be this receiver's alone; after a server's error the message may be there."""
    hook = await rig.hook()
    rig.sandbox.faults.add(
        Fault("code", "hook", code=987654, status=200), Fault("code", "hook", code=987654, status=500)
    )

    refused, failed = await rig.refusal(hook), await rig.refusal(hook)

    assert isinstance(refused, CardError)
    assert (refused.least, refused.for_all) == (Rung.LIGHT, False)
    assert isinstance(failed, TemporaryError)
    assert failed.maybe_sent


async def test_a_lost_answer_leaves_the_message_in_doubt(rig):
    """It is there, or it is not, and the sender says so instead of trying again."""
    lost, cut, broken = [await rig.hook() for _ in range(3)]
    rig.sandbox.faults.add(
        Fault("drop_reply", "hook", lost.token),
        Fault("reset", "hook", cut.token),
        Fault("server_error", "hook", broken.token),
    )

    errors = [await rig.refusal(hook) for hook in (lost, cut, broken)]

    assert [(type(error), error.maybe_sent, error.whole_app) for error in errors] == [(TemporaryError, True, False)] * 3
    assert [len(rig.received(hook)) for hook in (lost, cut, broken)] == [1, 0, 0]


async def test_an_answer_that_never_comes_is_not_waited_for():
    """The message arrives afterwards: it was in doubt."""
    async with making(call_s=0.5) as rig:
        hook = await rig.hook()
        rig.sandbox.faults.add(Fault("slow", "hook", seconds=3600))

        error = await rig.refusal(hook)
        before = rig.received(hook)
        rig.sandbox.clock.advance(3600)
        await until(lambda: len(rig.received(hook)) == 1)

        assert isinstance(error, TemporaryError)
        assert error.maybe_sent
        assert before == []


async def test_the_gateways_limits_tell_how_long_to_wait(rig):
    """With a code or without one; nothing was sent, and only this receiver waits."""
    hook = await rig.hook()
    rig.sandbox.faults.add(Fault("rate_limited", "hook", seconds=7), Fault("server_error", "hook", status=429))

    errors = [await rig.refusal(hook), await rig.refusal(hook)]

    assert [(error.retry_after_s, error.maybe_sent, error.whole_app) for error in errors] == [
        (7.0, False, False),
        (60.0, False, False),
    ]


async def test_where_nobody_listens_nothing_was_sent():
    """Safe to try again."""
    url = f"http://127.0.0.1:{free_port()}"

    async def no_secret(_address: str) -> None:
        return None

    async with HookSender(url, no_secret) as sender:
        with pytest.raises(TemporaryError) as caught:
            await sender.send(Receiver(Kind.WEBHOOK, f"{url}{PATH}abc"), TEXT, "uuid", Rung.TEXT)

    assert not caught.value.maybe_sent


async def test_many_at_once_share_a_small_pool(rig):
    """Each group gets its one message."""
    hooks = [await rig.hook() for _ in range(40)]

    await asyncio.gather(*(rig.send(hook) for hook in hooks))

    assert [len(rig.received(hook)) for hook in hooks] == [1] * 40


@pytest.fixture
def everything_logged(capsys):
    """The bot's own logging at its most talkative; gives what it wrote."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    log.set_up("DEBUG", "json")
    yield lambda: capsys.readouterr().err
    root.handlers[:] = handlers
    root.setLevel(level)


async def test_neither_address_nor_secret_reach_a_log_or_an_error(rig, everything_logged):
    """Whoever has them writes to the group."""
    hook = await rig.hook(secret="s3cret-word")
    rig.sandbox.faults.add(
        Fault("code", "hook", code=19021, status=200), Fault("drop_reply", "hook"), Fault("server_error", "hook")
    )
    errors = [await rig.refusal(hook) for _ in range(3)]
    await rig.send(hook)
    for wrong in (f"{rig.to(hook).id}\n", f"https://127.0.0.1{PATH}{hook.token}"):
        with pytest.raises(ReceiverError) as caught:
            await rig.sender.send(Receiver(Kind.WEBHOOK, wrong), TEXT, "uuid", Rung.TEXT)
        errors.append(caught.value)
    for error in errors:
        logging.getLogger("test").error("seen", exc_info=error)

    told = everything_logged() + "".join("".join(traceback.format_exception(error)) for error in errors)

    assert "没有等到飞书的回答" in told
    assert hook.token not in told
    assert "s3cret-word" not in told


@asynccontextmanager
async def answering(response: Response) -> AsyncIterator[tuple[HookSender, Receiver]]:
    """Somebody who answers like this at a custom bot's address."""

    async def respond(_request: Any) -> Response:
        return response

    async def no_secret(_address: str) -> None:
        return None

    listener = listen("127.0.0.1", 0)
    url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    app = Starlette(routes=[Route(PATH + "{token}", respond, methods=["POST"]), Route("/elsewhere", respond)])
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(serving(app, listener))
        sender = await stack.enter_async_context(HookSender(url, no_secret))
        yield sender, Receiver(Kind.WEBHOOK, f"{url}{PATH}abc")


async def endless() -> AsyncIterator[bytes]:
    while True:
        await asyncio.sleep(0)  # whoever has heard enough hangs up here
        yield b" " * 10_000


HOSTILE = [
    (lambda: JSONResponse([]), TemporaryError),
    (lambda: JSONResponse({"msg": "success"}), TemporaryError),
    (lambda: JSONResponse({"code": "0"}), TemporaryError),
    (lambda: JSONResponse({"code": 10**30}), TemporaryError),
    (lambda: Response(b'{"code":' + b"1" * 9_000 + b"}"), TemporaryError),
    (lambda: Response(b"[" * 60_000), TemporaryError),
    (lambda: Response(b"\xff"), TemporaryError),
    (lambda: Response(b"", 204), TemporaryError),
    (lambda: StreamingResponse(endless()), TemporaryError),
    (lambda: Response(b"\x1f\x8b", headers={"content-encoding": "gzip"}), TemporaryError),
    (lambda: RedirectResponse("/elsewhere", 303), ReceiverError),
    (lambda: RedirectResponse("/elsewhere", 307), ReceiverError),
    (lambda: Response("<html>", 404), ReceiverError),
    (lambda: Response("<html>", 408), TemporaryError),
]


@pytest.mark.parametrize(("response", "kind"), HOSTILE)
async def test_an_answer_that_is_not_the_platforms_is_no_yes_and_breaks_nothing(response, kind):
    """What cannot be read leaves the message in doubt; a page or a redirect says that no bot is there."""
    async with answering(response()) as (sender, receiver):
        with pytest.raises(kind) as caught:
            await sender.send(receiver, TEXT, "uuid", Rung.TEXT)

    assert getattr(caught.value, "maybe_sent", True)
    assert "没有等到" not in caught.value.reason


async def test_nobody_can_ask_for_a_wait_without_end():
    """The ledger could not even hold it."""
    told = {"x-ogw-ratelimit-reset": "1e300", "x-tt-logid": "l" * 5_000}
    for response in (JSONResponse({"code": 11232}, headers=told), Response("", 429, headers=told)):
        async with answering(response) as (sender, receiver):
            with pytest.raises(TemporaryError) as caught:
                await sender.send(receiver, TEXT, "uuid", Rung.TEXT)

        assert caught.value.retry_after_s == 600.0
        assert len(caught.value.log_id) == 100


async def test_an_older_yes_is_a_yes():
    """Without `code`, as older installations say it."""
    body = {"Extra": None, "StatusCode": 0, "StatusMessage": "success"}
    async with answering(JSONResponse(body)) as (sender, receiver):
        assert await sender.send(receiver, TEXT, "uuid", Rung.TEXT) == ""
