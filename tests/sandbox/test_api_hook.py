"""The incoming webhook of custom bots: feishu-platform notes 12."""

import json
from typing import Any

import httpx
import pytest

from bot.sandbox.api_hook import sign
from bot.sandbox.faults import Fault
from bot.sandbox.state import Hook, Image
from bot.sandbox.visibility import ActionRefusedError
from tests.sandbox.kit import SETTINGS, START, Rig, button, card_of, markdown, running

pytestmark = pytest.mark.anyio
HOOK = "/open-apis/bot/v2/hook"
TEXT = {"msg_type": "text", "content": {"text": "今日日报"}}
SUCCESS = {"StatusCode": 0, "StatusMessage": "success", "code": 0, "data": {}, "msg": "success"}
LINK = button(None, behaviors=[{"type": "open_url", "default_url": "https://example.com"}])


async def hook_in(rig: Rig, *, with_bot: bool = False, **safety: Any) -> Hook:
    """A custom bot of a new group, which the app's bot need not be in."""
    chat_id, _ = await rig.group(with_bot=with_bot)
    return rig.sandbox.hooks.add(chat_id, "社区日报", **safety)


async def post(rig: Rig, hook: Hook, body: Any = None, **fields: Any) -> httpx.Response:
    return await rig.api.post(f"{HOOK}/{hook.token}", json=(body or TEXT) | fields)


async def code(rig: Rig, hook: Hook, body: Any = None, **fields: Any) -> int:
    """The body's code of an answer that is HTTP 200 and of the webhook's own form."""
    answer = await post(rig, hook, body, **fields)
    assert answer.status_code == 200
    told = answer.json()
    assert told == SUCCESS or set(told) == {"code", "data", "msg"}
    return told["code"]


def contents(rig: Rig, hook: Hook) -> list[Any]:
    return [json.loads(message.content) for message in rig.sandbox.hooks.messages_of(hook)]


@pytest.mark.parametrize(
    ("timestamp", "secret", "signature"),
    [
        ("1700000000", "mysecret", "Jp33/xXhCipDEpjyHvEyc7mRSyXWHbNz6J8+C3qQKNo="),
        ("1600000000", "demo", "HQV03+so/amIWQSXS50Llvl9vzTATYaRg+mJZ+EZzjY="),
    ],
)
def test_signatures_are_those_of_the_notes(timestamp, secret, signature):
    """Timestamp and secret are the key; the message is empty."""
    assert sign(timestamp, secret) == signature


async def test_a_message_appears_in_the_group_under_the_custom_bot():
    """No token, no message id in the answer, no call on the monthly quota, and the app's bot need not be there."""
    async with running(monthly_calls=1) as rig:
        hook = await hook_in(rig)

        answers = [await httpx_post(rig, hook) for _ in range(3)]
        [message, *_] = rig.sandbox.world.messages_in(hook.chat_id)

        assert [(answer.status_code, answer.json()) for answer in answers] == [(200, SUCCESS)] * 3
        assert (message.sender_id, message.sender_type, message.created_at) == (hook.sender_id, "app", START)
        assert contents(rig, hook) == [{"text": "今日日报"}] * 3
        assert not rig.sandbox.limits.calls_by_month


async def httpx_post(rig: Rig, hook: Hook) -> httpx.Response:
    """Without any header of the app."""
    transport = httpx.ASGITransport(rig.sandbox.app)
    async with httpx.AsyncClient(transport=transport, base_url="http://feishu.test") as anybody:
        return await anybody.post(f"{HOOK}/{hook.token}", json=TEXT)


