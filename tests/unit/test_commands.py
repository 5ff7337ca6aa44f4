"""Typed words: bot/domain/commands.py and pause_words.py."""

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.domain.commands import ADMIN_WORDS, LONGEST, WORDS, Command, Order, understand
from bot.domain.pause_words import pause_wish
from tests.builders import make_series

TODAY = date(2025, 3, 9)  # a Sunday
ONE = (make_series("大模型日报", id="llm"),)
TWO = (*ONE, make_series("芯片周报", id="chips"))


def meant(text: str, series=ONE, *, admin: bool = False) -> Order:
    return understand(text, series, today=TODAY, admin=admin)


@pytest.mark.parametrize(
    "text",
    [
        "订阅",
        "/订阅",
        "  订阅 。",
        "订阅！！",
        "ＳＵＢＳＣＲＩＢＥ",
        "Subscribe",
        "订\u200b阅",
        "\u202e订阅\ufeff",
        "订阅👍",
        "请帮我订阅一下",
        "你好，我想订阅",
        "麻烦订阅一下，谢谢！",
        "可以帮我订阅吗",
        "please subscribe",
        "订阅吧",
        "订阅日报",
        "订阅社区精选",
        "订阅 大模型日报",
        "订阅《大模型日报》",
        "订阅：大模型日报",
        "subscribe llm",
        "订阅\n",
    ],
)
def test_who_wants_to_subscribe_is_understood(text):
    """Any width, any case, politeness and signs around it."""
    assert meant(text) == Order(Command.SUBSCRIBE, ONE[0])


@pytest.mark.parametrize(
    "text",
    [
        "不要订阅",
        "别给我订阅",
        "我不想订阅",
        "我订阅了",
        "我订阅了吗",
        "订阅了没有",
        "怎么订阅",
        "如何订阅？",
        "取消",
        "订阅者",
        "别给我发了",
        "不想收了",
        "不要退订",
        "别退订",
        "don't subscribe",
        "do not unsubscribe",
        "subscribed",
        "tda",
        "订阅 别的",
        "退订怎么弄",
        "你们可以退订吗？我想想",
        "",
        " ",
        "？",
        "早上好",
        "订阅" * 200,
        "{{ 7*7 }}",
        "'; drop table",
        "\u0000\ud800",
        "订阅退订",
        "unsubscribe subscribe",
    ],
)
def test_what_is_no_clear_wish_changes_nothing(text):
    """A negation, a question, a story, noise: help or the settings, never a subscription."""
    assert meant(text).command in {Command.HELP, Command.SETTINGS}


@pytest.mark.parametrize(
    "text", ["别给我发了", "不要订阅", "不想收了", "太多了，停一停", "do not send me this", "我订阅了吗"]
)
def test_who_wants_less_or_asks_how_it_is_sees_the_settings(text):
    """Leaving and pausing are one tap there."""
    assert meant(text).command is Command.SETTINGS


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("退订", Command.UNSUBSCRIBE),
        ("TD", Command.UNSUBSCRIBE),
        ("ｔｄ", Command.UNSUBSCRIBE),
        ("取消订阅", Command.UNSUBSCRIBE),
        ("我要退订！！！", Command.UNSUBSCRIBE),
        ("请帮我退订", Command.UNSUBSCRIBE),
        ("unsubscribe", Command.UNSUBSCRIBE),
        ("/settings", Command.SETTINGS),
        ("状态", Command.SETTINGS),
        ("今日", Command.TODAY),
        ("today", Command.TODAY),
        ("看今天的日报", Command.HELP),
        ("往期", Command.HISTORY),
        ("History", Command.HISTORY),
        ("恢复", Command.RESUME),
        ("恢复推送", Command.RESUME),
        ("help", Command.HELP),
        ("帮助", Command.HELP),
        ("统计", Command.HELP),
        ("补发 3月8日", Command.HELP),
        ("预览", Command.HELP),
    ],
)
def test_each_word_has_its_command(text, command):
    """Admins' words are nothing for others."""
    assert meant(text).command is command


