"""`make bench`: timings, printed as ratios where two things are compared in one run. Nothing here is a test."""

import asyncio
import contextlib
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median
from zoneinfo import ZoneInfo

import httpx

from bot.app import running
from bot.domain.audience import Kind, Receiver
from bot.domain.delivery import Status
from bot.parts import build_publisher, build_renderer, open_store
from bot.reading.plain_text import read_text
from bot.services import manage
from bot.services.publish import preview
from bot.serving import run
from bot.settings import Settings
from bot.store import ledger, subscribers
from bot.store.engine import Store
from bot.store.subscribers import NewSubscription
from tests.bench.reading import reading_hostile, reading_slopes
from tests.bench.scraping import scraping
from tests.bench.sdk import sdk_loop
from tests.builders import DAY, make_digest
from tests.campaign.stage import reached
from tests.integration.bot_process import ROOT, clean_environ
from tests.integration.conftest import SERIES, free_port, house_settings
from tests.integration.postgres import postgres_server

SEEDS = ROOT.parent / "shared" / "seeds"
SENDS = 2_000
TURNS = 3
SDK_SENDS = 200
PLANNED = 100_000


def main() -> None:
    run(_all())


async def _all() -> None:
    reading_and_rendering()
    reading_slopes()
    reading_hostile()
    with _databases() as urls:
        for name, url in urls.items():
            await planning(name, url)
            await scraping(name, url)
    with _databases() as urls:
        for name, url in urls.items():
            await sending(name, url)


def reading_and_rendering() -> None:
    """Warm: the median of twenty."""
    files = sorted(SEEDS.glob("*.txt")) or sorted((ROOT / "bot" / "samples").glob("*.txt"))
    for path in files:
        data = path.read_bytes()
        took = sorted(_once(data) for _ in range(21))[10]
        print(f"read, render, split {path.name[:3]:<4} {took * 1000:7.1f} ms")


def _once(data: bytes) -> float:
    start = time.perf_counter()
    received = datetime(2025, 3, 10, tzinfo=UTC)
    for digest in read_text(data, received_at=received, zone=ZoneInfo("Asia/Shanghai")).digests:
        preview(digest, "standard")
    return time.perf_counter() - start


@contextlib.contextmanager
def _databases() -> Iterator[dict[str, str]]:
    """A fresh database of each kind; PostgreSQL where its wheel and driver are installed."""
    with contextlib.ExitStack() as stack:
        urls = {"SQLite": f"sqlite:///{stack.enter_context(tempfile.TemporaryDirectory())}/bot.db"}
        try:
            server = stack.enter_context(postgres_server())
        except ImportError as exc:
            print(f"PostgreSQL is left out: {exc}")
        else:
            urls["PostgreSQL"] = stack.enter_context(server.database())
        yield urls


async def planning(database: str, url: str) -> None:
    """One ledger row for each of 100,000 receivers."""
    with tempfile.TemporaryDirectory() as folder:
        settings = house_settings(Path(folder), 1, 2, store={"url": url})
        with contextlib.closing(open_store(settings)) as store:
            rows = (NewSubscription(Receiver(Kind.USER, f"ou_{n:032}"), SERIES) for n in range(PLANNED))
            now = datetime.now(UTC)
            start = time.perf_counter()
            manage.import_subscriptions(store, rows, now)
            imported = time.perf_counter() - start
            publisher = build_publisher(settings, store, build_renderer(settings, store))
            edition = await publisher.import_digest(SERIES, make_digest(items=4), "h", now, "cli")
            start = time.perf_counter()
            await publisher.publish(SERIES, edition.slug, now, "cli")
            planned = time.perf_counter() - start
    peak_mib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    took = f"import {imported:.2f} s, plan {planned:.2f} s"
    print(f"{database}, {PLANNED} subscribers: {took}, peak memory {peak_mib:.0f} MiB")