async def test_every_type_of_message_is_shown():
    """A post without its wrapper, a card as it was given."""
    async with running() as rig:
        hook = await hook_in(rig)
        rig.sandbox.world.put(Image("img_1", SETTINGS.app_id))
        posted = {"zh_cn": {"title": "日报", "content": [[{"tag": "a", "text": "甲", "href": "https://example.com"}]]}}
        card = card_of(markdown("今日"), LINK)
        bodies = (
            {"msg_type": "post", "content": {"post": posted}},
            {"msg_type": "image", "content": {"image_key": "img_1"}},
            {"msg_type": "share_chat", "content": {"share_chat_id": hook.chat_id}},
            {"msg_type": "interactive", "card": card},
        )

        codes = [await code(rig, hook, body) for body in bodies]

        assert codes == [0, 0, 0, 0]
        assert contents(rig, hook) == [posted, {"image_key": "img_1"}, {"chat_id": hook.chat_id}, card]
        assert not rig.sandbox.world.violations


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({"content": {"text": "x"}}, 19002),
        ({"msg_type": "file", "content": {}}, 19002),
        ({"msg_type": ["text"], "content": {}}, 19002),
        ({"msg_type": "text", "content": '{"text": "x"}'}, 19002),
        ({"msg_type": "text", "content": {"text": ""}}, 19002),
        ({"msg_type": "text"}, 19002),
        ({"msg_type": "post", "content": {"zh_cn": {"content": []}}}, 19002),
        ({"msg_type": "image", "content": {"image_key": "img_nobody"}}, 19002),
        ({"msg_type": "share_chat", "content": {"share_chat_id": "oc_other"}}, 19002),
        ({"msg_type": "interactive", "content": {"text": "x"}}, 19002),
        ({"msg_type": "interactive", "card": '{"schema": "2.0"}'}, 19002),
        ({"msg_type": "interactive", "card": {"schema": "2.0", "elements": []}}, 11246),
        ({"msg_type": "text", "content": {"text": "字" * 7_000}}, 9499),
        ({"msg_type": "text", "content": {"text": "字" * 10_000}}, 19036),
    ],
)
async def test_a_wrong_body_is_refused_with_http_200(body, expected):
    """In the webhook's own form of an error; nothing appears."""
    async with running() as rig:
        hook = await hook_in(rig)
        raw = json.dumps(body, ensure_ascii=False).encode()

        answer = await rig.api.post(f"{HOOK}/{hook.token}", content=raw)

        assert (answer.status_code, answer.json()["code"], set(answer.json())) == (
            200,
            expected,
            {"code", "data", "msg"},
        )
        assert contents(rig, hook) == []


async def test_a_body_of_twenty_kilobytes_passes():
    """20,000 bytes do, one more does not."""
    async with running() as rig:
        hook = await hook_in(rig)
        rest = len(json.dumps({**TEXT, "content": {"text": ""}}))

        answers = []
        for length in (20_000 - rest, 20_001 - rest):
            raw = json.dumps({**TEXT, "content": {"text": "x" * length}})
            answers.append((await rig.api.post(f"{HOOK}/{hook.token}", content=raw)).json()["code"])

        assert answers == [0, 9499]


async def test_a_dead_address_is_told_before_the_body_is_read():
    """Unknown, removed, or of a dissolved group: 19001 even for a body that is none. What was written stays."""
    async with running() as rig:
        removed, dissolved = await hook_in(rig), await hook_in(rig)
        await post(rig, removed)
        rig.sandbox.hooks.remove(removed.token)
        await rig.sandbox.client.dissolve(dissolved.chat_id)

        answers = [
            await rig.api.post(f"{HOOK}/{token}", content=b"\xff") for token in ("x", removed.token, dissolved.token)
        ]
        alive = await rig.api.post(f"{HOOK}/{(await hook_in(rig)).token}", content=b"\xff")

        assert [answer.json()["code"] for answer in [*answers, alive]] == [19001, 19001, 19001, 9499]
        assert answers[0].json()["msg"] == "param invalid: incoming webhook access token invalid"
        assert len(contents(rig, removed)) == 1


