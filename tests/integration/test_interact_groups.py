"""Groups through the sandbox: who decides is asked of the platform, but never before the answer."""

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from datetime import timedelta

import pytest

from bot.cards.actions import SetGroupSubscription, SetPause, SetPreferences, SetSubscription, ShowSettings, encode
from bot.domain.audience import Kind, Receiver
from bot.domain.errors import DigestError
from bot.domain.inbound import BotAdded, MembersLeft, MessageReceived
from bot.feishu.client import FeishuClient
from bot.parts import all_series
from bot.sandbox.faults import Fault
from bot.services.groups import Listed
from bot.services.interact import Around, Interactor
from bot.serving import listen, serving
from bot.store import groups, preferences, subscribers
from bot.web.app import build_web
from bot.web.webhook import Credentials, Webhook
from tests.builders import card_templates
from tests.integration.chat import Chat, group, reader
from tests.integration.conftest import SERIES, House, on_both

pytestmark = pytest.mark.anyio
ON, OFF = SetGroupSubscription(SERIES, on=True), SetGroupSubscription(SERIES, on=False)


@dataclass
class Hall:
    """A group in the sandbox, the bot in it, and an Interactor that may ask the platform."""

    house: House
    interactor: Interactor
    around: Around
    chat_id: str
    people: dict[str, str]

    @property
    def receiver(self) -> Receiver:
        return Receiver(Kind.GROUP, self.chat_id)

    def status(self) -> str | None:
        return self.house.store.read_now(subscribers.status, self.receiver, SERIES)

    def rows(self, receiver: Receiver) -> list[str]:
        return Chat.rows_of(self.house.store, receiver)

    async def click(self, who: str, action=ON):
        """Press a button of a card that stands in the group."""
        client = self.house.sandbox.client
        card = self.house.cards_in(self.chat_id)[-1].message_id
        return await client.click(self.people[who], card, encode(action))

    async def finish(self) -> int:
        return await self.interactor.keep_promises(self.house.clock())


@pytest.fixture
async def hall(house: House) -> AsyncIterator[Hall]:
    client, feishu = house.sandbox.client, house.settings.feishu
    people = {name: client.add_user(name).open_id for name in ("群主", "群管理员", "编辑", "读者甲")}
    created = await client.create_group("学习群", people["群主"], list(people.values()), [people["群管理员"]])
    assert created.chat_id is not None
    async with FeishuClient(feishu.base_url, feishu.app_id, feishu.app_secret) as api:
        around = Around(api.documents().chat)
        series = all_series(house.settings)
        interactor = Interactor(house.store, card_templates(), series, house.publisher, [], lambda: None, around)
        webhook = Webhook(Credentials(feishu.encrypt_key, feishu.verification_token), interactor.handle, house.clock)
        async with serving(build_web(webhook), listen("127.0.0.1", house.bot_port)):
            hall = Hall(house, interactor, around, created.chat_id, people)
            await client.add_bot(hall.chat_id, operator=people["编辑"])
            await api.send(hall.receiver, offered(hall), "uuid")
            yield hall


def offered(hall: Hall) -> str:
    """A card with every button that a group's card may have."""
    actions = (
        ON,
        OFF,
        SetPause(SERIES, None, group=True),
        ShowSettings(SERIES, group=True),
        SetSubscription(SERIES, on=True),
    )
    buttons = [
        {
            "tag": "button",
            "text": {"tag": "plain_text", "content": f"{number}"},
            "behaviors": [{"type": "callback", "value": encode(action)}],
        }
        for number, action in enumerate(actions)
    ]
    return json.dumps({"schema": "2.0", "body": {"elements": buttons}})


async def test_who_brought_the_bot_decides_at_once(hall):
    """That needs no question: we saw it."""
    shown = await hall.click("编辑")

    assert (shown.toast_type, hall.status()) == ("success", "active")
    assert await hall.finish() == 0


@pytest.mark.parametrize("who", ["群主", "群管理员"])
async def test_owner_and_managers_decide_once_the_platform_has_said_so(hall, who):
    """The toast says that it is being looked at; the outcome comes in private, the card in the group."""
    shown = await hall.click(who)
    assert ("正在核对" in (shown.toast_text or ""), hall.status()) == (True, None)

    assert await hall.finish() == 1
    assert hall.status() == "active"
    assert "订阅成功" in hall.rows(Receiver(Kind.USER, hall.people[who]))[0]

    again = await hall.click(who, OFF)
    assert (again.toast_type, hall.status()) == ("success", "unsubscribed"), "for a short while it is known"


