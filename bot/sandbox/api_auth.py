"""Access tokens of the app. Source: feishu-platform notes 1.1 and 1.4 (page TOK), 15.2."""

import secrets
from collections.abc import Sequence
from typing import Any

from starlette.routing import BaseRoute

from bot.sandbox.gateway import Call, Gateway, RefusalError
from bot.sandbox.state import Token

TOKEN_LIFE_S = 7200
RENEW_BELOW_S = 1800  # with 30 min or more left the same token comes again


def routes(gateway: Gateway) -> Sequence[BaseRoute]:
    """POST only: GET is no longer accepted since 2023-02-28. Neither needs a token nor counts against the quota."""

    async def tenant_access_token(call: Call) -> dict[str, Any]:
        token, expire = _issue(gateway, call.json())
        return {"code": 0, "msg": "ok", "tenant_access_token": token, "expire": expire}

    async def app_access_token(call: Call) -> dict[str, Any]:
        token, expire = _issue(gateway, call.json())
        return {"code": 0, "msg": "ok", "app_access_token": token, "tenant_access_token": token, "expire": expire}

    auth = "/open-apis/auth/v3"
    return [
        gateway.route("POST", f"{auth}/tenant_access_token/internal", "token", tenant_access_token, token=False),
        gateway.route("POST", f"{auth}/app_access_token/internal", "token", app_access_token, token=False),
    ]


def _issue(gateway: Gateway, body: dict[str, Any]) -> tuple[str, int]:
    """The newest token with 30 min or more left, else a new one; the old one lives on until it expires."""
    app_id = _credentials_checked(gateway, body)
    now = gateway.clock.now()
    alive = [
        token
        for token in gateway.world.tokens.values()
        if token.app_id == app_id and not token.revoked and token.expires_at - now >= RENEW_BELOW_S
    ]
    token = max(alive, key=lambda one: one.expires_at, default=None)
    if token is None:
        token = Token(f"t-{secrets.token_hex(20)}", app_id, now + TOKEN_LIFE_S)
        gateway.world.put(token)
    return token.token, int(token.expires_at - now)


def _credentials_checked(gateway: Gateway, body: dict[str, Any]) -> str:
    """HTTP 200 with a code: the status is unconfirmed (1.4), and 200 is the one that a careless client misses."""
    app_id, secret = body.get("app_id"), body.get("app_secret")
    if not isinstance(app_id, str) or not isinstance(secret, str) or not app_id.startswith("cli_") or not secret:
        raise RefusalError(10003, "invalid param", status=200)
    app = gateway.world.apps.get(app_id)
    if app is None:
        raise RefusalError(10014, "app id not exists", status=200)
    if not secrets.compare_digest(app.secret.encode(), secret.encode()):
        raise RefusalError(10014, "app secret invalid", status=200)
    return app_id
