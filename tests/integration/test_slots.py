"""Own hours and own days: the edition waits in the ledger for whoever wants it later, and holds up nothing else."""

from datetime import UTC, datetime, timedelta

import pytest

from bot.domain.audience import Receiver
from bot.domain.preference import Preference
from bot.store import ledger, preferences
from bot.store.subscribers import ACTIVE
from tests.integration.conftest import SERIES, House, on_both, until
from tests.integration.test_deliver import publish, settled

pytestmark = pytest.mark.anyio


def prefer(house: House, person: Receiver, **wishes) -> None:
    now = datetime.now(UTC)
    house.store.write_now(
        lambda tx: preferences.put(
            tx,
            person,
            SERIES,
            preferences.present(tx, person, SERIES),
            ACTIVE,
            Preference(**wishes),
            now,
        )
    )


@on_both
async def test_who_wants_it_later_gets_it_then_and_their_answers_at_once(house):
    """A delivery that waits for its hour is in nobody's way, not even its own receiver's."""
    early, late = house.people(2)
    later = (datetime.now(UTC) + timedelta(hours=2)).time().replace(second=0, microsecond=0)
    prefer(house, late, slot=later)
    await publish(house, day=datetime.now(UTC).date())

    async with house.bot():
        await until(lambda: settled(house, sent=1, pending=1))
        chat = (await house.sandbox.client.open_bot_chat(late.id)).chat_id
        assert chat is not None
        await house.sandbox.client.say(late.id, chat, "帮助")
        await until(lambda: len(house.cards_to(late.id)) == 1)
        assert "流水线" not in house.cards_to(late.id)[0].content

        house.clock.advance(2 * 3600 + 60)
        await until(lambda: settled(house, sent=3))

    assert "流水线" in house.cards_to(late.id)[1].content
    assert len(house.cards_to(early.id)) == 1


async def test_who_wants_workdays_only_is_left_out_on_other_days_and_counted(house):
    """The reason is in the answer of the push."""
    people = house.people(3)
    prefer(house, people[0], workdays=True)
    sunday = datetime(2025, 3, 9, 1, tzinfo=UTC)
    edition = await house.publisher.import_digest(SERIES, _digest(sunday), "h", sunday, "cli")

    push = await house.publisher.publish(SERIES, edition.slug, sunday, "cli")

    assert (push.receivers, push.skipped) == (2, {"workdays_only": 1})
    assert sum(house.store.read_now(ledger.counts).values()) == 2


def _digest(now: datetime):
    from tests.builders import make_digest

    return make_digest(items=2, day=now.date())
