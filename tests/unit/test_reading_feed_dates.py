"""Dates of entries: read as written, or not at all."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.reading.feed.dates import moment, without_future

SHANGHAI = ZoneInfo("Asia/Shanghai")


def utc(*parts):
    """A moment in UTC."""
    return datetime(*parts, tzinfo=UTC)


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("2026年11月29日 08:00", utc(2026, 11, 29)),
        ("2026年11月29日 星期日 下午3点05分", utc(2026, 11, 29, 7, 5)),
        ("2025/4/13 15:07:41", utc(2025, 4, 13, 7, 7, 41)),
        ("2025.4.13", utc(2025, 4, 12, 16)),
        ("2025-04-13T15:07:41Z", utc(2025, 4, 13, 15, 7, 41)),
        ("2025-04-13 15:07", utc(2025, 4, 13, 7, 7)),
        ("Thu, 03 Apr 25 00:01:01 +0800", utc(2025, 4, 2, 16, 1, 1)),
        ("Mo, 14 Apr 2025 11:41:36", utc(2025, 4, 14, 3, 41, 36)),
        ("星期一, 14 Apr 2025 11:41:36 GMT", utc(2025, 4, 14, 11, 41, 36)),
        ("周一, 14 4月 2025 11:41:36 +0800", utc(2025, 4, 14, 3, 41, 36)),
        ("Mon, 14 Apr 2025 11:41:36 CST", utc(2025, 4, 14, 3, 41, 36)),
        ("Mon, 14 Apr 2025 11:41:36 EST", utc(2025, 4, 14, 16, 41, 36)),
    ],
)
def test_a_date_is_read_in_any_form_that_feeds_write(written, expected):
    """One without a zone is local; weekdays say nothing that the date does not."""
    assert moment(written, SHANGHAI) == expected


@pytest.mark.parametrize(
    "written",
    ["3/4/2025", "13.4.2025", "0001-01-01T00:00:00Z", "1970-01-01", "2025-02-30", "昨天", "", None, 7, "9" * 999],
)
def test_a_date_that_is_not_certain_is_none(written):
    """3/4/2025 may be March or April; what programs write for never is no date."""
    assert moment(written, SHANGHAI) is None


@given(st.text(max_size=90))
def test_any_text_is_a_moment_or_none(written):
    """Never a traceback."""
    found = moment(written, SHANGHAI)
    assert found is None or found.tzinfo is UTC


def test_a_date_after_the_arrival_is_none():
    """It would keep the entry new for ever. Two days are let pass: zones are confused often."""
    arrived = datetime(2026, 3, 5, tzinfo=SHANGHAI)
    moments = [arrived, arrived + timedelta(days=1), arrived + timedelta(days=900), None]
    assert without_future(moments, arrived) == [*moments[:2], None, None]


def test_without_an_arrival_a_date_far_after_most_others_is_none():
    """All that can be known then."""
    moments = [utc(2026, 3, 4), utc(2026, 3, 5), utc(2090, 3, 5)]
    assert without_future(moments, None) == [*moments[:2], None]
