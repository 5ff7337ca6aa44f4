"""The official SDK behind one door: what is loaded, over which connections, with whose token, and how errors read."""

import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx
import pytest
import stamina
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from bot.domain.errors import AppError, DigestError
from bot.feishu.documents import FeishuDocuments
from bot.feishu.pace import Pace
from bot.feishu.tokens import Tokens
from bot.serving import listen, serving

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(autouse=True)
def no_waiting():
    """Retries happen at once."""
    with stamina.set_testing(True, attempts=3):
        yield


class Time:
    """Time passes only where somebody sleeps."""

    def __init__(self) -> None:
        self.now = 0.0
        self.slept: list[float] = []

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


class Platform:
    """Answers what it is told to, and remembers what it was asked and over which connection."""

    def __init__(self, *answers: Response) -> None:
        self.answers = list(answers)
        self.asked: list[Request] = []

    async def answer(self, request: Request) -> Response:
        self.asked.append(request)
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]

    @property
    def connections(self) -> set[tuple[str, int]]:
        return {request.client for request in self.asked if request.client}

    @asynccontextmanager
    async def documents(self, time: Time | None = None, tokens: Tokens | None = None) -> AsyncIterator[FeishuDocuments]:
        time = time or Time()
        app = Starlette(routes=[Route("/{path:path}", self.answer, methods=["GET", "POST"])])
        listener = listen("127.0.0.1", 0)
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        async with serving(app, listener), httpx.AsyncClient() as http:
            yield FeishuDocuments(http, url, "cli_test", tokens or Tokens(token), clock=time, sleep=time.sleep)


async def token() -> tuple[str, float]:
    return "t-ours", 7200


def data(**fields: object) -> Response:
    return JSONResponse({"code": 0, "msg": "success", "data": fields})


def refusal(code: int, status: int = 200, **headers: str) -> Response:
    return JSONResponse(
        {"code": code, "msg": "no"}, status, {name.replace("_", "-"): text for name, text in headers.items()}
    )


SNIPPET = """
import sys
import bot.feishu.sdk, bot.feishu.documents, bot.feishu.client
assert not [name for name in sys.modules if name.partition(".")[0] in ("lark_oapi", "requests")], "loaded too early"
names = bot.feishu.sdk.load()
loaded = [name for name in sys.modules if name.partition(".")[0] == "lark_oapi"]
import logging
assert logging.getLogger("Lark").handlers == []
assert all(hasattr(names, one) for row in bot.feishu.sdk.NAMES.values() for one in row)
print(len(loaded))
"""


def test_the_sdk_is_loaded_on_demand_and_narrowly():
    """The whole of it has 10,624 modules; nothing of it is there before it is needed, nor its stdout log ever."""
    done = subprocess.run([sys.executable, "-c", SNIPPET], capture_output=True, text=True, check=False, timeout=60)

    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < 500


async def test_calls_go_over_one_connection_with_our_token_and_no_token_request():
    """Typed calls of five services; the SDK itself would open a connection each and fetch a token."""
    platform = Platform(data(node={"node_token": "w"}, document={"title": "题", "revision_id": 7}, items=[]))
    async with platform.documents() as documents:
        await documents.node("w")
        await documents.child_nodes("7")
        found = await documents.document("d")
        await documents.blocks("d")
        await documents.records("app", "tbl", ["标题"], "vew")
        await documents.media("f")
        await documents.chat("oc_1")

    assert [request.url.path.removeprefix("/open-apis") for request in platform.asked] == [
        "/wiki/v2/spaces/get_node",
        "/wiki/v2/spaces/7/nodes",
        "/docx/v1/documents/d",
        "/docx/v1/documents/d/blocks",
        "/bitable/v1/apps/app/tables/tbl/records/search",
        "/drive/v1/medias/f/download",
        "/im/v1/chats/oc_1",
    ]
    assert {request.headers["authorization"] for request in platform.asked} == {"Bearer t-ours"}
    assert len(platform.connections) == 1
    assert (found.title, found.revision) == ("题", 7)


async def test_lists_are_read_to_their_end_past_an_empty_page():
    """The permission filter of the wiki makes pages empty while more follow."""
    platform = Platform(
        data(items=[], has_more=True, page_token="2"),
        data(items=[{"node_token": "a", "obj_edit_time": "1741400000"}], has_more=False),
    )
    async with platform.documents() as documents:
        nodes = await documents.child_nodes("7", "parent")

    assert [node.token for node in nodes] == ["a"]
    assert [dict(request.query_params) for request in platform.asked] == [
        {"page_size": "50", "parent_node_token": "parent"},
        {"page_size": "50", "parent_node_token": "parent", "page_token": "2"},
    ]


