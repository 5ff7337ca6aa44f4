"""Events to the app's address: feishu-platform notes 7, 8, 15.8, 15.9, 15.14."""

import json

import anyio.lowlevel
import pytest
from starlette.responses import JSONResponse, RedirectResponse, Response

from bot.feishu import signature
from tests.sandbox.kit import SETTINGS, START, Rig, running, text

pytestmark = pytest.mark.anyio
ENTERED = "im.chat.access_event.bot_p2p_chat_entered_v1"
RECEIVED = "im.message.receive_v1"


async def settled(rig: Rig) -> None:
    """Let the redelivery loop do what is due."""
    for _ in range(20):
        await anyio.lowlevel.checkpoint()


async def failing(_body: dict) -> Response:
    return Response(status_code=500)


def test_the_vectors_of_the_notes_hold():
    """7.2 and 7.3: the sandbox seals and signs with what these prove."""
    body = b'{"encrypt":"P37w+VZImNgPEO1RBhJ6RtKl7n6zymIbEG1pReEzghk="}'

    assert signature.decrypt("test key", json.loads(body)["encrypt"]) == b"hello world"
    assert signature.sign("1700000000", "nonce1", "test key", body) == (
        "21b279029a3bdf7b9f02a4935c76c53f09876d9d0e45add77a99d55d1bc7e79e"
    )


async def test_an_event_is_sealed_signed_and_in_the_envelope_of_schema_2():
    """The bot of these tests checks the signature over the raw bytes before it decrypts."""
    async with running() as rig:
        reader = rig.sandbox.client.add_user("读者甲")

        shown = await rig.sandbox.client.open_bot_chat(reader.open_id)

        header, event = rig.bot.heard[0]["header"], rig.bot.heard[0]["event"]
        assert rig.bot.heard[0]["schema"] == "2.0"
        assert (header["event_type"], header["token"], header["app_id"]) == (
            ENTERED,
            SETTINGS.verification_token,
            SETTINGS.app_id,
        )
        assert header["create_time"] == str(int(START * 1000))
        assert event["operator_id"] == {"open_id": reader.open_id, "union_id": reader.union_id}
        assert (event["chat_id"], shown.answered) == (shown.chat_id, True)
        assert rig.bot.headers[0]["x-lark-request-timestamp"] == str(int(START))


async def test_without_an_encrypt_key_events_are_plain_and_unsigned():
    """The verification token is then all that tells them from others."""
    async with running(encrypt_key="") as rig:
        await rig.sandbox.client.open_bot_chat(rig.sandbox.client.add_user("读者甲").open_id)

        assert rig.bot.heard[0]["header"]["event_type"] == ENTERED
        assert "x-lark-signature" not in rig.bot.headers[0]


async def test_without_an_address_nothing_is_pushed():
    """Nobody subscribed, so nothing waits either."""
    async with running(event_url=None) as rig:
        shown = await rig.sandbox.client.open_bot_chat(rig.sandbox.client.add_user("读者甲").open_id)

        assert (shown.answered, rig.sandbox.world.pushes) == (None, {})


@pytest.mark.parametrize("key", ["", "key"])
async def test_saving_an_address_sends_a_challenge(key):
    """Sealed when there is a key, never signed; only the same challenge within a second counts."""
    async with running(encrypt_key=key) as rig:

        async def echo(body: dict) -> Response:
            return JSONResponse({"challenge": body["challenge"]})

        rig.bot.answer = echo
        verified = await rig.sandbox.verify_url()
        rig.bot.answer = failing
        refused = await rig.sandbox.verify_url()

        assert (verified, refused) == (True, False)
        assert rig.bot.heard[0]["token"] == SETTINGS.verification_token
        assert "x-lark-signature" not in rig.bot.headers[0]


async def test_an_event_that_fails_comes_again_after_15_s_5_min_1_h_and_6_h():
    """The same event id each time; after the fourth repetition it is given up."""
    async with running() as rig:
        rig.bot.answer = failing
        shown = await rig.sandbox.client.open_bot_chat(rig.sandbox.client.add_user("读者甲").open_id)
        counts = []
        for wait_s in (14, 1, 299, 1, 3599, 1, 21_599, 1, 86_400):
            rig.sandbox.clock.advance(wait_s)
            await settled(rig)
            counts.append(len(rig.bot.heard))

        assert shown.answered is False
        assert counts == [1, 2, 2, 3, 3, 4, 4, 5, 5]
        assert len({one["header"]["event_id"] for one in rig.bot.heard}) == 1
        assert len(rig.sandbox.pusher.given_up) == 1
        assert not rig.sandbox.world.pushes


