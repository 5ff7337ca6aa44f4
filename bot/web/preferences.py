"""The preferences page behind a signed link. Opening it changes nothing: mail and chat scanners open every link."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from urllib.parse import parse_qs, urlencode

from starlette.requests import ClientDisconnect, Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from bot.domain.errors import ActionError
from bot.services.links import PATH
from bot.services.preference_page import STALE, PreferencePage
from bot.web.pages import HEADERS, page

LONGEST_BODY = 64 * 1024
HOOKS = "hook-"  # what is done about custom bots begins so
SAID = {
    "save": "已保存。",
    "pause": "已暂停，到那天会自动恢复。",
    "resume": "已恢复推送。",
    "leave": "已退订，不会再收到推送。",
    "undo": "已撤销退订，原来的设置都还在。",
    "subscribe": "订阅成功。",
    "hook-add": "已添加，以后每一期都会发到那个群；今天的如果已经发出，马上补上。",
    "hook-back": "已恢复，以后每一期照常发到那个群。",
    "hook-there": "这个地址你已经添加过了，没有改动。",
    "hook-secret": "密钥已更新。",
    "hook-stop": "已停止，不会再往那个群发了。",
}


class Preferences:
    """GET shows, POST changes and leads back. Every refusal is a page with the way on."""

    def __init__(self, service: PreferencePage, clock: Callable[[], datetime]) -> None:
        self._service = service
        self._clock = clock

    def routes(self) -> list[Route]:
        """What to hang into the app."""
        return [Route(PATH, self.show, methods=["GET"]), Route(PATH, self.change, methods=["POST"])]

    async def show(self, request: Request) -> Response:
        """Everything as it is."""
        return await self._page(request.query_params.get("t", ""), request.query_params.get("said", ""))

    async def change(self, request: Request) -> Response:
        """One change, then back to the page: to load it again sends nothing again."""
        form = await _form(request)
        typed = {name: values[0] for name, values in form.items() if name != "secret"}
        token = typed.get("t", "")
        try:
            done = await self._service.change(token, form, self._clock())
        except ActionError as exc:
            status = 403 if str(exc) == STALE else 422
            return await self._page(token, typed.get("do", ""), problem=str(exc), status=status, typed=typed)
        query = urlencode({"t": token, "said": done})
        return RedirectResponse(f"{PATH}?{query}", status_code=303, headers=HEADERS)

    async def _page(
        self,
        token: str,
        done: str,
        *,
        problem: str = "",
        status: int = 200,
        typed: Mapping[str, str] | None = None,
    ) -> Response:
        """`done`: in a word what was done, or what there is a problem with; `typed`: what a refused form held."""
        said = "" if problem else SAID.get(done, "")
        try:
            view = await self._service.view(token, self._clock())
        except ActionError as exc:
            return page("link.html.j2", status=403, problem=str(exc))
        values = {
            "token": token,
            "csrf": self._service.links.form_token(token),
            "view": view,
            "said": said,
            "problem": problem,
            "about_hooks": bool(said or problem) and done.startswith(HOOKS),
            "typed": typed or {},
            "hook_prefix": self._service.hooks.prefix,
        }
        return page("preferences.html.j2", status=status, **values)


async def _form(request: Request) -> Mapping[str, Sequence[str]]:
    """The fields of a small form; nothing of one that is too long or cut off."""
    body = bytearray()
    try:
        async for chunk in request.stream():
            body += chunk
            if len(body) > LONGEST_BODY:
                return {}
    except ClientDisconnect:
        return {}
    try:
        return parse_qs(body.decode(), keep_blank_values=True, max_num_fields=200)
    except ValueError:
        return {}
