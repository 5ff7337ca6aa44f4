"""HTML → blocks, as a browser would show them: one walk over the tree, never a recursion.

Known weakness: style sheets are not read, so what only they hide is shown, and what only they make bold is plain.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from bot.domain.digest import Block, Image, Quote, Rule
from bot.reading.html import tags
from bot.reading.html.builder import Builder, Leave, Place, listing, nothing, table
from bot.reading.html.heads import heads_links
from bot.reading.html.inlines import math_formula, script_formula, tex_formula
from bot.reading.html.tags import Attributes, web_address

DEEPEST = 100  # deeper places count as one: headings ask for each how deep it stands
MOST_COLUMNS_SPANNED = 20

_HEADINGS = {f"h{level}": level for level in range(1, 7)}


@dataclass(slots=True)
class Walk:
    """One walk over a tree. Afterwards `blocks` are what is shown, `dropped` what is left out, with the reason."""

    base: str | None
    builder: Builder = field(default_factory=Builder)
    dropped: list[tuple[str, str]] = field(default_factory=list)
    dropping: list[str] | None = None  # text of what is being left out
    articles: int = 0

    @property
    def blocks(self) -> tuple[Block, ...]:
        """The blocks of the page."""
        return tuple(self.builder.place.blocks)

    def through(self, root: Any) -> None:
        """Every node in order. What `enter` hands back is called behind the last child of its element."""
        path: list[tuple[Any, Leave]] = []
        node = root
        while node is not None:
            self.builder.depth = min(len(path), DEEPEST)
            leave = self.enter(node)
            child = node.child if leave else None
            if leave and child is not None:
                path.append((node, leave))
                node = child
                continue
            if leave:
                leave()
            while node.next is None and path:
                node, leave = path.pop()
                self.builder.depth = min(len(path), DEEPEST)
                leave()
            node = node.next if path else None
        self.builder.flush()

    def enter(self, node: Any) -> Leave | None:
        """Open a node. None: its children are not looked at."""
        if not node.is_element_node:
            self.text(node)
            return None
        tag, attributes = node.tag, node.attributes
        if tag in tags.SILENT and tag != "script":
            return None
        if self.dropping is not None:
            return None if tag == "script" else nothing
        reason = self.why_dropped(node, tag, attributes)
        if reason:
            return self.drop(reason, is_noted=not tags.is_drawn_formula(attributes))
        return self.element(node, tag, attributes)

    def element(self, node: Any, tag: str, attributes: Attributes) -> Leave | None:
        """Open an element that is shown."""
        if tag in _SINGLE:
            return _SINGLE[tag](self, attributes)
        if tag in {"math", "script"}:
            formula = math_formula(node) if tag == "math" else script_formula(node)
            if formula:
                self.builder.add(formula)
            return None
        if self.builder.raw is not None:
            return self.line_of_code if tag in tags.BLOCKS else nothing
        if tag in _CONTAINERS:
            return _CONTAINERS[tag](self, node, attributes)
        return self.block(node, attributes) if tag in tags.BLOCKS else self.inline(tag, attributes)

    def text(self, node: Any) -> None:
        """A text node; comments say nothing."""
        text = (node.text_content or "") if node.is_text_node else ""
        if self.dropping is None:
            self.builder.add(text)
        else:
            self.dropping.append(text)

    def why_dropped(self, node: Any, tag: str, attributes: Attributes) -> str | None:
        """The header of a page may hold its title, and an article has a header and a footer of its own."""
        if not self.articles and tag in {"footer", "aside"}:
            return "页脚" if tag == "footer" else "侧栏"
        if not self.articles and tag == "header" and node.css_first("h1, h2, h3, h4, h5, h6") is None:
            return "页眉"
        return tags.chrome(tag, attributes)

    def drop(self, reason: str, *, is_noted: bool) -> Leave:
        """Leave out what is inside, and note its text."""
        dropping: list[str] = []
        self.dropping = dropping

        def leave() -> None:
            self.dropping = None
            text = " ".join("".join(dropping).split())
            if text and is_noted:
                self.dropped.append((text, reason))

        return leave

    def block(self, node: Any, attributes: Attributes) -> Leave:
        """An element with lines of its own."""
        self.builder.flush()
        tag = node.tag
        if tag in _HEADINGS:
            return self.builder.heading(_HEADINGS[tag])
        if tag in {"summary", "dt"} or tags.is_heading_class(attributes) or heads_links(node):
            return self.builder.titled()
        return self.article() if tag in {"article", "main"} else self.builder.flush

    def article(self) -> Leave:
        """Inside, headers and footers belong to the text."""
        self.articles += 1

        def leave() -> None:
            self.articles -= 1
            self.builder.flush()

        return leave

    def inline(self, tag: str, attributes: Attributes) -> Leave:
        """An element within a line."""
        builder, before = self.builder, self.builder.look
        if tag in tags.STRONG:
            builder.look = replace(before, strong=True)
        elif tag in tags.EMPHASIS:
            builder.look = replace(before, emphasis=True)
        elif tag in tags.CODE:
            builder.look = replace(before, code=True)
        elif tag == "a":
            builder.look = replace(before, href=web_address(attributes.get("href"), self.base))
        elif builder.badges is not None and tags.is_badge(attributes):
            return builder.badge()

        def leave() -> None:
            builder.look = before

        return leave

    def line_of_code(self) -> None:
        """A block inside `<pre>`: highlighters wrap each line in one."""
        if self.builder.raw and not self.builder.raw[-1].endswith("\n"):
            self.builder.add("\n")

    def line_break(self, _attributes: Attributes) -> None:
        """`<br>`; a heading is one line however it is broken."""
        if self.builder.raw is not None:
            self.builder.add("\n")
        elif self.builder.place.level is not None or self.builder.badges is not None:
            self.builder.add(" ")
        else:
            self.builder.flush()

    def rule(self, _attributes: Attributes) -> None:
        """`<hr>`."""
        self.builder.flush()
        self.builder.place.blocks.append(Rule())

    def image(self, attributes: Attributes) -> None:
        """A picture; of one that cannot be shown its words are, as a browser does."""
        alt = " ".join((attributes.get("alt") or "").split())
        tex = tags.formula_of_image(attributes)
        url = tags.image_address(attributes, self.base)
        if tex:
            self.builder.add(tex_formula(tex, display=False))
        elif tags.is_emoji(attributes) or not url:
            self.builder.add(alt)
        elif not tags.is_pixel(attributes):
            self.builder.images.append(Image(url, alt))

    def quote(self, _node: Any, _attributes: Attributes) -> Leave:
        """`<blockquote>`."""
        return self.builder.container(lambda place: [Quote(tuple(place.blocks))] if place.blocks else [])

    def code(self, node: Any, attributes: Attributes) -> Leave:
        """`<pre>`, often with a `<code>` that names the language."""
        inner = node.child.attributes if node.child is not None and node.child.is_element_node else {}
        return self.builder.preformatted(tags.language_of(attributes) or tags.language_of(inner))

    def listing(self, node: Any, attributes: Attributes) -> Leave:
        """`<ul>` and `<ol>`."""
        start = tags.number(attributes.get("start"), 1) if node.tag == "ol" else None
        return self.builder.container(lambda place: listing(place, start), Place(entries=[]))

    def entry(self, _node: Any, _attributes: Attributes) -> Leave:
        """`<li>`; one outside a list is a block like others."""
        entries = self.builder.place.entries
        return self.builder.container(lambda place: _put(place, entries))

    def table(self, _node: Any, _attributes: Attributes) -> Leave:
        """`<table>`."""
        return self.builder.container(table, Place(rows=[]))

    def row(self, _node: Any, _attributes: Attributes) -> Leave:
        """`<tr>`."""
        self.builder.flush()
        if self.builder.place.rows is not None:
            self.builder.place.rows.append([])
        return self.builder.flush

    def cell(self, node: Any, attributes: Attributes) -> Leave:
        """`<td>` and `<th>`; the columns that one spans beyond the first are empty."""
        around = self.builder.place
        spanned = min(tags.number(attributes.get("colspan"), 1), MOST_COLUMNS_SPANNED)
        around.has_head |= node.tag == "th"
        row = around.rows[-1] if around.rows else None

        def make(place: Place) -> list[Block]:
            made = _put(place, row, even_empty=True)
            if row is not None:
                row.extend([()] * (spanned - 1))
            return made

        return self.builder.container(make)


def _put(place: Place, into: list[tuple[Block, ...]] | None, *, even_empty: bool = False) -> list[Block]:
    """What is gathered goes into the list or the row around it, if there is one."""
    if into is None:
        return place.blocks
    if place.blocks or even_empty:
        into.append(tuple(place.blocks))
    return []


_Single = Callable[[Walk, Attributes], None]
_Container = Callable[[Walk, Any, Attributes], Leave]

_SINGLE: dict[str, _Single] = {"br": Walk.line_break, "hr": Walk.rule, "img": Walk.image}
_CONTAINERS: dict[str, _Container] = {
    "blockquote": Walk.quote, "pre": Walk.code, "ul": Walk.listing, "ol": Walk.listing, "menu": Walk.listing,
    "dir": Walk.listing, "li": Walk.entry, "table": Walk.table, "tr": Walk.row, "td": Walk.cell, "th": Walk.cell,
}  # fmt: skip
