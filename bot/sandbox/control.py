"""The control API under /sandbox/api: the same world and actions for other people's bots and black-box tests.

GET  state            users, chats, messages, uploads, reads, toasts, audit, clock; violations, warnings, limit answers,
                      pushes of events
POST users            {"name", "available"?, "open_id"?}
POST images           {"image_key"}: a key that counts as the app's own without an upload
POST audit            {"words"?, "leaks"?}: the content audit; what is not named is off
POST actions/NAME     the keyword arguments of one of `ClientActions`' methods
POST library/NAME     the keyword arguments of one of `Library`'s methods; media as base64
POST faults           a `Fault`;  DELETE faults clears them
POST link-faults      a `LinkFault`;  DELETE link-faults clears them
POST links/cut        drops every long connection now
POST clock            {"advance_s"}
POST verify-url       {"url"?}: {"verified": bool}
POST repeat-event     {"event_type", "fresh_id"?}
POST apps             {"scopes"?, "allowed_ips"?, "enabled"?, "bot_enabled"?}: the developer console's switches
POST hooks            {"chat_id", "name"?, "secret"?, "keywords"?, "ips"?}: a custom bot of a group
GET  hooks/TOKEN      the messages that it wrote;  DELETE hooks/TOKEN removes it
GET  batches          all batch sends;  GET batches/ID one with its messages, and its readers
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

from bot.sandbox.audit import audit_of
from bot.sandbox.client_actions import ActionRefusedError
from bot.sandbox.faults import Fault
from bot.sandbox.link_faults import LinkFault
from bot.sandbox.state import Image

if TYPE_CHECKING:
    from bot.sandbox.app import Sandbox

ACTIONS = (
    "open_bot_chat", "say", "click", "choose_menu", "create_group", "add_bot", "remove_bot", "dissolve", "set_muted",
    "resign", "stop_messages", "set_available", "read_chat", "delete_message",
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
        ("POST", "/audit", control.audit),
        ("POST", "/actions/{name}", control.act),
        ("POST", "/library/{name}", control.shelve),
        ("POST", "/faults", control.add_fault),
        ("DELETE", "/faults", control.clear_faults),
        ("POST", "/link-faults", control.add_link_fault),
        ("DELETE", "/link-faults", control.clear_link_faults),
        ("POST", "/links/cut", control.cut_links),
        ("POST", "/clock", control.advance),
        ("POST", "/verify-url", control.verify_url),
        ("POST", "/repeat-event", control.repeat_event),
        ("POST", "/apps", control.change_app),
        ("POST", "/hooks", control.add_hook),
        ("GET", "/hooks/{token}", control.hook),
        ("DELETE", "/hooks/{token}", control.remove_hook),
        ("GET", "/batches", control.batches),
        ("GET", "/batches/{batch_id}", control.batch),
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
            "uploads": [_upload(image) for image in world.images.values() if image.content],
            "reads": _plain(world.reads.values()),
            "audit": _plain([audit_of(world, sandbox.settings)])[0],
            "violations": world.violations,
            "warnings": world.warnings,
            "limit_answers": [asdict(answer) for answer in sandbox.limits.answers],
            "links": [{"device_id": one.device_id, "pushed": one.pushed} for one in sandbox.links.wires.values()],
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

    async def audit(self, _request: Request, body: Body) -> Any:
        self._sandbox.change_audit(**_arguments(self._sandbox.change_audit, body))
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

    async def add_link_fault(self, _request: Request, body: Body) -> Any:
        self._sandbox.links.faults.add(msgspec.convert(body, LinkFault))
        return {}

    async def clear_link_faults(self, _request: Request, _body: Body) -> Any:
        self._sandbox.links.faults.clear()
        return {}

    async def cut_links(self, _request: Request, _body: Body) -> Any:
        self._sandbox.links.cut_all()
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

    async def add_hook(self, _request: Request, body: Body) -> Any:
        """Its address; the secret is not told back."""
        hook = self._sandbox.hooks.add(**_arguments(self._sandbox.hooks.add, body))
        told = {"token": hook.token, "path": f"/open-apis/bot/v2/hook/{hook.token}"}
        return {**told, "chat_id": hook.chat_id, "name": hook.name, "sender_id": hook.sender_id}

    async def hook(self, request: Request, _body: Body) -> Any:
        hooks = self._sandbox.hooks
        return {"messages": _plain(hooks.messages_of(hooks.get(request.path_params["token"])))}

    async def remove_hook(self, request: Request, _body: Body) -> Any:
        self._sandbox.hooks.remove(request.path_params["token"])
        return {}

    async def batches(self, _request: Request, _body: Body) -> Any:
        self._sandbox.batches.settle()
        return {"batches": _plain(self._sandbox.world.batches.values())}

    async def batch(self, request: Request, _body: Body) -> Any:
        queue = self._sandbox.batches
        queue.settle()
        batch = self._sandbox.world.batches.get(request.path_params["batch_id"])
        if batch is None:
            raise ActionRefusedError("there is no such batch")
        messages = _plain(queue.messages_of(batch))
        return {**_plain([batch])[0], "messages": messages, "readers": queue.readers_of(batch)}


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


def _upload(image: Image) -> dict[str, Any]:
    """One upload, without its bytes."""
    shown = msgspec.structs.asdict(image)
    return {**shown, "content": None, "bytes": len(image.content)}


def _plain(rows: Any) -> list[Any]:
    return [{key: value for key, value in msgspec.to_builtins(row).items() if key != "row"} for row in rows]


def _json(value: Any, status: int = 200) -> Response:
    return Response(msgspec.json.encode(value), status_code=status, media_type="application/json")
