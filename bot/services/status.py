"""What is running, due, late and paused: the shape of `status --json`."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from bot import __version__
from bot.domain.audience import Kind
from bot.domain.quota import forecast, month_of
from bot.domain.schedule import Due, Verdict, next_push, what_is_due
from bot.domain.series import Series
from bot.store import editions, ledger, pauses, quota, subscribers
from bot.store.engine import Store, Transaction


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
        "late": is_late(tx, series, now),
    }


def is_late(tx: Transaction, series: Series, now: datetime) -> bool:
    """Whether the hour of the day's edition has passed without it, be there still time or not."""
    due: Due[str] = what_is_due(series.hours, now, (), editions.published(tx, series.id))
    return due.verdict in {Verdict.LATE, Verdict.OVER} and due.day == now.astimezone(series.hours.zone).date()


def _quota(tx: Transaction, limit: int, now: datetime) -> dict[str, Any]:
    used = quota.used(tx, now)
    return {"month": month_of(now), "used": used, "limit": limit, "forecast": forecast(used, now)}
