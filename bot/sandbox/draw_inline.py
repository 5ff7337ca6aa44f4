"""The inline half of the card markdown dialect as HTML (feishu-platform notes 5.3).

One pass over tokens with a stack of open marks, so that any text costs linear time. What never finds its partner, and
every tag outside the dialect, is shown as the text it is. Entities are decoded in text after marks were found:
`&#42;` is a star and never emphasis.
"""

import html
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from markupsafe import Markup, escape

from bot.sandbox.draw_html import Viewer, join, link, tag, web_url
from bot.sandbox.draw_inline_tags import WRAPPERS, anchor, picture


@dataclass(frozen=True, slots=True)
class Dialect:
    """Which tags mean something, and whether `*`, `` ` `` and backslashes do."""

    tags: frozenset[str]
    marks: bool


_MESSAGE_TAGS = "at a b i u s br"
CARD = Dialect(frozenset({"br", *WRAPPERS}), marks=True)
MESSAGE = Dialect(frozenset(_MESSAGE_TAGS.split()), marks=False)

_TOKEN = re.compile(
    r"""
    (?P<escaped>\\[!-/:-@\[-`{-~])
  | (?<!`)(?P<ticks>`+)(?!`)(?P<code>.+?)(?<!`)(?P=ticks)(?!`)
  | <(?P<closing>/?)(?P<tag>[a-z_]+)(?P<attributes>(?:\s[^<>]*)?/?)>
  | (?P<open>!?\[)
  | \]\((?P<target>[^()\s]*(?:\([^()\s]*\)[^()\s]*)*)(?:\s+"[^"]*")?\)
  | (?P<url>https?://[\w\-.~:/?\#@!$&'()*+,;=%]+)
  | (?P<many>\*{4,}|_{4,}|~{3,})
  | (?P<mark>\*{1,3}|_{1,3}|~~)
  | (?P<text>[^\\`<!\[\]h*_~]+|.)
    """,
    re.VERBOSE | re.DOTALL | re.ASCII,
)
_ATTRIBUTE = re.compile(r"""([\w-]+)\s*=\s*("[^"]*"|'[^']*'|[^\s"']+)""")
_MARKS: dict[str, tuple[str, ...]] = {"*": ("em",), "_": ("em",), "**": ("strong",), "__": ("strong",), "~~": ("s",)}
_MARKS |= {"***": ("strong", "em"), "___": ("strong", "em")}
_URL_TAIL = ".,;:!?)'"
_DEEPEST = 40  # open marks at once; deeper ones are text, so that hostile text stays cheap


@dataclass(slots=True)
class _Frame:
    """An open mark: what to show if it is never closed, and what came after it. `linked`: a link is inside."""

    kind: str
    raw: str
    attributes: Mapping[str, str]
    parts: list[Markup] = field(default_factory=list)
    linked: bool = False


def draw_inline(text: str, viewer: Viewer, dialect: Dialect = CARD) -> Markup:
    """Inline markdown, one line or several, as HTML."""
    return _Inline(text, viewer, dialect).drawn()


