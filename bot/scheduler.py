"""Clockwork: a job is one service call with now. Correctness never rests on it: every call may run twice or late."""

from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime

from apscheduler.schedulers.asyncio import AsyncIOScheduler
from apscheduler.triggers.cron import CronTrigger
from apscheduler.triggers.interval import IntervalTrigger

from bot.domain.series import Series

LOOK_EVERY_S = 30  # a late digest, or a window that opened while the process was down


def build_scheduler(
    series: Sequence[Series],
    publish_due: Callable[[], Awaitable[None]],
    chores: Callable[[], Awaitable[None]],
) -> AsyncIOScheduler:
    """A scheduler with one job at each series' hour, one that looks again, and the daily chores."""
    scheduler = AsyncIOScheduler(
        timezone=UTC, job_defaults={"coalesce": True, "max_instances": 1, "misfire_grace_time": None}
    )
    for one in series:
        at = one.hours.push_at
        trigger = CronTrigger(hour=at.hour, minute=at.minute, second=1, timezone=one.hours.zone)
        scheduler.add_job(publish_due, trigger, id=f"push:{one.id}")
    scheduler.add_job(publish_due, IntervalTrigger(seconds=LOOK_EVERY_S), id="look", next_run_time=datetime.now(UTC))
    scheduler.add_job(chores, IntervalTrigger(hours=6), id="chores", next_run_time=datetime.now(UTC))
    return scheduler
