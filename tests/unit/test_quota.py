"""The month's calls: counted in China's months, forecast, and told in time."""

from datetime import UTC, datetime

import pytest

from bot.domain.quota import forecast, level, month_of, next_month


def at(text: str) -> datetime:
    return datetime.fromisoformat(text)


def test_a_month_begins_when_it_begins_in_china():
    """The evening of the 31st in UTC is the first in Shanghai."""
    assert month_of(at("2026-10-31T15:59:59+00:00")) == "2026-10"
    assert month_of(at("2026-10-31T16:00:00+00:00")) == "2026-11"


@pytest.mark.parametrize(
    "text", ["2026-01-31T23:59:00+08:00", "2026-02-01T00:00:00+08:00", "2026-12-15T12:00:00+08:00"]
)
def test_the_next_month_is_ahead_and_begins_at_midnight(text):
    """99991403 is lifted then, not a minute before."""
    begin = next_month(at(text))

    assert begin > at(text)
    assert (begin.day, begin.hour, begin.minute) == (1, 0, 0)
    assert month_of(begin) != month_of(at(text))
    assert month_of(datetime.fromtimestamp(begin.timestamp() - 1, UTC)) == month_of(at(text))


@pytest.mark.parametrize(
    ("used", "text", "expected"),
    [
        (100, "2026-11-11T00:00:00+08:00", 300),  # ten of thirty days
        (100, "2026-11-01T02:00:00+08:00", 3000),  # a first push must not look like twelve a day
        (0, "2026-11-20T00:00:00+08:00", 0),
    ],
)
def test_the_forecast_goes_on_at_the_same_pace(used, text, expected):
    """What an operator would reckon with a pencil."""
    assert forecast(used, at(text)) == expected


@pytest.mark.parametrize(
    ("used", "limit", "expected"),
    [(7999, 10000, 0), (8000, 10000, 80), (9500, 10000, 90), (12000, 10000, 100), (5, 0, 0)],
)
def test_a_level_is_reached_and_not_before(used, limit, expected):
    """No limit, no level."""
    assert level(used, limit) == expected
