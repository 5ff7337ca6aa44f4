"""The store, and the one way to run a unit of work.

Core is synchronous and runs in worker threads: no await can stand inside a transaction, so no lock is ever held
across a network call, and commands, migrations and tests use the same functions.
"""

import asyncio
import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar

import anyio
from anyio.to_thread import run_sync
from sqlalchemy import Connection, inspect

from bot.store import units
from bot.store.database import THREADS, is_shared, open_engine, reader, writer
from bot.store.lock import only_one

Transaction = Connection
P = ParamSpec("P")
R = TypeVar("R")


class Store:
    """A database at schema head. `write` and `read` run a function of a transaction in a thread.

    On a shared database a unit of work may be run more than once before it is committed, each time from the start:
    it changes nothing but rows, and what it is given can be read again.
    """

    def __init__(self, url: str) -> None:
        self._engine = open_engine(url)
        self._writer = writer(self._engine)
        self._reader = reader(self._engine)
        self._threads: anyio.CapacityLimiter | None = None
        self._writers: anyio.CapacityLimiter | None = None

    @property
    def is_shared(self) -> bool:
        """Whether other processes may be at work on it: what seems orphaned may be theirs."""
        return is_shared(self._engine)

    def migrate(self) -> None:
        """Bring the schema to head; processes that start at once find it done."""
        if self._version() == newest_revision():
            return  # the usual case, and a command need not load the migration tool for it
        from bot.store.migrate import upgrade

        upgrade(self._engine)

    @contextlib.contextmanager
    def held_by_one(self) -> Iterator[None]:
        """Be the only running bot on an SQLite file; the system gives the lock back however the process ends.

        A shared database takes any number of them. Raises UsageError if another one is running on the file.
        """
        if self.is_shared:
            yield
            return
        with only_one(Path(str(self._engine.url.database))):
            yield

    async def write(self, work: Callable[Concatenate[Transaction, P], R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Run `work` in one transaction that may change rows; it commits, or nothing happened."""
        return await self._in_thread(lambda: self.write_now(work, *args, **kwargs), writes=True)

    async def read(self, work: Callable[Concatenate[Transaction, P], R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Run `work` in one snapshot; it waits for no writer."""
        return await self._in_thread(lambda: self.read_now(work, *args, **kwargs))

    def write_now(self, work: Callable[Concatenate[Transaction, P], R], *args: P.args, **kwargs: P.kwargs) -> R:
        """`write` for synchronous callers: commands and tests."""
        if self.is_shared:
            return units.write(self._writer, lambda transaction: work(transaction, *args, **kwargs))
        with self._writer.begin() as transaction:
            return work(transaction, *args, **kwargs)

    def read_now(self, work: Callable[Concatenate[Transaction, P], R], *args: P.args, **kwargs: P.kwargs) -> R:
        """`read` for synchronous callers."""
        if self.is_shared:
            return units.read(self._reader, lambda transaction: work(transaction, *args, **kwargs))
        with self._reader.begin() as transaction:
            return work(transaction, *args, **kwargs)

    def close(self) -> None:
        """Give back all connections."""
        self._engine.dispose()

    def _version(self) -> str | None:
        with self._engine.begin() as transaction:
            if not inspect(transaction).has_table("alembic_version"):
                return None
            version: str | None = transaction.exec_driver_sql("SELECT version_num FROM alembic_version").scalar()
            return version

    async def _in_thread(self, work: Callable[[], R], *, writes: bool = False) -> R:
        if self._threads is None or self._writers is None:
            self._threads = anyio.CapacityLimiter(THREADS)
            # One by one, in order: SQLite itself lets those who wait sleep and try again, and some would starve.
            self._writers = self._threads if self.is_shared else anyio.CapacityLimiter(1)
        # Not cancellable: a unit of work ends, and its outcome is written, whatever happens to the caller.
        unit = asyncio.ensure_future(run_sync(work, limiter=self._writers if writes else self._threads))
        try:
            return await asyncio.shield(unit)
        except asyncio.CancelledError:
            with anyio.CancelScope(shield=True):
                await asyncio.wait([unit])
            raise


def newest_revision() -> str:
    """The head of the migrations: their files begin with their number."""
    return max(path.name[:4] for path in Path(__file__).parent.glob("migrations/versions/[0-9]*.py"))
