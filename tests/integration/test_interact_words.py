"""What people type in the private chat, on both databases."""

from datetime import date, datetime, timedelta

import pytest

from bot.domain.audience import Density
from bot.domain.preference import Preference
from bot.services.returning import end_pauses
from bot.store import pauses, preferences, subscribers
from tests.integration.chat import ADMIN, PRIVATE, START, Chat, reader
from tests.integration.conftest import on_both

pytestmark = pytest.mark.anyio


@pytest.fixture
def chat(store):
    return Chat(store)


@on_both
async def test_a_reader_comes_pauses_and_leaves_by_words_alone(chat):
    """Each word is answered by one card and makes the state that it names."""
    await chat.say("请帮我订阅一下")
    assert chat.status(reader()) == "active"
    await chat.say("暂停 3天")
    assert (chat.status(reader()), chat.preference(reader()).paused_until) == ("paused", date(2025, 3, 14))
    await chat.say("恢复")
    assert (chat.status(reader()), chat.preference(reader()).paused_until) == ("active", None)
    await chat.say("TD")
    assert chat.status(reader()) == "unsubscribed"

    answers = [
        [word in text for word in ("订阅成功", "3月14日", "明天 08:37", "撤销退订")] for text in chat.texts(reader())
    ]
    assert [one.index(True) for one in answers] == [0, 1, 2, 3]


@on_both
async def test_the_same_word_again_is_answered_and_changes_nothing(chat):
    """A typed word never meets silence."""
    for word in ("订阅", "订阅", "退订", "退订", "暂停", "恢复"):
        await chat.say(word)

    assert chat.status(reader()) == "unsubscribed"
    assert len(chat.rows(reader())) == 6
    assert "还没有订阅" in chat.texts(reader())[-1]


@pytest.mark.parametrize(
    "word", ["不要订阅", "别给我发了", "怎么订阅", "", "🤷", "x" * 9000, "搜", "状态", "往期", "今日", "恢复"]
)
async def test_what_is_no_wish_is_answered_and_subscribes_nobody(chat, word):
    """Help, the settings, or what was asked for."""
    await chat.say(word)

    assert chat.status(reader()) is None
    assert chat.rows(reader())


async def test_with_several_series_a_word_needs_a_name_or_a_choice(store):
    """「订阅」 shows them, 「订阅 芯片周报」 takes one; a pause is for all that one has."""
    chat = Chat(store, names=("灯塔日报", "芯片周报"))
    await chat.say("订阅")
    assert chat.status(reader()) is None
    assert all(name in chat.texts(reader())[0] for name in chat.names)

    await chat.say("订阅 芯片周报")
    await chat.say("退订")  # only one is meant
    assert (chat.status(reader()), chat.status(reader(), "chips")) == (None, "unsubscribed")

    for word in ("订阅 芯片周报", "订阅 灯塔日报", "暂停 3天"):
        await chat.say(word)
    assert (chat.status(reader()), chat.status(reader(), "chips")) == ("paused", "paused")
    await chat.say("退订")  # which one? the card has both
    assert (chat.status(reader()), chat.status(reader(), "chips")) == ("paused", "paused")


@on_both
async def test_todays_edition_comes_with_the_subscription_and_again_when_asked_for(chat):
    """Under the push's own key it comes once; who asks for it gets it below."""
    await chat.push()
    await chat.say("订阅")
    await chat.say("退订")
    await chat.say("订阅")
    pushed = [row for row in chat.rows(reader()) if row.push is not None]
    assert len(pushed) == 1

    chat.store.write_now(settle_all)
    await chat.say("今日")
    assert "流水线怎样排得更满" in chat.texts(reader())[-1]
    assert len([row for row in chat.rows(reader()) if row.push is not None]) == 1


def settle_all(tx):
    """Everything was sent."""
    from bot.store.tables import deliveries

    tx.execute(deliveries.update().values(status="sent"))


async def test_today_makes_come_at_once_what_waits_for_its_hour(chat):
    """No second copy beside the one that is on its way."""
    await chat.say("订阅")
    await chat.push()
    before = len(chat.rows(reader()))

    await chat.say("今日")

    assert len(chat.rows(reader())) == before


async def test_before_todays_edition_is_out_the_past_is_shown(chat):
    """Better than silence."""
    chat.now -= timedelta(days=1)
    await chat.push()
    chat.now += timedelta(days=1)

    await chat.say("今日")

    assert "今天的还没有出" in chat.texts(reader())[0]
    assert "流水线怎样排得更满" in chat.texts(reader())[1]


@on_both
async def test_search_finds_words_of_titles_texts_and_sections(chat):
    """Chinese words of two characters, any case, several words; latest first, each with the way to its edition."""
    for day, title, text in (
        (7, "分页的缓存", "把推理时的显存切成页，Flash 很快。"),
        (8, '引号 "x\\y" 的标题', "没有别的。"),
        (9, "排队论", "推理的瓶颈在排队。"),
    ):
        await chat.push(date(2025, 3, day), title, text)
    found = []
    for word in ("推理", "flash", "学习", '"x\\y"', "推理 排队", "100%", "没有这个词"):
        await chat.say(f"搜 {word}")
        found.append([title in chat.texts(reader())[-1] for title in ("分页的缓存", "的标题", "排队论")])

    yes, no = True, False
    assert found == [[yes, no, yes], [yes, no, no], [yes] * 3, [no, yes, no], [no, no, yes], [no] * 3, [no] * 3]
    recent = next(text for text in chat.texts(reader()) if "排队论" in text and "分页的缓存" in text)
    assert recent.index("排队论") < recent.index("分页的缓存")


