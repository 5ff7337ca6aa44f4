"""The engine, its settings, and the one way to run a unit of work.

Core is synchronous and runs in worker threads: no await can stand inside a transaction, so no lock is ever held
across a network call, and commands, migrations and tests use the same functions.
"""

import contextlib
import fcntl
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

import anyio
import msgspec
from anyio.to_thread import run_sync
from sqlalchemy import Connection, Engine, create_engine, event, inspect
from sqlalchemy.exc import DatabaseError

from bot.domain.errors import ConfigError, UsageError

Transaction = Connection
P = ParamSpec("P")
R = TypeVar("R")

THREADS = 8
BUSY_MS = 15_000


class Store:
    """A database at schema head. `write` and `read` run a function of a transaction in a thread."""

    def __init__(self, url: str) -> None:
        self._engine = open_engine(url)
        self._writer = self._engine.execution_options(sqlite_begin="IMMEDIATE")
        self._threads: anyio.CapacityLimiter | None = None

    def migrate(self) -> None:
        """Bring the schema to head; processes that start at once find it done."""
        if self._version() == newest_revision():
            return  # the usual case, and a command need not load the migration tool for it
        from bot.store.migrate import upgrade

        upgrade(self._engine)

    @contextlib.contextmanager
    def held_by_one(self) -> Iterator[None]:
        """Be the only running bot on this SQLite file; the system gives the lock back however the process ends.

        Raises UsageError if another one is running.
        """
        with Path(f"{self._engine.url.database}.lock").open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise UsageError("another digest-bot is running on this database; stop it first") from None
            yield

    async def write(self, work: Callable[Concatenate[Transaction, P], R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Run `work` in one transaction that may change rows; it commits, or nothing happened."""
        return await self._in_thread(lambda: self.write_now(work, *args, **kwargs))

    async def read(self, work: Callable[Concatenate[Transaction, P], R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Run `work` in one snapshot; it waits for no writer."""
        return await self._in_thread(lambda: self.read_now(work, *args, **kwargs))

    def write_now(self, work: Callable[Concatenate[Transaction, P], R], *args: P.args, **kwargs: P.kwargs) -> R:
        """`write` for synchronous callers: commands and tests."""
        with self._writer.begin() as transaction:
            return work(transaction, *args, **kwargs)

    def read_now(self, work: Callable[Concatenate[Transaction, P], R], *args: P.args, **kwargs: P.kwargs) -> R:
        """`read` for synchronous callers."""
        with self._engine.begin() as transaction:
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

    async def _in_thread(self, work: Callable[[], R]) -> R:
        if self._threads is None:
            self._threads = anyio.CapacityLimiter(THREADS)
        # Not cancellable: a unit of work ends, and its outcome is written, whatever happens to the caller.
        return await run_sync(work, limiter=self._threads)


def newest_revision() -> str:
    """The head of the migrations: their files begin with their number."""
    return max(path.name[:4] for path in Path(__file__).parent.glob("migrations/versions/[0-9]*.py"))


def open_engine(url: str) -> Engine:
    """An engine with our SQLite settings. The file's folder is made. Raises ConfigError if it cannot be."""
    path = Path(url.removeprefix("sqlite:///"))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # Parameters hold names and text: they must not reach a log through an error's message.
        engine = create_engine(url, json_serializer=_dumps, json_deserializer=msgspec.json.decode, hide_parameters=True)
        event.listen(engine, "connect", _on_connect)
        event.listen(engine, "begin", _on_begin)
        engine.connect().close()
    except (OSError, DatabaseError) as exc:
        raise ConfigError("store.url", f"{path} cannot be opened as a database; check the path and its rights") from exc
    return engine


def _dumps(value: Any) -> str:
    return msgspec.json.encode(value).decode()


def _on_connect(dbapi: Any, _record: object) -> None:
    dbapi.isolation_level = None  # we send BEGIN ourselves: the driver's own way loses updates silently
    for pragma in ("journal_mode=wal", "synchronous=normal", f"busy_timeout={BUSY_MS}", "foreign_keys=on"):
        dbapi.execute(f"pragma {pragma}")


def _on_begin(connection: Connection) -> None:
    # Writers lock at BEGIN: a deferred one that reads first fails at once with "database is locked".
    connection.exec_driver_sql("BEGIN " + connection.get_execution_options().get("sqlite_begin", "DEFERRED"))
