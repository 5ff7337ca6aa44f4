"""Text with headings, lists and tables → drafts: every block goes where its heading says."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from bot.domain.digest import Listing, Table
from bot.reading.drafts import BodyDraft, ItemDraft, Notes, SectionDraft, draft_body
from bot.reading.entries import read_entry, read_table
from bot.reading.filling import fill, open_item, titled_item
from bot.reading.headings import is_known
from bot.reading.layouts import find_outline
from bot.reading.margins import closing_start, groups_apart, without_contents
from bot.reading.marks import PSEUDO_LEVEL, Line
from bot.reading.story_lists import is_footer
from bot.reading.tree import Node, deepest_level, grow, is_item_with_parts, linked_level
from bot.reading.vocabulary import ABOUT_NAME, PROMOTION_NAME


def is_marked(lines: Sequence[Line]) -> bool:
    """The format says what is a heading, or which list is one of items."""
    return any(line.level or line.opens or isinstance(line.block, Listing) for line in lines)


def draft_marked(lines: Sequence[Line], notes: Notes) -> BodyDraft:
    """The drafts of one day's lines below its title."""
    lines = list(groups_apart(without_contents(lines, notes)))
    end = closing_start(lines)
    root = grow(lines[:end])
    linked = linked_level(root)
    drafter = _Drafter(notes, linked or deepest_level(root), linked is not None, has_links=_has_links(root))
    drafter.root(root)
    body = drafter.body
    body.sections = [section for section in body.sections if section.items]
    body.outro += [line.part for line in lines[end:]]
    return body


def _has_links(root: Node) -> bool:
    return any(node.is_certain or node.holds_items for node in root.walk())


