"""What people press on cards, on both databases."""

from datetime import date, time, timedelta

import pytest

from bot.cards.actions import (
    Decision,
    Missed,
    Resend,
    Review,
    SetPause,
    SetPreferences,
    SetSubscription,
    ShowEdition,
    ShowHistory,
    ShowResults,
    ShowSettings,
    UndoLeave,
)
from bot.domain.audience import Density
from bot.domain.inbound import Answer
from bot.domain.preference import Preference
from bot.services.admin_words import Editors
from bot.services.interact import Around
from bot.services.links import PreferenceLinks
from bot.store import preferences, subscribers
from tests.integration.chat import ADMIN, GROUP, READER, START, Chat, group, reader
from tests.integration.conftest import on_both

pytestmark = pytest.mark.anyio
ON, OFF = SetSubscription("ai", on=True), SetSubscription("ai", on=False)
FORM = {
    "sections": ["学习"],
    "density": "full",
    "slot": "07:30",
    "zone": "Asia/Tokyo",
    "days": "workdays",
    "pause": "",
}


@pytest.fixture
def chat(store):
    return Chat(store)


def shown(answer: Answer) -> str:
    """Text of the card that takes the clicked one's place."""
    assert answer.card is not None
    return str(answer.card)


@on_both
async def test_a_form_saves_what_it_says_and_the_card_shows_it(chat):
    """The saved values stand in the card that comes back; saving them again changes nothing."""
    await chat.push()
    await chat.click(ON)

    saved = await chat.click(SetPreferences("ai"), form=FORM)
    again = await chat.click(SetPreferences("ai"), form=FORM)

    assert (saved.toast, again.toast) == ("已保存", "没有改动")
    wanted = Preference(frozenset({"学习"}), Density.FULL, time(7, 30), "Asia/Tokyo", workdays=True)
    assert chat.preference(reader()) == wanted
    assert "'initial_option': '07:30'" in shown(saved)
    assert "'selected_values': ['学习']" in shown(saved)


@pytest.mark.parametrize(
    "form",
    [
        None,
        "x",
        [],
        {"sections": "学习"},
        {"sections": ["没有的栏目"]},
        {"density": "all"},
        {"slot": "25:00"},
        {"zone": "Mars/Base"},
        {"days": []},
        {"pause": "2025-03-01 +0800"},
        {"pause": "2199-01-01 +0800"},
        {"unknown": "1"},
        {"density": {"a": 1}},
    ],
)
async def test_a_form_of_another_time_is_answered_kindly_and_changes_nothing(chat, form):
    """A line that says what to do; never an error."""
    await chat.click(ON)

    answer = await chat.click(SetPreferences("ai"), form=form)

    assert answer.tone == "warning"
    assert answer.toast
    assert chat.preference(reader()) == Preference()


@on_both
async def test_a_pause_set_in_the_form_pauses_and_emptied_resumes(chat):
    """The same state as by the button, and a card of before it still understood when it is over."""
    await chat.click(ON)
    await chat.click(SetPreferences("ai"), form={"pause": "2025-03-14 +0800"})
    assert (chat.status(reader()), chat.preference(reader()).paused_until) == ("paused", date(2025, 3, 14))

    await chat.click(SetPreferences("ai"), form={"pause": ""})
    assert (chat.status(reader()), chat.preference(reader()).paused_until) == ("active", None)


async def test_an_old_card_that_still_shows_an_ended_pause_saves(chat):
    """The day in its calendar is over: it means nothing new."""
    await chat.click(ON)
    await chat.click(SetPause("ai", date(2025, 3, 12)))
    chat.now = START.replace(day=12)
    zones = {"ai": START.tzinfo}
    assert len(chat.store.write_now(preferences.end_pauses, zones, chat.now)) == 1

    answer = await chat.click(SetPreferences("ai"), form={"density": "full", "pause": "2025-03-12 +0800"})

    assert answer.tone == "success"
    assert (chat.status(reader()), chat.preference(reader()).density) == ("active", Density.FULL)


