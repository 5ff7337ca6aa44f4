"""Digests from a Feishu wiki: pages whose title holds a day, below a node or anywhere in a space."""

import hashlib
import json
import logging
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta, tzinfo
from functools import partial

from anyio.to_thread import run_sync

from bot.domain.digest import Reading
from bot.domain.errors import ConfigError, DigestError
from bot.ports import Found
from bot.reading.dates import TitleDate, read_title
from bot.reading.docx.reader import read_docx
from bot.sources.wiki_pages import Documents, Node, PageReader, child_nodes

log = logging.getLogger(__name__)

RECENT = timedelta(days=7)  # since the last edit
NEWS = timedelta(days=31)  # since the day in the title: an old page that was mended is no news
MOST_LISTS = 300  # of child pages; the platform allows 100 in a minute


class FeishuWikiSource:
    """Walks a space, or what stands below a node, and reads the pages of the last days."""

    def __init__(
        self, documents: Documents, *, space: str | None, node: str | None, zone: tzinfo, noise: Sequence[str] = ()
    ) -> None:
        if not space and not node:
            raise ConfigError("series.source", "a feishu_wiki needs `space` (its id) or `node` (of the parent page)")
        self._documents = documents
        self._space, self._node = space, node and _token(node)
        self._zone, self._noise = zone, noise

    async def load(self, now: datetime) -> tuple[list[Found], list[DigestError]]:
        """Digests of pages edited in the last days, and what could not be read."""
        walk = _Walk(self._documents, now, self._zone)
        found: list[Found] = []
        try:
            await walk.run(self._space, self._node)
        except DigestError as exc:
            return [], [exc]
        for page in walk.pages:
            try:
                reading, source_hash = await self.read_page(page, now)
            except DigestError as exc:
                walk.errors.append(DigestError(exc.code, exc.message, path=self._documents.address(page.token)))
            else:
                found += [Found(digest, source_hash) for digest in reading.digests]
        return found, walk.errors

    async def read_page(self, page: Node, now: datetime) -> tuple[Reading, str]:
        """One page with its warnings, and the hash of all that was read for it. Raises DigestError."""
        day = _dated(page, now, self._zone)
        reader = PageReader(self._documents, lambda child: not _is_other(_dated(child, now, self._zone), day))
        await reader.read(page)
        source_hash = await run_sync(_hash, reader)
        read = partial(
            read_docx,
            reader.blocks,
            received_at=now,
            zone=self._zone,
            noise=self._noise,
            title=page.title,
            url=self._documents.address(page.token),
        )
        reading = await run_sync(read)
        if reading.warnings:
            codes = sorted({warning.code for warning in reading.warnings})
            log.warning("wiki_page_read_with_warnings", extra={"count": len(reading.warnings), "codes": codes})
        return reading, source_hash


@dataclass(slots=True)
class _Walk:
    """Nodes below a place, level by level. A page with a day is a digest; what is below it is part of it."""

    documents: Documents
    now: datetime
    zone: tzinfo
    pages: list[Node] = field(default_factory=list)
    errors: list[DigestError] = field(default_factory=list)
    _folders: deque[Node] = field(default_factory=deque)
    _seen: set[str] = field(default_factory=set)

    async def run(self, space: str | None, node: str | None) -> None:
        """Raises DigestError when the place itself cannot be read."""
        if node:
            top = await self.documents.node(node)
            self._take([top], await child_nodes(self.documents, top))
        elif space:
            self._take(await self.documents.child_nodes(space))
        for _ in range(MOST_LISTS):
            if not self._folders:
                return
            await self._open(self._folders.popleft())
        message = f"more than {MOST_LISTS} pages with pages below; name the parent node of the digests"
        self.errors.append(DigestError("too_large", message))

    async def _open(self, folder: Node) -> None:
        try:
            self._take(await child_nodes(self.documents, folder))
        except DigestError as exc:
            self.errors.append(DigestError(exc.code, exc.message, path=self.documents.address(folder.token)))

    def _take(self, *lists: Sequence[Node]) -> None:
        for node in [node for nodes in lists for node in nodes]:
            dated = _dated(node, self.now, self.zone)
            if node.obj_token in self._seen:
                continue
            self._seen.add(node.obj_token)
            if dated.dated and node.obj_type == "docx" and self._is_news(node, dated):
                self.pages.append(node)
            if (node.has_child or node.origin) and (not dated.dated or dated.day_end):
                self._folders.append(node)

    def _is_news(self, node: Node, dated: TitleDate) -> bool:
        last = dated.day_end or dated.day
        is_edited = node.edited_at is None or node.edited_at >= self.now - RECENT
        return is_edited and (last is None or last >= (self.now - NEWS).astimezone(self.zone).date())


def _token(node: str) -> str:
    """The token of a node, out of its address too: that is what people copy."""
    return node.partition("/wiki/")[2].split("?")[0].split("#")[0].strip("/") or node


def _hash(reader: PageReader) -> str:
    content = json.dumps([reader.revisions, reader.blocks], sort_keys=True)
    return hashlib.sha256(content.encode()).hexdigest()


def _dated(node: Node, now: datetime, zone: tzinfo) -> TitleDate:
    return read_title(node.title, now.astimezone(zone).date())


def _is_other(child: TitleDate, parent: TitleDate) -> bool:
    """A page of another day is a digest of its own."""
    return child.day is not None and (child.day, child.day_end) != (parent.day, parent.day_end)
