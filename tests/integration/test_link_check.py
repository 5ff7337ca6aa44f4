"""Checking links over real HTTP on loopback: what an editor is told, and how politely it was asked."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from itertools import pairwise

import anyio
import anyio.lowlevel
import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

from bot.ports import LinkAnswer, LinkState
from bot.serving import listen, serving
from bot.sources.fetch import new_client
from bot.sources.link_check import AT_ONCE, check_links

pytestmark = pytest.mark.anyio

# One machine by seven names: to the checker they are seven hosts.
HOSTS = ["127.0.0.1", "localhost", "127.1", "127.0.1", "2130706433", "0x7f000001", "0x7f.1"]


@dataclass
class Site:
    """A server that notes what it was asked, and how much at once."""

    port: int
    asked: list[Request] = field(default_factory=list)
    open: int = 0
    most_open: int = 0
    full: anyio.Event = field(default_factory=anyio.Event)
    gate: anyio.Event = field(default_factory=anyio.Event)

    def url(self, path: str, host: str = "127.0.0.1") -> str:
        return f"http://{host}:{self.port}{path}"

    @property
    def methods(self) -> list[str]:
        return [request.method for request in self.asked]

    async def answer(self, request: Request) -> Response:
        self.asked.append(request)
        self.open += 1
        self.most_open = max(self.most_open, self.open)
        try:
            return await getattr(self, request.path_params["what"])(request)
        finally:
            self.open -= 1

    async def page(self, request: Request) -> Response:
        return Response("好")

    async def status(self, request: Request) -> Response:
        return Response(status_code=int(request.query_params["code"]))

    async def getonly(self, request: Request) -> Response:
        refusal = int(request.query_params["code"])
        return Response("好", status_code=refusal if request.method == "HEAD" else 200)

    async def slowhead(self, request: Request) -> Response:
        if request.method == "HEAD":
            await self.gate.wait()
        return Response("好")

    async def endless(self, request: Request) -> Response:
        async def body() -> AsyncIterator[bytes]:
            while True:
                await anyio.lowlevel.checkpoint()
                yield b"a" * 65536

        return StreamingResponse(body(), status_code=405 if request.method == "HEAD" else 200)

    async def silent(self, request: Request) -> Response:
        await self.gate.wait()
        return Response("迟")

    async def gated(self, request: Request) -> Response:
        if self.open == AT_ONCE:
            self.full.set()
        await self.gate.wait()
        return Response("好")

    async def busy(self, request: Request) -> Response:
        for _ in range(100):
            await anyio.lowlevel.checkpoint()
        return Response("好")

    async def to(self, request: Request) -> Response:
        return RedirectResponse(request.query_params["url"])

    async def loop(self, request: Request) -> Response:
        return RedirectResponse("/loop")

    async def nowhere(self, request: Request) -> Response:
        return Response(status_code=302)


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    """A site on loopback."""
    listener = listen("127.0.0.1", 0)
    made = Site(listener.getsockname()[1])
    app = Starlette(routes=[Route("/{what}", made.answer)])
    async with serving(app, listener):
        yield made
        made.gate.set()


async def check(*urls: str, **how: float) -> dict[str, LinkAnswer]:
    """Check links of this machine without pauses."""
    async with new_client() as client:
        return await check_links(client, urls, **{"allow_private": True, "gap_s": 0, **how})


async def test_a_page_that_answers_is_asked_for_once_and_not_read(site):
    """HEAD is enough, in our own name."""
    url = site.url("/page")

    assert await check(url) == {url: LinkAnswer(LinkState.OK)}
    assert site.methods == ["HEAD"]
    assert site.asked[0].headers["user-agent"] == "feishu-digest-bot"


@pytest.mark.parametrize("code", [403, 404, 405, 501, 503])
async def test_a_site_that_answers_head_wrongly_is_asked_again(site, code):
    """Only what GET says counts."""
    url = site.url(f"/getonly?code={code}")

    assert (await check(url))[url].state is LinkState.OK
    assert site.methods == ["HEAD", "GET"]


@pytest.mark.parametrize(
    ("code", "state"),
    [
        (404, LinkState.DEAD),
        (410, LinkState.DEAD),
        (401, LinkState.UNCLEAR),
        (403, LinkState.UNCLEAR),
        (418, LinkState.UNCLEAR),
        (500, LinkState.UNCLEAR),
        (503, LinkState.UNCLEAR),
    ],
)
async def test_only_what_is_surely_gone_is_dead(site, code, state):
    """A person may well see what a program is refused; the editor reads the number."""
    url = site.url(f"/status?code={code}")

    answer = (await check(url))[url]

    assert answer.state is state
    assert f"（{code}）" in answer.reason
    assert answer.reason.startswith("没有确认") is (state is LinkState.UNCLEAR)


async def test_a_head_that_never_answers_is_asked_again(site):
    """Some servers wait for a body that HEAD has not."""
    url = site.url("/slowhead")

    assert (await check(url, each_s=0.2))[url].state is LinkState.OK


async def test_a_page_without_end_costs_nothing(site):
    """GET is closed when its status is there."""
    url = site.url("/endless")

    assert (await check(url))[url].state is LinkState.OK
    assert site.methods == ["HEAD", "GET"]


async def test_redirects_are_followed_to_their_end(site):
    """The end decides; a loop, or a way to nowhere, is not confirmed."""
    moved, gone = site.url("/to?url=/page"), site.url("/to?url=/status%3Fcode%3D404")
    loop, nowhere = site.url("/loop"), site.url("/nowhere")

    answers = await check(moved, gone, loop, nowhere)

    assert [answers[url].state for url in (moved, gone)] == [LinkState.OK, LinkState.DEAD]
    assert [answers[url].reason for url in (loop, nowhere)] == ["没有确认：跳转不到头"] * 2


async def test_private_and_odd_addresses_are_not_asked(site):
    """Neither our own network nor what is no web address; the editor learns that nobody looked."""
    urls = [
        site.url("/page"),
        site.url("/page", "localhost"),
        "mailto:editor@example.com",
        "http://",
        "http://a:b@c.example/",
    ]

    answers = await check(*urls, allow_private=False)

    assert [answer.state for answer in answers.values()] == [LinkState.NOT_CHECKED] * len(urls)
    assert site.asked == []


async def test_a_redirect_into_our_network_is_not_followed():
    """The public host is asked, the one that it names is looked at again and is not."""
    asked = []

    def public(request: httpx.Request) -> httpx.Response:
        asked.append(request.url.host)
        return httpx.Response(302, headers={"Location": "http://127.0.0.1/secret"})

    async with httpx.AsyncClient(transport=httpx.MockTransport(public)) as client:
        answers = await check_links(client, ["http://93.184.216.34/"], gap_s=0)

    assert [answer.state for answer in answers.values()] == [LinkState.NOT_CHECKED]
    assert set(asked) == {"93.184.216.34"}


async def test_a_host_that_is_not_there_is_told_apart(site):
    """No such name, nobody listening, no TLS, and a line that breaks."""
    port = site.port

    async def hang_up(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.close()

    async with await asyncio.start_server(hang_up, "127.0.0.1", 0) as rude:
        rude_port = rude.sockets[0].getsockname()[1]
        urls = {
            "http://a..b/": "没有这个域名",
            "http://xn--/": "地址写错了",
            f"http://127.0.0.1:{port}/\udc80": "地址写错了",
            f"http://127.0.0.1:{closed_port()}/": "连不上这个网站",
            f"https://127.1:{port}/": "没有确认：安全连接建不起来",
            f"http://127.0.1:{rude_port}/": "没有确认：连接断了",
        }
        answers = await check(*urls)

    assert {url: answer.reason for url, answer in answers.items()} == urls


async def test_what_differs_by_its_fragment_is_asked_once(site):
    """Each link has its answer all the same, in the order in which it came."""
    urls = [site.url("/page#b"), site.url("/page"), site.url("/page#a"), site.url("/page")]

    answers = await check(*urls)

    assert list(answers) == urls[:3]
    assert {answer.state for answer in answers.values()} == {LinkState.OK}
    assert len(site.asked) == 1


async def test_four_hosts_are_asked_at_once_and_no_more(site):
    """Seven hosts that all wait: four stand at the gate, the others come when it opens."""
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(check, *(site.url("/gated", host) for host in HOSTS))
        await site.full.wait()
        for _ in range(200):
            await anyio.lowlevel.checkpoint()
        assert site.open == AT_ONCE
        site.gate.set()

    assert len(site.asked) == len(HOSTS)


async def test_one_host_is_asked_one_thing_at_a_time(site):
    """Twenty links of one site, one after the other."""
    answers = await check(*(site.url(f"/busy?{number}") for number in range(20)))

    assert {answer.state for answer in answers.values()} == {LinkState.OK}
    assert (len(site.asked), site.most_open) == (20, 1)


async def test_a_host_that_has_had_enough_is_left_alone(site):
    """After 429 nothing more of it is asked; other hosts are."""
    urls = [site.url(f"/status?code=429&{number}") for number in range(5)]
    other = site.url("/page", "localhost")

    answers = await check(*urls, other)

    assert [answers[url] for url in urls] == [LinkAnswer(LinkState.UNCLEAR, "没有确认：网站嫌问得多（429）")] * 5
    assert answers[other].state is LinkState.OK
    assert Counter(request.url.hostname for request in site.asked) == {"127.0.0.1": 1, "localhost": 1}


async def test_a_host_that_hangs_costs_its_time_once(site):
    """HEAD and GET of one link, then its other links are not confirmed either."""
    urls = [site.url(f"/silent?{number}") for number in range(10)]

    answers = await check(*urls, each_s=0.1)

    assert {answer.reason for answer in answers.values()} == {"没有确认：等不到回应"}
    assert site.methods.count("GET") == 1


async def test_a_host_that_takes_no_connection_is_tried_once():
    """Its other links have the same answer."""
    tried = []

    def down(request: httpx.Request) -> httpx.Response:
        tried.append(request.method)
        raise httpx.ConnectError("down") from ConnectionRefusedError()

    async with httpx.AsyncClient(transport=httpx.MockTransport(down)) as client:
        answers = await check_links(client, ["http://93.184.216.34/1", "http://93.184.216.34/2"], gap_s=0)

    assert list(answers.values()) == [LinkAnswer(LinkState.DEAD, "连不上这个网站")] * 2
    assert tried == ["HEAD"]


async def test_a_host_has_a_pause_after_each_question():
    """Three links of one host, two pauses between them."""
    asked_at = []

    def page(_: httpx.Request) -> httpx.Response:
        asked_at.append(anyio.current_time())
        return httpx.Response(200)

    async with httpx.AsyncClient(transport=httpx.MockTransport(page)) as client:
        await check_links(client, [f"http://93.184.216.34/{number}" for number in range(3)], gap_s=0.05)

    assert [later - earlier >= 0.05 for earlier, later in pairwise(asked_at)] == [True, True]


async def test_the_whole_round_ends_in_time(site):
    """What is known by then is kept; the rest was not looked at."""
    known, unknown = site.url("/page"), site.url("/silent", "localhost")

    answers = await check(known, unknown, whole_s=0.5)

    assert answers[known].state is LinkState.OK
    assert answers[unknown] == LinkAnswer(LinkState.UNCLEAR, "没有确认：没来得及查")


async def test_no_links_need_no_network(site):
    """An empty digest has an empty answer."""
    assert await check() == {}


def closed_port() -> int:
    """A port of this machine at which nobody listens."""
    listener = listen("127.0.0.1", 0)
    port = int(listener.getsockname()[1])
    listener.close()
    return port
