"""A digest as cards: header, contents line, the entries of each part, footer."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

from bot.cards import headings
from bot.cards.actions import SetSubscription, ShowSettings
from bot.cards.buttons import Button, act, community, go, header_colour
from bot.cards.entries import CONTINUED, Entry, behind, entries_of
from bot.cards.leads import waiting
from bot.cards.pictures import PictureLine, picture_bytes, shape
from bot.cards.render import Card, Limits, wire_bytes
from bot.cards.sentences import Atom
from bot.cards.split import Part, Passage, Size, Slice, split
from bot.cards.templates import CardTemplates
from bot.cards.text import escape
from bot.cards.words import Words
from bot.cards.writing import Piece, Tables, are_crowded, with_list
from bot.domain.audience import Kind, Selection
from bot.domain.digest import Digest
from bot.domain.errors import BotError, UsageError
from bot.domain.pictures import Pictures
from bot.domain.series import Series

_LIMITS = Limits()
_WEBHOOK_LIMITS = Limits(body_bytes=18_000)  # a custom bot's request may have 20 KB (custom bot page, 2025-03)


@dataclass(frozen=True, slots=True)
class EntryView:
    """One entry in one part; empty fields are not shown. `rest` waits behind its label, or is open without one.

    `rule`: a line above, where a section begins or goes on in a further part.
    """

    rule: bool = False
    section: str = ""
    heading: str = ""
    byline: str = ""
    lead: tuple[Piece, ...] = ()
    rest: tuple[Piece, ...] = ()
    label_zh: str = ""
    label_en: str = ""
    small: bool = False


@dataclass(frozen=True, slots=True)
class DigestView:
    """Everything a part shows."""

    title: str
    subtitle: str
    colour: str
    summary: str
    contents_zh: str
    contents_en: str
    entries: tuple[EntryView, ...] = ()
    buttons: tuple[Button, ...] = ()


def digest_cards(
    templates: CardTemplates,
    digest: Digest,
    series: Series,
    selection: Selection,
    *,
    edition: str | None,
    pictures: Pictures | None = None,
    read_url: str | None = None,
    note: Words | None = None,
    limits: Limits | None = None,
) -> tuple[Card, ...]:
    """The cards of a digest for everybody with this selection; order kept, no text of an item lost.

    `pictures`: what can be shown as one, all else being a link or text. `read_url`: where the digest can be read
    online. `note`: a few plain words behind the contents line. `limits`: those of the audience, if not given.
    Raises: UsageError, naming the edition, if the selection leaves nothing to show.
    """
    limits = limits or (_WEBHOOK_LIMITS if selection.audience is Kind.WEBHOOK else _LIMITS)
    digest = headings.with_long_title(digest.keep(selection.sections))
    entries = entries_of(digest, selection.density, series.research_url, pictures)
    if not any(entry.number for entry in entries):
        raise UsageError(f"nothing to send in {edition or series.id}: no items in this selection; choose more sections")
    book = _Book(templates, digest, series, selection, entries, read_url, note)
    for share in (1.0, 0.95, 0.8):  # an operator's template may be less regular than ours
        cards = book.cards(Size(int(limits.body_bytes * share), int(limits.elements * share)))
        if all(card.fits(limits) for card in cards):
            return cards
    raise BotError(f"the digest does not fit cards of {limits.body_bytes} bytes; make the template smaller")


class _Book:
    """One digest for one selection: what is the same on every part, and the parts."""

    def __init__(
        self,
        templates: CardTemplates,
        digest: Digest,
        series: Series,
        selection: Selection,
        entries: tuple[Entry, ...],
        read_url: str | None,
        note: Words | None,
    ) -> None:
        self._templates = templates
        self._note = note
        self._entries = entries
        self._items = sum(1 for entry in entries if entry.number)
        self._is_crowded = are_crowded(entry.atoms for entry in entries)
        self._minutes = headings.minutes(digest, entries, selection.density)
        self._page = DigestView(
            title=headings.title(digest, series.name),
            subtitle=headings.subtitle(digest),
            colour=header_colour(series),
            summary=headings.summary(entries),
            contents_zh="",
            contents_en="",
            buttons=tuple(
                one for one in _buttons(series, selection.audience, read_url) if one.url or selection.calls_back
            ),
        )
        self._shapes: dict[EntryView, Size] = {}
        self._empty = self._measure(())

    def cards(self, limit: Size) -> tuple[Card, ...]:
        """All parts, planned for `limit` and then rendered, each once."""
        passages = [self._passage(number) for number in range(len(self._entries))]
        # A part that begins inside a section shows its name again; the costliest one stands for all.
        names = {escape(entry.section) for entry in self._entries}
        again = max((self._size(EntryView(rule=True, section=name)) for name in names), key=lambda size: size.bytes)
        parts = split(passages, limit - self._empty - again)
        return tuple(self._render(part, number, len(parts)) for number, part in enumerate(parts, start=1))

    def _render(self, part: Part, number: int, parts: int) -> Card:
        views: list[EntryView] = []
        group = 0
        tables = Tables()
        for piece in part:
            entry = self._entries[piece.passage]
            views.append(_entry_view(entry, piece, tables, rule=entry.group != group))
            group = entry.group
        numbers = [self._entries[piece.passage].number for piece in part]
        return self._card(views, [n for n in numbers if n], number, parts)

    def _card(self, views: Sequence[EntryView], numbers: Sequence[int], number: int, parts: int) -> Card:
        position = f"{number}/{parts}" if parts > 1 else ""
        zh, en = headings.contents(self._items, self._minutes, numbers if number > 1 else ())
        if self._note is not None:
            zh, en = f"{zh} · {self._note.zh}", f"{en} · {self._note.en}"
        view = replace(
            self._page,
            subtitle=" · ".join(filter(None, (self._page.subtitle, position))),
            summary=" ".join(filter(None, (position, self._page.summary))),
            contents_zh=zh,
            contents_en=en,
            entries=tuple(views),
        )
        return self._templates.render("digest.json.j2", view)

    def _passage(self, number: int) -> Passage:
        entry = self._entries[number]
        group = self._entries[number - 1].group if number else 0
        first = _entry_view(entry, Slice(number, 0, 0), Tables(), rule=entry.group != group)
        again = _entry_view(entry, Slice(number, 1, 1), Tables(), rule=False)
        body = ("x",) if entry.atoms else ()  # its place, to be filled with atoms
        return Passage(
            self._size(replace(first, rest=first.rest or body)),
            self._size(replace(again, rest=body)),
            self._priced(entry.atoms, replace(again, rest=body)),
        )

    def _priced(self, atoms: tuple[Atom, ...], around: EntryView) -> tuple[Atom, ...]:
        """With the template's share of pictures, and room for the lists that tables may have to be."""
        if self._is_crowded:
            atoms = tuple(map(with_list, atoms))
        return tuple(self._with_share(atom, after, around) for atom, after in zip_longest(atoms, atoms[1:]))

    def _with_share(self, atom: Atom, after: Atom | None, around: EntryView) -> Atom:
        """A picture ends the markdown before it, and whatever follows but another begins anew."""
        if not isinstance(atom.line, PictureLine):
            return atom
        ends = after is None or isinstance(after.line, PictureLine)
        rest = (*around.rest, atom.line, *(() if ends else around.rest))
        cost = self._size(replace(around, rest=rest)) - self._size(around)
        return replace(atom, bytes=cost.bytes, elements=cost.elements)

    def _size(self, view: EntryView) -> Size:
        """What an entry adds to a part. The template's share depends only on which fields are there."""
        pieces = (*view.lead, *view.rest)
        texts = (view.section, view.heading, view.byline, view.label_zh, view.label_en)
        shape = replace(
            view,
            section=view.section and "x",
            heading=view.heading and "x",
            byline=view.byline and "x",
            lead=tuple(map(_shape, view.lead)),
            rest=tuple(map(_shape, view.rest)),
            label_zh=view.label_zh and "x",
            label_en=view.label_en and "x",
        )
        if shape not in self._shapes:
            self._shapes[shape] = self._measure((shape,)) - self._empty
        return self._shapes[shape] + Size(sum(map(wire_bytes, texts)) + sum(map(_bytes, pieces)), 0)

    def _measure(self, views: Sequence[EntryView]) -> Size:
        card = self._card(views, (self._items, self._items + 1), 999, 999)  # no header is wider
        return Size(card.bytes, card.elements)


