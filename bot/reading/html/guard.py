"""Refuses markup whose tree would cost more than a digest is worth, before any tree is built.

A browser's parser is not linear: each tag looks through the elements that are open, each attribute through those before
it, and each paragraph gets a copy of every unclosed `<b>`. 28 KB of them made 750 MB of tree, 250 KB of nested `<div>`
took three seconds. So the open elements are counted first, in one pass over the tags; in doubt too many, not too few.
"""

import re
from collections import Counter

from bot.domain.errors import DigestError

MOST_CHARS = 4_000_000
MOST_TAGS = 30_000  # each costs up to 25 µs, 250 bytes of tree, and as much again in blocks
MOST_OPEN_STEPS = 20_000_000
MANY_ATTRIBUTES_CHARS = 500
MOST_FORMATTING_STEPS = 400_000


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_NAME = "[A-Za-z][^\\s/>]*+"
_MARK = re.compile(rf"<!--(?:-?>)?|<(?:[!?]|/[^A-Za-z])|<(?P<end>/?)(?P<name>{_NAME})")
_VALUE = r"""(?:"[^"]*+"|'[^']*+'|[^\s>"'][^\s>]*+)"""
_ATTRIBUTE = re.compile(rf"[^\s/>][^\s/>=]*+\s*+(?:=\s*+{_VALUE}?+)?+")
_TAG_END = re.compile(rf"(?:[\s/]++|{_ATTRIBUTE.pattern})*+>")
_COMMENT_END = re.compile("--!?>")
_OPENING = re.compile(f"<{_NAME}")
_RAW = {
    name: re.compile(f"</{name}", re.IGNORECASE)
    for name in ("script", "style", "title", "textarea", "xmp", "iframe", "noembed", "noframes")
}
_FORMATTING = _words("b big code em font i nobr s small strike strong tt u")
_CLOSED_BY_NEXT = {"li": ("li",), "dt": ("dt", "dd"), "dd": ("dt", "dd")}
# what never holds anything, and what a second one of its kind closes
_NEVER_DEEP = _words(
    "area base br col embed hr img input link meta param source track wbr"
    " a p li dt dd option tr td th tbody thead tfoot html head body"
)
_DRAWING = _words(
    "path circle rect line polyline polygon ellipse use stop g defs symbol lineargradient radialgradient clippath"
)


def check_markup(html: str, name: str | None = None) -> None:
    """Raises: DigestError `too_long` for too much markup, `too_deep` for too many elements inside each other."""
    if len(html) > MOST_CHARS:
        raise DigestError("too_long", f"{len(html)} characters of HTML are no digest; give one day alone", path=name)
    tags = html.count("<")
    if tags > MOST_TAGS:
        raise DigestError("too_long", f"{tags} tags are no digest; give one day alone", path=name)
    if _is_too_deep(html):
        raise DigestError(
            "too_deep", "elements or attributes stand in each other by the thousand; mend the HTML", path=name
        )


def _is_too_deep(html: str) -> bool:
    opened = _Open()
    position = 0
    while match := _MARK.search(html, position):
        position = _end_of(html, match, opened)
        if opened.is_too_much():
            return True
    return False


def _end_of(html: str, match: re.Match[str], opened: "_Open") -> int:
    """Count the mark, and say where the text behind it starts."""
    name = (match["name"] or "").lower()
    if not name:
        return _end_of_comment(html, match)
    end = _TAG_END.match(html, match.end())
    opened.compare_attributes(html, match.end(), end.end() if end else len(html))
    if not end:
        return len(html)
    if match["end"]:
        opened.close(name)
        return end.end()
    opened.open(name, is_closed=end[0].endswith("/>"))
    if name not in _RAW or name in opened.unclosed:
        return end.end()
    raw_end = _RAW[name].search(html, end.end())
    if not raw_end:
        opened.unclosed.add(name)  # or each further one would be looked for to the end of the text again
        return end.end()
    if opened.counts["svg"] or opened.counts["math"]:  # there, a title may hold elements
        opened.depth += sum(1 for _ in _OPENING.finditer(html, end.end(), raw_end.start()))
    return raw_end.start()


def _end_of_comment(html: str, match: re.Match[str]) -> int:
    if match[0].endswith(">") and match[0].startswith("<!--"):
        return match.end()
    if match[0] == "<!--":
        found = _COMMENT_END.search(html, match.end())
        return found.end() if found else len(html)
    return html.find(">", match.end() - 1) + 1 or len(html)


class _Open:
    """Elements that are open, and the steps that a parser takes over them."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.unclosed: set[str] = set()
        self.depth = self._formatting = self._steps = self._formatting_steps = 0
        self._in_drawing = False

    def open(self, name: str, *, is_closed: bool) -> None:
        self._in_drawing = name == "svg" or (self._in_drawing and name in _DRAWING)
        if name in _NEVER_DEEP or (self._in_drawing and is_closed):
            return
        self._close_before(name)
        self.counts[name] += 1
        self.depth += 1
        self._formatting += name in _FORMATTING

    def _close_before(self, name: str) -> None:
        """`<li>` ends the `<li>` before, unless that stands in a `<dd>`: of these two each can hold the other."""
        closed = _CLOSED_BY_NEXT.get(name, ())
        is_alone = not any(self.counts[other] for other in _CLOSED_BY_NEXT if other not in closed)
        for other in closed if is_alone else ():
            self.close(other)

    def close(self, name: str) -> None:
        if self.counts[name]:
            self.counts[name] -= 1
            self.depth -= 1
            self._formatting -= name in _FORMATTING

    def compare_attributes(self, html: str, start: int, end: int) -> None:
        """Each attribute of a tag is compared with those before it."""
        if end - start > MANY_ATTRIBUTES_CHARS:
            self._steps += sum(1 for _ in _ATTRIBUTE.finditer(html, start, end)) ** 2

    def is_too_much(self) -> bool:
        """One step more for each element that is open."""
        self._steps += self.depth
        self._formatting_steps += self._formatting
        return self._steps > MOST_OPEN_STEPS or self._formatting_steps > MOST_FORMATTING_STEPS
