"""Days, ranges and labels out of titles and file names."""

import json
from datetime import date, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.reading.dates import read_title

from .test_reading_cases import SHARED, read

TABLE = SHARED / "cases" / "digests" / "date-titles.json"
ROWS = json.loads(TABLE.read_text(encoding="utf-8"))["rows"] if TABLE.exists() else []
TODAY = date(2025, 3, 10)


def days(title: str, today: date | None = TODAY) -> tuple[str | None, str | None]:
    """First and last day as ISO dates."""
    found = read_title(title, today)
    return found.day and found.day.isoformat(), found.day_end and found.day_end.isoformat()


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["title"])
def test_every_shared_title_gives_an_answer_that_a_reader_would(row):
    """Where no answer is listed, no day may be read."""
    # given
    today = datetime.fromisoformat(row["received_at"]).date()
    answers = [answer and tuple(answer) for answer in row["answers"] or [None]]

    # when
    found = days(row["title"], today)

    # then
    assert (found if found[0] else None) in answers
    if "edition" in row:
        assert read_title(row["title"], today).label == row["edition"]


@pytest.mark.parametrize(
    ("title", "day", "day_end"),
    [
        ("港湾日报（3月8-9日）", "2025-03-08", "2025-03-09"),
        ("港湾日报 2025 年 3 月 8 日", "2025-03-08", None),
        ("港湾日报 25年3月8日", "2025-03-08", None),
        ("三月八日至九日", "2025-03-08", "2025-03-09"),
        ("二〇二五年一月三十一日", "2025-01-31", None),
        ("港湾日报（３月８日）", "2025-03-08", None),
        ("港湾日报 3月8、9日", "2025-03-08", "2025-03-09"),
        ("20250308-0309", "2025-03-08", "2025-03-09"),
        ("20250308-20250309", "2025-03-08", "2025-03-09"),
        ("2025/3/8-3/10 周刊", "2025-03-08", "2025-03-10"),
        ("2025-03-08~09", "2025-03-08", "2025-03-09"),
        ("March 8-9, 2025", "2025-03-08", "2025-03-09"),
        ("8 Mar 2025", "2025-03-08", None),
        ("2025-03-08T08:00", "2025-03-08", None),
        ("早报 2025年4月12日 星期六 农历三月十五", "2025-04-12", None),
        ("2024年第12期 日报（2月8日）", "2024-02-08", None),
        ("灯塔日报（3月8日—2025年3月9日）", "2025-03-08", "2025-03-09"),
    ],
)
def test_a_day_is_read_however_it_is_written(title, day, day_end):
    """Chinese, English and numeric dates, full width and spelled out."""
    assert days(title) == (day, day_end)


@pytest.mark.parametrize(
    ("title", "today", "day", "day_end"),
    [
        ("港湾日报（3月11日）", date(2025, 3, 10), "2024-03-11", None),
        ("港湾日报（3月10日）", date(2025, 3, 10), "2025-03-10", None),
        ("港湾日报（12月31日）", date(2026, 1, 1), "2025-12-31", None),
        ("港湾日报（12月30日-1月2日）", date(2026, 1, 3), "2025-12-30", "2026-01-02"),
        ("港湾日报（12月30日-1月2日）", date(2025, 12, 31), "2025-12-30", "2026-01-02"),
        ("港湾日报（2月29日）", date(2025, 3, 10), "2024-02-29", None),
        ("港湾日报（2月29日）", date(2103, 3, 10), "2096-02-29", None),
    ],
)
def test_a_missing_year_is_the_nearest_that_is_not_in_the_future(title, today, day, day_end):
    """Over New Year and for leap days too."""
    assert days(title, today) == (day, day_end)


@pytest.mark.parametrize(
    "title",
    [
        "2025-13-08 早报",
        "2月30日早报",
        "3月9-8日早报",
        "3月9日-2月8日早报",
        "3月8、12日早报",
        "24小时内 10 条要闻",
        "灯塔日报：3.5 版特刊",
        "V2.0.2025.3 发布",
        "3月8种新品",
        "灯塔日报 2025年3月",
        "3月8日早报（3月10日补发）",
        "2025-03-08-12",
        "May 5 ways to sail",
        "News 5/6/2024",
        "",
    ],
)
def test_what_is_no_certain_day_is_none(title):
    """Impossible, backward, ambiguous or no date at all: null, never a guess."""
    assert days(title) == (None, None)


