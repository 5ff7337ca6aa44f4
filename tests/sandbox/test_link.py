"""The platform's side of the long connection, over real sockets: feishu-platform notes 7.6, lark-oapi notes 5."""

import asyncio
import base64
import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from bot.feishu.frames import CONTROL, DATA, Frame, decode, encode
from bot.sandbox.app import Sandbox, SandboxSettings
from bot.sandbox.clock import Clock
from bot.sandbox.faults import Fault
from bot.sandbox.link_faults import LinkFault
from bot.sandbox.link_hub import MOST_LINKS, TICKET_S
from bot.sandbox.link_wire import PART_BYTES
from bot.serving import listen, serving
from tests.integration.conftest import until
from tests.sandbox.kit import START, button, card_of

pytestmark = pytest.mark.anyio
APP = SandboxSettings()


@dataclass
class Rig:
    sandbox: Sandbox
    api: httpx.AsyncClient

    async def ask(self, **changes: Any) -> dict[str, Any]:
        """What the address call says."""
        body = {"AppID": APP.app_id, "AppSecret": APP.app_secret, **changes}
        return (await self.api.post("/callback/ws/endpoint", json=body)).json()

    async def url(self) -> str:
        return (await self.ask())["data"]["URL"]

    @asynccontextmanager
    async def link(self) -> AsyncIterator["Client"]:
        """One more connection."""
        url = await self.url()
        async with connect(url, proxy=None) as socket:
            yield Client(socket, int(parse_qs(urlsplit(url).query)["service_id"][0]))

    async def control(self, path: str, **body: Any) -> dict[str, Any]:
        return (await self.api.post(f"/sandbox/api/{path}", json=body)).json()

    def reader(self) -> tuple[str, str]:
        """The one person and the chat with the bot."""
        person = next(iter(self.sandbox.world.users), None) or self.sandbox.client.add_user("读者甲").open_id
        return person, self.sandbox.world.p2p_chat_id(APP.app_id, person)


@dataclass
class Client:
    """A client that does only what it is told."""

    socket: ClientConnection
    service: int

    async def hear(self) -> Frame:
        return decode(await self.socket.recv())

    async def send(self, frame: Frame) -> None:
        await self.socket.send(encode(frame))

    async def ping(self) -> None:
        await self.send(Frame(CONTROL, {"type": "ping"}, service=self.service))

    async def acknowledge(self, frame: Frame, code: int = 200, answer: Any = None) -> None:
        said = {"code": code}
        if answer is not None:
            said["data"] = base64.b64encode(json.dumps(answer).encode()).decode()
        await self.send(replace(frame, headers={**frame.headers, "biz_rt": "1"}, payload=json.dumps(said).encode()))

    async def whole(self) -> tuple[Frame, bytes]:
        """A message with all its parts; the last one is what is acknowledged."""
        frame = await self.hear()
        payload = frame.payload
        while int(frame.headers["seq"]) + 1 < int(frame.headers["sum"]):
            frame = await self.hear()
            payload += frame.payload
        return frame, payload


@asynccontextmanager
async def running(**changes: Any) -> AsyncIterator[Rig]:
    """A sandbox on a port; its time stands still until it is moved. The app has no addresses."""
    sandbox = Sandbox(replace(APP, bot_shares_clock=True, **changes), clock=Clock(lambda: START))
    listener = listen("127.0.0.1", 0)
    base_url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    async with serving(sandbox.app, listener), httpx.AsyncClient(base_url=base_url, trust_env=False) as api:
        yield Rig(sandbox, api)


async def answering(client: Client, code: int = 200, answer: Any = None) -> dict[str, Any]:
    """Acknowledge the next message; what was in it."""
    frame, payload = await client.whole()
    await client.acknowledge(frame, code, answer)
    decoded: dict[str, Any] = json.loads(payload)
    return decoded


async def test_the_address_call_gives_an_address_and_what_to_do():
    """A ticket in the query, and the platform's intervals."""
    async with running(ping_s=90) as rig:
        answer = await rig.ask()

    query = parse_qs(urlsplit(answer["data"]["URL"]).query)
    assert (answer["code"], query.keys()) == (0, {"device_id", "service_id", "access_key", "ticket"})
    assert answer["data"]["ClientConfig"] == {
        "ReconnectCount": -1,
        "ReconnectInterval": 120,
        "ReconnectNonce": 30,
        "PingInterval": 90,
    }


async def test_wrong_credentials_are_refused_with_http_200():
    """Only the code says no."""
    async with running() as rig:
        wrong = [{"AppSecret": "wrong"}, {"AppID": "cli_other"}, {"AppSecret": ""}, {"AppID": 7}]

        assert [(await rig.ask(**one))["code"] for one in wrong] == [514, 514, 1000040344, 1000040344]


