"""Any tree of blocks on cards, pictures among them: nothing lost, nothing live, nothing that the platform refuses."""

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from bot.cards.formulas import unicode_of
from bot.cards.render import Limits
from bot.domain.audience import Density, Kind
from bot.domain.digest import (
    Code,
    CodeBlock,
    Emphasis,
    Formula,
    Heading,
    Image,
    Link,
    Listing,
    Paragraph,
    Quote,
    Rule,
    Strong,
    Table,
    Text,
)
from bot.domain.pictures import Picture, source_of
from bot.sandbox.validator import check_card
from tests.builders import make_digest, make_item, make_paragraphs
from tests.unit.card_reader import assert_legal, contents, links, shown, squeezed, story, tables
from tests.unit.test_card_pictures import picture_cards
from tests.unit.test_card_text import HOSTILE

URL = "https://read.example.com/p"
TEX = ("x_1", r"\frac{a}{b}", r"\foo{a|b}", '<at id=all></at>"\\')
COLUMNS = "ⒶⒷⒸⒹⒺⒻ"  # names of columns, which a card may repeat; no other text has them

_LEAVES = st.one_of(
    st.builds(Text, HOSTILE),
    st.builds(Text, HOSTILE.map(lambda text: text * 90)),
    st.builds(Text, st.sampled_from(["", "[公式]", "见［公式］。", "a[Math][math]b"])),
    st.builds(Code, HOSTILE),
    st.builds(Link, st.just(URL), st.text(alphabet="链接<*|", min_size=1, max_size=9)),
    st.builds(Formula, st.sampled_from(["x_1", r"\frac{a}{b}", "(L, D)", "P(a|b)_1", r"\foo{a|b}"]), st.just("$x$")),
)
_INLINES = st.recursive(
    _LEAVES,
    lambda inner: st.builds(
        lambda kind, inlines: kind(tuple(inlines)), st.sampled_from([Strong, Emphasis]), st.lists(inner, max_size=3)
    ),
    max_leaves=4,
)
_RUNS = st.lists(_INLINES, max_size=3).map(tuple)
_SIMPLE = st.one_of(
    st.builds(Paragraph, _RUNS),
    st.builds(Heading, st.integers(1, 9), _RUNS),
    st.builds(CodeBlock, st.lists(HOSTILE, max_size=12).map("\n".join), HOSTILE),
    st.builds(Image, st.sampled_from([URL, "data:x"]), HOSTILE | HOSTILE.map(lambda text: text * 90)),
    st.builds(lambda tex: Paragraph((Formula(tex, "$$x$$", display=True),)), st.sampled_from(TEX)),
    st.just(Rule()),
)


@st.composite
def _tables(draw):
    names = tuple((Text(name),) for name in COLUMNS[: draw(st.integers(1, len(COLUMNS)))])
    return Table((names, *draw(st.lists(st.tuples(*(_RUNS for _ in names)), max_size=4))))


def _nested(inner, start):
    entries = st.lists(st.lists(inner, max_size=3).map(tuple), max_size=3).map(tuple)
    return st.builds(Listing, entries, start)


_QUOTED = st.recursive(_SIMPLE | _tables(), lambda inner: _nested(inner, st.none()), max_leaves=4)
_QUOTES = st.builds(Quote, st.lists(_QUOTED, max_size=3).map(tuple))
_TREES = st.recursive(
    _SIMPLE | _tables() | _QUOTES, lambda inner: _nested(inner, st.none() | st.integers(-1, 12)), max_leaves=8
)
_BLOCKS = st.lists(_TREES, min_size=1, max_size=4).map(tuple)
_HELD = st.dictionaries(
    st.sampled_from([URL, "data:x", *(f"tex:{tex}" for tex in TEX)]),
    st.builds(Picture, st.sampled_from(["img_v3_a", "img_v3_b"]), st.integers(1, 2_000), st.integers(1, 2_000)),
)


def seen(value, held=None) -> str:
    """What must be seen of blocks and inlines, in order. Those in `held` are pictures."""
    held = held or {}
    match value:
        case tuple() | list():
            return "".join(seen(one, held) for one in value)
        case Image() | Paragraph() if picture := held.get(source_of(value)):
            return f"⟦{picture.key}⟧{value.alt if isinstance(value, Image) else ''}"
        case Formula(tex):
            return unicode_of(tex) or tex.replace("`", "‘")
        case Text(text):
            return re.sub(r"[\[［](公式|[Mm]ath)[\]］]", "公式见原文", text)
        case Code(text) | Link(_, text) | CodeBlock(text):
            return text
        case Image(url, alt):  # a link as long as a paragraph becomes one, with a short link behind it
            return f"图片：{alt}{'read.example.com' if url == URL and len(alt) > 197 else ''}"
        case Strong(inner) | Emphasis(inner) | Paragraph(inner) | Heading(_, inner) | Listing(inner) | Quote(inner):
            return seen(inner, held)
        case Table(rows):
            return seen(rows)
        case Rule():
            return ""


def comparable(text: str) -> str:
    """Text without what cards may add: names of columns, bullets in quotes, brackets of dead pictures, joiners."""
    return re.sub(f"[{COLUMNS}：:•\\[\\]\u200b\u200d]", "", squeezed(text))


@settings(max_examples=80, deadline=None)
@given(st.lists(_BLOCKS, min_size=1, max_size=3), _HELD, st.sampled_from([Density.STANDARD, Density.FULL]))
def test_any_blocks_are_on_the_cards_whole_and_in_order(items, held, density):
    """Whatever an editor writes, a reader gets all of it, as text and pictures, on cards that the platform takes."""
    items = [make_paragraphs("首句。") + blocks for blocks in items]  # no picture comes before the first word
    digest = make_digest([make_item(number, blocks=blocks, text="") for number, blocks in enumerate(items, 1)])

    parts = picture_cards(digest, held, density, limits=Limits(body_bytes=12_000))

    assert comparable(story(parts)) == comparable(seen(items, held))
    for part in parts:
        assert_legal(part)
        assert part.fits(Limits(body_bytes=12_000))
        assert tables(part) <= 3
        assert {url for one in contents(part) for _, url in links(one)} <= {URL, *(f"{URL}/{n}" for n in range(1, 4))}
        assert (check_card(part.body).error, check_card(part.body).warnings) == (None, ())


@settings(max_examples=60, deadline=None)
@given(_BLOCKS, _HELD, st.sampled_from(Density), st.sampled_from(Kind))
def test_any_blocks_make_legal_cards_without_a_title_and_as_intro(blocks, held, density, audience):
    """Every way into a card is the same way."""
    digest = make_digest([make_item(title=None, blocks=blocks)], intro=blocks, outro=blocks)

    for part in picture_cards(digest, held, density, audience):
        assert_legal(part)
        assert part.fits(Limits())
        assert "<at" not in part.body
        assert density is not Density.BRIEF or '"img"' not in part.body
        assert not [shown(one) for one in contents(part) if not one]
        assert (check_card(part.body).error, check_card(part.body).warnings) == (None, ())
