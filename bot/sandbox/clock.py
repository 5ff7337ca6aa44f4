"""The sandbox's time: the real one, or a test's, that can be moved forward. Everything in the sandbox asks here."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

import anyio

T = TypeVar("T")


class Clock:
    """`base` is where time comes from; `offset` is how far it was moved. Instants are epoch seconds.

    Waiting ends as soon as the clock is moved far enough, so a test never sleeps.
    """

    def __init__(self, base: Callable[[], float] = time.time) -> None:
        self.base = base
        self.offset = 0.0
        self.on_advance: Callable[[float], None] | None = None
        self._moved = asyncio.Event()

    def now(self) -> float:
        return self.base() + self.offset

    def advance(self, seconds: float) -> None:
        """Move forward and wake everybody who waits. Raises ValueError for a step back: time has none."""
        if not 0 <= seconds < float("inf"):
            raise ValueError("the clock only moves forward")
        self.offset += seconds
        if self.on_advance is not None:
            self.on_advance(self.offset)
        moved, self._moved = self._moved, asyncio.Event()
        moved.set()

    async def sleep(self, seconds: float) -> None:
        await self.sleep_until(self.now() + seconds)

    async def sleep_until(self, at: float) -> None:
        while (left := at - self.now()) > 0:
            with anyio.move_on_after(left):
                await self._moved.wait()

    async def within(self, seconds: float, work: Callable[[], Awaitable[T]]) -> T | None:
        """The result of `work`, or None when this clock passes `seconds` first; `work` is then cancelled.

        `work` must not raise: errors are its result.
        """
        result: T | None = None
        at = self.now() + seconds  # not when the waiting task first runs: the clock may be moved before
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._cancel_at, at, tasks.cancel_scope)
            result = await work()
            tasks.cancel_scope.cancel()
        return result

    async def _cancel_at(self, at: float, scope: anyio.CancelScope) -> None:
        await self.sleep_until(at)
        scope.cancel()
