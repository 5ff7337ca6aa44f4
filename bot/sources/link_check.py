"""Whether links answer: asked politely, on the public web only, and nothing of a page is read."""

import socket
import ssl
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import anyio
import httpx

from bot.domain.errors import DigestError
from bot.ports import LinkAnswer, LinkState
from bot.sources.fetch import (
    MOST_REDIRECTS,
    REDIRECTS,
    FetchLimits,
    addresses_of,
    redirect_target,
    request_to,
    web_address,
)

AT_ONCE = 4
EACH_S = 5.0
WHOLE_S = 60.0
GAP_S = 0.5

_OK = LinkAnswer(LinkState.OK)
_FOREIGN = LinkAnswer(LinkState.NOT_CHECKED, "没有查：不是公网上的网页地址")
_ENDLESS = LinkAnswer(LinkState.UNCLEAR, "没有确认：跳转不到头")
_UNFINISHED = LinkAnswer(LinkState.UNCLEAR, "没有确认：没来得及查")
_SILENT = LinkAnswer(LinkState.UNCLEAR, "没有确认：等不到回应")
_BROKEN_OFF = LinkAnswer(LinkState.UNCLEAR, "没有确认：连接断了")
_INSECURE = LinkAnswer(LinkState.UNCLEAR, "没有确认：安全连接建不起来")
_UNRESOLVED = LinkAnswer(LinkState.UNCLEAR, "没有确认：域名暂时查不到")
_MISWRITTEN = LinkAnswer(LinkState.DEAD, "地址写错了")
_NO_HOST = LinkAnswer(LinkState.DEAD, "没有这个域名")
_REFUSED = LinkAnswer(LinkState.DEAD, "连不上这个网站")
_UNKNOWN = {socket.EAI_NONAME, getattr(socket, "EAI_NODATA", socket.EAI_NONAME)}
_TOO_OFTEN = 429
_STATUS = {
    401: LinkAnswer(LinkState.UNCLEAR, "没有确认：要登录（401）"),
    403: LinkAnswer(LinkState.UNCLEAR, "没有确认：不让程序看（403）"),
    404: LinkAnswer(LinkState.DEAD, "页面不存在（404）"),
    410: LinkAnswer(LinkState.DEAD, "页面已删除（410）"),
    _TOO_OFTEN: LinkAnswer(LinkState.UNCLEAR, "没有确认：网站嫌问得多（429）"),
}


class _HostError(Exception):
    """What one link has shown of its whole host, so that the others need not ask again."""

    def __init__(self, answer: LinkAnswer) -> None:
        super().__init__(answer.reason)
        self.answer = answer


@dataclass(slots=True)
class _Host:
    """One request at a time, and a pause after each. `answer`: what all its links get without asking."""

    turn: anyio.Lock = field(default_factory=anyio.Lock)
    rested_at: float = 0.0
    answer: LinkAnswer | None = None


async def check_links(
    client: httpx.AsyncClient,
    urls: Iterable[str],
    *,
    allow_private: bool = False,
    each_s: float = EACH_S,
    whole_s: float = WHOLE_S,
    gap_s: float = GAP_S,
) -> dict[str, LinkAnswer]:
    """How each address answers, in the order in which they first came; what differs by its fragment is asked once.

    Four requests at a time, one a host with a pause of `gap_s` between, `each_s` for one of them and `whole_s` for all:
    what is not known by then is unclear. Redirects are followed and checked like first addresses. `client` is of
    `new_client`. Never raises.
    """
    urls = dict.fromkeys(urls)
    answers: dict[str, LinkAnswer] = {}
    run = _Run(client, FetchLimits(0, allow_private=allow_private), each_s, gap_s)
    with anyio.move_on_after(whole_s):
        async with anyio.create_task_group() as tasks:
            for page in dict.fromkeys(map(_page, urls)):
                tasks.start_soon(run.check, page, answers)
    return {url: answers.get(_page(url), _UNFINISHED) for url in urls}


