"""What is running, due, late and paused: the shape of `status --json`."""

import calendar
from collections.abc import Sequence
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from bot import __version__
from bot.domain.audience import Kind
from bot.domain.schedule import is_pushed, next_push, window
from bot.domain.series import Series
from bot.store import editions, ledger, pauses, subscribers
from bot.store.engine import Store, Transaction

CHINA = ZoneInfo("Asia/Shanghai")  # where the platform counts calls


def status(store: Store, series: Sequence[Series], monthly_calls: int, now: datetime) -> dict[str, Any]:
    """Everything an operator asks first, in one snapshot."""
    return store.read_now(_status, series, monthly_calls, now)


def _status(tx: Transaction, series: Sequence[Series], monthly_calls: int, now: datetime) -> dict[str, Any]:
    people: dict[str, dict[str, int]] = {kind: {} for kind in Kind}
    for (kind, state), n in subscribers.counts(tx).items():
        people[kind][state] = n
    pause = pauses.of_queue(tx, now)
    return {
        "version": __version__,
        "role": "all",
        "series": [_series(tx, one, now) for one in series],
        "subscribers": people,
        "outbox": dict(ledger.counts(tx)),
        "queue": {
            "paused": pause is not None,
            "reason": pause.reason if pause else None,
            "oldest_due_s": round(ledger.oldest_due_s(tx, now)),
        },
        "quota": _quota(tx, monthly_calls, now),
    }


def _series(tx: Transaction, series: Series, now: datetime) -> dict[str, Any]:
    last = editions.find(tx, series.id, "latest")
    return {
        "id": series.id,
        "next_push_at": next_push(series.hours, now),
        "last_edition": last.name if last else None,
        "late": _late(tx, series, now),
    }


def _late(tx: Transaction, series: Series, now: datetime) -> bool:
    """Whether today's hour has passed and nothing went out since midnight."""
    local = now.astimezone(series.hours.zone)
    start, _ = window(series.hours, local.date())
    midnight = local.replace(hour=0, minute=0, second=0, microsecond=0)
    return (
        is_pushed(series.hours, local.date()) and now > start and not editions.published_since(tx, series.id, midnight)
    )


def _quota(tx: Transaction, limit: int, now: datetime) -> dict[str, Any]:
    """Accepted sends are what counts: refused calls are free. Source: feishu-platform notes 1.6."""
    local = now.astimezone(CHINA)
    first = local.replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    used = ledger.sent_since(tx, first)
    days = calendar.monthrange(local.year, local.month)[1]
    passed_days = max((local - first).total_seconds() / 86_400, 1.0)
    return {
        "month": f"{local:%Y-%m}",
        "used": used,
        "limit": limit,
        "forecast": round(used * days / passed_days),
    }
