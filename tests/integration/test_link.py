"""The long connection between the bot and the platform: the same effects as over HTTP, and it always comes back."""

import asyncio
import contextlib
import logging
import random
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime

import httpx
import msgspec
import pytest

from bot.cards.actions import SetGroupSubscription, SetSubscription, encode
from bot.cards.templates import CardTemplates
from bot.domain.audience import Kind, Receiver
from bot.domain.inbound import Answer, Inbound
from bot.feishu.client import FeishuClient
from bot.feishu.link import Link, Timing
from bot.feishu.link_endpoint import Endpoint, LinkError, ask, refused, upgrade_refused
from bot.parts import all_series
from bot.sandbox import payloads
from bot.sandbox.clock import Clock
from bot.sandbox.faults import Fault
from bot.sandbox.link_faults import LinkFault
from bot.services.interact import Interactor
from bot.store import ledger, subscribers
from tests.integration.bot_process import ROOT, clean_environ
from tests.integration.conftest import SERIES, House, until
from tests.sandbox.kit import button, card_json, card_of

pytestmark = pytest.mark.anyio
RECEIVED = "im.message.receive_v1"
ON, GROUP_ON = encode(SetSubscription(SERIES, on=True)), encode(SetGroupSubscription(SERIES, on=True))
CARD = card_json(card_of(button(ON), button(GROUP_ON)))


def clock_of(clock: Clock) -> datetime:
    return datetime.fromtimestamp(clock.now(), UTC)


def interactor(house: House) -> Interactor:
    series = all_series(house.settings)
    return Interactor(house.store, CardTemplates(), series, house.publisher, (), lambda: None)


@dataclass
class Service:
    """What a link calls: the bot's own service, or what a test puts in its way. `handler`: of a bot at work."""

    house: House
    handler: Callable[[Inbound, datetime], Awaitable[Answer]] | None = None
    clock: Clock = field(default_factory=Clock)
    chance: random.Random = field(default_factory=lambda: random.Random(1))
    patience_s: float = 0.05
    failures: int = 0
    hang: bool = False

    def __post_init__(self) -> None:
        self._handler = self.handler or interactor(self.house).handle

    async def handle(self, inbound: Inbound, now: datetime) -> Answer:
        if self.failures > 0:
            self.failures -= 1
            raise RuntimeError("broken on purpose")
        if self.hang:
            await asyncio.Event().wait()
        return await self._handler(inbound, now)

    def link(self, *, answer_s: float = 60.0) -> Link:
        """Waits pass by the clock; chance makes waits after a lost connection short."""
        timing = Timing(
            lambda: clock_of(self.clock),
            self.clock.now,
            self.clock.sleep,
            lambda: self.chance.random() / 10_000,
            self.patience_s,
            answer_s,
        )
        feishu = self.house.settings.feishu
        return Link(feishu.base_url, feishu.app_id, feishu.app_secret, self.handle, timing)

    @contextlib.asynccontextmanager
    async def linked(self, **limits: float) -> AsyncIterator[Link]:
        """A link that is up, and gone afterwards."""
        link = self._link = self.link(**limits)
        async with asyncio.TaskGroup() as tasks:
            running = tasks.create_task(link.run())
            try:
                await until(lambda: self.is_up(link))
                yield link
            finally:
                link.stop()
                await running

    async def back(self) -> None:
        """Let time pass until the link that was last made is up."""
        while not (self.house.sandbox.links.wires and self.is_up(self._link)):
            self.clock.advance(10)
            await asyncio.sleep(0.01)

    def is_up(self, link: Link) -> bool:
        return link.health(clock_of(self.clock)).is_up and link.health(clock_of(self.clock)).last_pong is not None


@pytest.fixture
async def service(house: House) -> Service:
    return Service(house, patience_s=10.0)


async def sent_card(house: House, receiver: Receiver) -> str:
    feishu = house.settings.feishu
    async with FeishuClient(feishu.base_url, feishu.app_id, feishu.app_secret) as client:
        return await client.send(receiver, CARD, f"card-{receiver.id[:20]}")


