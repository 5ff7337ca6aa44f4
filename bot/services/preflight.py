"""What an editor would look at before an edition goes out, found by a program: pure, over what others have gathered."""

import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from enum import StrEnum

from bot.cards.picture_holes import without_holes
from bot.cards.render import Card
from bot.domain.audience import Density
from bot.domain.contacts import emails, masked, phones
from bot.domain.digest import Block, Digest, Item, Paragraph, Text, links, plain
from bot.domain.rate import Rate
from bot.ports import LinkAnswer, LinkState
from bot.reading.keys import normalised_link

REPEATS_FOR = timedelta(days=90)
LONGEST_TITLE = 120  # characters; a card's header shows four lines
MOST_TITLES = 8  # of a section
NAME_CHARS = 60


class Concern(StrEnum):
    """What an editor is to look at."""

    NO_DAY = "no_day"
    NO_ITEMS = "no_items"
    NO_TEXT = "no_text"
    HOLE = "hole"
    DEAD_LINK = "dead_link"
    UNCLEAR_LINK = "unclear_link"
    REPEAT = "repeat"
    PHONE = "phone"
    EMAIL = "email"
    LONG_TITLE = "long_title"


@dataclass(frozen=True, slots=True)
class Finding:
    """Something to look at. `number`: the item's, as the cards count; None for what stands outside of items.

    `detail`: the reason, the edition or the length. Telephone numbers and addresses are masked here and in every title:
    the card that tells of them has to pass the same audit.
    """

    concern: Concern
    number: int | None = None
    title: str = ""
    detail: str = ""
    url: str | None = None
    day: date | None = None


@dataclass(frozen=True, slots=True)
class Outline:
    """A section: how many items, and the titles of the first ones, or how those without a title begin."""

    name: str | None
    items: int
    titles: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Extent:
    """What a density costs each of its receivers; `bytes` of all parts together."""

    density: Density
    parts: int
    bytes: int


@dataclass(frozen=True, slots=True)
class Preflight:
    """Everything that is known of a digest before it goes out; `findings` in the order in which an editor reads."""

    outline: tuple[Outline, ...]
    extents: tuple[Extent, ...]
    findings: tuple[Finding, ...]
    receivers: int
    calls: int
    estimate_s: float

    def of(self, *concerns: Concern) -> tuple[Finding, ...]:
        """The findings of some kinds."""
        return tuple(one for one in self.findings if one.concern in concerns)


def addresses(digest: Digest) -> tuple[str, ...]:
    """Every link of a digest once, in order: what is to be checked."""
    found = [link.url for link in links(digest.intro)]
    for item in digest.items:
        found += _links(item)
    return tuple(dict.fromkeys([*found, *(link.url for link in links(digest.outro))]))


def examine(
    digest: Digest,
    cards: Mapping[Density, Sequence[Card]],
    *,
    answers: Mapping[str, LinkAnswer],
    earlier: Iterable[tuple[str, Digest]],
    receivers: Mapping[Density, int],
    rate: Rate,
) -> Preflight:
    """Look at a digest as it would go out.

    `cards`: its parts at each density. `answers`: of its `addresses`, as far as they were asked. `earlier`: names and
    digests of the series' editions; its own edition, and what is older than 90 days, is passed over. `receivers`: how
    many take which density; the estimate is for all sections.
    """
    calls = sum(count * len(cards.get(density, ())) for density, count in receivers.items())
    return Preflight(
        outline=tuple(_outline(digest)),
        extents=tuple(Extent(one, len(parts), sum(card.bytes for card in parts)) for one, parts in cards.items()),
        findings=(*_of_digest(digest, answers), *_of_items(digest, answers, _Known(digest, earlier))),
        receivers=sum(receivers.values()),
        calls=calls,
        estimate_s=rate.seconds_for(calls),
    )


class _Known:
    """Stories of earlier editions, by link and by words, each with the last edition that had it."""

    def __init__(self, digest: Digest, earlier: Iterable[tuple[str, Digest]]) -> None:
        self._editions: dict[str, tuple[str, date]] = {}
        for name, other in earlier:
            if other.day is None or (other.day, other.label or "") == (digest.day, digest.label or ""):
                continue
            if digest.day and abs(digest.day - other.day) > REPEATS_FOR:
                continue
            for mark in (mark for item in other.items for mark in _marks(item)):
                if mark not in self._editions or self._editions[mark][1] < other.day:
                    self._editions[mark] = (name, other.day)

    def edition(self, item: Item) -> tuple[str, date] | None:
        """Name and day of the edition that had this story."""
        return next((self._editions[mark] for mark in _marks(item) if mark in self._editions), None)


