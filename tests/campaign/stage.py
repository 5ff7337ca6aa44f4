"""What every campaign stands on: a database, the sandbox, bot processes, and the count of what arrived."""

import asyncio
import contextlib
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

from bot.domain.audience import Receiver
from bot.domain.delivery import OPEN, Status
from bot.store import ledger
from tests.builders import make_digest
from tests.integration.bot_process import NO_LIMITS, write_config
from tests.integration.conftest import SERIES, House, make_house
from tests.integration.postgres import postgres_server

FIRST_DAY = date(2025, 3, 1)
STORES = ("sqlite", "postgresql")


@dataclass(frozen=True)
class Verdict:
    """What became of a push. `lost`: messages that somebody should have; `doubled`: copies that nobody should."""

    lost: int
    doubled: int
    violations: int
    statuses: dict[Status, int]

    def __str__(self) -> str:
        rows = ", ".join(f"{n} {status}" for status, n in sorted(self.statuses.items()))
        return f"{self.lost} lost, {self.doubled} doubled, {self.violations} uuid violations; ledger: {rows}"

    @property
    def is_clean(self) -> bool:
        """Everybody has everything once, and the ledger knows it."""
        return not (self.lost or self.doubled or self.violations) and set(self.statuses) == {Status.SENT}


@contextlib.contextmanager
def database(kind: str) -> Iterator[str]:
    """The address of a fresh one."""
    if kind == "sqlite":
        with tempfile.TemporaryDirectory() as folder:
            yield f"sqlite:///{folder}/bot.db"
    else:
        with postgres_server() as server, server.database() as url:
            yield url


@contextlib.asynccontextmanager
async def stage(
    store_url: str, *, limits: bool = False, delivery: str = NO_LIMITS
) -> AsyncIterator[tuple[House, Path]]:
    """The sandbox in this process, and the configuration file of a bot that is to run in another one."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        async with make_house(folder, limits=limits, store={"url": store_url}) as house:
            yield house, config_of(house, folder, delivery=delivery)


def config_of(house: House, folder: Path, *, delivery: str = NO_LIMITS) -> Path:
    """The configuration file of a bot process that does what the house's bot would do."""
    return write_config(
        folder / "config.toml",
        sandbox_port=int(house.settings.feishu.base_url.rpartition(":")[2]),
        bot_port=house.bot_port,
        store_url=house.settings.store.url,
        delivery=delivery,
    )


async def plan(house: House, number: int = 0, *, items: int = 2) -> None:
    """One edition to everybody who has subscribed; each number is a day of its own."""
    now, day = datetime.now(UTC), FIRST_DAY + timedelta(days=number)
    edition = await house.publisher.import_digest(SERIES, make_digest(items, day=day), f"{day}", now, "cli")
    await house.publisher.publish(SERIES, edition.slug, now, "cli")


def verdict(house: House, people: Sequence[Receiver], messages: int = 1) -> Verdict:
    """Compare what stands in the chats with what was promised: so many different messages to each of them."""
    lost = doubled = 0
    for person in people:
        copies = Counter(message.content for message in house.cards_to(person.id))
        lost += messages - len(copies)
        doubled += copies.total() - len(copies)
    return Verdict(lost, doubled, len(house.sandbox.world.violations), house.store.read_now(ledger.counts))


def arrived(house: House) -> int:
    """How many messages stand in all chats."""
    return len(house.sandbox.world.messages)


def waiting(house: House) -> int:
    """How many deliveries nobody holds."""
    return house.store.read_now(ledger.counts).get(Status.PENDING, 0)


def is_final(house: House) -> bool:
    """Whether nothing is open."""
    return not house.store.read_now(ledger.counts).keys() & set(OPEN)


async def reached(true: Callable[[], bool], within_s: float, every_s: float = 0.02) -> bool:
    """Wait for what a process brings about. False if it has not come in time."""
    try:
        async with asyncio.timeout(within_s):
            while not true():  # noqa: ASYNC110  another process brings it about
                await asyncio.sleep(every_s)
    except TimeoutError:
        return False
    return True
