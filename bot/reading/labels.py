"""Lines about an item, `来源：…`, `Tags: …`, `发布时间：…`: what they say becomes what the item knows."""

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, time, tzinfo

from bot.domain.digest import Listing, Paragraph, links, plain_inlines
from bot.reading.dates import read_title
from bot.reading.drafts import ItemDraft, Notes, Part
from bot.reading.marks import columns

VALUE_COLUMNS = 60
_EDGE = r"\W{0,4}"
_SOURCE = re.compile(_EDGE + r"(?:来源|出处|媒体|source|via)\s*[:：]\s*(.+)", re.IGNORECASE)
_TAGS = re.compile(_EDGE + r"(?:标签|关键词|tags?|keywords?)\s*[:：]\s*(.+)", re.IGNORECASE)
_TIME = re.compile(
    _EDGE + r"(?:发布时间|发布日期|发布于|published(?: at| on)?|pub ?date|date|日期|时间)\s*[:：]\s*(.+)", re.IGNORECASE
)
_CLOCK = re.compile(r"(?<!\d)([01]?\d|2[0-3])[:：]([0-5]\d)(?:[:：]([0-5]\d))?(?!\d)")
_ZONE_NAME = re.compile(r"T?\s*(?:UTC|GMT|CST|Z|北京时间)?(?:\+0?8(?::?00)?)?")  # anything else would be lost
_TAG_PARTS = re.compile(r"[\s,，、;；|#＃]+")


def take_labels(item: ItemDraft, zone: tzinfo, notes: Notes) -> None:
    """Move what label lines say into the item; the words of the label are dropped."""
    if item.published_at and item.published_at.tzinfo is None:
        item.published_at = item.published_at.replace(tzinfo=zone)
    if item.title is None and item.url is None:
        return  # labels about nothing are all there is to tell
    item.paragraphs = [part for whole in item.paragraphs for part in _untaken(item, whole, zone, notes)]


def _untaken(item: ItemDraft, part: Part, zone: tzinfo, notes: Notes) -> Iterator[Part]:
    """The part, unless it is a label; of a list those entries that are none."""
    if isinstance(part, Listing):
        entries = tuple(entry for entry in part.entries if len(entry) > 1 or not _is_taken(item, entry[0], zone, notes))
        if entries:
            yield replace(part, entries=entries)
    elif not _is_taken(item, part, zone, notes):
        yield part


def _is_taken(item: ItemDraft, part: Part, zone: tzinfo, notes: Notes) -> bool:
    text = part if isinstance(part, str) else plain_inlines(part.inlines) if isinstance(part, Paragraph) else ""
    text = text.strip()
    is_taken = bool(text) and columns(text) <= VALUE_COLUMNS and _take(item, text, part, zone)
    if is_taken:
        notes.drop(item.line, re.split("[:：]", text)[0], "标签名，内容已读入条目")
    return is_taken


def published(text: str, zone: tzinfo | None) -> datetime | None:
    """The moment that a label writes: a full date, and the time of day if it is there."""
    found = _CLOCK.search(text)
    dated = read_title(_CLOCK.sub(" ", text), None)
    if dated.day is None or not dated.has_year or not _ZONE_NAME.fullmatch(dated.name):
        return None
    clock = time(int(found[1]), int(found[2]), int(found[3] or 0)) if found else time()
    return datetime.combine(dated.day, clock, zone)


def _take(item: ItemDraft, text: str, part: Part, zone: tzinfo) -> bool:
    if (found := _TIME.fullmatch(text)) and item.published_at is None:
        item.published_at = published(found[1], zone)
        return item.published_at is not None
    has_other_link = not isinstance(part, str) and any(link.url != item.url for link in links((part,)))
    if has_other_link or "://" in text:
        return False
    if (found := _TAGS.fullmatch(text)) and not item.tags:
        item.tags = tuple(each for each in _TAG_PARTS.split(found[1]) if each)
        return bool(item.tags)
    if (found := _SOURCE.fullmatch(text)) and item.source is None:
        item.source = found[1].strip()
        return True
    return False