def _entry_view(entry: Entry, piece: Slice, tables: Tables, *, rule: bool) -> EntryView:
    first = piece.start == 0
    run = entry.atoms[piece.start : piece.stop]
    zh, en = _label(entry, run or entry.atoms, first=first) if entry.folded else ("", "")
    return EntryView(
        rule=rule,
        section=escape(entry.section) if rule else "",
        heading=entry.heading if first else entry.again,
        byline=entry.byline if first else "",
        lead=entry.lead if first else (),
        rest=behind(entry.mark if first and not entry.lead else "", run, tables),
        label_zh=zh,
        label_en=en,
        small=entry.small,
    )


def _label(entry: Entry, run: Sequence[Atom], *, first: bool) -> tuple[str, str]:
    """What is to be tapped; that of the intro has no heading that would say where a part goes on."""
    if entry.number:
        return waiting(run)
    return ("写在前面", "Foreword") if first else (f"写在前面{CONTINUED}", "Foreword (continued)")


def _shape(piece: Piece) -> Piece:
    return "x" if isinstance(piece, str) else shape(piece)


def _bytes(piece: Piece) -> int:
    return wire_bytes(piece) if isinstance(piece, str) else picture_bytes(piece)


def _buttons(series: Series, audience: Kind, read_url: str | None) -> tuple[Button, ...]:
    """The way to the subscription comes first in a group, as not all there have one, else the way to the text."""
    subscribe = act("订阅社区精选", "Subscribe", SetSubscription(series.id, on=True), "primary")
    leave = act("退订", "Unsubscribe", SetSubscription(series.id, on=False))
    read = go("阅读全文", "Read online", read_url)
    if audience is not Kind.GROUP:
        read = tuple(replace(one, type="primary") for one in read)
    research = series.research_url or ""  # with a place for an item's title or address it belongs to the items
    return (
        *((subscribe,) if audience is Kind.GROUP else ()),
        *read,
        *community(series),
        *(go("深度研究", "Research", research) if "{" not in research else ()),
        *((act("设置", "Settings", ShowSettings(series.id)), leave) if audience is Kind.USER else ()),
    )
