"""The bytes of pictures that digests name: from the public web, or out of Feishu documents."""

from functools import cached_property
from typing import Protocol

import httpx

from bot.sources.fetch import fetch, new_client

MEDIA = "feishu-media:"
WHOLE_S = 10.0
MOST_BYTES = 20 * 1024 * 1024


class Media(Protocol):
    """What is needed of FeishuDocuments."""

    async def media(self, file_token: str) -> bytes:
        """Raises DigestError."""
        ...


class PictureBytes:
    """Fetches by address or by `feishu-media:TOKEN`."""

    def __init__(self, documents: Media, *, allow_private: bool = False, whole_s: float = WHOLE_S) -> None:
        self._documents = documents
        self._allow_private = allow_private
        self._whole_s = whole_s

    @cached_property
    def _http(self) -> httpx.AsyncClient:
        """Nobody closes it: `fetch` has every connection closed after its answer."""
        return new_client()

    async def fetch(self, source: str) -> bytes:
        """Raises DigestError."""
        if source.startswith(MEDIA):
            return await self._documents.media(source.removeprefix(MEDIA))
        private, whole_s = self._allow_private, self._whole_s
        fetched = await fetch(self._http, source, allow_private=private, whole_s=whole_s, most_bytes=MOST_BYTES)
        return fetched.data
