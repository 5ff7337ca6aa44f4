"""Digests from a feed: the entries of one local day are one digest.

What has been handed out once keeps its place: an entry belongs to the digest of the day with which it first came, also
when it changes or falls off the feed. An entry of a day that has already gone comes with the next day that has entries
of its own. All this is remembered while the process lives. After a restart the days are told by the entries' own times
again; that nothing is sent twice is then the edition's doing, which is unique by series, day and label.
"""

import hashlib
import json
import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, timedelta, tzinfo
from functools import partial
from itertools import groupby

from anyio.to_thread import run_sync

from bot.domain.digest import Digest, Item, Reading, Section
from bot.domain.errors import DigestError
from bot.ports import Found
from bot.reading.formats import Format, format_of, is_json_feed, json_document
from bot.reading.json_shape import to_json
from bot.sources.fetch import Fetched, fetch, new_client, shown

log = logging.getLogger(__name__)

MOST_NEW = 50
RECENT = timedelta(days=7)

_CONDITIONS = {"etag": "If-None-Match", "last-modified": "If-Modified-Since"}
_LONG_AGO = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class _Entry:
    """An item and the name of the section that it stands in."""

    section: str | None
    item: Item


@dataclass(slots=True)
class _Memory:
    """What a feed has given so far."""

    days: dict[date, dict[str, _Entry]] = field(default_factory=dict)
    seen: set[str] = field(default_factory=set)
    last: date | None = None


class FeedSource:
    """One feed: RSS, Atom or JSON Feed. `most_new` is for a feed whose every entry is new, the newest first."""

    def __init__(
        self,
        url: str,
        zone: tzinfo,
        noise: Sequence[str],
        *,
        most_new: int = MOST_NEW,
        allow_private: bool = False,
    ) -> None:
        self._url = url
        self._zone = zone
        self._noise = noise
        self._most_new = most_new
        self._allow_private = allow_private
        self._conditions: dict[str, str] = {}
        self._memory = _Memory()
        self._whole = Digest()

    async def load(self, now: datetime) -> tuple[list[Found], list[DigestError]]:
        """One digest for each of the last days that had entries, and why the feed could not be read."""
        try:
            async with new_client() as client:
                fetched = await fetch(client, self._url, headers=self._conditions, allow_private=self._allow_private)
            if fetched.status != 304:
                reading = await run_sync(partial(self._read, fetched, now))
                self._take(reading, now.astimezone(self._zone).date())
                self._conditions = {
                    ours: fetched.headers[theirs] for theirs, ours in _CONDITIONS.items() if theirs in fetched.headers
                }
        except DigestError as exc:
            return self._found(), [DigestError(exc.code, exc.message, path=exc.path or shown(self._url), line=exc.line)]
        return self._found(), []

    def _read(self, fetched: Fetched, now: datetime) -> Reading:
        """By its bytes: feeds come under every content type and extension."""
        match format_of(fetched.data, None, None):
            case Format.FEED:
                from bot.reading.feed.reader import read_feed

                return read_feed(fetched.data, received_at=now, zone=self._zone, noise=self._noise)
            case Format.JSON if is_json_feed(document := json_document(fetched.data, None)):
                from bot.reading.feed.reader import read_json_feed

                return read_json_feed(document, received_at=now, zone=self._zone, noise=self._noise)
        raise DigestError("no_feed", "is no RSS, Atom or JSON Feed; give the address of the feed itself")

    def _take(self, reading: Reading, today: date) -> None:
        """Remember what is new, put in the day to which it belongs."""
        memory = self._memory
        self._whole = replace(reading.digests[0], day=None, day_end=None, label=None, sections=())
        entries = {
            item.key: _Entry(section.name, item)
            for digest in reading.digests
            for section in digest.sections
            for item in section.items
        }
        for kept in memory.days.values():
            kept.update((key, entries[key]) for key in kept.keys() & entries.keys())
        new = self._new(entries)
        own = {key: day for key, entry in new.items() if (day := self._day(entry, today)) and self._is_open(day)}
        late = [key for key, entry in new.items() if key not in own and self._day(entry, today)]
        if own:
            own |= dict.fromkeys(late, max(own.values()))
        for key, day in own.items():
            memory.days.setdefault(day, {})[key] = new[key]
        memory.last = max(own.values(), default=memory.last)
        memory.days = {day: kept for day, kept in memory.days.items() if today - RECENT <= day}
        kept_keys = {key for kept in memory.days.values() for key in kept}
        memory.seen = (memory.seen & entries.keys()) | kept_keys

    def _new(self, entries: dict[str, _Entry]) -> dict[str, _Entry]:
        """Entries never seen. Where all are, the feed has changed its ways, and only the newest count."""
        new = {key: entry for key, entry in entries.items() if key not in self._memory.seen}
        if len(new) < len(entries) or len(new) <= self._most_new:
            return new
        log.warning("feed_all_new", extra={"feed": shown(self._url), "entries": len(new), "kept": self._most_new})
        newest = sorted(new, key=lambda key: new[key].item.published_at or _LONG_AGO, reverse=True)[: self._most_new]
        self._memory.seen |= new.keys()
        return {key: entry for key, entry in new.items() if key in set(newest)}

    def _day(self, entry: _Entry, today: date) -> date | None:
        """The local day of an entry, today's without a time or with one to come; None for what is old."""
        at = entry.item.published_at
        day = min(at.astimezone(self._zone).date(), today) if at else today
        return day if today - RECENT <= day else None

    def _is_open(self, day: date) -> bool:
        return self._memory.last is None or day > self._memory.last

    def _found(self) -> list[Found]:
        found = []
        for day, entries in sorted(self._memory.days.items()):
            digest = replace(self._whole, day=day, sections=_sections(entries.values()))
            content = json.dumps(to_json(Reading((digest,))), sort_keys=True)
            found.append(Found(digest, hashlib.sha256(content.encode()).hexdigest()))
        return found


def _sections(entries: Iterable[_Entry]) -> tuple[Section, ...]:
    """Entries by section, in their order."""
    return tuple(
        Section(name, tuple(entry.item for entry in group)) for name, group in groupby(entries, lambda one: one.section)
    )
