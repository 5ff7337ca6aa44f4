"""Clockwork: a job is one service call with now. Correctness never rests on it: every call may run twice or late."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime

from apscheduler.schedulers.asyncio import AsyncIOScheduler
from apscheduler.triggers.cron import CronTrigger
from apscheduler.triggers.interval import IntervalTrigger

from bot.domain.series import Series

LOOK_EVERY_S = 30  # a late digest, or a window that opened while the process was down
TELL_EVERY_S = 5
CHORES_EVERY_S = 6 * 3600


def build_scheduler(
    series: Sequence[Series],
    publish_due: Callable[[], Awaitable[None]],
    chores: Callable[[], Awaitable[None]],
    tell: Callable[[], Awaitable[None]],
    at_work: set[asyncio.Task[object]],
) -> AsyncIOScheduler:
    """A scheduler with one job at each series' hour, one that looks again, and the daily chores.

    `tell`: asks and tells editors; it looks into the database alone, so it may look often. `at_work` holds the jobs
    that are running: a scheduler that is shut down cancels them, but does not wait until they have ended.
    """

    async def work(job: Callable[[], Awaitable[None]]) -> None:
        task = asyncio.current_task()
        assert task is not None
        at_work.add(task)
        try:
            await job()
        except asyncio.CancelledError:
            pass  # a stop in the middle of a job is no fault of it; the next start does it again
        finally:
            at_work.discard(task)

    scheduler = AsyncIOScheduler(
        timezone=UTC, job_defaults={"coalesce": True, "max_instances": 1, "misfire_grace_time": None}
    )
    for one in series:
        at = one.hours.push_at
        trigger = CronTrigger(hour=at.hour, minute=at.minute, second=1, timezone=one.hours.zone)
        scheduler.add_job(work, trigger, [publish_due], id=f"push:{one.id}")
    regular = {"look": (publish_due, LOOK_EVERY_S), "chores": (chores, CHORES_EVERY_S), "tell": (tell, TELL_EVERY_S)}
    for name, (job, every_s) in regular.items():
        trigger = IntervalTrigger(seconds=every_s)
        scheduler.add_job(work, trigger, [job], id=name, next_run_time=datetime.now(UTC))
    return scheduler
