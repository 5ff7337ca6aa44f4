"""SQLite on a disk that gets full: a small one of its own as root, else a limit on how large files may grow."""

import contextlib
import os
import resource
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import click

from bot.domain.delivery import Status
from bot.store import ledger
from tests.campaign import stage
from tests.integration.bot_process import bot_process

DISK_MIB = 24
KIB = 1024
LEFT = 200 * KIB
FULL = "the disk may be full"


@contextlib.contextmanager
def small_disk() -> Iterator[Path | None]:
    """A folder that holds little; None where none can be had."""
    with tempfile.TemporaryDirectory() as folder:
        mount = ["mount", "-t", "tmpfs", "-o", f"size={DISK_MIB}m", "tmpfs", folder]
        if os.geteuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode:
            yield None
            return
        try:
            yield Path(folder)
        finally:
            subprocess.run(["umount", folder], check=True)


def files_end_at(size: int) -> Callable[[], None]:
    """What makes a process unable to let a file grow beyond that size. Python ignores the signal: writing fails."""
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


async def campaign(receivers: int) -> bool:
    """Print the figures; returns whether it stopped with a clear line and everybody had it once afterwards."""
    with small_disk() as disk, tempfile.TemporaryDirectory() as folder:
        where = disk or Path(folder)
        async with stage.stage(f"sqlite:///{where}/bot.db") as (house, config):
            people, log = house.people(receivers), config.with_name("log")
            await stage.plan(house)
            before = None
            if disk is None:
                before = files_end_at((where / "bot.db").stat().st_size + LEFT)
            else:
                _fill(disk)
            async with bot_process(config, log=log, before=before) as process:
                await stage.reached(lambda: process.returncode is not None, 60)
                code = process.returncode
            line = log.read_text().splitlines()[-1]
            if disk is not None:
                (disk / "filler").unlink()
            sent = house.store.read_now(ledger.counts).get(Status.SENT, 0)
            doubtful = stage.arrived(house) - sent
            async with bot_process(config, log=log):
                await stage.reached(lambda: stage.is_final(house), 120, every_s=0.2)
            found = stage.verdict(house, people)
            kind = "a full disk" if disk is not None else "files that may not grow"
            click.echo(
                f"disk: {kind}, {sent} of {receivers} written, {doubtful} arrived and not written; exit {code}: "
                f"{line}\n  after making room: {found}"
            )
            return found.is_clean and code == 1 and FULL in line


def _fill(disk: Path) -> None:
    with (disk / "filler").open("wb") as filler, contextlib.suppress(OSError):
        room = os.statvfs(disk)
        left = room.f_bavail * room.f_frsize - LEFT
        while left > 0:
            left -= filler.write(bytes(min(left, 64 * KIB)))
