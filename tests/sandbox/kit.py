"""What the tests of the sandbox share: a sandbox with a still clock, a bot that listens, and a caller with a token."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import httpx
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from bot.feishu import signature
from bot.sandbox.app import Sandbox, SandboxSettings
from bot.sandbox.clock import Clock

START = 1_800_000_000.0
MESSAGES = "/open-apis/im/v1/messages"
SETTINGS = SandboxSettings(event_url="http://bot.test/events", card_url="http://bot.test/card")
Answer = Callable[[dict[str, Any]], Awaitable[Response]]


async def ok(_body: dict[str, Any]) -> Response:
    return JSONResponse({})


@dataclass
class ListeningBot:
    """The app at the other end: checks the signature, decrypts, keeps what came, and answers as it is told."""

    encrypt_key: str
    answer: Answer = ok
    heard: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)

    @property
    def app(self) -> Starlette:
        return Starlette(routes=[Route("/{path:path}", self._hear, methods=["POST"])])

    def of_type(self, event_type: str) -> list[dict[str, Any]]:
        return [one["event"] for one in self.heard if one.get("header", {}).get("event_type") == event_type]

    async def _hear(self, request: Request) -> Response:
        raw = await request.body()
        self.headers.append(dict(request.headers))
        body = json.loads(raw)
        if self.encrypt_key:
            if "x-lark-signature" in request.headers:
                signature.verify(
                    request.headers["x-lark-signature"],
                    request.headers["x-lark-request-timestamp"],
                    request.headers["x-lark-request-nonce"],
                    self.encrypt_key,
                    raw,
                )
            body = json.loads(signature.decrypt(self.encrypt_key, body["encrypt"]))
        self.heard.append(body)
        return await self.answer(body)


@dataclass
class Rig:
    """`api` calls the sandbox with a valid token unless a test sends its own header."""

    sandbox: Sandbox
    bot: ListeningBot
    api: httpx.AsyncClient

    async def send(
        self, receive_id: str, card: Any = None, /, *, id_type: str = "open_id", **fields: Any
    ) -> httpx.Response:
        content = {"msg_type": "interactive", "content": card_json(card)} if card is not None else text("hello")
        body = {"receive_id": receive_id, **content, **fields}
        return await self.api.post(MESSAGES, params={"receive_id_type": id_type}, json=body)

    async def group(self, name: str = "读者群", owner_name: str = "编辑", *, with_bot: bool = True) -> tuple[str, str]:
        """Chat id and owner of a new group."""
        owner = self.sandbox.client.add_user(owner_name).open_id
        chat_id = (await self.sandbox.client.create_group(name, owner, [])).chat_id
        assert chat_id is not None
        if with_bot:
            await self.sandbox.client.add_bot(chat_id, owner)
        return chat_id, owner


def text(words: str) -> dict[str, str]:
    return {"msg_type": "text", "content": json.dumps({"text": words})}


def card_of(*elements: dict[str, Any], **top: Any) -> dict[str, Any]:
    return {"schema": "2.0", "body": {"elements": list(elements)}, **top}


def card_json(card: Any) -> str:
    return json.dumps(card, ensure_ascii=False)


def markdown(content: str) -> dict[str, str]:
    return {"tag": "markdown", "content": content}


def button(value: Any, /, **more: Any) -> dict[str, Any]:
    behaviors = [{"type": "callback", "value": value}]
    return {"tag": "button", "text": {"tag": "plain_text", "content": "按"}, "behaviors": behaviors, **more}


@asynccontextmanager
async def running(settings: SandboxSettings = SETTINGS, **changes: Any) -> AsyncIterator[Rig]:
    """A sandbox in process, with its loops, that reaches a bot in process; time stands still until it is moved."""
    settings = replace(settings, **changes)
    bot = ListeningBot(settings.encrypt_key)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(bot.app, raise_app_exceptions=False)) as to_bot:
        sandbox = Sandbox(settings, clock=Clock(lambda: START), http=to_bot)
        transport = httpx.ASGITransport(sandbox.app)
        async with (
            sandbox.app.router.lifespan_context(sandbox.app),
            httpx.AsyncClient(transport=transport, base_url="http://feishu.test", auth=_Token(settings)) as api,
        ):
            yield Rig(sandbox, bot, api)


def _needs_token(path: str) -> bool:
    return path.startswith("/open-apis/") and "/auth/v3/" not in path


class _Token(httpx.Auth):
    """Asks for a token before every call: the sandbox gives the same one again."""

    requires_response_body = True

    def __init__(self, settings: SandboxSettings) -> None:
        self._credentials = {"app_id": settings.app_id, "app_secret": settings.app_secret}

    def auth_flow(self, request: httpx.Request) -> Iterator[httpx.Request]:
        if "authorization" not in request.headers and _needs_token(request.url.path):
            url = request.url.copy_with(path="/open-apis/auth/v3/tenant_access_token/internal", query=None)
            answer = yield httpx.Request("POST", url, json=self._credentials)
            request.headers["authorization"] = f"Bearer {answer.json()['tenant_access_token']}"
        yield request
