"""Inline tokens of markdown-it → inlines, line by line; pictures and display formulas come out as blocks."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from markdown_it.token import Token

from bot.domain.digest import (
    Block,
    Code,
    Dropped,
    Emphasis,
    Image,
    Inline,
    Link,
    Strong,
    Text,
    plain_inlines,
)  # fmt: skip
from bot.reading.blocks import merged
from bot.reading.html_marks import markup_places, picture, silent_reason, tag_of, web_target
from bot.reading.markdown.rows import Row, blocks, join, joined

DEEPEST_MARKS = 8

_OPENERS: dict[str, type[Strong | Emphasis]] = {"strong_open": Strong, "em_open": Emphasis}
_IGNORED = {"s_open", "s_close", "strong_close", "em_close", "link_close"}


@dataclass(slots=True)
class _Frame:
    """A mark that is still open: what it will be, and what it holds so far."""

    kind: str
    pieces: list[Inline | Image] = field(default_factory=list)
    url: str | None = None


def paragraphs(children: Sequence[Token], line: int, lost: list[Dropped]) -> Iterator[tuple[int, Block]]:
    """Blocks of one paragraph with their lines. Source lines are joined but where the line end is meant."""
    rows = _Reader(line, lost).rows(children)
    for row in joined(rows):
        for block in blocks(row.pieces):
            yield line + row.offset, block


def one_line(children: Sequence[Token], line: int, lost: list[Dropped]) -> tuple[tuple[Inline, ...], list[Image]]:
    """A heading or a cell: its inlines, and the pictures in it."""
    whole: list[Inline | Image] = []
    for row in _Reader(line, lost).rows(children):
        join(whole, row.pieces)
    inlines = [piece for piece in whole if not isinstance(piece, Image)]
    return merged(inlines), [piece for piece in whole if isinstance(piece, Image)]


@dataclass(slots=True)
class _Reader:
    line: int
    lost: list[Dropped]
    done: list[Row] = field(default_factory=list)
    frames: list[_Frame] = field(default_factory=list)
    depth: int = 0
    silent: str = ""

    def rows(self, children: Sequence[Token]) -> list[Row]:
        """The lines of a run of tokens."""
        self.done = [Row(0, is_hard=True)]
        markup = markup_places([token.content if token.type == "html_inline" else "" for token in children])
        for place, token in enumerate(children):
            if token.type == "html_inline":
                self._html(token.content, is_markup=place in markup)
            elif self.silent:
                self._lose(token.content, "脚本")
            else:
                self._token(token)
        while self.frames:
            self._close()
        return self.done

    def _token(self, token: Token) -> None:
        match token.type:
            case "softbreak":
                self._break(is_hard=False)
            case "hardbreak":
                self._break(is_hard=True)
            case "code_inline":
                self._add(Code(token.content))
            case "formula":
                self._add(token.meta["formula"])
            case "image":
                alt = "".join(child.content for child in token.children or ())
                self._add(Image(str(token.attrs.get("src", "")), alt))
                self._lose(str(token.attrs.get("title", "")), "链接提示")
            case "link_open":
                self._open_link(token)
            case "strong_open" | "em_open":
                self._open(token.type)
            case kind if kind in _IGNORED:
                self._close_mark(kind)
            case _:
                self._add(Text(token.content))

    def _open_link(self, token: Token) -> None:
        href = str(token.attrs.get("href", ""))
        url = web_target(href)
        if url is None and not href.startswith("#"):
            self._lose(href, "不是网页地址，只留文字")
        self._lose(str(token.attrs.get("title", "")), "链接提示")
        self._open("link_open", url)

    def _open(self, kind: str, url: str | None = None) -> None:
        self.depth += 1
        if self.depth <= DEEPEST_MARKS:
            self.frames.append(_Frame(kind, url=url))

    def _close_mark(self, kind: str) -> None:
        if kind not in {"s_open", "s_close"}:
            self.depth -= 1
            if self.depth < DEEPEST_MARKS and self.frames:
                self._close()

    def _close(self) -> None:
        frame = self.frames.pop()
        inner = merged(piece for piece in frame.pieces if not isinstance(piece, Image))
        pictures = [piece for piece in frame.pieces if isinstance(piece, Image)]
        if frame.kind == "link_open" and frame.url:
            text = plain_inlines(inner) or (pictures[0].alt if pictures else "") or frame.url
            self._add(Link(frame.url, text))
        elif frame.kind == "link_open":
            self._extend(frame.pieces)
            return
        elif inner:
            self._add(_OPENERS[frame.kind](inner))
        self._extend(pictures)

    def _add(self, piece: Inline | Image) -> None:
        self._extend([piece])

    def _extend(self, pieces: Iterable[Inline | Image]) -> None:
        (self.frames[-1].pieces if self.frames else self.done[-1].pieces).extend(pieces)

    def _break(self, *, is_hard: bool) -> None:
        if self.frames:
            self._add(Text(" "))
        else:
            self.done.append(Row(len(self.done), is_hard))

    def _lose(self, text: str, reason: str) -> None:
        if text.strip():
            self.lost.append(Dropped(self.line, text.strip(), reason))

    def _html(self, written: str, *, is_markup: bool) -> None:
        name, is_closing = tag_of(written)
        if self.silent:
            self.silent = "" if is_closing and name == self.silent else self.silent
        elif not name:
            self._lose(written, "注释")
        elif not is_markup:
            self._add(Text(written))
        elif silent_reason(name) and not is_closing:
            self.silent = name
        elif name == "br":
            self._break(is_hard=True)
        elif name == "a":
            self._anchor(written, is_closing=is_closing)
        elif found := picture(written):
            self._add(Image(*found))

    def _anchor(self, written: str, *, is_closing: bool) -> None:
        if is_closing:
            self._close_mark("link_close")
        else:
            self._open("link_open", web_target(written, in_tag=True))
