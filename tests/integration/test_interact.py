"""People and the bot through the sandbox's client: signed events in, cards and toasts out."""

from datetime import UTC, datetime

import pytest

from bot.cards.actions import SetGroupSubscription, SetSubscription, UndoLeave, encode
from bot.domain.audience import Kind, Receiver
from bot.domain.delivery import Status
from bot.store import ledger, subscribers
from tests.builders import make_digest
from tests.integration.conftest import SERIES, House, until

pytestmark = pytest.mark.anyio
ON = encode(SetSubscription(SERIES, on=True))
GROUP_ON = encode(SetGroupSubscription(SERIES, on=True))


@pytest.fixture
async def running(house: House):
    async with house.bot():
        yield house


async def push_today(house: House) -> None:
    now = datetime.now(UTC)
    edition = await house.publisher.import_digest(SERIES, make_digest(items=2, day=now.date()), "h", now, "cli")
    await house.publisher.publish(SERIES, edition.slug, now, "cli")


async def welcomed(house: House, name: str = "读者甲") -> tuple[str, str]:
    """A person who has opened the bot's chat, and the welcome card that came."""
    open_id = house.sandbox.client.add_user(name).open_id
    await house.sandbox.client.open_bot_chat(open_id)
    await until(lambda: len(house.cards_to(open_id)) == 1)
    return open_id, house.cards_to(open_id)[0].message_id


def quiet(house: House) -> bool:
    """Nothing is waiting to be sent."""
    return not {Status.PENDING, Status.SENDING} & set(house.store.read_now(ledger.counts))


async def test_a_new_reader_is_welcomed_once_a_day(running):
    """The chat reports every opening; nobody wants a card each time."""
    open_id, _ = await welcomed(running)

    await running.sandbox.client.open_bot_chat(open_id)
    await until(lambda: quiet(running))

    assert len(running.cards_to(open_id)) == 1


async def test_who_subscribes_after_the_push_gets_todays_edition_at_once(running):
    """A toast, a confirmation, and the digest; a second click says so and brings nothing."""
    await push_today(running)
    open_id, card = await welcomed(running)

    first = await running.sandbox.client.click(open_id, card, ON)
    await until(lambda: len(running.cards_to(open_id)) == 3)
    second = await running.sandbox.client.click(open_id, card, ON)
    await until(lambda: quiet(running))

    assert (first.toast_type, second.toast_type) == ("success", "info")
    assert "已经订阅" in (second.toast_text or "")
    assert len(running.cards_to(open_id)) == 3
    assert "第 1 篇" in running.cards_to(open_id)[2].content, "the confirmation comes first, then the digest"


async def test_leaving_and_coming_back_brings_no_second_copy(running):
    """One reader, one copy of an edition, whatever they click."""
    await push_today(running)
    open_id, _ = await welcomed(running)
    for word in ("订阅", "退订", "订阅", "退订", "订阅"):
        await running.sandbox.client.say(open_id, running.cards_to(open_id)[0].chat_id, word)
    await until(lambda: quiet(running))

    digests = [one for one in running.cards_to(open_id) if "第 1 篇" in one.content]
    assert len(digests) == 1


async def test_the_bots_menu_does_what_the_words_do(running):
    """Menus exist in the private chat; their keys are commands."""
    open_id, _ = await welcomed(running)

    await running.sandbox.client.choose_menu(open_id, "subscribe")

    assert running.store.read_now(subscribers.status, Receiver(Kind.USER, open_id), SERIES) == "active"


async def test_leaving_ends_the_pushes(running):
    """退订 stops it, and the goodbye has a way back."""
    open_id, card = await welcomed(running)
    await running.sandbox.client.click(open_id, card, ON)
    await running.sandbox.client.say(open_id, running.cards_to(open_id)[0].chat_id, "退订")
    await until(lambda: quiet(running))
    before = len(running.cards_to(open_id))

    await push_today(running)
    await until(lambda: quiet(running))

    assert len(running.cards_to(open_id)) == before
    assert "撤销退订" in running.cards_to(open_id)[-1].content


