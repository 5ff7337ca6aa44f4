"""Each event has one effect: delivered again, two at once, out of order, across a restart; and any sequence of them."""

import asyncio
import shutil
import tempfile
from collections import Counter
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sqlalchemy import func, select

from bot.cards.actions import SetPause, SetPreferences, SetSubscription, ShowEdition, ShowSettings, UndoLeave, encode
from bot.domain.inbound import (
    BotAdded,
    BotRemoved,
    CardAction,
    ChatChanged,
    ChatEntered,
    MembersLeft,
    MessageReceived,
    MessagesRead,
    PersonLeft,
    Unknown,
)
from bot.services.arrivals import Arrivals
from bot.services.interact import Interactor
from bot.services.returning import end_pauses
from bot.store import inbox, outbox, subscribers
from bot.store.engine import Store
from bot.store.tables import deliveries, subscriptions
from tests.integration.chat import GROUP, PRIVATE, READER, START, Chat, group, reader
from tests.integration.conftest import on_both

pytestmark = pytest.mark.anyio
ON = encode(SetSubscription("ai", on=True))
EVENTS = [
    MessageReceived("e1", READER, PRIVATE, True, "订阅", "om_1"),
    MessageReceived("e1", READER, GROUP, False, "帮助", "om_1", ("ou_bot",)),
    MessageReceived("e1", READER, "", True, "today"),
    ChatEntered("e1", READER),
    BotAdded("e1", "ou_adder", GROUP, "学习群"),
    CardAction("e1", READER, PRIVATE, ON, "om_card"),
    CardAction("e1", READER, PRIVATE, encode(ShowSettings("ai")), "om_card"),
    CardAction("e1", READER, PRIVATE, encode(UndoLeave("ai")), "om_card"),
    BotRemoved("e1", GROUP, dissolved=False),
    ChatChanged("e1", GROUP, name="新名字", muted=True),
    MembersLeft("e1", GROUP, (READER,)),
    PersonLeft("e1", READER),
]


@pytest.fixture
def chat(store):
    return Chat(store)


@on_both
@pytest.mark.parametrize("event", EVENTS, ids=lambda one: type(one).__name__)
async def test_an_event_delivered_five_times_has_one_effect(chat, event):
    """Also two copies at once, after a restart, and hours later; the answer is the same."""
    await chat.push()
    first = await chat.handle(event)
    rows = chat.rows()

    both = await asyncio.gather(chat.handle(event), chat.handle(event))
    chat.restart()
    chat.now += timedelta(hours=6, minutes=5)
    again = await chat.handle(event)

    assert (*both, again) == (first, first, first)
    assert chat.rows() == rows


@on_both
async def test_copies_that_come_at_once_have_one_effect(store):
    """By two processes, the first time already."""
    chat, twin = Chat(store), Chat(store)

    answers = await asyncio.gather(*(one.handle(EVENTS[5]) for one in (chat, twin, chat, twin)))

    assert len(set(map(str, answers))) == 1
    assert len(chat.rows()) == 1


@on_both
async def test_a_message_under_another_event_id_is_the_same_message(chat):
    """And another message under the same event id is the same event."""
    sent = MessageReceived("e1", READER, PRIVATE, True, "订阅", "om_1")
    twin = MessageReceived("e2", READER, PRIVATE, True, "订阅", "om_1")

    await asyncio.gather(chat.handle(sent), chat.handle(twin))
    await chat.handle(MessageReceived("e1", READER, PRIVATE, True, "退订", "om_2"))

    assert (chat.status(reader()), len(chat.rows())) == ("active", 1)


async def test_events_out_of_order_end_in_what_was_done_last(chat):
    """A late join event of a group that was left again brings a card, but no second subscription."""
    await chat.handle(BotRemoved("e2", GROUP, dissolved=False))
    await chat.handle(BotAdded("e1", "ou_adder", GROUP, "学习群"))
    await chat.handle(BotRemoved("e2", GROUP, dissolved=False))

    assert [row.status for row in chat.rows(group())] == ["pending"]
    assert chat.status(group()) is None


async def test_what_failed_is_tried_again(chat):
    """An event whose handling broke has left no trace: the next delivery is handled."""
    broken = Chat(chat.store)
    broken.interactor = Interactor(
        chat.store, None, broken.interactor.replies.series.values(), chat.publisher, [], lambda: None
    )
    with pytest.raises(AttributeError):
        await broken.handle(EVENTS[0])

    await chat.handle(EVENTS[0])

    assert chat.status(reader()) == "active"


