"""Thousands of requests that the platform would not send: no 5xx, no change that nobody vouched for, no oracle."""

import asyncio
import random
import statistics
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

import click
import msgspec
from sqlalchemy import inspect, text

from bot.domain.audience import Kind, Receiver
from bot.store.engine import Transaction
from tests.callback_mutants import FAMILIES, KNOWN_CHAT, READER, Mutant, Nature, broken_padding
from tests.callbacks import Callbacks
from tests.campaign import stage
from tests.campaign.lines import Line, request_of, status_of
from tests.integration.conftest import House
from tests.integration.test_health import process, scrape

SEEN = 40  # events that were heard before, and come again
REPLAYED = 0.04  # of all requests
SPLITS = 400
Dump = dict[str, list[str]]


@dataclass
class Outcome:
    """What came back. `wrong`: what should not have, in words."""

    answers: Counter[tuple[str, int]] = field(default_factory=Counter)
    counted: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    def note(self, family: str, mutant: Mutant, status: int, said: bytes) -> None:
        self.answers[family, status] += 1
        self.counted[mutant.counted] += bool(mutant.counted)
        if status not in mutant.statuses or (mutant.said is not None and status and said != mutant.said):
            self.wrong.append(f"{family}: {mutant.what}: {status} {said[:80]!r}")


def dump(tx: Transaction) -> Dump:
    """All rows of all tables."""
    return {
        name: sorted(repr(tuple(row)) for row in tx.execute(text(f"SELECT * FROM {name}")))
        for name in inspect(tx).get_table_names()
    }