async def test_fifty_cuts_lose_and_double_nothing(service, caplog):
    """A hundred people subscribe while the connection is cut at random moments; nobody is forgotten, or told twice."""
    chance, house = random.Random(7), service.house
    caplog.set_level(logging.INFO, "bot.feishu.link")
    people = [house.sandbox.client.add_user(f"读者{number}").open_id for number in range(100)]
    async with service.linked(), asyncio.TaskGroup() as tasks:
        for number in range(50):
            for person in people[number * 2 : number * 2 + 2]:
                tasks.create_task(speak(house, person))
            await until(lambda: house.sandbox.links.wires)
            for _ in range(chance.randrange(40)):
                await asyncio.sleep(0)
            house.sandbox.links.cut_all()
            assert len(house.sandbox.links.wires) <= 1
        await until(lambda: house.sandbox.links.wires)
    async with service.linked():
        await all_redelivered(house)

    connected = sum(record.getMessage() == "link_connected" for record in caplog.records)
    receivers = [Receiver(Kind.USER, person) for person in people]
    assert connected > 25
    assert len(house.sandbox.pusher.attempts) > len({one.event_id for one in house.sandbox.pusher.attempts}) >= 200
    assert house.sandbox.pusher.given_up == []
    assert {house.store.read_now(subscribers.status, one, SERIES) for one in receivers} == {"active"}
    assert sum(house.store.read_now(ledger.counts).values()) == 200, "one answer to each word"


async def speak(house: House, person: str) -> None:
    """Two words into a chat that the bot has not heard of: each has its answer, in whatever order they come."""
    world, app_id = house.sandbox.world, house.settings.feishu.app_id
    chat = payloads.ensure_p2p_chat(world, app_id, world.users[person])
    for word in ("订阅", "帮助"):
        await house.sandbox.client.say(person, chat.chat_id, word)


async def all_redelivered(house: House) -> None:
    """Let the platform's waits pass, one after the other, until nothing waits."""
    while house.sandbox.world.pushes:
        await next_delivery(house)


async def next_delivery(house: House) -> None:
    """Let the platform's next wait pass; all that is on its way then has its answer, or none."""
    clock, waiting = house.sandbox.clock, house.sandbox.world.pushes
    for _ in range(20):  # let the platform's loop begin to wait
        await asyncio.sleep(0)
    clock.advance(max(0.0, min((push.due_at for push in waiting.values()), default=0.0) - clock.now()))
    await until(lambda: all(push.due_at > clock.now() for push in waiting.values()))


async def test_what_fails_is_not_acknowledged_and_comes_again(service, caplog):
    """An event after 15 s; a click shows the person a code and is theirs to repeat."""
    house = service.house
    person = house.sandbox.client.add_user("读者甲").open_id
    async with service.linked():
        service.failures = 1
        opened = await house.sandbox.client.open_bot_chat(person)
        card = await sent_card(house, Receiver(Kind.USER, person))
        service.failures = 1
        failed = await house.sandbox.client.click(person, card, ON)
        clicked = await house.sandbox.client.click(person, card, ON)
        house.sandbox.clock.advance(15)
        await until(lambda: not house.sandbox.world.pushes)

    assert (opened.answered, failed.code, clicked.code) == (False, 200671, 0)
    assert [one.status for one in house.sandbox.pusher.attempts] == [500, 200]
    assert [one.message for one in caplog.records if one.levelno == logging.ERROR] == ["event_failed"] * 2


async def test_a_handler_that_hangs_is_answered_for_in_time(service):
    """With a failure, before the platform has given up: the event comes again at once after its wait."""
    house = service.house
    async with service.linked(answer_s=0.5):
        service.hang = True
        opened = await house.sandbox.client.open_bot_chat(house.sandbox.client.add_user("读者甲").open_id)
        service.hang = False
        await all_redelivered(house)

    assert opened.answered is False
    assert [one.status for one in house.sandbox.pusher.attempts][:: len(house.sandbox.pusher.attempts) - 1] == [
        500,
        200,
    ]


