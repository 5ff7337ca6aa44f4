"""The control API under /sandbox/api: the same world and actions for other people's bots and black-box tests.

GET  state            users, chats, messages, toasts, clock; violations, warnings, limit answers, pushes of events
POST users            {"name", "available"?, "open_id"?}
POST images           {"image_key"}: an image that the app has uploaded
POST actions/NAME     the keyword arguments of one of `ClientActions`' methods
POST library/NAME     the keyword arguments of one of `Library`'s methods; media as base64
POST faults           a `Fault`;  DELETE faults clears them
POST clock            {"advance_s"}
POST verify-url       {"url"?}: {"verified": bool}
POST repeat-event     {"event_type", "fresh_id"?}
POST apps             {"scopes"?, "allowed_ips"?, "enabled"?, "bot_enabled"?}: the developer console's switches
A refused request is 400 with one line in {"error"}. Bodies must be application/json: no foreign page sends that.
"""

import inspect
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, get_type_hints

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Mount, Route

from bot.sandbox.client_actions import ActionRefusedError
from bot.sandbox.faults import Fault
from bot.sandbox.state import Image

if TYPE_CHECKING:
    from bot.sandbox.app import Sandbox

ACTIONS = (
    "open_bot_chat", "say", "click", "choose_menu", "create_group", "add_bot", "remove_bot", "dissolve", "set_muted",
    "resign", "stop_messages", "set_available",
)  # fmt: skip

SHELVES = (
    "add_space", "add_page", "add_shortcut", "add_document", "edit_document", "add_table", "add_media", "forbid",
)  # fmt: skip

Body = dict[str, Any]
Handler = Callable[[Request, Body], Awaitable[Any]]


def routes(sandbox: "Sandbox") -> Sequence[BaseRoute]:
    control = Control(sandbox)
    table: list[tuple[str, str, Handler]] = [
        ("GET", "/state", control.state),
        ("POST", "/users", control.add_user),
        ("POST", "/images", control.add_image),
        ("POST", "/actions/{name}", control.act),
        ("POST", "/library/{name}", control.shelve),
        ("POST", "/faults", control.add_fault),
        ("DELETE", "/faults", control.clear_faults),
        ("POST", "/clock", control.advance),
        ("POST", "/verify-url", control.verify_url),
        ("POST", "/repeat-event", control.repeat_event),
        ("POST", "/apps", control.change_app),
    ]
    return [
        Mount(
            "/sandbox/api",
            routes=[Route(path, _endpoint(handler), methods=[method]) for method, path, handler in table],
        )
    ]


class Control:
    """One method an address."""

    def __init__(self, sandbox: "Sandbox") -> None:
        self._sandbox = sandbox

    async def state(self, request: Request, _body: Body) -> Any:
        """`?chat_id=` leaves only that chat's messages. Tokens and secrets are not shown."""
        world, sandbox = self._sandbox.world, self._sandbox
        chat_id = request.query_params.get("chat_id")
        messages = world.messages.values() if chat_id is None else world.messages_in(chat_id)
        return {
            "now": sandbox.clock.now(),
            "app": {"app_id": sandbox.settings.app_id, "bot_open_id": world.apps[sandbox.settings.app_id].bot_open_id},
            "users": _plain(world.users.values()),
            "chats": _plain(world.chats.values()),
            "messages": _plain(messages),
            "toasts": _plain(world.toasts.values()),
            "violations": world.violations,
            "warnings": world.warnings,
            "limit_answers": [asdict(answer) for answer in sandbox.limits.answers],
            "event_attempts": [asdict(attempt) for attempt in sandbox.pusher.attempts],
            "events_given_up": sandbox.pusher.given_up,
            "events_waiting": len(world.pushes),
            "calls_by_month": sandbox.limits.calls_by_month,
        }

    async def add_user(self, _request: Request, body: Body) -> Any:
        return _plain([self._sandbox.client.add_user(**_arguments(self._sandbox.client.add_user, body))])[0]

    async def add_image(self, _request: Request, body: Body) -> Any:
        image = Image(msgspec.convert(body.get("image_key"), str), self._sandbox.settings.app_id)
        self._sandbox.world.put(image)
        return {}

    async def act(self, request: Request, body: Body) -> Any:
        name = request.path_params["name"]
        if name not in ACTIONS:
            raise ActionRefusedError(f"no action {name!r}; there are: {', '.join(ACTIONS)}")
        method = getattr(self._sandbox.client, name)
        return asdict(await method(**_arguments(method, body)))

    async def shelve(self, request: Request, body: Body) -> Any:
        """What was added: its row, or its id."""
        name = request.path_params["name"]
        if name not in SHELVES:
            raise ActionRefusedError(f"no shelf {name!r}; there are: {', '.join(SHELVES)}")
        method = getattr(self._sandbox.library, name)
        added = method(**_arguments(method, body))
        return {"id": added} if isinstance(added, str) else _plain([added])[0] if added else {}

    async def add_fault(self, _request: Request, body: Body) -> Any:
        self._sandbox.faults.add(msgspec.convert(body, Fault))
        return {}

    async def clear_faults(self, _request: Request, _body: Body) -> Any:
        self._sandbox.faults.clear()
        return {}

    async def advance(self, _request: Request, body: Body) -> Any:
        self._sandbox.clock.advance(msgspec.convert(body.get("advance_s"), float))
        return {"now": self._sandbox.clock.now()}

    async def verify_url(self, _request: Request, body: Body) -> Any:
        return {"verified": await self._sandbox.verify_url(msgspec.convert(body.get("url"), str | None))}

    async def repeat_event(self, _request: Request, body: Body) -> Any:
        return {"answered": await self._sandbox.pusher.repeat(**_arguments(self._sandbox.pusher.repeat, body))}

    async def change_app(self, _request: Request, body: Body) -> Any:
        self._sandbox.change_app(**_arguments(self._sandbox.change_app, body))
        return {}


def _endpoint(handler: Handler) -> Callable[[Request], Awaitable[Response]]:
    async def respond(request: Request) -> Response:
        try:
            return _json(await handler(request, await _body_of(request)))
        except (ActionRefusedError, msgspec.MsgspecError, ValueError, TypeError) as exc:
            return _json({"error": str(exc).splitlines()[0] if str(exc) else type(exc).__name__}, 400)

    return respond


async def _body_of(request: Request) -> Body:
    if request.method != "POST":
        return {}
    if request.headers.get("content-type", "").partition(";")[0] != "application/json":
        raise ValueError("Content-Type must be application/json")
    body = msgspec.json.decode(await request.body() or b"{}")
    if not isinstance(body, dict):
        raise TypeError("the body must be an object")
    return body


def _arguments(method: Callable[..., Any], body: Body) -> Body:
    """Keyword arguments of the method from the body; TypeError or ValidationError names what does not fit."""
    signature, hints = inspect.signature(method), get_type_hints(method)
    if unknown := body.keys() - signature.parameters.keys():
        raise TypeError(f"unknown field {min(unknown)!r}; there are: {', '.join(signature.parameters)}")
    signature.bind(**body)
    return {key: msgspec.convert(value, hints[key]) for key, value in body.items()}


def _plain(rows: Any) -> list[Any]:
    return [{key: value for key, value in msgspec.to_builtins(row).items() if key != "row"} for row in rows]


def _json(value: Any, status: int = 200) -> Response:
    return Response(msgspec.json.encode(value), status_code=status, media_type="application/json")