async def test_a_click_in_a_group_subscribes_the_person_not_the_group(running):
    """「订阅社区精选」 is for whoever clicks, told by a toast only they see."""
    client = running.sandbox.client
    owner, reader = (client.add_user(name).open_id for name in ("管理员", "读者甲"))
    group = (await client.create_group("学习群", owner=owner, members=[reader])).chat_id
    await client.add_bot(group, operator=owner)
    await until(lambda: len(running.cards_in(group)) == 1)

    shown = await client.click(reader, running.cards_in(group)[0].message_id, ON)

    assert shown.toast_type == "success"
    assert running.store.read_now(subscribers.status, Receiver(Kind.USER, reader), SERIES) == "active"
    assert running.store.read_now(subscribers.status, Receiver(Kind.GROUP, group), SERIES) is None


async def test_only_who_brought_the_bot_may_subscribe_the_group(running):
    """Others get a polite toast, and nothing changes."""
    client = running.sandbox.client
    owner, reader = (client.add_user(name).open_id for name in ("管理员", "读者甲"))
    group = (await client.create_group("学习群", owner=owner, members=[reader])).chat_id
    await client.add_bot(group, operator=owner)
    await until(lambda: len(running.cards_in(group)) == 1)
    card = running.cards_in(group)[0].message_id

    refused = await client.click(reader, card, GROUP_ON)
    status = running.store.read_now(subscribers.status, Receiver(Kind.GROUP, group), SERIES)
    taken = await client.click(owner, card, GROUP_ON)

    assert (refused.toast_type, status, taken.toast_type) == ("info", None, "success")
    assert "核对权限" in (refused.toast_text or "")
    await until(lambda: any("只有群主" in one.content for one in running.cards_to(reader)))
    assert running.store.read_now(subscribers.status, Receiver(Kind.GROUP, group), SERIES) == "active"


async def test_a_group_is_paused_when_the_bot_is_put_out_and_goes_on_when_it_is_back(running):
    """With the reason; whoever brings the bot back decides for the group, and is shown how to stop it."""
    client = running.sandbox.client
    owner = client.add_user("管理员").open_id
    group = (await client.create_group("学习群", owner=owner, members=[])).chat_id
    receiver = Receiver(Kind.GROUP, group)
    await client.add_bot(group, operator=owner)
    await client.say(owner, group, "订阅", mention_bot=True)
    await client.remove_bot(group, operator=owner)
    assert running.store.read_now(subscribers.status, receiver, SERIES) == "paused"

    await client.add_bot(group, operator=owner)

    assert running.store.read_now(subscribers.status, receiver, SERIES) == "active"
    await until(lambda: quiet(running))
    assert "订阅中" in running.cards_in(group)[-1].content
    assert "停止推送" in running.cards_in(group)[-1].content


async def test_the_form_of_the_settings_card_is_saved_and_shows_it(running):
    """As the client sends it: the card turns into the new one, and pressing again says that nothing changed."""
    open_id, card = await welcomed(running)
    await running.sandbox.client.click(open_id, card, ON)
    await running.sandbox.client.say(open_id, running.cards_to(open_id)[0].chat_id, "设置")
    await until(lambda: quiet(running))
    form = running.cards_to(open_id)[-1].message_id
    filled = {"density": "full", "slot": "09:00", "zone": "default", "days": "workdays", "pause": ""}

    saved = await running.sandbox.client.click(open_id, form, "save", form_value=filled)
    again = await running.sandbox.client.click(open_id, form, "save", form_value=filled)

    assert (saved.toast_text, saved.card_changed) == ("已保存", True)
    assert again.toast_text == "没有改动"
    assert '"initial_option":"09:00"' in running.cards_to(open_id)[-1].content


async def test_leaving_is_taken_back_on_the_goodbye_itself(running):
    """The card turns into the one of a subscription."""
    open_id, card = await welcomed(running)
    await running.sandbox.client.click(open_id, card, ON)
    await running.sandbox.client.say(open_id, running.cards_to(open_id)[0].chat_id, "退订")
    await until(lambda: quiet(running))

    undone = await running.sandbox.client.click(
        open_id, running.cards_to(open_id)[-1].message_id, encode(UndoLeave(SERIES))
    )

    assert (undone.toast_type, undone.card_changed) == ("success", True)
    assert running.store.read_now(subscribers.status, Receiver(Kind.USER, open_id), SERIES) == "active"


async def test_short_lines_arrive_as_texts(running):
    """Where a card would be too much: the platform takes them."""
    open_id, _ = await welcomed(running)
    await running.sandbox.client.say(open_id, running.cards_to(open_id)[0].chat_id, "搜")
    await until(lambda: quiet(running))

    said = running.cards_to(open_id)[-1]
    assert (said.msg_type, "想找什么" in said.content) == ("text", True)
