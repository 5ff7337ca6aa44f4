"""Digests from a service that answers with the document of `digest check --json`."""

import hashlib
from collections.abc import Mapping, Sequence
from datetime import datetime, tzinfo

from anyio.to_thread import run_sync

from bot.domain.errors import DigestError
from bot.ports import Found
from bot.reading.json_shape import read_json
from bot.sources.fetch import fetch, new_client, shown


class HttpJsonSource:
    """One address. It is asked at every look, and says when nothing has changed by answering 304."""

    def __init__(
        self,
        url: str,
        zone: tzinfo,
        noise: Sequence[str],
        headers: Mapping[str, str] | None = None,
        *,
        allow_private: bool = False,
    ) -> None:
        self._url = url
        self._zone = zone
        self._noise = noise
        self._headers = dict(headers or {})
        self._allow_private = allow_private
        self._etag: str | None = None
        self._found: list[Found] = []

    async def load(self, now: datetime) -> tuple[list[Found], list[DigestError]]:  # noqa: ARG002  a document names its days
        """The digests of the document, or why it could not be had."""
        headers = {**self._headers, "If-None-Match": self._etag} if self._etag else self._headers
        try:
            async with new_client() as client:
                fetched = await fetch(client, self._url, headers=headers, allow_private=self._allow_private)
            if fetched.status != 304:
                self._found = await run_sync(self._read, fetched.data)
                self._etag = fetched.headers.get("etag")
        except DigestError as exc:
            return [], [DigestError(exc.code, exc.message, path=exc.path or shown(self._url), line=exc.line)]
        return self._found, []

    def _read(self, data: bytes) -> list[Found]:
        """Without a moment of arrival: an old document that names no day would be today's news every day."""
        reading = read_json(data, zone=self._zone, noise=self._noise)
        for place, digest in enumerate(reading.digests):
            if digest.day is None:
                raise DigestError("schema", f"digests[{place}].day: is missing, and no title says it; write YYYY-MM-DD")
        source_hash = hashlib.sha256(data).hexdigest()
        return [Found(digest, source_hash) for digest in reading.digests]
