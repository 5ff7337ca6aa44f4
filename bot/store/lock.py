"""One bot on a file: the system gives the lock back however the process ends."""

import contextlib
import fcntl
from collections.abc import Iterator
from pathlib import Path

from bot.domain.errors import UsageError


@contextlib.contextmanager
def only_one(database: Path) -> Iterator[None]:
    """Hold an SQLite file, which need not be one yet. Raises UsageError if a running bot holds it."""
    with database.with_name(f"{database.name}.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise UsageError("another digest-bot is running on this database; stop it first") from None
        yield
