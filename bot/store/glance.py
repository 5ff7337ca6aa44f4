"""Reading for whoever has to answer soon, be the database there or not."""

import asyncio
import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Concatenate, ParamSpec, TypeVar

from sqlalchemy.exc import SQLAlchemyError

from bot.domain.errors import StoreError
from bot.store.engine import Store, Transaction

log = logging.getLogger(__name__)

P = ParamSpec("P")
R = TypeVar("R")


class Glance:
    """Reads one after the other in a thread of its own: a database that hangs never takes a sender's threads."""

    def __init__(self, store: Store, within_s: float) -> None:
        self._store = store
        self._within_s = within_s
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="glance")

    async def read(self, work: Callable[Concatenate[Transaction, P], R], *args: P.args, **kwargs: P.kwargs) -> R | None:
        """`Store.read`, or None where the database says no or nothing in time.

        What has begun goes on in its thread after that; what had to wait for it is never begun.
        """
        reading = partial(self._store.read_now, work, *args, **kwargs)
        try:
            return await asyncio.wait_for(
                asyncio.get_running_loop().run_in_executor(self._thread, reading), self._within_s
            )
        except (SQLAlchemyError, StoreError, TimeoutError) as exc:
            log.warning("database_away", extra={"reason": type(exc).__name__})
            return None
