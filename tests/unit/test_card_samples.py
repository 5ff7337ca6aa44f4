"""Every card as readers and admins get it: bot/cards/*_card.py, samples.py, words.py."""

import html
import json
import re
from dataclasses import replace
from datetime import date, datetime, time, timedelta, timezone
from pathlib import Path

import pytest
from hypothesis import given, settings

from bot.cards import words
from bot.cards.actions import Missed, Resend, Review, SetPause, decode
from bot.cards.alert_card import Alert, alert_card
from bot.cards.history_card import Issue, history_card
from bot.cards.notice_cards import ADMIN_COMMANDS, help_card
from bot.cards.pause_card import paused_card
from bot.cards.preflight_card import Contact, DeadLink, Extent, Outline, Preflight, Repeat, Settled, preflight_card
from bot.cards.preflight_card import Decision as Verdict
from bot.cards.receipt_card import Failure, Receipt, Share, receipt_card
from bot.cards.render import Limits
from bot.cards.results_card import Hit, results_card
from bot.cards.samples import samples
from bot.cards.settings_card import settings_card
from bot.domain.audience import Density, Kind
from bot.domain.preference import Preference
from bot.sandbox.validator import check_card
from tests.builders import DAY, card_templates, make_series
from tests.unit.card_reader import contents, shown, tagged, tree
from tests.unit.test_card_text import HOSTILE

GOLDEN = Path(__file__).parents[1] / "golden" / "cards"
SAMPLES = {one.name: one for one in samples()}
LOOKED_AT = [name for name in SAMPLES if not name.startswith(("digest-", "welcome-")) and not name.endswith("-sparse")]
ZONE = timezone(timedelta(hours=8))
NOW = datetime(2025, 3, 8, 9, 0, tzinfo=ZONE)
SERIES = make_series()


def callbacks(card) -> dict[str, object]:
    found = (one for one in tagged(tree(card)) if one["tag"] == "button")
    values = ((one["text"]["content"], one["behaviors"][0].get("value")) for one in found)
    return {text: decode(value) for text, value in values if value is not None}


def text_of(card) -> str:
    found = (one["content"] for one in tagged(tree(card)) if one["tag"] in {"plain_text", "markdown"})
    return html.unescape("\n".join(found))


def make_settings(preference=Preference(), **changes):  # noqa: B008  frozen
    given = {
        "series": SERIES, "audience": Kind.USER, "preference": preference, "sections": ("模型", "行业"), "now": NOW,
        "next_at": datetime(2025, 3, 9, 8, 37, tzinfo=ZONE), **changes,
    }  # fmt: skip
    return settings_card(card_templates(), **given)


def fields(card) -> dict[str, dict]:
    return {one["name"]: one for one in tagged(tree(card)) if one.get("name") and one["tag"] != "button"}


def assert_sound(card) -> None:
    """The platform takes it, and it keeps our own limits."""
    report = check_card(card.body)
    assert (report.error, report.warnings) == (None, ())
    assert card.fits(Limits())


@pytest.mark.parametrize("name", SAMPLES)
def test_every_sample_is_a_card_that_the_platform_takes(name):
    """What operators' templates are tried on is right itself."""
    cards = SAMPLES[name].make(card_templates())

    assert cards
    for card in cards:
        assert_sound(card)


@pytest.mark.parametrize("name", LOOKED_AT)
def test_the_cards_look_as_they_did(name, request):
    """A change of a card is seen by a human."""
    (card,) = SAMPLES[name].make(card_templates())
    text = json.dumps(tree(card), ensure_ascii=False, indent=2, sort_keys=True) + "\n"
    path = GOLDEN / f"{name}.json"
    if request.config.getoption("--update-golden"):
        path.write_text(text, encoding="utf-8")

    assert text == path.read_text(encoding="utf-8")


def test_every_template_has_a_full_and_a_sparse_sample():
    """An operator's template is tried at both ends."""
    variants = {}
    for one in SAMPLES.values():
        variants.setdefault(one.template, []).append(one.name)

    folder = Path(__file__).parents[2] / "templates" / "cards"
    assert set(variants) == {path.name for path in folder.glob("[!_]*.j2")}
    assert all(len(names) > 1 and any(name.endswith("-sparse") for name in names) for names in variants.values())


def test_our_own_words_are_there_in_both_languages():
    """No Chinese is left in what an English client shows, but names and content from outside."""
    for name in ("settings-default", "pause-paused", "receipt-progress", "history-empty", "results-empty"):
        (card,) = SAMPLES[name].make(card_templates())
        english = [one["i18n_content"]["en_us"] for one in tagged(tree(card)) if "i18n_content" in one]
        left = re.findall(r"[\u4e00-\u9fff]+", " ".join(english))

        assert set(left) <= {"灯塔日报", "小报", "芯片周报", "量子计算"}, name