@dataclass(slots=True)
class _Drafter:
    notes: Notes
    item_level: int
    is_sure: bool
    has_links: bool
    body: BodyDraft = field(default_factory=BodyDraft)
    section: Line | None = None
    section_name: str | None = None
    opened: list[Line] = field(default_factory=list)

    def root(self, root: Node) -> None:
        """Everything below the title."""
        if root.holds_items or (root.content and not root.children):
            self._items(root.content)
        else:
            self.body.intro += [line.part for line in root.content]
        for child in root.children:
            self._node(child)

    def _node(self, node: Node) -> None:
        head = node.head
        if head is None:
            return
        if PROMOTION_NAME.search(head.text):
            for line in node.lines():
                self.notes.drop(line.number, line.text, "推广")
        elif head.level == PSEUDO_LEVEL and not node.content:
            self._prose(head)
        elif is_item_with_parts(node) or self._is_plain_item(node):
            self._add([titled_item(head, list(node.lines())[1:], self.notes)])
        elif not node.children and not node.holds_items and self._is_about(node):
            self._about(node)
        else:
            self._section(node, head)

    def _prose(self, line: Line) -> None:
        """What looks like a heading and heads nothing is text."""
        items = self.body.items
        (items[-1].paragraphs if items else self.body.intro).append(line.part)

    def _is_plain_item(self, node: Node) -> bool:
        """A title without a link, at the level of those that have one."""
        if node.holds_items or self._names_section(node) or ABOUT_NAME.fullmatch(node.name) or not self._says(node):
            return False
        if any(child.is_certain or child.holds_items for child in node.walk() if child is not node):
            return False
        return node.level >= self.item_level

    def _names_section(self, node: Node) -> bool:
        """A name of sections, unless it has its link as the items of its level have theirs."""
        is_linked = self.is_sure and node.level >= self.item_level and node.own_link is not None
        return is_known(node.name) and not is_linked

    def _says(self, node: Node) -> bool:
        return bool(node.content or node.children) or not self.body.sections or node.level <= self.item_level

    def _is_about(self, node: Node) -> bool:
        """Text about the digest: before or behind the items, and no section."""
        if not node.content:
            return False
        return bool(ABOUT_NAME.fullmatch(node.name)) or not is_known(node.name)

    def _about(self, node: Node) -> None:
        place = self.body.outro if self.body.items else self.body.intro
        place += [line.part for line in node.lines()]

    def _section(self, node: Node, head: Line) -> None:
        outer = self.section, self.section_name
        before, _, after = head.text.partition(node.name)
        self.notes.drop(head.number, f"{before}{after}", "栏目标记")
        self.section, self.section_name = head, node.name
        items = len(self.body.items)
        own = self._items(node.content)
        for child in node.children:
            self._node(child)
        if len(self.body.items) == items:
            self.notes.drop(head.number, node.name, "没有条目的栏目")
        elif not any(line is head for line in self.opened):
            self.notes.drop(head.number, node.name, "重复的栏目名" if own else "上级栏目")
        self.section, self.section_name = outer

    def _add(self, items: Iterable[ItemDraft]) -> None:
        for item in items:
            if not (item.title or item.url or item.paragraphs):
                continue
            if not self.body.sections or self.body.sections[-1].name != self.section_name:
                number = self.section.number if self.section else item.line
                self.body.sections.append(SectionDraft(number, self.section_name))
                self.opened += [self.section] if self.section else []
            self.body.sections[-1].items.append(item)

    def _items(self, lines: Sequence[Line]) -> bool:
        """Items out of the lines below a section name. Returns whether there were any."""
        count = sum(len(section.items) for section in self.body.sections)
        first = next((index for index, line in enumerate(lines) if self._opens(line)), len(lines))
        self._plain(lines[:first], is_all=first == len(lines))
        item: ItemDraft | None = None
        pending: list[Line] = []
        for line in lines[first:]:
            if not self._opens(line):
                pending.append(line)
                continue
            self._trail(item, pending, is_last=False)
            pending = []
            item = self._open(line)
        self._trail(item, pending, is_last=True)
        return sum(len(section.items) for section in self.body.sections) > count

    def _opens(self, line: Line) -> bool:
        is_list = isinstance(line.block, Listing) and not self.has_links and not is_footer(line.block)
        return line.opens or is_list

    def _open(self, line: Line) -> ItemDraft | None:
        """Add the items of a block; returns the one that following text belongs to."""
        match line.block:
            case Listing(entries):
                items = [read_entry(line.number, entry, self.notes) for entry in entries]
            case Table():
                items = list(read_table(line.number, line.block, self.notes))
            case _:
                items = [open_item(line, self.notes)]
        self._add(items)
        is_open = len(items) == 1 and not isinstance(line.block, Table)
        return items[0] if is_open else None

    def _trail(self, item: ItemDraft | None, lines: Sequence[Line], *, is_last: bool) -> None:
        """Lines behind an item belong to it; behind a whole list they belong to nothing."""
        if item:
            fill(item, lines, self.notes)
        elif is_last:
            self.body.outro += [line.part for line in lines]
        else:
            for line in lines:
                self.notes.drop_stray(line)

    def _unmarked(self, lines: Sequence[Line]) -> None:
        """Below a section name everything belongs to items; without one there may be an introduction and a farewell."""
        drafted = draft_body(find_outline(lines, frozenset()), self.notes)
        items = drafted.items
        if self.section is None:
            self.body.intro += drafted.intro
            self.body.outro += drafted.outro
        else:
            items = items or [ItemDraft(lines[0].number)]
            items[0].paragraphs[:0] = drafted.intro
            items[-1].paragraphs += drafted.outro
        self._add(items)

    def _plain(self, lines: Sequence[Line], *, is_all: bool) -> None:
        """Lines that the format does not mark: read as unmarked text where they are all there is."""
        if not lines:
            return
        if (is_all and self.section_name is not None) or (is_all and not self.body.sections):
            self._unmarked(lines)
        elif not self.body.items:
            self.body.intro += [line.part for line in lines]
        else:
            for line in lines:
                self.notes.drop_stray(line)
