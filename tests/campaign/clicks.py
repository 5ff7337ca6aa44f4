"""Events and clicks at a steady rate while a push goes out: how soon they are answered, and whether all rows are right.

python -m tests.campaign.clicks PORT SHOTS RESULTS    sends them: in a process of its own, which reports its own lag
"""

import asyncio
import contextlib
import hashlib
import math
import random
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import click
import msgspec
from sqlalchemy import select

from bot.domain.audience import Receiver
from bot.serving import run
from bot.store.engine import Transaction
from bot.store.tables import deliveries
from tests.callbacks import Callbacks
from tests.campaign import stage
from tests.campaign.crowd import Crowd, Person, Shot, found
from tests.campaign.lines import Line, request_of, status_of
from tests.campaign.pacing import DEFAULTS, cpu_s
from tests.integration.bot_process import NO_LIMITS, ROOT, bot_process, clean_environ
from tests.integration.conftest import House

SEED = 20250312
BUDGET_MS = 100.0
PEOPLE = 1_000  # ten seconds pass between two wishes of one of them
LEAD_S = 3.0  # from the first line of the sending process to its first request
LONGEST_S = 600.0
KEPT_S = 3.0  # the other end hangs up after five seconds of silence


class Result(msgspec.Struct, frozen=True):
    """What became of a shot. Seconds after the first was due; `status` 0: no answer. `said`: a hash of the answer."""

    sent_s: float
    done_s: float
    status: int
    said: str


async def shoot(port: int, shots: Sequence[Shot], begins_at: float) -> list[Result]:
    """Send each at its moment, however long the others take. By hand: a client library would need a core of its own."""
    idle: list[tuple[float, Line]] = []  # since when; the last one for the shortest time
    begins = time.monotonic() + begins_at - time.time()

    async def one(shot: Shot) -> Result:
        request = request_of(shot.path, shot.headers.items(), shot.body)
        await asyncio.sleep(begins + shot.due_s - time.monotonic())
        sent_s, head, said = time.monotonic() - begins, b"", b""
        with contextlib.suppress(OSError, EOFError):
            since, line = idle.pop() if idle else (-math.inf, None)
            if line is None or time.monotonic() - since > KEPT_S:
                line = await Line.to(port)
            _, head, said = await line.ask(request)
            idle.append((time.monotonic(), line))
        return Result(sent_s, time.monotonic() - begins, status_of(head), hashlib.sha256(said).hexdigest())

    return await asyncio.gather(*map(one, shots))