def test_the_form_shows_the_present_preference():
    """Saving without touching anything changes nothing."""
    preference = Preference(frozenset({"行业"}), Density.FULL, time(7, 10), "Asia/Tokyo", workdays=True)
    form = fields(make_settings(preference))

    assert form["sections"]["selected_values"] == ["行业"]
    chosen = {name: one["initial_option"] for name, one in form.items() if "initial_option" in one}
    assert chosen == {"density": "full", "slot": "07:10", "zone": "Asia/Tokyo", "days": "workdays"}
    for name, value in chosen.items():
        assert value in [option["value"] for option in form[name]["options"]]


def test_a_pause_is_offered_and_while_it_lasts_its_end():
    """Three days are skipped, that of the next one first; a pause that is over is none."""
    day = date(2025, 3, 12)

    assert callbacks(make_settings())["暂停 3 天"] == SetPause("daily", day)
    assert callbacks(make_settings(Preference(paused_until=day)))["现在恢复"] == SetPause("daily", None)
    assert "暂停 3 天" in callbacks(make_settings(Preference(paused_until=NOW.date())))


def test_a_groups_settings_are_the_groups():
    """The same form for the chat, with who set it up."""
    card = make_settings(audience=Kind.GROUP, set_by="管理员")

    assert "由 管理员 设置" in text_of(card)
    assert all(getattr(action, "group", True) for action in callbacks(card).values())


def test_a_custom_bots_settings_only_tell():
    """It cannot call back."""
    card = make_settings(audience=Kind.WEBHOOK, others=[SERIES])

    assert callbacks(card) == {}
    assert fields(card) == {}


def test_many_sections_and_series_are_bounded_and_counted():
    """The limits hold, nothing is left out silently, and what is chosen stays choosable."""
    names = [f"第{number}个栏目，名字很长" * 8 for number in range(90)]
    card = make_settings(Preference(frozenset({names[88]})), sections=names, others=[SERIES] * 40)

    assert_sound(card)
    assert "还有 60 个栏目没有列出" in text_of(card)
    assert "还有 34 个，发送「设置 名称」" in text_of(card)
    assert fields(card)["sections"]["selected_values"] == [names[88]]


def test_results_have_ways_to_both_neighbours_and_to_the_edition():
    """Paging carries the page that is wanted."""
    hit = Hit("标题", SERIES, "2025-03-08", DAY, "片段", "https://read.example.com/1")
    pages = {
        page: callbacks(results_card(card_templates(), query="推理", hits=[hit], total=18, today=DAY, page=page))
        for page in (1, 2, 3)
    }

    assert [set(one) for one in pages.values()] == [
        {"看这期", "下一页"},
        {"看这期", "上一页", "下一页"},
        {"看这期", "上一页"},
    ]
    assert pages[2]["下一页"].page == 3


def test_only_an_admins_help_tells_of_admin_commands():
    """Readers are not shown what they may not do."""
    (word, _), *_ = ADMIN_COMMANDS

    assert word in text_of(help_card(card_templates(), series=[SERIES], admin=True))
    assert word not in text_of(help_card(card_templates(), series=[SERIES]))


def make_preflight(**changes):
    return Preflight("daily/2025-03-08", 3, SERIES, DAY, **changes)


def test_a_preflight_asks_for_a_decision_about_this_revision_until_there_is_one():
    """Afterwards it says who took which, and has no buttons."""
    open_card = preflight_card(card_templates(), make_preflight())
    settled = preflight_card(card_templates(), make_preflight(), settled=Settled(Verdict.SKIP, "编辑", NOW))

    assert callbacks(open_card) == {
        text: Review("daily/2025-03-08", 3, decision)
        for text, decision in (
            ("通过", Verdict.APPROVE), ("只发给我", Verdict.PREVIEW), ("稍后", Verdict.LATER),
            ("今天跳过", Verdict.SKIP),
        )
    }  # fmt: skip
    assert callbacks(settled) == {}
    assert "今天跳过 · 编辑 · 3月8日 09:00" in text_of(settled)


def test_a_preflight_with_very_much_to_look_at_stays_small():
    """Long lists are bounded and say how much is left out."""
    many = tuple(f"第 {number} 条" * 30 for number in range(200))
    facts = make_preflight(
        outline=tuple(Outline(name, many) for name in many),
        dead_links=tuple(DeadLink(one, "https://read.example.com/" + "a" * 2_000, one) for one in many),
        textless=many, holes=many, contacts=tuple(Contact(one, one) for one in many),
        repeats=tuple(Repeat(one, DAY) for one in many),
        extents=tuple(Extent(one, 99, 9_999_999) for one in Density),
    )  # fmt: skip
    card = preflight_card(card_templates(), facts)

    assert_sound(card)
    assert text_of(card).count("　200**<font color='grey'>　只列前 5 处") == 5
    assert "还有 190 个栏目" in text_of(card)


def test_a_contact_is_shown_only_in_part():
    """The card that warns of the platform's audit must pass it."""
    card = preflight_card(card_templates(), make_preflight(contacts=(Contact("13800000000", "第一篇"),)))

    assert "13800000000" not in card.body
    assert "138•••00" in card.body


