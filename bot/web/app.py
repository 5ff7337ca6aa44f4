"""The bot's pages and callbacks as one ASGI app."""

from collections.abc import Awaitable, Callable

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from bot.web.webhook import Webhook


def build_web(webhook: Webhook, ready: Callable[[], Awaitable[dict[str, bool]]]) -> Starlette:
    """Routes. `ready` names what must work for the bot to do its job, and whether it does."""

    async def healthz(_: Request) -> Response:
        return JSONResponse({"ok": True})

    async def readyz(_: Request) -> Response:
        checks = await ready()
        return JSONResponse(checks, status_code=200 if all(checks.values()) else 503)

    return Starlette(
        routes=[
            Route("/feishu/events", webhook.endpoint, methods=["POST"]),
            Route("/feishu/card", webhook.endpoint, methods=["POST"]),
            Route("/healthz", healthz),
            Route("/readyz", readyz),
        ]
    )
