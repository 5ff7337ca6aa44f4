"""Fetching over real HTTP on loopback: what is refused, and that nothing leaks or runs away."""

import contextlib
import gzip
import ipaddress
import logging
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

import anyio
import httpx
import pytest
import stamina
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

from bot.domain.errors import DigestError
from bot.serving import listen, serving
from bot.sources import fetch as fetching
from bot.sources.fetch import Fetched, fetch, new_client, shown

pytestmark = pytest.mark.anyio

MIB = 1024 * 1024


@dataclass
class Site:
    """A server that notes what it was asked."""

    port: int
    asked: list[Request] = field(default_factory=list)

    def url(self, path: str, host: str = "127.0.0.1") -> str:
        return f"http://{host}:{self.port}{path}"

    async def answer(self, request: Request) -> Response:
        self.asked.append(request)
        return await getattr(self, request.path_params["what"])(request)

    async def page(self, request: Request) -> Response:
        return Response("好", headers={"ETag": '"1"', "Set-Cookie": "a=b"})

    async def same(self, request: Request) -> Response:
        return Response(status_code=304)

    async def to(self, request: Request) -> Response:
        return RedirectResponse(request.query_params["url"])

    async def loop(self, request: Request) -> Response:
        return RedirectResponse("/loop")

    async def nowhere(self, request: Request) -> Response:
        return Response(status_code=302)

    async def slow(self, request: Request) -> Response:
        async def body() -> AsyncIterator[bytes]:
            yield b"a"
            await anyio.sleep_forever()

        return StreamingResponse(body())

    async def large(self, request: Request) -> Response:
        async def body() -> AsyncIterator[bytes]:
            for _ in range(21):
                yield b"a" * MIB

        return StreamingResponse(body())

    async def bomb(self, request: Request) -> Response:
        packed = gzip.compress(b"\0" * 200 * MIB, compresslevel=9)
        return Response(packed, headers={"Content-Encoding": "gzip"})

    async def packed(self, request: Request) -> Response:
        return Response(gzip.compress("包".encode()), headers={"Content-Encoding": "gzip"})

    async def half(self, request: Request) -> Response:
        return Response(gzip.compress(b"a" * 1000)[:-4], headers={"Content-Encoding": "gzip"})

    async def unpackable(self, request: Request) -> Response:
        return Response(b"never gzip", headers={"Content-Encoding": "gzip"})

    async def brotli(self, request: Request) -> Response:
        return Response(b"a", headers={"Content-Encoding": "br"})

    async def missing(self, request: Request) -> Response:
        return Response(status_code=404)

    async def broken(self, request: Request) -> Response:
        return Response(status_code=503)

    async def recovering(self, request: Request) -> Response:
        return Response("好", status_code=503 if len(self.asked) < 3 else 200)


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    """A site on loopback, with retries that do not wait."""
    listener = listen("127.0.0.1", 0)
    made = Site(listener.getsockname()[1])
    app = Starlette(routes=[Route("/{what}", made.answer)])
    with stamina.set_testing(True, attempts=3, cap=True):
        async with serving(app, listener):
            yield made


async def get(url: str, **how: object) -> Fetched:
    """Fetch from this machine."""
    async with new_client() as client:
        return await fetch(client, url, **{"allow_private": True, **how})


async def refusal(url: str, **how: object) -> DigestError:
    """The error of a fetch."""
    with pytest.raises(DigestError) as caught:
        await get(url, **how)
    return caught.value


async def test_an_answer_comes_with_its_headers_and_its_last_address(site):
    """Names of headers are lower case; a redirect inside the site is followed."""
    fetched = await get(site.url("/to?url=/page"))

    assert (fetched.status, fetched.data.decode(), fetched.url) == (200, "好", site.url("/page"))
    assert fetched.headers["etag"] == '"1"'


async def test_a_packed_answer_is_unpacked(site):
    """We ask for gzip, so we read it."""
    assert (await get(site.url("/packed"))).data.decode() == "包"


async def test_an_unchanged_page_has_no_body(site):
    """304 is an answer, no error."""
    fetched = await get(site.url("/same"), headers={"If-None-Match": '"1"'})

    assert (fetched.status, fetched.data) == (304, b"")
    assert site.asked[0].headers["if-none-match"] == '"1"'


async def test_an_answer_carries_no_cookie_and_our_name(site):
    """The client forgets what a site wants remembered."""
    async with new_client() as client:
        for _ in range(2):
            await fetch(client, site.url("/page"), allow_private=True)

    assert "cookie" not in site.asked[1].headers
    assert site.asked[1].headers["user-agent"] == "feishu-digest-bot"


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "2130706433", "0x7f.1", "0.0.0.0", "[::]",
     "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "[fe80::1]", "[fd00::1]",
     "224.0.0.1", "[ff02::1]", "240.0.0.1", "255.255.255.255", "[fec0::1]", "[64:ff9b::7f00:1]", "[2002:7f00:1::]"],
)  # fmt: skip
async def test_a_private_address_is_refused_however_it_is_written(site, host):
    """Nothing is sent to it."""
    error = await refusal(site.url("/page", host), allow_private=False)

    assert error.code == "forbidden_address"
    assert site.asked == []