async def test_an_app_that_is_off_is_refused_and_scripted_faults_hold():
    """Forbidden; busy as a code; a gateway's error page."""
    async with running() as rig:
        rig.sandbox.change_app(bot_enabled=False)
        forbidden = (await rig.ask())["code"]
        rig.sandbox.change_app()
        await rig.control("faults", kind="code", api="link", code=1, status=200)
        busy = (await rig.ask())["code"]
        rig.sandbox.faults.add(Fault("server_error", "link"))
        broken = (await rig.api.post("/callback/ws/endpoint", json={})).status_code

        assert (forbidden, busy, broken, (await rig.ask())["code"]) == (403, 1, 502, 0)


async def test_a_ticket_is_good_once_and_for_a_minute():
    """A refused upgrade says why in its headers: 514 for the ticket, 403 for what is no address of ours."""
    async with running() as rig:
        used, expired = await rig.url(), await rig.url()
        async with connect(used, proxy=None):
            pass
        rig.sandbox.clock.advance(TICKET_S)
        bad = {
            "used": used,
            "expired": expired,
            "forged": (await rig.url()).replace("ticket=", "ticket=0"),
            "without a device": (await rig.url()).replace("device_id", "x"),
            "without a service": (await rig.url()).replace("service_id", "x"),
        }

        assert {name: await refusal_of(url) for name, url in bad.items()} == {
            "used": "514",
            "expired": "514",
            "forged": "514",
            "without a device": "403",
            "without a service": "403",
        }


async def refusal_of(url: str, header: str = "handshake-status") -> str:
    with pytest.raises(InvalidStatus) as refusal:
        await connect(url, proxy=None)
    return refusal.value.response.headers[header]


async def test_the_fifty_first_connection_is_refused():
    """At the address call, and for a ticket from before at the upgrade."""
    async with running() as rig, asyncio.TaskGroup() as tasks:
        spare = await rig.url()
        full, done = asyncio.Event(), asyncio.Event()

        async def stay() -> None:
            async with rig.link():
                if len(rig.sandbox.links.wires) == MOST_LINKS:
                    full.set()
                await done.wait()

        for _ in range(MOST_LINKS):
            tasks.create_task(stay())
        await full.wait()
        asked = (await rig.ask())["code"]
        refused = await refusal_of(spare, "handshake-autherrcode")
        done.set()

    assert (asked, refused) == (1000040350, "1000040350")


async def test_a_ping_is_answered_with_the_settings():
    """A control frame of the same service."""
    async with running(ping_s=77) as rig, rig.link() as client:
        await client.ping()

        pong = await client.hear()

        assert (pong.method, pong.headers, pong.service) == (CONTROL, {"type": "pong"}, client.service)
        assert json.loads(pong.payload)["PingInterval"] == 77


async def test_an_event_comes_plain_in_one_frame_and_ends_with_its_acknowledgement():
    """The envelope of schema 2.0; no encryption, no signature."""
    async with running() as rig, rig.link() as client:
        person, chat_id = rig.reader()
        async with asyncio.TaskGroup() as tasks:
            opened = tasks.create_task(rig.sandbox.client.open_bot_chat(person))
            frame, payload = await client.whole()
            await client.acknowledge(frame)

        assert (frame.method, frame.service, frame.headers["type"], frame.headers["sum"]) == (
            DATA,
            client.service,
            "event",
            "1",
        )
        assert json.loads(payload)["event"]["chat_id"] == chat_id
        assert (opened.result().answered, rig.sandbox.world.pushes) == (True, {})
        assert rig.sandbox.world.violations == []


async def open_chat(rig: Rig, client: Client, *, code: int = 200) -> Any:
    """A person opens the chat and the client answers with this code; what the person sees."""
    person, _ = rig.reader()
    async with asyncio.TaskGroup() as tasks:
        opened = tasks.create_task(rig.sandbox.client.open_bot_chat(person))
        await answering(client, code)
    return opened.result()


async def test_a_failure_and_silence_bring_the_event_again():
    """15 s after a 500, 5 min after no answer within 3 s; the same event, another message."""
    async with running() as rig, rig.link() as client:
        failed = await open_chat(rig, client, code=500)
        rig.sandbox.clock.advance(15)
        second, body = await client.whole()
        rig.sandbox.clock.advance(3)
        await until(lambda: len(rig.sandbox.pusher.attempts) == 2)
        rig.sandbox.clock.advance(300)
        third, again = await client.whole()
        await client.acknowledge(third)
        await until(lambda: not rig.sandbox.world.pushes)

        assert failed.answered is False
        assert [(one.status, one.failure) for one in rig.sandbox.pusher.attempts] == [
            (500, ""),
            (None, "timeout"),
            (200, ""),
        ]
        assert json.loads(body) == json.loads(again)
        assert second.headers["message_id"] != third.headers["message_id"]


