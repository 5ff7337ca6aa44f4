"""Which revision a database has, and which there are."""

from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import inspect

from bot.store.engine import Store, Transaction

FILE = "sqlite:///"


@dataclass(frozen=True, slots=True)
class Revisions:
    """`current`: None for a database without a schema. `pending`: migrations that are still to be run, in order."""

    current: str | None
    newest: str
    pending: tuple[str, ...]


def look(url: str) -> Revisions:
    """The revisions of a store, which is not changed, nor made if it is not there. Raises ConfigError."""
    names = sorted(path.stem for path in Path(__file__).parent.glob("migrations/versions/[0-9]*.py"))
    current = _current(url)
    pending = tuple(name for name in names if current is None or name[:4] > current)
    return Revisions(current, names[-1][:4], pending)


def _current(url: str) -> str | None:
    if url.startswith(FILE) and not Path(url.removeprefix(FILE)).exists():
        return None
    store = Store(url)
    try:
        return store.read_now(revision)
    finally:
        store.close()


def revision(tx: Transaction) -> str | None:
    """The revision of the database that a transaction is on."""
    if not inspect(tx).has_table("alembic_version"):
        return None
    found: str | None = tx.exec_driver_sql("SELECT version_num FROM alembic_version").scalar()
    return found
