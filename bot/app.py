"""Running the bot: starts what a role needs and stops it in order."""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import datetime
from enum import StrEnum

from apscheduler.schedulers.asyncio import AsyncIOScheduler
from starlette.applications import Starlette

from bot.assembly import Parts, assemble, web_of
from bot.config import require_service
from bot.domain.errors import DigestError, SendError, UsageError
from bot.feishu.client import FeishuClient
from bot.feishu.documents import FeishuDocuments
from bot.feishu.hooks import HookSender
from bot.parts import (
    all_series,
    now_utc,
    open_store,
)
from bot.scheduler import build_scheduler
from bot.services.archiving import put_away
from bot.services.groups import Listed
from bot.services.returning import end_pauses
from bot.services.review import CheckLinks
from bot.serving import listen, serving, until_signal
from bot.settings import Settings
from bot.store import alerts, changes, claiming, inbox, pace, pauses, webhooks
from bot.store.engine import Transaction

log = logging.getLogger(__name__)

STOP_WITHIN_S = 6.0
COUNT_EVERY_S = 60.0


class Role(StrEnum):
    """What a process does; several may share the roles once the database is a server."""

    ALL = "all"
    WEB = "web"
    SENDER = "sender"
    SCHEDULER = "scheduler"

    def does(self, role: "Role") -> bool:
        """Whether a process of this role does the work of that one."""
        return self in {Role.ALL, role}


async def serve(settings: Settings, role: Role = Role.ALL) -> None:
    """Run the bot until SIGINT or SIGTERM, with its web server where the role has one."""
    require_service(settings)
    async with contextlib.AsyncExitStack() as stack:
        # The port first: whoever finds it taken must not touch the database.
        listener = listen(settings.web.host, settings.web.port) if role.does(Role.WEB) else None
        web = await stack.enter_async_context(running(settings, role=role))
        where: dict[str, object] = {}
        if listener is not None:
            await stack.enter_async_context(serving(web, listener))
            where = {"host": settings.web.host, "port": listener.getsockname()[1]}
        log.info("started", extra={"role": role, **where})
        await until_signal()
        log.info("stopping")


@contextlib.asynccontextmanager
async def running(
    settings: Settings,
    clock: Callable[[], datetime] = now_utc,
    role: Role = Role.ALL,
    check_links: CheckLinks | None = None,
) -> AsyncIterator[Starlette]:
    """The bot's loops; yields its web app. `clock` tells the time: tests move it. `check_links`: see `build_desk`.

    Stop order: claim nothing more → scheduler → what is in flight → HTTP → database. What is cut off keeps its lease.
    """
    store, feishu = open_store(settings), settings.feishu
    with contextlib.closing(store), store.held_by_one():
        if role is not Role.ALL and not store.is_shared:
            raise UsageError(f"--role {role} needs PostgreSQL; set store.url, or run all roles in one process")

        async def secret_of(address: str) -> str | None:
            return await store.read(webhooks.secret_of, address)

        async with (
            FeishuClient(feishu.base_url, feishu.app_id, feishu.app_secret) as client,
            HookSender(feishu.base_url, secret_of) as hooks,
        ):
            await store.write(_take_over, clock())
            parts = assemble(settings, store, client, hooks, clock, check_links)
            async with asyncio.TaskGroup() as tasks:
                stop = _start(parts, role, tasks)
                try:
                    yield web_of(parts)
                finally:
                    await stop()
                    await store.write(parts.calls.write, clock())


def _start(parts: Parts, role: Role, tasks: asyncio.TaskGroup) -> Callable[[], Awaitable[None]]:
    """Begin what the role does; returns what ends it, in order."""
    background = [tasks.create_task(_greet(parts.client)), tasks.create_task(_count(parts))]
    ending: list[asyncio.Task[None]] = []
    if role.does(Role.SENDER):
        ending += [tasks.create_task(one.run()) for one in (parts.deliverer, parts.batches, parts.changes)]
    at_work: set[asyncio.Task[object]] = set()
    scheduler = _scheduler(parts, at_work)
    if role.does(Role.SCHEDULER):
        background.append(tasks.create_task(parts.leader.run()))
        scheduler.start()
    if role.does(Role.WEB):
        background.append(tasks.create_task(parts.interactor.run(parts.clock)))
    link = parts.link if role.does(Role.WEB) else None
    if link is not None:
        ending.append(tasks.create_task(link.run()))

    async def stop() -> None:
        parts.deliverer.stop()
        parts.batches.stop()
        parts.changes.stop()
        if scheduler.running:
            scheduler.shutdown(wait=False)
        if link is not None:
            link.stop()
        if still := {*ending, *at_work}:
            await asyncio.wait(still, timeout=STOP_WITHIN_S)
        for task in (*ending, *background):
            task.cancel()

    return stop


def _scheduler(parts: Parts, at_work: set[asyncio.Task[object]]) -> AsyncIOScheduler:
    async def publish_due() -> None:
        if not await parts.leader.leads():
            return
        try:
            await end_pauses(parts.store, parts.interactor.replies, parts.clock())
            await parts.publisher.publish_due(parts.clock())
        except UsageError as exc:
            log.warning("publish_refused", extra={"reason": str(exc)})
        parts.deliverer.wake()

    async def chores() -> None:
        if not await parts.leader.leads():
            return
        await parts.store.write(_forget, parts.clock())
        await put_away(parts.store, parts.clock())
        await parts.desk.receipts.ask_who_read(parts.clock())
        try:
            await parts.interactor.reconcile(lambda: _groups(parts.documents), parts.clock())
        except (DigestError, SendError) as exc:
            log.warning("groups_not_listed", extra={"reason": str(exc)})

    async def tell() -> None:
        if await parts.leader.leads():
            await parts.desk.tick(parts.clock())
            parts.deliverer.wake()

    return build_scheduler(all_series(parts.settings), publish_due, chores, tell, at_work)


async def _groups(documents: FeishuDocuments) -> list[Listed]:
    """The groups that the platform says the bot is in."""
    return [
        Listed(str(one.get("chat_id")), str(one.get("name") or ""), external=bool(one.get("external")))
        for one in await documents.chats()
    ]


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


async def _count(parts: Parts) -> None:
    """Calls that no delivery writes down, such as those of a process that only serves the web."""
    while True:
        await asyncio.sleep(COUNT_EVERY_S)
        await parts.store.write(parts.calls.write, parts.clock())


def _take_over(tx: Transaction, now: datetime) -> None:
    """Go on where the last process stopped: what it was sending is ours, and what it had paused gets a new try.

    A restart is how a human says that the cause is mended; if it is not, the first send pauses again. What an admin
    paused by hand stays so.
    """
    pause = pauses.of_queue(tx, now)
    if pause is not None and not pause.is_by_hand:
        pauses.lift(tx, pauses.QUEUE)
    claiming.revive(tx, now, orphaned=True)
    changes.revive(tx, now, orphaned=True)


def _forget(tx: Transaction, now: datetime) -> None:
    inbox.forget(tx, now)
    pace.forget(tx, now)
    alerts.forget(tx, now)