async def asked(port: int, mutant: Mutant) -> tuple[int, bytes]:
    """Status and body of the answer; status 0 for none."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(mutant.raw or request_of(mutant.path, mutant.headers, mutant.body, close=True))
        if mutant.raw:
            writer.write_eof()  # nothing more will come: whoever waits for it may hang up
        head, _, body = (await reader.read()).partition(b"\r\n\r\n")
    except ConnectionError:
        return 0, b""
    finally:
        writer.close()
    return status_of(head), body


async def prepare(house: House) -> None:
    """Somebody and a group who could lose something."""
    house.subscribe(Receiver(Kind.USER, READER), Receiver(Kind.GROUP, KNOWN_CHAT))
    await stage.plan(house)


async def run(house: House, count: int, seed: int) -> Outcome:
    """So many mutants, one family after the other, to a process that only answers."""
    await prepare(house)
    callbacks, outcome = Callbacks(house.settings.feishu), Outcome()
    nature, shares = Nature(callbacks, seed), sum(family.share for family in FAMILIES.values())
    async with process(house) as http:
        for name, family in FAMILIES.items():
            before = house.store.read_now(dump)
            for _ in range(round(count * (1 - REPLAYED) * family.share / shares)):
                mutant = nature.mutant(name)
                outcome.note(name, mutant, *await asked(house.bot_port, mutant))
            outcome.wrong += changes(name, before, house.store.read_now(dump), family.may_change)
        await replay(house, nature, round(count * REPLAYED), outcome)
        said = await scrape(http)
    misshapen = {
        key[1]: int(n) for key, n in said.items() if key[0] == "inbound_total" and key[2] == "unexpected_shape"
    }
    outcome.wrong += [
        f"{kind}: {n} of an unexpected shape, counted {misshapen.get(kind, 0)}"
        for kind, n in outcome.counted.items()
        if misshapen.get(kind, 0) < n
    ]
    return outcome


def changes(name: str, before: Dump, after: Dump, allowed: frozenset[str]) -> list[str]:
    """Tables that are not as they were, in words."""
    changed = [table for table in before if before[table] != after[table] and table not in allowed]
    return [f"{name}: rows of {table} have changed" for table in changed]


async def replay(house: House, nature: Nature, count: int, outcome: Outcome) -> None:
    """Events that were heard before, sealed and signed anew: the same answer, and nothing more."""
    seen: list[tuple[bytes, bytes]] = []

    async def deliver(plain: bytes) -> tuple[Mutant, int, bytes]:
        body, headers = nature.sealed(plain)
        mutant = Mutant("replay", nature.path(), list(headers.items()), body, frozenset({200}), None)
        return mutant, *await asked(house.bot_port, mutant)

    for _ in range(SEEN):
        plain = nature.effective()
        seen.append((plain, (await deliver(plain))[2]))
    before = house.store.read_now(dump)
    for _ in range(count):
        plain, first = nature.chance.choice(seen)
        mutant, status, said = await deliver(plain)
        outcome.note("replay", mutant, status, said)
        if said != first:
            outcome.wrong.append(f"replay: {said[:80]!r}, at first {first[:80]!r}")
    outcome.wrong += changes("replay", before, house.store.read_now(dump), frozenset())


@dataclass(frozen=True)
class Rivals:
    """Two kinds of requests that must not be told apart."""

    what: str
    one: Callable[[], bytes]
    other: Callable[[], bytes]


def rivals(callbacks: Callbacks, chance: random.Random) -> list[Rivals]:
    """A padding that is right or wrong, by somebody who cannot sign; and what only the platform could try."""

    def sealed(*, broken: bool) -> bytes:
        """As who has no key tries a padding: a block of rubbish, the last bytes of which are right or wrong."""
        plain = chance.randbytes(chance.randrange(16))
        if not broken:
            return callbacks.sealed(plain)
        return msgspec.json.encode({"encrypt": broken_padding(callbacks.key, plain, chance.randrange(17), chance)[1]})

    def request(*, broken: bool, signed: str) -> bytes:
        body = sealed(broken=broken)
        headers = callbacks.headers(body)
        if signed == "wrongly":
            headers["X-Lark-Signature"] = headers["X-Lark-Signature"][::-1]
        kept = list(headers.items()) if signed != "not" else []
        return request_of("/feishu/events", kept, body)

    return [
        Rivals(
            "signed wrongly, padding right or wrong",
            lambda: request(broken=False, signed="wrongly"),
            lambda: request(broken=True, signed="wrongly"),
        ),
        Rivals(
            "not signed, padding right or wrong",
            lambda: request(broken=False, signed="not"),
            lambda: request(broken=True, signed="not"),
        ),
        Rivals(
            "wrong signature, or right signature with a wrong padding (needs the key)",
            lambda: request(broken=False, signed="wrongly"),
            lambda: request(broken=True, signed="rightly"),
        ),
    ]


async def compared(port: int, pair: Rivals, samples: int, chance: random.Random) -> tuple[float, float, int]:
    """By how much the medians differ, and how much those of two halves of one kind do; how many answers there are."""
    line = await Line.to(port)
    times: tuple[list[float], list[float]] = ([], [])
    said = set()
    requests = [(which, make()) for _ in range(samples) for which, make in enumerate((pair.one, pair.other))]
    chance.shuffle(requests)
    for which, request in requests:
        took_s, *answer = await line.ask(request)
        times[which].append(1e6 * took_s)
        said.add(tuple(answer))
    line.close()
    apart = abs(statistics.median(times[0]) - statistics.median(times[1]))
    halves = []
    for number in range(SPLITS):
        same = times[number % 2].copy()
        chance.shuffle(same)
        halves.append(abs(statistics.median(same[::2]) - statistics.median(same[1::2])))
    return apart, sorted(halves)[int(0.99 * SPLITS)], len(said)


async def campaign(kind: str, count: int, seed: int, samples: int) -> bool:
    """Print the figures; returns whether nothing came back that should not, and nothing can be told apart."""
    with stage.database(kind) as store:
        async with stage.stage(store) as (house, _):
            started = time.monotonic()
            outcome = await run(house, count, seed)
            click.echo(
                f"mutants, {kind}: {outcome.answers.total()} requests from seed {seed} "
                f"in {time.monotonic() - started:.0f} s"
            )
            for name in (*FAMILIES, "replay"):
                answers = {status: n for (family, status), n in sorted(outcome.answers.items()) if family == name}
                click.echo(f"  {name:>9}: {answers}")
            click.echo(f"  counted as of an unexpected shape: {outcome.counted.total()}; wrong: {len(outcome.wrong)}")
            for line in outcome.wrong[:20]:
                click.echo(f"    {line}")
            return await cannot_be_told_apart(house, samples, random.Random(seed)) and not outcome.wrong


async def cannot_be_told_apart(house: House, samples: int, chance: random.Random) -> bool:
    """Whether who cannot sign learns nothing, from status, headers, body or time. The last pair is only printed."""
    found = []
    async with process(house):
        for pair in rivals(Callbacks(house.settings.feishu), chance):
            apart_us, noise_us, answers = await compared(house.bot_port, pair, samples, chance)
            found.append(answers == 1 and apart_us <= noise_us)
            click.echo(
                f"  {pair.what}: {answers} answer{'s' * (answers > 1)}; medians of {samples} each are "
                f"{apart_us:.1f} us apart, 99 in 100 pairs of halves of one kind at most {noise_us:.1f} us"
            )
    return all(found[:-1])
