"""The sandbox's web page: a chat client for whoever you choose to be, and an operator's drawer.

    GET  /                                    who are you
    POST /people                              a new colleague
    GET  /as/{open_id}/                       my chats
    GET  /as/{open_id}/chats/{chat_id}/       one of them
    GET  /as/{open_id}/updates                what changed since `version` (JSON, or 204)
    POST /as/{open_id}/{action}               see page_actions.MINE
    POST /as/{open_id}/chats/{chat_id}/{action}   see page_actions.IN_CHAT
    GET  /assets/{name}
    GET  /images/{image_key}                  an uploaded picture

Everything works without a script: a POST redirects and what there is to say travels in a cookie for the next page.
A script posts the same forms with `Accept: application/json` and is answered `{"toast", "goto"}`.
"""

import base64
from collections.abc import Awaitable, Callable, Sequence
from urllib.parse import quote, urlsplit

import msgspec
from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from bot.sandbox.app import Sandbox
from bot.sandbox.assets import asset, render
from bot.sandbox.audit import audit_of
from bot.sandbox.page_actions import IN_CHAT, MINE, Action, Outcome, PageToast, Visit, perform
from bot.sandbox.page_images import PATH, image_endpoint
from bot.sandbox.page_view import Sight, face
from bot.sandbox.state import User

_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; "
    "form-action 'self'; connect-src 'self'; base-uri 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cache-Control": "no-store",
}
_ASSETS = {"card.css": "text/css", "page.css": "text/css", "page.js": "text/javascript"}
_MENU = (("subscribe", "订阅"), ("today", "今日"), ("settings", "设置"), ("unsubscribe", "退订"), ("help", "帮助"))
_SHOWN_MESSAGES = 30
_MOST_MESSAGES = 1000
_MOST_PEOPLE = 100
_FLASH = "flash"
_PARTS = ("chats", "head", "messages", "composer")
Endpoint = Callable[[Request], Awaitable[Response]]


def page_routes(sandbox: Sandbox) -> Sequence[BaseRoute]:
    """The routes of the page, for `Sandbox(…, page=page_routes)`."""
    page = _Page(sandbox)
    return [
        Route("/", _guarded(page.people)),
        Route("/people", _guarded(page.act_on_world), methods=["POST"]),
        Route("/assets/{name}", _guarded(page.asset)),
        Route(PATH, _guarded(image_endpoint(sandbox.world))),
        Route("/as/{open_id}/", _guarded(page.client)),
        Route("/as/{open_id}/updates", _guarded(page.updates)),
        Route("/as/{open_id}/chats/{chat_id}/", _guarded(page.client)),
        Route("/as/{open_id}/chats/{chat_id}/{action}", _guarded(page.act_in_chat), methods=["POST"]),
        Route("/as/{open_id}/{action}", _guarded(page.act_on_mine), methods=["POST"]),
    ]


def _guarded(endpoint: Endpoint) -> Endpoint:
    """Refuse what another site posts; let the browser load nothing but our own files."""

    async def run(request: Request) -> Response:
        if request.method == "POST" and not _is_same_origin(request):
            return PlainTextResponse("这个请求来自别的网站，已拒绝。\n", 403, _HEADERS)
        response = await endpoint(request)
        for name, value in _HEADERS.items():
            response.headers.setdefault(name, value)
        return response

    return run


def _is_same_origin(request: Request) -> bool:
    """Browsers say where a POST comes from; what says nothing is no browser and carries nobody's session."""
    site = request.headers.get("sec-fetch-site")
    if site is not None:
        return site in {"same-origin", "none"}
    origin = request.headers.get("origin")
    return origin is None or urlsplit(origin).netloc == request.headers.get("host")


