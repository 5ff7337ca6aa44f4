"""Which day's window is open, and which digests are due in it."""

from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest

from bot.domain.digest import Digest
from bot.domain.schedule import Days, Hours, due, next_push, open_day

SHANGHAI = ZoneInfo("Asia/Shanghai")
HOURS = Hours(time(8, 37), time(12), SHANGHAI)


def at(text: str) -> datetime:
    return datetime.fromisoformat(f"2025-03-{text}+08:00")


def digest(day: str, label: str | None = None, day_end: str | None = None) -> Digest:
    end = date.fromisoformat(f"2025-03-{day_end}") if day_end else None
    return Digest(day=date.fromisoformat(f"2025-03-{day}"), day_end=end, label=label)


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        ("10T08:36:59", None),
        ("10T08:37:00", 10),
        ("10T12:00:00", 10),
        ("10T12:00:01", None),
        ("10T23:59:59", None),
    ],
)
def test_the_window_is_open_from_push_at_to_wait_until(now, expected):
    """A restart inside the window catches up; outside it nothing goes without a human."""
    day = open_day(HOURS, at(now))

    assert (day.day if day else None) == expected


def test_a_window_may_pass_midnight():
    """A late series keeps the day on which its window opened."""
    night = Hours(time(23, 50), time(0, 30), SHANGHAI)

    assert open_day(night, at("11T00:10:00")) == date(2025, 3, 10)
    assert open_day(night, at("11T00:31:00")) is None


def test_no_weekend_for_a_workday_series():
    """2025-03-08 is a Saturday."""
    workdays = Hours(time(8, 37), time(12), SHANGHAI, Days.WORKDAYS)

    assert open_day(workdays, at("08T09:00:00")) is None
    assert next_push(workdays, at("07T09:00:00")) == at("10T08:37:00")


def test_the_zone_is_the_series_own():
    """08:37 in Shanghai is 00:37 UTC."""
    assert next_push(HOURS, datetime(2025, 3, 10, tzinfo=UTC)) == datetime(2025, 3, 10, 0, 37, tzinfo=UTC)


def test_a_weekend_digest_is_due_on_monday():
    """A range is news on its last day and for three days after."""
    weekend = digest("08", "学术篇", "09")

    assert due([(weekend, 1)], date(2025, 3, 10), []) == [(weekend, 1)]
    assert due([(weekend, 1)], date(2025, 3, 13), []) == []
    assert due([(weekend, 1)], date(2025, 3, 8), []) == [], "not before its end"


def test_two_labels_of_one_day_are_two_editions():
    """学术篇 and 资讯篇 both go, the published one not again."""
    both = [(digest("10", "资讯篇"), 1), (digest("10", "学术篇"), 2)]

    assert len(due(both, date(2025, 3, 10), [])) == 2
    assert due(both, date(2025, 3, 10), [(date(2025, 3, 10), "资讯篇")]) == [both[1]]


def test_a_full_folder_is_no_flood():
    """The first run takes the newest day only; later runs nothing older than what went out."""
    week = [(digest(f"{day:02}"), day) for day in range(1, 11)]

    assert [n for _, n in due(week, date(2025, 3, 10), [])] == [10]
    assert due(week, date(2025, 3, 10), [(date(2025, 3, 10), "")]) == []


def test_a_digest_of_tomorrow_waits():
    """An editor may lay out tomorrow's file today."""
    tomorrow = digest("11")

    assert due([(tomorrow, 1)], date(2025, 3, 10), []) == []
    assert due([(tomorrow, 1)], date(2025, 3, 10) + timedelta(days=1), []) == [(tomorrow, 1)]
