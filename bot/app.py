"""Composition root: builds the parts from the settings and runs them until told to stop."""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Callable
from datetime import datetime

from apscheduler.schedulers.asyncio import AsyncIOScheduler
from starlette.applications import Starlette

from bot.cards.templates import CardTemplates
from bot.config import require_service
from bot.domain.errors import SendError, UsageError
from bot.domain.rate import Rate
from bot.feishu.client import FeishuClient
from bot.parts import all_series, app_rate, build_publisher, build_sources, now_utc, open_store
from bot.scheduler import build_scheduler
from bot.services.deliver import Deliverer
from bot.services.interact import Interactor
from bot.services.publish import Publisher
from bot.serving import listen, serving, until_signal
from bot.settings import Settings
from bot.store import inbox, outbox, pace, pauses
from bot.store.engine import Store, Transaction
from bot.web.app import build_web
from bot.web.webhook import Credentials, Webhook

log = logging.getLogger(__name__)

STOP_WITHIN_S = 6.0


async def serve(settings: Settings) -> None:
    """Run the bot with its web server until SIGINT or SIGTERM."""
    require_service(settings)
    listener = listen(settings.web.host, settings.web.port)
    async with running(settings) as web, serving(web, listener):
        log.info("started", extra={"host": settings.web.host, "port": listener.getsockname()[1]})
        await until_signal()
        log.info("stopping")


@contextlib.asynccontextmanager
async def running(settings: Settings, clock: Callable[[], datetime] = now_utc) -> AsyncIterator[Starlette]:
    """The bot's loops; yields its web app. `clock` tells the time: tests move it.

    Stop order: claim nothing more → scheduler → what is in flight → HTTP → database. What is cut off keeps its lease.
    """
    store = open_store(settings)
    feishu = settings.feishu
    with contextlib.closing(store), store.held_by_one():
        async with FeishuClient(feishu.base_url, feishu.app_id, feishu.app_secret) as client:
            await store.write(_take_over, clock())
            publisher = build_publisher(settings, store, build_sources(settings, client.documents()))
            own = Rate.per_receiver(settings.delivery.per_receiver_per_second)
            deliverer = Deliverer(store, client, clock, app_rate(settings), own)
            scheduler = _scheduler(settings, store, publisher, deliverer, clock)
            async with asyncio.TaskGroup() as tasks:
                sending = tasks.create_task(deliverer.run())
                greeting = tasks.create_task(_greet(client))
                scheduler.start()
                try:
                    yield _web(settings, store, publisher, deliverer, clock)
                finally:
                    deliverer.stop()
                    scheduler.shutdown(wait=False)
                    await asyncio.wait([sending], timeout=STOP_WITHIN_S)
                    sending.cancel()
                    greeting.cancel()


def _web(
    settings: Settings, store: Store, publisher: Publisher, deliverer: Deliverer, clock: Callable[[], datetime]
) -> Starlette:
    interactor = Interactor(
        store, CardTemplates(), all_series(settings), publisher, settings.admin.open_ids, deliverer.wake
    )
    credentials = Credentials(settings.feishu.encrypt_key, settings.feishu.verification_token)

    async def ready() -> dict[str, bool]:
        pause = await store.read(pauses.of_queue, clock())
        return {"database": True, "queue": pause is None}

    return build_web(Webhook(credentials, interactor.handle, clock), ready)


def _scheduler(
    settings: Settings, store: Store, publisher: Publisher, deliverer: Deliverer, clock: Callable[[], datetime]
) -> AsyncIOScheduler:
    async def publish_due() -> None:
        try:
            await publisher.publish_due(clock())
        except UsageError as exc:
            log.warning("publish_refused", extra={"reason": str(exc)})
        deliverer.wake()

    async def chores() -> None:
        await store.write(_forget, clock())

    return build_scheduler(all_series(settings), publish_due, chores)


async def _greet(client: FeishuClient) -> None:
    """Say at the start whether the credentials work: an operator should not wait for the first push to learn it."""
    try:
        await client.bot_info()
    except SendError as exc:
        log.error(  # noqa: TRY400  the cause is in the fields; a traceback would tell nothing more
            "feishu_refused", extra={"code": exc.code, "reason": exc.reason, "log_id": exc.log_id}
        )
    else:
        log.info("feishu_ready")


def _take_over(tx: Transaction, now: datetime) -> None:
    """Go on where the last process stopped: what it was sending is ours, and what it had paused gets a new try.

    A restart is how a human says that the cause is mended; if it is not, the first send pauses again.
    """
    pauses.lift(tx, pauses.QUEUE)
    outbox.revive(tx, now, orphaned=True)


def _forget(tx: Transaction, now: datetime) -> None:
    inbox.forget(tx, now)
    pace.forget(tx, now)