async def test_an_event_without_a_connection_fails_and_waits_for_one():
    """An app that has connected before is not an app without an address."""
    async with running() as rig:
        person, _ = rig.reader()
        unheard = await rig.sandbox.client.open_bot_chat(person)
        async with rig.link():
            pass
        await until(lambda: not rig.sandbox.links.wires)
        missed = await rig.sandbox.client.open_bot_chat(person)
        async with rig.link() as client:
            rig.sandbox.clock.advance(15)
            heard = await answering(client)

    assert (unheard.answered, missed.answered) == (None, False)
    assert [one.event_id for one in rig.sandbox.pusher.attempts] == [heard["header"]["event_id"]] * 2


async def test_each_event_goes_to_one_connection_at_random():
    """Cluster mode: no broadcast, and nobody is left out for ever."""
    async with running() as rig, rig.link() as one, rig.link() as other, asyncio.TaskGroup() as tasks:
        counts = {id(one): 0, id(other): 0}

        async def serve(client: Client) -> None:
            while True:
                await answering(client)
                counts[id(client)] += 1

        serving_both = [tasks.create_task(serve(client)) for client in (one, other)]
        person, _ = rig.reader()
        for _ in range(40):
            assert (await rig.sandbox.client.open_bot_chat(person)).answered
        for task in serving_both:
            task.cancel()

        assert sum(counts.values()) == 40
        assert min(counts.values()) >= 5


async def test_an_app_set_to_webhook_hears_nothing_over_its_connections():
    """The console's switch."""
    async with running(transport="webhook") as rig, rig.link() as client:
        person, _ = rig.reader()
        shown = await rig.sandbox.client.open_bot_chat(person)
        await client.ping()

        assert ((await client.hear()).headers["type"], shown.answered) == ("pong", False)


async def test_a_click_is_answered_in_the_acknowledgement():
    """What the person sees is what they would see over HTTP, and nothing is pushed again."""
    answers = [(200, {"toast": {"type": "success", "content": "好"}}), (200, {}), (200, None), (500, None), (200, [])]
    async with running() as rig, rig.link() as client:
        person, message_id = await card_for(rig, client)
        shown = []
        for code, answer in answers:
            async with asyncio.TaskGroup() as tasks:
                clicked = tasks.create_task(rig.sandbox.client.click(person, message_id, {"go": 1}))
                heard = await answering(client, code, answer)
            shown.append((clicked.result().code, clicked.result().toast_text))

        assert [code for code, _ in shown] == [0, 0, 0, 200671, 200672]
        assert [text for _, text in shown[:3]] == ["好", None, None]
        assert heard["header"]["event_type"] == "card.action.trigger"
        assert rig.sandbox.world.pushes == {}


async def card_for(rig: Rig, client: Client) -> tuple[str, str]:
    """A person with a card that has a button."""
    person, _ = rig.reader()
    await open_chat(rig, client)
    token = await rig.api.post(
        "/open-apis/auth/v3/tenant_access_token/internal", json={"app_id": APP.app_id, "app_secret": APP.app_secret}
    )
    sent = await rig.api.post(
        "/open-apis/im/v1/messages?receive_id_type=open_id",
        headers={"Authorization": f"Bearer {token.json()['tenant_access_token']}"},
        json={"receive_id": person, "msg_type": "interactive", "content": json.dumps(card_of(button({"go": 1})))},
    )
    return person, sent.json()["data"]["message_id"]


async def test_a_click_that_nobody_answers_shows_a_code_and_is_lost():
    """3 s, then 200341; a connection that goes first is 200080."""
    async with running() as rig, rig.link() as client:
        person, message_id = await card_for(rig, client)
        async with asyncio.TaskGroup() as tasks:
            late = tasks.create_task(rig.sandbox.client.click(person, message_id, {"go": 1}))
            await client.whole()
            rig.sandbox.clock.advance(3)
        async with asyncio.TaskGroup() as tasks:
            lost = tasks.create_task(rig.sandbox.client.click(person, message_id, {"go": 1}))
            await client.whole()
            await rig.control("links/cut")

        assert (late.result().code, lost.result().code) == (200341, 200080)
        assert rig.sandbox.world.pushes == {}