def test_a_public_address_is_allowed():
    """Also where IPv6 wraps it."""
    for address in ("93.184.216.34", "2606:4700::1111", "::ffff:93.184.216.34", "64:ff9b::5db8:d822"):
        assert not fetching._is_forbidden(ipaddress.ip_address(address)), address


async def test_a_redirect_to_a_private_address_is_refused():
    """The public host is asked, the one that it names is looked at again and is not."""
    asked = []

    def public(request: httpx.Request) -> httpx.Response:
        asked.append(request.url.host)
        return httpx.Response(302, headers={"Location": "http://127.0.0.1/secret"})

    async with httpx.AsyncClient(transport=httpx.MockTransport(public)) as client:
        with pytest.raises(DigestError) as caught:
            await fetch(client, "http://93.184.216.34/feed")

    assert caught.value.code == "forbidden_address"
    assert asked == ["93.184.216.34"]


async def test_the_connection_goes_to_the_address_that_was_checked(site, monkeypatch):
    """A name that is public when it is checked and private at the next question gains nothing: there is none."""
    questions = []

    async def rebinding(host: str, port: int, **_: object) -> list[object]:
        questions.append(host)
        address = "127.0.0.1" if len(questions) == 1 else "127.0.0.9"
        return [(2, 1, 6, "", (address, port))]

    monkeypatch.setattr(anyio, "getaddrinfo", rebinding)

    fetched = await get(site.url("/page", "rebinding.example"))

    assert fetched.status == 200
    assert questions == ["rebinding.example"]
    assert site.asked[0].headers["host"] == f"rebinding.example:{site.port}"


@pytest.mark.parametrize(
    "target", ["file:///etc/passwd", "ftp://a.example/", "http://u:p@a.example/", "http://a:99999/", "//"]
)
async def test_a_redirect_away_from_the_web_is_refused(site, target):
    """Only http and https, and no password on the way."""
    assert (await refusal(site.url(f"/to?url={target}"))).code == "bad_redirect"


async def test_a_redirect_loop_ends(site):
    """After five."""
    error = await refusal(site.url("/loop"))

    assert (error.code, len(site.asked)) == ("bad_redirect", 6)


async def test_a_redirect_without_a_target_is_refused(site):
    """There is nowhere to go."""
    assert (await refusal(site.url("/nowhere"))).code == "bad_redirect"


async def test_a_key_for_one_host_never_goes_to_another(site):
    """Conditions may."""
    other = site.url("/page", "localhost")

    await get(site.url(f"/to?url={other}"), headers={"Authorization": "Bearer x", "If-None-Match": '"1"'})

    assert site.asked[0].headers["authorization"] == "Bearer x"
    assert "authorization" not in site.asked[1].headers
    assert site.asked[1].headers["if-none-match"] == '"1"'


@pytest.mark.parametrize("what", ["large", "bomb"])
async def test_a_large_body_is_refused(site, what):
    """21 MiB as they are, and 200 MiB out of a small packet."""
    assert (await refusal(site.url(f"/{what}"))).code == "too_large"


async def test_a_slow_body_is_given_up(site):
    """The time is for everything together."""
    assert (await refusal(site.url("/slow"), whole_s=0.2)).code == "too_slow"


@pytest.mark.parametrize(("what", "asked"), [("half", 3), ("unpackable", 1), ("brotli", 1)])
async def test_a_body_that_cannot_be_unpacked_is_refused(site, what, asked):
    """What broke off is asked for again, what is wrong is not."""
    assert (await refusal(site.url(f"/{what}"))).code == "unreachable"
    assert len(site.asked) == asked


@pytest.mark.parametrize(("what", "asked"), [("missing", 1), ("broken", 3)])
async def test_a_status_is_told_and_only_a_passing_one_tried_again(site, what, asked):
    """Three tries in all."""
    error = await refusal(site.url(f"/{what}"))

    assert error.code == "http_status"
    assert len(site.asked) == asked


async def test_a_site_that_comes_back_is_read(site):
    """At the third try."""
    assert (await get(site.url("/recovering"))).data.decode() == "好"


async def test_nobody_listening_is_unreachable(site):
    """As a line for a human."""
    with contextlib.closing(listen("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]

    error = await refusal(f"http://127.0.0.1:{port}/feed")

    assert error.code == "unreachable"
    assert str(error).startswith(f"http://127.0.0.1:{port}/feed: cannot be reached")


@pytest.mark.parametrize(
    "url", ["", "feed.xml", "file:///etc/passwd", "http://", "http://a:99999/", "http://u:p@127.0.0.1/"]
)
async def test_what_is_no_plain_web_address_is_refused(site, url):
    """A password in an address would stand in every log."""
    error = await refusal(url)

    assert error.code == "forbidden_address"
    assert "u:p" not in str(error)


async def test_no_message_and_no_log_holds_a_secret_of_the_address(site, caplog):
    """Query, fragment, user and password stay out."""
    with caplog.at_level(logging.DEBUG):
        error = await refusal(site.url("/broken?token=hidden"))

    assert "hidden" not in str(error)
    assert not [record for record in caplog.records if "hidden" in record.getMessage() and record.name == "stamina"]
    assert shown("https://me:pass@a.example/x?token=hidden#there") == "https://a.example/x"
