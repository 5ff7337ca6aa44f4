"""What the database says about how the bot is: for whoever asks often, and has to have an answer be it there or not."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from bot.domain.audience import Kind, SubscriptionStatus
from bot.domain.delivery import Status
from bot.domain.quota import forecast
from bot.domain.schedule import next_push
from bot.domain.series import Series
from bot.services.status import is_late
from bot.store import lease, ledger, pauses, quota, revisions, subscribers
from bot.store.engine import Store, Transaction
from bot.store.glance import Glance

ANSWER_S = 2.0
# Totals look at every row. They are counted no more often than this, and never for more than a fiftieth of the time.
TOTALS_LAST = timedelta(seconds=15)
SHARE = 50


@dataclass(frozen=True, slots=True)
class NextPush:
    """`is_late`: the hour of the day's edition has passed without it."""

    series: str
    at: datetime
    is_late: bool


@dataclass(frozen=True, slots=True)
class Standing:
    """How things stand at a moment. `paused`: why the queue stands still; `led_until`: the lease of the scheduler."""

    revision: str
    paused: str | None
    oldest_due_s: float
    calls_used: int
    calls_forecast: int
    pushes: tuple[NextPush, ...]
    led_until: datetime | None


@dataclass(frozen=True, slots=True)
class Totals:
    """Counts of everything. `last_success`: when the platform last took a message."""

    deliveries: Mapping[Status, int]
    subscriptions: Mapping[tuple[Kind, SubscriptionStatus], int]
    last_success: datetime | None


class Vitals:
    """Answers within seconds; the same database tells every process the same."""

    def __init__(self, store: Store, series: Sequence[Series], monthly_calls: int) -> None:
        """`monthly_calls`: how many calls a month may have; 0: no cap."""
        self.monthly_calls = monthly_calls
        self._series = series
        self._quick, self._slow = Glance(store, ANSWER_S), Glance(store, ANSWER_S)
        self._totals: Totals | None = None
        self._good_until = datetime.min.replace(tzinfo=UTC)

    async def standing(self, now: datetime) -> Standing | None:
        """A few rows, found by their keys. None: the database does not answer."""
        return await self._quick.read(self._stands, now)

    async def totals(self, now: datetime) -> Totals | None:
        """The last counts, new ones where those are old and it does not take too long. None: there are none yet."""
        if now >= self._good_until:
            await self._slow.read(self._count, now)
        return self._totals

    def _stands(self, tx: Transaction, now: datetime) -> Standing:
        pause, used = pauses.of_queue(tx, now), quota.used(tx, now)
        return Standing(
            revisions.revision(tx) or "",
            pause.reason if pause else None,
            ledger.oldest_due_s(tx, now),
            used,
            forecast(used, now),
            tuple(NextPush(one.id, next_push(one.hours, now), is_late(tx, one, now)) for one in self._series),
            lease.until(tx, lease.SCHEDULER),
        )

    def _count(self, tx: Transaction, now: datetime) -> None:
        """Kept here, not returned: what took too long for one who asked is there for the next."""
        started = time.perf_counter()
        self._totals = Totals(ledger.counts(tx), subscribers.counts(tx), ledger.last_sent(tx))
        took = timedelta(seconds=time.perf_counter() - started)
        self._good_until = now + max(TOTALS_LAST, took * SHARE)