@pytest.mark.parametrize("until", [START.date(), date(2025, 3, 1), date(2027, 1, 1)])
async def test_a_pause_to_an_impossible_day_is_refused(chat, until):
    """The button of an old card."""
    await chat.click(ON)

    answer = await chat.click(SetPause("ai", until))

    assert (answer.tone, chat.status(reader())) == ("warning", "active")


@on_both
async def test_leaving_can_be_taken_back_for_ten_minutes_with_all_settings(chat):
    """Later it is a new subscription."""
    wanted = Preference(frozenset({"学习"}), Density.FULL)
    chat.store.write_now(preferences.put, reader(), "ai", None, "active", wanted, chat.now)
    await chat.push()
    await chat.click(OFF)
    assert [row.status for row in chat.rows(reader()) if row.push] == ["cancelled"]

    back = await chat.click(UndoLeave("ai"))
    assert (chat.status(reader()), chat.preference(reader())) == ("active", wanted)
    assert [row.status for row in chat.rows(reader()) if row.push] == ["pending"]
    assert "原来的设置都还在" in (back.toast or "")

    await chat.click(OFF)
    chat.now += timedelta(minutes=10)
    await chat.click(UndoLeave("ai"))
    assert (chat.status(reader()), chat.preference(reader())) == ("active", Preference())


async def test_who_left_while_paused_is_paused_again(chat):
    """As before leaving, also if they press twice."""
    await chat.click(ON)
    await chat.click(SetPause("ai", date(2025, 3, 14)))
    await chat.click(OFF)

    for _ in range(2):
        await chat.click(UndoLeave("ai"))

    assert (chat.status(reader()), chat.preference(reader()).paused_until) == ("paused", date(2025, 3, 14))


async def test_settings_and_pauses_without_a_subscription_say_so(chat):
    """Nobody is subscribed by the way."""
    answers = [await chat.click(one) for one in (SetPause("ai", date(2025, 3, 14)), SetPause("ai", None))]
    answers.append(await chat.click(SetPreferences("ai"), form=FORM))

    assert {one.tone for one in answers} == {"warning"}
    assert chat.status(reader()) is None


@on_both
async def test_the_past_is_paged_and_each_edition_is_one_tap_away(chat):
    """In the private chat the list turns its pages in place."""
    for day in range(1, 11):
        await chat.push(date(2025, 3, day), title=f"第 {day} 天")

    first = await chat.click(ShowHistory("ai"))
    assert [f"第 {day} 天" in shown(first) for day in (10, 3, 2)] == [True, True, False]
    cursor = shown(first).split("'cursor': '")[1].split("'")[0]
    second = await chat.click(ShowHistory("ai", cursor))
    assert [f"第 {day} 天" in shown(second) for day in (3, 2, 1)] == [False, True, True]
    odd = await chat.click(ShowHistory("ai", "'; drop table"))
    assert "第 10 天" in shown(odd)

    await chat.click(ShowEdition("ai", "2025-03-02"))
    assert "第 2 天" in chat.texts(reader())[-1]


async def test_pressing_twice_brings_an_edition_once(chat):
    """From one card on one day; from another card again."""
    slug = await chat.push()

    answers = [await chat.click(ShowEdition("ai", slug), card=card) for card in ("om_1", "om_1", "om_2")]

    assert [one.tone for one in answers] == ["success", "info", "success"]
    assert len(chat.rows(reader())) == 2


async def test_an_edition_by_wish_comes_in_ones_own_selection(chat):
    """Titles only, for who wants no more; whole where none of one's sections is in it."""
    slug = await chat.push()
    for sections in ({"学习"}, {"别的"}):
        wanted = Preference(frozenset(sections), Density.BRIEF)
        before = chat.present(reader())
        chat.store.write_now(preferences.put, reader(), "ai", before, "active", wanted, chat.now)
        await chat.click(ShowEdition("ai", slug), card=str(sections))

    assert len(chat.rows(reader())) == 2
    assert not any("读者甲在两台机器上" in text for text in chat.texts(reader()))