class _Run:
    """One round of questions, with what it has learnt of the hosts."""

    def __init__(self, client: httpx.AsyncClient, limits: FetchLimits, each_s: float, gap_s: float) -> None:
        self._client = client
        self._limits = limits
        self._each_s = each_s
        self._gap_s = gap_s
        self._at_once = anyio.CapacityLimiter(AT_ONCE)
        self._hosts: defaultdict[str, _Host] = defaultdict(_Host)

    async def check(self, page: str, answers: dict[str, LinkAnswer]) -> None:
        """Note the answer of one address. HEAD costs a site least, but many answer it wrongly or never."""
        try:
            url = web_address(page)
            answer = await self._followed("HEAD", url)
            if answer != _OK:
                answer = await self._followed("GET", url)
        except DigestError as exc:
            answer = _MISWRITTEN if exc.code == "bad_address" else _FOREIGN
        except _HostError as exc:
            answer = exc.answer
        answers[page] = answer

    async def _followed(self, method: str, url: httpx.URL) -> LinkAnswer:
        """The answer behind the redirects."""
        for _ in range(MOST_REDIRECTS + 1):
            try:
                status, location = await self._asked(method, url)
            except TimeoutError:
                return _SILENT
            except httpx.HTTPError:
                return _BROKEN_OFF
            if status not in REDIRECTS:
                return _answer(status)
            try:
                url = redirect_target(url, location)
            except DigestError:
                return _ENDLESS
        return _ENDLESS

    async def _asked(self, method: str, url: httpx.URL) -> tuple[int, str | None]:
        """Status and target of one request, when it is the host's turn."""
        host = self._hosts[url.host]
        async with host.turn:
            if host.answer is None:
                await anyio.sleep_until(host.rested_at)
                async with self._at_once:
                    try:
                        return await self._sent(method, url, host)
                    finally:
                        host.rested_at = anyio.current_time() + self._gap_s
            raise _HostError(host.answer)

    async def _sent(self, method: str, url: httpx.URL, host: _Host) -> tuple[int, str | None]:
        try:
            with anyio.fail_after(self._each_s):
                response = await self._connected(method, url)
        except TimeoutError:
            if method == "GET":
                host.answer = _SILENT
            raise
        except _HostError as exc:
            host.answer = exc.answer
            raise
        await response.aclose()
        if response.status_code == _TOO_OFTEN:
            host.answer = _answer(_TOO_OFTEN)
        return response.status_code, response.headers.get("location")

    async def _connected(self, method: str, url: httpx.URL) -> httpx.Response:
        """The head of an answer, from the first address of the host that takes the connection."""
        failed = _SILENT
        try:
            addresses = await addresses_of(url, self._limits)
        except DigestError as exc:
            if exc.__cause__ is None:
                raise
            raise _HostError(_unresolved(exc.__cause__)) from exc
        for address in addresses:
            request = request_to(url, address, {}, method)
            try:
                return await self._client.send(request, stream=True, auth=None, follow_redirects=False)
            except httpx.ConnectTimeout:
                failed = _SILENT
            except httpx.ConnectError as exc:
                failed = _unconnected(exc)
        raise _HostError(failed)


def _page(url: str) -> str:
    """What is asked for: a fragment is the reader's own."""
    return url.partition("#")[0]


def _answer(status: int) -> LinkAnswer:
    if 200 <= status < 300:
        return _OK
    words = "网站出了错" if status >= 500 else "回应不明"
    return _STATUS.get(status) or LinkAnswer(LinkState.UNCLEAR, f"没有确认：{words}（{status}）")


def _unresolved(cause: BaseException) -> LinkAnswer:
    """No such name, or nobody to ask for it just now."""
    is_final = isinstance(cause, UnicodeError) or (isinstance(cause, socket.gaierror) and cause.errno in _UNKNOWN)
    return _NO_HOST if is_final else _UNRESOLVED


def _unconnected(error: httpx.ConnectError) -> LinkAnswer:
    causes = tuple(_causes(error))
    if any(isinstance(cause, ssl.SSLError) for cause in causes):
        return _INSECURE
    return _REFUSED if any(isinstance(cause, ConnectionRefusedError) for cause in causes) else _SILENT


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
