"""Before an edition goes out: what an editor would look at, for the admins who decide."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime

from bot.cards import words
from bot.cards.actions import Decision, Review
from bot.cards.buttons import Button, Label, act
from bot.cards.entries import shortened
from bot.cards.render import Card
from bot.cards.templates import CardTemplates
from bot.cards.text import escape, link_url, plain
from bot.cards.tiles import Finding, Tile, finding
from bot.cards.words import Words
from bot.domain.audience import Density
from bot.domain.series import Series

_NAME_CHARS = 60
_TITLE_CHARS = 60
_REASON_CHARS = 40
_LINE_CHARS = 40  # of one thing to look at
_URL_CHARS = 200  # a longer address is left out: what is at it can be found by the title
_MOST_SECTIONS = 10
_MOST_TITLES = 6  # of a section
_SETTLED = {
    Decision.APPROVE: Label(Words("已通过", "Approved"), "green"),
    Decision.LATER: Label(Words("稍后再说", "Later"), "orange"),
    Decision.SKIP: Label(Words("今天跳过", "Skipped"), "neutral"),
    Decision.PREVIEW: Label(Words("只发给了管理员", "Sent to an admin only"), "blue"),
}


@dataclass(frozen=True, slots=True)
class Outline:
    """One section; `name` None where it has none. `titles` of its items, "" for one without."""

    name: str | None
    titles: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Extent:
    """What one density costs: cards a receiver, and bytes of all of them."""

    density: Density
    parts: int
    bytes: int


@dataclass(frozen=True, slots=True)
class DeadLink:
    """A link that did not answer, and how."""

    title: str
    url: str
    reason: str


@dataclass(frozen=True, slots=True)
class Repeat:
    """A story that was in an earlier edition."""

    title: str
    day: date


@dataclass(frozen=True, slots=True)
class Contact:
    """A telephone number or an address in the text of an item."""

    found: str
    title: str = ""


@dataclass(frozen=True, slots=True)
class Preflight:
    """Everything that is known of an edition before it goes out. `edition`: SERIES/SLUG.

    `unclear_links`: how many would not be asked. `textless`, `holes`: titles of items without text, and with a formula
    that is missing. `contacts`: what the platform's audit may refuse. `calls_left`: None without a cap.
    """

    edition: str
    revision: int
    series: Series
    day: date
    day_end: date | None = None
    label: str = ""
    title: str = ""
    outline: tuple[Outline, ...] = ()
    extents: tuple[Extent, ...] = ()
    dead_links: tuple[DeadLink, ...] = ()
    unclear_links: int = 0
    textless: tuple[str, ...] = ()
    holes: tuple[str, ...] = ()
    repeats: tuple[Repeat, ...] = ()
    contacts: tuple[Contact, ...] = ()
    receivers: int = 0
    calls: int = 0
    calls_left: int | None = None
    estimate_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Settled:
    """Who decided what, and when, in the zone in which it is told."""

    decision: Decision
    who: str
    at: datetime


@dataclass(frozen=True, slots=True)
class PreflightView:
    """What the template may use. `outline` is card markdown; a note is None where there is nothing to say."""

    title: str
    about: Words
    colour: str
    state: Label
    tiles: tuple[Tile, ...]
    costs: tuple[Words, ...]
    outline: str
    outline_label: Words
    findings: tuple[Finding, ...]
    link_note: Words | None
    cost_note: Words | None
    settled: Words | None
    buttons: tuple[Button, ...]


def preflight_card(templates: CardTemplates, facts: Preflight, *, settled: Settled | None = None) -> Card:
    """What is about to go out, with the decisions; once it is `settled`, with who took which one instead."""
    findings = tuple(_findings(facts))
    series = words.same(shortened(plain(facts.series.name), _NAME_CHARS))
    label = words.same(shortened(plain(facts.label), _TITLE_CHARS))
    view = PreflightView(
        title=shortened(plain(facts.title), 2 * _TITLE_CHARS),
        about=words.joined(series, words.span(facts.day, facts.day_end), label, _revision(facts.revision)),
        colour="grey" if settled else "orange" if findings else "green",
        state=_SETTLED[settled.decision] if settled else _state(findings),
        tiles=_tiles(facts),
        costs=(_estimate(facts.estimate_s), *map(_extent, facts.extents)),
        outline="<br>".join(_outline(facts.outline)),
        outline_label=_outline_label(facts.outline),
        findings=findings,
        link_note=_link_note(facts.unclear_links),
        cost_note=_cost_note(facts),
        settled=_decided(settled) if settled else None,
        buttons=() if settled else _buttons(facts),
    )
    return templates.render("preflight.json.j2", view)


def _revision(number: int) -> Words | None:
    """Said where there was another before: the cards look alike."""
    return Words(f"第 {number} 版", f"revision {number}") if number > 1 else None


def _state(findings: Sequence[Finding]) -> Label:
    count = sum(one.count for one in findings)
    if not count:
        return Label(Words("没有发现问题", "Nothing found"), "green")
    return Label(Words(f"{count} 处留意", f"{count} to look at"), "orange")


def _tiles(facts: Preflight) -> tuple[Tile, ...]:
    items = sum(len(one.titles) for one in facts.outline)
    return (
        Tile(f"{items:,}", Words("条目", "items")),
        Tile(f"{facts.receivers:,}", Words("接收方", "receivers")),
        Tile(f"{facts.calls:,}", Words("次调用", "calls")),
    )


def _estimate(seconds: float) -> Words:
    duration = words.duration(seconds)
    return Words(f"预计{duration.zh if seconds < 60 else f'约 {duration.zh}'}发完", f"takes about {duration.en}")


def _extent(extent: Extent) -> Words:
    density, size = words.DENSITIES[extent.density], f"{max(1, round(extent.bytes / 1024))} KB"
    cards = "card" if extent.parts == 1 else "cards"
    return Words(f"{density.zh}　{extent.parts} 张 · {size}", f"{density.en}　{extent.parts} {cards} · {size}")


def _outline(sections: Sequence[Outline]) -> Iterable[str]:
    number = 0
    for section in sections[:_MOST_SECTIONS]:
        name = escape(shortened(plain(section.name or ""), _LINE_CHARS))
        if name:
            yield f"<font color='grey'>**{name}**</font>"
        for place, title in enumerate(section.titles[:_MOST_TITLES], start=number + 1):
            yield f"{place}&#46; {_quoted(title)}"
        if len(section.titles) > _MOST_TITLES:
            yield f"<font color='grey'>还有 {len(section.titles) - _MOST_TITLES} 条</font>"
        number += len(section.titles)
    if len(sections) > _MOST_SECTIONS:
        yield f"<font color='grey'>还有 {len(sections) - _MOST_SECTIONS} 个栏目</font>"


def _outline_label(sections: Sequence[Outline]) -> Words:
    items = sum(len(one.titles) for one in sections)
    return Words(f"目录：{len(sections)} 个栏目，{items} 条", f"Contents: {len(sections)} sections, {items} items")


def _findings(facts: Preflight) -> Iterable[Finding]:
    dead = [_dead(one) for one in facts.dead_links]
    repeats = [f"{_quoted(one.title)}　{words.span(one.day).zh}" for one in facts.repeats]
    for title, lines in (
        (Words("链接打不开", "Links that don't answer"), dead),
        (Words("没有正文", "Items without text"), list(map(_quoted, facts.textless))),
        (Words("公式缺失，会写「公式见原文」", "Formulas that are missing"), list(map(_quoted, facts.holes))),
        (Words("近 90 天发过", "Sent in the last 90 days"), repeats),
        (
            Words("有电话或邮箱，可能过不了平台审核", "Phone numbers or e-mail addresses"),
            list(map(_contact, facts.contacts)),
        ),
    ):
        if lines:
            yield finding(title, lines)


def _dead(dead: DeadLink) -> str:
    title, url = _quoted(dead.title), link_url(dead.url)
    reason = escape(shortened(plain(dead.reason), _REASON_CHARS))
    return f"{f'[{title}]({url})' if url and len(url) <= _URL_CHARS else title}　{reason}"


def _quoted(text: str) -> str:
    return escape(shortened(plain(text), _LINE_CHARS)) or "（无题）"


def _contact(contact: Contact) -> str:
    """Enough to find it by. Whole, it might keep this card from passing the very audit of which it warns."""
    text = plain(contact.found)
    shown = escape(f"{text[:3]}•••{text[-2:] if len(text) > 6 else ''}")
    return f"{shown}　{_quoted(contact.title)}" if contact.title else shown


def _link_note(unclear: int) -> Words | None:
    """Many sites answer no program: that says nothing against a link, but it was not looked at either."""
    if not unclear:
        return None
    links = "link" if unclear == 1 else "links"
    return Words(
        f"另有 {unclear} 个链接没能确认：网站没有回应，或不让程序看。", f"{unclear} {links} could not be checked."
    )


def _cost_note(facts: Preflight) -> Words | None:
    if facts.calls_left is None or facts.calls <= facts.calls_left:
        return None
    left = f"{max(0, facts.calls_left):,}"
    return Words(
        f"本月只剩 {left} 次调用，不够发完。", f"Only {left} calls are left this month: not enough for everybody."
    )


def _decided(settled: Settled) -> Words:
    who = words.same(shortened(plain(settled.who), _NAME_CHARS))
    return words.joined(_SETTLED[settled.decision].text, who, words.stamp(settled.at))


def _buttons(facts: Preflight) -> tuple[Button, ...]:
    def decide(zh: str, en: str, decision: Decision, look: str = "default") -> Button:
        return act(zh, en, Review(facts.edition, facts.revision, decision), look)

    return (
        decide("通过", "Approve", Decision.APPROVE, "primary_filled"),
        decide("只发给我", "Send to me only", Decision.PREVIEW),
        decide("稍后", "Later", Decision.LATER),
        decide("今天跳过", "Skip today", Decision.SKIP, "danger"),
    )