def at(share: float, values: Sequence[float]) -> float:
    """The value below which that share of them lies, as a percentile of a sample."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, round(share * len(ordered)))]


def of(values_s: Sequence[float], per_s: int = 1000) -> str:
    """A sample, in milliseconds."""
    named = (("p50", 0.5), ("p99", 0.99), ("max", 1.0))
    return ", ".join(f"{name} {per_s * at(share, values_s):.1f}" for name, share in named)


def waits_s(tx: Transaction) -> list[float]:
    """How long each message that answers somebody waited until it was sent."""
    rows = tx.execute(select(deliveries).where(deliveries.c.push_id.is_(None), deliveries.c.sent_at.is_not(None)))
    return [(row.sent_at - row.created_at).total_seconds() for row in rows]


def a_crowd(house: House, begins_at: float) -> Crowd:
    """People of the sandbox who have not subscribed yet."""
    world, app_id = house.sandbox.world, house.settings.feishu.app_id
    ids = [house.sandbox.client.add_user(f"编辑{number}").open_id for number in range(PEOPLE)]
    people = [Person(one, world.p2p_chat_id(app_id, one)) for one in ids]
    return Crowd(people, Callbacks(house.settings.feishu), begins_at, random.Random(SEED))


async def sent(port: int, shots: Sequence[Shot], begins_at: float, folder: Path) -> list[Result]:
    """By another process."""
    plan, results = folder / "shots", folder / "results"
    plan.write_bytes(msgspec.json.encode((begins_at, shots)))
    command = [sys.executable, "-m", "tests.campaign.clicks", str(port), str(plan), str(results)]
    process = await asyncio.create_subprocess_exec(*command, env=clean_environ(), cwd=ROOT)
    assert await process.wait() == 0
    return msgspec.json.decode(results.read_bytes(), type=list[Result])


@dataclass(frozen=True)
class Case:
    """What was sent to the bot while it pushed, and what came back."""

    house: House
    crowd: Crowd
    shots: Sequence[Shot]
    results: Sequence[Result]
    people: Sequence[Receiver]
    busy: float
    """How much of one core the bot used meanwhile."""

    def latencies_s(self, first_s: float = 0.0, last_s: float = math.inf) -> list[float]:
        """From when each was due to its answer: a queue is seen even if the sending process stands in it."""
        pairs = zip(self.shots, self.results, strict=True)
        return [result.done_s - shot.due_s for shot, result in pairs if first_s <= shot.due_s <= last_s]

    def push_s(self) -> tuple[float, float]:
        """When the first and the last card of the push arrived."""
        arrived = [
            card.created_at - self.crowd.begins_at for one in self.people for card in self.house.cards_to(one.id)
        ]
        return min(arrived), max(arrived)

    def contradictions(self) -> int:
        """How many events were answered in more than one way."""
        said = defaultdict(set)
        for shot, result in zip(self.shots, self.results, strict=True):
            said[shot.event_id].add(result.said)
        return sum(len(one) > 1 for one in said.values())

    def report(self, kind: str) -> bool:
        """Print the figures; returns whether all of them are as they should be."""
        shots, results, store = self.shots, self.results, self.house.store
        statuses = Counter(result.status for result in results)
        first_s, last_s = self.push_s()
        meanwhile = of(self.latencies_s(first_s, last_s))
        kinds = ", ".join(f"{number} {name}s" for name, number in sorted(self.crowd.kinds.items()))
        click.echo(f"clicks, {kind}: {len(shots)} requests ({kinds}) due within {shots[-1].due_s:.0f} s")
        click.echo(f"  answered by status: {dict(statuses)}; events answered in two ways: {self.contradictions()}")
        click.echo(f"  ms from due to answer: {of(self.latencies_s())}; during the push: {meanwhile}")
        lag = of([result.sent_s - shot.due_s for shot, result in zip(shots, results, strict=True)])
        click.echo(
            f"  of these, ms until the sending process had begun: {lag}; the bot used {self.busy:.0%} of one core"
        )
        pushed, crowd = stage.verdict(self.house, self.people), store.read_now(found, self.crowd)
        click.echo(f"  push: {len(self.people)} receivers from {first_s:.1f} to {last_s:.1f} s; {pushed}")
        click.echo(f"  rows: {crowd}")
        click.echo(f"  a message that answers somebody was sent after s: {of(store.read_now(waits_s), 1)}")
        p99_ms = 1000 * at(0.99, self.latencies_s())
        in_time = p99_ms <= BUDGET_MS
        click.echo(f"  {'pass' if in_time else 'FAIL'}: p99 {p99_ms:.1f} ms, budget {BUDGET_MS:.0f} ms")
        is_right = set(statuses) == {200} and not self.contradictions() and crowd.is_right and pushed.is_clean
        return is_right and in_time


async def campaign(kind: str, seconds: int, per_s: float, receivers: int, *, full_speed: bool) -> bool:
    """Print the figures; returns whether all rows are right and the 99th percentile is within the budget."""
    delivery = NO_LIMITS if full_speed else DEFAULTS
    with stage.database(kind) as store:
        async with stage.stage(store, limits=not full_speed, delivery=delivery) as (house, config):
            people, log = house.people(receivers), config.with_name("log")
            async with bot_process(config, log=log) as process:
                await until_ready(house.bot_port)
                crowd = a_crowd(house, time.time() + LEAD_S)
                shots = crowd.shots(round(seconds * per_s), per_s)
                async with asyncio.TaskGroup() as tasks:
                    sending = tasks.create_task(sent(house.bot_port, shots, crowd.begins_at, config.parent))
                    await asyncio.sleep(crowd.begins_at - time.time())
                    used_s = cpu_s(process.pid)
                    await stage.plan(house)
                used_s = cpu_s(process.pid) - used_s
                busy = used_s / (time.time() - crowd.begins_at)
                await stage.reached(
                    lambda: stage.is_final(house) or process.returncode is not None, LONGEST_S, every_s=0.5
                )
                is_alive = process.returncode is None
            return Case(house, crowd, shots, sending.result(), people, busy).report(kind) and is_alive


async def until_ready(port: int) -> None:
    """Wait until the bot serves."""
    async with asyncio.timeout(30):
        while True:
            try:
                (await Line.to(port)).close()
            except ConnectionError:
                await asyncio.sleep(0.05)
            else:
                return


def main(port: str, plan: str, results: str) -> None:
    """The sending process."""
    begins_at, shots = msgspec.json.decode(Path(plan).read_bytes(), type=tuple[float, list[Shot]])

    async def send() -> None:
        done.extend(await shoot(int(port), shots, begins_at))

    done: list[Result] = []
    run(send())
    Path(results).write_bytes(msgspec.json.encode(done))


if __name__ == "__main__":
    main(*sys.argv[1:])
