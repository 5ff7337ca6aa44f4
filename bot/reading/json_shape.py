"""The product's own JSON, the document of `digest check --json`: written, and read back.

Body text is CommonMark, one text for each block. Reading back gives the digests that were written, but for what the
shape has no place for: pictures stand at the end of their item, rules are gone, a formula is written with dollars, and
what `commonmark` normalises.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, tzinfo
from typing import Any
from urllib.parse import unquote

from bot.domain import digest as model
from bot.domain.digest import Block, Digest, Image, Item, Reading, Section
from bot.domain.errors import DigestError
from bot.reading.blocks import Placed
from bot.reading.commonmark import to_commonmark
from bot.reading.dates import read_title
from bot.reading.drafts import BodyDraft, Notes
from bot.reading.encoding import visible
from bot.reading.formats import json_document
from bot.reading.json_schema import (
    DigestShape,
    ItemShape,
    SectionShape,
    address,
    check_size,
    converted,
    day_of,
    instant_of,
    is_plain,
    refused,
)
from bot.reading.keys import Keys
from bot.reading.structure import Arrival, arrive, assemble, without_noise
from bot.reading.titles import LONGEST_TITLE_CHARS


def to_json(reading: Reading) -> dict[str, Any]:
    """The document of the contract; what is missing is null, never an empty text."""
    return {
        "digests": [_digest(digest) for digest in reading.digests],
        "warnings": [
            {"code": warning.code, "line": warning.line, "message": warning.message} for warning in reading.warnings
        ],
        "dropped": [{"line": each.line, "text": each.text, "reason": each.reason} for each in reading.dropped],
    }


def _digest(digest: Digest) -> dict[str, Any]:
    return {
        "title": digest.title,
        "day": digest.day and digest.day.isoformat(),
        "day_end": digest.day_end and digest.day_end.isoformat(),
        "label": digest.label,
        "intro": _markdown(digest.intro),
        "outro": _markdown(digest.outro),
        "sections": [
            {"name": section.name, "items": [_item(item) for item in section.items]} for section in digest.sections
        ],
    }


def _item(item: Item) -> dict[str, Any]:
    return {
        "key": item.key,
        "title": item.title,
        "url": item.url,
        "paragraphs": _markdown(block for block in item.blocks if not _is_pictures(block)),
        "text": model.plain(item.blocks),
        "links": [{"text": link.text, "url": link.url} for link in model.links(item.blocks)],
        "images": [{"url": image.url, "alt": image.alt} for image in model.images(item.blocks)],
        "tags": list(item.tags),
        "source": item.source,
        "published_at": item.published_at and item.published_at.isoformat(),
    }


def _markdown(blocks: Iterable[Block]) -> list[str]:
    return [text for block in blocks if not isinstance(block, model.Rule) and (text := to_commonmark(block))]


def _is_pictures(block: Block) -> bool:
    """Nothing but pictures, which an item lists by themselves."""
    match block:
        case Image():
            return True
        case model.Quote(inner):
            return all(map(_is_pictures, inner))
        case model.Listing(entries):
            return all(_is_pictures(each) for entry in entries for each in entry)
    return False


def read_json(
    data: bytes | Any,
    *,
    name: str | None = None,
    received_at: datetime | None = None,
    zone: tzinfo,
    noise: Sequence[str] = (),
) -> Reading:
    """Read the document of `to_json`, as bytes or parsed; arguments as for `plain_text.read_text`.

    A key that may be null or empty may be missing. `text` counts only where there are no `paragraphs`; links and
    pictures that the paragraphs do not show follow them.
    Raises: DigestError `schema` with the path of what is wrong, or what `formats.json_document` raises.
    """
    raw = json_document(data, name) if isinstance(data, bytes) else data
    try:
        document = converted(raw)
        check_size(document)
        reader = _Reader(arrive(name, received_at, zone), tuple(noise))
        digests = [reader.digest(one, f"digests[{place}]") for place, one in enumerate(document.digests)]
    except DigestError as exc:
        raise DigestError(exc.code, exc.message, path=name, line=exc.line) from exc
    if len(digests) == 1 and digests[0].day is None:
        digests[0] = reader.with_day(digests[0])
    warnings = [model.ReadingWarning(one.code, one.message, one.line) for one in document.warnings]
    dropped = [model.Dropped(one.line, one.text, one.reason) for one in document.dropped]
    return Reading(tuple(digests), (*warnings, *reader.notes.warnings), (*dropped, *reader.notes.dropped))


@dataclass(slots=True)
class _Reader:
    """What all digests of one document share."""

    arrived: Arrival
    noise: tuple[str, ...]
    notes: Notes = field(default_factory=Notes)

    def digest(self, one: DigestShape, path: str) -> Digest:
        day, day_end = day_of(one.day, f"{path}.day"), day_of(one.day_end, f"{path}.day_end")
        if day_end and (day is None or day_end < day):
            raise refused(f"{path}.day_end", "is before the day, or there is no day")
        keys = _GivenKeys([item.key for section in one.sections for item in section.items])
        sections = [self._section(each, f"{path}.sections[{n}]", keys) for n, each in enumerate(one.sections)]
        return Digest(
            _said(one.title),
            day,
            day_end,
            _said(one.label),
            self._blocks(one.intro),
            self._blocks(one.outro),
            tuple(section for section in sections if section.items),
        )

    def with_day(self, digest: Digest) -> Digest:
        """The day that the title, the file name or the arrival gives."""
        dated = read_title(digest.title[:LONGEST_TITLE_CHARS], self.arrived.anchor) if digest.title else None
        found = assemble(None, dated, BodyDraft(), self.arrived, self.notes)
        return replace(digest, day=found.day, day_end=found.day_end, label=digest.label or found.label)

    def _section(self, one: SectionShape, path: str, keys: "_GivenKeys") -> Section:
        items = tuple(self._item(each, f"{path}.items[{n}]", keys) for n, each in enumerate(one.items))
        if not items and one.name:
            self.notes.drop(None, one.name, "没有条目的栏目")
        return Section(_said(one.name), items)

    def _item(self, one: ItemShape, path: str, keys: "_GivenKeys") -> Item:
        title, url = _said(one.title), one.url and address(one.url, f"{path}.url")
        blocks = self._blocks(one.paragraphs) or _literal(one)
        blocks += _rest(one, path, blocks)
        if not (title or url or blocks):
            raise refused(path, "says nothing, give it a title, a url or paragraphs")
        key = keys.give(one.key, url, title, model.plain(blocks))
        at = instant_of(one.published_at, f"{path}.published_at", self.arrived.zone)
        tags = tuple(filter(None, map(_said, one.tags)))
        return Item(key, title, url or None, blocks, tags, _said(one.source), at)

    def _blocks(self, paragraphs: Iterable[str]) -> tuple[Block, ...]:
        from bot.reading.markdown.blocks import parse

        placed: list[Placed] = []
        for paragraph in paragraphs:
            if is_plain(paragraph):
                placed.append(Placed(None, model.Paragraph((model.Text(paragraph),))))
                continue
            parsed = parse(paragraph)
            self.notes.dropped += (replace(lost, line=None) for lost in parsed.lost)
            placed += (Placed(None, each.block) for each in parsed.blocks)
        return tuple(each.block for each in without_noise(placed, self.noise, self.notes))


class _GivenKeys:
    """The keys of one digest: those that the document gives, once each, and our own for the others."""

    def __init__(self, given: Iterable[str | None]) -> None:
        self._free = {key for key in given if key}
        self._taken = set(self._free)
        self._ours = Keys()

    def give(self, key: str | None, url: str | None, title: str | None, text: str) -> str:
        if key in self._free:
            self._free.remove(key)
            return key
        while (ours := self._ours.give(url, title, text)) in self._taken:
            pass
        return ours


def _rest(one: ItemShape, path: str, blocks: Sequence[Block]) -> tuple[Block, ...]:
    """Links and pictures that the paragraphs do not show. Markdown may have written 中 in an address as %E4%B8%AD."""
    linked = {unquote(link.url) for link in model.links(blocks)}
    shown = Counter(unquote(image.url) for image in model.images(blocks))
    rest: list[Block] = []
    for place, link in enumerate(one.links):
        if unquote(address(link.url, f"{path}.links[{place}].url")) not in linked:
            linked.add(unquote(link.url))
            rest.append(model.Paragraph((model.Link(link.url, _said(link.text) or link.url),)))
    for place, image in enumerate(one.images):
        url = address(image.url, f"{path}.images[{place}].url")
        shown[unquote(url)] -= 1
        rest += [Image(url, image.alt)] if shown[unquote(url)] < 0 else []
    return tuple(rest)


def _literal(one: ItemShape) -> tuple[Block, ...]:
    """The plain text as paragraphs, but for what only says what a picture shows."""
    shown = {image.alt.strip() for image in one.images} | {""}
    lines = (line.strip() for line in one.text.splitlines())
    return tuple(model.Paragraph((model.Text(line),)) for line in lines if line not in shown)


def _said(text: str | None) -> str | None:
    return visible(text).strip() or None if text else None
