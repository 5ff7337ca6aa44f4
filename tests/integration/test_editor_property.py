"""Any order of publishing, resending, correcting, recalling and dying: nobody has two copies of one generation."""

import asyncio
import contextlib
import json
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bot.domain.delivery import Status
from bot.domain.errors import UsageError
from bot.services import editing, manage
from bot.store.resends import Only
from tests.builders import make_digest
from tests.integration.conftest import make_house, until
from tests.integration.office import DAY, Office, make_office

pytestmark = pytest.mark.anyio
STEPS = st.sampled_from(["publish", "failed", "unsent", "correct", "recall", "release", "newcomer", "die", "quiet"])


async def take(office: Office, step: str, number: int) -> None:
    """One step of an editor, or of fate. What is refused is refused."""
    name = ("ai", DAY.isoformat())
    with contextlib.suppress(UsageError):
        match step:
            case "publish":
                await office.desk.publisher.publish(*name, office.now, "cli")
            case "failed" | "unsent":
                office.resend(name, Only(step))
            case "correct":
                office.house.clock.advance(61)
                digest = make_digest(items=2 if number % 2 else 70, day=DAY)
                first = replace(digest.items[0], title=f"第 {number} 次改过的标题")
                await office.take_in(make_digest([first, *digest.items[1:]], day=DAY))
                await office.desk.corrector.correct(name, office.now, "cli")
            case "recall":
                office.house.clock.advance(1)
                await office.desk.corrector.recall(name, office.now, "cli")
            case "release":
                editing.release(office.house.store, "/".join(name), office.now, "cli")
            case "newcomer":
                office.house.people(1)


async def live(office: Office, steps: list[str]) -> None:
    """Take the steps while the bot is at work; to die is to be cut off at once and to start again."""
    number = 0
    while number < len(steps):
        async with contextlib.AsyncExitStack() as stack:
            loop = office.new_changes()
            await stack.enter_async_context(office.house.bot())
            running = asyncio.create_task(loop.run())
            while number < len(steps):
                step, number = steps[number], number + 1
                if step == "die":
                    break
                await take(office, step, number)
                if step == "quiet":
                    await settled(office)
                await asyncio.sleep(0)
            running.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await running
    async with office.at_work():
        await settled(office)


async def settled(office: Office) -> None:
    """Nothing moves any more; what is held may be left."""
    seen: list[object] = []

    def is_still() -> bool:
        rows = manage.list_deliveries(office.house.store, 1000, 0)["deliveries"]
        seen.append(Counter((row["id"], row["status"], row["form"]) for row in rows))
        return not office.is_busy() or (len(seen) > 200 and seen[-1] == seen[-150])

    await until(is_still, passing=office.house.clock)


@settings(max_examples=5, deadline=None, suppress_health_check=list(HealthCheck))
@given(steps=st.lists(STEPS, min_size=3, max_size=10))
async def test_nobody_has_two_copies_and_the_ledger_is_what_is_there(tmp_path_factory, steps):
    """One message for each part of an edition, and the ledger names exactly the messages that can be seen."""
    async with make_house(tmp_path_factory.mktemp("life")) as house, make_office(house) as office:
        house.people(3)
        await office.take_in(make_digest(items=2, day=DAY))

        await live(office, ["publish", *steps])

        rows = manage.list_deliveries(house.store, 1000, 0)["deliveries"]
        for person in {row["receiver"] for row in rows}:
            seen = [one.message_id for one in office.cards_to(person)]
            sent = [row for row in rows if row["receiver"] == person and row["status"] == Status.SENT]
            assert sorted(seen) == sorted(row["message_id"] for row in sent)
            assert max(Counter(row["part"] for row in sent).values(), default=0) <= 1
            assert all(json.loads(one.content)["schema"] == "2.0" for one in office.cards_to(person))
        assert house.sandbox.world.violations == []
