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
SAID = {
    "save": "已保存。",
    "pause": "已暂停，到那天会自动恢复。",
    "resume": "已恢复推送。",
    "leave": "已退订，不会再收到推送。",
    "undo": "已撤销退订，原来的设置都还在。",
    "subscribe": "订阅成功。",
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
        said = SAID.get(request.query_params.get("said", ""), "")
        return await self._page(request.query_params.get("t", ""), said=said)

    async def change(self, request: Request) -> Response:
        """One change, then back to the page: to load it again sends nothing again."""
        form = await _form(request)
        token = (form.get("t") or [""])[0]
        try:
            done = await self._service.change(token, form, self._clock())
        except ActionError as exc:
            return await self._page(token, problem=str(exc), status=403 if str(exc) == STALE else 422)
        query = urlencode({"t": token, "said": done})
        return RedirectResponse(f"{PATH}?{query}", status_code=303, headers=HEADERS)

    async def _page(self, token: str, *, said: str = "", problem: str = "", status: int = 200) -> Response:
        try:
            series = await self._service.view(token, self._clock())
        except ActionError as exc:
            return page("link.html.j2", status=403, problem=str(exc))
        csrf = self._service.links.form_token(token)
        return page(
            "preferences.html.j2", status=status, series=series, token=token, csrf=csrf, said=said, problem=problem
        )


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
