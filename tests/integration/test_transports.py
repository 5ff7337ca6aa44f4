"""One day of people's doings, over HTTP and over the long connection: the same rows in the end, whatever happens."""

import asyncio
import contextlib
import logging
import random
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field

import msgspec
import pytest
from sqlalchemy import select

from bot.assembly import Parts, assemble, web_of
from bot.cards.actions import Action, SetGroupSubscription, SetPreferences, UndoLeave, encode
from bot.feishu.client import FeishuClient
from bot.feishu.hooks import HookSender
from bot.sandbox import card_elements
from bot.sandbox.client_actions import Shown
from bot.sandbox.faults import Fault
from bot.serving import listen, serving
from bot.store.engine import Transaction
from bot.store.tables import audit, deliveries, inbox, subscribers, subscriptions
from tests.campaign import stage, strangers
from tests.integration.conftest import SERIES, House, on_both, until
from tests.integration.test_link import RECEIVED, Service, next_delivery

pytestmark = pytest.mark.anyio
READER, OWNER, ADDER = "读者甲", "群主", "编辑"
GROUP = "学习群"
Around = Callable[[], AbstractAsyncContextManager[object]]
CUTS = 4  # for each event, one a try: the platform tries five times


@dataclass
class Rows:
    """What the tables hold, with names for ids. `told`: what was sent to whom, by the kind of its key."""

    subscriptions: dict[str, tuple[str, str, bool, str | None]]
    changes: list[tuple[str, str, str, str | None, str]]
    told: dict[str, list[str]]


# Status, density, whether a day of return is written, who set it up.
SUBSCRIPTIONS = {
    READER: ("active", "full", False, None),
    OWNER: ("active", "standard", False, None),
    GROUP: ("active", "standard", False, OWNER),
}
CHANGES = [
    (READER, "active", READER, None, "active"),
    (READER, "prefer", READER, "active", "active"),
    (READER, "paused", READER, "active", "paused"),
    (READER, "unsubscribed", READER, "paused", "unsubscribed"),
    (READER, "paused", READER, "unsubscribed", "paused"),
    (READER, "active", READER, "paused", "active"),
    (OWNER, "active", OWNER, None, "active"),
    (OWNER, "active", GROUP, None, "active"),
]
TOLD = {
    READER: ["welcome", "confirm", "settings", "confirm", "confirm", "confirm"],
    OWNER: ["welcome", "confirm", "checked"],
    GROUP: ["added", "confirm"],
}


async def at_once() -> None:
    pass