class _Inline:
    def __init__(self, text: str, viewer: Viewer, dialect: Dialect) -> None:
        self.source = text
        self.viewer = viewer
        self.dialect = dialect
        self.stack = [_Frame("", "", {})]

    def drawn(self) -> Markup:
        for token in _TOKEN.finditer(self.source):
            self._take(token)
        self._give_up(1)
        return join(self.stack[0].parts)

    def _take(self, token: re.Match[str]) -> None:
        if token["tag"]:
            self._tag(token)
        elif token["open"]:
            self._open(token["open"], token[0])
        elif token["target"] is not None:
            self._target(token)
        elif token["url"]:
            self._url(token[0])
        elif self.dialect.marks and token["mark"]:
            self._mark(token)
        elif self.dialect.marks and token["code"]:
            self._add(tag("code", token["code"].strip()))
        elif self.dialect.marks and token["escaped"]:
            self._add(escape(token[0][1]))
        else:
            self._text(token[0])

    def _add(self, part: Markup) -> None:
        self.stack[-1].parts.append(part)

    def _text(self, text: str) -> None:
        self._add(_plain(text))

    def _open(self, kind: str, raw: str, attributes: Mapping[str, str] | None = None) -> None:
        if len(self.stack) > _DEEPEST:
            self._text(raw)
        else:
            self.stack.append(_Frame(kind, raw, attributes or {}))

    def _give_up(self, kept: int) -> None:
        """Open marks beyond the first `kept` have no partner: they are text inside the last one kept."""
        last = self.stack[kept - 1]
        for frame in self.stack[kept:]:
            last.parts += [_plain(frame.raw), *frame.parts]
            last.linked |= frame.linked
        del self.stack[kept:]

    def _close(self, kind: str, raw: str, wrap: Callable[[_Frame], Markup | None], *, links: bool = False) -> None:
        """Close the innermost `kind`; without one, or where `wrap` refuses, `raw` is shown."""
        depth = max((index for index, frame in enumerate(self.stack) if frame.kind == kind), default=0)
        if depth == 0:
            self._text(raw)
            return
        self._give_up(depth + 1)
        frame = self.stack[depth]
        wrapped = None if links and frame.linked else wrap(frame)
        if wrapped is None:
            self._give_up(depth)
            self._text(raw)
            return
        self.stack.pop()
        self._add(wrapped)
        self.stack[-1].linked |= frame.linked or links

    def _mark(self, token: re.Match[str]) -> None:
        mark, before, after = token["mark"], self._character(token.start() - 1), self._character(token.end())
        inside_word = mark[0] == "_" and before.isalnum() and after.isalnum()
        is_open = any(frame.kind == mark for frame in self.stack)
        if is_open and not before.isspace() and not inside_word:
            self._close(mark, mark, lambda frame: _emphasis(mark, frame.parts))
        elif after and not after.isspace() and not inside_word:
            self._open(mark, mark)
        else:
            self._text(mark)

    def _character(self, index: int) -> str:
        return self.source[index] if 0 <= index < len(self.source) else ""

    def _target(self, token: re.Match[str]) -> None:
        target = html.unescape(token["target"])
        kind = next((frame.kind for frame in reversed(self.stack) if frame.kind in {"[", "!["}), "[")
        if kind == "![":
            self._close(kind, token[0], lambda frame: picture(target, join(frame.parts), self.viewer))
        else:
            self._close(kind, token[0], lambda frame: anchor(target, frame.parts), links=True)

    def _url(self, raw: str) -> None:
        address = raw.rstrip(_URL_TAIL)
        url = web_url(html.unescape(address))
        inside_link = any(frame.kind in {"[", "a", "link"} for frame in self.stack)
        if url is None or inside_link:
            self._text(raw)
            return
        self._add(link(url, address))
        self.stack[-1].linked = True
        self._text(raw[len(address) :])

    def _tag(self, token: re.Match[str]) -> None:
        name = token["tag"]
        if name not in self.dialect.tags:
            self._text(token[0])
        elif name == "br":
            self._add(Markup("<br>"))
        elif token["closing"]:
            self._close(name, token[0], lambda frame: self._wrap(name, frame), links=name in {"a", "link"})
        else:
            found = {key: value.strip("\"'") for key, value in _ATTRIBUTE.findall(token["attributes"])}
            self._open(name, token[0], found)

    def _wrap(self, name: str, frame: _Frame) -> Markup | None:
        if name in {"b", "i", "u", "s"}:
            return tag(name, *frame.parts)
        return WRAPPERS[name](frame.attributes, frame.parts, self.viewer)


def _plain(text: str) -> Markup:
    return Markup("<br>").join(html.unescape(text).split("\n"))


def _emphasis(mark: str, parts: list[Markup]) -> Markup | None:
    if not parts:
        return None
    drawn = join(parts)
    for name in reversed(_MARKS[mark]):
        drawn = tag(name, drawn)
    return drawn
