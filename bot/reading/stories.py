"""A story told twice is one item with all its text."""

from bot.domain.digest import Paragraph, Strong, Text, plain
from bot.reading.drafts import BodyDraft, ItemDraft, Notes, SectionDraft
from bot.reading.keys import normalised_link

_Place = tuple[SectionDraft, ItemDraft]


def tell_once(body: BodyDraft, notes: Notes) -> None:
    """Items with the same link become one.

    It stands where its text is; an overview gives its place only where the details have no section of their own.
    """
    known: dict[str, _Place] = {}
    told: dict[str, set[str]] = {}
    gone: set[int] = set()
    for section in body.sections:
        for item in section.items:
            link = normalised_link(item.url) if item.url else ""
            if link in known:
                kept, left = _places(known[link], (section, item))
                _unite(kept[1], known[link][1], item, told[link], notes)
                known[link] = kept
                gone.add(id(left[1]))
            elif link:
                known[link] = section, item
                told[link] = set(map(_text, item.paragraphs))
    for section in body.sections:
        section.items = [item for item in section.items if id(item) not in gone]
    _link_details(body, notes)
    for section in body.sections:
        if not section.items:
            notes.drop(section.line, section.name or "", "目录，正文中另有")
    body.sections = [section for section in body.sections if section.items]


def _link_details(body: BodyDraft, notes: Notes) -> None:
    """An overview that is all links, and details without any: the same title is the same story, none tells it twice."""
    details = {item.title: item for item in body.items if item.title and item.paragraphs and not item.url}
    for section in body.sections:
        for item in [item for item in section.items if item.url and not item.paragraphs and item.title in details]:
            if detail := details.pop(item.title or "", None):
                section.items = [other for other in section.items if other is not item]
                detail.url = item.url
                notes.drop(item.line, item.title or "", "同一条的重复")


def _places(first: _Place, second: _Place) -> tuple[_Place, _Place]:
    """Which of two places the story keeps, and which it leaves."""
    stays_first = bool(first[1].paragraphs) or (second[0].name is None and first[0].name is not None)
    return (first, second) if stays_first else (second, first)


def _unite(kept: ItemDraft, first: ItemDraft, second: ItemDraft, told: set[str], notes: Notes) -> None:
    """All text of both in `kept`, in the order of the source; what stands twice is told once.

    `told` are the texts of `first`, to which those of `second` are added.
    """
    title = first.title if first.paragraphs else second.title or first.title
    other = second.title if title == first.title else first.title
    again = [part for part in second.paragraphs if _text(part) not in told]
    for part in second.paragraphs:
        if _text(part) in told:
            notes.drop(second.line, _text(part), "重复的段落")
    told.update(map(_text, again))
    heading = [Paragraph((Strong((Text(other),)),))] if other and other != title and first.paragraphs else []
    if other and not heading:
        notes.drop(first.line if other == first.title else second.line, other, "同一条的重复")
    kept.paragraphs = [*first.paragraphs, *heading, *again]
    kept.title = title
    left = second if kept is first else first
    notes.drop(left.line, left.url or "", "重复的链接")
    kept.tags, kept.source = first.tags or second.tags, first.source or second.source
    kept.published_at = first.published_at or second.published_at
    kept.last_line = second.last_line


def _text(part: object) -> str:
    return part if isinstance(part, str) else plain((part,))  # type: ignore[arg-type]
