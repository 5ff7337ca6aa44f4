"""Characters and addresses in card markdown. Text is text: nothing in it becomes a mention, link, tag or code.

Characters with a meaning are written as entities, never with a backslash: entities are what the platform documents
(card rich-text page, read 2026-05). Numeric ones, as some of the documented names (`&sim;`) are other characters.
"""

import re
from html.entities import html5
from urllib.parse import quote, urlsplit

_LINE_BREAK = re.compile("[\t\n\v\f\r\x1c-\x1e\x85\u2028\u2029]")  # no inline holds one that means anything
_UNPRINTABLE = re.compile("[\x00-\x1b\x1f\x7f-\x9f\ufeff]")
_SURROGATE = re.compile("[\ud800-\udfff]")

# `:` begins an emoji code and a bare address, `@` a mail address, `!` before a link of ours an image.
_MARKUP = re.compile(r"[&<>*_~`\[\]\\$!:@]|(?<=[wW]{3})\.")
TAG_START = re.compile(r"<(?=/?[A-Za-z])")
JOINER = "\u200d"  # has no form on a screen, and parts what would be read as one

_URL_CHARS = "-._~/?#&=+,;%@"  # what may stand in a link as it is, beside letters and digits; `:` only before a query
_URL_MAX = 2_048  # longer ones do not open everywhere, and a link cannot be cut
_BAD_PERCENT = re.compile(r"%(?![0-9A-Fa-f]{2})")
_ENTITY_LIKE = re.compile(r"&(#?)([A-Za-z0-9]+)")
_ENTITY_NAMES = frozenset(name.rstrip(";") for name in html5)
_LOOSE_ENTITIES = tuple(name for name in html5 if not name.endswith(";"))


def clean(text: str) -> str:
    """One line without characters that no screen shows; surrogate halves become one visible replacement."""
    text = _SURROGATE.sub("\ufffd", _LINE_BREAK.sub(" ", text))
    return _UNPRINTABLE.sub("", text)


def plain(text: str) -> str:
    """For plain_text elements. The header's page says that mentions work there, so a tag gets an invisible joiner."""
    return TAG_START.sub(f"<{JOINER}", clean(text)).strip()


def escape(text: str) -> str:
    """Text inside a line of card markdown."""
    return _MARKUP.sub(lambda match: entity(match[0]), clean(text))


def entity(character: str) -> str:
    """A character that means nothing but itself."""
    return "&amp;" if character == "&" else f"&#{ord(character)};"


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
