"""Welcome, subscribed, goodbye and help: bot/cards/notice_cards.py."""

from dataclasses import replace
from datetime import UTC, time

import pytest
from hypothesis import given, settings

from bot.cards.actions import SetGroupSubscription, SetSubscription, ShowSettings, UndoLeave, encode
from bot.cards.notice_cards import COMMANDS, goodbye_card, help_card, subscribed_card, welcome_card
from bot.cards.render import Limits
from bot.cards.templates import CardTemplates
from bot.domain.audience import Density, Kind
from bot.domain.preference import Preference
from bot.domain.schedule import Days, Hours
from tests.builders import make_series
from tests.unit.card_reader import assert_golden, assert_legal, buttons, contents, shown, tagged, tree
from tests.unit.test_card_text import HOSTILE

TEMPLATES = CardTemplates()
SERIES = make_series(colour="turquoise")
OTHER = make_series("芯片周报", id="weekly")
CONFIGURED = make_series(hours=Hours(time(8, 37), time(12), UTC, Days.WORKDAYS))


def callbacks(card):
    found = (one for one in tagged(tree(card)) if one["tag"] == "button")
    return [(one["text"]["content"], one["behaviors"][0].get("value")) for one in found]


def words(card) -> str:
    return " ".join(shown(one) for one in contents(card))


def test_welcome_offers_each_series_to_a_person():
    """One tap subscribes."""
    card = welcome_card(TEMPLATES, series=[SERIES, OTHER], bot_name="灯塔", audience=Kind.USER)

    assert tree(card)["header"]["title"]["content"] == "你好，我是灯塔"
    assert callbacks(card) == [
        ("订阅社区精选", encode(SetSubscription("daily", on=True))),
        ("订阅社区精选", encode(SetSubscription("weekly", on=True))),
    ]
    assert "灯塔日报" in words(card)
    assert "芯片周报" in words(card)


def test_welcome_in_a_group_offers_the_group_and_the_person():
    """Two different subscriptions, and who may decide for the group."""
    card = welcome_card(TEMPLATES, series=[SERIES], bot_name="灯塔", audience=Kind.GROUP)

    assert callbacks(card) == [
        ("为本群订阅", encode(SetGroupSubscription("daily", on=True))),
        ("订阅社区精选", encode(SetSubscription("daily", on=True))),
    ]
    assert "群主" in card.body


def test_the_main_button_of_a_welcome_is_big_and_filled():
    """Nobody has to search for it."""
    card = welcome_card(TEMPLATES, series=[SERIES], bot_name="灯塔", audience=Kind.USER)

    (button,) = (one for one in tagged(tree(card)) if one["tag"] == "button")
    assert (button["type"], button["width"]) == ("primary_filled", "fill")


def test_welcome_says_when_a_configured_series_comes():
    """Hour and days."""
    card = welcome_card(TEMPLATES, series=[CONFIGURED], bot_name="灯塔", audience=Kind.USER)

    assert "灯塔日报　每个工作日 08:37" in words(card)


def test_many_series_are_capped_with_a_count():
    """The limits hold, and nothing is left out silently."""
    wide = replace(SERIES, name="很长的名字" * 30, community_url="https://team.example.com/" + "w" * 300)
    many = [replace(wide, id=f"{number:64}") for number in range(200)]

    for card in (
        welcome_card(TEMPLATES, series=many, bot_name="灯塔", audience=Kind.GROUP),
        help_card(TEMPLATES, series=many),
    ):
        assert card.fits(Limits())
        assert "还有 190 个日报" in card.body


@pytest.mark.parametrize(
    ("audience", "already", "title", "button"),
    [
        (Kind.USER, False, "订阅成功", ("退订", encode(SetSubscription("daily", on=False)))),
        (Kind.USER, True, "已经订阅过了", ("退订", encode(SetSubscription("daily", on=False)))),
        (Kind.GROUP, False, "订阅成功", ("停止推送", encode(SetGroupSubscription("daily", on=False)))),
    ],
)
def test_subscribed_says_when_it_comes_and_how_to_leave(audience, already, title, button):
    """The answer to subscribing."""
    card = subscribed_card(TEMPLATES, series=SERIES, audience=audience, already=already)

    assert tree(card)["header"]["title"]["content"] == title
    assert "每天 08:37" in words(card)
    assert callbacks(card) == [button]


