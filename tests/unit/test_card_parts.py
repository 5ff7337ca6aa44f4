"""A digest over several cards: budgets, order, completeness."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.cards.digest_card import digest_cards
from bot.cards.formulas import unicode_of
from bot.cards.render import Limits
from bot.cards.templates import CardTemplates, template_folder
from bot.domain.audience import Density, Kind, Selection
from bot.domain.digest import Digest, Formula, Item, Link, Paragraph, Section, Text
from bot.domain.errors import BotError, UsageError
from tests.builders import make_cards, make_digest, make_item, make_paragraphs, make_series
from tests.unit.card_reader import assert_legal, buttons, contents, links, shown, squeezed, story, tree
from tests.unit.test_card_text import HOSTILE

URL = "https://read.example.com/p"

_INLINES = st.one_of(
    st.builds(Text, HOSTILE),
    st.builds(lambda text, times: Text(text * times), HOSTILE, st.integers(100, 1_000)),
    st.builds(Link, st.just(URL), st.text(alphabet="链接<*", min_size=1, max_size=9)),
    st.builds(Formula, st.sampled_from(["x_1", r"\frac{a}{b}", "(L, D)", r"\foo{a}"]), st.just("$x$")),
)
_BLOCKS = st.lists(st.builds(Paragraph, st.lists(_INLINES, max_size=5).map(tuple)), max_size=5).map(tuple)
_ITEMS = st.lists(
    st.builds(
        Item,
        key=st.uuids().map(str),
        title=st.none() | HOSTILE,
        url=st.none() | st.just(URL),
        blocks=_BLOCKS,
        source=st.none() | HOSTILE,
        tags=st.lists(HOSTILE, max_size=2).map(tuple),
    ),
    max_size=4,
).map(tuple)
_DIGESTS = st.builds(
    Digest,
    title=st.none() | HOSTILE,
    day=st.none() | st.dates(),
    label=st.none() | HOSTILE,
    intro=_BLOCKS,
    outro=_BLOCKS,
    sections=st.lists(st.builds(Section, st.none() | HOSTILE, _ITEMS), min_size=1, max_size=3).map(tuple),
)


def seen(inline) -> str:
    if isinstance(inline, Formula):
        return unicode_of(inline.tex) or inline.tex.replace("`", "‘")
    return inline.text


@settings(max_examples=30, deadline=None)
@given(_DIGESTS, st.sampled_from(Density), st.sampled_from(Kind))
def test_any_digest_makes_legal_cards_within_their_limits(digest, density, audience):
    """Valid JSON, documented properties only, budgets kept, no markup that is not ours; or nothing to send."""
    limits = Limits(body_bytes=18_000)
    try:
        parts = make_cards(digest, density, audience, limits=limits)
    except UsageError:
        return
    for part in parts:
        assert_legal(part)
        assert part.fits(limits)
        assert "<at" not in part.body
        assert not [shown(one) for one in contents(part) if not one]
        for _, url in (pair for one in contents(part) for pair in links(one)):
            assert url == URL


@settings(max_examples=30, deadline=None)
@given(_ITEMS, st.sampled_from([Density.STANDARD, Density.FULL]))
def test_all_text_of_all_items_is_there_in_order(items, density):
    """Content is never lost: leads and rests of all parts, put together, are the items' text."""
    titled = tuple(replace(item, title="标题", source=None, tags=()) for item in items)

    parts = make_cards(make_digest([make_item(), *titled]), density, limits=Limits(body_bytes=15_000))

    texts = [seen(one) for item in (make_item(), *titled) for block in item.blocks for one in block.inlines]
    assert story(parts) == squeezed("".join(texts))


@pytest.mark.parametrize("density", [Density.STANDARD, Density.FULL])
@pytest.mark.parametrize(
    "text",
    [
        "这是一句不长的话。" * 2_300,
        "字" * 20_000,
        '"\\\n' * 15_000,
        "One sentence of English text. " * 2_000,
        "<at id=all></at>" * 3_000,
    ],
    ids=["60 KB", "no punctuation", "quotes", "English", "tags"],
)
def test_a_single_item_of_any_length_is_complete(text, density):
    """Several parts, each within the limits, each well filled, nothing lost at the seams."""
    parts = make_cards(make_digest([make_item(text=text)]), density)

    assert story(parts) == squeezed(text)
    assert all(part.fits(Limits()) for part in parts)
    assert all(part.bytes > 0.85 * 28_000 for part in parts[:-1])


