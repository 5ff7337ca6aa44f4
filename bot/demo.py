"""The bot and a local Feishu in one process, with people, groups and digests of their own: what `demo` runs."""

import contextlib
import logging
from datetime import datetime, timedelta
from importlib.resources import files
from pathlib import Path
from zoneinfo import ZoneInfo

import click

from bot import log as logs
from bot.app import running
from bot.config import settings_from
from bot.domain.audience import Kind, Receiver
from bot.domain.errors import UsageError
from bot.parts import open_store
from bot.sandbox.app import Sandbox, SandboxSettings
from bot.sandbox.journal import JournalError
from bot.sandbox.page import page_routes
from bot.serving import listen, serving, until_signal
from bot.settings import Settings
from bot.store import subscribers
from bot.store.engine import Transaction
from bot.store.subscribers import NewSubscription

log = logging.getLogger(__name__)

ZONE = ZoneInfo("Asia/Shanghai")
SERIES = "dengta"
SAMPLES = 3


async def run_demo(port: int, data: Path) -> None:
    """Sandbox on `port` + 1, bot on `port`, everything kept in `data`, until SIGINT or SIGTERM."""
    logs.set_up("INFO", "console")
    now = datetime.now(ZONE)
    settings = demo_settings(port, data, now)
    listeners = listen("127.0.0.1", port), listen("127.0.0.1", port + 1)
    sandbox = _sandbox(f"http://127.0.0.1:{port}/feishu", data / "sandbox.jsonl")
    first_start = not sandbox.world.users
    write_sample(data / "digests", now)
    async with serving(sandbox.app, listeners[1]), running(settings) as web, serving(web, listeners[0]):
        if first_start:
            await _people(sandbox, settings, now)
        _say(port, settings)
        await until_signal()
        click.echo("stopping …", err=True)


async def run_sandbox(port: int, callbacks: str, *, limits: bool) -> None:
    """The sandbox alone. `callbacks` is the address of the app's callbacks; empty means that it hears nothing."""
    logs.set_up("INFO", "console")
    sandbox = _sandbox(callbacks, None, limits=limits)
    app = sandbox.settings
    async with serving(sandbox.app, listen("127.0.0.1", port)):
        click.echo(f"sandbox       http://127.0.0.1:{port}/")
        click.echo(f"base_url      http://127.0.0.1:{port}")
        click.echo(f"app_id        {app.app_id}\napp_secret    {app.app_secret}")
        click.echo(f"encrypt_key   {app.encrypt_key}\nverification_token  {app.verification_token}")
        await until_signal()


def demo_settings(port: int, data: Path, now: datetime) -> Settings:
    """Settings of the demo: its one series is pushed at the next full minute."""
    push_at = now + timedelta(minutes=1)
    sandbox = SandboxSettings()
    return settings_from(
        {
            "feishu": {
                "base_url": f"http://127.0.0.1:{port + 1}",
                "app_id": sandbox.app_id,
                "app_secret": sandbox.app_secret,
                "encrypt_key": sandbox.encrypt_key,
                "verification_token": sandbox.verification_token,
            },
            "series": [
                {
                    "id": SERIES,
                    "name": "灯塔大模型日报",
                    "source": {"kind": "folder", "path": "digests"},
                    "push_at": f"{push_at:%H:%M}",
                    "wait_until": f"{push_at + timedelta(hours=12):%H:%M}",
                    "community_url": "https://wiki.example.com/lighthouse",
                }
            ],
            "store": {"url": "sqlite:///digest-bot.db"},
            "web": {"port": port},
        },
        {},
        base=data.resolve(),
    )


def write_sample(folder: Path, now: datetime) -> None:
    """Lay out the next sample digest of today: every start has something new to send, until all are out."""
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(1, SAMPLES + 1):
        path = folder / f"{now:%Y-%m-%d}-{number}.txt"
        if not path.exists():
            text = (files("bot") / "samples" / f"{number}.txt").read_text(encoding="utf-8")
            path.write_text(text.replace("{day}", f"{now.month}月{now.day}日"), encoding="utf-8")
            return


def _sandbox(callbacks: str, journal: Path | None, *, limits: bool = True) -> Sandbox:
    events, card = (f"{callbacks}/events", f"{callbacks}/card") if callbacks else (None, None)
    settings = SandboxSettings(journal=journal, event_url=events, card_url=card, limits=limits)
    try:
        return Sandbox(settings, page=page_routes)
    except JournalError as exc:
        raise UsageError(str(exc)) from exc


async def _people(sandbox: Sandbox, settings: Settings, now: datetime) -> None:
    """Two people and two groups; the bot is in both, and one is subscribed."""
    client = sandbox.client
    first, second = (client.add_user(name).open_id for name in ("读者甲", "读者乙"))
    study = await client.create_group("大模型学习群", owner=first, members=[first, second])
    reading = await client.create_group("周末读书角", owner=second, members=[first, second])
    for group, owner in ((study, first), (reading, second)):
        assert group.chat_id is not None
        await client.add_bot(group.chat_id, operator=owner)
    assert study.chat_id is not None
    row = NewSubscription(Receiver(Kind.GROUP, study.chat_id), SERIES, "大模型学习群")
    with contextlib.closing(open_store(settings)) as store:
        await store.write(_subscribe, row, now)


def _subscribe(tx: Transaction, row: NewSubscription, now: datetime) -> None:
    subscribers.add(tx, [row], now)


def _say(port: int, settings: Settings) -> None:
    at = settings.series[0].push_at
    click.echo(f"sandbox  http://127.0.0.1:{port + 1}/   open it, choose who you are, meet the bot")
    click.echo(f"bot      http://127.0.0.1:{port}/healthz")
    click.echo(f"the next digest goes out at {at} (Shanghai); stop with Ctrl-C")
