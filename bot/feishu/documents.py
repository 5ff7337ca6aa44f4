"""Wiki, documents, tables, media and chats: read through the SDK's typed calls, over our pool, with our token.

Sources: wiki-v2 get_node and space-node/list, docx-v1 document and document-block, drive-v1 media/download,
bitable-v1 app-table-record/search, im-v1 chat/get; feishu-platform notes 9.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import httpx
import stamina

from bot.domain.errors import DigestError, SendError, TemporaryError
from bot.feishu.document_codes import PassingError, raise_refusal
from bot.feishu.pace import Pace
from bot.feishu.sdk import load
from bot.feishu.tokens import Tokens

ATTEMPTS = 5
IN_ALL_S = 180.0
CALL_S = 30.0
MOST_PAGES = 400  # of one list: more is a list that never ends
# Published limits of each method, over a little more time than published: calls may bunch up on their way.
RATES = {
    "Space.aget_node": (100, 61.0),
    "SpaceNode.alist": (100, 61.0),
    "Document.aget": (5, 1.2),
    "DocumentBlock.alist": (5, 1.2),
    "Media.adownload": (5, 1.2),
    "AppTableRecord.asearch": (20, 1.2),
    "Chat.aget": (50, 1.2),
    "Chat.alist": (50, 1.2),
}

Json = dict[str, Any]
Ask = Callable[[SimpleNamespace], Any]  # the SDK's names → the builder of a request


@dataclass(frozen=True, slots=True)
class WikiNode:
    """A page of a wiki: the node is its place in the tree, the object (`obj_token`, `obj_type`) what stands there."""

    token: str
    space_id: str
    obj_token: str
    obj_type: str
    title: str
    has_child: bool
    origin: str | None
    """Of a shortcut: the node it leads to."""
    edited_at: datetime | None


@dataclass(frozen=True, slots=True)
class DocumentInfo:
    """`revision` grows with every edit."""

    title: str
    revision: int


def wiki_node(data: dict[str, Any]) -> WikiNode:
    """A node as the platform describes it; times are strings of epoch seconds."""
    edited = str(data.get("obj_edit_time", ""))
    is_shortcut = data.get("node_type") == "shortcut"
    return WikiNode(
        token=str(data.get("node_token", "")),
        space_id=str(data.get("space_id", "")),
        obj_token=str(data.get("obj_token", "")),
        obj_type=str(data.get("obj_type", "")),
        title=str(data.get("title", "")),
        has_child=bool(data.get("has_child")),
        origin=str(data.get("origin_node_token") or "") or None if is_shortcut else None,
        edited_at=datetime.fromtimestamp(int(edited), UTC) if edited.isdecimal() and len(edited) < 12 else None,
    )


class FeishuDocuments:
    """Reads what the app may read. Every method raises DigestError: forbidden, not_found, busy, refused or endless.

    `http` and `tokens` are the client's own; `clock` and `sleep` are for tests that do not want to wait.
    """

    def __init__(
        self,
        http: httpx.AsyncClient,
        base_url: str,
        app_id: str,
        tokens: Tokens,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._http, self._base_url, self._app_id, self._tokens = http, base_url.rstrip("/"), app_id, tokens
        self._paces = {method: Pace(*rate, clock, sleep) for method, rate in RATES.items()}

    def address(self, node_token: str) -> str:
        """Where people read a wiki page. The general host leads on to the tenant's own (assumption)."""
        return f"{self._base_url.replace('//open.', '//www.')}/wiki/{node_token}"

    async def node(self, token: str) -> WikiNode:
        """The wiki node behind the token in a /wiki/ address."""
        data = await self._data("Space.aget_node", token, lambda sdk: sdk.GetNodeSpaceRequest.builder().token(token))
        return wiki_node(_dict(data.get("node")))

    async def child_nodes(self, space_id: str, parent: str = "") -> list[WikiNode]:
        """Nodes right below a node, or at the top of a space."""

        def ask(sdk: SimpleNamespace) -> Any:
            asked = sdk.ListSpaceNodeRequest.builder().space_id(space_id).page_size(50)
            return asked.parent_node_token(parent) if parent else asked

        return [wiki_node(item) for item in await self._items("SpaceNode.alist", parent or space_id, ask)]

    async def document(self, document_id: str) -> DocumentInfo:
        """Title and revision."""
        data = await self._data(
            "Document.aget", document_id, lambda sdk: sdk.GetDocumentRequest.builder().document_id(document_id)
        )
        found = _dict(data.get("document"))
        return DocumentInfo(str(found.get("title", "")), _int(found.get("revision_id")))

    async def blocks(self, document_id: str) -> list[Json]:
        """All blocks of the newest revision as the platform gives them: a flat list."""

        def ask(sdk: SimpleNamespace) -> Any:
            asked = sdk.ListDocumentBlockRequest.builder().document_id(document_id)
            return asked.page_size(500).document_revision_id(-1)

        return await self._items("DocumentBlock.alist", document_id, ask)

    async def records(self, app: str, table: str, fields: Sequence[str], view: str | None = None) -> list[Json]:
        """All rows of a table, or of a view of it, with these fields."""
        body = {"field_names": list(fields), **({"view_id": view} if view else {})}

        def ask(sdk: SimpleNamespace) -> Any:
            asked = sdk.SearchAppTableRecordRequest.builder().app_token(app).table_id(table)
            return asked.page_size(500).request_body(body)

        return await self._items("AppTableRecord.asearch", f"{app}/{table}", ask)

    async def media(self, file_token: str) -> bytes:
        """The bytes of an image or another attachment."""
        answer = await self._answer(
            "Media.adownload", file_token, lambda sdk: sdk.DownloadMediaRequest.builder().file_token(file_token)
        )
        return answer.content

    async def chat(self, chat_id: str) -> Json:
        """A group as its members see it."""
        return await self._data("Chat.aget", chat_id, lambda sdk: sdk.GetChatRequest.builder().chat_id(chat_id))

    async def chats(self) -> list[Json]:
        """All groups that the bot is in."""
        return await self._items("Chat.alist", "chats", lambda sdk: sdk.ListChatRequest.builder().page_size(100))

    async def _items(self, method: str, what: str, ask: Ask) -> list[Json]:
        """Every page; an empty one may be followed by others."""
        items: list[Json] = []
        page_token = ""
        for _ in range(MOST_PAGES):
            data = await self._data(method, what, _at(page_token, ask))
            page = data.get("items")
            items += [item for item in page if isinstance(item, dict)] if isinstance(page, list) else []
            if not data.get("has_more"):
                return items
            before, page_token = page_token, str(data.get("page_token") or "")
            if page_token in ("", before):
                break
        raise DigestError("endless", "the platform's list does not end; name a smaller part of it", path=what)

    async def _data(self, method: str, what: str, ask: Ask) -> Json:
        return _dict((await self._answer(method, what, ask)).json().get("data"))

    async def _answer(self, method: str, what: str, ask: Ask) -> httpx.Response:
        """Reads are repeated a few times: after what the platform calls passing, and after what was lost on the way."""
        sdk = await asyncio.to_thread(load)
        async for attempt in stamina.retry_context(_may_pass, attempts=ATTEMPTS, timeout=IN_ALL_S):
            with attempt:
                return await self._once(sdk, method, what, ask)
        raise AssertionError("unreachable")

    async def _once(self, sdk: SimpleNamespace, method: str, what: str, ask: Ask) -> httpx.Response:
        await self._paces[method].turn()
        token = await self._token()
        resource, _, name = method.partition(".")
        answers: list[httpx.Response] = []
        config = self._config(sdk, what, answers, is_file=method == "Media.adownload")
        call = getattr(getattr(sdk, resource)(config), name)
        try:
            await call(ask(sdk).build(), sdk.RequestOption.builder().tenant_access_token(token).build())
        except PassingError as exc:
            self._paces[method].hold(exc.wait_s)
            if exc.new_token:
                self._tokens.drop(token)
            raise
        return answers[0]

    async def _token(self) -> str:
        try:
            return await self._tokens.current()
        except TemporaryError as exc:
            raise PassingError(f"no token from the platform ({exc}); try again later") from exc
        except SendError as exc:
            raise DigestError("refused", f"no token from the platform ({exc}); mend the [feishu] table") from exc

    def _config(self, sdk: SimpleNamespace, what: str, answers: list[httpx.Response], *, is_file: bool) -> Any:
        """The SDK's settings for one call, with what its replaced transport does: see sdk.py."""
        config = sdk.Config()
        config.app_id, config.domain, config.enable_set_token = self._app_id, self._base_url, True

        async def exchange(request: Any, url: str, headers: dict[str, str]) -> None:
            try:
                async with asyncio.timeout(CALL_S):
                    response = await self._http.request(
                        request.http_method.name, url, headers=headers, params=request.queries, json=request.body
                    )
            except (httpx.HTTPError, TimeoutError) as exc:
                raise PassingError(f"no answer from the platform ({type(exc).__name__}); try again later") from exc
            raise_refusal(response, what, is_file=is_file)
            answers.append(response)

        config.exchange = exchange
        return config


def _at(page_token: str, ask: Ask) -> Ask:
    return (lambda sdk: ask(sdk).page_token(page_token)) if page_token else ask


def _dict(value: Any) -> Json:
    return value if isinstance(value, dict) else {}


def _int(value: Any) -> int:
    return value if isinstance(value, int) else 0


def _may_pass(error: Exception) -> bool:
    """Whether to repeat. The wait that the platform told is kept by the pace, which holds everybody back."""
    return isinstance(error, PassingError)
