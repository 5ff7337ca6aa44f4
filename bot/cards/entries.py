"""Digest -> entries: the intro, each item and the outro in the words of a card, not yet cut into parts."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from urllib.parse import quote

from bot.cards.inlines import grey
from bot.cards.leads import covers, first_sentence, is_short, lead_length
from bot.cards.lines import TextLine
from bot.cards.picture_holes import without_holes
from bot.cards.sentences import Atom, atoms_of, text_of
from bot.cards.text import escape, host, link, link_url, plain
from bot.cards.writing import Piece, Tables, markdown, pieces
from bot.domain.audience import Density
from bot.domain.digest import Block, Digest, Item, Paragraph, Text
from bot.domain.pictures import Pictures

CONTINUED = "（续）"

_TITLE_CHARS = 200  # longer titles go on as text: a link cannot be cut
_SECTION_CHARS = 100  # a longer section name ends with …
_BYLINE_CHARS = 80  # longer sources and tags go to the end of the text
_INTRO_CHARS = 60  # a longer intro waits behind its label, so that it does not push the news down


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing a card shows. Strings are card markdown but `section` and `name`, which are plain.

    `atoms` may be cut; all else stays with the first of them. `mark` stands before the text of an item without a title.
    `folded` atoms wait behind a label. `number` is 0 for the intro and the outro. Entries of one `group` stand
    together: the intro is 0.
    """

    atoms: tuple[Atom, ...]
    number: int = 0
    group: int = 0
    section: str = ""
    name: str = ""
    heading: str = ""
    again: str = ""
    byline: str = ""
    mark: str = ""
    lead: tuple[Piece, ...] = ()
    folded: bool = False
    small: bool = False


def entries_of(
    digest: Digest, density: Density, research_url: str | None, pictures: Pictures | None = None
) -> tuple[Entry, ...]:
    """All entries, in order. Items are numbered through; one in which nothing would be seen is left out."""
    items: list[Entry] = []
    pictures = {} if density is Density.BRIEF or pictures is None else pictures
    for group, section in enumerate(digest.sections, start=1):
        name = shortened(plain(section.name or ""), _SECTION_CHARS)
        for item in section.items:
            entry = _item(item, len(items) + 1, density, research_url, pictures)
            if entry is not None:
                items.append(replace(entry, group=group, section=name))
    if density is Density.BRIEF:
        return tuple(items)
    return (*_intro(digest.intro, pictures), *items, *_outro(digest.outro, pictures))


def shortened(text: str, chars: int) -> str:
    """At most `chars` characters, the last one … if some are missing."""
    return text if len(text) <= chars else text[: chars - 1] + "…"


def behind(mark: str, run: Sequence[Atom], tables: Tables) -> tuple[Piece, ...]:
    """Atoms as a card shows them, behind the number of an item without a title: only a paragraph has room beside it."""
    match pieces(run, tables):
        case shown if not mark:
            return shown
        case (str(text), *more):
            return (f"{mark}{_gap(run)}{text}", *more)
        case shown:
            return (mark, *shown)


def _intro(blocks: tuple[Block, ...], pictures: Pictures) -> Iterator[Entry]:
    atoms = atoms_of(without_holes(blocks, None), pictures)
    if atoms:
        yield Entry(atoms, folded=sum(atom.chars for atom in atoms) > _INTRO_CHARS, small=True)


def _outro(blocks: tuple[Block, ...], pictures: Pictures) -> Iterator[Entry]:
    atoms = atoms_of(without_holes(blocks, None), pictures)
    if atoms:
        yield Entry(atoms, group=-1, small=True)


def _item(item: Item, number: int, density: Density, research_url: str | None, pictures: Pictures) -> Entry | None:
    title = plain(item.title or "")
    address = item.url if item.url and link_url(item.url) else None
    body = atoms_of(_body(item, title, address, density), pictures)
    if not title and not body:
        if address is None:
            return None
        title = host(address)
    entry = Entry(body, number, again=f"**{number}. {CONTINUED}**", mark="" if title else f"**{number}.**")
    if title:
        shown = title[:_TITLE_CHARS]
        linked = link(address, shown) if address else escape(shown)
        entry = replace(entry, heading=f"**{number}. {linked}**", again=f"**{number}. {linked}{CONTINUED}**")
    name = title or plain(text_of(body[: first_sentence(body)]))
    return _at_density(replace(entry, name=name), density, address, _byline(item, title, address, research_url))


def _at_density(entry: Entry, density: Density, address: str | None, byline: str) -> Entry:
    match density:
        case Density.STANDARD if not is_short(entry.atoms):
            return _led(replace(entry, byline=byline))
        case Density.STANDARD | Density.FULL:
            return replace(entry, byline=byline)
        case Density.BRIEF if entry.heading:
            return entry
        case Density.BRIEF:
            return _brief(entry, address)


def _led(entry: Entry) -> Entry:
    """Beginning with words, as many as make a lead; all else waits, the photos above it first."""
    above = covers(entry.atoms)
    end = above + lead_length(entry.atoms[above:])
    lead = behind(entry.mark, entry.atoms[above:end], Tables(0))
    return replace(entry, lead=lead, atoms=entry.atoms[:above] + entry.atoms[end:], folded=True)


def _brief(entry: Entry, address: str | None) -> Entry:
    """The first sentence of an item without a title, and where it goes on."""
    run = entry.atoms[: first_sentence(entry.atoms)]
    source = link(address, "原文") if address else ""
    lead = _gap(run).join(filter(None, (entry.mark, markdown(run, Tables(0)), source)))
    return replace(entry, lead=(lead,), atoms=())


def _gap(run: Sequence[Atom]) -> str:
    match run:
        case (Atom(TextLine(marker="", quoted=False)), *_):
            return " "
        case _:
            return "\n\n"


def _body(item: Item, title: str, address: str | None, density: Density) -> Iterator[Block]:
    """What may be cut of an item: its text, and whatever found no place in the heading or the byline."""
    if title[_TITLE_CHARS:]:
        yield Paragraph((Text(title[_TITLE_CHARS:]),))
    if density is Density.BRIEF and title:
        return
    yield from without_holes(item.blocks, address)
    if item.url and address is None:
        yield Paragraph((Text(item.url),))
    if len(_labels(item)) > _BYLINE_CHARS:
        yield Paragraph((Text(_labels(item)),))


def _byline(item: Item, title: str, address: str | None, research_url: str | None) -> str:
    """Small print: where a link leads, the research link, source and tags. A title is a link already."""
    parts = []
    if address:
        parts.append(grey(host(address)) if title else link(address, f"原文 {host(address)}"))
    research = research_link(research_url, title, address)
    if research:
        parts.append(link(research, "深度研究"))
    labels = _labels(item)
    if labels and len(labels) <= _BYLINE_CHARS:
        parts.append(grey(labels))
    return " · ".join(parts)


def research_link(template: str | None, title: str, url: str | None) -> str | None:
    """The research address of an item; None if the template asks for what the item does not have."""
    if not template or ("{title}" in template and not title) or ("{url}" in template and not url):
        return None
    filled = template.replace("{title}", quote(title, safe="")).replace("{url}", quote(url or "", safe=""))
    return filled if "{" in template and link_url(filled) else None


def _labels(item: Item) -> str:
    return " ".join(filter(None, (plain(item.source or ""), *(f"#{plain(tag)}" for tag in item.tags))))
