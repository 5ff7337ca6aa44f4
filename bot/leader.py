"""Being the one process that does what is to be done once: it holds a lease, and lets go of it when it cannot renew."""

import asyncio
import logging
from collections.abc import Callable
from datetime import datetime
from uuid import uuid4

from bot.store import lease
from bot.store.engine import Store

log = logging.getLogger(__name__)


class Leader:
    """Takes the lease when it is free and renews it. Any number of processes may try."""

    def __init__(self, store: Store, clock: Callable[[], datetime]) -> None:
        self._store = store
        self._clock = clock
        self._owner = uuid4().hex
        self._epoch: int | None = None
        self.asked_at = clock()
        """When somebody last wanted to know whether we lead: whatever is done by the clock begins with it."""

    @property
    def is_here(self) -> bool:
        """Whether this process leads, as far as it knows itself."""
        return not self._store.is_shared or self._epoch is not None

    async def run(self) -> None:
        """Try for the lease until cancelled; then give it back. Whoever is alone on its file needs none."""
        if not self._store.is_shared:
            return
        try:
            while True:
                await self._take()
                await asyncio.sleep(lease.TRY_EVERY_S)
        finally:
            if self._epoch is not None:
                await asyncio.shield(self._store.write(lease.give_back, lease.SCHEDULER, self._epoch, self._clock()))

    async def leads(self) -> bool:
        """Whether this process is the one, asked of the database: who was frozen may have been replaced."""
        self.asked_at = self._clock()
        if not self._store.is_shared:
            return True
        if self._epoch is None:
            await self._take()
        return self._epoch is not None and await self._store.write(
            lease.holds, lease.SCHEDULER, self._epoch, self._clock()
        )

    async def _take(self) -> None:
        epoch = await self._store.write(lease.take, lease.SCHEDULER, self._owner, self._clock())
        if epoch is not None and self._epoch is None:
            log.info("lease_taken", extra={"lease": lease.SCHEDULER, "epoch": epoch})
        self._epoch = epoch
