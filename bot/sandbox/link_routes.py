"""The two addresses of the long connection: where to connect to, and the connection itself.

Sources: feishu-platform notes 7.6, lark-oapi notes 5.
"""

import secrets
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlencode

from starlette.requests import HTTPConnection
from starlette.routing import BaseRoute, WebSocketRoute
from starlette.types import Receive, Scope, Send

from bot.sandbox.gateway import Call, Gateway, RefusalError
from bot.sandbox.link_hub import AUTH_FAILED, FORBIDDEN, TOO_MANY, Hub, UpgradeRefusedError
from bot.sandbox.link_wire import Wire, config_of

CONNECT = "/callback/ws/connect"
NO_CREDENTIAL = 1000040344


def routes(gateway: Gateway, hub: Hub) -> Sequence[BaseRoute]:
    """Refusals of the address call come with HTTP 200: only the code says no. Its api name for faults is `link`."""

    async def endpoint(call: Call) -> dict[str, Any]:
        _check(gateway, hub, call.json())
        await call.pause()
        url = call.request.url
        scheme = "wss" if url.scheme == "https" else "ws"
        address = f"{scheme}://{url.netloc}{CONNECT}?{urlencode(hub.issue().query())}"
        return {"code": 0, "msg": "", "data": {"URL": address, "ClientConfig": config_of(gateway.settings)}}

    return [
        gateway.route("POST", "/callback/ws/endpoint", "link", endpoint, token=False),
        WebSocketRoute(CONNECT, _Connections(gateway, hub)),
    ]


def _check(gateway: Gateway, hub: Hub, body: dict[str, Any]) -> None:
    app_id, secret = body.get("AppID"), body.get("AppSecret")
    if not isinstance(app_id, str) or not isinstance(secret, str) or not app_id or not secret:
        raise RefusalError(NO_CREDENTIAL, "no credential", status=200)
    app = gateway.world.apps.get(app_id)
    if app is None or not secrets.compare_digest(app.secret.encode(), secret.encode()):
        raise RefusalError(AUTH_FAILED, "auth failed", status=200)
    if not app.enabled or not app.bot_enabled:
        raise RefusalError(FORBIDDEN, "forbidden", status=200)
    if hub.is_full:
        raise RefusalError(TOO_MANY, "the number of connections exceeded the limit", status=200)


class _Connections:
    """Plain ASGI: a cut needs the server's own `receive`."""

    def __init__(self, gateway: Gateway, hub: Hub) -> None:
        self._gateway, self._hub = gateway, hub

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await receive()
        hub = self._hub
        try:
            ticket = hub.admit(dict(HTTPConnection(scope).query_params))
        except UpgradeRefusedError as refusal:
            await _refuse(refusal, send)
            return
        await send({"type": "websocket.accept"})
        settings, clock, misuse = self._gateway.settings, self._gateway.clock, self._gateway.world.violations
        wire = Wire(ticket.device_id, ticket.service_id, receive, send, settings, clock, hub.faults, misuse)
        with hub.open(wire):
            await wire.serve()


async def _refuse(refusal: UpgradeRefusedError, send: Send) -> None:
    headers = [(name.encode(), value.encode()) for name, value in refusal.headers.items()]
    await send({"type": "websocket.http.response.start", "status": 403, "headers": headers})
    await send({"type": "websocket.http.response.body", "body": b""})
