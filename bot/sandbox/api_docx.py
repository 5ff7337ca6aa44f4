"""Documents and their blocks. Source: feishu-platform notes 9.2 (docx-v1 document, document-block)."""

from collections.abc import Sequence
from typing import Any

from starlette.routing import BaseRoute

from bot.sandbox.api_messages import page_of
from bot.sandbox.gateway import Call, Gateway, RefusalError, field_violation, success
from bot.sandbox.library import ID_CHARS
from bot.sandbox.state import Document, World

SCOPES = ("docx:document", "docx:document:readonly")
LARGEST_PAGE = 500
LATEST = "-1"


def routes(gateway: Gateway) -> Sequence[BaseRoute]:
    api = Documents(gateway.world)
    one = "/open-apis/docx/v1/documents/{document_id}"
    return [
        gateway.route("GET", one, "document", api.get, scopes=SCOPES),
        gateway.route("GET", one + "/blocks", "document_blocks", api.blocks, scopes=SCOPES),
    ]


class Documents:
    """One method an API."""

    def __init__(self, world: World) -> None:
        self._world = world

    async def get(self, call: Call) -> dict[str, Any]:
        document = self._readable(call)
        told = {"document_id": document.document_id, "revision_id": document.revision, "title": document.title}
        return success({"document": told})

    async def blocks(self, call: Call) -> dict[str, Any]:
        """A flat list, the page block first. Only the newest revision is kept here."""
        document = self._readable(call)
        revision = call.request.query_params.get("document_revision_id", LATEST)
        if revision not in (LATEST, str(document.revision)):
            raise RefusalError(1770001, "invalid param: document_revision_id")
        token = call.request.query_params.get("page_token")
        if token and not token.isdecimal():
            raise RefusalError(1770022, "invalid page token")
        shown, more = page_of(list(document.blocks), call, default=LARGEST_PAGE, largest=LARGEST_PAGE)
        return success({"items": shown, **more})

    def _readable(self, call: Call) -> Document:
        document_id = call.request.path_params["document_id"]
        if len(document_id) < ID_CHARS:
            raise field_violation("document_id", f"the min len is {ID_CHARS}")
        document = self._world.documents.get(document_id)
        if document is None:
            raise RefusalError(1770002, "not found", status=404)
        if document.forbidden:
            raise RefusalError(1770032, "forBidden", status=403)
        return document
