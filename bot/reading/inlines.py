r"""One text as inlines: bare links and formulas found, everything else literal.

`\( \)`, `\[ \]`, `$…$` and `$$…$$` are formulas; money (`from $5 to $15`), `C:\new` and an unclosed delimiter are text.
Every search is bounded by the next mark of its kind, so that the time is linear in the text whatever it holds.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from bot.domain.digest import Formula, Inline, Link, Text

_LATIN = "\u00c0-\u024f"  # addresses such as …/wiki/Zürich; anything further off ends an address
_URL = rf"(?<![A-Za-z0-9])https?://[A-Za-z0-9{_LATIN}][A-Za-z0-9{_LATIN}\-._~:/?#\[\]@!$&'()*+,;=%{{}}]*"
_MARK = re.compile(rf"(?P<url>{_URL})|\\(?P<open>[(\[])|\\.|(?P<dollars>\$+)", re.IGNORECASE | re.DOTALL)
_WEB = re.compile(_URL, re.IGNORECASE)
_DOLLARS = re.compile(r"(?<!\$)\$+")

_CLOSING = {")": "(", "]": "[", "}": "{"}
_TRAILING = ".,;:!?'([{"
_CJK = re.compile(r"[\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef]")
_AMOUNT = re.compile(r"[0-9][0-9.,]*\s[^\\^_=<>{}+*/-]*$")  # "$3,000 (about 2,000$": a number and words


def inlines(text: str) -> tuple[Inline, ...]:
    """Text, links and formulas of one paragraph; joined as written they are `text` again."""
    found: list[Inline] = []
    literal_from = 0
    for start, inline in _found(text):
        if start > literal_from:
            found.append(Text(text[literal_from:start]))
        found.append(inline)
        literal_from = start + len(inline.written if isinstance(inline, Formula) else inline.text)
    if literal_from < len(text):
        found.append(Text(text[literal_from:]))
    return tuple(found)


def find_url(text: str) -> tuple[int, str] | None:
    """Place and address of the first bare link."""
    for match in _WEB.finditer(text):
        if url := _url(match[0]):
            return match.start(), url
    return None


def url_at(text: str, start: int, end: int) -> str | None:
    """The bare link that starts right here."""
    match = _WEB.match(text, start, end)
    return _url(match[0]) if match else None


def formula_at(text: str, start: int, marks: "Marks") -> Formula | None:
    """The `$…$` or `$$…$$` that starts right here. `marks`: kept from one call to the next on the same text."""
    match = _DOLLARS.match(text, start)
    if match and match[0] == "$$":
        return _formula(text, start, marks.next(_DOUBLE, match.end()), 2, display=True)
    return _dollar(text, start, marks) if match and match[0] == "$" else None


def _found(text: str) -> Iterator[tuple[int, Link | Formula]]:
    marks = Marks(text)
    position = 0
    while match := _MARK.search(text, position):
        inline = _inline(text, match, marks)
        position = match.end()
        if inline:
            yield match.start(), inline
            position = match.start() + len(inline.written if isinstance(inline, Formula) else inline.text)


def _inline(text: str, match: re.Match[str], marks: "Marks") -> Link | Formula | None:
    if match["url"]:
        url = _url(match["url"])
        return Link(url, url) if url else None
    if match["open"]:
        return _bracketed(text, match, marks)
    return formula_at(text, match.start(), marks) if match["dollars"] else None


def _url(written: str) -> str | None:
    """The address without the punctuation of the sentence around it; None if no host is left."""
    surplus = {closing: written.count(closing) - written.count(opening) for closing, opening in _CLOSING.items()}
    end = len(written)
    while end:
        last = written[end - 1]
        if last in _TRAILING:
            for closing, opening in _CLOSING.items():
                surplus[closing] += last == opening
        elif surplus.get(last, 0) > 0:
            surplus[last] -= 1
        else:
            break
        end -= 1
    url = written[:end]
    try:
        return url if urlsplit(url).hostname else None
    except ValueError:
        return None


def _bracketed(text: str, match: re.Match[str], marks: "Marks") -> Formula | None:
    opener, closer = _ROUND if match["open"] == "(" else _SQUARE
    end = marks.next(closer, match.end())
    again = marks.next(opener, match.end())
    if end is None or (again is not None and again < end):
        return None
    return _formula(text, match.start(), end, 2, display=match["open"] == "[")


def _dollar(text: str, start: int, marks: "Marks") -> Formula | None:
    """`$…$` by pandoc's rule: no blank inside the dollars, no letter or digit outside them."""
    end = marks.next(_SINGLE, start + 1)
    if end is None or _is_word(text, start - 1) or _is_word(text, end + 1):
        return None
    tex = text[start + 1 : end]
    if tex != tex.strip() or _AMOUNT.match(tex):
        return None
    return _formula(text, start, end, 1, display=False)


def _is_word(text: str, index: int) -> bool:
    return 0 <= index < len(text) and text[index].isascii() and text[index].isalnum()


def _formula(text: str, start: int, end: int | None, mark_length: int, *, display: bool) -> Formula | None:
    if end is None:
        return None
    tex = text[start + mark_length : end].strip()
    if not tex or (_CJK.search(tex) and "\\" not in tex):
        return None
    return Formula(tex, text[start : end + mark_length], display)


_SINGLE = re.compile(r"(?<![\\$])\$(?!\$)")
_DOUBLE = re.compile(r"(?<![\\$])\$\$(?!\$)")
_ROUND = (re.compile(r"(?<!\\)\\\("), re.compile(r"(?<!\\)\\\)"))
_SQUARE = (re.compile(r"(?<!\\)\\\["), re.compile(r"(?<!\\)\\\]"))


@dataclass(slots=True)
class Marks:
    """Where the next mark of a kind stands. Remembered, so that no stretch of text is searched twice for one kind."""

    text: str
    known: dict[re.Pattern[str], int | None] = field(default_factory=dict)

    def next(self, kind: re.Pattern[str], start: int) -> int | None:
        if kind in self.known:
            known = self.known[kind]
            if known is None or known >= start:
                return known
        match = kind.search(self.text, start)
        self.known[kind] = match.start() if match else None
        return self.known[kind]