def test_parts_are_numbered_and_a_cut_item_says_so():
    """「2/3」 in the header, 「（续）」 at the item, the section's name again, numbers running on."""
    digest = make_digest([make_item(1), make_item(2, text="这是一句不长的话。" * 2_300), make_item(3)])

    parts = make_cards(digest)

    total = len(parts)
    assert total > 2
    assert [tree(part)["header"]["subtitle"]["content"] for part in parts] == [
        f"{n}/{total}" for n in range(1, total + 1)
    ]
    headings = [[shown(one) for one in contents(part, "heading")] for part in parts]
    assert headings[1] == ["2. 第 2 篇：流水线怎样排得更满（续）"]
    assert headings[-1][-1] == "3. 第 3 篇：流水线怎样排得更满"
    assert all("学习" in part.body for part in parts)
    assert "第 2 条，共 3 条" in parts[1].body


def test_every_part_has_its_header_and_its_footer():
    """Whichever part a reader opens, the way out is there."""
    parts = make_cards(make_digest([make_item(text="字。" * 9_000)]))

    assert len(parts) > 1
    assert all("退订" in buttons(part) for part in parts)


@pytest.mark.parametrize("spare", [-26, -25, -1, 0, 1, 25, 300])
def test_header_and_footer_count_in_every_part(spare):
    """Around the size at which one part becomes two, none is over the limit and nothing is lost."""
    text = "字，字。" * 900
    digest = make_digest([make_item(text=text)])
    limits = Limits(body_bytes=make_cards(digest)[0].bytes + spare)

    parts = make_cards(digest, limits=limits)

    assert len(parts) == (1 if spare == 300 else len(parts))
    assert all(part.fits(limits) for part in parts)
    assert story(parts) == text


def test_ordinary_items_are_not_cut():
    """Splits fall between items while that wastes little."""
    digest = make_digest([make_item(n, text=("一句话，不长也不短。" * 30, "又一句话。" * 20)) for n in range(1, 61)])

    parts = make_cards(digest)

    assert len(parts) > 1
    assert not [part for part in parts if "（续）" in part.body]
    assert len(parts) <= 1.2 * sum(part.bytes for part in parts) / 28_000 + 1


def test_many_items_keep_the_element_limit():
    """150 elements are reached before the bytes are."""
    parts = make_cards(make_digest(200), Density.BRIEF)

    assert all(part.elements <= 150 for part in parts)
    assert sum(len(contents(part, "heading")) for part in parts) == 200


def test_an_endless_title_goes_on_as_text():
    """A link is never cut, and the title is all there."""
    title = "很长的标题" * 100

    parts = make_cards(make_digest([make_item(title=title, text="正文。")], title="日报" * 500))

    headings = "".join(shown(one) for one in contents(parts[0], "heading"))
    assert headings.removeprefix("1. ") + story(parts) == title + "正文。"
    assert "日报" * 500 in "".join(contents(parts[0], "notation"))


def test_the_outro_ends_the_last_part():
    """After all items, before the buttons."""
    parts = make_cards(make_digest([make_item(text="字。" * 9_000)], outro=make_paragraphs("明天见。")))

    assert contents(parts[-1])[-1] == "明天见。"
    assert not [part for part in parts[:-1] if "明天见" in part.body]


def test_an_intro_of_any_length_is_split_too():
    """All of it, before the items."""
    parts = make_cards(make_digest(1, intro=make_paragraphs("欢迎阅读。" * 5_000)))

    texts = [one for part in parts for one in contents(part, "notation")]
    assert squeezed("".join(texts)).count("欢迎阅读。") == 5_000
    assert "写在前面（续）" in parts[1].body


def test_a_custom_bots_card_is_smaller():
    """Its request may have 20 KB, an app's 30."""
    digest = make_digest([make_item(text="一句话。" * 8_000)])

    assert max(part.bytes for part in make_cards(digest)) > 18_000
    assert max(part.bytes for part in make_cards(digest, audience=Kind.WEBHOOK)) <= 18_000


def test_a_template_that_grows_unevenly_is_planned_again(tmp_path):
    """An operator's own template may cost more than the plan thought; the limit holds all the same."""
    folder = template_folder() / "cards"
    uneven = (folder / "digest.json.j2").read_text(encoding="utf-8")
    heavy = '{% if view.entries | length > 9 %},{"tag": "hr", "margin": {{ "9" * 900 }}}{% endif %}'
    (tmp_path / "digest.json.j2").write_text(uneven.replace(" ]}}", f"{heavy} ]}}}}"), encoding="utf-8")
    selection = Selection(density=Density.FULL)
    digest = make_digest([make_item(number, text="一句话。" * 150) for number in range(1, 40)])

    parts = digest_cards(CardTemplates(tmp_path), digest, make_series(), selection, edition=None)

    assert "9" * 900 in parts[0].body
    assert all(part.fits(Limits()) for part in parts)


def test_limits_below_one_item_are_an_error():
    """Not an endless loop and not a card over the limit."""
    with pytest.raises(BotError, match="raise the limit"):
        make_cards(make_digest(), limits=Limits(body_bytes=1_500))
