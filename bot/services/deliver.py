"""Delivering: claim, pace, send, record. The ledger is the only truth; this loop may die at any line."""

import asyncio
import contextlib
import hashlib
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.domain.audience import Kind
from bot.domain.delivery import Accepted
from bot.domain.errors import AppError, SendError, TemporaryError
from bot.domain.rate import Rate
from bot.log import bind
from bot.ports import CardSender
from bot.services.calls import CallCounter
from bot.services.outcomes import Outcome, Outcomes
from bot.store import claiming, editions, pace, pauses
from bot.store.claiming import Claimed
from bot.store.engine import Store, Transaction

log = logging.getLogger(__name__)

CLAIMED = 48  # held at once: enough to keep the lanes busy while a turn is written
FEW = CLAIMED // 2  # while more are in hand, what was sent is written many at a time
LANES = 10  # on the wire at once: 50 a second at 200 ms each; the pool costs more with every further one
IDLE_S = 0.5
# No claim is made while the next slot is further off, and no more of them than have a slot in that time: what is
# claimed cannot be taken back, by a stop or by another process, before its slot comes.
LONGEST_LOOK_AHEAD_S = 3.0
HOOK_RATE = Rate.within(4, 90)  # of one custom bot: 5 a second and 100 a minute are allowed (custom bot guide, 2025-03)


@dataclass(frozen=True, slots=True)
class Turn:
    """Claims of one turn with the seconds each has to wait for its slot; `idle_s` is when to look again.

    `halts`: the platform said stop, to us or to another process.
    """

    slots: list[tuple[Claimed, float]]
    idle_s: float = IDLE_S
    halts: bool = False


class Deliverer:
    """The sending loop of one process. Each turn is one transaction: settle what has ended, claim what is next."""

    def __init__(
        self,
        store: Store,
        senders: Mapping[Kind, CardSender],
        outcomes: Outcomes,
        calls: CallCounter,
        clock: Callable[[], datetime],
        rate: Rate,
        per_receiver: Rate,
    ) -> None:
        self._store = store
        self._senders = senders
        self._outcomes = outcomes
        self._calls = calls
        self._clock = clock
        self._rate = rate
        self._per_receiver = per_receiver
        self._most = min(CLAIMED, max(1, int(LONGEST_LOOK_AHEAD_S / rate.interval_s)))
        self._lanes = asyncio.Semaphore(LANES)
        self._news = asyncio.Event()
        self._ended: list[Outcome] = []
        self._in_hand = 0  # claimed and not ended
        self._stopping = False
        self._halted = False  # the platform said stop: claims that wait for their slot go back
        self.turns_at: datetime | None = None
        """When `run` means to take its next turn, at the latest; None where it does not run."""

    def wake(self) -> None:
        """There is something new to send."""
        self._news.set()

    def stop(self) -> None:
        """Claim nothing more; `run` returns once what is in flight has ended and is written."""
        self._stopping = True
        self._news.set()

    async def run(self) -> None:
        """Send what is due until `stop`. What has ended is written even if this is cancelled."""
        self.turns_at = self._clock()
        try:
            async with asyncio.TaskGroup() as tasks:
                while not self._stopping or self._in_hand or self._ended:
                    idle_s = await self._take_turn(tasks)
                    with contextlib.suppress(TimeoutError):
                        await asyncio.wait_for(self._news.wait(), idle_s)
        finally:
            await asyncio.shield(self._store.write(self._outcomes.write, self._ended, self._clock()))

    async def _take_turn(self, tasks: asyncio.TaskGroup) -> float:
        self._news.clear()
        ended, self._ended = self._ended, []
        room = 0 if self._stopping else self._most - self._in_hand
        turn = await asyncio.shield(self._store.write(self._turn, ended, room, self._clock()))
        self._in_hand += len(turn.slots)
        self._halted = turn.halts or (self._halted and not turn.slots)
        for claimed, wait_s in turn.slots:
            tasks.create_task(self._deliver(claimed, wait_s))
        self.turns_at = self._clock() + timedelta(seconds=turn.idle_s)
        return turn.idle_s

    def _turn(self, tx: Transaction, ended: Sequence[Outcome], room: int, now: datetime) -> Turn:
        """Claim and reserve together, so that no slot is without a claim and no claim without a slot."""
        self._outcomes.write(tx, ended, now)
        self._calls.write(tx, now)
        claiming.revive(tx, now)
        pause = pauses.of_queue(tx, now)
        if pause and not pause.is_by_hand:
            return Turn([], halts=True)
        if room <= 0:
            return Turn([])
        wait_s = pace.wait_s(tx, pace.APP, now)
        if wait_s > LONGEST_LOOK_AHEAD_S:
            return Turn([], wait_s - LONGEST_LOOK_AHEAD_S / 2)
        claims = claiming.claim(tx, room, now, pushed=pause is None)
        if not claims:
            editions.finish(tx, now)
            return Turn([])
        return Turn(self._slots(tx, claims, now))

    def _slots(self, tx: Transaction, claims: Sequence[Claimed], now: datetime) -> list[tuple[Claimed, float]]:
        """Each claim with the seconds until its slot: the app's own next one, and its receiver's."""
        hooks = [one for one in claims if one.receiver.kind is Kind.WEBHOOK]
        slots = list(zip(hooks, _reserved(tx, hooks, HOOK_RATE, now), strict=True))
        calls = [one for one in claims if one.receiver.kind is not Kind.WEBHOOK]
        if calls:
            first_s = pace.reserve(tx, [pace.APP], len(calls), self._rate, now)[0]
            for number, (one, own_s) in enumerate(
                zip(calls, _reserved(tx, calls, self._per_receiver, now), strict=True)
            ):
                slots.append((one, max(first_s + number * self._rate.interval_s, own_s)))
        return [(one, max(wait_s, 0.0)) for one, wait_s in slots]

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
        self._in_hand -= 1
        if self._in_hand <= FEW or not isinstance(outcome, Accepted):
            self._news.set()

    async def _attempt(self, claimed: Claimed) -> Accepted | SendError:
        if not claimed.attempt.may_go(self._clock()):  # it lay too long, behind a pause or while nothing ran
            return TemporaryError(0, "上次发送结果未知，再发可能重复")
        try:
            sender = self._senders[claimed.receiver.kind]
            return Accepted(await sender.send(claimed.receiver, claimed.body, claimed.uuid, claimed.rung))
        except SendError as exc:
            return exc


def _reserved(tx: Transaction, claims: Sequence[Claimed], rate: Rate, now: datetime) -> list[float]:
    """Seconds until each receiver may get its next message. A webhook's address is no name for a row."""
    ids = [one.receiver.id for one in claims]
    keys = [hashlib.sha256(one.encode()).hexdigest() if rate is HOOK_RATE else one for one in ids]
    return pace.reserve(tx, keys, 1, rate, now) if keys else []


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
