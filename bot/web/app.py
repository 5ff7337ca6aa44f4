"""The bot's pages and callbacks as one ASGI app."""

from collections.abc import Awaitable, Callable, Sequence

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from bot.web.webhook import Webhook


def build_web(
    webhook: Webhook | None, ready: Callable[[], Awaitable[dict[str, bool]]], pages: Sequence[BaseRoute] = ()
) -> Starlette:
    """Routes. `webhook`: none where nothing can prove a callback. `ready` names what must work, and whether it does.

    `pages`: what people open in a browser.
    """

    async def healthz(_: Request) -> Response:
        return JSONResponse({"ok": True})

    async def readyz(_: Request) -> Response:
        checks = await ready()
        return JSONResponse(checks, status_code=200 if all(checks.values()) else 503)

    routes: list[BaseRoute] = [Route("/healthz", healthz), Route("/readyz", readyz)]
    if webhook is not None:
        routes += [Route(one, webhook.endpoint, methods=["POST"]) for one in ("/feishu/events", "/feishu/card")]
    return Starlette(routes=[*routes, *pages])
