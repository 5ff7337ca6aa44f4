"""Raw HTML inside Markdown: which tags are markup, what they hide, and the text between them."""

import html
import re
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, field
from urllib.parse import urlsplit

_TAG = re.compile(r"</?([A-Za-z][A-Za-z0-9-]*)((?:[^<>\"']|\"[^\"]*\"|'[^']*')*)>")
_PIECE = re.compile(
    r"(?P<comment><!--.*?(?:-->|\Z))|(?P<other><[?!].*?(?:>|\Z))"
    r"|<(?P<silent>script|style)\b[^>]*>(?P<content>.*?)(?:</(?P=silent)\s*>|\Z)|" + _TAG.pattern,
    re.DOTALL | re.IGNORECASE,
)
_SRC = re.compile(r"\bsrc\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]+))", re.IGNORECASE)
_ALT = re.compile(r"\balt\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]+))", re.IGNORECASE)
_TARGET = re.compile(r"\bhref\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]+))", re.IGNORECASE)
_VOID = frozenset(
    {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
)
# what stands open at the end of a Markdown block and is closed in a later one
_SPREAD = frozenset({"details", "summary", "div", "p", "center", "section", "article", "span", "font"})
_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_PARTING = _HEADINGS | frozenset(
    {"br", "p", "div", "li", "ul", "ol", "tr", "table", "summary", "details", "section", "article", "hr", "dt", "dd"}
)


def tag_of(written: str) -> tuple[str, bool]:
    """Name of a tag and whether it closes; no name for a comment and the like."""
    found = _TAG.match(written)
    return (found[1].lower(), written.startswith("</")) if found else ("", False)


def silent_reason(name: str) -> str:
    """Why the text inside is no text of the document; empty where it is."""
    return "脚本" if name in {"script", "style"} else ""


def markup_places(written: Sequence[str]) -> set[int]:
    """Which of these are markup: void, with attributes, or with their partner. `<table>` in a sentence is a word."""
    found: set[int] = set()
    opened: dict[str, list[int]] = {}
    for place, tag in enumerate(written):
        name, is_closing = tag_of(tag)
        if not name:
            continue
        if name in _VOID or name in _SPREAD or "=" in tag:
            found.add(place)
        if is_closing and opened.get(name):
            found |= {place, opened[name].pop()}
        elif not is_closing:
            opened.setdefault(name, []).append(place)
    return found


def picture(tag: str) -> tuple[str, str] | None:
    """Address and words of an <img>."""
    source, words = _value(_SRC, tag), _value(_ALT, tag)
    return (source, words) if tag[:4].lower() == "<img" and (source or words) else None


def _value(attribute: re.Pattern[str], tag: str) -> str:
    found = attribute.search(tag)
    return html.unescape(next(filter(None, found.groups()), "")) if found else ""


def web_target(written: str, *, in_tag: bool = False) -> str | None:
    """The address if it is one of the web; `in_tag`: what is given is the tag that holds it."""
    if in_tag:
        written = _value(_TARGET, written)
    try:
        split = urlsplit(written)
        return written if split.scheme.lower() in {"http", "https"} and split.hostname else None
    except ValueError:
        return None


@dataclass(slots=True)
class HtmlLine:
    """A line of a block of HTML: words, (address, words) for links and pictures; `hidden`: why it is left out."""

    offset: int
    text: list[str | tuple[str, str]] = field(default_factory=list)
    pictures: list[tuple[str, str]] = field(default_factory=list)
    level: int = 0
    hidden: str = ""


def html_lines(markup: str) -> Iterator[HtmlLine]:
    """The lines of a block of HTML, tags left out but for links, pictures and headings."""
    line, offset, target, position = HtmlLine(0), 0, None, 0
    for match in _PIECE.finditer(markup):
        line, offset = yield from _words(line, offset, markup[position : match.start()], target)
        position = match.end()
        if hidden := match["comment"] or match["content"]:
            yield HtmlLine(offset, [hidden], hidden="注释" if match["comment"] else "脚本")
        offset += match[0].count("\n")
        name, is_closing = tag_of(match[0])
        if name in _PARTING:
            yield line
            line = HtmlLine(offset, level=int(name[1]) if name in _HEADINGS and not is_closing else 0)
        if name == "a":
            target = None if is_closing else web_target(match[0], in_tag=True)
        if found := picture(match[0]):
            line.pictures.append(found)
    line, _ = yield from _words(line, offset, markup[position:], target)
    yield line


def _words(
    line: HtmlLine, offset: int, text: str, target: str | None
) -> Generator[HtmlLine, None, tuple[HtmlLine, int]]:
    """Add the words to the line; a line end in them starts another."""
    first, *others = text.split("\n")
    _add(line, first, target)
    for other in others:
        yield line
        offset += 1
        line = HtmlLine(offset, level=line.level)
        _add(line, other, target)
    return line, offset


def _add(line: HtmlLine, text: str, target: str | None) -> None:
    words = html.unescape(text)
    if words:
        line.text.append((target, words) if target and words.strip() else words)
