"""How long a read waits for its turn, so that the platform's limit for its method is never met by us."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable


class Pace:
    """At most `calls` in any `seconds`, and none while the platform has told us to wait."""

    def __init__(
        self, calls: int, seconds: float, clock: Callable[[], float], sleep: Callable[[float], Awaitable[None]]
    ) -> None:
        self._seconds, self._clock, self._sleep = seconds, clock, sleep
        self._turns: deque[float] = deque(maxlen=calls)
        self._held_until = 0.0
        self._lock = asyncio.Lock()

    async def turn(self) -> None:
        """Wait until the next call may leave."""
        async with self._lock:
            is_full = len(self._turns) == self._turns.maxlen
            due = max(self._held_until, self._turns[0] + self._seconds if is_full else 0.0)
            if (wait_s := due - self._clock()) > 0:
                await self._sleep(wait_s)
            self._turns.append(self._clock())

    def hold(self, seconds: float) -> None:
        """Let nobody call for so long: only the clock lifts it."""
        self._held_until = max(self._held_until, self._clock() + seconds)
