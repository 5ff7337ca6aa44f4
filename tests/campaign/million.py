"""A large house: subscribers out of a CSV file, one edition planned for all, each by a command of its own."""

import asyncio
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import click

from tests.campaign import stage
from tests.integration.bot_process import clean_environ, write_config
from tests.integration.conftest import free_port

MOST_MIB = 200
DIGEST = "灯塔大模型日报（3月8日）\n\n第一篇：流水线怎样排得更满\n\n读者甲在两台机器上重复了实验，结果相近。\n\nhttps://read.example.com/p/1\n"


async def campaign(kind: str, subscribers: int) -> bool:
    """Print the figures; returns whether no command took more memory than it may."""
    with stage.database(kind) as url, tempfile.TemporaryDirectory() as name:
        folder, port = Path(name), free_port()
        config = write_config(folder / "config.toml", sandbox_port=port, bot_port=port, store_url=url)
        people, digest = folder / "people.csv", folder / "day.txt"
        with people.open("w", encoding="utf-8") as rows:
            rows.write("kind,id,series\n")
            rows.writelines(f"user,ou_{number:032},ai\n" for number in range(subscribers))
        digest.write_text(DIGEST, encoding="utf-8")
        work = [
            ("subscriber", "import", str(people)),
            ("digest", "import", str(digest), "--series", "ai", "--received-at", "2025-03-08T08:00:00+08:00"),
            ("edition", "publish", "ai/latest", "--yes"),
        ]
        most = 0.0
        for words in work:
            took_s, mib, said = await asyncio.to_thread(_measured, config, words)
            most = max(most, mib)
            click.echo(f"million, {kind}: {' '.join(words[:2])}: {took_s:.1f} s, peak memory {mib:.0f} MiB; {said}")
        return most <= MOST_MIB


def _measured(config: Path, words: tuple[str, ...]) -> tuple[float, float, str]:
    """Seconds, MiB at the peak, and the last line that it said."""
    started = time.monotonic()
    said = config.with_name("said")
    with said.open("w") as out:
        command = [sys.executable, "-m", "bot", "-c", str(config), *words]
        process = subprocess.Popen(command, env=clean_environ(), stdout=out, stderr=subprocess.STDOUT)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    lines = said.read_text(encoding="utf-8").splitlines()
    assert process.returncode == 0, lines
    return time.monotonic() - started, used.ru_maxrss / 1024, lines[-1]
