"""Lines with headings → a tree, and what each heading heads: items, an item, or text about the digest."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from bot.reading.drafts import last_ending_link
from bot.reading.filling import listed_link
from bot.reading.headings import is_known, section_name
from bot.reading.marks import PSEUDO_LEVEL, Kind, Line
from bot.reading.vocabulary import ABOUT_NAME, INNER_HEADING


@dataclass(eq=False)
class Node:
    """A heading, the lines right below it, and the headings of deeper levels. The root has no heading."""

    head: Line | None
    content: list[Line] = field(default_factory=list)
    children: list["Node"] = field(default_factory=list)

    @property
    def level(self) -> int:
        """0 for the root."""
        return self.head.level if self.head else 0

    @property
    def name(self) -> str:
        """The heading without its number and its brackets."""
        return section_name(self.head) if self.head else ""

    @cached_property
    def own_link(self) -> str | None:
        """The link of the story that this heading could be the title of."""
        if self.head and self.head.url:
            return self.head.url
        lines = [line.url for line in self.content if line.kind is Kind.LINK]
        return next(iter(lines), None) or last_ending_link([line.part for line in self.content]) or self._listed_link

    @property
    def _listed_link(self) -> str | None:
        return next(filter(None, map(listed_link, self.content)), None)

    @cached_property
    def holds_items(self) -> bool:
        """Its lines are stories by themselves: a list, a table, titles that are links, several links."""
        openers = sum(line.opens for line in self.content)
        links = sum(line.kind is Kind.LINK for line in self.content)
        if self.head and self.head.url:
            return False
        leading = next((line for line in self.content if line.kind is not Kind.LABEL), None)
        if openers and leading and (leading.opens or links == 0):
            return True
        return links > 1 and is_known(self.name)

    @cached_property
    def is_certain(self) -> bool:
        """An item beyond doubt: it is or has a link of its own."""
        if self.head is None or self.holds_items or ABOUT_NAME.fullmatch(self.name):
            return False
        if INNER_HEADING.fullmatch(self.name):
            return False
        return bool(self.own_link) and not is_known(self.name)

    def walk(self) -> Iterator["Node"]:
        """The node and all below it, in the order of the text."""
        yield self
        for child in self.children:
            yield from child.walk()

    def lines(self) -> Iterator[Line]:
        """All lines, headings too, in the order of the text."""
        for node in self.walk():
            yield from [node.head] if node.head else ()
            yield from node.content


def grow(lines: Sequence[Line]) -> Node:
    """The tree of the headings; a level that is left out is no level."""
    root = Node(None)
    path = [root]
    for line in lines:
        if line.level:
            while path[-1].level >= line.level:
                path.pop()
            path[-1].children.append(Node(line))
            path.append(path[-1].children[-1])
        else:
            path[-1].content.append(line)
    return root


def linked_level(root: Node) -> int | None:
    """The level of the highest headings that are items beyond doubt, if there are any."""
    return min((node.level for node in _outermost_items(root)), default=None)


def deepest_level(root: Node) -> int:
    """The level of the deepest headings over text: without links, these are the items."""
    levels = [node.level for node in root.walk() if not node.children and node.content and not node.holds_items]
    real = [level for level in levels if 0 < level < PSEUDO_LEVEL]
    return max(real or levels, default=PSEUDO_LEVEL)


def _outermost_items(node: Node) -> Iterator[Node]:
    for child in node.children:
        if is_item_with_parts(child):
            yield child
        else:
            yield from _outermost_items(child)


def is_item_with_parts(node: Node) -> bool:
    """An item, its inner headings included: a heading that is a link, or one with its link before any other heading."""
    if not node.is_certain:
        return False
    if node.head and node.head.url:
        return True
    return not any(child.is_certain and child.level < PSEUDO_LEVEL for child in node.children)