async def test_a_secret_asks_for_a_fresh_signature():
    """Within an hour either way, as a string or a number; a wrong, old or missing one is 19021."""
    async with running() as rig:
        hook = await hook_in(rig, secret="mysecret")
        now = int(START)

        def signed(at: int, secret: str = "mysecret", **fields: Any) -> dict[str, Any]:
            return {"timestamp": str(at), "sign": sign(str(at), secret), **fields}

        good = (signed(now), signed(now - 3600), signed(now + 3600), signed(now, timestamp=now))
        bad = (
            {},
            signed(now - 3601),
            signed(now + 3601),
            signed(now, "other"),
            signed(now, timestamp=str(now - 1)),
            signed(now, timestamp="²"),
            signed(now, sign=None),
            {"timestamp": "9" * 10_000, "sign": "é"},
        )

        codes = []
        for fields in (*good, *bad):
            codes.append(await code(rig, hook, **fields))
            rig.sandbox.clock.advance(1)

        assert codes == [0] * len(good) + [19021] * len(bad)


@pytest.mark.parametrize(("shares", "codes"), [(False, [0, 19021]), (True, [19021, 0])])
async def test_signatures_are_judged_by_the_clock_of_the_app(shares, codes):
    """After the sandbox's time was moved by a day: the unmoved time, unless the app goes by the sandbox's."""
    async with running(bot_shares_clock=shares) as rig:
        hook = await hook_in(rig, secret="s")
        rig.sandbox.clock.advance(86_400)

        times = (str(int(START)), str(int(START) + 86_400))

        assert [await code(rig, hook, timestamp=at, sign=sign(at, "s")) for at in times] == codes


async def test_keywords_must_be_in_what_is_shown():
    """One is enough, in any text of any type; 19024 without."""
    async with running() as rig:
        hook = await hook_in(rig, keywords=["日报", "告警"])
        with_word = {"tag": "plain_text", "content": "日报"}
        bodies = (
            {"msg_type": "text", "content": {"text": "今日日报"}},
            {"msg_type": "post", "content": {"post": {"zh_cn": {"title": "告警", "content": []}}}},
            {"msg_type": "interactive", "card": card_of(markdown("今日"), header={"title": with_word})},
            {"msg_type": "text", "content": {"text": "今日"}},
            {"msg_type": "interactive", "card": card_of({**LINK, "name": "日报"})},
        )

        assert [await code(rig, hook, body) for body in bodies] == [0, 0, 0, 19024, 19024]


@pytest.mark.parametrize(
    ("ips", "expected"),
    [
        (["127.0.0.1"], 0),
        (["10.0.0.1", "127.0.0.*"], 0),
        (["127.0.1.1/16"], 0),
        (["10.0.0.1"], 19022),
        (["127.1.*"], 19022),
        (["10.0.0.0/8"], 19022),
    ],
)
async def test_only_the_allowed_addresses_may_call(ips, expected):
    """Single ones, patterns, networks."""
    async with running() as rig:
        assert await code(rig, await hook_in(rig, ips=ips)) == expected


async def test_a_custom_bot_writes_five_in_a_second_and_a_hundred_in_a_minute():
    """11232 with HTTP 200; another group's custom bot is not held up."""
    async with running() as rig:
        hook, other = await hook_in(rig), await hook_in(rig)

        burst = [await code(rig, hook) for _ in range(6)]
        beside = await code(rig, other)
        minute = []
        for _ in range(24):
            rig.sandbox.clock.advance(1)
            minute += [await code(rig, hook) for _ in range(4)]

        assert (burst, beside) == ([0] * 5 + [11232], 0)
        assert minute == [0] * 95 + [11232]


async def test_all_bots_share_their_group():
    """What one custom bot wrote leaves less for the other and for the app's bot."""
    async with running() as rig:
        hook = await hook_in(rig, with_bot=True)
        second = rig.sandbox.hooks.add(hook.chat_id)

        codes = [await code(rig, one) for one in (hook, hook, hook, second, second, second)]

        assert codes == [0] * 5 + [11232]
        assert (await rig.send(hook.chat_id, id_type="chat_id")).json()["code"] == 230020


