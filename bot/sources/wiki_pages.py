"""One page of a wiki with all that stands in it: child pages and synced blocks are read into the list of its blocks.

What the app may not read, and what is no document, becomes a block that says so and where it is: a page with a hole is
shown, a page is never lost for one. Source: feishu-platform notes 9.1, 9.2.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol, TypeVar

from bot.domain.errors import DigestError

MOST_DOCUMENTS = 50
PAGE, WIKI_CATALOG, SUB_PAGES, SYNCED, UNKNOWN = 1, 42, 51, 50, 999
HOLES = {"forbidden", "not_found", "too_many"}  # any other error may be gone in a minute, and then the page is whole

Json = dict[str, Any]
T = TypeVar("T")


class Node(Protocol):
    """A place in a wiki's tree, and the object that stands there. `origin`: of a shortcut, where it leads to."""

    @property
    def token(self) -> str: ...
    @property
    def space_id(self) -> str: ...
    @property
    def obj_token(self) -> str: ...
    @property
    def obj_type(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def has_child(self) -> bool: ...
    @property
    def origin(self) -> str | None: ...
    @property
    def edited_at(self) -> datetime | None: ...


class Info(Protocol):
    """`revision` grows with every edit of a document."""

    @property
    def revision(self) -> int: ...


class Documents(Protocol):
    """Reads wikis and documents. Raises DigestError: forbidden or not_found for good, others for now."""

    def address(self, node_token: str) -> str:
        """Where people read a page."""
        ...

    async def node(self, token: str) -> Node:
        """The node of a token."""
        ...

    async def child_nodes(self, space_id: str, parent: str = "") -> Sequence[Node]:
        """Nodes right below a node, or at the top of a space."""
        ...

    async def document(self, document_id: str) -> Info:
        """What is known about a document."""
        ...

    async def blocks(self, document_id: str) -> list[Json]:
        """All its blocks, a flat list."""
        ...


async def child_nodes(documents: Documents, node: Node) -> Sequence[Node]:
    """Pages below a page; below a shortcut, those of the page that it leads to."""
    if node.origin:
        node = await documents.node(node.origin)
    return await documents.child_nodes(node.space_id, node.token) if node.has_child else ()


@dataclass(slots=True)
class PageReader:
    """Reads one page. `is_part`: whether a child page belongs to the digest of its parent."""

    documents: Documents
    is_part: Callable[[Node], bool]
    blocks: list[Json] = field(default_factory=list)
    revisions: list[tuple[str, int]] = field(default_factory=list)
    """Every document that was read, for a hash of the whole."""
    _pages: set[str] = field(default_factory=set)
    _sources: dict[str, list[Json]] = field(default_factory=dict)

    async def read(self, node: Node) -> None:
        """Fill `blocks`. Raises DigestError when the page itself cannot be read."""
        self._pages.add(node.obj_token)
        todo = [(node, await self._document(node.obj_token))]
        while todo:
            page, blocks = todo.pop()
            self.blocks += blocks
            todo += await self._follow(page, blocks)

    async def _follow(self, page: Node, blocks: Sequence[Json]) -> list[tuple[Node, list[Json]]]:
        """Child pages of a page, put under the block that lists them, else at the end of the page."""
        for block in blocks:
            if block.get("block_type") == SYNCED:
                await self._or_hole(block, "", page, self._synced(block))
        lists = [block for block in blocks if _lists_children_of(block, page)]
        for block in lists:
            block.setdefault("children", [])  # what it lists is read: nothing is missing where nothing is there
        pages = [block for block in blocks if block.get("block_type") == PAGE]
        host = next(iter([*lists, *pages]), None)
        if host is None or not (page.has_child or page.origin):
            return []
        children = await self._or_hole(host, "子页面", page, child_nodes(self.documents, page))
        if children is not None and page.has_child and not children:
            self._hole(host, "子页面", page, "the app sees none of the pages below")
        return [found for child in children or () if (found := await self._child(host, child))]

    async def _child(self, host: Json, child: Node) -> tuple[Node, list[Json]] | None:
        if not self.is_part(child) or child.obj_token in self._pages:
            return None
        self._pages.add(child.obj_token)
        if child.obj_type != "docx":
            self._hole(host, child.title, child, f"a page of the kind {child.obj_type}, which is no document")
            return None
        blocks = await self._or_hole(host, child.title, child, self._document(child.obj_token))
        if blocks is None:
            return None
        _put_under(host, blocks)
        return child, blocks

    async def _synced(self, block: Json) -> None:
        """The block of another document that stands here too, with all below it."""
        told = block.get("reference_synced")
        told = told if isinstance(told, dict) else {}
        document_id, source = str(told.get("source_document_id") or ""), str(told.get("source_block_id") or "")
        if document_id and source and document_id not in self._pages:
            if document_id not in self._sources:
                self._sources[document_id] = await self._document(document_id)
            self.blocks += _subtree(self._sources[document_id], source)
        if source:
            block["children"] = [*block.get("children", ()), source]

    async def _document(self, document_id: str) -> list[Json]:
        if len(self.revisions) >= MOST_DOCUMENTS:
            raise DigestError("too_many", f"more than {MOST_DOCUMENTS} documents in one digest; the rest is not read")
        info = await self.documents.document(document_id)
        blocks = await self.documents.blocks(document_id)
        self.revisions.append((document_id, info.revision))
        return blocks

    async def _or_hole(self, host: Json, title: str, node: Node, work: Awaitable[T]) -> T | None:
        try:
            return await work
        except DigestError as exc:
            if exc.code not in HOLES:
                raise
            self._hole(host, title, node, exc.message)
            return None

    def _hole(self, host: Json, title: str, node: Node, reason: str) -> None:
        key = f"unreadable-{len(self.blocks)}-{len(host.get('children') or ())}-{node.token}"
        told = {"title": title, "url": self.documents.address(node.token), "reason": reason}
        hole = {"block_id": key, "block_type": UNKNOWN, "parent_id": host.get("block_id"), "unreadable": told}
        self.blocks.append(hole)
        host["children"] = [*(host.get("children") or ()), key]


def _lists_children_of(block: Json, page: Node) -> bool:
    if block.get("block_type") not in (SUB_PAGES, WIKI_CATALOG):
        return False
    told = block.get("sub_page_list") or block.get("wiki_catalog")
    token = told.get("wiki_token") if isinstance(told, dict) else None
    return token in (None, "", page.token, page.origin)


def _put_under(host: Json, blocks: Sequence[Json]) -> None:
    pages = [block["block_id"] for block in blocks if block.get("block_type") == PAGE and "block_id" in block]
    host["children"] = [*(host.get("children") or ()), *pages[:1]]


def _subtree(blocks: Sequence[Json], root: str) -> list[Json]:
    by_id = {block.get("block_id"): block for block in blocks}
    found: dict[str, Json] = {}
    todo = [root]
    while todo:
        key = todo.pop()
        if key in by_id and key not in found:
            found[key] = by_id[key]
            todo += [child for child in found[key].get("children") or () if isinstance(child, str)]
    return list(found.values())
