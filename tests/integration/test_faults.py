"""A bad day of the platform, and of the disk: the healthy have it once, the dead are paused, and somebody is told."""

import pytest
from sqlalchemy import func, select

from bot.domain.delivery import MAX_ATTEMPTS, Status
from bot.sandbox.faults import Fault
from bot.services import manage
from bot.store import ledger, pauses
from bot.store.tables import deliveries
from tests.campaign import stage
from tests.campaign.disk import FULL, LEFT, files_end_at
from tests.campaign.faults import HANG_S, WEATHER, attempts, dead_of_each_cause, deaf_bot, pass_until, reasons
from tests.integration.bot_process import bot_process
from tests.integration.conftest import House, until

pytestmark = pytest.mark.anyio
RECEIVERS = 200
HOURS_S = 7200.0


async def test_on_a_bad_day_the_healthy_have_it_once_and_the_dead_are_paused(house: House):
    """Limits, errors, cut connections, lost replies and hangs among 200 receivers, and six more that are gone."""
    healthy = house.people(RECEIVERS)
    dead = await dead_of_each_cause(house, healthy[0].id)
    house.sandbox.faults.add(Fault("slow", "send", seconds=HANG_S, after=20, times=2), *WEATHER)
    await stage.plan(house)

    async with deaf_bot(house):
        assert await pass_until(lambda: stage.is_final(house), house, 120)

    met = {fault.kind for _, fault in house.sandbox.faults.met}
    assert met == {"slow", "rate_limited", "server_error", "reset", "drop_reply"}
    found = stage.verdict(house, healthy)
    assert (found.lost, found.doubled, found.violations) == (0, 0, 0)
    assert found.statuses.pop(Status.SENT) == RECEIVERS
    # Cancelled: it was known before the call. Unknown: a reply was lost before the refusal.
    assert set(found.statuses) <= {Status.FAILED, Status.CANCELLED, Status.UNKNOWN}
    said = reasons(house, dead)
    assert [one for one in dead if not one.is_paused_rightly(said)] == []
    assert max(number for _, number in attempts(house)) <= MAX_ATTEMPTS


async def test_limit_answers_are_not_held_against_a_receiver(house: House):
    """They are about the app: however many came first, one error afterwards is its first."""
    (unlucky,) = house.people(1)
    house.sandbox.faults.add(
        Fault("rate_limited", "send", seconds=1, times=MAX_ATTEMPTS), Fault("server_error", "send", times=1)
    )
    await stage.plan(house)

    async with house.bot():
        await until(lambda: stage.is_final(house), passing=house.clock)

    assert house.store.read_now(ledger.counts) == {"sent": 1}
    assert len(house.cards_to(unlucky.id)) == 1


@pytest.mark.parametrize("paused", [False, True], ids=["nothing ran", "the queue was paused"])
async def test_what_may_have_arrived_hours_ago_is_not_sent_again(house: House, paused):
    """The platform forgets a uuid after an hour: whoever waited longer is shown to a human, not given a second copy."""
    (person,) = house.people(1)
    house.sandbox.faults.add(Fault("drop_reply", "send", times=1))
    await stage.plan(house)
    async with house.bot():
        await until(lambda: house.store.read_now(in_doubt))
        if paused:
            house.store.write_now(pauses.begin, pauses.QUEUE, 99991672, "缺少权限", house.clock())
            pass_hours(house)
            house.store.write_now(pauses.lift, pauses.QUEUE)
            await until(lambda: stage.is_final(house))
    if not paused:
        pass_hours(house)
        async with house.bot():
            await until(lambda: stage.is_final(house))

    assert len(house.cards_to(person.id)) == 1
    (row,) = manage.list_deliveries(house.store, 10, 0)["deliveries"]
    assert (row["status"], row["reason"]) == ("unknown", "上次发送结果未知，再发可能重复")


def in_doubt(tx) -> bool:
    """Whether something waits that may have arrived."""
    doubtful = (deliveries.c.maybe_sent_at.is_not(None), deliveries.c.status == "pending")
    return bool(tx.execute(select(func.count()).where(*doubtful)).scalar())


def pass_hours(house: House) -> None:
    """On the bot's clock and the platform's."""
    house.clock.advance(HOURS_S)
    house.sandbox.clock.advance(HOURS_S)


async def test_a_full_disk_ends_the_bot_with_one_clear_line_and_costs_nobody_anything(house: House, tmp_path):
    """What was sent and could not be written is settled by its uuid when there is room again."""
    people = house.people(RECEIVERS)
    await stage.plan(house)
    config, log = stage.config_of(house, tmp_path), tmp_path / "log"

    async with bot_process(config, log=log, before=files_end_at(LEFT)) as process:
        code = await process.wait()
    line = log.read_text(encoding="utf-8").splitlines()[-1]
    assert (code, FULL in line) == (1, True), line
    assert not stage.is_final(house)

    async with bot_process(config):
        await until(lambda: stage.is_final(house))
    assert stage.verdict(house, people).is_clean
