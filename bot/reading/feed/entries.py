"""Entries of a feed, of whatever kind → one digest."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from bot.domain.digest import Block, Image, Paragraph, Reading, images, plain
from bot.domain.errors import DigestError
from bot.reading.blocks import Placed
from bot.reading.dates import TitleDate, read_title
from bot.reading.drafts import BodyDraft, ItemDraft, Notes, SectionDraft
from bot.reading.feed.dates import without_future
from bot.reading.html.page import read_page
from bot.reading.inlines import inlines
from bot.reading.keys import normalised_link
from bot.reading.marks import columns
from bot.reading.structure import Arrival, assemble, without_noise

TITLE_COLUMNS = 80

_SENTENCE_ENDS = "。！？!?\n"
_PAUSES = "，,；;：:、 "


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry as the feed writes it. `beside`: a summary that stands beside the whole text."""

    title: str | None
    url: str | None
    blocks: tuple[Block, ...]
    beside: tuple[Block, ...] = ()
    tags: tuple[str, ...] = ()
    source: str | None = None
    published_at: datetime | None = None
    images: tuple[Image, ...] = ()

    @property
    def is_empty(self) -> bool:
        """It says nothing at all."""
        return not (self.title or self.url or self.blocks or self.beside or self.images)


@dataclass(frozen=True, slots=True)
class Feed:
    """A feed; `home` is the page that it belongs to."""

    title: str | None
    home: str | None
    entries: tuple[Entry, ...]


def read_entries(
    feed: Feed, arrived: Arrival, received_at: datetime | None, noise: Sequence[str], notes: Notes
) -> Reading:
    """One digest of all entries that say something; each story once.

    Raises: DigestError `empty`.
    """
    kept = _without_repeats(feed, notes)
    if not kept:
        raise DigestError("empty", "the feed holds no entry; look whether it is the right address")
    moments = without_future([entry.published_at for entry in kept], received_at)
    items = [_item(replace(each, published_at=at), noise, notes) for each, at in zip(kept, moments, strict=True)]
    dated = _dated(feed.title, [at for at in moments if at], arrived, notes)
    body = BodyDraft(sections=[SectionDraft(0, items=items)])
    digest = assemble(feed.title, dated, body, arrived, notes)
    warnings = tuple(replace(warning, line=warning.line or None) for warning in notes.warnings)
    return Reading((digest,), warnings, tuple(notes.dropped))


def html_text(html: str, base: str | None, notes: Notes) -> tuple[Block, ...]:
    """Blocks of the HTML of one entry. HTML that is too much for us costs this entry its text, not the feed."""
    try:
        page = read_page(html, base=base)
    except DigestError as error:
        notes.drop(None, html, "无法解析的 HTML")
        notes.warn("unreadable_text", None, f"the text of an entry was left out: {error.message}")
        return ()
    for text, reason in page.dropped:
        notes.drop(None, text, reason)
    return page.blocks


def plain_text(text: str) -> tuple[Block, ...]:
    """Blocks of text without markup: one paragraph a line."""
    return tuple(Paragraph(inlines(line.strip())) for line in text.splitlines() if line.strip())


def first_sentence(blocks: Sequence[Block]) -> str | None:
    """What stands for the title of an entry without one, as feed readers do it: the start of its text."""
    text = plain(blocks).strip()
    ends = [place for mark in _SENTENCE_ENDS if (place := text.find(mark)) > 0]
    sentence = " ".join(text[: min(ends, default=len(text))].split())
    if columns(sentence) <= TITLE_COLUMNS:
        return sentence or None
    start = sentence[: TITLE_COLUMNS // 2]
    pause = max(start.rfind(mark) for mark in _PAUSES)
    return f"{start[:pause] if pause > TITLE_COLUMNS // 4 else start}…"


def _without_repeats(feed: Feed, notes: Notes) -> list[Entry]:
    """Feeds repeat an entry after a change. A link to the home page of the feed does not say which story it is."""
    kept: list[Entry] = []
    seen: set[str] = {normalised_link(feed.home)} if feed.home else set()
    home = set(seen)
    for number, entry in enumerate(feed.entries, 1):
        link = normalised_link(entry.url) if entry.url else None
        if entry.is_empty:
            notes.drop(None, f"第 {number} 条", "空条目")
        elif link in seen and link not in home:
            notes.drop(None, "\n".join(filter(None, [entry.title, plain(entry.blocks)])) or str(link), "重复的条目")
        else:
            kept.append(entry)
            seen.update([link] if link else ())
    return kept


def _item(entry: Entry, noise: Sequence[str], notes: Notes) -> ItemDraft:
    blocks = _without_noise(entry.blocks or entry.beside, noise, notes)
    shown = {image.url for image in images(blocks)}
    blocks += [image for image in entry.images if image.url not in shown]
    summary = plain(entry.beside)
    if entry.blocks and _dense(summary) not in _dense(plain(blocks)):
        notes.drop(None, summary, "摘要，另有正文")
    if entry.title and plain(blocks).strip() == entry.title:
        notes.drop(None, entry.title, "与标题相同的正文")
        blocks = []
    return ItemDraft(
        line=0,
        title=entry.title or first_sentence(blocks),
        url=entry.url,
        paragraphs=list(blocks),
        tags=entry.tags,
        source=entry.source,
        published_at=entry.published_at,
    )


def _without_noise(blocks: Sequence[Block], noise: Sequence[str], notes: Notes) -> list[Block]:
    return [placed.block for placed in without_noise((Placed(None, block) for block in blocks), noise, notes)]


def _dense(text: str) -> str:
    return "".join(text.split())


def _dated(title: str | None, moments: Sequence[datetime], arrived: Arrival, notes: Notes) -> TitleDate | None:
    """The day in the title of the feed, else that of its newest entry."""
    dated = read_title(title, arrived.anchor) if title else None
    if (dated and dated.day) or not moments:
        return dated
    day = max(moments).astimezone(arrived.zone).date()
    notes.warn("day_assumed", None, f"the title of the feed writes no day; {day} is the one of its newest entry")
    label = dated.label if dated else None
    return TitleDate(day, None, label, dated.name if dated else "", dated=True, has_year=True)
