"""What is shared: the platform's limits by all processes on a database, and a rendering by all who chose alike."""

import contextlib
import json
from datetime import UTC, datetime

import pytest
from sqlalchemy import func, select

from bot.app import Role, running
from bot.domain.audience import Density, Kind, Receiver
from bot.domain.delivery import Status
from bot.domain.digest import Section
from bot.services import manage
from bot.store import pauses
from bot.store.subscribers import NewSubscription
from bot.store.tables import cards, deliveries
from tests.builders import make_digest, make_item
from tests.campaign import stage
from tests.integration.conftest import SERIES, House, make_house, on_postgres, until
from tests.integration.test_deliver import statuses

pytestmark = pytest.mark.anyio
SECTIONS = ("模型", "工程", "学习")
CHOICES = (frozenset(), frozenset(SECTIONS[:1]), frozenset(SECTIONS[:2]), frozenset(SECTIONS[1:]))
READERS = 10_000


@on_postgres
async def test_three_bots_together_keep_the_limits_of_one(tmp_path, store_url):
    """More than a second may hold, sent by three: no limit answer, and everybody once."""
    async with make_house(tmp_path, limits=True, delivery={}, store={"url": store_url}) as house:
        people = house.people(90)
        await stage.plan(house)

        async with contextlib.AsyncExitStack() as bots:
            for role in (Role.SENDER, Role.SENDER, Role.ALL):
                await bots.enter_async_context(running(house.settings, house.clock, role))
            await until(lambda: stage.is_final(house))

        assert stage.verdict(house, people).is_clean
        assert house.sandbox.limits.answers == []


async def test_a_stop_that_another_process_learnt_of_holds_here_too(tmp_path):
    """What is claimed and waits for its slot goes back: a secret that is wrong for one is wrong for all."""
    slow = {"per_second": 10, "per_minute": 600}
    async with make_house(tmp_path, delivery=slow) as house:
        house.people(30)
        await stage.plan(house)
        async with house.bot():
            await until(lambda: statuses(house).get(Status.SENT, 0) > 1)
            house.store.write_now(pauses.begin, pauses.QUEUE, 99991672, "缺少权限", house.clock())
            await until(lambda: Status.SENDING not in statuses(house))

        assert statuses(house)[Status.PENDING] > 0


async def test_readers_who_chose_alike_share_their_cards(house: House):
    """Ten thousand readers in twelve selections: twelve renderings are stored, whatever they have in parts."""
    selections = [(density, sections) for density in Density for sections in CHOICES]
    rows = [
        NewSubscription(Receiver(Kind.USER, f"ou_{n:032}"), SERIES, density=density, sections=sections)
        for n in range(READERS)
        for density, sections in [selections[n % len(selections)]]
    ]
    now = datetime.now(UTC)
    manage.import_subscriptions(house.store, rows, now)
    items = tuple(make_item(number) for number in range(1, 41))
    digest = make_digest(sections=tuple(Section(name, items) for name in SECTIONS))
    edition = await house.publisher.import_digest(SERIES, digest, "h", now, "cli")

    push = await house.publisher.publish(SERIES, edition.slug, now, "cli")

    stored = house.store.read_now(lambda tx: tx.execute(select(cards.c.body, cards.c.part, cards.c.parts)).all())
    assert push.receivers == READERS
    assert [row.part for row in stored].count(1) == len(selections)
    assert len(stored) == sum(row.parts for row in stored if row.part == 1)
    assert any(row.parts > 1 for row in stored)
    assert all(json.loads(row.body) for row in stored)
    planned = select(func.count()).select_from(deliveries)
    assert house.store.read_now(lambda tx: tx.execute(planned).scalar()) == push.parts
