"""Migrations from code: the scripts travel in the package, there is no ini file."""

from pathlib import Path

from alembic import command
from alembic.config import Config
from sqlalchemy import Engine


def upgrade(engine: Engine) -> None:
    """Run all migrations that are missing, in one transaction that starts with the write lock."""
    # A connection of its own with foreign keys off from the start: SQLite's way of altering a parent table would
    # empty its children, and the pragma does nothing inside a transaction.
    with engine.execution_options(sqlite_begin="IMMEDIATE").connect() as connection:
        connection.connection.driver_connection.execute("pragma foreign_keys=off")  # type: ignore[union-attr]
        try:
            with connection.begin():
                config = Config()
                config.set_main_option("script_location", str(Path(__file__).with_name("migrations")))
                config.attributes["connection"] = connection
                command.upgrade(config, "head")
                broken = connection.exec_driver_sql("pragma foreign_key_check").all()
                if broken:
                    raise RuntimeError(f"a migration left {len(broken)} rows without their parent")
        finally:
            connection.connection.driver_connection.execute("pragma foreign_keys=on")  # type: ignore[union-attr]
