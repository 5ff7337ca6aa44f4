"""The two databases: an SQLite file for one process, a PostgreSQL server for many. The one place that tells them apart.

SQLite lets one writer in at a time. PostgreSQL runs units of work side by side, each statement seeing what is committed
when it starts; what must not overlap is kept apart by row locks (`with_for_update`, which SQLite is not sent) and by
unique keys, and whoever loses a race runs again (bot/store/units.py).
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

import msgspec
from sqlalchemy import Connection, Engine, ExceptionContext, Table, create_engine, event, make_url
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import ArgumentError, DatabaseError

from bot.domain.errors import ConfigError, StoreError

P = ParamSpec("P")
S = TypeVar("S")
Insert = sqlite.Insert | postgresql.Insert
THREADS = 8
BUSY_MS = 15_000
DRIVER = "postgresql+psycopg"
# A process that is frozen inside a unit of work, or cut off from the network, must not hold its locks for long.
LONGEST_SILENCE_S = 15
CONNECTING = {
    "application_name": "digest-bot",
    "connect_timeout": "5",
    "keepalives_idle": "10",
    "keepalives_interval": "5",
    "keepalives_count": "2",
    "tcp_user_timeout": "20000",
}


def open_engine(url: str) -> Engine:
    """An engine with our settings that has been connected once. Raises ConfigError if that fails."""
    return _open_sqlite(url) if url.startswith("sqlite:") else _open_postgres(url)


def is_shared(bind: Engine | Connection) -> bool:
    """Whether other processes may be at work on the same rows."""
    return bind.dialect.name == "postgresql"


def writer(engine: Engine) -> Engine:
    """The same pool for units that change rows. On SQLite they lock at BEGIN: one that reads first fails at once."""
    return engine if is_shared(engine) else engine.execution_options(sqlite_begin="IMMEDIATE")


def reader(engine: Engine) -> Engine:
    """The same pool for units that see one snapshot and change nothing."""
    if not is_shared(engine):
        return engine
    return engine.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)


def insert(tx: Connection, table: Table) -> Insert:
    """INSERT with an ON CONFLICT of the database's own kind."""
    return postgresql.insert(table) if is_shared(tx) else sqlite.insert(table)


def built_once(build: Callable[Concatenate[Connection, P], S]) -> Callable[Concatenate[Connection, P], S]:
    """A statement that hangs on few things, built once for each of them: that takes longer than running it."""
    built: dict[object, S] = {}

    def statement(tx: Connection, /, *args: P.args, **kwargs: P.kwargs) -> S:
        of = (tx.dialect.name, *args)
        if of not in built:
            built[of] = build(tx, *args, **kwargs)
        return built[of]

    return statement


def hold_still(tx: Connection, table: Table) -> None:
    """Let nobody else change a table until this transaction ends. SQLite has one writer anyhow."""
    if is_shared(tx):
        tx.exec_driver_sql(f"LOCK TABLE {table.name} IN SHARE MODE")


def _create(url: Any, **more: Any) -> Engine:
    # Parameters hold names and text: they must not reach a log through an error's message.
    return create_engine(
        url,
        json_serializer=_dumps,
        json_deserializer=msgspec.json.decode,
        hide_parameters=True,
        execution_options={"preserve_rowcount": True},  # psycopg forgets what an INSERT … SELECT did
        **more,
    )


def _dumps(value: Any) -> str:
    return msgspec.json.encode(value).decode()


def _open_sqlite(url: str) -> Engine:
    """The file's folder is made."""
    path = Path(url.removeprefix("sqlite:///"))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        engine = _create(url)
        event.listen(engine, "connect", _on_sqlite_connect)
        event.listen(engine, "begin", _on_sqlite_begin)
        event.listen(engine, "handle_error", _name_a_full_disk)
        engine.connect().close()
    except (OSError, DatabaseError) as exc:
        raise ConfigError("store.url", f"{path} cannot be opened as a database; check the path and its rights") from exc
    return engine


def _on_sqlite_connect(dbapi: Any, _record: object) -> None:
    dbapi.isolation_level = None  # we send BEGIN ourselves: the driver's own way loses updates silently
    for pragma in ("journal_mode=wal", "synchronous=normal", f"busy_timeout={BUSY_MS}", "foreign_keys=on"):
        dbapi.execute(f"pragma {pragma}")


def _on_sqlite_begin(connection: Connection) -> None:
    connection.exec_driver_sql("BEGIN " + connection.get_execution_options().get("sqlite_begin", "DEFERRED"))


def _name_a_full_disk(context: ExceptionContext) -> StoreError | None:
    """A disk that takes no more is the one fault of a file that an operator meets, and its cure is not ours."""
    name = getattr(context.original_exception, "sqlite_errorname", "")
    if name == "SQLITE_FULL" or name.startswith("SQLITE_IOERR"):
        return StoreError(
            "the database cannot be written, the disk may be full; make room and start again: nothing is lost"
        )
    return None


def _open_postgres(url: str) -> Engine:
    """No driver's message is passed on: where the address is mistyped it may show a piece of the password."""
    try:
        address = make_url(url).set(drivername=DRIVER)
        engine = _create(
            address.set(query={**CONNECTING, **address.query}),
            isolation_level="READ COMMITTED",
            pool_size=THREADS,
            pool_use_lifo=True,
            # Never a generic plan: it knows no values, and a partial index is used only where its condition is known.
            connect_args={"prepare_threshold": None},
        )
    except ImportError:
        raise ConfigError("store.url", "needs a driver: pip install 'feishu-digest-bot[postgres]'") from None
    except (ArgumentError, ValueError):
        raise ConfigError(
            "store.url", "cannot be read; write postgresql://USER:PASSWORD@HOST/DATABASE, with %40 for an @ in a word"
        ) from None
    event.listen(engine, "connect", _on_postgres_connect)
    event.listen(engine, "handle_error", _hide_rows)
    try:
        engine.connect().close()
    except DatabaseError:
        raise ConfigError(
            "store.url", "PostgreSQL cannot be reached; check that it runs, and host, user, password and database"
        ) from None
    return engine


def _on_postgres_connect(dbapi: Any, _record: object) -> None:
    dbapi.execute(f"SET idle_in_transaction_session_timeout = '{LONGEST_SILENCE_S}s'")
    dbapi.commit()


def _hide_rows(context: ExceptionContext) -> None:
    """Keep the server's DETAIL out of messages: it quotes the row, with names and text."""
    for error in (context.original_exception, context.sqlalchemy_exception):
        if error is not None and error.args:
            error.args = (str(error.args[0]).partition("\nDETAIL:")[0], *error.args[1:])
