"""Blocks and inlines as card markdown. Text is text: nothing in it becomes a mention, link, tag, list or code.

Characters with a meaning are written as entities, never with a backslash: entities are what the platform documents
(card rich-text page, read 2026-05). Numeric ones, as some of the documented names (`&sim;`) are other characters.
"""

import re
from collections.abc import Iterable
from html.entities import html5
from urllib.parse import quote, urlsplit

from bot.domain.digest import Block, Formula, Inline, Link, Text

_LINE_BREAK = re.compile("[\t\n\v\f\r\x1c-\x1e\x85\u2028\u2029]")  # no inline holds one that means anything
_UNPRINTABLE = re.compile("[\x00-\x1b\x1f\x7f-\x9f\ufeff]")
_SURROGATE = re.compile("[\ud800-\udfff]")

# `:` begins an emoji code and a bare address, `@` a mail address, `!` before a link of ours an image.
_MARKUP = re.compile(r"[&<>*_~`\[\]\\$!:@]|(?<=[wW]{3})\.")
_BLOCK_START = re.compile(r"(?:\d{1,9}(?=[.)]))?[#+=|.) -]")
_TAG_START = re.compile(r"<(?=/?[A-Za-z])")

_URL_CHARS = "-._~/?#&=+,;%@"  # what may stand in a link as it is, beside letters and digits; `:` only before a query
_URL_MAX = 2_048  # longer ones do not open everywhere, and a link cannot be cut
_BAD_PERCENT = re.compile(r"%(?![0-9A-Fa-f]{2})")
_ENTITY_LIKE = re.compile(r"&(#?)([A-Za-z0-9]+)")
_ENTITY_NAMES = frozenset(name.rstrip(";") for name in html5)
_LOOSE_ENTITIES = tuple(name for name in html5 if not name.endswith(";"))

_PLAIN_TEX = re.compile(r"[^\\^_{}$&~#%`]+")
_TEX_TAG = re.compile(r"([<&])(?=[A-Za-z/#!?])")


def clean(text: str) -> str:
    """One line without characters that no screen shows; surrogate halves become one visible replacement."""
    text = _SURROGATE.sub("\ufffd", _LINE_BREAK.sub(" ", text))
    return _UNPRINTABLE.sub("", text)


def plain(text: str) -> str:
    """For plain_text elements. The header's page says that mentions work there, so a tag gets an invisible joiner."""
    return _TAG_START.sub("<\u200d", clean(text)).strip()


def escape(text: str) -> str:
    """Text inside a line of card markdown."""
    return _MARKUP.sub(lambda match: _entity(match[0]), clean(text))


def markdown(blocks: Iterable[Block]) -> str:
    """Blocks as card markdown, a blank line between paragraphs."""
    return "\n\n".join(filter(None, (paragraph(block.inlines) for block in blocks)))


def paragraph(inlines: Iterable[Inline]) -> str:
    """One line that is a paragraph and nothing else, whatever it begins with; empty if nothing would be seen."""
    line = ""
    for inline in inlines:
        written = _inline(inline)
        touching = line.endswith("`") and written.startswith("`")  # two code spans would become one
        line += f" {written}" if touching else written
    if not line.strip():
        return ""
    start = _BLOCK_START.match(line)
    if start is None:
        return line
    return line[: start.end() - 1] + _entity(start[0][-1]) + line[start.end() :]


def link(url: str, text: str) -> str:
    """A link, or its text and address where the address cannot be one."""
    safe = link_url(url)
    if safe is None:
        return escape(link_as_text(url, text))
    return f"[{escape(text).strip() or escape(host(url))}]({safe})"


def link_as_text(url: str, text: str) -> str:
    """What is shown of a link that cannot be clicked."""
    return text if url in text else f"{text}（{url}）"


def link_url(url: str) -> str | None:
    """The address as the platform accepts it inside markdown; None if it is not a usable http(s) address."""
    try:
        parts = urlsplit(clean(url).strip())
        authority = parts.netloc.encode("idna" if not parts.netloc.isascii() else "ascii").decode()
    except ValueError:
        return None
    if parts.scheme not in {"http", "https"} or not re.fullmatch(r"[A-Za-z0-9.\-_~%:@]+", authority):
        return None
    tail = f"?{parts.query}" if parts.query else ""
    tail += f"#{parts.fragment}" if parts.fragment else ""
    safe = f"{parts.scheme}://{authority}{_percent(parts.path, ':')}{_percent(tail)}"
    safe = _ENTITY_LIKE.sub(_defuse, safe)
    return safe if len(safe) <= _URL_MAX else None


def host(url: str) -> str:
    """Where a link leads, for people."""
    try:
        name = urlsplit(clean(url).strip()).hostname or ""
    except ValueError:
        return ""
    return name.removeprefix("www.")


def formula(inline: Formula) -> str:
    """A formula as text where TeX and text are the same, else its TeX as code.

    Entities are not read inside code, so what might be one there, or a tag, gets a space: TeX ignores it. A back
    quote, the only way out, is TeX for a typographic quote.
    """
    tex = clean(inline.tex).strip()
    if not tex:
        return escape(inline.written)
    if _PLAIN_TEX.fullmatch(tex):
        return escape(tex)
    code = _TEX_TAG.sub(r"\1 ", tex).replace("`", "‘")
    return f"`{code}`"


def _inline(inline: Inline) -> str:
    match inline:
        case Text(text):
            return escape(text)
        case Link(url, text):
            return link(url, text)
        case Formula():
            return formula(inline)


def _entity(character: str) -> str:
    return "&amp;" if character == "&" else f"&#{ord(character)};"


def _percent(part: str, more: str = "") -> str:
    return quote(_BAD_PERCENT.sub("%25", part), safe=_URL_CHARS + more)


def _defuse(match: re.Match[str]) -> str:
    """`?a=1&copy=2` shows as ©, even without `;` and inside a link (card questions page), and escaping the `&` might
    survive to the browser. A percent-encoded letter means the same to every server and is no entity to anyone.
    """
    hash_sign, name = match.groups()
    if not hash_sign and name not in _ENTITY_NAMES and not name.startswith(_LOOSE_ENTITIES):
        return match[0]
    return f"&{hash_sign}%{ord(name[0]):02X}{name[1:]}"