async def test_others_do_not_decide_and_are_told_so(hall):
    """First in private, then at once; what they want for themselves they get."""
    await hall.click("读者甲")
    await hall.finish()
    (told,) = hall.rows(Receiver(Kind.USER, hall.people["读者甲"]))
    assert "群主" in told
    again = await hall.click("读者甲")

    assert (again.toast_type, hall.status()) == ("warning", None)
    own = await hall.click("读者甲", SetSubscription(SERIES, on=True))
    assert own.toast_type == "success"


async def test_a_promise_outlives_the_process_and_is_kept_once(hall):
    """It is a row; two who find it do it once."""
    await hall.click("群主")
    twin = Interactor(
        hall.house.store,
        card_templates(),
        all_series(hall.house.settings),
        hall.house.publisher,
        [],
        lambda: None,
        hall.around,
    )

    assert await twin.keep_promises(hall.house.clock()) == 1
    assert await hall.finish() == 0
    assert hall.status() == "active"
    assert len(hall.rows(Receiver(Kind.USER, hall.people["群主"]))) == 1


async def test_a_promise_that_cannot_be_kept_is_said_so(hall):
    """The bot was put out meanwhile: who clicked hears it, nothing changes."""
    await hall.click("群主")
    client = hall.house.sandbox.client
    await client.remove_bot(hall.chat_id, operator=hall.people["群主"])

    await hall.finish()

    assert hall.status() is None
    assert "没能核对" in hall.rows(Receiver(Kind.USER, hall.people["群主"]))[-1]


async def test_while_the_platform_is_away_a_promise_waits_for_ten_minutes(store):
    """Then the person hears that it did not work."""

    async def away(chat_id):
        raise DigestError("busy", "no answer", path=chat_id)

    chat = Chat(store, Around(away))
    await chat.click(SetGroupSubscription("ai", on=True), chat="oc_group")
    waiting = await chat.interactor.keep_promises(chat.now)
    chat.now += timedelta(minutes=10)
    given_up = await chat.interactor.keep_promises(chat.now)

    assert (waiting, given_up, chat.status(group())) == (0, 1, None)
    assert "没能核对" in chat.texts(reader())[0]


async def test_typed_words_in_a_group_need_the_same_right(hall):
    """Answered in the group; others learn how to subscribe for themselves."""
    client = hall.house.sandbox.client
    for who, word in (("读者甲", "订阅"), ("群主", "订阅"), ("读者甲", "退订")):
        await client.say(hall.people[who], hall.chat_id, word, mention_bot=True)
        await hall.finish()

    answers = hall.rows(hall.receiver)[1:]
    assert ["只有群主" in one for one in answers] == [True, False, True]
    assert hall.status() == "active"


async def test_who_has_left_decides_no_more(hall):
    """Even who brought the bot."""
    await hall.interactor.handle(MembersLeft("e1", hall.chat_id, (hall.people["编辑"],)), hall.house.clock())
    world = hall.house.sandbox.world
    world.change(world.chats[hall.chat_id], managers=())

    shown = await hall.click("编辑")
    await hall.finish()

    assert "正在核对" in (shown.toast_text or "")
    assert hall.status() is None


async def test_the_settings_of_a_group_say_who_set_it_up(hall):
    """By what they are to the group, where their name is not known."""
    await hall.click("编辑")
    await hall.click("编辑", ShowSettings(SERIES, group=True))

    assert "由 请我进群的人 设置" in hall.rows(hall.receiver)[-1]


async def test_a_muted_group_is_paused_until_everybody_may_speak(hall):
    """With the reason; then it goes on, and a card says so."""
    await hall.click("编辑")
    await hall.house.sandbox.client.set_muted(hall.chat_id)
    muted = hall.house.store.read_now(preferences.present, hall.receiver, SERIES)
    await hall.house.sandbox.client.set_muted(hall.chat_id, muted=False)

    assert muted is not None
    assert (muted.status, muted.reason, hall.status()) == ("paused", "群已禁言", "active")
    assert "订阅中" in hall.rows(hall.receiver)[-1]


