"""Pictures of a digest: what could be shown as one, and what the platform holds."""

from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass

from bot.domain.digest import Block, Digest, Formula, Image, Inline, Listing, Paragraph, Quote, Text

FORMULA = "tex:"  # what the source of a formula begins with


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture that the platform holds for this app. `key`: its image_key; `width`, `height`: pixels on a screen."""

    key: str
    width: int
    height: int


# By source, as `source_of` names it. A source that is missing is shown as text or as a link.
Pictures = Mapping[str, Picture]


def source_of(block: Block) -> str | None:
    """What names a block that could be a picture: the address of an image, the TeX of a formula on its own line."""
    match block:
        case Image(url):
            return url
        case Paragraph((Formula(display=True) as formula,)):
            return _formula_source(formula)
        case _:
            return None


def set_off(block: Block, pictures: Container[str]) -> Iterator[Block]:
    """A paragraph cut around its display formulas that have a picture: each stands on a line of its own."""
    if not isinstance(block, Paragraph) or not any(one in pictures for one in _sources([block])):
        yield block
        return
    text: tuple[Inline, ...] = ()
    for inline in block.inlines:
        if isinstance(inline, Formula) and inline.display and _formula_source(inline) in pictures:
            if text:
                yield Paragraph(text)
            yield Paragraph((inline,))
            text = ()
        elif text or not isinstance(inline, Text):
            text = (*text, inline)
        elif inline.text.strip():  # blanks at the beginning of a line are none
            text = (Text(inline.text.lstrip()),)
    if text:
        yield Paragraph(text)


def sources(digest: Digest) -> tuple[str, ...]:
    """All sources of a digest, in order, each once."""
    blocks = (*digest.intro, *(block for item in digest.items for block in item.blocks), *digest.outro)
    return tuple(dict.fromkeys(_sources(blocks)))


def _sources(blocks: Iterable[Block]) -> Iterator[str]:
    for block in blocks:
        match block:
            case Image(url):
                yield url
            case Paragraph(inlines):
                yield from (_formula_source(one) for one in inlines if isinstance(one, Formula) and one.display)
            case Listing(entries):
                for entry in entries:
                    yield from _sources(entry)
            case Quote(inner):
                yield from _sources(inner)


def _formula_source(formula: Formula) -> str:
    return FORMULA + formula.tex.strip()
