"""A platform on a bad day: limit answers, errors, cut connections, lost replies, hangs, and receivers that are gone."""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

import click
from sqlalchemy import select

from bot.app import running
from bot.domain.audience import Kind, Receiver
from bot.domain.delivery import MAX_ATTEMPTS, Status
from bot.sandbox.faults import Fault
from bot.services import manage
from bot.store.tables import deliveries
from tests.campaign import stage
from tests.integration.conftest import SERIES, House

HANG_S = 12.0  # longer than a client waits
WEATHER = (
    Fault("rate_limited", "send", seconds=1, probability=0.10, times=None),
    Fault("server_error", "send", probability=0.05, times=None),
    Fault("reset", "send", probability=0.03, times=None),
    Fault("drop_reply", "send", probability=0.03, times=None),
)
HANGS = Fault("slow", "send", seconds=HANG_S, probability=0.01, times=None)
# Of the bot's clock against ours: the client's own time limits, of real seconds, must stay short against its waits.
FASTER = 6
EVERY_S = 0.02
NOT_SEEN = "机器人已被移出群"  # a start that asks for its groups knows it before the first call


@dataclass(frozen=True)
class Dead:
    """A receiver that can't be written to, and what its subscription may say."""

    receiver: Receiver
    reasons: tuple[str, ...]

    def is_paused_rightly(self, said: dict[Receiver, tuple[str, str | None]]) -> bool:
        """Whether the list of subscribers says so, with a reason that is true."""
        status, reason = said[self.receiver]
        return status == "paused" and reason in self.reasons


async def dead_of_each_cause(house: House, owner: str) -> list[Dead]:
    """Three people and three groups, subscribed, and gone in six ways."""
    resigned, unavailable, stopped = house.people(3)
    client = house.sandbox.client
    await client.resign(resigned.id)
    await client.set_available(unavailable.id, available=False)
    await client.stop_messages(stopped.id)
    muted, dissolved, left = [await group(house, f"群{number}", owner) for number in range(3)]
    house.subscribe(muted, dissolved, left)
    await client.set_muted(muted.id)
    await client.dissolve(dissolved.id)
    await client.remove_bot(left.id, owner)
    return [
        Dead(resigned, ("对方已离职",)),
        Dead(unavailable, ("对方不在应用可用范围内",)),
        Dead(stopped, ("对方停止接收机器人消息",)),
        Dead(muted, ("群已禁言或对方屏蔽了机器人",)),
        Dead(dissolved, ("群已解散", NOT_SEEN)),
        Dead(left, ("机器人不在群里", NOT_SEEN)),
    ]


async def group(house: House, name: str, owner: str) -> Receiver:
    """A group in which the bot has been for long."""
    made = await house.sandbox.client.create_group(name, owner=owner, members=[])
    assert made.chat_id is not None
    world = house.sandbox.world
    world.change(world.chats[made.chat_id], bots=(house.settings.feishu.app_id,))
    return Receiver(Kind.GROUP, made.chat_id)


def reasons(house: House, dead: Sequence[Dead]) -> dict[Receiver, tuple[str, str | None]]:
    """What the list of subscribers says of them: state and reason."""
    rows = manage.list_subscriptions(house.store, SERIES, 100_000, 0)["subscribers"]
    wanted = {one.receiver.id: one.receiver for one in dead}
    return {wanted[row["id"]]: (row["status"], row["reason"]) for row in rows if row["id"] in wanted}


def attempts(house: House) -> Counter[tuple[str, int]]:
    """How many deliveries ended in which state after how many attempts."""
    query = select(deliveries.c.status, deliveries.c.attempts)
    return Counter(house.store.read_now(lambda tx: [(row.status, row.attempts) for row in tx.execute(query)]))


@asynccontextmanager
async def deaf_bot(house: House) -> AsyncIterator[None]:
    """The bot without its web server: nobody tells it who is gone, it has to learn it from the refusals."""
    async with running(house.settings, house.clock):
        yield


async def pass_until(true: Callable[[], bool], house: House, within_s: float) -> bool:
    """Wait while the bot's clock runs faster than ours. False if it has not come in time."""
    until = time.monotonic() + within_s
    while not true():
        if time.monotonic() > until:
            return False
        await asyncio.sleep(EVERY_S)
        house.clock.advance(EVERY_S * (FASTER - 1))
    return True


async def campaign(receivers: int) -> bool:
    """Print the figures; returns whether the healthy have it once and the dead are paused with their reason."""
    with stage.database("sqlite") as url:
        async with stage.stage(url) as (house, _):
            healthy = house.people(receivers)
            dead = await dead_of_each_cause(house, healthy[0].id)
            house.sandbox.faults.add(HANGS, *WEATHER)
            await stage.plan(house)
            started = time.monotonic()
            async with deaf_bot(house):
                await pass_until(lambda: stage.is_final(house), house, 400)
            took_s = time.monotonic() - started
            found, said, counted = stage.verdict(house, healthy), reasons(house, dead), attempts(house)
            met = Counter(fault.kind for _, fault in house.sandbox.faults.met)
            paused = sum(one.is_paused_rightly(said) for one in dead)
            click.echo(
                f"faults: {receivers} healthy and {len(dead)} dead receivers in {took_s:.0f} s; met: {dict(met)}"
            )
            click.echo(f"  {found}; {paused} of {len(dead)} dead ones paused with the right reason")
            for (status, number), n in sorted(counted.items()):
                click.echo(f"  {status:>8} after {number} attempts: {n}")
            # Cancelled: it was known before the call. Unknown: a reply was lost before the refusal.
            gone = sum(found.statuses.get(one, 0) for one in (Status.FAILED, Status.CANCELLED, Status.UNKNOWN))
            right = (found.statuses.get(Status.SENT), gone) == (receivers, len(dead))
            bounded = max(number for _, number in counted) <= MAX_ATTEMPTS
            return right and bounded and paused == len(dead) and not (found.lost or found.doubled or found.violations)