@dataclass
class Day:
    """People and what they do, one after the other.

    `around`: what happens while an event is on its way, so many `times`. `ready`: what is waited for before it is
    tried again.
    """

    house: House
    around: Around = contextlib.nullcontext
    times: int = 0
    ready: Callable[[], Awaitable[None]] = at_once
    ids: dict[str, str] = field(default_factory=dict)
    events: int = 0

    async def live(self) -> None:
        """Subscribe, choose, pause, leave, undo, go on; a group; repetitions and copies at once."""
        client = self.house.sandbox.client
        self.ids = {name: client.add_user(name).open_id for name in (READER, OWNER, ADDER)}
        reader, owner, adder = self.ids.values()
        await self.event(lambda: client.open_bot_chat(reader))
        await self.says(READER, "订阅")
        await self.says(READER, "设置")
        await self.presses(READER, self.private(READER), SetPreferences(SERIES), {"density": "full"})
        await self.says(READER, "暂停 3天")
        await self.says(READER, "退订")
        await self.presses(READER, self.private(READER), UndoLeave(SERIES), twice=True)
        await self.says(READER, "恢复")
        await self.event(lambda: client.open_bot_chat(owner))
        await self.event(lambda: self.twice_at_once(OWNER, "订阅"))
        await self.event(lambda: self.again(fresh_id=False))
        await self.event(lambda: self.again(fresh_id=True))
        group = (await client.create_group(GROUP, owner, [adder, reader])).chat_id
        assert group is not None
        self.ids[GROUP] = group
        await self.event(lambda: client.add_bot(group, adder))
        await self.presses(OWNER, group, SetGroupSubscription(SERIES, on=True))
        refused = await self.presses(READER, group, SetGroupSubscription(SERIES, on=False))
        assert "只有群主" in (refused.toast_text or ""), refused

    def private(self, name: str) -> str:
        """The chat of a person with the bot."""
        return self.house.sandbox.world.p2p_chat_id(self.house.settings.feishu.app_id, self.ids[name])

    async def says(self, name: str, text: str) -> None:
        await self.event(lambda: self.house.sandbox.client.say(self.ids[name], self.private(name), text))

    async def presses(
        self, name: str, chat: str, action: Action, form: dict[str, str] | None = None, *, twice: bool = False
    ) -> Shown:
        """A button of the latest card that has it, or a double click. Where it goes wrong the person tries again."""
        card, client = await self.card(chat, action), self.house.sandbox.client

        async def press() -> Shown:
            click = lambda: client.click(self.ids[name], card, encode(action), form_value=form)  # noqa: E731
            both = await asyncio.gather(*(click() for _ in range(1 + twice)))
            return max(both, key=lambda shown: shown.code)

        shown = await self.event(press)
        while shown.code:
            await self.ready()
            shown = await press()
            await self.done()
        return shown

    async def card(self, chat: str, action: Action) -> str:
        """The message id of the latest card with a button for it, once it is there."""
        found: list[str] = []

        def there() -> bool:
            found[:] = [one.message_id for one in self.house.cards_in(chat) if offers(one.content, action)]
            return bool(found)

        await until(there)
        return found[-1]

    async def event(self, act: Callable[[], Awaitable[Shown]]) -> Shown:
        """Something that the bot hears of, and is done with, before anybody goes on."""
        self.events += 1
        self.house.clock.advance(10)  # people take their time: who is too fast is not answered
        left = self.times
        async with self.around():
            shown = await act()
        while left > 1 or self.house.sandbox.world.pushes:
            left -= 1
            await self.ready()
            async with self.around() if left > 0 else contextlib.nullcontext():
                await next_delivery(self.house)
        await self.done()
        return shown

    async def done(self) -> None:
        """Wait until nothing is left that was promised or is to be sent."""
        await until(lambda: not self.house.store.read_now(promised) and stage.is_final(self.house))

    async def twice_at_once(self, name: str, text: str) -> Shown:
        """One message, delivered by two pushes of the platform at the same time."""
        said = asyncio.create_task(self.house.sandbox.client.say(self.ids[name], self.private(name), text))
        await asyncio.sleep(0)  # it is on its way
        await self.house.sandbox.pusher.repeat(RECEIVED)
        return await said

    async def again(self, *, fresh_id: bool) -> Shown:
        return Shown(answered=await self.house.sandbox.pusher.repeat(RECEIVED, fresh_id=fresh_id))

    def rows(self) -> Rows:
        """What is left of the day."""
        return self.house.store.read_now(_rows, {open_id: name for name, open_id in self.ids.items()})


def offers(content: str, action: Action) -> bool:
    """Whether a card has a button for it."""
    try:
        card_elements.press(msgspec.json.decode(content), encode(action))
    except card_elements.NoSuchElementError:
        return False
    return True


def promised(tx: Transaction) -> bool:
    """Whether something is still to be asked of the platform."""
    return tx.execute(select(inbox).where(inbox.c.event_id.startswith("followup:"))).first() is not None


def _rows(tx: Transaction, names: dict[str, str]) -> Rows:
    found = tx.execute(select(subscriptions, subscribers.c.receiver).join(subscribers))
    lines = tx.execute(select(audit).order_by(audit.c.id))
    told = defaultdict(list)
    for row in tx.execute(select(deliveries).order_by(deliveries.c.id)):
        told[names[row.receiver]].append(row.key.partition(":")[0])
    return Rows(
        {
            names[row.receiver]: (row.status, row.density, row.paused_until is not None, names.get(row.set_by))
            for row in found
        },
        [
            (names[line.actor], line.action, names[line.target.rpartition(":")[2]], line.before, line.after)
            for line in lines
        ],
        dict(told),
    )


@contextlib.asynccontextmanager
async def at_work(house: House) -> AsyncIterator[Parts]:
    """The bot's own parts, sending and keeping promises. How it hears of events is left open."""
    feishu = house.settings.feishu

    async def no_secret(_: str) -> None:
        return None

    async with (
        FeishuClient(feishu.base_url, feishu.app_id, feishu.app_secret) as client,
        HookSender(feishu.base_url, no_secret) as hooks,
        asyncio.TaskGroup() as tasks,
    ):
        parts = assemble(house.settings, house.store, client, hooks, house.clock)
        tasks.create_task(parts.deliverer.run())
        keeping = tasks.create_task(parts.interactor.run(parts.clock))
        try:
            yield parts
        finally:
            parts.deliverer.stop()
            keeping.cancel()


