"""SIGKILL at random moments of a push: after a restart every receiver has each part exactly once."""

import random
from collections import Counter
from datetime import UTC, date, datetime, timedelta

import pytest

from bot.domain.delivery import Status
from bot.sandbox.faults import Fault
from bot.store import ledger
from tests.builders import make_digest
from tests.integration.bot_process import bot_process, write_config
from tests.integration.conftest import SERIES, House, make_house, until

pytestmark = pytest.mark.anyio
RECEIVERS = 500
KILLS = 10


async def test_ten_kills_lose_and_double_nothing(tmp_path):
    """500 receivers, ten pushes, each killed once at a random moment and resumed."""
    chance = random.Random(20250310)
    async with make_house(tmp_path) as house:
        people = house.people(RECEIVERS)
        # Some replies take long, so that a kill finds requests on the wire, and some are lost after the effect.
        house.sandbox.faults.add(Fault("slow", "send", seconds=0.05, probability=0.05, times=None))
        config = write_config(
            tmp_path / "config.toml",
            sandbox_port=int(house.settings.feishu.base_url.rpartition(":")[2]),
            bot_port=house.bot_port,
        )
        for push in range(1, KILLS + 1):
            await plan(house, date(2025, 3, 1) + timedelta(days=push))
            already = len(house.sandbox.world.messages)
            async with bot_process(config) as process:
                wanted = already + chance.randrange(1, RECEIVERS)
                await until(lambda wanted=wanted: len(house.sandbox.world.messages) >= wanted)
                process.kill()
                await process.wait()
            left = RECEIVERS * push - house.store.read_now(ledger.counts).get(Status.SENT, 0)
            assert left > 0, "the kill came before the end"
            async with bot_process(config):
                await until(lambda push=push: house.store.read_now(ledger.counts) == {Status.SENT: RECEIVERS * push})

        for person in people:
            copies = Counter(message.content for message in house.cards_to(person.id))
            assert len(copies) == KILLS, "nothing lost"
            assert set(copies.values()) == {1}, "nothing doubled"
        assert house.sandbox.world.violations == []


async def plan(house: House, day: date) -> None:
    now = datetime.now(UTC)
    edition = await house.publisher.import_digest(SERIES, make_digest(items=2, day=day), f"{day}", now, "cli")
    await house.publisher.publish(SERIES, edition.slug, now, "cli")
