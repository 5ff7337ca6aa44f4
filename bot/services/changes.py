"""Making planned changes of sent messages: patches and recalls, within the app's pace. It may die at any line."""

import asyncio
import contextlib
import logging
import random
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime, timedelta

from bot.cards.alert_card import Alert
from bot.domain.delivery import Accepted, next_step
from bot.domain.errors import AppError, SendError, TemporaryError
from bot.domain.rate import Rate
from bot.services.alert import Alerter
from bot.store import changes, pace, pauses
from bot.store.changes import Change, ChangeKind
from bot.store.engine import Store, Transaction

log = logging.getLogger(__name__)

CLAIMED = 32
AT_ONCE = 8
IDLE_S = 1.0
REST = timedelta(minutes=1)  # after a refusal of the app itself
LONGEST_LOOK_AHEAD_S = 2.0  # as senders have it: the pace is shared with them

Call = Callable[[Change], Awaitable[None]]  # raises SendError


class ChangesDeliverer:
    """The loop of one process that makes changes. Deliveries of other processes are not held up: the pace is one."""

    def __init__(
        self,
        store: Store,
        calls: Mapping[ChangeKind, Call],
        alerter: Alerter,
        clock: Callable[[], datetime],
        rate: Rate,
    ) -> None:
        """`calls`: what makes a change of each kind. A repeated one has to be harmless."""
        self._store = store
        self._calls = calls
        self._alerter = alerter
        self._clock = clock
        self._rate = rate
        self._lanes = asyncio.Semaphore(AT_ONCE)
        self._stopping = asyncio.Event()
        self._rest_until: datetime | None = None

    def stop(self) -> None:
        """Begin nothing more; `run` returns once what is under way is written."""
        self._stopping.set()

    async def run(self) -> None:
        """Make what is due until `stop`."""
        while not self._stopping.is_set():
            claims = await self._store.write(self._claim, self._clock())
            if claims:
                await asyncio.shield(self._make(claims))
            else:
                await self._pause(IDLE_S)

    async def _pause(self, seconds: float) -> None:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._stopping.wait(), seconds)

    def _claim(self, tx: Transaction, now: datetime) -> list[tuple[Change, float]]:
        """Changes with the seconds until each one's slot."""
        changes.revive(tx, now)
        rests = self._rest_until is not None and now < self._rest_until
        if rests or pauses.of_queue(tx, now) or pace.wait_s(tx, pace.APP, now) > LONGEST_LOOK_AHEAD_S:
            return []
        claims = changes.claim(tx, CLAIMED, now)
        if not claims:
            return []
        first_s = pace.reserve(tx, [pace.APP], len(claims), self._rate, now)[0]
        return [(one, max(0.0, first_s + n * self._rate.interval_s)) for n, one in enumerate(claims)]

    async def _make(self, claims: Sequence[tuple[Change, float]]) -> None:
        outcomes = await asyncio.gather(*(self._one(change, wait_s) for change, wait_s in claims))
        await self._store.write(self._settle, [one for one, _ in claims], outcomes, self._clock())

    async def _one(self, change: Change, wait_s: float) -> Accepted | SendError | None:
        await self._pause(wait_s)
        async with self._lanes:
            if self._stopping.is_set():
                return None
            try:
                await self._calls[change.kind](change)
            except SendError as exc:
                log.info("change_refused", extra={"kind": change.kind, "code": exc.code, "log_id": exc.log_id})
                return exc
            return Accepted(change.message_id)

    def _settle(
        self, tx: Transaction, claims: Sequence[Change], outcomes: Sequence[Accepted | SendError | None], now: datetime
    ) -> None:
        for change, outcome in zip(claims, outcomes, strict=True):
            step = next_step(change.attempt, outcome, now, random.random())
            if not changes.settle(tx, change, step, now):
                log.warning("lease_lost", extra={"change": change.id})
            if isinstance(outcome, TemporaryError) and outcome.whole_app:
                pace.hold(tx, pace.APP, outcome.retry_after_s or 0.0, now)
            if isinstance(outcome, AppError):
                self._rest_until = now + REST
                self._tell(tx, outcome, now)

    def _tell(self, tx: Transaction, error: AppError, now: datetime) -> None:
        alert = Alert(
            f"发出的消息改不了：{error.reason}（{error.code}）",
            "更正和撤回都先等着，一条没丢；新的消息照常发。",
            "到开发者后台开通「更新消息」「撤回消息」的权限并发布版本，会自动继续。",
            "digest-bot status",
        )
        self._alerter.tell(tx, f"changes:{error.code}", alert, now)
