"""A flat list of Feishu blocks → blocks in reading order. Source: docx-v1 data structure of blocks; notes 9.2.

The order is that of `children` from the page block. One walk without recursion, each block once, so that the time is
linear whatever the list holds: cycles, children that are missing, blocks that hang on no page.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import tzinfo
from typing import Any

from bot.domain.digest import (
    Block,
    CodeBlock,
    Heading,
    Image,
    Inline,
    Link,
    Paragraph,
    Rule,
    Text,
    plain_inlines,
)
from bot.reading.docx.inlines import UNREADABLE, elements_of, line_of, lines_of, text_of, web_url
from bot.reading.docx.kinds import (
    BULLET,
    CODE,
    DEEPEST,
    DIVIDER,
    EMBEDDED,
    HEADINGS,
    HOLDERS,
    IMAGE,
    LANGUAGES,
    MEDIA,
    ORDERED,
    PAGE,
    QUOTE,
    QUOTE_CONTAINER,
    TABLE,
    TEXT_KEYS,
    TODO,
)
from bot.reading.docx.shapes import Entry, Frame, Grid, Wrap, blocks_in
from bot.reading.drafts import Notes

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Walked:
    """What a list of blocks says: the title of its page, and the rest in order."""

    title: str | None
    blocks: tuple[Block, ...]


def walk(blocks: Sequence[Json], *, zone: tzinfo, noise: frozenset[str], url: str | None, notes: Notes) -> Walked:
    """All blocks in the order of a reader. `url`: where the document can be seen, for what cannot be read here."""
    walker = _Walker(zone, noise, url, notes)
    walker.index(blocks)
    root = walker.root()
    title = plain_inlines(line_of(_body(walker.by_id[root]), zone, notes)).strip() if root is not None else None
    if root is not None:
        walker.seen.add(root)
        walker.visit([(child, walker.top, 0) for child in _children(walker.by_id[root])])
    walker.visit_orphans(has_page=root is not None)
    return Walked(title or None, blocks_in(walker.top))


@dataclass(slots=True)
class _Walker:
    zone: tzinfo
    noise: frozenset[str]
    url: str | None
    notes: Notes
    by_id: dict[str, Json] = field(default_factory=dict)
    seen: set[str] = field(default_factory=set)
    top: Frame = field(default_factory=Frame)

    def index(self, blocks: Iterable[Json]) -> None:
        """By id; another block under a known id keeps a place of its own."""
        for number, block in enumerate(blocks):
            key = str(block.get("block_id") or f"#{number}")
            if self.by_id.setdefault(key, block) != block:
                self.by_id[f"{key}#{number}"] = block

    def root(self) -> str | None:
        pages = [key for key, block in self.by_id.items() if _kind(block) == PAGE]
        tops = (key for key in pages if str(self.by_id[key].get("parent_id") or "") not in self.by_id)
        return next(tops, pages[0] if pages else None)

    def visit(self, todo: list[tuple[str, Frame, int]]) -> None:
        """Blocks with all below them. `todo`: id, where its text goes, and the pages that it is inside."""
        todo.reverse()
        while todo:
            key, frame, pages = todo.pop()
            block = self.by_id.get(key)
            if block is None:
                self._unreadable(frame, "missing_block", "a block is named and not there; read the document again")
            elif key not in self.seen:
                self.seen.add(key)
                inner = self._add(block, frame, pages)
                pages += _kind(block) == PAGE
                frames = inner if isinstance(inner, list) else [inner] * len(_children(block))
                todo += reversed([(child, into, pages) for child, into in zip(_children(block), frames, strict=False)])

    def visit_orphans(self, *, has_page: bool) -> None:
        """What hangs on no page stands at the end; a list without any page is read from top to bottom."""
        left = [key for key in self.by_id if key not in self.seen]
        unseen = set(left)
        tops = [key for key in left if str(self.by_id[key].get("parent_id") or "") not in unseen]
        if left and has_page:
            message = f"{len(left)} blocks hang on no page; they stand at the end of the text"
            self.notes.warn("orphan_block", None, message)
        for key in [*tops, *left]:
            self.visit([(key, self.top, 0)])

    def _add(self, block: Json, frame: Frame, pages: int) -> Frame | list[Frame]:
        """Put what a block says into the frame; returns where its children go: one frame, or one for each."""
        kind = _kind(block)
        body = _body(block)
        if kind in (BULLET, ORDERED, TODO):
            return self._wrapped(frame, Entry(number=_start(body) if kind == ORDERED else None), body)
        if kind in (QUOTE, QUOTE_CONTAINER):
            return self._wrapped(frame, Wrap(), body)
        if kind == TABLE:
            grid = Grid([Frame() for _ in _children(block)], _dict(_dict(block.get("table")).get("property")))
            frame.parts.append(grid)
            return grid.cells
        if kind == PAGE or kind in HEADINGS:
            level = pages + 1 if kind == PAGE else pages + kind - 2
            if line := line_of(body, self.zone, self.notes):
                frame.parts.append(Heading(min(level, 9), line))
        elif kind == CODE:
            frame.parts.append(CodeBlock(text_of(body), _language(_dict(_dict(body).get("style")).get("language"))))
        elif kind == DIVIDER:
            frame.parts.append(Rule())
        elif kind == IMAGE:
            frame.parts.append(_image(_dict(block.get("image"))))
        elif not self._link(block, frame):
            self._text(block, body, frame)
        return frame

    def _wrapped(self, frame: Frame, wrap: Wrap, body: Any) -> Frame:
        """A list entry or a quotation with its own lines first."""
        if frame.depth < DEEPEST:
            wrap.frame.depth = frame.depth + 1
            frame.parts.append(wrap)
            frame = wrap.frame
        self._paragraphs(body, frame)
        return frame

    def _text(self, block: Json, body: Any, frame: Frame) -> None:
        if body is not None:
            self._paragraphs(body, frame)
        elif "unreadable" in block:
            told = _dict(block["unreadable"])
            label, url = str(told.get("title") or ""), web_url(told.get("url"))
            self._unreadable(frame, "unreadable_block", f"{label or 'a block'}: {told.get('reason')}", label, url)
        elif _kind(block) not in HOLDERS and "children" not in block:
            label = EMBEDDED.get(_kind(block), "")
            name = _dict(block.get("file")).get("name")
            label = f"{label} {name}" if name else label
            message = f"a block of type {_kind(block)} cannot be read; look at the document"
            self._unreadable(frame, "unreadable_block", message, label)

    def _link(self, block: Json, frame: Frame) -> bool:
        """The card of a link is the link; an embedded page is one with a word before it."""
        preview = web_url(_dict(block.get("link_preview")).get("url"))
        embedded = web_url(_dict(_dict(block.get("iframe")).get("component")).get("url"))
        if preview:
            frame.parts.append(Paragraph((Link(preview, preview),)))
        elif embedded:
            frame.parts.append(Paragraph((Text("嵌入的网页："), Link(embedded, embedded))))
        return bool(preview or embedded)

    def _paragraphs(self, body: Any, frame: Frame) -> None:
        for line in lines_of(body, self.zone, self.notes):
            text = plain_inlines(line).strip()
            if text in self.noise:
                self.notes.drop(None, text, "配置的干扰行")
            else:
                frame.parts.append(Paragraph(line))

    def _unreadable(self, frame: Frame, code: str, message: str, label: str = "", url: str | None = None) -> None:
        """A mark that readers see. It is a sentence: a link alone is an item's link, and a short line its title."""
        url = url or self.url
        self.notes.warn(code, None, message)
        parts: tuple[Inline, ...] = (Text(f"{UNREADABLE}。"),)
        if url:
            parts = (Text(f"{UNREADABLE}（{label}{'，' if label else ''}"), Link(url, "见原文"), Text("）。"))
        elif label:
            parts = (Text(f"{UNREADABLE}（{label}）。"),)
        frame.parts.append(Paragraph(parts))


