"""Delivering private copies many at a time: one call for up to two hundred people, counted afterwards."""

import asyncio
import contextlib
import logging
from collections.abc import Callable, Sequence
from datetime import datetime

from bot.domain.delivery import Accepted
from bot.domain.errors import ReceiverError, SendError
from bot.domain.rate import Rate
from bot.ports import BatchAccepted, BatchCaller
from bot.services.outcomes import Outcome, Outcomes
from bot.store import batches, claiming, pace, pauses
from bot.store.claiming import Claimed
from bot.store.engine import Store, Transaction

log = logging.getLogger(__name__)

IDLE_S = 1.0
ASK_EVERY_S = 60.0
PACE = "batch"  # the call has limits of its own
UNKNOWN_ID = ReceiverError(99992351, "找不到这个人")


class BatchDeliverer:
    """The batch lane of one process. One call at a time: a call reaches two hundred, and a doubt about it as many."""

    def __init__(
        self, store: Store, caller: BatchCaller, outcomes: Outcomes, clock: Callable[[], datetime], rate: Rate
    ) -> None:
        self._store = store
        self._caller = caller
        self._outcomes = outcomes
        self._clock = clock
        self._rate = rate
        self._stopping = asyncio.Event()

    def stop(self) -> None:
        """Begin no further call; `run` returns once the last one is written."""
        self._stopping.set()

    async def run(self) -> None:
        """Send what is due until `stop`, and ask now and then how far it is."""
        asked_at = self._clock()
        while not self._stopping.is_set():
            claims, wait_s = await self._store.write(self._claim, self._clock())
            if claims:
                await self._pause(wait_s)
                await asyncio.shield(self._deliver(claims))
                continue
            if (self._clock() - asked_at).total_seconds() >= ASK_EVERY_S:
                asked_at = self._clock()
                await self._ask()
            await self._pause(IDLE_S)

    async def _pause(self, seconds: float) -> None:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._stopping.wait(), seconds)

    def _claim(self, tx: Transaction, now: datetime) -> tuple[list[Claimed], float]:
        if pauses.of_queue(tx, now):
            return [], 0.0
        claims = claiming.claim_batch(tx, self._caller.room_for, now)
        return claims, max(0.0, pace.reserve(tx, [PACE], 1, self._rate, now)[0]) if claims else 0.0

    async def _deliver(self, claims: Sequence[Claimed]) -> None:
        """One call, written down whatever happens meanwhile."""
        if self._stopping.is_set():
            await self._store.write(self._outcomes.write, [(one, None) for one in claims], self._clock())
            return
        first = claims[0]
        answer: BatchAccepted | SendError
        try:
            answer = await self._caller.send([one.receiver.id for one in claims], first.body, first.rung)
        except SendError as exc:
            answer = exc
            log.warning("batch_refused", extra={"people": len(claims), "code": exc.code, "log_id": exc.log_id})
        await self._store.write(self._settle, claims, answer, self._clock())

    def _settle(
        self, tx: Transaction, claims: Sequence[Claimed], answer: BatchAccepted | SendError, now: datetime
    ) -> None:
        if isinstance(answer, ReceiverError):  # of somebody who is not named: one by one they are
            claiming.to_single(tx, claims, now)
            return
        if isinstance(answer, BatchAccepted):
            batches.save(tx, answer.message_id, claims[0].push_id, len(claims), now)
            log.info("batch_sent", extra={"people": len(claims), "invalid": len(answer.invalid_open_ids)})
        self._outcomes.write(tx, [_outcome(one, answer) for one in claims], now)

    async def _ask(self) -> None:
        for message_id in await self._store.read(batches.unfinished, self._clock()):
            try:
                progress = await self._caller.progress(message_id)
            except SendError as exc:
                log.warning("batch_progress_refused", extra={"code": exc.code, "log_id": exc.log_id})
                return
            await self._store.write(batches.note, message_id, progress, self._clock())


def _outcome(claimed: Claimed, answer: BatchAccepted | SendError) -> Outcome:
    if isinstance(answer, SendError):
        return claimed, answer
    if claimed.receiver.id in answer.invalid_open_ids:
        return claimed, UNKNOWN_ID
    return claimed, Accepted(answer.message_id)
