"""The bot as a process of its own, to be killed."""

import asyncio
import contextlib
import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path

ROOT = Path(__file__).parents[2]


def clean_environ() -> dict[str, str]:
    """No setting of the machine reaches the bot."""
    return {k: v for k, v in os.environ.items() if not k.startswith("DIGEST_BOT_")} | {"PYTHONPATH": str(ROOT)}


@contextlib.asynccontextmanager
async def bot_process(config: Path) -> AsyncIterator[asyncio.subprocess.Process]:
    """`digest-bot run`. Killed on the way out if it still lives."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "bot", "-c", str(config), "run", env=clean_environ(), stderr=asyncio.subprocess.DEVNULL
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


def write_config(path: Path, *, sandbox_port: int, bot_port: int) -> Path:
    """A configuration file of a bot that talks to the sandbox on that port."""
    path.write_text(
        f"""
[feishu]
base_url = "http://127.0.0.1:{sandbox_port}"
app_id = "cli_sandbox0000000000"
app_secret = "sandbox-secret"
encrypt_key = "sandbox-encrypt-key"
verification_token = "sandbox-verification-token"

[[series]]
id = "ai"
name = "灯塔大模型日报"

[store]
url = "sqlite:///bot.db"

[web]
port = {bot_port}

[delivery]
per_second = 5000
per_minute = 200000
""",
        encoding="utf-8",
    )
    return path
