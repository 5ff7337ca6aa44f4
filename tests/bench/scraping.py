"""What a scrape costs where the ledger is long."""

import contextlib
import tempfile
import time
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median

import httpx
from sqlalchemy import update

from bot.assembly import assemble, web_of
from bot.domain.delivery import Status
from bot.feishu.client import FeishuClient
from bot.feishu.hooks import HookSender
from bot.store.engine import Store, Transaction
from bot.store.tables import deliveries
from tests.integration.conftest import house_settings

ASKED = 40


async def scraping(database: str, url: str) -> None:
    """The first of a quarter of a minute counts every row, the others do not: with all of them waiting, then sent."""
    with contextlib.closing(Store(url)) as store:
        for state, change in (("waiting", None), ("sent", _send)):
            if change:
                store.write_now(change)
            async with _process(url, store) as (http, forward):
                first = [await _once(http, forward) for _ in range(5)]
                further = [await _once(http) for _ in range(ASKED)]
                ready = [await _once(http, path="/readyz") for _ in range(ASKED)]
                bare = [await _once(http, path="/healthz") for _ in range(ASKED)]
            counted, cheap = median(first), median(further)
            print(
                f"{database}, scrape with all {state}: counting {counted * 1000:.0f} ms, else {cheap * 1000:.1f} ms, "
                f"ratio {counted / cheap:.0f}; /readyz {median(ready) * 1000:.1f} ms, "
                f"{median(ready) / median(bare):.1f} times /healthz"
            )


@contextlib.asynccontextmanager
async def _process(url: str, store: Store) -> AsyncIterator[tuple[httpx.AsyncClient, Callable[[], None]]]:
    """A web app, and what lets so much time pass that it counts anew."""
    ahead = timedelta()

    def clock() -> datetime:
        return datetime.now(UTC) + ahead

    def forward() -> None:
        nonlocal ahead
        ahead += timedelta(minutes=5)

    async def no_secret(_: str) -> None:
        return None

    with tempfile.TemporaryDirectory() as folder:
        settings = house_settings(Path(folder), 1, 2, store={"url": url})
        feishu = settings.feishu
        async with (
            FeishuClient(feishu.base_url, feishu.app_id, feishu.app_secret) as client,
            HookSender(feishu.base_url, no_secret) as hooks,
        ):
            app = web_of(assemble(settings, store, client, hooks, clock))
            async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://bot") as http:
                yield http, forward


async def _once(http: httpx.AsyncClient, before: Callable[[], None] = lambda: None, path: str = "/metrics") -> float:
    before()
    start = time.perf_counter()
    assert (await http.get(path)).status_code in {200, 503}
    return time.perf_counter() - start


def _send(tx: Transaction) -> None:
    tx.execute(update(deliveries).values(status=Status.SENT, sent_at=deliveries.c.created_at))