async def test_a_split_event_and_one_that_comes_twice_have_one_effect(service):
    """Hundreds of parts are one message, and the inbox knows a repetition."""
    house = service.house
    person = house.sandbox.client.add_user("读者甲").open_id
    async with service.linked():
        house.sandbox.links.faults.add(LinkFault("split", size=10), LinkFault("twice"))
        opened = await house.sandbox.client.open_bot_chat(person)
        house.sandbox.links.faults.add(LinkFault("lose_answer", times=None))
        said = asyncio.create_task(house.sandbox.client.say(person, opened.chat_id, "订阅"))
        await until(lambda: house.store.read_now(subscribers.status, Receiver(Kind.USER, person), SERIES) == "active")
        house.sandbox.clock.advance(3)
        house.sandbox.links.faults.clear()
        lost = await said
        await all_redelivered(house)

    assert (opened.answered, lost.answered) == (True, False)
    assert sum(house.store.read_now(ledger.counts).values()) == 2


async def test_kinds_of_events_that_nobody_knows_are_acknowledged(service):
    """Else the platform would push them for seven hours, and complain."""
    pusher = service.house.sandbox.pusher
    async with service.linked() as link:
        answered = [await pusher.publish("im.chat.updated_v1", {}), await pusher.publish(RECEIVED, {"odd": []})]
        heard = link.health(clock_of(service.clock)).last_event

    assert answered == [True, True]
    assert heard is not None


async def test_a_broken_tls_is_a_failure_that_passes(house):
    """Here: no TLS at the other end."""
    base_url = house.settings.feishu.base_url.replace("http://", "https://")
    async with httpx.AsyncClient(base_url=base_url) as http:
        with pytest.raises(LinkError) as failure:
            await ask(http, "cli_a", "secret")

    assert ("ConnectError" in failure.value.reason, failure.value.is_final) == (True, False)


async def test_an_address_call_that_fails_is_tried_again(house):
    """Busy, internal, an error page, cut, hanging: each passes, none ends the link, none leaves two connections."""
    service = Service(house, patience_s=0.2)
    kinds = [
        Fault("code", "link", code=1, status=200, times=2),
        Fault("code", "link", code=1000040343, status=200, times=2),
        Fault("server_error", "link", times=2),
        Fault("reset", "link", times=2),
        Fault("slow", "link", seconds=86_400, times=2),
    ]
    house.sandbox.faults.add(*kinds)

    async with service.linked() as link:
        connected = len(house.sandbox.links.wires)
        health = link.health(clock_of(service.clock))
        house.sandbox.clock.advance(86_400)  # the hanging calls end

    assert [fault for _, fault in house.sandbox.faults.met] == [fault for fault in kinds for _ in range(2)]
    assert (connected, health.trouble, house.sandbox.links.wires) == (1, "", {})


async def test_a_refusal_that_needs_a_human_is_told_once_and_tried_slowly(house, caplog):
    """With its cure; minutes pass between attempts, and once it is mended the bot is back by itself."""
    service, met = Service(house, patience_s=10.0), house.sandbox.faults.met
    house.sandbox.faults.add(Fault("code", "link", code=514, status=200, times=3))
    link = service.link()
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(link.run())
        for attempt in range(1, 4):
            await until(lambda attempt=attempt: len(met) == attempt)
            await until(lambda: link.health(clock_of(service.clock)).trouble)
            trouble = link.health(clock_of(service.clock)).trouble
            service.clock.advance(149)  # not yet
            await asyncio.sleep(0)
            assert len(met) == attempt
            service.clock.advance(2)
        await until(lambda: service.is_up(link))
        link.stop()

    errors = [record for record in caplog.records if record.levelno == logging.ERROR]
    assert trouble == "app_id 或 app_secret 不正确"
    assert [(one.message, one.code) for one in errors] == [("link_refused", 514)]
    assert "开发者后台" in errors[0].cure


