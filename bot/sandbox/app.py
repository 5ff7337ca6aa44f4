"""The sandbox put together: one object with its world, clock, faults and client, and one ASGI app.

    sandbox = Sandbox(SandboxSettings(event_url=…, card_url=…), page=page_routes)
    uvicorn.run(sandbox.app)

`page` is called once with the sandbox and returns the routes of its page.
"""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager

import anyio
import httpx
import msgspec
from starlette.applications import Starlette
from starlette.routing import BaseRoute

from bot.sandbox import (
    api_auth,
    api_batch,
    api_bitable,
    api_card_update,
    api_chats,
    api_docx,
    api_drive,
    api_hook,
    api_images,
    api_message_changes,
    api_messages,
    api_wiki,
    control,
    link_routes,
)
from bot.sandbox.audit import switch_audit
from bot.sandbox.batch_queue import BatchQueue
from bot.sandbox.client_actions import ClientActions
from bot.sandbox.clock import Clock
from bot.sandbox.faults import Faults
from bot.sandbox.gateway import Gateway, unknown_path
from bot.sandbox.hooks import Hooks
from bot.sandbox.hooks_clicks import OneWayPusher
from bot.sandbox.library import Library
from bot.sandbox.limits import Limits
from bot.sandbox.link_hub import Hub
from bot.sandbox.settings import SandboxSettings
from bot.sandbox.state import App, Setting, World
from bot.tls import trusted

__all__ = ["Sandbox", "SandboxSettings", "build_app"]


class Sandbox:
    """A local Feishu. Tests give `clock` (one that stands still) and `http` (which reaches the bot in process)."""

    def __init__(
        self,
        settings: SandboxSettings,
        *,
        clock: Clock | None = None,
        http: httpx.AsyncClient | None = None,
        page: Callable[["Sandbox"], Sequence[BaseRoute]] | None = None,
    ) -> None:
        self.settings = settings
        self.clock = clock or Clock()
        self.world = World(settings.journal, settings.seed)
        self.faults = Faults(settings.seed)
        self.limits = Limits(self.clock, enabled=settings.limits, monthly_calls=settings.monthly_calls)
        self.http = http or httpx.AsyncClient(trust_env=False, verify=trusted())
        self._close_http = http is None
        self.links = Hub(settings, self.world, self.clock)
        self.pusher = OneWayPusher(settings, self.world, self.clock, self.http, self.links)
        self.client = ClientActions(settings, self.world, self.pusher)
        self.library = Library(self.world, self.clock)
        self.batches = BatchQueue(settings, self.world, self.clock)
        self.hooks = Hooks(self.world)
        self.gateway = Gateway(settings, self.world, self.clock, self.limits, self.faults)
        self._register_app()
        self._remember_clock()
        self.app = build_app(self, page(self) if page else ())

    async def verify_url(self, url: str | None = None) -> bool:
        """What the developer console does when an address is saved (7.1); the event address by default."""
        return await self.pusher.verify_url(url or self.settings.event_url or "")

    def change_app(
        self,
        *,
        scopes: frozenset[str] | None = None,
        allowed_ips: frozenset[str] | None = None,
        enabled: bool = True,
        bot_enabled: bool = True,
    ) -> None:
        """The developer console's switches, all at once; what is not named goes back to "everything allowed"."""
        app = self.world.apps[self.settings.app_id]
        self.world.apps[app.app_id] = msgspec.structs.replace(
            app, scopes=scopes, allowed_ips=allowed_ips, enabled=enabled, bot_enabled=bot_enabled
        )

    def change_audit(self, *, words: tuple[str, ...] = (), leaks: bool = False) -> None:
        """The tenant's content audit, both parts at once: what is not named is off."""
        switch_audit(self.world, words, leaks=leaks)

    async def close(self) -> None:
        if self._close_http:
            await self.http.aclose()
        self.world.close()

    def _register_app(self) -> None:
        app_id = self.settings.app_id
        bot_open_id = self.world.name_id("ou_", f"bot/{app_id}")
        self.world.apps[app_id] = App(app_id, self.settings.app_secret, self.settings.bot_name, bot_open_id)

    def _remember_clock(self) -> None:
        moved = self.world.settings.get("clock_offset_s")
        self.clock.offset += moved.value if moved else 0.0
        self.clock.on_advance = lambda offset: self.world.put(Setting("clock_offset_s", offset))


def build_app(sandbox: Sandbox, extra_routes: Sequence[BaseRoute] = ()) -> Starlette:
    """The platform's API, the control API under /sandbox/api, and any further routes (the page)."""

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(sandbox.pusher.run)
            tasks.start_soon(sandbox.batches.run)
            yield
            tasks.cancel_scope.cancel()
        await sandbox.close()

    gateway = sandbox.gateway
    messages = (api_messages, api_message_changes, api_card_update, api_images, api_chats)
    apis = (api_auth, *messages, api_wiki, api_docx, api_drive, api_bitable)
    api = [route for one in apis for route in one.routes(gateway)]
    api += [*api_batch.routes(gateway, sandbox.batches), *api_hook.routes(gateway)]
    api += link_routes.routes(gateway, sandbox.links)
    return Starlette(routes=[*api, unknown_path(api), *control.routes(sandbox), *extra_routes], lifespan=lifespan)
