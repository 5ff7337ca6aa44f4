"""SIGKILL at random moments of a push: whoever goes on, every receiver has each part exactly once."""

import random

import pytest

from bot.domain.delivery import LEASE, Status
from bot.store import ledger
from tests.campaign import stage
from tests.campaign.kills import PACE, kill_often
from tests.integration.conftest import House, on_both, until

pytestmark = pytest.mark.anyio
RECEIVERS, KILLS = 200, 5


@on_both
async def test_kills_lose_and_double_nothing(house: House, tmp_path):
    """Five processes die with claims in hand, while answers are slow or lost; a last one ends what they began."""
    people = house.people(RECEIVERS)
    config = stage.config_of(house, tmp_path, delivery=PACE)

    deaths = await kill_often(house, config, KILLS, random.Random(20250310), tmp_path / "log")
    house.sandbox.faults.clear()
    house.clock.advance(LEASE.total_seconds())
    async with house.bot():
        await until(lambda: stage.is_final(house), passing=house.clock)

    assert deaths.in_hand > 0, "a kill came in the middle"
    found = stage.verdict(house, people, deaths.editions)
    assert (found.lost, found.doubled, found.violations) == (0, 0, 0)
    assert house.store.read_now(ledger.counts) == {Status.SENT: RECEIVERS * deaths.editions}