async def sending(database: str, url: str) -> None:
    """The sender with limits off against a bare loop over the same pool size and bodies: by turns, the same sandbox."""
    with tempfile.TemporaryDirectory() as folder, _sandbox() as feishu:
        port = int(feishu.rpartition(":")[2])
        settings = house_settings(Path(folder), port, free_port(), delivery=OPEN_GATE, store={"url": url})
        app = settings.feishu.app_id, settings.feishu.app_secret
        digest = make_digest(items=14)
        body = preview(digest, "standard")[0]
        ours: list[float] = []
        bare: list[float] = []
        async with httpx.AsyncClient(base_url=feishu, trust_env=False) as http:
            people = await _people(http)
            with contextlib.closing(open_store(settings)) as store:
                rows = [NewSubscription(Receiver(Kind.USER, one), SERIES) for one in people]
                store.write_now(subscribers.add, rows, datetime.now(UTC))
                for turn in range(TURNS):
                    await _plan(settings, store, turn)
                    bare.append(await _bare_loop(feishu, *app, people, body.body))
                    ours.append(await _our_sender(settings, store, SENDS * (turn + 1)))
            sdk = await sdk_loop(feishu, *app, people[:SDK_SENDS], body.body)
    ratio = median(one / other for one, other in zip(ours, bare, strict=True))
    print(
        f"{database}, send {SENDS} cards of {body.bytes} B, {TURNS} times: ours {median(ours):.0f}/s, "
        f"bare loop {median(bare):.0f}/s, ratio {ratio:.2f}; "
        f"lark-oapi {sdk:.0f}/s, ours is {median(ours) / sdk:.1f} times that"
    )


async def _plan(settings: Settings, store: Store, turn: int) -> None:
    now = datetime.now(UTC)
    publisher = build_publisher(settings, store, build_renderer(settings, store))
    digest = make_digest(items=14, day=DAY + timedelta(days=turn))
    edition = await publisher.import_digest(SERIES, digest, f"{turn}", now, "cli")
    await publisher.publish(SERIES, edition.slug, now, "cli")


OPEN_GATE = {"per_second": 100_000, "per_minute": 6_000_000, "per_receiver_per_second": 1000}


@contextlib.contextmanager
def _sandbox() -> Iterator[str]:
    port = free_port()
    command = [sys.executable, "-m", "bot", "sandbox", "--port", str(port), "--no-limits"]
    with subprocess.Popen(
        command, cwd=ROOT, env=clean_environ(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        try:
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()


async def _people(http: httpx.AsyncClient) -> list[str]:
    answers = [await http.post("/sandbox/api/users", json={"name": f"读者{n}"}) for n in range(SENDS)]
    return [str(answer.json()["open_id"]) for answer in answers]


async def _bare_loop(url: str, app_id: str, app_secret: str, people: list[str], card: str) -> float:
    limits = httpx.Limits(max_connections=16, max_keepalive_connections=16)
    async with httpx.AsyncClient(base_url=url, limits=limits, trust_env=False) as http:
        login = {"app_id": app_id, "app_secret": app_secret}
        token = (await http.post("/open-apis/auth/v3/tenant_access_token/internal", json=login)).json()
        headers = {"Authorization": f"Bearer {token['tenant_access_token']}"}
        queue = iter(people)

        async def worker() -> None:
            for one in queue:
                body = {"receive_id": one, "msg_type": "interactive", "content": card}
                path = "/open-apis/im/v1/messages?receive_id_type=open_id"
                assert (await http.post(path, json=body, headers=headers)).json()["code"] == 0

        start = time.perf_counter()
        async with asyncio.TaskGroup() as tasks:
            for _ in range(16):
                tasks.create_task(worker())
        return len(people) / (time.perf_counter() - start)


async def _our_sender(settings: Settings, store: Store, sent: int) -> float:
    start = time.perf_counter()
    async with running(settings):
        # Seldom: looking is work too.
        await reached(lambda: store.read_now(ledger.counts).get(Status.SENT, 0) == sent, 600, every_s=0.1)
        return SENDS / (time.perf_counter() - start)


if __name__ == "__main__":
    main()