async def test_a_long_message_comes_in_parts():
    """Every part names the message, its place and how many there are."""
    async with running() as rig, rig.link() as client:
        person, chat_id = rig.reader()
        await open_chat(rig, client)
        async with asyncio.TaskGroup() as tasks:
            said = tasks.create_task(rig.sandbox.client.say(person, chat_id, "长" * PART_BYTES))
            frame, payload = await client.whole()
            await client.acknowledge(frame)

        assert int(frame.headers["sum"]) == -(-len(payload) // PART_BYTES) > 1
        assert "长" * PART_BYTES in json.loads(payload)["event"]["message"]["content"]
        assert said.result().answered


async def test_a_client_that_pings_no_more_is_dropped():
    """Three intervals; a ping in between keeps it."""
    async with running(ping_s=10) as rig, rig.link() as client:
        rig.sandbox.clock.advance(29)
        await client.ping()
        await client.hear()
        rig.sandbox.clock.advance(29)
        await client.ping()
        kept = await client.hear()
        rig.sandbox.clock.advance(30)

        with pytest.raises(ConnectionClosed):
            await client.hear()
        assert kept.headers["type"] == "pong"


async def test_what_no_client_must_send_is_noted():
    """And the connection lives on."""
    async with running() as rig, rig.link() as client:
        foreign = Frame(CONTROL, {"type": "ping"}, service=-client.service)
        wrong = [b"", b"\xff" * 30, "text", encode(foreign), encode(Frame(CONTROL, {}, service=client.service))]
        noted = []
        for raw in wrong:
            before = len(rig.sandbox.world.violations)
            await client.socket.send(raw)
            await client.ping()
            await client.hear()
            noted.append(len(rig.sandbox.world.violations) - before)

        assert noted == [1] * len(wrong)


async def test_an_acknowledgement_that_is_not_the_pushed_frame_is_none():
    """The same frame with another payload, or the event comes again."""
    async with running() as rig, rig.link() as client:
        person, _ = rig.reader()
        async with asyncio.TaskGroup() as tasks:
            opened = tasks.create_task(rig.sandbox.client.open_bot_chat(person))
            frame, _payload = await client.whole()
            headers = {key: value for key, value in frame.headers.items() if key != "trace_id"}
            await client.send(replace(frame, seq_id=frame.seq_id + 1, payload=b'{"code":200}'))
            await client.send(replace(frame, headers=headers, payload=b'{"code":200}'))
            await client.send(replace(frame, payload=b"200"))
            await client.ping()
            await client.hear()
            rig.sandbox.clock.advance(3)

        assert opened.result().answered is False
        assert len(rig.sandbox.world.violations) == 3


async def test_the_ways_of_the_official_node_sdk_are_the_apps_good_right():
    """It takes app ids of one shape only, and gives a log id back as a double holds it."""
    async with running() as rig, rig.link() as client:
        opening = asyncio.create_task(rig.sandbox.client.open_bot_chat(rig.reader()[0]))
        frame = await client.hear()
        await client.acknowledge(replace(frame, log_id=int(float(frame.log_id))))

        assert (await opening).answered is True
        assert rig.sandbox.world.violations == []
    assert re.fullmatch(r"cli_[0-9a-fA-F]{16}", APP.app_id)


async def test_faults_of_connections_are_scripted_over_the_control_api():
    """Split, twice, lost answer, swallowed pong, cut; each as often as it is told."""
    async with running() as rig, rig.link() as client:
        await rig.control("link-faults", kind="split", size=100)
        await rig.control("link-faults", kind="twice", after=1)
        await rig.control("link-faults", kind="swallow_pong")
        person, _ = rig.reader()
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(rig.sandbox.client.open_bot_chat(person))
            frame, payload = await client.whole()
            await client.acknowledge(frame)
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(rig.sandbox.client.open_bot_chat(person))
            copies = [await answering(client), await answering(client)]
        await client.ping()
        await client.ping()
        pong = await client.hear()
        rig.sandbox.links.faults.add(LinkFault("cut"))
        await client.ping()
        with pytest.raises(ConnectionClosed):
            await client.hear()

        assert frame.headers["sum"] == str(-(-len(payload) // 100))
        assert copies[0] == copies[1]
        assert pong.headers["type"] == "pong"


async def test_a_lost_acknowledgement_brings_the_event_again():
    """At least once: the app has handled it, and must know it when it comes again."""
    async with running() as rig, rig.link() as client:
        rig.sandbox.links.faults.add(LinkFault("lose_answer"))
        person, _ = rig.reader()
        async with asyncio.TaskGroup() as tasks:
            opened = tasks.create_task(rig.sandbox.client.open_bot_chat(person))
            first = await answering(client)
            await client.ping()
            await client.hear()
            rig.sandbox.clock.advance(3)
        rig.sandbox.clock.advance(15)
        second = await answering(client)

        assert (opened.result().answered, first) == (False, second)
