"""Delivering: claim, pace, send, record. The ledger is the only truth; this loop may die at any line."""

import asyncio
import contextlib
import logging
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from bot.domain.delivery import Accepted, next_step, put_back
from bot.domain.errors import AppError, CardError, ReceiverError, SendError, TemporaryError
from bot.domain.rate import Rate
from bot.log import bind
from bot.ports import CardSender
from bot.store import editions, ledger, outbox, pace, pauses, subscribers
from bot.store.engine import Store, Transaction
from bot.store.outbox import Claimed

log = logging.getLogger(__name__)

CLAIMED = 48  # held at once: enough to keep the lanes busy while a turn is written
LANES = 10  # on the wire at once: 50 a second at 200 ms each; the pool costs more with every further one
IDLE_S = 0.5
LONGEST_LOOK_AHEAD_S = 2.0  # a claim may wait for its slot no longer than this, so that leases stay short
REFUSALS_BEFORE_STOP = 3

Outcome = tuple[Claimed, Accepted | SendError | None]  # None: the request never left


@dataclass(frozen=True, slots=True)
class Turn:
    """Claims of one turn with the seconds each has to wait for its slot; `idle_s` is when to look again."""

    slots: list[tuple[Claimed, float]]
    idle_s: float = IDLE_S


class Deliverer:
    """The sending loop of one process. Each turn is one transaction: settle what has ended, claim what is next."""

    def __init__(
        self, store: Store, sender: CardSender, clock: Callable[[], datetime], rate: Rate, per_receiver: Rate
    ) -> None:
        self._store = store
        self._sender = sender
        self._clock = clock
        self._rate = rate
        self._per_receiver = per_receiver
        self._lanes = asyncio.Semaphore(LANES)
        self._news = asyncio.Event()
        self._ended: list[Outcome] = []
        self._claimed = 0
        self._stopping = False
        self._halted = False  # the platform said stop: claims that wait for their slot go back

    def wake(self) -> None:
        """There is something new to send."""
        self._news.set()

    def stop(self) -> None:
        """Claim nothing more; `run` returns once what is in flight has ended and is written."""
        self._stopping = True
        self._news.set()

    async def run(self) -> None:
        """Send what is due until `stop`. What has ended is written even if this is cancelled."""
        try:
            async with asyncio.TaskGroup() as tasks:
                while not self._stopping or self._claimed:
                    idle_s = await self._take_turn(tasks)
                    with contextlib.suppress(TimeoutError):
                        await asyncio.wait_for(self._news.wait(), idle_s)
        finally:
            await asyncio.shield(self._store.write(self._settle, self._ended, self._clock()))

    async def _take_turn(self, tasks: asyncio.TaskGroup) -> float:
        self._news.clear()
        ended, self._ended = self._ended, []
        room = 0 if self._stopping else CLAIMED - self._claimed + len(ended)
        turn = await asyncio.shield(self._store.write(self._turn, ended, room, self._clock()))
        self._claimed += len(turn.slots) - len(ended)
        self._halted &= not turn.slots
        for claimed, wait_s in turn.slots:
            tasks.create_task(self._deliver(claimed, wait_s))
        return turn.idle_s

    def _turn(self, tx: Transaction, ended: Sequence[Outcome], room: int, now: datetime) -> Turn:
        """Claim and reserve together, so that no slot is without a claim and no claim without a slot."""
        self._settle(tx, ended, now)
        outbox.revive(tx, now)
        if room == 0 or pauses.of_queue(tx, now):
            return Turn([])
        wait_s = pace.wait_s(tx, pace.APP, now)
        if wait_s > LONGEST_LOOK_AHEAD_S:
            return Turn([], wait_s - LONGEST_LOOK_AHEAD_S / 2)
        claims = outbox.claim(tx, room, now)
        if not claims:
            editions.finish(tx, now)
            return Turn([])
        first_s = pace.reserve(tx, [pace.APP], len(claims), self._rate, now)[0]
        keys = [f"{one.receiver.kind}:{one.receiver.id}" for one in claims]
        own_s = pace.reserve(tx, keys, 1, self._per_receiver, now)
        waits = [max(first_s + n * self._rate.interval_s, own, 0.0) for n, own in enumerate(own_s)]
        return Turn(list(zip(claims, waits, strict=True)))

    async def _deliver(self, claimed: Claimed, wait_s: float) -> None:
        outcome = None
        with bind(delivery=claimed.id, uuid=claimed.uuid, attempt=claimed.attempt.attempts):
            await asyncio.sleep(wait_s)
            async with self._lanes:
                if not (self._halted or self._stopping):
                    started = time.monotonic()
                    outcome = await self._attempt(claimed)
                    _report(claimed, outcome, time.monotonic() - started, wait_s)
        self._halted |= isinstance(outcome, AppError) or (isinstance(outcome, TemporaryError) and outcome.whole_app)
        self._ended.append((claimed, outcome))
        self._news.set()

    async def _attempt(self, claimed: Claimed) -> Accepted | SendError:
        try:
            return Accepted(await self._sender.send(claimed.receiver, claimed.body, claimed.uuid))
        except SendError as exc:
            return exc

    def _settle(self, tx: Transaction, ended: Sequence[Outcome], now: datetime) -> None:
        for claimed, outcome in ended:
            if outcome is None:
                outbox.settle(tx, claimed, put_back(claimed.attempt, now), now)
            elif outbox.settle(tx, claimed, next_step(claimed.attempt, outcome, now, random.random()), now):
                self._react(tx, claimed, outcome, now)
            else:
                log.warning("lease_lost", extra={"delivery": claimed.id})

    def _react(self, tx: Transaction, claimed: Claimed, outcome: Accepted | SendError, now: datetime) -> None:
        """What an outcome means beyond its own delivery."""
        match outcome:
            case ReceiverError():
                subscribers.pause(tx, claimed.receiver, outcome.reason, now)
                outbox.cancel(tx, claimed.receiver, outcome.reason)
            case AppError():
                self._pause_queue(tx, outcome, now)
            case TemporaryError() if outcome.whole_app:
                pace.hold(tx, pace.APP, outcome.retry_after_s or 0.0, now)
            case CardError() if claimed.push_id is not None:
                self._stop_bad_push(tx, claimed.push_id, outcome, now)

    def _pause_queue(self, tx: Transaction, error: AppError, now: datetime) -> None:
        if pauses.begin(tx, pauses.QUEUE, error.code, error.reason, now, error.until):
            log.error("queue_paused", extra={"code": error.code, "reason": error.reason, "until": error.until})

    def _stop_bad_push(self, tx: Transaction, push: int, error: CardError, now: datetime) -> None:
        """A refused card is refused for everybody: a few identical answers stop the rest, unsent."""
        if ledger.failures(tx, push, error.code) < REFUSALS_BEFORE_STOP:
            return
        if pauses.begin(tx, f"{pauses.PUSH}{push}", error.code, error.reason, now):
            log.error("push_stopped", extra={"push": push, "code": error.code, "reason": error.reason})


def _report(claimed: Claimed, outcome: Accepted | SendError, took_s: float, wait_s: float) -> None:
    """The one line of an attempt."""
    fields: dict[str, object] = {
        "push": claimed.push_id,
        "took_ms": round(took_s * 1000),
        "wait_ms": round(wait_s * 1000),
    }
    if isinstance(outcome, Accepted):
        log.info("delivery_sent", extra=fields)
        return
    fields |= {"code": outcome.code, "reason": outcome.reason, "log_id": outcome.log_id}
    level = logging.INFO if isinstance(outcome, TemporaryError) else logging.WARNING
    log.log(level, "delivery_refused", extra=fields)
