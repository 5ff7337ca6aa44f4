"""Messages that go out one after the other share the transactions that write them down."""

import asyncio
from datetime import UTC, datetime
from typing import Any

import pytest

from bot.domain.audience import Kind
from bot.domain.rate import Rate
from bot.feishu.client import FeishuClient
from bot.parts import build_alerter, card_templates
from bot.services.calls import CallCounter
from bot.services.deliver import Deliverer
from bot.services.outcomes import Outcomes
from bot.store.engine import Store
from tests.campaign import stage
from tests.integration.conftest import House, until

pytestmark = pytest.mark.anyio


class CountingStore(Store):
    """A store that counts its transactions."""

    writes = 0

    async def write(self, *work: Any) -> Any:
        self.writes += 1
        return await super().write(*work)


async def test_a_paced_push_costs_fewer_transactions_than_messages(house: House):
    """At the platform's pace most of a sender's work would be writing; it waits a moment and writes many at once."""
    people = house.people(150)
    await stage.plan(house)
    feishu, alerter = house.settings.feishu, build_alerter(house.settings, card_templates(house.settings))
    store = CountingStore(house.settings.store.url)
    async with FeishuClient(feishu.base_url, feishu.app_id, feishu.app_secret) as client:
        deliverer = Deliverer(
            store,
            {Kind.USER: client},
            Outcomes(alerter),
            CallCounter(client.meter.take, 0, alerter),
            lambda: datetime.now(UTC),
            Rate(interval_s=1 / 25, burst=0),
            Rate.per_receiver(4),
        )
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(deliverer.run())
            await until(lambda: stage.is_final(house))
            deliverer.stop()
    store.close()

    assert stage.verdict(house, people).is_clean
    assert store.writes < len(people) / 2