async def test_a_click_on_a_webhook_card_reaches_nobody():
    """The person sees the client's error; that the card could not work was noted when it was sent."""
    async with running() as rig:
        hook = await hook_in(rig, with_bot=True)
        tick = {"tag": "checker", "behaviors": [{"type": "callback", "value": {"v": 2}}]}
        card = card_of(button({"v": 1}), {"tag": "select_static", "options": []}, tick, {"tag": "checker"}, LINK)
        await post(rig, hook, {"msg_type": "interactive", "card": card})
        [message] = rig.sandbox.hooks.messages_of(hook)
        owner = rig.sandbox.world.chats[hook.chat_id].owner_id

        shown = await rig.sandbox.client.click(owner, message.message_id, {"v": 1})

        assert shown.code == 200340
        assert rig.bot.of_type("card.action.trigger") == []
        [violation] = rig.sandbox.world.violations
        assert violation.endswith("cannot call back, but this one has button, checker, select_static")


async def test_what_the_audit_stops_does_not_appear():
    """Custom bots are no way around it."""
    async with running(audit_words=("日报",)) as rig:
        hook = await hook_in(rig)

        assert (await code(rig, hook), contents(rig, hook)) == (11246, [])


async def test_faults_meet_webhooks_too():
    """A lost reply leaves the message, a reset and a server error do not; there is no key that joins a repetition."""
    async with running() as rig:
        hook = await hook_in(rig)
        rig.sandbox.faults.add(
            Fault("drop_reply", api="hook"),
            Fault("reset", api="hook"),
            Fault("server_error", api="hook", status=503),
            Fault("rate_limited", api="hook", seconds=7),
            Fault("code", api="hook", code=11232, status=200),
        )

        for _ in range(2):
            with pytest.raises(httpx.TransportError):
                await post(rig, hook)
        answers = [await post(rig, hook) for _ in range(4)]

        assert [answer.status_code for answer in answers] == [503, 429, 200, 200]
        assert [answer.json()["code"] for answer in answers[1:]] == [99991400, 11232, 0]
        assert len(contents(rig, hook)) == 2


async def test_custom_bots_are_made_and_removed_from_outside():
    """The control API tells the address, and what was written; not the secret."""
    async with running() as rig:
        chat_id, _ = await rig.group(with_bot=False)
        made = await rig.api.post(
            "/sandbox/api/hooks",
            json={"chat_id": chat_id, "name": "社区日报", "secret": "mysecret", "keywords": ["日报"]},
        )
        hook = made.json()
        at = str(int(START))
        sent = await rig.api.post(hook["path"], json={**TEXT, "timestamp": at, "sign": sign(at, "mysecret")})
        told = await rig.api.get(f"/sandbox/api/hooks/{hook['token']}")
        state = await rig.api.get("/sandbox/api/state")
        removed = await rig.api.delete(f"/sandbox/api/hooks/{hook['token']}")
        dead = await rig.api.post(hook["path"], json=TEXT)

        assert (sent.json(), removed.status_code, dead.json()["code"]) == (SUCCESS, 200, 19001)
        assert [message["content"] for message in told.json()["messages"]] == ['{"text":"今日日报"}']
        assert "mysecret" not in made.text + told.text + state.text
        assert (await rig.api.get("/sandbox/api/hooks/x")).status_code == 400


async def test_a_custom_bot_outlives_the_sandbox(tmp_path):
    """With its address, and with its messages."""
    async with running(journal=tmp_path / "world") as rig:
        hook = await hook_in(rig)
        await post(rig, hook)

    async with running(journal=tmp_path / "world") as rig:
        assert await code(rig, hook) == 0
        assert len(contents(rig, hook)) == 2


async def test_a_custom_bot_needs_a_living_group_and_few_rules():
    """Ten keywords and ten addresses at most."""
    async with running() as rig:
        chat_id, owner = await rig.group()
        p2p = (await rig.sandbox.client.open_bot_chat(owner)).chat_id

        for refused in ({"chat_id": "oc_x"}, {"chat_id": p2p}, {"chat_id": chat_id, "keywords": ["x"] * 11}):
            with pytest.raises(ActionRefusedError):
                rig.sandbox.hooks.add(**refused)
        assert "mysecret" not in repr(rig.sandbox.hooks.add(chat_id, secret="mysecret"))
