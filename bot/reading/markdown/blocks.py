"""Tokens of markdown-it → blocks with their source lines, and what the source holds that no block can."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from markdown_it.rules_block.table import escapedSplit
from markdown_it.token import Token

from bot.domain.digest import (
    Block,
    CodeBlock,
    Dropped,
    Formula,
    Heading,
    Image,
    Inline,
    Link,
    Listing,
    Paragraph,
    Quote,
    Rule,
    Table,
    Text,
    plain_inlines,
)  # fmt: skip
from bot.reading.blocks import Placed, merged
from bot.reading.html_marks import html_lines
from bot.reading.inlines import inlines
from bot.reading.markdown.engine import tokens_of
from bot.reading.markdown.inlines import one_line, paragraphs
from bot.reading.marks import has_words

_NUMBER = re.compile(r"\d{1,3}[.．、)）](?=[^\s\d])")

_Cells = list[tuple[Inline, ...]]


@dataclass(slots=True)
class Parsed:
    """Blocks, and comments, scripts and the like, which are left out."""

    blocks: list[Placed] = field(default_factory=list)
    lost: list[Dropped] = field(default_factory=list)


def parse(text: str, first_line: int = 1) -> Parsed:
    """Markdown as blocks. `first_line`: the number of its first line in the file."""
    parsed = Parsed()
    reader = _Reader(tokens_of(text), text.split("\n"), first_line, parsed.lost)
    parsed.blocks.extend(reader.blocks(""))
    return parsed


@dataclass(slots=True)
class _Reader:
    tokens: Sequence[Token]
    source: Sequence[str]
    first_line: int
    lost: list[Dropped]
    place: int = 0

    def blocks(self, closer: str) -> Iterator[Placed]:
        """Blocks up to the token that closes the one we are in."""
        while self.place < len(self.tokens):
            token = self.tokens[self.place]
            self.place += 1
            if token.type == closer:
                return
            yield from self._block(token)

    def _block(self, token: Token) -> Iterator[Placed]:
        line = self._line(token)
        match token.type:
            case "paragraph_open":
                children = self._inline().children or []
                yield from (Placed(number, block) for number, block in paragraphs(children, line, self.lost))
            case "heading_open":
                yield from self._heading(int(token.tag[1:]), line)
            case "bullet_list_open":
                yield Placed(line, Listing(tuple(map(_blocks, self._entries("bullet_list_close")))))
            case "ordered_list_open":
                start = int(token.attrs.get("start", 1))
                entries = [part for entry in self._entries("ordered_list_close") for part in _parted(entry)]
                yield Placed(line, Listing(tuple(map(_blocks, entries)), start))
            case "blockquote_open":
                if inner := list(self.blocks("blockquote_close")):
                    yield Placed(line, Quote(_blocks(inner)))
            case "table_open":
                yield from self._table(line)
            case _:
                yield from self._leaf(token, line)

    def _leaf(self, token: Token, line: int) -> Iterator[Placed]:
        match token.type:
            case "fence" | "code_block":
                yield Placed(line, self._code(token, line))
            case "hr":
                yield Placed(line, Rule())
            case "html_block":
                yield from self._html(token.content, line)
            case "math_block" | "math_block_label":
                yield Placed(line, Paragraph((_display_formula(token),)))

    def _inline(self) -> Token:
        inline = self.tokens[self.place]
        self.place += 2  # and the token that closes its block
        return inline

    def _line(self, token: Token) -> int:
        return self.first_line + (token.map[0] if token.map else 0)

    def _heading(self, level: int, line: int) -> Iterator[Placed]:
        written, pictures = one_line(self._inline().children or [], line, self.lost)
        if written:
            yield Placed(line, Heading(level, written))
        yield from (Placed(line, picture) for picture in pictures)

    def _entries(self, closer: str) -> Iterator[list[Placed]]:
        while self.tokens[self.place].type != closer:
            self.place += 1  # list_item_open
            if entry := list(self.blocks("list_item_close")):
                yield entry
        self.place += 1

    def _code(self, token: Token, line: int) -> CodeBlock:
        language, _, rest = token.info.strip().partition(" ")
        if not language.isascii():
            language, rest = "", token.info
        if rest.strip():
            self.lost.append(Dropped(line, rest.strip(), "代码块的附注"))
        return CodeBlock(token.content.removesuffix("\n"), language)

    def _html(self, markup: str, line: int) -> Iterator[Placed]:
        for each in html_lines(markup):
            number = line + each.offset
            found = merged(inline for part in each.text for inline in _html_inlines(part))
            if each.hidden:
                self.lost.append(Dropped(number, plain_inlines(found).strip(), each.hidden))
            elif has_words(plain_inlines(found)):
                yield Placed(number, Heading(each.level, found) if each.level else Paragraph(found))
            yield from (Placed(number, Image(*picture)) for picture in each.pictures)

    def _table(self, line: int) -> Iterator[Placed]:
        rows: list[_Cells] = []
        pictures: list[Image] = []
        while (token := self.tokens[self.place]).type != "table_close":
            self.place += 1
            if token.type == "tr_open":
                rows.append([])
                surplus = self._surplus(token, len(rows[0]))
            elif token.type == "inline":
                written, found = one_line(token.children or [], self._line(token), self.lost)
                pictures += found
                rows[-1].append(written)
            elif token.type == "tr_close" and surplus:
                rows[-1][-1] += (Text(f" | {surplus}"),)
        self.place += 1
        yield Placed(line, Table(tuple(map(tuple, rows))))
        yield from (Placed(line, picture) for picture in pictures)

    def _surplus(self, row: Token, width: int) -> str:
        """Cells beyond the head of the table, which markdown-it leaves out."""
        if not width or not row.map:
            return ""
        cells = escapedSplit(self.source[row.map[0]].strip(" \t>").strip("|"))
        return " | ".join(cell.strip() for cell in cells[width:] if cell.strip())


def _html_inlines(part: str | tuple[str, str]) -> tuple[Inline, ...]:
    return inlines(part) if isinstance(part, str) else (Link(part[0], part[1].strip()),)


def _blocks(placed: Sequence[Placed]) -> tuple[Block, ...]:
    return tuple(each.block for each in placed)


def _parted(entry: list[Placed]) -> Iterator[list[Placed]]:
    """`4.标题` without its blank is no entry to Markdown but a line of the entry before; to a reader it is one."""
    current: list[Placed] = []
    for placed in entry:
        if current and placed.line == (current[-1].line or 0) + 1 and (without := _without_number(placed.block)):
            yield current
            current = [Placed(placed.line, without)]
        else:
            current.append(placed)
    yield current


def _without_number(block: Block) -> Block | None:
    if not isinstance(block, Paragraph) or not isinstance(block.inlines[0], Text):
        return None
    found = _NUMBER.match(block.inlines[0].text)
    return Paragraph((Text(block.inlines[0].text[found.end() :]), *block.inlines[1:])) if found else None


def _display_formula(token: Token) -> Inline:
    tex = " ".join(token.content.split())
    return Formula(tex, f"$${tex}$$", display=True) if tex else Text("$$$$")