def test_too_few_calls_are_said_before_sending():
    """A quota that runs out in the middle of a push is no surprise."""
    assert "本月只剩 5 次调用" in text_of(preflight_card(card_templates(), make_preflight(calls=9, calls_left=5)))
    assert "本月只剩" not in text_of(preflight_card(card_templates(), make_preflight(calls=5, calls_left=5)))


def make_receipt(**changes):
    return Receipt("daily/2025-03-08", 7, SERIES, DAY, **{"shares": (Share(Kind.USER, Density.FULL, 999),), **changes})


@pytest.mark.parametrize(
    ("changes", "title", "actions"),
    [
        ({}, "全部送达", []),
        ({"unknown": 1}, "已发完，1 个没有回音", []),
        ({"failures": (Failure("群已禁言", 2),)}, "已发完，2 个没送到", [Missed.FAILED]),
        ({"unsent": 4}, "全部送达", [Missed.UNSENT]),
        ({"failures": (Failure("群已禁言", 2),), "open": 1}, "正在发送", []),
    ],
)
def test_a_receipt_offers_only_what_would_do_something(changes, title, actions):
    """No resend to those who have it, to those who may have it, or while it still goes out."""
    card = receipt_card(card_templates(), make_receipt(**changes))

    assert tree(card)["header"]["title"]["content"] == title
    assert list(callbacks(card).values()) == [Resend("daily/2025-03-08", 7, only) for only in actions]


def test_nearly_everybody_is_not_everybody():
    """99.9 % is not shown as 100 %."""
    assert "送达 99%" in text_of(receipt_card(card_templates(), make_receipt(failures=(Failure("群已禁言", 1),))))


def test_the_causes_of_failures_are_bounded():
    """The most frequent ones first."""
    failures = tuple(Failure(f"原因 {number}", number, "办法" * 200) for number in range(1, 31))
    card = receipt_card(card_templates(), make_receipt(failures=failures))

    assert_sound(card)
    assert "原因 30　30" in text_of(card)
    assert f"其他原因 {sum(range(1, 23))} 个" in text_of(card)


@settings(max_examples=40, deadline=None)
@given(HOSTILE, HOSTILE)
def test_what_comes_from_outside_is_text(one, other):
    """No name, title, reason, query or command becomes markup, and none makes a card that is refused."""
    series = make_series(f"日{one}")
    hit = Hit(one, series, "slug", DAY, other, other)
    facts = Preflight(
        "daily/x", 1, series, DAY, label=one, title=other, outline=(Outline(one, (other,)),), textless=(one,),
        dead_links=(DeadLink(one, other, other),), repeats=(Repeat(other, DAY),), contacts=(Contact(one, other),),
    )  # fmt: skip
    receipt = Receipt("daily/x", 1, series, DAY, label=other, failures=(Failure(one, 1, other),), fallbacks=((one, 1),))
    templates = card_templates()
    preference = Preference(frozenset({one or "x"}))
    for card in (
        make_settings(preference, series=series, sections=(other,), set_by=other, others=[series]),
        paused_card(templates, series=series, audience=Kind.USER, until=DAY, now=NOW),
        results_card(templates, query=one, hits=[hit, replace(hit, url="https://a.example.com/")], total=9, today=DAY),
        history_card(templates, series=series, issues=[Issue("slug", DAY, 1, None, one, other)], today=DAY),
        preflight_card(templates, facts, settled=Settled(Verdict.APPROVE, other, NOW)),
        receipt_card(templates, receipt),
        alert_card(templates, Alert(one, other, one, other), at=NOW),
    ):
        assert_sound(card)
        for markdown in contents(card):
            shown(markdown)


@pytest.mark.parametrize(
    ("said", "zh", "en"),
    [
        (words.day(date(2025, 3, 9), DAY), "明天", "tomorrow"),
        (words.day(date(2025, 3, 10), DAY), "3月10日 周一", "Mon 10 Mar"),
        (words.day(date(2026, 1, 2), DAY), "2026年1月2日 周五", "Fri 2 Jan 2026"),
        (words.span(date(2025, 3, 8), date(2025, 3, 9)), "3月8–9日", "8–9 Mar"),
        (words.span(date(2025, 3, 31), date(2025, 4, 1)), "3月31日–4月1日", "31 Mar–1 Apr"),
        (words.span(date(2024, 12, 31), None, DAY), "2024年12月31日", "31 Dec 2024"),
        (words.duration(59), "不到 1 分钟", "under a minute"),
        (words.duration(3_541), "59 分钟", "59 min"),
        (words.duration(3_595), "1 小时", "1 h"),
        (words.duration(5_400), "1 小时 30 分", "1 h 30 min"),
    ],
)
def test_days_and_durations_are_said_as_people_say_them(said, zh, en):
    """In both languages."""
    assert said == words.Words(zh, en)
