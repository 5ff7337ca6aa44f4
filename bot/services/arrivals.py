"""What comes in from the platform: counted by kind and outcome, and how long the answers take. Of one process."""

import logging
import re
import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Awaitable, Callable
from datetime import datetime

from bot.domain.inbound import Answer, Inbound, Unknown, Why

log = logging.getLogger(__name__)

KNOWN, FAILED = "known", "failed"  # the other outcomes are those of `Why`
# The platform waits 3 s, and we want to be done in 1 s.
BOUNDS_S = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5)
# A type that nobody knows has a name that nobody has checked: so many are counted by name, the rest together.
MOST_NAMES = 20
OTHER = "other"
_NAME = re.compile(r"[a-z][\w.]{0,79}", re.ASCII)


class Durations:
    """A small histogram. `counts`: how many lie between each bound and the one below it, and above all of them."""

    def __init__(self) -> None:
        self.counts = [0] * (len(BOUNDS_S) + 1)
        self.sum_s = 0.0

    def add(self, seconds: float) -> None:
        """Count one."""
        self.counts[bisect_left(BOUNDS_S, seconds)] += 1
        self.sum_s += seconds


class Arrivals:
    """Stands in front of the service, whichever transport brings the events."""

    def __init__(self, handle: Callable[[Inbound, datetime], Awaitable[Answer]]) -> None:
        self.counts: Counter[tuple[str, str]] = Counter()
        """By kind and outcome. What came again is counted again."""
        self.answers = Durations()
        self._handle = handle
        self._names: set[str] = set()

    async def handle(self, inbound: Inbound, now: datetime) -> Answer:
        """What the service says. One that was cut off, because it took too long, has failed too."""
        started, outcome = time.perf_counter(), FAILED
        try:
            answer = await self._handle(inbound, now)
            outcome = inbound.why if isinstance(inbound, Unknown) else KNOWN
            return answer
        finally:
            self.answers.add(time.perf_counter() - started)
            self._count(inbound, outcome)

    def _count(self, inbound: Inbound, outcome: str) -> None:
        kind = self._name_of(inbound) if isinstance(inbound, Unknown) else type(inbound).__name__
        self.counts[kind, outcome] += 1
        if outcome == Why.SHAPE:
            log.warning("event_misshapen", extra={"event_id": inbound.event_id, "kind": kind})

    def _name_of(self, unknown: Unknown) -> str:
        if unknown.why is not Why.TYPE:
            return unknown.kind
        if len(self._names) < MOST_NAMES and _NAME.fullmatch(unknown.kind):
            self._names.add(unknown.kind)
        return unknown.kind if unknown.kind in self._names else OTHER