async def test_a_group_whose_join_was_missed_is_learnt_from_its_first_message(house, hall):
    """Asked of the platform by then, with its name."""
    client = house.sandbox.client
    created = await client.create_group("后来的群", hall.people["群主"], [])
    world = house.sandbox.world
    world.change(world.chats[created.chat_id], bots=(house.settings.feishu.app_id,))

    await client.say(hall.people["群主"], created.chat_id, "订阅", mention_bot=True)
    await hall.finish()

    found = house.store.read_now(groups.find, created.chat_id)
    assert found is not None
    assert found.name == "后来的群"
    assert house.store.read_now(subscribers.status, Receiver(Kind.GROUP, created.chat_id), SERIES) == "active"


async def test_nothing_is_sent_to_an_external_group(house, hall):
    """A refusal there would look like one of the whole app."""
    world = house.sandbox.world
    world.change(world.chats[hall.chat_id], external=True)
    outside = BotAdded("e1", hall.people["群主"], "oc_outside", "外部群", external=True)
    await hall.interactor.handle(outside, house.clock())
    before = len(hall.rows(hall.receiver))
    await hall.click("群主")
    await hall.finish()
    await house.sandbox.client.say(hall.people["群主"], hall.chat_id, "帮助", mention_bot=True)
    await hall.finish()

    assert hall.rows(Receiver(Kind.GROUP, "oc_outside")) == []
    assert len(hall.rows(hall.receiver)) == before
    assert "外部群" in hall.rows(Receiver(Kind.USER, hall.people["群主"]))[-1]


async def test_the_platforms_busy_answer_delays_no_click(hall):
    """No call stands between a click and its answer, whatever the platform does."""
    hall.house.sandbox.faults.add(Fault(kind="slow", seconds=3600.0, api="chat"))

    shown = await hall.click("群主")

    assert "正在核对" in (shown.toast_text or "")


async def test_what_does_not_speak_to_us_is_not_answered(store):
    """To all, to people, to another bot; to us by name it is."""
    chat = Chat(store, Around(bot_id=lambda: "ou_bot"))

    for number, mentioned in enumerate([(), ("ou_other",), ("ou_other", "ou_bot")]):
        message = MessageReceived(f"e{number}", "ou_1", "oc_group", False, "订阅", f"om_{number}", mentioned)
        await chat.handle(message)

    assert len(chat.rows()) == 1


@on_both
async def test_every_day_our_groups_become_the_platforms(store):
    """Missing ones are paused with the reason, unknown ones learnt, and those that are listed again go on."""
    chat = Chat(store)
    for name in ("oc_stays", "oc_gone", "oc_back", "oc_muted"):
        row = subscribers.NewSubscription(group(name), "ai")
        store.write_now(subscribers.add, [row], chat.now)
    store.write_now(subscribers.pause, group("oc_back"), "机器人不在群里", chat.now)
    store.write_now(subscribers.pause, group("oc_muted"), "群已禁言", chat.now)
    listed = [Listed(one, one, external=False) for one in ("oc_stays", "oc_back", "oc_muted", "oc_new")]

    async def inside():
        return [*listed, replace(listed[0], chat_id="oc_outside", external=True)]

    for _ in range(2):
        await chat.interactor.reconcile(inside, chat.now)

    states = {name: chat.status(group(name)) for name in ("oc_stays", "oc_gone", "oc_back", "oc_muted")}
    assert states == {"oc_stays": "active", "oc_gone": "paused", "oc_back": "active", "oc_muted": "paused"}
    assert [len(chat.rows(group(name))) for name in ("oc_back", "oc_gone")] == [1, 0]
    assert store.read_now(groups.ids) == {"oc_stays", "oc_gone", "oc_back", "oc_muted", "oc_new"}


@on_both
async def test_a_form_in_a_group_is_saved_by_who_decides(store):
    """The card is the group's, and shows what is so now: who saves it again must not bring back what was before."""
    chat = Chat(store)
    await chat.handle(BotAdded("added", "ou_adder", "oc_group", "学习群"))
    await chat.click(SetGroupSubscription("ai", on=True), "ou_adder", "oc_group")
    wish = SetPreferences("ai", group=True)

    answers = [await chat.click(wish, who, "oc_group", {"density": "full"}) for who in ("ou_other", "ou_adder")]

    assert [(one.tone, one.card is not None) for one in answers] == [("warning", False), ("success", True)]
    assert '"initial_option": "full"' in json.dumps(answers[1].card)
    assert chat.preference(group()).density == "full"
    present = chat.present(group())
    assert present is not None
    assert present.set_by == "ou_adder"
