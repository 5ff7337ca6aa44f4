"""RSS, Atom and JSON Feed → digests. One feed is one digest, one entry one item."""

import html
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, tzinfo
from typing import Any
from xml.parsers import expat

from bot.domain.digest import Block, Image, Reading, plain
from bot.domain.errors import DigestError
from bot.reading.drafts import Notes
from bot.reading.encoding import decoded, visible
from bot.reading.feed.dates import moment
from bot.reading.feed.entries import Entry, Feed, html_text, plain_text, read_entries
from bot.reading.html.tags import declared_encoding, web_address
from bot.reading.structure import arrive

MOST_CHARS = 10_000_000
MOST_TAGS = 120_000  # those in the text of entries too
MOST_CATEGORIES = 8_000  # feedparser compares each with all others of its entry
# feedparser reads what is not XML by searching for tags: 15 µs and some 600 bytes for each
MOST_BROKEN_CHARS = 1_500_000
MOST_BROKEN_MARKS = 60_000

# feedparser forgets the element in which a feed breaks off
_CUT_OFF = "</title></description></content:encoded></summary></content></item></entry>"
_DECLARATION = re.compile(r"\s*<\?xml[^>]*\?>")
_DOCTYPE = re.compile(r"(?:\s++|<\?.*?\?>|<!--.*?-->)*+<!DOCTYPE[^>\[]*+\[", re.DOTALL | re.IGNORECASE)
_CATEGORIES = re.compile(r"[<:](?:category|subject)\b|keywords>([^<]*|<!\[CDATA\[[^\]]*)")
_TAG = re.compile(r"<[A-Za-z/!]")
_HTML = {"text/html", "application/xhtml+xml"}


def read_feed(
    data: bytes,
    *,
    name: str | None = None,
    received_at: datetime | None = None,
    zone: tzinfo,
    noise: Sequence[str] = (),
) -> Reading:
    """Read RSS or Atom, broken XML too; arguments as for `plain_text.read_text`.

    `received_at` also tells which dates lie in the future and are none.
    Raises: DigestError `empty`, `not_text`, `too_long`, `not_a_feed`, `bad_xml`, or `unsafe` for entity definitions.
    """
    text = decoded(data, name, declared_encoding(data))
    text = _DECLARATION.sub("", text, count=1)  # it may name another encoding than the one it has now
    is_whole = _check(text, name)
    parsed = _parsed(text if is_whole else text + _CUT_OFF, name)
    if not parsed.version and not parsed.entries:
        raise DigestError("not_a_feed", "this is neither RSS nor Atom; look whether it is the right address", path=name)
    notes = Notes()
    if not is_whole:
        notes.warn(
            "broken_xml", None, "the feed is no well-formed XML; look whether an entry or a part of one is missing"
        )
    notes.drop(None, _line(parsed.feed.get("subtitle")) or "", "频道简介")
    home = web_address(parsed.feed.get("link"), None)
    entries = tuple(_entry(entry, home, zone, notes) for entry in parsed.entries)
    feed = Feed(_title(parsed.feed), home, entries)
    return read_entries(feed, arrive(name, received_at, zone), _aware(received_at, zone), noise, notes)


def read_json_feed(
    document: dict[str, Any],
    *,
    name: str | None = None,
    received_at: datetime | None = None,
    zone: tzinfo,
    noise: Sequence[str] = (),
) -> Reading:
    """Read a JSON Feed, as decoded. What is not of the type that the format wants is passed over.

    Raises: DigestError `empty` or `not_a_feed`.
    """
    entries = document.get("items")
    if not isinstance(entries, list):
        raise DigestError("not_a_feed", "items: a JSON Feed has a list of items; see jsonfeed.org", path=name)
    notes = Notes()
    notes.drop(None, _words(document, "description") or "", "频道简介")
    home = web_address(_words(document, "home_page_url"), None)
    read = tuple(_json_entry(entry, home, zone, notes) for entry in entries if isinstance(entry, dict))
    feed = Feed(_words(document, "title"), home, read)
    return read_entries(feed, arrive(name, received_at, zone), _aware(received_at, zone), noise, notes)


def _check(text: str, name: str | None) -> bool:
    """Whether this is well-formed XML. Refuses what would cost too much, and what defines entities.

    A few lines of entities can stand for gigabytes.
    """
    if _DOCTYPE.match(text):
        raise DigestError("unsafe", "the feed defines entities of its own; publish it without <!DOCTYPE … [", path=name)
    tags = text.count("<") + text.count("&lt;")
    categories = sum(1 + (found[1] or "").count(",") for found in _CATEGORIES.finditer(text))
    if len(text) > MOST_CHARS or tags > MOST_TAGS or categories > MOST_CATEGORIES:
        raise DigestError("too_long", "a feed this long is no digest; publish the newest entries only", path=name)
    is_whole = _is_well_formed(text)
    is_long = len(text) > MOST_BROKEN_CHARS or text.count("<") + text.count("&") > MOST_BROKEN_MARKS
    if is_long and not is_whole:
        raise DigestError("too_long", "the feed is long and no well-formed XML; mend or shorten it", path=name)
    return is_whole


def _is_well_formed(text: str) -> bool:
    try:
        expat.ParserCreate().Parse(text.encode("utf-8", "replace"), True)
    except expat.ExpatError:
        return False
    return True


