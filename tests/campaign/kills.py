"""SIGKILL at random moments of pushes, while some answers are slow and some are lost."""

import asyncio
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import click
from sqlalchemy import func, select

from bot.domain.audience import Receiver
from bot.domain.delivery import LEASE, Status
from bot.sandbox.faults import Fault
from bot.store import ledger
from bot.store.tables import deliveries
from tests.campaign import stage
from tests.integration.bot_process import bot_process
from tests.integration.conftest import House

SEED = 20250310
SLOW = (
    Fault("slow", "send", seconds=0.8, probability=0.01, times=None),
    Fault("slow", "send", seconds=0.05, probability=0.1, times=None),
    Fault("drop_reply", "send", probability=0.02, times=None),
)
PACE = "per_second = 300\nper_minute = 18000"  # so that a push lasts longer than a process lives
LONGEST_LIFE_S = 0.7  # after the first message
BORN_DEAD = 0.1  # of the processes are killed before they have sent anything
FIRST_MESSAGE_S = 15.0


@dataclass
class Deaths:
    """What the kills met. `in_hand`: claims that the dead processes held."""

    kills: int = 0
    in_hand: int = 0
    editions: int = 0


async def kill_often(house: House, config: Path, kills: int, chance: random.Random, log: Path) -> Deaths:
    """Start the bot and kill it until that many kills happened; a push is planned whenever little is left."""
    deaths = Deaths()
    receivers = len(house.sandbox.world.users)
    house.sandbox.faults.add(*SLOW)
    while deaths.kills < kills:
        if stage.waiting(house) < receivers // 2:
            await stage.plan(house, deaths.editions)
            deaths.editions += 1
        before = stage.arrived(house)
        async with bot_process(config, log=log) as process:
            if chance.random() >= BORN_DEAD:
                await stage.reached(lambda before=before: stage.arrived(house) > before, FIRST_MESSAGE_S)
            await asyncio.sleep(chance.uniform(0, LONGEST_LIFE_S))
            assert process.returncode is None, f"it ended by itself, see {log}"
            process.kill()
            await process.wait()
        deaths.kills += 1
        deaths.in_hand += house.store.read_now(ledger.counts).get(Status.SENDING, 0)
    return deaths


def most_attempts(house: House) -> int:
    """Of one delivery."""
    return int(house.store.read_now(lambda tx: tx.execute(select(func.max(deliveries.c.attempts))).scalar()))


async def campaign(kind: str, kills: int, receivers: int) -> bool:
    """Print the figures; returns whether nothing was lost or doubled."""
    with stage.database(kind) as url:
        async with stage.stage(url, delivery=PACE) as (house, config):
            people: Sequence[Receiver] = house.people(receivers)
            log, started = config.with_name("log"), time.monotonic()
            deaths = await kill_often(house, config, kills, random.Random(SEED), log)
            lost_replies = sum(fault.kind == "drop_reply" for _, fault in house.sandbox.faults.met)
            house.sandbox.faults.clear()
            async with bot_process(config, log=log):
                await stage.reached(lambda: stage.is_final(house), 2 * LEASE.total_seconds() + 60)
            took_s = time.monotonic() - started
            found = stage.verdict(house, people, deaths.editions)
            messages = deaths.editions * receivers
            click.echo(
                f"kills, {kind}: {deaths.kills} SIGKILLs over {deaths.editions} editions to {receivers} receivers, "
                f"{messages} messages in {took_s:.0f} s; {deaths.in_hand} claims were in hand at the kills, "
                f"{lost_replies} replies lost, at most {most_attempts(house)} attempts\n  {found}"
            )
            return found.is_clean
