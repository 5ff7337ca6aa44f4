"""Lists, quotes, code and styles on cards: bot/cards/lines.py, writing.py, inlines.py."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from bot.cards.inlines import paragraph
from bot.cards.render import Limits
from bot.cards.sentences import atoms_of
from bot.cards.writing import markdown
from bot.domain.audience import Density
from bot.domain.digest import (
    Code,
    CodeBlock,
    Emphasis,
    Heading,
    Link,
    Listing,
    Paragraph,
    Quote,
    Rule,
    Strong,
    Text,
)
from bot.sandbox.validator import check_card
from tests.builders import (
    make_cards,
    make_digest,
    make_item,
    make_listing,
    make_paragraphs,
    make_rich_digest,
    make_table,
)
from tests.unit.card_reader import assert_golden, contents, shown, squeezed, story

URL = "https://read.example.com/p"


def written(*blocks) -> str:
    return markdown(atoms_of(blocks))


@settings(max_examples=100, deadline=None)
@given(
    st.lists(
        st.one_of(
            st.builds(Text, st.text(alphabet="字a 。：“”(!$-", max_size=4)),
            st.builds(Code, st.just("x")),
            st.builds(lambda text: Strong((Text(text),)), st.text(alphabet="字a 。：“”(!$-", max_size=4)),
            st.builds(lambda text: Emphasis((Text(text),)), st.text(alphabet="字a 。：“”(!$-", max_size=4)),
            st.just(Strong((Text("粗"), Emphasis((Text("斜"),)), Link(URL, "链")))),
        ),
        max_size=5,
    )
)
def test_what_stands_out_does_so_by_the_rules_of_commonmark(inlines):
    """Beside Chinese punctuation too: no star is left over as text, and four never meet."""
    line = paragraph(inlines)

    assert "*" not in MarkdownIt().render(line)
    assert "****" not in line


@pytest.mark.parametrize(
    ("inlines", "line"),
    [
        ((Strong((Text("结论："),)), Text("我们")), "**结论：** 我们"),
        ((Text("很"), Strong((Text("重要"),)), Text("。")), "很**重要**。"),
        ((Strong((Text(" 粗 "),)), Text("细")), " **粗** 细".replace(" ", "&#32;", 1)),
        ((Strong((Text("甲"),)), Strong((Text("乙"),))), "**甲乙**"),
        ((Strong((Text("甲"),)), Emphasis((Text("乙"),))), "**甲** *乙*"),
        ((Strong((Emphasis((Text("都"),)),)),), "***都***"),
        ((Text("见"), Strong((Link(URL, "文"),)), Text("章")), f"见 **[文]({URL})** 章"),
        ((Text("用"), Code("a<b>"), Text("与"), Code("x`y")), "用`a< b>`与x&#96;y"),
    ],
)
def test_styles_are_written_as_the_platform_reads_them(inlines, line):
    """A space only where stars would be text; code with a back quote keeps its letters rather than its look."""
    assert paragraph(inlines) == line


def test_lists_are_lists():
    """Four spaces a level, numbers from where they start, further paragraphs in the same entry."""
    inner = make_listing("甲", "乙")

    text = written(make_listing("一", (*make_paragraphs("二", "又二"), inner), "三", start=9))

    assert text == "9. 一\n10. 二<br>又二\n    - 甲\n    - 乙\n11. 三"


def test_a_list_goes_on_after_what_cannot_stand_in_it():
    """Code and quotes begin at the left; the next number is the right one."""
    entries = ("一", (*make_paragraphs("二"), CodeBlock("x = 1")), (Quote(make_paragraphs("引")),), "四")

    assert written(make_listing(*entries, start=1)) == ("1. 一\n2. 二\n\n```\nx = 1\n```\n\n3. \u200b\n\n> 引\n\n4. 四")


def test_a_quote_is_one_block_with_bullets_of_its_own():
    """The dialect has no lists in quotes."""
    quote = Quote(
        (
            *make_paragraphs("她说：", "好。"),
            make_listing("甲", (make_listing("乙", start=2),)),
            Quote(make_paragraphs("他")),
        )
    )

    assert written(quote) == "> 她说：<br>好。<br>• 甲<br>\u20032&#46; 乙<br>他"


@pytest.mark.parametrize(
    "kind", [lambda inner: Listing(((*make_paragraphs("层"), inner),)), lambda inner: Quote((inner,))]
)
def test_deep_nesting_becomes_flat(kind):
    """A hundred levels are four, and their text is all there."""
    block = Paragraph((Text("底"),))
    for _ in range(100):
        block = kind(block)

    text = written(block)

    assert not re.search("^ {16}", text, re.MULTILINE)
    assert squeezed(shown(text)).endswith("底")


def test_a_heading_is_bold_and_a_rule_is_nothing():
    """A card draws its lines between items."""
    assert written(Heading(2, (Text("做法"),)), Rule(), *make_paragraphs("文")) == "**做法**\n\n文"


def test_code_keeps_its_lines_and_its_language():
    """The fence is longer than any inside, and a word that is no language is left out."""
    assert written(CodeBlock("\n\tif x:\n\n```\n", "python")) == "````python\n    if x:\n\n```\n````"
    assert written(CodeBlock("<at id=all>", "a b`")) == "```\n< at id=all>\n```"


def test_code_over_parts_is_closed_and_opened_again():
    """Between lines; no line is lost, each part is code, and the language is told each time."""
    code = "\n".join(f"value_{number} = compute({number})" for number in range(2_000))

    parts = make_cards(make_digest([make_item(blocks=(CodeBlock(code, "python"),))]), Density.FULL)

    assert len(parts) > 1
    assert all(contents(part, "normal")[0].startswith("```python\nvalue_") for part in parts)
    assert all(contents(part, "normal")[0].endswith(")\n```") for part in parts)
    assert story(parts) == squeezed(code)


@pytest.mark.parametrize("spare", range(-12, 13, 3))
def test_room_for_the_closing_fence_is_reserved(spare):
    """Around the size at which one part becomes two, none is over the limit."""
    digest = make_digest([make_item(blocks=(CodeBlock("x = 1\n" * 300 + "```"),))])
    limits = Limits(body_bytes=make_cards(digest, Density.FULL)[0].bytes + spare)

    parts = make_cards(digest, Density.FULL, limits=limits)

    assert all(part.fits(limits) for part in parts)
    assert story(parts) == squeezed("x = 1\n" * 300 + "```")


def test_an_endless_line_of_code_is_complete():
    """It is cut as a last resort, and back quotes without end do not make a fence without end."""
    code = "`" * 5_000 + '"\\' * 20_000

    parts = make_cards(make_digest([make_item(blocks=(CodeBlock(code),))]), Density.FULL)

    assert story(parts).replace("\u200d", "") == code


def test_the_number_of_an_item_without_a_title_stands_above_a_block():
    """In front of a list it would be its text."""
    item = make_item(title=None, blocks=(make_listing("甲", "乙"),))

    (card,) = make_cards(make_digest([item]), Density.FULL)

    assert contents(card, "normal") == ["**1.**\n\n- 甲\n- 乙"]


def test_writing_takes_time_in_proportion_to_the_text():
    """Ten times the blocks make ten times the text and atoms, whatever they are."""
    blocks = (make_listing("甲", start=1), Quote(make_paragraphs("乙")), CodeBlock("丙"), make_table(("丁",), ("戊",)))

    short, long = (atoms_of(blocks * times) for times in (10, 100))

    assert len(long) == 10 * len(short)
    assert sum(atom.bytes for atom in long) < 10.5 * sum(atom.bytes for atom in short)


@pytest.mark.parametrize("density", Density)
def test_the_rich_card_looks_as_it_did(density, request):
    """A change of a card is seen by a human: `pytest --update-golden`, then read the diff."""
    (card,) = make_cards(make_rich_digest(), density)

    assert (check_card(card.body).error, check_card(card.body).warnings) == (None, ())
    assert_golden(card, f"digest-rich-{density}", request)


@pytest.mark.parametrize(
    "below", [make_paragraphs("文。" * 150), (CodeBlock("x = 1\n" * 60),), (make_table(("列",), *[("值",)] * 60),)]
)
def test_a_heading_does_not_part_from_what_it_heads(below):
    """Neither a lead nor, while there is room, a part ends with one."""
    blocks = (*make_paragraphs("一句话。" * 15), Heading(2, (Text("做法"),)), *below)

    (card,) = make_cards(make_digest([make_item(blocks=blocks)]))
    parts = make_cards(make_digest([make_item(blocks=blocks * 30)]), Density.FULL)

    assert not contents(card, "normal")[0].endswith("**做法**")
    assert not [part for part in parts if contents(part, "normal")[0].endswith("**做法**")]