def _parsed(text: str, name: str | None) -> Any:
    """By feedparser, with its date guesses unused, its sanitising off: blocks keep no markup."""
    import feedparser  # type: ignore[import-untyped]  # 80 ms, and most commands read no feed

    headers = {"content-type": "application/xml; charset=utf-8"}
    data = text.encode("utf-8", "replace")
    try:
        return feedparser.parse(data, response_headers=headers, sanitize_html=False, resolve_relative_uris=False)
    except (LookupError, AttributeError, TypeError, ValueError) as exc:  # `<item><link></item></link>` is a KeyError
        raise DigestError("bad_xml", "the feed is broken beyond reading; mend its XML", path=name) from exc


def _entry(entry: Any, home: str | None, zone: tzinfo, notes: Notes) -> Entry:
    bodies = [each for each in entry.get("content", ()) if (each.get("value") or "").strip()]
    whole = next((each for each in bodies if each.get("type") in _HTML), bodies[0] if bodies else None)
    summary = entry.get("summary_detail")
    is_repeated = whole and summary and summary.get("value") == whole.get("value")
    # The plain dict's own `get`: the parser's takes one time for another where one is missing.
    written = next(filter(None, (dict.get(entry, key) for key in ("published", "created", "updated"))), None)
    return Entry(
        title=_title(entry),
        url=web_address(entry.get("link"), home),
        blocks=_body(whole, home, notes) if whole else (),
        beside=_body(summary, home, notes) if summary and not is_repeated else (),
        tags=_unique(tag.get("label") or tag.get("term") for tag in entry.get("tags", ())),
        source=_source(entry),
        published_at=moment(written, zone),
        images=tuple(_images(entry, home)),
    )


def _title(entry: Any) -> str | None:
    """One line, its markup taken off."""
    detail = entry.get("title_detail") or {}
    value = detail.get("value") or ""
    blocks = html_text(value, None, Notes()) if detail.get("type") in _HTML else ()
    return _line(plain(blocks) or value)


def _body(detail: Any, home: str | None, notes: Notes) -> tuple[Block, ...]:
    """RSS does not say whether a text is HTML; one without a tag is read line by line."""
    value = visible(detail.get("value") or "")
    base = web_address(detail.get("base"), None) or home
    if detail.get("type") not in _HTML:
        return plain_text(value)
    return html_text(value, base, notes) if _TAG.search(value) else plain_text(html.unescape(value))


def _source(entry: Any) -> str | None:
    origin = (entry.get("source") or {}).get("title")
    return _line(origin) or _line((entry.get("author_detail") or {}).get("name")) or _line(entry.get("author"))


def _images(entry: Any, home: str | None) -> Iterator[Image]:
    pictures = [each for each in entry.get("enclosures", ()) if str(each.get("type")).startswith("image/")]
    media = [each for each in entry.get("media_content", ()) if _is_image(each)]
    for each in pictures or media or entry.get("media_thumbnail", ()):
        url = web_address(each.get("href") or each.get("url"), home)
        if url:
            yield Image(url, "")


def _is_image(media: Mapping[str, Any]) -> bool:
    return media.get("medium") == "image" or str(media.get("type")).startswith("image/")


def _json_entry(entry: dict[str, Any], home: str | None, zone: tzinfo, notes: Notes) -> Entry:
    addresses = (web_address(_words(entry, key), home) for key in ("url", "external_url"))
    permalink = _words(entry, "id") or ""
    markup, text, summary = (_words(entry, key) for key in ("content_html", "content_text", "summary"))
    return Entry(
        title=_line(_words(entry, "title")),
        url=next(filter(None, addresses), None) or (web_address(permalink, None) if "://" in permalink else None),
        blocks=html_text(markup, home, notes) if markup else plain_text(text or ""),
        beside=plain_text(summary or ""),
        tags=_unique(entry.get("tags")),
        source=_json_author(entry),
        published_at=moment(entry.get("date_published") or entry.get("date_modified"), zone),
        images=tuple(_json_images(entry, home)),
    )


def _json_author(entry: dict[str, Any]) -> str | None:
    authors = entry.get("authors")
    named = authors if isinstance(authors, list) else [entry.get("author")]
    return next((name for each in named if isinstance(each, dict) and (name := _line(_words(each, "name")))), None)


def _json_images(entry: dict[str, Any], home: str | None) -> Iterator[Image]:
    attachments = entry.get("attachments")
    pictures = [each for each in attachments if isinstance(each, dict)] if isinstance(attachments, list) else []
    addresses = [_words(entry, "image") or _words(entry, "banner_image")]
    addresses += [_words(each, "url") for each in pictures if str(each.get("mime_type")).startswith("image/")]
    for address in addresses:
        if url := web_address(address, home):
            yield Image(url, "")


def _words(mapping: Mapping[str, Any], key: str) -> str | None:
    value = mapping.get(key)
    return visible(value) if isinstance(value, str) and value.strip() else None


def _line(text: object) -> str | None:
    return " ".join(visible(text).split()) or None if isinstance(text, str) else None


def _unique(names: Any) -> tuple[str, ...]:
    listed = names if isinstance(names, Iterator | list) else ()
    return tuple(dict.fromkeys(line for name in listed if (line := _line(name))))


def _aware(received_at: datetime | None, zone: tzinfo) -> datetime | None:
    return received_at.replace(tzinfo=zone) if received_at and received_at.tzinfo is None else received_at