async def test_a_draft_is_not_found(chat):
    """What is not out yet is nobody's business."""
    from tests.builders import make_digest

    await chat.publisher.import_digest("ai", make_digest(day=START.date()), "h", chat.now, "cli")
    await chat.say("搜 流水线")
    await chat.say("往期")

    assert not any("第 1 篇" in text for text in chat.texts(reader()))


@on_both
async def test_a_pause_ends_by_itself_on_its_day_with_one_card_of_what_was_missed(chat):
    """In the subscriber's zone; it ends once, however often it is looked at."""
    await chat.say("订阅")
    await chat.say("暂停到 3月12日")
    for day in (11, 12):
        chat.now = START.replace(day=day)
        await chat.push(title=f"错过的第 {day} 天")
    before = len(chat.rows(reader()))
    early = datetime(2025, 3, 11, 23, 59, tzinfo=START.tzinfo)

    ends = [await end_pauses(chat.store, chat.interactor.replies, at) for at in (early, chat.now, chat.now)]

    assert ends == [0, 1, 0]
    assert chat.status(reader()) == "active"
    (card,) = chat.texts(reader())[before:]
    assert "错过的第 11 天" in card
    assert "错过的第 12 天" in card


async def test_a_pause_ends_in_the_subscribers_own_zone(store):
    """Midnight in Tokyo is not midnight in New York."""
    chat = Chat(store, zone="America/New_York")
    people = {"ou_tokyo": "Asia/Tokyo", "ou_default": None}
    for person, zone in people.items():
        wanted = Preference(zone=zone, paused_until=date(2025, 3, 12))
        store.write_now(preferences.put, reader(person), "ai", None, "paused", wanted, START)

    await end_pauses(store, chat.interactor.replies, datetime(2025, 3, 11, 16, tzinfo=START.tzinfo))

    assert [chat.status(reader(person)) for person in people] == ["active", "paused"]


@on_both
async def test_only_the_pause_of_a_refusal_is_lifted_by_a_message(chat):
    """The receiver is back; a pause of their own stays."""
    await chat.say("订阅")
    chat.store.write_now(subscribers.pause, reader(), "对方不在应用可用范围内", chat.now)
    await chat.say("你好")
    assert chat.status(reader()) == "active"

    await chat.say("暂停 3天")
    await chat.say("你好")
    assert chat.status(reader()) == "paused"


async def test_who_comes_back_within_ten_minutes_finds_their_settings_later_new_ones(chat):
    """Also by the word."""
    wanted = Preference(frozenset({"学习"}), Density.FULL)
    chat.store.write_now(preferences.put, reader(), "ai", None, "active", wanted, chat.now)
    await chat.say("退订")
    await chat.say("订阅")
    assert chat.preference(reader()) == wanted

    await chat.say("退订")
    chat.now += timedelta(minutes=11)
    await chat.say("订阅")
    assert chat.preference(reader()) == Preference()


async def test_who_says_too_much_hears_one_kind_line_and_is_still_let_go(chat):
    """Twenty a minute at most; to leave is always heard."""
    await chat.say("订阅")
    for _ in range(30):
        await chat.say("帮助")
    spoken = chat.texts(reader())
    assert sum("说得有点快" in text for text in spoken) == 1
    assert len(spoken) <= 21

    await chat.say("退订")
    assert (chat.status(reader()), len(chat.rows(reader()))) == ("unsubscribed", len(spoken))

    chat.now += timedelta(minutes=2)
    await chat.say("帮助")
    assert len(chat.rows(reader())) == len(spoken) + 1


async def test_an_admins_words_work_for_admins_alone(chat):
    """Figures, the queue, a look at the next edition; for everybody else they are nothing."""
    await chat.push()
    for word in ("统计", "预览", "补发 3月8日"):
        await chat.say(word)
    assert all("帮助" in text or "订阅" in text for text in chat.texts(reader()))
    assert not chat.rows(reader(ADMIN))

    await chat.say("统计", ADMIN)
    await chat.say("预览", ADMIN)
    await chat.say("补发 3月8日", ADMIN)
    figures, preview, resend = chat.texts(reader(ADMIN))
    assert "队列：正常" in figures
    assert "流水线怎样排得更满" in preview
    assert "digest-bot edition" in resend


async def test_an_admin_stops_and_starts_the_queue(chat):
    """With a reason of its own; another's 「暂停推送」 is their own pause."""
    await chat.say("订阅")
    await chat.say("暂停推送")
    assert chat.store.read_now(pauses.of_queue, chat.now) is None
    assert chat.status(reader()) == "paused"

    await chat.say("暂停推送", ADMIN)
    pause = chat.store.read_now(pauses.of_queue, chat.now)
    await chat.say("恢复推送", ADMIN)

    assert pause is not None
    assert (pause.code, pause.reason) == (0, "管理员暂停了推送")
    assert chat.store.read_now(pauses.of_queue, chat.now) is None


async def test_the_menu_is_a_word(chat):
    """Its keys: subscribe, settings, today, help, unsubscribe."""
    for key in ("subscribe", "settings", "today", "help", "unsubscribe"):
        await chat.say(key)

    assert chat.status(reader()) == "unsubscribed"
    assert len(chat.rows(reader())) == 6, "today brings a line and the history"
    assert PRIVATE not in str(chat.rows())