@pytest.mark.parametrize(
    ("audience", "action"),
    [(Kind.USER, SetSubscription("daily", on=True)), (Kind.GROUP, SetGroupSubscription("daily", on=True))],
)
def test_goodbye_leaves_a_way_back(audience, action):
    """One tap undoes it."""
    card = goodbye_card(TEMPLATES, series=SERIES, audience=audience)

    assert callbacks(card) == [("重新订阅", encode(action))]


@pytest.mark.parametrize(("audience", "group"), [(Kind.USER, False), (Kind.GROUP, True)])
def test_leaving_can_be_undone_with_everything_that_was_set(audience, group):
    """The button wants the subscription as it was."""
    card = goodbye_card(TEMPLATES, series=SERIES, audience=audience, undo=True)

    ((_, value),) = callbacks(card)
    assert value == encode(UndoLeave("daily", group=group))
    assert "10 分钟内撤销" in card.body


def test_subscribed_says_what_was_chosen_and_where_to_change_it():
    """The own hour counts, not the series'."""
    preference = Preference(frozenset({"模型"}), Density.BRIEF, time(7, 30), workdays=True)
    card = subscribed_card(TEMPLATES, series=SERIES, audience=Kind.USER, already=False, preference=preference)

    assert "每个工作日 07:30" in words(card)
    assert "「模型」 · 只看标题" in card.body
    assert ("设置", encode(ShowSettings("daily"))) in callbacks(card)


def test_help_lists_the_words_and_has_both_buttons():
    """What the bot understands, as long as it is short."""
    card = help_card(TEMPLATES, series=[SERIES])

    assert all(word in words(card) for word, _ in COMMANDS)
    assert [text for text, _ in callbacks(card)] == ["订阅社区精选", "退订"]


def test_a_custom_bots_cards_have_no_callbacks():
    """They could not call back."""
    series = replace(SERIES, community_url="https://team.example.com/")
    for card in (
        welcome_card(TEMPLATES, series=[series], bot_name="灯塔", audience=Kind.WEBHOOK),
        subscribed_card(TEMPLATES, series=series, audience=Kind.WEBHOOK, already=False),
        goodbye_card(TEMPLATES, series=series, audience=Kind.WEBHOOK),
    ):
        assert_legal(card)
        assert set(buttons(card)) <= {"社区"}


@settings(max_examples=60, deadline=None)
@given(HOSTILE, HOSTILE)
def test_names_are_text(name, bot_name):
    """No name of a series or bot becomes markup."""
    series = make_series(f"日{name}", community_url="https://team.example.com/")
    for audience in Kind:
        for card in (
            welcome_card(TEMPLATES, series=[series, series], bot_name=bot_name, audience=audience),
            subscribed_card(TEMPLATES, series=series, audience=audience, already=True),
            goodbye_card(TEMPLATES, series=series, audience=audience),
            help_card(TEMPLATES, series=[series]),
        ):
            assert_legal(card)
            words(card)
            assert "<at" not in card.body


@pytest.mark.parametrize("audience", Kind)
def test_the_notices_look_as_they_did(audience, request):
    """A change of a card is seen by a human."""
    series = replace(SERIES, community_url="https://team.example.com/wiki")
    cards = {
        "welcome": welcome_card(TEMPLATES, series=[CONFIGURED], bot_name="灯塔", audience=audience),
        "subscribed": subscribed_card(TEMPLATES, series=series, audience=audience, already=False),
        "goodbye": goodbye_card(TEMPLATES, series=series, audience=audience),
    }
    for name, card in cards.items():
        assert_golden(card, f"{name}-{audience}", request)


def test_the_help_looks_as_it_did(request):
    """A change of a card is seen by a human."""
    assert_golden(help_card(TEMPLATES, series=[SERIES, OTHER]), "help", request)