async def test_a_connection_that_answers_no_pings_is_rebuilt(service):
    """The other end holds the socket open and says nothing: noticed by the clock, and red until it is mended."""
    house, clock = service.house, service.clock
    async with service.linked() as link:
        before = set(house.sandbox.links.wires)
        house.sandbox.links.faults.add(LinkFault("swallow_pong", times=None))
        clock.advance(120)  # the next ping is due, and swallowed
        await asyncio.sleep(0)
        late = link.health(clock_of(clock))
        red = link.health(datetime.fromtimestamp(clock.now() + 31, UTC))
        house.sandbox.faults.add(Fault("server_error", "link"))
        clock.advance(31)
        await until(lambda: not before & set(house.sandbox.links.wires))
        house.sandbox.links.faults.clear()
        await until(lambda: service.is_up(link))
        after = set(house.sandbox.links.wires)

    assert (late.is_up, red.is_up) == (True, False)
    assert len(after) == 1
    assert not before & after


async def test_a_pong_that_is_late_by_seconds_is_no_reason_to_reconnect(service):
    """Lossy networks: the wait for a pong is far longer than theirs."""
    house, clock = service.house, service.clock
    async with service.linked() as link:
        before = set(house.sandbox.links.wires)
        house.sandbox.links.faults.add(LinkFault("swallow_pong", times=1))
        clock.advance(120)
        clock.advance(25)
        person = house.sandbox.client.add_user("读者甲").open_id
        answered = (await house.sandbox.client.open_bot_chat(person)).answered
        clock.advance(10)  # any frame shows that the other end lives
        await until(lambda: service.is_up(link))

        assert (answered, set(house.sandbox.links.wires)) == (True, before)


async def test_a_quiet_day_keeps_the_connection(service):
    """No events for hours, pings all the time; then one event is handled over the same connection."""
    house, clock = service.house, service.clock
    async with service.linked() as link:
        before = set(house.sandbox.links.wires)
        for _ in range(60):
            pong = link.health(clock_of(clock)).last_pong
            clock.advance(120)
            await until(lambda pong=pong: link.health(clock_of(clock)).last_pong != pong)
        person = house.sandbox.client.add_user("读者甲").open_id
        answered = (await house.sandbox.client.open_bot_chat(person)).answered

        assert (answered, set(house.sandbox.links.wires)) == (True, before)


async def test_a_process_that_slept_for_an_hour_is_back_at_once(service):
    """The clock jumps as after SIGSTOP; the platform has dropped the connection meanwhile."""
    house = service.house
    async with service.linked() as link:
        before = set(house.sandbox.links.wires)
        house.sandbox.links.cut_all()
        service.clock.advance(3600)
        await until(lambda: service.is_up(link) and not before & set(house.sandbox.links.wires))
        person = house.sandbox.client.add_user("读者甲").open_id

        assert (await house.sandbox.client.open_bot_chat(person)).answered


async def test_a_link_runs_once_and_stops_while_the_other_end_is_silent(service):
    """A second run would be a second connection; a stop needs nobody's answer."""
    link = service.link()
    service.house.sandbox.faults.add(Fault("slow", "link", seconds=86_400))
    running = asyncio.create_task(link.run())
    await until(lambda: service.house.sandbox.faults.met)
    with pytest.raises(RuntimeError):
        await link.run()
    link.stop()
    await running
    service.house.sandbox.clock.advance(86_400)

    assert service.house.sandbox.links.wires == {}


async def test_two_links_share_the_events(service):
    """Two processes: each event is handled by one of them, whichever it is."""
    house = service.house
    person = house.sandbox.client.add_user("读者甲").open_id
    async with service.linked() as one, service.linked() as other:
        for _ in range(20):
            assert (await house.sandbox.client.open_bot_chat(person)).answered
        heard = [link.health(clock_of(service.clock)).last_event for link in (one, other)]

    assert None not in heard
    assert len(house.sandbox.pusher.attempts) == 20


async def test_logs_hold_no_secret_no_ticket_and_no_words(service, caplog):
    """Not even at the finest level."""
    caplog.set_level(logging.DEBUG)
    house = service.house
    person = house.sandbox.client.add_user("读者甲").open_id
    async with service.linked():
        opened = await house.sandbox.client.open_bot_chat(person)
        await house.sandbox.client.say(person, opened.chat_id, "一句悄悄话")
        house.sandbox.links.cut_all()
        await until(lambda: house.sandbox.links.wires)

    ours = "\n".join(
        f"{one.getMessage()} {one.__dict__}" for one in caplog.records if not one.name.startswith("uvicorn")
    )
    assert "link_connected" in ours
    for secret in ("access_key", "ticket", house.settings.feishu.app_secret, "悄悄话", "读者甲"):
        assert str.__str__(secret) not in ours


