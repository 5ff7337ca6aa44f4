"""Copies of an SQLite store: made while the bot runs, checked, and put back.

They go past the engine: what is copied may be of another revision, and what is replaced may be broken.
"""

import contextlib
import os
import shlex
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from sqlalchemy import make_url

from bot.domain.delivery import OPEN, Status
from bot.domain.errors import UsageError
from bot.store.engine import newest_revision
from bot.store.lock import only_one

FILE = "sqlite:///"
PAGES = 4_096  # a step: 16 MiB
TABLES = {"alembic_version", "subscribers", "subscriptions", "editions", "pushes", "cards", "deliveries"}
IN_DOUBT = "从备份恢复，结果未知"

Told = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Restored:
    """`replaced`: where the old database is now. `unknown`: how many deliveries were open in the copy."""

    revision: str
    replaced: Path | None
    unknown: int


def file_of(url: str, instead: str) -> Path:
    """The file of a store. Raises UsageError for a server, with what to do there `instead`."""
    if not url.startswith(FILE):
        raise UsageError(f"the store is on PostgreSQL, which has its own tool: {instead}")
    return Path(url.removeprefix(FILE))


def server_command(tool: str, url: str, *words: str) -> str:
    """What to type for a PostgreSQL store. The password stays out: the tool asks for it, or reads ~/.pgpass."""
    address = make_url(url)
    host = address.host or str(address.query.get("host", "localhost"))
    where = {"--host": host, "--port": address.port, "--username": address.username, "--dbname": address.database}
    options = [f"{name}={value}" for name, value in where.items() if value]
    return shlex.join([tool, *words, *options])


def back_up(database: Path, target: Path, told: Told) -> str:
    """Copy a database as it is at this moment, writers or not. Returns its revision. Raises UsageError.

    The copy appears under its name once it is complete, checked and on the disk; only its owner may read it.
    """
    revision = _revision(database)
    _check_different(target, database)
    with _whole_or_not_at_all(target) as partial:
        _copy(database, partial, told)
        _check(partial, "the database is damaged; restore an earlier backup")
    return revision


def restore(copy: Path, database: Path, now: datetime, told: Told) -> Restored:
    """Put a copy in the place of the database, which stays beside it under another name. Raises UsageError.

    What was on its way when the copy was made may have arrived since, so it is `unknown`: nobody gets it twice.
    """
    revision = _revision(copy)
    _check(copy, f"{copy} is damaged; choose another file")
    _check_different(copy, database)
    if revision > newest_revision():
        raise UsageError(f"{copy} is of a newer version ({revision}); install that version first")
    with _reasons(database):
        database.parent.mkdir(parents=True, exist_ok=True)
        with only_one(database), _whole_or_not_at_all(database) as partial:
            _copy(copy, partial, told)
            unknown = _doubt(partial)
            if database.exists():
                _own_like(database, partial)
            replaced = _set_aside(database, now)
    return Restored(revision, replaced, unknown)


def _revision(path: Path) -> str:
    """The revision of a database of ours. Raises UsageError for anything else."""
    if not path.is_file():
        raise UsageError(f"{path} is not there; check the name")
    try:
        with _opened(path, "ro") as connection:
            names = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
            if not names >= TABLES:
                raise UsageError(f"{path} is a database, but not one of digest-bot; choose another file")
            (revision,) = connection.execute("SELECT version_num FROM alembic_version").fetchone()
    except (sqlite3.DatabaseError, TypeError):
        raise UsageError(f"{path} is no database of digest-bot; choose another file") from None
    return str(revision)


def _check(path: Path, otherwise: str) -> None:
    """Look at every page of a database. Raises UsageError for a damaged one."""
    with contextlib.suppress(sqlite3.DatabaseError), _opened(path, "ro") as connection:
        if connection.execute("PRAGMA integrity_check(1)").fetchone() == ("ok",):
            return
    raise UsageError(otherwise)


def _copy(source: Path, target: Path, told: Told) -> None:
    with _opened(source, "ro") as old, _opened(target, "rw") as new:
        # An open snapshot: without one every write of the bot would make the copy start again.
        old.execute("BEGIN")
        old.execute("SELECT 1 FROM sqlite_master").fetchone()
        old.backup(new, pages=PAGES, progress=lambda _, left, total: told(total - left, total))
        new.execute("PRAGMA journal_mode = delete")  # one file, whole by itself


def _doubt(path: Path) -> int:
    with _opened(path, "rw") as connection:
        change = "UPDATE deliveries SET status = ?, reason = ?, lease_until = NULL WHERE status IN (?, ?)"
        return connection.execute(change, (Status.UNKNOWN.value, IN_DOUBT, *(one.value for one in OPEN))).rowcount


def _check_different(copy: Path, database: Path) -> None:
    if copy.exists() and database.exists() and copy.samefile(database):
        raise UsageError(f"{copy} is the database itself; name another file")


def _own_like(database: Path, partial: Path) -> None:
    """Whoever restores may not be who runs the bot."""
    status = database.stat()
    partial.chmod(status.st_mode & 0o777)
    with contextlib.suppress(PermissionError):
        os.chown(partial, status.st_uid, status.st_gid)


def _set_aside(database: Path, now: datetime) -> Path | None:
    """Move a database and what belongs to it out of the way."""
    if not database.exists():
        return None
    # Emptied, its log is no loss if the power fails before all is done. A broken database keeps what it has.
    with contextlib.suppress(sqlite3.DatabaseError), _opened(database, "rw") as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    aside = database.with_name(f"{database.name}.replaced-{now:%Y%m%dT%H%M%SZ}")
    for end in ("-wal", "-shm"):
        part = database.with_name(database.name + end)
        if part.exists():
            part.replace(aside.with_name(aside.name + end))
    aside.hardlink_to(database)  # so that at no moment there is none
    return aside


@contextlib.contextmanager
def _opened(path: Path, mode: str) -> Iterator[sqlite3.Connection]:
    """A connection that commits every statement, and waits for the bot's writes."""
    uri = f"{path.absolute().as_uri()}?mode={mode}"
    with contextlib.closing(sqlite3.connect(uri, uri=True, isolation_level=None, timeout=15)) as connection:
        yield connection


@contextlib.contextmanager
def _whole_or_not_at_all(target: Path) -> Iterator[Path]:
    """A file beside `target` that takes its name once it is written and on the disk."""
    partial = target.with_name(f"{target.name}.partial")
    with _reasons(target):
        partial.unlink(missing_ok=True)
        partial.touch(0o600)
        try:
            yield partial
            _flush(partial)
            partial.replace(target)
            _flush(target.parent)
        finally:
            partial.unlink(missing_ok=True)


@contextlib.contextmanager
def _reasons(path: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, sqlite3.DatabaseError) as exc:
        raise UsageError(f"{path} cannot be written ({exc}); check the place, its rights and its room") from exc


def _flush(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
