"""A refused card arrives in another form, chosen by the refusal; only a refused content stops."""

import json
from datetime import UTC, datetime

import pytest

from bot.domain.audience import Kind, Receiver
from bot.sandbox.faults import Fault
from bot.services import manage
from tests.integration.conftest import SERIES, House, until
from tests.integration.test_deliver import publish, settled

pytestmark = pytest.mark.anyio


def forms(house: House) -> list[str]:
    """The form in which each delivery of the ledger went, or last tried to."""
    return [row["form"] for row in manage.list_deliveries(house.store, 500, 0)["deliveries"]]


async def group_with_bot(house: House, owner: str) -> Receiver:
    """A group in which the bot has been for long."""
    chat_id = (await house.sandbox.client.create_group("没有卡片的群", owner=owner, members=[])).chat_id
    assert chat_id is not None
    world = house.sandbox.world
    world.change(world.chats[chat_id], bots=(house.settings.feishu.app_id,))
    return Receiver(Kind.GROUP, chat_id)


@pytest.mark.parametrize(
    ("refusals", "form", "kind"), [(1, "light", "interactive"), (2, "post", "post"), (3, "text", "text")]
)
async def test_a_refused_card_reaches_everybody_in_the_first_form_that_passes(house, refusals, form, kind):
    """One receiver finds it out; the others get that form at once, exactly one readable message each."""
    people = house.people(12)
    house.sandbox.faults.add(Fault("code", "send", code=230099, times=refusals))
    await publish(house)

    async with house.bot():
        await until(lambda: settled(house, sent=12))

    assert set(forms(house)) == {form}
    for person in people:
        (message,) = house.cards_to(person.id)
        assert message.msg_type == kind
        assert "流水线怎样排得更满" in message.content
    assert len(house.sandbox.faults.met) == refusals
    assert house.sandbox.world.violations == []


async def test_a_content_that_the_audit_refuses_stops_at_once_and_is_sent_in_no_other_form(house):
    """The same words would be refused again, and a human has to look at them."""
    house.people(12)
    house.sandbox.faults.add(Fault("code", "send", code=230028, times=None))
    await publish(house)

    async with house.bot():
        await until(lambda: settled(house, failed=1, pending=11))
        house.sandbox.faults.clear()

    assert len(house.sandbox.faults.met) == 1
    assert settled(house, failed=1, pending=11)


async def test_a_group_that_takes_no_cards_gets_a_post_and_nobody_else_does(house):
    """Some groups show no cards; that says nothing about the card."""
    people = house.people(5)
    group = await group_with_bot(house, owner=people[0].id)
    house.subscribe(group)
    house.sandbox.faults.add(Fault("code", "send", code=230054, receiver=group.id, times=1))
    await publish(house)

    async with house.bot():
        await until(lambda: settled(house, sent=6))

    assert sorted(forms(house)) == ["card"] * 5 + ["post"]
    assert house.cards_in(group.id)[-1].msg_type == "post"


async def test_an_unknown_refusal_is_one_receivers_until_others_say_the_same(house):
    """Nobody else pays for it: every other reader gets the card as designed."""
    odd, *_ = house.people(8)
    house.sandbox.faults.add(Fault("code", "send", code=987654, receiver=odd.id, times=None))
    await publish(house)

    async with house.bot():
        await until(lambda: settled(house, sent=7, failed=1))

    assert sorted(forms(house)) == ["card"] * 7 + ["text"]
    assert len(house.sandbox.faults.met) == 4


async def test_whoever_comes_later_gets_the_form_that_passed(house):
    """A card that was refused once is not tried again."""
    house.people(2)
    house.sandbox.faults.add(Fault("code", "send", code=230099, times=1))
    await publish(house, day=datetime.now(UTC).date())
    async with house.bot():
        await until(lambda: settled(house, sent=2))

        late = house.sandbox.client.add_user("读者乙").open_id
        chat = (await house.sandbox.client.open_bot_chat(late)).chat_id
        assert chat is not None
        await house.sandbox.client.say(late, chat, "订阅")
        await until(lambda: any("流水线" in message.content for message in house.cards_to(late)))

    assert forms(house).count("light") == 3
    assert len(house.sandbox.faults.met) == 1


async def test_a_light_card_still_has_its_buttons(house):
    """Leaving must work whatever form a digest had."""
    (person,) = house.people(1)
    house.sandbox.faults.add(Fault("code", "send", code=230025, times=1))
    await publish(house)

    async with house.bot():
        await until(lambda: settled(house, sent=1))

    (message,) = house.cards_to(person.id)
    tags = [one["tag"] for one in json.loads(message.content)["body"]["elements"]]
    assert tags == ["markdown", "button", "button"]
    assert SERIES in message.content
