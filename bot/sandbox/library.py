"""What stands in the tenant's wikis, documents and tables: filled by tests, by a demo and by the control API."""

from collections.abc import Mapping, Sequence
from typing import Any

from bot.sandbox.clock import Clock
from bot.sandbox.state import Document, Media, Node, Space, Table, World

ID_CHARS = 27  # of a document; a shorter one is refused (9.2)
PAGE = 1

Json = dict[str, Any]


class Library:
    """Adds, edits and forbids. Ids come from names, so that a demo stays the same."""

    def __init__(self, world: World, clock: Clock) -> None:
        self._world, self._clock = world, clock

    def add_space(self, name: str) -> str:
        """A wiki that the app may read. Returns its id: digits, as on the platform."""
        digits = str(int(self._world.name_id("", f"space/{name}")[:15], 16))
        self._world.put(Space(digits, name))
        return digits

    def add_page(
        self,
        space_id: str,
        title: str,
        blocks: Sequence[Json] = (),
        *,
        parent: str = "",
        edited_at: float | None = None,
        obj_type: str = "docx",
    ) -> Node:
        """A page of a wiki with its document; of another `obj_type` there is a node, and nothing to read."""
        obj_token = self._id(obj_type, f"{title}/{len(self._world.nodes)}")
        if obj_type == "docx":
            obj_token = self.add_document(title, blocks).document_id
        at = self._clock.now() if edited_at is None else edited_at
        token = self._id("wikcn", f"{title}/{len(self._world.nodes)}")
        node = Node(token, space_id, title, obj_type, obj_token, at, at, parent)
        self._world.put(node)
        return node

    def add_shortcut(self, space_id: str, origin: str, *, parent: str = "") -> Node:
        """A second place of a page: the node has a token of its own and shows the same object."""
        to = self._world.nodes[origin]
        token = self._id("wikcn", f"{origin}/{len(self._world.nodes)}")
        shortcut = Node(
            token, space_id, to.title, to.obj_type, to.obj_token, to.created_at, to.edited_at, parent, origin
        )
        self._world.put(shortcut)
        return shortcut

    def add_document(self, title: str, blocks: Sequence[Json]) -> Document:
        """A document of these blocks. Without a page block they are the lines of the page, in order."""
        document_id = self._id("doxcn", f"{title}/{len(self._world.documents)}")
        document = Document(document_id, title, _with_page(document_id, title, blocks))
        self._world.put(document)
        return document

    def edit_document(self, document_id: str, blocks: Sequence[Json]) -> None:
        """Other blocks under a new revision; the nodes that show it are edited now."""
        old = self._world.documents[document_id]
        blocks = _with_page(document_id, old.title, blocks)
        self._world.change(old, blocks=blocks, revision=old.revision + 1)
        for node in [one for one in self._world.nodes.values() if one.obj_token == document_id]:
            self._world.change(node, edited_at=self._clock.now())

    def add_table(
        self, app_token: str, table_id: str, records: Sequence[Json], views: Mapping[str, Sequence[int]] | None = None
    ) -> Table:
        """A table of these rows: fields by name, values as the API gives them. `views`: row numbers."""
        fields = tuple(dict.fromkeys(name for record in records for name in record))
        ids = [f"rec{number:08}" for number in range(len(records))]
        rows = tuple({"record_id": key, "fields": dict(one)} for key, one in zip(ids, records, strict=True))
        shown = {view: tuple(ids[number] for number in numbers) for view, numbers in (views or {}).items()}
        table = Table(f"{app_token}/{table_id}", fields, rows, shown)
        self._world.put(table)
        return table

    def add_media(self, name: str, content: bytes, content_type: str = "image/png") -> str:
        """A picture or file. Returns its token."""
        media = Media(self._id("boxcn", name), content, content_type)
        self._world.put(media)
        return media.file_token

    def forbid(self, token: str, *, forbidden: bool = True) -> None:
        """Take the app's right to a node, document, media or table (APP_TOKEN/TABLE_ID), or give it back."""
        world = self._world
        for table in (world.nodes, world.documents, world.media, world.tables):
            if token in table:
                world.change(table[token], forbidden=forbidden)
                return
        raise ValueError(f"nothing has the token {token!r}")

    def _id(self, prefix: str, name: str) -> str:
        return self._world.name_id(prefix, name)[:ID_CHARS]


def _with_page(document_id: str, title: str, blocks: Sequence[Json]) -> tuple[Json, ...]:
    if any(block.get("block_type") == PAGE for block in blocks):
        return tuple(blocks)
    named = [{"block_id": f"{document_id[:20]}b{number}", **block} for number, block in enumerate(blocks)]
    below = {child for block in named for child in block.get("children", ())}
    top = [block["block_id"] for block in named if block["block_id"] not in below]
    placed = [{"parent_id": document_id, **block} for block in named]
    run = {"text_run": {"content": title, "text_element_style": {}}}
    page = {"block_id": document_id, "block_type": PAGE, "parent_id": "", "children": top}
    return ({**page, "page": {"elements": [run], "style": {}}}, *placed)