class _Page:
    def __init__(self, sandbox: Sandbox) -> None:
        self.sandbox = sandbox
        self.world = sandbox.world

    async def people(self, request: Request) -> Response:
        """Everybody one can be; a name can be searched for when there are many."""
        wanted = request.query_params.get("q", "").strip()
        found = [user for user in self.world.users.values() if wanted in user.name and not user.resigned]
        rows = [(_home(user.open_id), face(user.name, user.open_id), user) for user in found[:_MOST_PEOPLE]]
        toast = _flash(request)
        bot = self.world.apps[self.sandbox.settings.app_id].name
        html = render("people.html.j2", rows=rows, total=len(found), wanted=wanted, toast=toast, bot=bot)
        return _without_flash(HTMLResponse(html), request)

    async def client(self, request: Request) -> Response:
        me = self._me(request)
        if me is None:
            return _missing("没有这个人，或者已经离职。", "/")
        sight = self._sight(request, me)
        chat_id = request.path_params.get("chat_id")
        if chat_id is not None and sight.chat(chat_id) is None:
            return _missing("没有这个会话，或者你已经不在里面。", _home(me.open_id))
        values = self._values(request, sight, chat_id)
        response = HTMLResponse(render("client.html.j2", **values, toast=_flash(request)))
        self._remember_seen(response, sight, chat_id)
        return _without_flash(response, request)

    async def updates(self, request: Request) -> Response:
        """The parts of the page, drawn anew; 204 while nothing happened, and then nothing is drawn."""
        me, chat_id = self._me(request), request.query_params.get("chat") or None
        sight = self._sight(request, me) if me else None
        if sight is None or (chat_id and sight.chat(chat_id) is None):
            return Response(status_code=404)
        version = sight.version(chat_id, _shown_count(request))
        if version == request.query_params.get("version"):
            return Response(status_code=204)
        values = self._values(request, sight, chat_id)
        parts = {name: render(f"{name}.html.j2", **values) for name in _PARTS}
        response = JSONResponse({"version": version, "parts": parts})
        self._remember_seen(response, sight, chat_id)
        return response

    async def asset(self, request: Request) -> Response:
        name = request.path_params["name"]
        if name not in _ASSETS:
            return Response(status_code=404)
        return Response(asset(name), media_type=_ASSETS[name])

    async def act_on_world(self, request: Request) -> Response:
        form = await request.form()
        user = self.sandbox.client.add_user(_text(form, "name").strip()[:40] or "新同事")
        return self._answer(request, Outcome(goto=_home(user.open_id)), "/")

    async def act_on_mine(self, request: Request) -> Response:
        return await self._act(request, MINE.get(request.path_params["action"]), None)

    async def act_in_chat(self, request: Request) -> Response:
        chat_id = request.path_params["chat_id"]
        return await self._act(request, IN_CHAT.get(request.path_params["action"]), chat_id)

    async def _act(self, request: Request, action: Action | None, chat_id: str | None) -> Response:
        me = self._me(request)
        if me is None or action is None:
            return _missing("没有这个操作。", "/")
        visit = Visit(self.sandbox, me, chat_id, await request.form())
        back = _chat(me.open_id, chat_id) if chat_id else _home(me.open_id)
        return self._answer(request, await perform(action, visit), back)

    def _answer(self, request: Request, outcome: Outcome, back: str) -> Response:
        """A toast is shown at once by a script that stays on its page, else by the next page."""
        with_script = "application/json" in request.headers.get("accept", "")
        if with_script and outcome.goto is None:
            return JSONResponse({"toast": msgspec.to_builtins(outcome.toast), "goto": None})
        goto = outcome.goto or back
        response = JSONResponse({"toast": None, "goto": goto}) if with_script else RedirectResponse(goto, 303)
        if outcome.toast:
            value = base64.urlsafe_b64encode(msgspec.json.encode(outcome.toast)).decode()
            response.set_cookie(_FLASH, value, max_age=60, httponly=True, samesite="strict")
        return response

    def _me(self, request: Request) -> User | None:
        user = self.world.users.get(request.path_params["open_id"])
        return user if user and not user.resigned else None

    def _sight(self, request: Request, me: User) -> Sight:
        return Sight(self.sandbox, me, lambda chat_id: _whole(request.cookies.get(_seen_cookie(chat_id))))

    def _values(self, request: Request, sight: Sight, chat_id: str | None) -> dict[str, object]:
        """What the templates need. The whole page and its updates are drawn from the same values."""
        most = _shown_count(request)
        chat = sight.chat(chat_id) if chat_id else None
        count = len(self.world.messages_in(chat.chat_id)) if chat else 0
        return {
            "me": sight.me,
            "my_face": face(sight.me.name, sight.me.open_id),
            "bot": sight.bot_face(),
            "bot_chat_id": sight.bot_chat_id,
            "home": _home(sight.me.open_id),
            "chats": sight.chats(chat_id),
            "chat": chat,
            "has_bot": chat is not None and sight.has_bot(chat),
            "members": sight.members(chat) if chat and chat.mode == "group" else [],
            "messages": sight.messages(chat, most) if chat else [],
            "earlier": most + _SHOWN_MESSAGES if count > most else 0,
            "show": most,
            "menu": _MENU,
            "colleagues": self._colleagues(sight.me),
            "audit": audit_of(self.world, self.sandbox.settings),
            "version": sight.version(chat_id, most),
        }

    def _colleagues(self, me: User) -> list[User]:
        others = (user for user in self.world.users.values() if user is not me and not user.resigned)
        return [user for user, _ in zip(others, range(_MOST_PEOPLE), strict=False)]

    def _remember_seen(self, response: Response, sight: Sight, chat_id: str | None) -> None:
        """What was shown is remembered in the browser: looking changes nothing in the sandbox."""
        if chat_id and sight.chat(chat_id):
            count = str(len(self.world.messages_in(chat_id)))
            path = _home(sight.me.open_id)
            response.set_cookie(_seen_cookie(chat_id), count, path=path, httponly=True, samesite="strict")


def _home(open_id: str) -> str:
    return f"/as/{quote(open_id, safe='')}/"


def _chat(open_id: str, chat_id: str) -> str:
    return f"{_home(open_id)}chats/{quote(chat_id, safe='')}/"


def _seen_cookie(chat_id: str) -> str:
    return f"seen-{quote(chat_id, safe='')}"


def _text(form: FormData, name: str) -> str:
    value = form.get(name)
    return value if isinstance(value, str) else ""


def _shown_count(request: Request) -> int:
    return min(max(_whole(request.query_params.get("show")), _SHOWN_MESSAGES), _MOST_MESSAGES)


def _whole(text: str | None) -> int:
    return int(text) if text and text.isascii() and text.isdigit() and len(text) < 9 else 0


def _flash(request: Request) -> PageToast | None:
    """What the last action had to say."""
    try:
        return msgspec.json.decode(base64.urlsafe_b64decode(request.cookies.get(_FLASH, "")), type=PageToast)
    except (ValueError, msgspec.DecodeError):
        return None


def _without_flash(response: Response, request: Request) -> Response:
    if _FLASH in request.cookies:
        response.delete_cookie(_FLASH)
    return response


def _missing(words: str, back: str) -> Response:
    return HTMLResponse(render("missing.html.j2", words=words, back=back), 404)
