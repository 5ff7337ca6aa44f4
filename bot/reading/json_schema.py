"""The shape of the product's own JSON: its keys, and errors that name the path of what is wrong."""

import difflib
import re
from collections.abc import Iterator
from datetime import date, datetime, tzinfo
from typing import Annotated, Any
from urllib.parse import urlsplit

import msgspec

from bot.domain.errors import DigestError

MOST_MARKED_LINES = 10_000  # each paragraph costs Markdown's reader some 100 µs

_PLAIN = re.compile(r"[^\s\d#+=|>\-\\`*_\[\]<&$~][^\\`*_\[\]<>&$~]*")
_CURES = {
    "url": "write an http or https address",
    "day": "write YYYY-MM-DD or null",
    "day_end": "write YYYY-MM-DD, not before day, or null",
    "published_at": "write an ISO time such as 2025-03-08T08:00:00+08:00, or null",
}


class _Shape(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    pass


class LinkShape(_Shape):
    text: str
    url: str


class ImageShape(_Shape):
    url: str
    alt: str = ""


class ItemShape(_Shape):
    key: str | None = None
    title: str | None = None
    url: str | None = None
    paragraphs: list[str] = []
    text: str = ""
    links: list[LinkShape] = []
    images: list[ImageShape] = []
    tags: list[str] = []
    source: str | None = None
    published_at: str | None = None


class SectionShape(_Shape):
    items: list[ItemShape]
    name: str | None = None


class DigestShape(_Shape):
    sections: list[SectionShape]
    title: str | None = None
    day: str | None = None
    day_end: str | None = None
    label: str | None = None
    intro: list[str] = []
    outro: list[str] = []


class WarningShape(_Shape):
    code: str
    message: str
    line: int | None = None


class DroppedShape(_Shape):
    text: str
    reason: str
    line: int | None = None


class DocumentShape(_Shape):
    digests: Annotated[list[DigestShape], msgspec.Meta(min_length=1)]
    warnings: list[WarningShape] = []
    dropped: list[DroppedShape] = []


def converted(raw: Any) -> DocumentShape:
    """The document, every key known and of its kind. Raises DigestError `schema`."""
    try:
        return msgspec.convert(raw, DocumentShape)
    except msgspec.ValidationError as exc:
        message, _, place = str(exc).partition(" - at `$")
        path = place.rstrip("`").lstrip(".")
        unknown = re.search("unknown field `(.+)`", message, re.DOTALL)
        problem = _unknown_key(path, unknown[1]) if unknown else message[:1].lower() + message[1:]
        raise refused(path, problem.replace("`", "")) from exc


def check_size(document: DocumentShape) -> None:
    """Refuse what would take too long; a paragraph without any mark costs next to nothing."""
    from bot.reading.markdown.reader import MOST_BRACKETS, MOST_CHARS

    marked = [text for text in _paragraphs(document) if not is_plain(text)]
    lines = sum(text.count("\n") + 1 for text in marked)
    is_long = sum(map(len, marked)) > MOST_CHARS or lines > MOST_MARKED_LINES
    if is_long or sum(text.count("[") for text in marked) > MOST_BRACKETS:
        raise DigestError("too_long", "holds more Markdown than any digest; give one day alone")


def _paragraphs(document: DocumentShape) -> Iterator[str]:
    for digest in document.digests:
        yield from (*digest.intro, *digest.outro)
        for item in (item for section in digest.sections for item in section.items):
            yield from item.paragraphs


def is_plain(text: str) -> bool:
    """Nothing in it means anything to Markdown."""
    return bool(_PLAIN.fullmatch(text)) and "://" not in text and text.isprintable() and text == text.strip()


def _unknown_key(path: str, key: str) -> str:
    """The nearest key that may stand at that path."""
    shapes = {
        "": DocumentShape,
        "digests": DigestShape,
        "sections": SectionShape,
        "items": ItemShape,
        "links": LinkShape,
    }
    shapes |= {"images": ImageShape, "warnings": WarningShape, "dropped": DroppedShape}
    known = shapes[re.sub(r"\[\d+\]$", "", path).rpartition(".")[2]].__struct_fields__
    near = difflib.get_close_matches(key[:80], known, n=1, cutoff=0.5)
    return f"unknown key {key[:80]!r}, {f'did you mean {near[0]}?' if near else 'known are ' + ', '.join(known)}"


def refused(path: str, problem: str) -> DigestError:
    """The error for one place of the document, with its cure."""
    key = re.sub(r"\[\d+\]$", "", path).rpartition(".")[2]
    cure = _CURES.get(key, "the shape is that of `digest-bot digest check --json`")
    return DigestError("schema", f"{path}: {problem}; {cure}" if path else f"{problem}; {cure}")


def address(url: str, path: str) -> str:
    """The address, if it is one of the web."""
    try:
        is_web = urlsplit(url).scheme in {"http", "https"} and bool(urlsplit(url).hostname) and url.isprintable()
    except ValueError:
        is_web = False
    if not is_web:
        raise refused(path, "is no web address")
    return url


def day_of(text: str | None, path: str) -> date | None:
    """The day of an ISO date."""
    try:
        return date.fromisoformat(text) if text else None
    except ValueError as exc:
        raise refused(path, "is no day") from exc


def instant_of(text: str | None, path: str, zone: tzinfo) -> datetime | None:
    """The moment of an ISO time; one without an offset is in `zone`."""
    try:
        instant = datetime.fromisoformat(text) if text else None
    except ValueError as exc:
        raise refused(path, "is no time") from exc
    return instant.replace(tzinfo=zone) if instant and instant.tzinfo is None else instant