async def test_events_are_kept_for_eight_days(chat):
    """The platform delivers again for seven hours."""
    await chat.handle(EVENTS[0])
    chat.store.write_now(inbox.forget, chat.now + timedelta(days=7))
    assert chat.store.read_now(inbox.answer_of, "message:om_1") is not None

    chat.store.write_now(inbox.forget, chat.now + timedelta(days=9))
    assert chat.store.read_now(inbox.answer_of, "message:om_1") is None


async def test_what_means_nothing_is_counted(chat):
    """Answered, by kind."""
    arrivals = Arrivals(chat.interactor.handle)
    for one in (Unknown("e1", "new.one_v9"), Unknown("e2", "new.one_v9"), MessagesRead("e3", READER, ("om_1",))):
        assert (await arrivals.handle(one, chat.now)).toast is None

    assert arrivals.counts == {("new.one_v9", "unknown_type"): 2, ("MessagesRead", "known"): 1}


async def test_a_new_reader_is_welcomed_once_a_day_and_a_subscriber_never(chat):
    """The chat reports every opening."""
    for number in range(3):
        await chat.handle(ChatEntered(f"e{number}", READER))
    assert len(chat.rows()) == 1

    chat.now += timedelta(days=1)
    await chat.handle(ChatEntered("e9", READER))
    assert len(chat.rows()) == 2


WORDS = ["订阅", "退订", "暂停", "恢复", "今日", "状态", "不要订阅", "暂停到明天"]
CLICKS = [
    SetSubscription("ai", on=True),
    SetSubscription("ai", on=False),
    SetPause("ai", START.date() + timedelta(days=1)),
    SetPause("ai", None),
    UndoLeave("ai"),
    SetPreferences("ai"),
    ShowEdition("ai", START.date().isoformat()),
]
STEPS = st.one_of(
    st.sampled_from(WORDS),
    st.sampled_from(CLICKS),
    st.sampled_from(["push", "send", "tomorrow", "redeliver", "refuse", "end_pauses"]),
)


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database at schema head, to be copied: making one takes longer than a life in it."""
    path = tmp_path_factory.mktemp("empty") / "bot.db"
    with closing(Store(f"sqlite:///{path}")) as store:
        store.migrate()
    return path


@settings(max_examples=40, deadline=None)
@given(st.lists(STEPS, min_size=4, max_size=12))
@example(["订阅", "push", "退订", "订阅", "send", "退订", "订阅"])
@example(["push", CLICKS[0], CLICKS[1], "redeliver", CLICKS[4], "send", CLICKS[2], CLICKS[3]])
@example(["订阅", "push", "refuse", "订阅", "暂停到明天", "tomorrow", "end_pauses", "push", "退订"])
def test_whatever_people_do_they_have_one_subscription_and_one_copy_and_who_left_gets_none(empty, steps):
    """Any sequence of words, clicks, pushes, sends, days and redeliveries."""
    with tempfile.TemporaryDirectory() as folder:
        copy = shutil.copy(empty, folder)
        with closing(Store(f"sqlite:///{copy}")) as store:
            asyncio.run(live(Chat(store), steps))


async def live(chat: Chat, steps) -> None:
    pushes = 0
    for step in steps:
        if step in WORDS:
            await chat.say(step)
        elif step == "push":
            pushes += 1
            await chat.push(chat.now.date(), title=f"第 {pushes} 次")
        elif step == "send":
            chat.store.write_now(send_all, chat.now)
        elif step == "tomorrow":
            chat.now += timedelta(days=1)
        elif step == "redeliver":
            sent = MessageReceived("again", READER, PRIVATE, True, "订阅", "om_again")
            await chat.handle(sent)
        elif step == "refuse":
            chat.store.write_now(subscribers.pause, reader(), "对方不在应用可用范围内", chat.now)
            chat.store.write_now(outbox.cancel, reader(), "对方不在应用可用范围内")
        elif step == "end_pauses":
            await end_pauses(chat.store, chat.interactor.replies, chat.now)
        else:
            await chat.click(step, form={"density": "full"})
        assert_promises(chat)


def send_all(tx, now) -> None:
    """The platform took everything that is pending."""
    tx.execute(deliveries.update().where(deliveries.c.status == "pending").values(status="sent", sent_at=now))


def assert_promises(chat: Chat) -> None:
    rows = [row for row in chat.rows(reader()) if row.push is not None]
    copies = Counter((row.push, row.part) for row in rows)
    assert not copies or max(copies.values()) == 1, "a second copy of an edition"
    if chat.status(reader()) != "active":
        assert not [row for row in rows if row.status == "pending"], "a delivery to somebody who is away"
    assert chat.store.read_now(lambda tx: tx.execute(select(func.count()).select_from(subscriptions)).scalar()) <= 1