async def test_the_official_sdk_connects_to_our_platform_and_hears_an_event(house):
    """A stranger to our code agrees on the address call, the frames, the acknowledgement and a click's answer."""
    feishu, client = house.settings.feishu, house.sandbox.client
    arguments = feishu.base_url, feishu.app_id, str.__str__(feishu.app_secret)
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.integration.sdk_link", *arguments,
        env=clean_environ(), cwd=ROOT, stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    try:
        await until(lambda: house.sandbox.links.wires or process.returncode is not None)
        person = client.add_user("读者甲").open_id
        card = await sent_card(house, Receiver(Kind.USER, person))
        said = await client.say(person, house.sandbox.world.p2p_chat_id(feishu.app_id, person), "订阅 " + "长" * 20_000)
        clicked = await client.click(person, card, ON)
        assert process.stdout is not None
        heard = (await process.stdout.readline()).decode().strip()
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.communicate()

    assert (said.answered, heard) == (True, said.message_id)
    assert (clicked.code, clicked.toast_text) == (0, "收到")
    assert house.sandbox.world.violations == []


def answer_of(url: object, *, code: object = 0) -> bytes:
    return msgspec.json.encode({"code": code, "data": {"URL": url}})


async def asked(body: bytes, base_url: str = "https://open.feishu.cn", status: int = 200) -> Endpoint | LinkError:
    """What the address call makes of an answer."""
    answering = httpx.MockTransport(lambda _: httpx.Response(status, content=body))
    async with httpx.AsyncClient(transport=answering, base_url=base_url) as http:
        try:
            return await ask(http, "cli_a", "secret")
        except LinkError as exc:
            return exc


async def test_an_address_is_taken_only_if_it_is_complete_and_as_safe_as_where_it_came_from():
    """A ticket never goes over a line without TLS, and what is unreadable is only a failure."""
    good = await asked(answer_of("wss://x.feishu.cn/ws?device_id=d&service_id=7&ticket=t"))
    bad = [
        await asked(answer_of("ws://x.feishu.cn/ws?device_id=d&service_id=7")),
        await asked(answer_of("https://x.feishu.cn/ws?device_id=d&service_id=7")),
        await asked(answer_of("wss://x.feishu.cn/ws?device_id=d")),
        await asked(answer_of("wss://[x?service_id=7")),
        await asked(answer_of(None)),
        await asked(b'{"code":0,"data":null}'),
        await asked(answer_of("", code="0")),
        await asked(b"<html>"),
        await asked(b"\xff"),
        await asked(b"{}", status=503),
    ]

    assert isinstance(good, Endpoint)
    assert (good.service, "ticket" in repr(good)) == (7, False)
    assert [isinstance(one, LinkError) and one.is_final for one in bad] == [False] * len(bad)
    assert all(isinstance(one, LinkError) for one in bad)


def test_only_what_a_human_must_mend_is_final():
    """A refused upgrade: a stale ticket passes, too many connections and a forbidden app do not."""
    final = {code: refused(code).is_final for code in (1, 1000040343, 403, 514, 1000040344, 1000040350, 99)}
    upgrades = [
        upgrade_refused(502, {}),
        upgrade_refused(403, {"handshake-status": "514"}),
        upgrade_refused(403, {"handshake-status": "514", "handshake-autherrcode": "1000040343"}),
        upgrade_refused(403, {"handshake-status": "514", "handshake-autherrcode": "1000040350"}),
        upgrade_refused(403, {"handshake-status": "403"}),
        upgrade_refused(403, {"handshake-status": "²"}),
    ]

    assert [code for code, is_final in final.items() if not is_final] == [1, 1000040343]
    assert [one.is_final for one in upgrades] == [False, False, False, True, True, False]