@contextlib.asynccontextmanager
async def hearing(house: House, transport: str) -> AsyncIterator[Service | None]:
    """The bot over one of the two. Yields what a link calls, where there is one."""
    async with at_work(house) as parts:
        if transport == "webhook":
            async with serving(web_of(parts), listen("127.0.0.1", house.bot_port)):
                yield None
        else:
            # The link has a clock of its own, which a test moves: its waits pass, nothing else does.
            service = Service(house, lambda heard, _: parts.arrivals.handle(heard, house.clock()), patience_s=0.2)
            async with service.linked():
                yield service


@pytest.mark.parametrize("transport", ["webhook", "websocket"])
@on_both
async def test_a_day_leaves_the_same_rows_over_both_transports(house, transport):
    """What people do, and what the platform repeats: subscribed once, changed once, told once."""
    day = Day(house)
    async with hearing(house, transport):
        await day.live()

    attempts = [one.event_id for one in house.sandbox.pusher.attempts]
    assert day.rows() == Rows(SUBSCRIPTIONS, CHANGES, TOLD)
    assert len(attempts) - len(set(attempts)) == 2, "two were delivered twice, one of them at once"
    assert house.sandbox.world.violations == []


async def cut_off(house: House) -> None:
    """Every connection that is there now ends, without a word."""
    wires = house.sandbox.links.wires
    before = set(wires)
    house.sandbox.links.cut_all()
    await until(lambda: not before & set(wires))


@contextlib.asynccontextmanager
async def cut_meanwhile(house: House, chance: random.Random) -> AsyncIterator[None]:
    """The connection is cut at a random moment."""

    async def cut() -> None:
        for _ in range(chance.randrange(400)):
            await asyncio.sleep(0)
        await cut_off(house)

    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(cut())
        yield


def left(day: Day) -> Rows:
    """The rows of a day on which somebody may have had to press again: they are told again what was found out."""
    rows = day.rows()
    told = {name: list(dict.fromkeys(kinds)) if name == OWNER else kinds for name, kinds in rows.told.items()}
    return Rows(rows.subscriptions, rows.changes, told)


async def test_a_link_that_is_cut_all_day_loses_and_doubles_nothing(house, caplog):
    """More than fifty cuts, around every event; what was cut off comes again, and who pressed in vain presses again."""
    caplog.set_level(logging.INFO, "bot.feishu.link")
    chance = random.Random(13)
    async with hearing(house, "websocket") as service:
        day = Day(house, lambda: cut_meanwhile(house, chance), CUTS, service.back)
        await day.live()

    lost = [one for one in caplog.records if one.getMessage() == "link_lost"]
    assert left(day) == Rows(SUBSCRIPTIONS, CHANGES, TOLD)
    assert len(lost) >= CUTS * day.events > 50
    assert house.sandbox.pusher.given_up == []


@pytest.mark.parametrize(
    "fault",
    [
        Fault("code", "link", code=514, status=200),
        Fault("code", "link", code=1, status=200, times=2),
        Fault("slow", "link", seconds=86_400 * 365),
    ],
    ids=["refused", "busy", "hanging"],
)
async def test_a_link_that_finds_no_address_comes_back_and_the_day_goes_on(house, fault):
    """Before every event the connection is gone, and the first calls for another one fail."""

    @contextlib.asynccontextmanager
    async def away() -> AsyncIterator[None]:
        house.sandbox.faults.add(fault)
        await cut_off(house)
        yield

    async with hearing(house, "websocket") as service:
        day = Day(house, away, 1, service.back)
        await day.live()
        house.sandbox.clock.advance(86_400 * 366)  # the hanging calls end

    assert left(day) == Rows(SUBSCRIPTIONS, CHANGES, TOLD)
    assert len(house.sandbox.faults.met) == (fault.times or 0) * day.events
    assert house.sandbox.pusher.given_up == []


async def test_an_app_of_the_official_sdk_hears_all_that_our_platform_says_over_http(house):
    """A stranger to our code: its dispatcher takes our events, clicks and challenge, and we answer that as it does."""
    found, answer = await strangers.python_sdk(house)
    async with house.bot():
        ours = await strangers.answer_to_a_challenge(house)

    assert [what for what, good in found.accepted.items() if not good] == []
    assert ours == answer
