"""The gate before every API: envelope, token, quota, rate, scope, in the order of feishu-platform notes 2.9.

Sources: 0 (envelope), 1.5 (codes of tokens), 2.6 (limit answers), 15.13 (`X-Tt-Logid`, `error.log_id`).
"""

import uuid
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from typing import Any

import msgspec
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Match, Route

from bot.sandbox.clock import Clock
from bot.sandbox.faults import CODES_WITH_429, DEFAULT_RESET_S, Fault, Faults, HangUp
from bot.sandbox.limits import OLD_STYLE, Limits
from bot.sandbox.settings import SandboxSettings
from bot.sandbox.state import App, World

HTML = "<html><body><h1>502 Bad Gateway</h1></body></html>"
INVALID_TOKEN = "Invalid access token for authorization. Please make a request with token attached"  # noqa: S105


class RefusalError(Exception):
    """The platform's no: a body code with its HTTP status. `details` go beside `error.log_id`."""

    def __init__(
        self,
        code: int,
        msg: str,
        *,
        status: int = 400,
        headers: Mapping[str, str] | None = None,
        details: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(code, msg)
        self.code, self.msg, self.status = code, msg, status
        self.headers, self.details = dict(headers or {}), dict(details or {})


def field_violation(field: str, description: str) -> RefusalError:
    """99992402 as it was seen in the field: HTTP 400 with the field and what is wrong with it (1.5)."""
    violations = [{"field": field, "description": description}]
    return RefusalError(99992402, "field validation failed", details={"field_violations": violations})


class Call:
    """One request to one API, once it was let in. `app` is None for calls that need no token."""

    def __init__(self, request: Request, body: bytes, app: App | None, clock: Clock, pause_s: float) -> None:
        self.request, self.body, self._app, self._clock, self._pause_s = request, body, app, clock, pause_s

    @property
    def app(self) -> App:
        assert self._app is not None, "an API without a token has no app"
        return self._app

    def json(self) -> dict[str, Any]:
        """The body as an object; 9499 when it is none."""
        value = _decoded(self.body)
        if not isinstance(value, dict):
            raise RefusalError(9499, "Bad Request")
        return value

    async def pause(self) -> None:
        """Let the scripted slowness pass, once. A handler awaits it where its effect would be in progress."""
        seconds, self._pause_s = self._pause_s, 0.0
        await self._clock.sleep(seconds)


Handler = Callable[[Call], Awaitable[dict[str, Any] | Response]]


class Gateway:
    """Holds what every API needs, and turns handlers into routes."""

    def __init__(self, settings: SandboxSettings, world: World, clock: Clock, limits: Limits, faults: Faults) -> None:
        self.settings, self.world, self.clock, self.limits, self.faults = settings, world, clock, limits, faults

    def route(
        self, method: str, path: str, api: str, handler: Handler, *, scopes: Collection[str] = (), token: bool = True
    ) -> Route:
        """`handler` returns a body or a file, or raises RefusalError. Any one of `scopes` is enough."""

        async def respond(request: Request) -> Response:
            try:
                body = await request.body()
            except ClientDisconnect:
                return Response()  # nobody is there to read it
            fault = self.faults.pick(api, _receiver(request, body)) if self.faults.scripted else None
            if fault is not None and (broken := _broken(fault)) is not None:
                return broken
            try:
                app = self._admit(request, api, scopes, fault) if token else None
                _raise_scripted(fault)
                pause_s = fault.seconds if fault is not None and fault.kind == "slow" else 0.0
                call = Call(request, body, app, self.clock, pause_s)
                said = await handler(call)
                answer = said if isinstance(said, Response) else _answer(said)
                await call.pause()
                if token:
                    self.limits.count_call()
            except RefusalError as refusal:
                answer = _refused(refusal)
            return HangUp() if fault is not None and fault.kind == "drop_reply" else answer

        return Route(path, respond, methods=[method])

    def _admit(self, request: Request, api: str, scopes: Collection[str], fault: Fault | None) -> App:
        if fault is not None and fault.kind == "revoke_token":
            self._revoke_tokens()
        app = self._app_of(request.headers.get("authorization", ""))
        if app.allowed_ips is not None and (request.client is None or request.client.host not in app.allowed_ips):
            raise RefusalError(99991401, "ip is denied by app setting")
        if self.limits.over_quota():
            raise RefusalError(99991403, "This month's API call quota has been exceeded", status=429)
        if (over := self.limits.take_call(app.app_id, api)) is not None:
            raise _rate_limited(over.limit, over.reset_s, status=400 if api in OLD_STYLE else 429)
        if app.scopes is not None and scopes and not app.scopes & set(scopes):
            raise _scope_missing(scopes)
        return app

    def _app_of(self, authorization: str) -> App:
        kind, _, value = authorization.partition(" ")
        if kind != "Bearer" or not value:
            raise RefusalError(
                99991661, "Missing access token for authorization. Please make a request with token attached."
            )
        if value.startswith("u-"):
            raise RefusalError(99991668, INVALID_TOKEN)
        if not value.startswith("t-"):
            raise RefusalError(99991671, "Invalid access token format: it must start with 't-' or 'u-'")
        token = self.world.tokens.get(value)
        if token is None or token.revoked or token.expires_at <= self.clock.now():
            raise RefusalError(99991663, INVALID_TOKEN)
        app = self.world.apps[token.app_id]
        if not app.enabled:
            raise RefusalError(99991662, "app is not in use")
        return app

    def _revoke_tokens(self) -> None:
        for token in list(self.world.tokens.values()):
            if not token.revoked:
                self.world.change(token, revoked=True)


def unknown_path(known: Sequence[BaseRoute]) -> Route:
    """99991301 for a known path with another method, 99991201 for any other path of the API (1.5)."""

    async def respond(request: Request) -> Response:
        other_method = any(route.matches(request.scope)[0] is Match.PARTIAL for route in known)
        code, msg, status = (99991301, "wrong method", 405) if other_method else (99991201, "path not found", 404)
        return _refused(RefusalError(code, msg, status=status))

    return Route("/open-apis/{path:path}", respond, methods=["GET", "POST", "PUT", "PATCH", "DELETE"])


def success(data: dict[str, Any] | None = None) -> dict[str, Any]:
    """Body of the message and group APIs (15.13)."""
    return {"code": 0, "msg": "success", "data": data or {}}


def _answer(body: dict[str, Any], status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    log_id = body["error"]["log_id"] if "error" in body else _new_log_id()
    return Response(
        msgspec.json.encode(body),
        status_code=status,
        headers={"X-Tt-Logid": log_id, **(headers or {})},
        media_type="application/json; charset=utf-8",
    )


def _refused(refusal: RefusalError) -> Response:
    log_id = _new_log_id()
    error = {"log_id": log_id, "troubleshooter": f"sandbox: look up code {refusal.code}", **refusal.details}
    return _answer({"code": refusal.code, "msg": refusal.msg, "error": error}, refusal.status, refusal.headers)


def _broken(fault: Fault) -> Response | None:
    if fault.kind == "reset":
        return HangUp()
    if fault.kind == "server_error":
        return Response(HTML, status_code=fault.status or 502, media_type="text/html")
    return None


def _raise_scripted(fault: Fault | None) -> None:
    if fault is None:
        return
    if fault.kind == "rate_limited":
        raise _rate_limited(50, max(DEFAULT_RESET_S, int(fault.seconds)))
    if fault.kind == "code":
        status = fault.status or (429 if fault.code in CODES_WITH_429 else 400)
        raise RefusalError(fault.code, fault.msg, status=status)


def _rate_limited(limit: int, reset_s: int, *, status: int = 429) -> RefusalError:
    headers = {"x-ogw-ratelimit-limit": str(limit), "x-ogw-ratelimit-reset": str(reset_s)}
    return RefusalError(99991400, "request trigger frequency limit", status=status, headers=headers)


def _scope_missing(scopes: Collection[str]) -> RefusalError:
    wanted = sorted(scopes)
    violations = [{"type": "action_scope_required", "subject": scope} for scope in wanted]
    msg = f"Access denied. One of the following scopes is required: [{', '.join(wanted)}]"
    return RefusalError(99991672, msg, details={"permission_violations": violations})


def _receiver(request: Request, body: bytes) -> str | None:
    value = _decoded(body) if b'"receive_id"' in body else None
    if isinstance(value, dict):
        return str(value.get("receive_id"))
    named = request.path_params
    found = named.get("message_id") or named.get("chat_id") or named.get("token")
    return str(found) if found else None


def _decoded(body: bytes) -> Any:
    try:
        return msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def _new_log_id() -> str:
    return uuid.uuid4().hex
