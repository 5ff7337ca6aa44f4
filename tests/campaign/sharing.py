"""Three processes on one PostgreSQL push together, and one of them is killed in the middle."""

import contextlib
import random

import click

from bot.domain.delivery import LEASE, Status
from bot.store import ledger
from tests.campaign import stage
from tests.campaign.pacing import DEFAULTS, LONGEST_S, pace_of
from tests.integration.bot_process import bot_process

ROLES = ("all", "sender", "sender")
SEED = 20250311


async def campaign(sends: int) -> bool:
    """Print the figures; returns whether everybody has it once and no limit was met."""
    chance = random.Random(SEED)
    with stage.database("postgresql") as url:
        async with stage.stage(url, limits=True, delivery=DEFAULTS) as (house, config):
            people = house.people(sends)
            await stage.plan(house)
            async with contextlib.AsyncExitStack() as processes:
                running = [await processes.enter_async_context(bot_process(config, role=role)) for role in ROLES]
                kill_at = chance.randrange(sends // 3, sends * 2 // 3)
                await stage.reached(lambda: stage.arrived(house) >= kill_at, LONGEST_S)
                killed = chance.choice(running)
                killed.kill()
                await killed.wait()
                held = house.store.read_now(ledger.counts).get(Status.SENDING, 0)
                await stage.reached(lambda: stage.is_final(house), LONGEST_S + LEASE.total_seconds(), every_s=0.5)
                alive = sum(one.returncode is None for one in running)
            found, pace = stage.verdict(house, people), pace_of(house)
            click.echo(
                f"sharing: 3 processes, one killed after {kill_at} messages (all three held {held} rows then), "
                f"{alive} alive at the end\n  {pace}\n  {found}"
            )
            return found.is_clean and not pace.limit_answers and alive == len(ROLES) - 1
