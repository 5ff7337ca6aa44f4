"""Which days are working days, and how a free stretch is told."""

import logging
from datetime import date

import pytest

from bot.domain.workdays import Holiday, Weekdays, rest_before
from bot.workdays import OfficialCalendar


@pytest.mark.parametrize(
    ("day", "is_workday"),
    [
        pytest.param("2026-09-30", True, id="a Wednesday"),
        pytest.param("2026-10-01", False, id="a Thursday that is free"),
        pytest.param("2026-10-04", False, id="a Sunday"),
        pytest.param("2026-10-10", True, id="a Saturday that is made up for"),
        pytest.param("2026-02-14", True, id="the one before Spring Festival"),
    ],
)
def test_the_official_calendar_knows_make_up_days(day, is_workday):
    """Holidays are free on weekdays, and paid for with weekends."""
    assert OfficialCalendar().is_workday(date.fromisoformat(day)) is is_workday


def test_the_operator_has_the_last_word():
    """Days that were set come first, also in a year that is known."""
    calendar = OfficialCalendar(workdays=[date(2026, 10, 1), date(2090, 1, 7)], holidays=[date(2026, 9, 30)])

    assert calendar.is_workday(date(2026, 10, 1))
    assert calendar.holiday(date(2026, 10, 1)) is None
    assert not calendar.is_workday(date(2026, 9, 30))
    assert calendar.is_workday(date(2090, 1, 7)), "a Saturday"


@pytest.mark.parametrize("year", [1990, 2090])
def test_an_unknown_year_has_weekends_only_and_is_warned_of_once(year, caplog):
    """What has not been announced is no error: the series goes out from Monday to Friday meanwhile."""
    calendar = OfficialCalendar()
    week = [date(year, 1, day) for day in range(1, 8)]

    with caplog.at_level(logging.WARNING):
        found = [calendar.is_workday(day) for day in week * 2]
        names = [calendar.holiday(day) for day in week]

    assert found == [day.weekday() < 5 for day in week * 2]
    assert names == [None] * 7
    assert [(record.message, record.year) for record in caplog.records] == [("holidays_unknown", year)]


@pytest.mark.parametrize(
    ("day", "zh", "en"),
    [
        pytest.param(
            "2026-10-08",
            "国庆假期（10月1日–7日）休刊，今天接着见。",
            "No issue over the National Day holiday (1–7 Oct). Good to be back.",
            id="a holiday",
        ),
        pytest.param(
            "2025-10-09",
            "国庆、中秋假期（10月1日–8日）休刊，今天接着见。",
            "No issue over the National Day and Mid-Autumn Festival holiday (1–8 Oct). Good to be back.",
            id="two in one",
        ),
        pytest.param(
            "2025-02-05",
            "春节假期（1月28日–2月4日）休刊，今天接着见。",
            "No issue over the Spring Festival holiday (28 Jan–4 Feb). Good to be back.",
            id="over the end of a month",
        ),
        pytest.param(
            "2025-01-02",
            "元旦假期（1月1日）休刊，今天接着见。",
            "No issue over the New Year holiday (1 Jan). Good to be back.",
            id="one day",
        ),
        pytest.param(
            "2026-03-09",
            "周末（3月7日–8日）休刊，今天接着见。",
            "No issue over the weekend (7–8 Mar). Good to be back.",
            id="a weekend",
        ),
    ],
)
def test_free_days_are_told_in_one_line(day, zh, en):
    """What a card says on the first day after them, in both languages."""
    rest = rest_before(OfficialCalendar(), date.fromisoformat(day))

    assert rest is not None
    assert (rest.zh, rest.en) == (zh, en)


def test_a_free_day_of_the_operator_s_own_has_no_name():
    """A company's day off is told by its date alone."""
    rest = rest_before(OfficialCalendar(holidays=[date(2026, 3, 11)]), date(2026, 3, 12))

    assert rest is not None
    assert (rest.zh, rest.en) == ("3月11日休刊，今天接着见。", "No issue on 11 Mar. Good to be back.")


def test_a_working_day_before_needs_no_word():
    """Nor does a Monday after a Sunday that was made up for."""
    assert rest_before(OfficialCalendar(), date(2026, 3, 11)) is None
    assert rest_before(OfficialCalendar(), date(2026, 1, 5)) is None


def test_every_day_of_known_years_is_either_work_or_free_with_a_reason():
    """Each holiday of the package has a name of ours, and no working day has one."""
    calendar, names = OfficialCalendar(), set()
    for number in range(date(2024, 1, 1).toordinal(), date(2026, 12, 31).toordinal() + 1):
        day = date.fromordinal(number)
        name = calendar.holiday(day)
        names.add(name)
        assert not (name and calendar.is_workday(day))
        assert name or calendar.is_workday(day) or not Weekdays().is_workday(day), f"{day} is free for no reason"

    assert names == {None, *Holiday}
