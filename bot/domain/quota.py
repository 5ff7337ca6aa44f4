"""Calls of a month: the free edition allows a tenant so many, and none is left for the last days unless somebody looks.

Source: notice on monthly calls; feishu-platform notes 1.6. The platform counts in China's months.
"""

import calendar
from datetime import datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

CHINA: Final = ZoneInfo("Asia/Shanghai")
LEVELS: Final = (100, 90, 80)  # percent of the month's calls at which people are told


def month_of(now: datetime) -> str:
    """The month that a call counts for, `YYYY-MM`."""
    return f"{now.astimezone(CHINA):%Y-%m}"


def next_month(now: datetime) -> datetime:
    """When the platform begins to count anew."""
    local = now.astimezone(CHINA).replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    return (local + timedelta(days=32)).replace(day=1)


def forecast(used: int, now: datetime) -> int:
    """Calls at the end of the month if it goes on like this; the first day counts whole."""
    local = now.astimezone(CHINA)
    days = calendar.monthrange(local.year, local.month)[1]
    passed = local.day - 1 + (local.hour * 60 + local.minute) / 1440
    return round(used * days / max(passed, 1.0))


def level(used: int, limit: int) -> int:
    """The highest of LEVELS that is reached; 0 if none is, or if there is no limit."""
    return next((one for one in LEVELS if limit and used * 100 >= one * limit), 0)
