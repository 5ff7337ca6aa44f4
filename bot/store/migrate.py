"""Migrations from code: the scripts travel in the package, there is no ini file."""

from pathlib import Path

from alembic import command
from alembic.config import Config
from sqlalchemy import Connection, Engine, func, select

from bot.store.database import is_shared, writer

MIGRATING = 0x6469676573740001  # any number that is ours alone in that database


def upgrade(engine: Engine) -> None:
    """Run all migrations that are missing, in one transaction. Whoever comes second waits and finds it done."""
    if is_shared(engine):
        with engine.begin() as connection:
            connection.execute(select(func.pg_advisory_xact_lock(MIGRATING)))
            _run(connection)
        return
    # A connection of its own with foreign keys off from the start: SQLite's way of altering a parent table would
    # empty its children, and the pragma does nothing inside a transaction.
    with writer(engine).connect() as connection:
        connection.connection.driver_connection.execute("pragma foreign_keys=off")  # type: ignore[union-attr]
        try:
            with connection.begin():
                _run(connection)
                broken = connection.exec_driver_sql("pragma foreign_key_check").all()
                if broken:
                    raise RuntimeError(f"a migration left {len(broken)} rows without their parent")
        finally:
            connection.connection.driver_connection.execute("pragma foreign_keys=on")  # type: ignore[union-attr]


def _run(connection: Connection) -> None:
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).with_name("migrations")))
    config.attributes["connection"] = connection
    command.upgrade(config, "head")