async def test_a_repetition_ends_with_the_first_200():
    """Answers of 3xx are no success either."""
    async with running() as rig:

        async def redirect(_body: dict) -> Response:
            return RedirectResponse("http://bot.test/other")

        async def done(_body: dict) -> Response:
            return JSONResponse({})

        rig.bot.answer = redirect
        await rig.sandbox.client.open_bot_chat(rig.sandbox.client.add_user("读者甲").open_id)
        rig.bot.answer = done
        rig.sandbox.clock.advance(15)
        await settled(rig)
        rig.sandbox.clock.advance(86_400)
        await settled(rig)

        assert [attempt.status for attempt in rig.sandbox.pusher.attempts] == [307, 200]


async def test_waits_can_be_scaled():
    """For tests and demos against a bot in another process."""
    async with running(redelivery_scale=0.01) as rig:
        rig.bot.answer = failing
        await rig.sandbox.client.open_bot_chat(rig.sandbox.client.add_user("读者甲").open_id)
        rig.sandbox.clock.advance(0.15)
        await settled(rig)

        assert len(rig.bot.heard) == 2


async def test_an_answer_after_3_seconds_is_none():
    """The time is the sandbox's own, so a test moves it instead of sleeping."""
    async with running() as rig:
        release = anyio.Event()

        async def slow(_body: dict) -> Response:
            await release.wait()
            return JSONResponse({})

        rig.bot.answer = slow
        reader = rig.sandbox.client.add_user("读者甲").open_id
        answered = []

        async def open_chat() -> None:
            answered.append((await rig.sandbox.client.open_bot_chat(reader)).answered)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(open_chat)
            await settled(rig)
            rig.sandbox.clock.advance(2.9)
            await settled(rig)
            still_waiting = not answered
            rig.sandbox.clock.advance(0.1)

        assert (still_waiting, answered) == (True, [False])
        assert rig.sandbox.pusher.attempts[0].failure == "timeout"


async def test_a_text_reaches_the_bot_from_its_own_chat_and_from_a_group_that_mentions_it():
    """Group texts without a mention stay in the group."""
    async with running() as rig:
        client = rig.sandbox.client
        chat_id, owner = await rig.group()
        private = (await client.open_bot_chat(owner)).chat_id
        await client.say(owner, private, "订阅")
        await client.say(owner, chat_id, "大家好")
        await client.say(owner, chat_id, "订阅", mention_bot=True)

        first, second = rig.bot.of_type(RECEIVED)
        assert (first["message"]["chat_type"], first["message"]["content"]) == ("p2p", '{"text":"订阅"}')
        assert (second["message"]["chat_type"], second["message"]["content"]) == ("group", '{"text":"@_user_1 订阅"}')
        bot = rig.sandbox.world.apps[SETTINGS.app_id].bot_open_id
        assert second["message"]["mentions"][0]["id"]["open_id"] == bot
        assert (second["message"]["mentions"][0]["mentioned_type"], "mentions" in first["message"]) == ("bot", False)
        assert first["message"]["create_time"] == str(int(START * 1000))


async def test_a_duplicate_keeps_its_message_id_and_may_have_a_new_event_id():
    """The platform repeats events now and then, after a success too."""
    async with running() as rig:
        client = rig.sandbox.client
        reader = client.add_user("读者甲").open_id
        await client.say(reader, (await client.open_bot_chat(reader)).chat_id, "今日")

        await rig.sandbox.pusher.repeat(RECEIVED)
        await rig.sandbox.pusher.repeat(RECEIVED, fresh_id=True)

        heard = [one for one in rig.bot.heard if one["header"]["event_type"] == RECEIVED]
        assert len({one["event"]["message"]["message_id"] for one in heard}) == 1
        assert [one["header"]["event_id"] == heard[0]["header"]["event_id"] for one in heard] == [True, True, False]


async def test_signatures_carry_the_real_time_unless_the_bot_shares_the_clock():
    """A bot with its own clock would refuse a signature from a moved one."""
    stamps = []
    for shares in (False, True):
        async with running(bot_shares_clock=shares) as rig:
            rig.sandbox.clock.advance(3600)
            await rig.sandbox.client.open_bot_chat(rig.sandbox.client.add_user("读者甲").open_id)
            stamps.append(int(rig.bot.headers[0]["x-lark-request-timestamp"]) - int(START))

    assert stamps == [0, 3600]


async def test_a_slow_bot_may_call_the_platform_while_it_is_asked():
    """A push does not hold up the API."""
    async with running() as rig:
        reader = rig.sandbox.client.add_user("读者甲").open_id
        codes = []

        async def send_first(_body: dict) -> Response:
            codes.append((await rig.send(reader, **text("欢迎"))).json()["code"])
            return JSONResponse({})

        rig.bot.answer = send_first
        shown = await rig.sandbox.client.open_bot_chat(reader)

        assert (codes, shown.answered) == ([0], True)
