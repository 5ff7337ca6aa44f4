"""The rate of a push under the platform's own limits, in real time."""

import itertools
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from bot.domain.rate import Rate
from bot.settings import DeliverySettings
from tests.campaign import stage
from tests.integration.bot_process import bot_process
from tests.integration.conftest import House

TICKS_PER_S = os.sysconf("SC_CLK_TCK")
DEFAULTS = ""  # no line in [delivery]
LEAST_SHARE = 0.97
LONGEST_S = 600.0


@dataclass(frozen=True)
class Pace:
    """Arrivals by the sandbox's clock, held against what the default settings allow."""

    sends: int
    took_s: float
    allowed_s: float
    most_in_a_second: int
    most_in_a_minute: int
    limit_answers: int

    @property
    def share(self) -> float:
        """How much of the allowed rate was reached."""
        return self.allowed_s / self.took_s

    def __str__(self) -> str:
        return (
            f"{self.sends} messages in {self.took_s:.1f} s, where 990 a minute with 46 in a second make "
            f"{self.allowed_s:.1f} s: {self.share:.1%} of that; at most {self.most_in_a_second} in a second (of 50) "
            f"and {self.most_in_a_minute} in a minute (of 1000); {self.limit_answers} limit answers"
        )


def pace_of(house: House) -> Pace:
    """Of all messages that stand in the chats."""
    at = sorted(message.created_at for message in house.sandbox.world.messages.values())
    wanted = DeliverySettings()
    allowed_s = Rate.within(wanted.per_second, wanted.per_minute).seconds_for(len(at))
    answers = len(house.sandbox.limits.answers)
    return Pace(len(at), at[-1] - at[0], allowed_s, most_within(at, 1.0), most_within(at, 60.0), answers)


def most_within(at: Sequence[float], seconds: float) -> int:
    """The most instants that any window of that length holds."""
    starts = itertools.count()
    first, most = next(starts), 0
    for last, instant in enumerate(at):
        while at[first] <= instant - seconds:
            first = next(starts)
        most = max(most, last - first + 1)
    return most


def cpu_s(pid: int) -> float:
    """Seconds of processor time that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS_PER_S


async def campaign(sends: int) -> bool:
    """Print the figures; returns whether the rate is near the allowed one without a limit answer."""
    with stage.database("sqlite") as url:
        async with stage.stage(url, limits=True, delivery=DEFAULTS) as (house, config):
            people = house.people(sends)
            await stage.plan(house)
            async with bot_process(config) as process:
                await stage.reached(lambda: stage.arrived(house) > 0, LONGEST_S)
                used_s, started = cpu_s(process.pid), time.monotonic()
                await stage.reached(lambda: stage.arrived(house) == sends, LONGEST_S, every_s=0.5)
                used_s, took_s = cpu_s(process.pid) - used_s, time.monotonic() - started
                await stage.reached(lambda: stage.is_final(house), 10)
                process.terminate()
                await process.wait()
            found, pace = stage.verdict(house, people), pace_of(house)
            click.echo(f"pace: {pace}; the bot used {used_s / took_s:.1%} of one core\n  {found}")
            return found.is_clean and not pace.limit_answers and pace.share >= LEAST_SHARE