@pytest.mark.parametrize("slug", ["latest", "2025-01-01", "draft", "../x", "x" * 300])
async def test_what_is_not_out_is_not_shown(chat, slug):
    """Neither a draft nor something that never was."""
    from tests.builders import make_digest

    await chat.publisher.import_digest("ai", make_digest(day=START.date(), label="draft"), "h", chat.now, "cli")

    answer = await chat.click(ShowEdition("ai", slug))

    assert (answer.tone, chat.rows(reader())) == ("warning", [])


async def test_results_turn_their_pages(chat):
    """And a page behind the last is the last."""
    for day in range(1, 9):
        await chat.push(date(2025, 3, day), title=f"分页 {day}")

    pages = [shown(await chat.click(ShowResults("分页", page))) for page in (1, 2, 9)]

    assert [f"分页 {day}" in pages[0] for day in (8, 3, 2)] == [True, True, False]
    assert "分页 1" in pages[1]
    assert pages[1] == pages[2]


async def test_in_a_group_a_click_shows_a_toast_and_the_rest_comes_in_private(chat):
    """The card there is everybody's: it is never replaced."""
    chat.store.write_now(subscribers.ensure, group(), chat.now)
    slug = await chat.push()
    wishes = [ON, ShowHistory("ai"), ShowResults("流水线"), ShowEdition("ai", slug), ShowSettings("ai")]

    answers = [await chat.click(one, chat=GROUP) for one in wishes]
    answers.append(await chat.click(SetPreferences("ai"), chat=GROUP, form=FORM))

    assert [one.card for one in answers] == [None] * 6
    assert all(one.toast for one in answers)
    assert {row.receiver for row in chat.rows()} == {reader()}


async def test_settings_hold_a_link_to_the_page_where_there_is_one(store):
    """For clients that cannot show the form; in private only."""
    links = PreferenceLinks("secret", "https://bot.example.com/")
    chat = Chat(store, Around(links=links))
    await chat.click(ShowSettings("ai"))
    await chat.say("状态")

    assert all("https://bot.example.com/preferences?t=" in text for text in chat.texts(reader()))


async def test_who_could_not_be_written_to_is_told_what_to_do(chat):
    """The click that follows the refusal: it tries again, and says whom to ask."""
    await chat.click(ON, chat=GROUP)
    chat.store.write_now(subscribers.pause, reader(), "对方不在应用可用范围内", chat.now)

    answer = await chat.click(ON, chat=GROUP)

    assert (answer.tone, chat.status(reader())) == ("warning", "active")
    assert "可用范围" in (answer.toast or "")


async def test_editors_buttons_are_for_admins(store):
    """What they do is the editors' own; without it they hear where it is done."""
    review = Review("ai/2025-03-10", 1, Decision.APPROVE)
    resend = Resend("ai/2025-03-10", 1, Missed.FAILED)
    plain = Chat(store)
    assert [(await plain.click(one)).toast for one in (review, resend)] == ["只有管理员可以这样做"] * 2
    assert "命令行" in ((await plain.click(review, ADMIN)).toast or "")

    taken = []

    def take(tx, action, person, now):
        taken.append((action, person))
        return Answer("好", "success")

    able = Chat(store, Around(editors=Editors(take, take)), events=100)
    answers = [await able.click(one, person) for one in (review, resend) for person in (READER, ADMIN)]

    assert [one.tone for one in answers] == ["warning", "success"] * 2
    assert taken == [(review, ADMIN), (resend, ADMIN)]


async def test_who_presses_too_fast_is_told_and_can_still_leave(chat):
    """Nothing is sent for what is over the limit."""
    await chat.click(ON)
    answers = [await chat.click(ShowSettings("ai"), card=f"om_{n}") for n in range(30)]
    assert sum(one.tone == "warning" for one in answers) >= 10

    await chat.click(OFF)

    assert chat.status(reader()) == "unsubscribed"
