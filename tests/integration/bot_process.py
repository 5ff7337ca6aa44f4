"""The bot as a process of its own, to be killed."""

import asyncio
import contextlib
import os
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path

ROOT = Path(__file__).parents[2]
NO_LIMITS = "per_second = 5000\nper_minute = 200000"


def clean_environ() -> dict[str, str]:
    """No setting of the machine reaches the bot."""
    return {k: v for k, v in os.environ.items() if not k.startswith("DIGEST_BOT_")} | {"PYTHONPATH": str(ROOT)}


@contextlib.asynccontextmanager
async def bot_process(
    config: Path, *, role: str = "all", log: Path | None = None, before: Callable[[], None] | None = None
) -> AsyncIterator[asyncio.subprocess.Process]:
    """`digest-bot run`. Killed on the way out if it still lives.

    `log`: the file at whose end its stderr goes. `before`: is called in the new process.
    """
    with contextlib.ExitStack() as files:
        said = files.enter_context(log.open("ab")) if log else asyncio.subprocess.DEVNULL
        command = [sys.executable, "-m", "bot", "-c", str(config), "run", "--role", role]
        process = await asyncio.create_subprocess_exec(*command, env=clean_environ(), stderr=said, preexec_fn=before)
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


def write_config(
    path: Path,
    *,
    sandbox_port: int,
    bot_port: int,
    store_url: str = "sqlite:///bot.db",
    delivery: str = NO_LIMITS,
    series: str = "",
) -> Path:
    """A configuration file of a bot for the sandbox. `delivery`: lines of that table; `series`: lines of its own."""
    path.write_text(
        f"""
[feishu]
base_url = "http://127.0.0.1:{sandbox_port}"
app_id = "cli_5a9db0c000000000"
app_secret = "sandbox-secret"
encrypt_key = "sandbox-encrypt-key"
verification_token = "sandbox-verification-token"

[[series]]
id = "ai"
name = "灯塔大模型日报"
{series}

[store]
url = "{store_url}"

[web]
port = {bot_port}

[delivery]
{delivery}
""",
        encoding="utf-8",
    )
    return path