def test_month_and_day_in_slashes_are_told_apart_by_freshness():
    """Only the reading that is a few days old is taken; a range decides as well."""
    assert days("News 3/8/2025") == ("2025-03-08", None)
    assert days("News 8/3/2025") == ("2025-03-08", None)
    assert days("News 25/12/2024") == ("2024-12-25", None)
    assert days("News 8/20/2024-8/21/2024") == ("2024-08-20", "2024-08-21")


@pytest.mark.parametrize(
    ("title", "label", "name"),
    [
        ("港湾日报（ 3月8-9日学术篇）", "学术篇", "港湾日报"),
        ("港湾日报·学术篇（3月8日）", "学术篇", "港湾日报"),
        ("港湾日报学术篇 3月8日", "学术篇", "港湾日报"),
        ("港湾日报｜2025年3月8日-9日 周末合刊", "周末合刊", "港湾日报"),
        ("港湾日报（2025年3月8日，星期六）", None, "港湾日报"),
        ("港湾日报（3月8日 第12期）", None, "港湾日报"),
        ("早报 2025年3月8日 星期六 农历二月初九", None, "早报"),
        ("Harbour Daily Weekend Edition 2025-03-08", "Weekend Edition", "Harbour Daily"),
        ("港湾日报", None, "港湾日报"),
    ],
)
def test_the_label_is_what_else_stands_with_the_date(title, label, name):
    """Weekday, lunar date and number are no label."""
    # when
    found = read_title(title, TODAY)

    # then
    assert (found.label, found.name) == (label, name)


def test_without_arrival_a_missing_year_stays_unknown():
    """The title is still known to carry a date."""
    # when
    found = read_title("港湾日报（3月8日）", None)

    # then
    assert (found.day, found.dated) == (None, True)


@pytest.mark.parametrize(
    ("name", "day"),
    [
        ("港湾日报_20250307.txt", "2025-03-07"),
        ("archive/2025-03-07.txt", "2025-03-07"),
        ("C:\\digests\\2025.03.07.txt", "2025-03-07"),
        ("港湾日报（3月7日学术篇）.txt", "2025-03-07"),
        ("2025_03_07.v2.txt", "2025-03-07"),
        ("56d54c0120250307a5.txt", "2025-03-10"),
        ("2025-99-99.txt", "2025-03-10"),
    ],
)
def test_a_file_name_gives_the_day_where_the_text_has_none(name, day):
    """Else it is the day of arrival; both come with a warning."""
    # when
    reading = read("信号\n\n渡轮恢复夜航\n\n每小时一班。\n\nhttps://news.example.com/1", name=name)

    # then
    assert reading.digests[0].day == date.fromisoformat(day)
    assert [warning.code for warning in reading.warnings] == ["day_assumed"]


def test_the_day_in_the_text_wins_over_the_file_name():
    """The name may be of the day of export."""
    # when
    reading = read(
        "港湾日报 2025-03-08\n\n渡轮恢复夜航\n\n每小时一班。\n\nhttps://news.example.com/1", name="20250309.txt"
    )

    # then
    assert reading.digests[0].day == date(2025, 3, 8)
    assert reading.warnings == ()


def test_a_year_in_the_file_name_helps_a_title_without_one():
    """When nobody says when it arrived."""
    # when
    reading = read("港湾日报（3月8日）\n\n今天休息。", name="20240309.txt", received_at=None)

    # then
    assert reading.digests[0].day == date(2024, 3, 8)


def test_a_day_far_from_arrival_is_reported():
    """A year that was guessed, or one that was mistyped, should be seen."""
    # when
    stale = read("港湾日报（3月11日）\n\n今天休息。")
    ahead = read("港湾日报 2052-03-08\n\n今天休息。")

    # then
    assert [w.code for w in stale.warnings] == ["no_items", "day_assumed"]
    assert [w.code for w in ahead.warnings] == ["no_items", "day_assumed"]


@settings(deadline=None, max_examples=150, derandomize=True)
@given(
    st.text(alphabet="0123456789年月日号-/.~至到to—（）() 〇一二三十MarDec2025", max_size=60),
    st.dates(date(2001, 1, 1), date(2090, 1, 1)),
)
def test_no_text_gives_a_range_that_runs_backwards(title, today):
    """Whatever is written, the end is after the start, and a range is at most a month."""
    # when
    found = read_title(title, today)

    # then
    if found.day_end:
        assert found.day is not None
        assert 0 < (found.day_end - found.day).days <= 31
    if found.day and not found.has_year:
        assert found.day <= today
