"""Which format a file is in: by its extension, else by its content type, else by how its bytes begin."""

import re
from collections.abc import Sequence
from datetime import datetime, tzinfo
from enum import Enum, auto
from typing import Any

from bot.domain.digest import Reading
from bot.domain.errors import DigestError
from bot.reading.encoding import decoded

MOST_JSON_MARKS = 1_000_000  # brackets and commas: an object of one key costs 230 bytes of memory
START_BYTES = 1024


class Format(Enum):
    """What a reader of ours reads. A JSON document is one of three, told apart by its keys."""

    TEXT = auto()
    MARKDOWN = auto()
    HTML = auto()
    FEED = auto()
    JSON = auto()


EXTENSIONS = {
    ".txt": Format.TEXT,
    ".text": Format.TEXT,
    ".md": Format.MARKDOWN,
    ".markdown": Format.MARKDOWN,
    ".html": Format.HTML,
    ".htm": Format.HTML,
    ".xml": Format.FEED,
    ".rss": Format.FEED,
    ".atom": Format.FEED,
    ".json": Format.JSON,
}
_TYPES = {
    "text/markdown": Format.MARKDOWN,
    "text/html": Format.HTML,
    "application/xhtml+xml": Format.HTML,
    "text/xml": Format.FEED,
    "application/xml": Format.FEED,
    "application/rss+xml": Format.FEED,
    "application/atom+xml": Format.FEED,
    "application/rdf+xml": Format.FEED,
    "application/json": Format.JSON,
    "application/feed+json": Format.JSON,
}
# In the order in which they are tried; a page may begin as XML does.
_STARTS = (
    (
        re.compile(r"(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)*(?:<!doctype html|<html)", re.IGNORECASE | re.DOTALL),
        Format.HTML,
    ),
    (re.compile(r"<(?:\?xml|rss|feed|rdf:rdf)\b", re.IGNORECASE), Format.FEED),
    (re.compile(r"\{|\[\s*[\[{]"), Format.JSON),
)


def read(
    data: bytes,
    *,
    name: str | None = None,
    content_type: str | None = None,
    received_at: datetime | None = None,
    zone: tzinfo,
    noise: Sequence[str] = (),
) -> Reading:
    """Read a digest in any format; arguments as for `plain_text.read_text`. At least one digest, or DigestError."""
    how: dict[str, Any] = {"name": name, "received_at": received_at, "zone": zone, "noise": noise}
    match format_of(data, name, content_type):
        case Format.MARKDOWN:
            from bot.reading.markdown.reader import read_markdown

            return read_markdown(data, **how)
        case Format.HTML:
            from bot.reading.html.reader import read_html

            return read_html(data, **how)
        case Format.FEED:
            from bot.reading.feed.reader import read_feed

            return read_feed(data, **how)
        case Format.JSON:
            return _read_json(json_document(data, name), how)
        case Format.TEXT:
            from bot.reading.plain_text import read_text

            return read_text(data, **how)


def format_of(data: bytes, name: str | None, content_type: str | None) -> Format:
    """The format; plain text where nothing says otherwise."""
    extension = re.search(r"\.[a-z]+$", name.lower()) if name else None
    by_name = EXTENSIONS.get(extension[0]) if extension else None
    by_type = _TYPES.get(content_type.partition(";")[0].strip().lower()) if content_type else None
    return by_name or by_type or _by_start(data) or Format.TEXT


def json_document(data: bytes, name: str | None) -> Any:
    """The parsed JSON. Raises DigestError `bad_json` with the cure, `too_long`, or what `decoded` raises."""
    import msgspec

    text = decoded(data, name)
    if sum(map(text.count, "{[,")) > MOST_JSON_MARKS:
        raise DigestError("too_long", "holds far too many values for a digest; give one day alone", path=name)
    try:
        return msgspec.json.decode(text)
    except (msgspec.MsgspecError, RecursionError) as exc:
        reason = "it is nested too deeply" if isinstance(exc, RecursionError) else str(exc)
        raise DigestError("bad_json", f"cannot be read as JSON ({reason}); export it again", path=name) from exc


def is_json_feed(document: Any) -> bool:
    """Whether a parsed JSON document says that it is a JSON Feed."""
    return isinstance(document, dict) and "jsonfeed.org" in str(document.get("version"))


def _read_json(document: Any, how: dict[str, Any]) -> Reading:
    if is_json_feed(document):
        from bot.reading.feed.reader import read_json_feed

        return read_json_feed(document, **how)
    if _is_docx(document):
        from bot.reading.docx.reader import read_docx

        return read_docx(document, **how)
    if isinstance(document, dict) and "digests" in document:
        from bot.reading.json_shape import read_json

        return read_json(document, **how)
    raise DigestError(
        "unknown_json",
        "is JSON of an unknown shape; give the document of `digest-bot digest check --json`, a JSON Feed, "
        "or the block list of a Feishu document",
        path=how["name"],
    )


def _is_docx(document: Any, depth: int = 4) -> bool:
    """Blocks of a Feishu document: one, a list, an answer of the platform that holds them, or a list of answers."""
    if isinstance(document, list):
        return depth > 0 and any(_is_docx(one, depth - 1) for one in document)
    if not isinstance(document, dict):
        return False
    inner = (document[key] for key in ("data", "items", "blocks") if key in document)
    return "block_type" in document or (depth > 0 and any(_is_docx(one, depth - 1) for one in inner))


def _by_start(data: bytes) -> Format | None:
    start = data[:START_BYTES]
    if start.startswith((b"\xff\xfe", b"\xfe\xff")):
        text = start.decode("utf-16", "replace")
    else:
        text = start.decode("utf-8-sig", "replace")
    return next((one for pattern, one in _STARTS if pattern.match(text.lstrip())), None)
