"""The preferences form and what it may say: bot/cards/forms.py, bot/domain/preference.py."""

from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.cards.forms import SLOTS, ZONES, offered_sections, offered_zones, preference_of
from bot.cards.settings_card import settings_card
from bot.domain.audience import Density, Kind, Selection
from bot.domain.errors import ActionError
from bot.domain.preference import LONGEST_PAUSE, Preference, may_pause_until
from bot.sandbox.card_elements import press
from tests.builders import card_templates, make_series
from tests.unit.card_reader import tree

TODAY = date(2025, 3, 8)
TODAY_NOON = datetime(2025, 3, 8, 12, tzinfo=UTC)
KNOWN = ("模型", "推理", "行业")
SERIES = make_series()
FULL = Preference(frozenset({"推理"}), Density.FULL, time(7, 10), "Asia/Tokyo", True, date(2025, 3, 20))
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
PREFERENCES = st.builds(
    Preference,
    sections=st.frozensets(st.sampled_from(KNOWN)),
    density=st.sampled_from(Density),
    slot=st.none() | st.sampled_from(SLOTS) | st.times().map(lambda one: one.replace(second=0, microsecond=0)),
    zone=st.none() | st.sampled_from(sorted(ZONES)) | st.just("Africa/Cairo"),
    workdays=st.booleans(),
    paused_until=st.none() | st.dates(TODAY + timedelta(days=1), TODAY + LONGEST_PAUSE),
)


def read(form_value, present=Preference(), known=KNOWN):  # noqa: B008  frozen
    return preference_of(form_value, present=present, sections=known, series=SERIES, today=TODAY)


@settings(max_examples=60, deadline=None)
@given(PREFERENCES)
def test_a_form_that_is_saved_untouched_changes_nothing(present):
    """What the card shows is what comes back, over the whole way through a client."""
    card = settings_card(
        card_templates(),
        series=SERIES,
        audience=Kind.USER,
        preference=present,
        sections=KNOWN,
        next_at=None,
        now=TODAY_NOON,
    )

    assert read(press(tree(card), "save")["form_value"], present) == present


def test_everything_that_is_filled_in_is_taken():
    """As the platform sends it, with an offset behind the day."""
    form_value = {
        "sections": ["模型", "行业"],
        "density": "brief",
        "slot": "09:00",
        "zone": "Europe/London",
        "days": "workdays",
        "pause": "2025-03-12 +0800",
    }

    assert read(form_value) == Preference(
        frozenset({"模型", "行业"}), Density.BRIEF, time(9), "Europe/London", True, date(2025, 3, 12)
    )


@pytest.mark.parametrize("empty", ["", []])
def test_no_section_chosen_means_all(empty):
    """Also for somebody who had chosen some."""
    assert read({"sections": empty}, FULL).sections == frozenset()


def test_the_defaults_can_be_chosen_again():
    """The series' hour and zone, every day, no pause."""
    cleared = read({"slot": "default", "zone": "default", "days": "daily", "pause": ""}, FULL)

    assert cleared == Preference(FULL.sections, FULL.density)


def test_a_field_that_did_not_come_stays_as_it_is():
    """An older card has fewer fields."""
    assert read({}, FULL) == FULL
    assert read({"density": "brief"}, FULL) == replace(FULL, density=Density.BRIEF)


def test_a_pause_that_has_ended_is_no_error_in_an_old_card():
    """It is simply over."""
    present = Preference(paused_until=TODAY)

    assert read({"pause": f"{TODAY}"}, present).paused_until is None


@pytest.mark.parametrize(
    ("form_value", "line"),
    [
        (None, "没有看懂这份设置"),
        ([], "没有看懂这份设置"),
        ({"admin": "1"}, "没有看懂这份设置"),
        ({"sections": ["秘密"]}, "改名"),
        ({"sections": "模型"}, "没有看懂所选的栏目"),
        ({"sections": [["模型"]]}, "没有看懂所选的栏目"),
        ({"density": "huge"}, "内容多少"),
        ({"density": ["brief"]}, "内容多少"),
        ({"slot": "25:00"}, "送达时间"),
        ({"slot": "9:00"}, "送达时间"),
        ({"slot": 9}, "送达时间"),
        ({"zone": "Mars/Base"}, "时区"),
        ({"days": "sometimes"}, "哪些天"),
        ({"pause": "soon"}, "没有看懂暂停到哪天"),
        ({"pause": "2025-02-30 +0800"}, "没有看懂暂停到哪天"),
        ({"pause": "2025-03-08 +0800"}, "明天以后"),
        ({"pause": "2027-01-01 +0800"}, "一年以内"),
    ],
)
def test_what_is_odd_is_refused_with_a_line_that_helps(form_value, line):
    """Nothing is guessed, and nothing of it is saved."""
    with pytest.raises(ActionError, match=line):
        read(form_value)


@settings(max_examples=200, deadline=None)
@given(st.dictionaries(st.sampled_from(["sections", "density", "slot", "zone", "days", "pause"]), _JSON) | _JSON)
def test_any_form_value_gives_a_preference_or_a_kind_line(form_value):
    """A forged one included."""
    try:
        line = ""
        assert isinstance(read(form_value), Preference)
    except ActionError as error:
        line = str(error)
    assert not line or "请" in line


def test_a_section_that_is_no_longer_known_can_be_kept_or_dropped():
    """A subscriber chose it once; it may come back."""
    present = Preference(frozenset({"停了的栏目"}))

    assert offered_sections(KNOWN, present) == (*KNOWN, "停了的栏目")
    assert read({"sections": ["停了的栏目"]}, present).sections == {"停了的栏目"}


def test_the_series_own_zone_is_offered_once():
    """As the default."""
    series = make_series(hours=replace(SERIES.hours, zone=ZoneInfo("Asia/Shanghai")))

    assert "Asia/Shanghai" not in offered_zones(series, Preference())
    assert offered_zones(series, Preference(zone="Africa/Cairo"))[-1] == "Africa/Cairo"


def test_a_pause_ends_on_its_day():
    """That day's issue comes again."""
    assert FULL.is_paused(date(2025, 3, 19))
    assert not FULL.is_paused(date(2025, 3, 20))
    assert not FULL.resumed().is_paused(TODAY)
    assert [may_pause_until(TODAY + timedelta(days=days), TODAY) for days in (0, 1, 366, 367)] == [
        False, True, True, False,
    ]  # fmt: skip


def test_a_preference_selects_sections_and_density():
    """For the audience that it is."""
    assert FULL.selection(Kind.GROUP) == Selection(frozenset({"推理"}), Density.FULL, Kind.GROUP)


@pytest.mark.parametrize("wrong", [{"slot": time(8, 37, 1)}, {"zone": ""}, {"zone": "a b"}, {"sections": {""}}])
def test_a_preference_that_nobody_can_have_is_refused(wrong):
    """A wrong value stops where it is made."""
    with pytest.raises(ValueError, match=r"a (slot|zone|section)"):
        Preference(**wrong)