async def test_a_list_that_does_not_end_is_an_error():
    """The same page token twice would be asked for ever."""
    platform = Platform(data(items=[], has_more=True, page_token="2"))
    async with platform.documents() as documents:
        with pytest.raises(DigestError, match="does not end"):
            await documents.blocks("d")

    assert len(platform.asked) == 2


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (refusal(1770032, 403), "forbidden"),
        (refusal(131006, 400), "forbidden"),
        (refusal(1254302, 200), "forbidden"),
        (refusal(1061004, 403), "forbidden"),
        (refusal(1770002, 404), "not_found"),
        (refusal(131005, 400), "not_found"),
        (refusal(1254041, 200), "not_found"),
        (refusal(99991672, 400), "refused"),
        (refusal(99991403, 429), "refused"),
        (refusal(4711, 200), "refused"),
    ],
)
async def test_the_code_of_the_body_decides_whatever_the_status_is(answer, code):
    """Final refusals are told at once, with the cure, and never asked again."""
    platform = Platform(answer)
    async with platform.documents() as documents:
        with pytest.raises(DigestError) as caught:
            await documents.document("d")

    assert caught.value.code == code
    assert len(platform.asked) == 1


@pytest.mark.parametrize("status", [400, 429])
async def test_a_limit_answer_is_waited_out_as_told_and_the_call_repeated(status):
    """The old style has HTTP 400; everybody who uses this method waits."""
    time = Time()
    platform = Platform(refusal(99991400, status, x_ogw_ratelimit_reset="7"), data(document={"revision_id": 3}))
    async with platform.documents(time) as documents:
        found = await documents.document("d")

    assert (found.revision, time.slept) == (3, [7.0])


@pytest.mark.parametrize(
    "broken",
    [
        Response("<html>502</html>", 502, media_type="text/html"),
        Response("<html>hello</html>", 200, media_type="text/html"),
        Response('{"code": 0, "da', 200, media_type="application/json"),
        refusal(1771001, 500),
        refusal(1254607, 200),
    ],
)
async def test_what_may_pass_is_tried_again_a_few_times(broken):
    """A read may be repeated; at last the error says that it was only busy."""
    mended, never = Platform(broken, data(document={"revision_id": 3})), Platform(broken)
    async with mended.documents() as documents:
        assert (await documents.document("d")).revision == 3
    async with never.documents() as documents:
        with pytest.raises(DigestError) as caught:
            await documents.document("d")

    assert caught.value.code == "busy"
    assert len(never.asked) == 3


async def test_a_refused_token_is_replaced():
    """The new one is ours as well."""
    given = iter(("t-old", "t-new"))

    async def fetch() -> tuple[str, float]:
        return next(given), 7200

    platform = Platform(refusal(99991663, 400), data(document={"revision_id": 3}))
    async with platform.documents(tokens=Tokens(fetch)) as documents:
        await documents.document("d")

    assert [request.headers["authorization"] for request in platform.asked] == ["Bearer t-old", "Bearer t-new"]


async def test_an_app_without_a_token_reads_nothing():
    """A wrong secret is no fault of the document."""

    async def fetch() -> tuple[str, float]:
        raise AppError(10014, "app_secret 不正确")

    platform = Platform(data())
    async with platform.documents(tokens=Tokens(fetch)) as documents:
        with pytest.raises(DigestError, match="no token"):
            await documents.document("d")

    assert platform.asked == []


async def test_the_pace_lets_no_window_overflow():
    """Five calls in 1.2 seconds, whenever they come; a told wait holds all of them."""
    time = Time()
    pace = Pace(5, 1.2, time, time.sleep)
    left: list[float] = []
    for _ in range(12):
        await pace.turn()
        left.append(round(time.now, 3))
    pace.hold(9)
    await pace.turn()

    assert left == [0.0] * 5 + [1.2] * 5 + [2.4] * 2
    assert time.now == pytest.approx(11.4)


def test_addresses_are_those_that_people_open():
    """The API's host is no place for readers."""
    http = httpx.AsyncClient()

    assert FeishuDocuments(http, "https://open.feishu.cn", "cli", Tokens(token)).address("w") == (
        "https://www.feishu.cn/wiki/w"
    )
    assert FeishuDocuments(http, "http://127.0.0.1:8001/", "cli", Tokens(token)).address("w") == (
        "http://127.0.0.1:8001/wiki/w"
    )


async def test_fields_of_other_types_than_the_sdk_expects_are_no_error():
    """Its models of answers raise on them, and one odd block would cost the whole document."""
    odd = {"block_id": "b", "block_type": 2, "text": {"elements": [{"reminder": {"expire_time": "1741400000000"}}]}}
    platform = Platform(data(items=[odd, "no block"], document={"revision_id": "x"}))
    async with platform.documents() as documents:
        blocks, info = await documents.blocks("d"), await documents.document("d")

    assert (blocks, info.revision) == ([odd], 0)