def _marks(item: Item) -> Iterator[str]:
    """What makes two items one story. A title alone may be that of a column, so a link or a text has to agree too."""
    if item.url:
        yield "link:" + normalised_link(item.url).partition("://")[2].rstrip("/")
    title, text = _folded(item.title or ""), _folded(plain(item.blocks))
    if text or (title and not item.url):
        yield f"words:{title}\0{text}"


def _folded(text: str) -> str:
    return "".join(unicodedata.normalize("NFKC", text).casefold().split())


def _outline(digest: Digest) -> Iterator[Outline]:
    for section in digest.sections:
        name = None if section.name is None else _short(section.name)
        yield Outline(name, len(section.items), tuple(map(_name, section.items[:MOST_TITLES])))


def _of_digest(digest: Digest, answers: Mapping[str, LinkAnswer]) -> Iterator[Finding]:
    """What is to be said of the whole, its opening and its end, and the names of its sections."""
    if digest.day is None:
        yield Finding(Concern.NO_DAY)
    if not digest.items:
        yield Finding(Concern.NO_ITEMS)
    yield from _long_title(None, digest.title or "")
    names = [digest.title, digest.label, *(section.name for section in digest.sections)]
    yield from _contacts(None, "", "\n".join(filter(None, names)))
    for title, blocks in (("开头", digest.intro), ("结尾", digest.outro)):
        yield from _dead_links(None, title, (link.url for link in links(blocks)), answers)
        yield from _contacts(None, title, plain(blocks))


def _of_items(digest: Digest, answers: Mapping[str, LinkAnswer], known: _Known) -> Iterator[Finding]:
    for number, item in enumerate(digest.items, 1):
        name, text = _name(item), plain(item.blocks)
        if not text.strip():
            yield Finding(Concern.NO_TEXT, number, name)
        if _has_holes(item):
            yield Finding(Concern.HOLE, number, name, url=item.url)
        yield from _dead_links(number, name, _links(item), answers)
        if before := known.edition(item):
            yield Finding(Concern.REPEAT, number, name, before[0], item.url, before[1])
        yield from _contacts(number, name, "\n".join((item.title or "", text, item.source or "", *item.tags)))
        yield from _long_title(number, item.title or "")


def _dead_links(
    number: int | None, title: str, urls: Iterable[str], answers: Mapping[str, LinkAnswer]
) -> Iterator[Finding]:
    for url in dict.fromkeys(urls):
        answer = answers.get(url)
        if answer and answer.state is not LinkState.OK:
            concern = Concern.DEAD_LINK if answer.state is LinkState.DEAD else Concern.UNCLEAR_LINK
            yield Finding(concern, number, title, answer.reason, url)


def _contacts(number: int | None, title: str, text: str) -> Iterator[Finding]:
    """Whom one could call or write to: the platform may refuse a card for it (230028)."""
    for concern, found in ((Concern.PHONE, phones(text)), (Concern.EMAIL, emails(text))):
        for one in found:
            yield Finding(concern, number, title, one)


def _long_title(number: int | None, title: str) -> Iterator[Finding]:
    if len(title) > LONGEST_TITLE:
        yield Finding(Concern.LONG_TITLE, number, _short(title), f"{len(title)} 字")


def _has_holes(item: Item) -> bool:
    """Whether a card would have to say that a formula is to be found elsewhere."""
    blocks: tuple[Block, ...] = (Paragraph((Text(item.title or ""),)), *item.blocks)
    return without_holes(blocks, item.url) != blocks


def _links(item: Item) -> list[str]:
    return [*([item.url] if item.url else []), *(link.url for link in links(item.blocks))]


def _name(item: Item) -> str:
    return _short(item.title or plain(item.blocks))


def _short(text: str) -> str:
    text = masked(" ".join(text.split()))
    return text if len(text) <= NAME_CHARS else text[: NAME_CHARS - 1] + "…"