def test_a_series_is_named_or_asked_for():
    """With one series it need not be named; with two it must be."""
    assert meant("订阅", TWO) == Order(Command.SUBSCRIBE)
    assert meant("订阅 芯片周报", TWO) == Order(Command.SUBSCRIBE, TWO[1])
    assert meant("退订chips", TWO) == Order(Command.UNSUBSCRIBE, TWO[1])
    assert meant("暂停 芯片周报 3天", TWO) == Order(Command.PAUSE, TWO[1], pause=3)


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("搜 推理", "推理"),
        ("搜推理", "推理"),
        ("/搜索：KV cache", "kv cache"),
        ("search  flash attention ", "flash attention"),
        ("帮我搜一下 谢谢", "谢谢"),
        ("搜 不要订阅", "不要订阅"),
        ("搜", ""),
        ("search", ""),
        ("搜索", ""),
    ],
)
def test_all_that_stands_behind_the_word_is_sought(text, query):
    """Politeness too: somebody may look for it."""
    assert meant(text) == Order(Command.SEARCH, rest=query)


@pytest.mark.parametrize(
    ("text", "pause"),
    [
        ("暂停", 3),
        ("pause", 3),
        ("暂停推送", 3),
        ("暂停 3天", 3),
        ("暂停3天", 3),
        ("暂停三天", 3),
        ("pause 3", 3),
        ("pause 10 days", 10),
        ("暂停一周", 7),
        ("暂停两个星期", 14),
        ("暂停十五天", 15),
        ("暂停半个月", 15),
        ("暂停一个月", 30),
        ("请暂停 5 天吧", 5),
        ("暂停到 3月12日", date(2025, 3, 12)),
        ("暂停到3月8日", date(2026, 3, 8)),
        ("暂停到 2025-03-20", date(2025, 3, 20)),
        ("pause until 2025-03-20", date(2025, 3, 20)),
        ("暂停到12号", date(2025, 3, 12)),
        ("暂停到9号", date(2025, 4, 9)),
        ("暂停到31号", date(2025, 3, 31)),
        ("暂停到明天", date(2025, 3, 10)),
        ("暂停到下周一", date(2025, 3, 10)),
        ("暂停到周三", date(2025, 3, 12)),
        ("暂停到2月29日", date(2028, 2, 29)),
    ],
)
def test_a_pause_is_days_or_the_day_of_coming_back(text, pause):
    """A day without its year is the next one of that name."""
    assert meant(text) == Order(Command.PAUSE, ONE[0], pause=pause)


@pytest.mark.parametrize("text", ["暂停到昨天", "暂停 abc", "暂停到2月30日", "暂停 0 天", "暂停到2025-13-01"])
def test_a_pause_that_is_not_understood_leads_to_the_calendar(text):
    """The settings have one."""
    assert meant(text).command is Command.SETTINGS


@pytest.mark.parametrize(
    ("text", "order"),
    [
        ("统计", Order(Command.FIGURES)),
        ("/补发 3月8日", Order(Command.RESEND, rest="3月8日")),
        ("补发 芯片周报 3月8日", Order(Command.RESEND, TWO[1], "3月8日")),
        ("预览 芯片周报", Order(Command.PREVIEW, TWO[1])),
        ("暂停推送", Order(Command.STOP_QUEUE)),
        ("恢复推送", Order(Command.START_QUEUE)),
        ("暂停 3天", Order(Command.PAUSE, pause=3)),
        ("订阅", Order(Command.SUBSCRIBE)),
    ],
)
def test_an_admin_has_words_of_their_own_and_everybody_elses(text, order):
    """「暂停推送」 of an admin stops everybody's; 「暂停 3天」 is their own."""
    assert meant(text, TWO, admin=True) == order


@given(st.text(max_size=3 * LONGEST))
def test_any_text_means_something_and_only_a_known_word_is_a_wish(text):
    """Never an error, never an admin's command for others."""
    order = meant(text, TWO)

    assert order.command not in ADMIN_WORDS.values()
    if order.command in {Command.SUBSCRIBE, Command.UNSUBSCRIBE}:
        assert any(word[:2] in text.casefold() or not text.isascii() for word in WORDS)


@given(st.integers(1, 99))
def test_a_number_of_days_is_read_in_digits_and_in_chinese(number):
    """As people write it up to 99."""
    digits = "零一二三四五六七八九"
    tens, ones = divmod(number, 10)
    written = (("" if tens == 1 else digits[tens]) + "十" if tens else "") + (digits[ones] if ones else "")

    assert pause_wish(f"{number}天", TODAY) == pause_wish(f"{written}天", TODAY) == number


@given(st.dates(date(2024, 1, 1), date(2030, 1, 1)), st.integers(1, 360))
def test_a_day_is_always_a_coming_one(today, ahead):
    """Whatever today is."""
    day = today + timedelta(days=ahead)

    assert pause_wish(f"到{day.month}月{day.day}日", today) == day
    assert pause_wish(f"到 {day.isoformat()}", today) == day
