"""Life of one delivery: its states, and the one decision after each attempt.

    pending ──claim──▶ sending ──yes──▶ sent
       ▲                  │
       ├──temporary───────┤
       └──lapsed lease────┤──no─────▶ failed · cancelled
                          └──can't be known──▶ unknown   (never resent by machine)

The row is committed before the request leaves, so a crash at any line ends in `sending` with a lease, never in nothing.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from bot.domain.errors import AppError, SendError, TemporaryError

MAX_ATTEMPTS = 8
FIRST_WAIT_S = 5.0
LONGEST_WAIT_S = 600.0
# The platform drops a repeated uuid for one hour after the first success; ten minutes are kept for its own delays.
# Source: feishu-platform notes 2.3.
SAME_UUID_HOLDS = timedelta(minutes=50)
LEASE = timedelta(seconds=60)


class Status(StrEnum):
    """States of the ledger."""

    PENDING = "pending"
    SENDING = "sending"
    SENT = "sent"
    FAILED = "failed"
    UNKNOWN = "unknown"
    CANCELLED = "cancelled"
    SKIPPED = "skipped"


class Lane(StrEnum):
    """How a delivery goes: by a call of its own, or with many others in one."""

    SINGLE = "single"
    BATCH = "batch"


OPEN = (Status.PENDING, Status.SENDING)  # every other state is final


@dataclass(frozen=True, slots=True)
class Accepted:
    """The platform's yes."""

    message_id: str


@dataclass(frozen=True, slots=True)
class Attempt:
    """What the decision needs: `attempts` counts this one; `maybe_sent_at` is the first whose end nobody saw.

    `settles`: the platform drops a repeat, so a doubt is settled by asking again. Webhooks and batches know no uuid.
    """

    attempts: int
    maybe_sent_at: datetime | None
    started_at: datetime
    settles: bool = True

    def may_go(self, now: datetime) -> bool:
        """False if it may have arrived so long ago that the platform would take a repetition for another message."""
        return self.maybe_sent_at is None or now - self.maybe_sent_at < SAME_UUID_HOLDS


@dataclass(frozen=True, slots=True)
class Step:
    """What the ledger is to say next. `counts` False: the attempt is not to be held against the delivery."""

    status: Status
    not_before: datetime | None = None
    maybe_sent_at: datetime | None = None
    message_id: str | None = None
    code: int | None = None
    reason: str | None = None
    counts: bool = True


def next_step(attempt: Attempt, outcome: Accepted | SendError | None, now: datetime, jitter: float) -> Step:
    """Decide what follows an attempt. `outcome` None: the request never left, so it was no attempt.

    Units: jitter in [0, 1) spreads the wait. An AppError costs no attempt: the row waits until the queue goes on.
    """
    if isinstance(outcome, Accepted):
        return Step(Status.SENT, message_id=outcome.message_id, code=0)
    if outcome is None:
        return Step(Status.PENDING, now, attempt.maybe_sent_at, counts=False)
    if isinstance(outcome, AppError):
        return Step(Status.PENDING, now, attempt.maybe_sent_at, None, outcome.code, outcome.reason, counts=False)
    if isinstance(outcome, TemporaryError):
        return _later(attempt, outcome, now, jitter)
    # A refusal after an attempt that may have arrived: the reader may have it, so `failed` would invite a second copy.
    status = Status.FAILED if attempt.maybe_sent_at is None else Status.UNKNOWN
    return Step(status, maybe_sent_at=attempt.maybe_sent_at, code=outcome.code, reason=outcome.reason)


def lapsed(attempt: Attempt, now: datetime) -> Step:
    """Decide on a delivery whose sender died: it may have arrived, and the same uuid settles it while it holds."""
    since = attempt.maybe_sent_at or attempt.started_at
    reason = "发送进程中断，结果未知"
    if not attempt.settles or now - since >= SAME_UUID_HOLDS:
        return Step(Status.UNKNOWN, reason=reason)
    return Step(Status.PENDING, now, since, reason=reason)


def backoff_s(attempts: int, jitter: float) -> float:
    """Seconds to wait after the n-th attempt: 5, 10, 20 … capped at 600, then up to half as much again."""
    wait = min(FIRST_WAIT_S * 2.0 ** min(attempts - 1, 20), LONGEST_WAIT_S)
    return wait * (1 + jitter / 2)


def _later(attempt: Attempt, error: TemporaryError, now: datetime, jitter: float) -> Step:
    since = attempt.maybe_sent_at
    if error.maybe_sent and since is None:
        since = attempt.started_at
    wait = error.retry_after_s if error.retry_after_s is not None else backoff_s(attempt.attempts, jitter)
    due = now + timedelta(seconds=wait)
    if since is not None and (not attempt.settles or due - since >= SAME_UUID_HOLDS):
        return Step(Status.UNKNOWN, maybe_sent_at=since, code=error.code, reason=error.reason)
    if attempt.attempts >= MAX_ATTEMPTS and not error.whole_app:
        status = Status.FAILED if since is None else Status.UNKNOWN
        return Step(status, maybe_sent_at=since, code=error.code, reason=error.reason)
    # A limit is the app's, not this receiver's.
    return Step(Status.PENDING, due, since, code=error.code, reason=error.reason, counts=not error.whole_app)