def _children(block: Json) -> list[str]:
    """Ids in order. Cells of a table stand in `cells`; a block inside a line stands in the line."""
    cells = _dict(block.get("table")).get("cells")
    children = cells if isinstance(cells, list) and cells else block.get("children")
    inside = [_dict(one.get("inline_block")).get("block_id") for one in elements_of(_body(block))]
    listed = children if isinstance(children, list) else []
    return [str(child) for child in [*inside, *listed] if child]


def _kind(block: Json) -> int:
    kind = block.get("block_type")
    return kind if isinstance(kind, int) else 0


def _body(block: Json) -> Any:
    """What holds the text of a block; of an unknown kind, whatever has elements."""
    key = TEXT_KEYS.get(_kind(block))
    if key is not None and key in block:
        return block[key]
    return next((value for value in block.values() if isinstance(value, dict) and "elements" in value), None)


def _start(body: Any) -> int | str:
    """The number that an ordered entry begins its list with, or `auto`."""
    sequence = str(_dict(_dict(body).get("style")).get("sequence", ""))
    return int(sequence) if sequence.isdecimal() and len(sequence) < 10 else "auto"


def _language(number: Any) -> str:
    is_known = isinstance(number, int) and 1 <= number <= len(LANGUAGES)
    return LANGUAGES[number - 1] if is_known else ""


def _image(image: Json) -> Image:
    caption = _dict(image.get("caption")).get("content")
    return Image(f"{MEDIA}{image.get('token') or ''}", str(caption or "").strip())


def _dict(value: Any) -> Json:
    return value if isinstance(value, dict) else {}
