"""Pictures and the holes where they are missing: bot/cards/pictures.py, picture_holes.py, leads.py."""

import re
from datetime import UTC
from pathlib import Path

import pytest

from bot.cards.digest_card import digest_cards
from bot.cards.inlines import paragraph
from bot.cards.picture_holes import without_holes
from bot.cards.render import Card, Limits
from bot.cards.sentences import atoms_of
from bot.cards.writing import markdown
from bot.domain.audience import Density, Kind, Selection
from bot.domain.digest import Code, Digest, Formula, Heading, Image, Link, Paragraph, Quote, Strong, Text
from bot.domain.pictures import FORMULA as FORMULA_SOURCE
from bot.domain.pictures import Picture, Pictures, sources
from bot.pictures.formula import draw
from bot.reading.plain_text import read_text
from bot.sandbox.validator import check_card
from tests.builders import (
    card_templates,
    make_digest,
    make_item,
    make_listing,
    make_paragraphs,
    make_rich_digest,
    make_series,
    make_table,
)
from tests.unit.card_reader import assert_golden, contents, links, shown, squeezed, story, tagged, tree

PHOTO = Image("https://img.example.com/a.png", "显存随长度的变化")
FORMULA = Paragraph((Formula(r"\frac{QK^T}{\sqrt{d}}", "$$…$$", display=True),))
URL = "https://read.example.com/p/1"
SEED = next((Path(__file__).parents[3] / "shared" / "seeds").glob("003_*.txt"), None)
LONG = "一句话，不长也不短。" * 30


def picture_cards(
    digest: Digest,
    pictures: Pictures | None = None,
    density: Density = Density.STANDARD,
    audience: Kind = Kind.USER,
    **options,
) -> tuple[Card, ...]:
    """The cards of a digest whose pictures the platform holds: these, or all of them."""
    if pictures is None:
        pictures = {
            source: Picture(f"img_v3_{number}", *((180, 60) if source.startswith("tex:") else (900, 500)))
            for number, source in enumerate(sources(digest))
        }
    selection = Selection(density=density, audience=audience)
    return digest_cards(card_templates(), digest, make_series(), selection, edition=None, pictures=pictures, **options)


def card_of(*blocks, density=Density.STANDARD, pictures=None, **changes) -> Card:
    (card,) = picture_cards(make_digest([make_item(blocks=blocks, **changes)]), pictures, density)
    return card


def found(card, kind):
    return [one for one in tagged(tree(card)["body"]) if one["tag"] == kind]


def test_a_photo_is_as_wide_as_the_card_and_says_what_it_shows():
    """A tap enlarges it; the small print below has its caption and leads to where it is from."""
    card = card_of(*make_paragraphs("看图。"), PHOTO)

    (img,) = found(card, "img")
    assert img == {
        "tag": "img",
        "img_key": "img_v3_0",
        "alt": {"tag": "plain_text", "content": "显存随长度的变化"},
        "scale_type": "fit_horizontal",
        "preview": True,
        "corner_radius": "6px",
    }
    caption = contents(card, "notation")[-1]
    assert shown(caption) == "显存随长度的变化 · 原图"
    assert links(caption) == [("原图", PHOTO.url)]


@pytest.mark.parametrize(
    ("image", "caption"),
    [
        (Image("https://img.example.com/a.png", ""), "原图"),
        (Image("feishu-media:boxcn1", "框架图"), "框架图"),
        (Image("feishu-media:boxcn1", " "), None),
    ],
)
def test_a_caption_says_what_there_is_to_say(image, caption):
    """An address that no browser opens is no link, and an empty line is none."""
    card = card_of(*make_paragraphs("看图。"), image)

    assert [shown(one) for one in contents(card, "notation")][2:] == ([caption] if caption else [])
    assert found(card, "img")[0]["alt"]["content"] == (image.alt.strip() or "图片")


@pytest.mark.parametrize(
    ("width", "height", "size"),
    [(280, 60, "280px 60px"), (281, 60, None), (1, 999, "1px 999px"), (9, 1_000, None), (0, 0, None)],
)
def test_a_formula_is_as_large_as_its_text_while_a_phone_has_room(width, height, size):
    """Else it is as wide as the card, and a tap enlarges it. Its alternative text is its TeX."""
    tex = FORMULA.inlines[0].tex
    card = card_of(*make_paragraphs("注意力："), FORMULA, pictures={f"tex:{tex}": Picture("img_v3_f", width, height)})

    (img,) = found(card, "img")
    assert (img["alt"]["content"], img.get("size"), img["preview"]) == (tex, size, size is None)
    assert img["scale_type"] == ("crop_center" if size else "fit_horizontal")


def test_what_the_platform_does_not_hold_is_shown_as_before():
    """A link with the caption, a formula as text."""
    card = card_of(*make_paragraphs("看图。"), PHOTO, FORMULA, pictures={})

    assert found(card, "img") == []
    assert "[图片：显存随长度的变化](https://img.example.com/a.png)" in "".join(contents(card))


def test_a_caption_without_end_is_all_there():
    """It goes on as text, which may be cut; a picture may not."""
    words = "很长的说明。" * 2_000
    parts = picture_cards(make_digest([make_item(blocks=(Image(PHOTO.url, words),))]), density=Density.FULL)

    assert len(parts) > 1
    assert story(parts) == f"⟦img_v3_0⟧{words}"
    assert all(len(found(part, "img")[0]["alt"]["content"]) <= 500 for part in parts[:1])


def test_pictures_stand_between_the_entries_of_a_list_and_of_a_quote():
    """As code does: numbers go on, and a quote is one again after it."""
    steps = make_listing("甲", (*make_paragraphs("乙："), PHOTO), (FORMULA, *make_paragraphs("丙")), "丁", start=1)
    quote = Quote((*make_paragraphs("她说"), PHOTO, *make_paragraphs("好")))

    card = card_of(steps, quote, density=Density.FULL)

    assert contents(card, "normal") == ["1. 甲\n2. 乙：", "3. \u200b", "丙\n\n4. 丁\n\n> 她说", "> 好"]
    assert [one["img_key"] for one in found(card, "img")] == ["img_v3_0", "img_v3_1", "img_v3_0"]


def test_a_short_item_is_open_with_all_its_pictures():
    """Nothing would be worth a tap."""
    card = card_of(*make_paragraphs("注意力写作："), FORMULA, *make_paragraphs("效果如图。"), PHOTO)

    assert found(card, "collapsible_panel") == []
    assert story([card]) == "注意力写作：⟦img_v3_0⟧效果如图。⟦img_v3_1⟧显存随长度的变化"


@pytest.mark.parametrize(
    ("blocks", "lead", "zh", "en"),
    [
        (
            (*make_paragraphs(LONG[:120]), PHOTO, *make_paragraphs(LONG * 4)),
            LONG[:120],
            "展开全文 · 1,200 字 · 1 图",
            "Read on · 1,200 characters · 1 picture",
        ),
        ((*make_paragraphs(LONG[:150]), PHOTO), LONG[:150], "看图", "See 1 picture"),
        ((*make_paragraphs("四张图。"), *[PHOTO] * 4), "四张图。", "看图 · 4 张", "See 4 pictures"),
        (
            (PHOTO, *make_paragraphs(LONG[:120], LONG)),
            LONG[:120],
            "展开全文 · 300 字 · 1 图",
            "Read on · 300 characters · 1 picture",
        ),
        (make_paragraphs(LONG), LONG[:120], "展开全文 · 180 字", "Read on · 180 characters"),
    ],
)
def test_a_lead_has_no_photo_and_a_label_says_what_waits(blocks, lead, zh, en):
    """A photo above the text waits too, so that an item begins with words."""
    card = card_of(*blocks)

    (panel,) = found(card, "collapsible_panel")
    label = panel["header"]["title"]["i18n_content"]
    assert "img" not in {one["tag"] for one in tree(card)["body"]["elements"]}
    assert contents(card, "normal")[0] == lead
    assert (shown(label["zh_cn"]), shown(label["en_us"])) == (zh, en)
    assert story([card]).count("⟦") == blocks.count(PHOTO)


@pytest.mark.parametrize(("text", "formulas"), [(LONG[:60], 1), (LONG[:100], 0)])
def test_a_lead_never_ends_before_the_formula_of_its_sentence(text, formulas):
    """A colon with nothing after it would be the worst place to stop: it ends behind the formula, or before both."""
    card = card_of(*make_paragraphs(text, "于是目标写作："), FORMULA, *make_paragraphs(LONG))

    opened = [one for one in tree(card)["body"]["elements"] if one["tag"] in {"markdown", "img"}]
    assert [one["tag"] for one in opened].count("img") == formulas
    assert contents(card, "normal")[0] == (f"{text}\n\n于是目标写作：" if formulas else text)


def test_a_formula_counts_with_what_is_seen_of_it():
    """Long TeX is short text: an item with some of it is not long."""
    inlines = (Text("其中 "), Formula(r"\boldsymbol{\mathrm{w}}_{\mathrm{k}+1}", "$…$"), Text(" 是权重。"))

    card = card_of(*[Paragraph(inlines)] * 8)

    assert found(card, "collapsible_panel") == []


def test_a_brief_card_has_no_pictures():
    """Titles and links; where there is no title, words."""
    card = card_of(PHOTO, *make_paragraphs("第一句。"), density=Density.BRIEF, title=None)

    assert found(card, "img") == []
    assert contents(card, "normal") == [f"**1.** [图片：显存随长度的变化]({PHOTO.url}) [原文]({URL})"]


def test_many_pictures_keep_both_limits_and_their_order():
    """The elements are used up before the bytes; parts are full, and no picture is lost."""
    blocks = [
        one for n in range(120) for one in (Image(f"https://img.example.com/{n}", "图"), *make_paragraphs("字。"))
    ]

    parts = picture_cards(make_digest([make_item(blocks=tuple(blocks))]), density=Density.FULL)

    assert [one["img_key"] for part in parts for one in found(part, "img")] == [f"img_v3_{n}" for n in range(120)]
    assert all(part.fits(Limits()) for part in parts)
    assert all(part.elements > 140 for part in parts[:-1])


def test_the_number_of_an_item_without_a_title_stands_above_its_picture():
    """There is no line to stand in."""
    card = card_of(PHOTO, title=None)

    assert contents(card, "normal") == ["**1.**"]
    assert [one["tag"] for one in tree(card)["body"]["elements"]][3:5] == ["markdown", "img"]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("见[公式]。", f"见[公式见原文]({URL})。"),
        ("a[Math]b", f"a [公式见原文]({URL}) b"),
        ("［公式］[math] [Formula]", f"[公式见原文]({URL}) [公式见原文]({URL}) [公式见原文]({URL})"),
        ("[Mathematics] [公 式]", "&#91;Mathematics&#93; &#91;公 式&#93;"),
    ],
)
def test_a_hole_says_where_its_formula_is(text, line):
    """Linked to the source, with a space only where it would run into its neighbour."""
    (block,) = without_holes(make_paragraphs(text), URL)

    assert paragraph(block.inlines) == line


def test_holes_are_found_everywhere_but_in_code_and_links():
    """A link is not cut, and code is code."""
    hole = Text("[公式]")
    blocks = (
        Heading(2, (hole,)),
        make_listing((Paragraph((Strong((hole,)),)),)),
        Quote((Paragraph((Link(URL, "[公式]"), hole, Code("[公式]"))),)),
        make_table(("列",), ("[公式]",)),
    )

    text = markdown(atoms_of(without_holes(blocks, None)))

    grey = "<font color='grey'>公式见原文</font>"
    assert text == (
        f"**{grey}**\n\n- **{grey}**\n\n> [&#91;公式&#93;]({URL}) {grey} `[公式]`\n\n| 列 |\n| --- |\n| {grey} |"
    )


def test_holes_of_items_lead_to_them_and_those_of_others_nowhere():
    """The intro has no source of its own, an item may have none; a title stays as it is written."""
    items = [
        make_item(1, title="解读 [公式]", text="设 [Math] 为温度。"),
        make_item(2, url=None, text="设 [Math] 为温度。"),
    ]
    (card,) = picture_cards(make_digest(items, intro=make_paragraphs("见[公式]。")))

    assert [links(one) for one in contents(card, "normal")] == [[("公式见原文", URL)], []]
    assert [squeezed(shown(one)) for one in contents(card, "normal")] == ["设公式见原文为温度。"] * 2
    assert contents(card, "notation")[0] == "见<font color='grey'>公式见原文</font>。"
    assert shown(contents(card, "heading")[0]) == "1. 解读 [公式]"


@pytest.mark.parametrize("density", [Density.STANDARD, Density.FULL])
def test_the_card_with_pictures_looks_as_it_did(density, request):
    """A change of a card is seen by a human: `pytest --update-golden`, then read the diff."""
    (card,) = picture_cards(make_rich_digest(), density=density, read_url="https://bot.example.com/read/1")

    assert (check_card(card.body).error, check_card(card.body).warnings) == (None, ())
    assert_golden(card, f"digest-pictures-{density}", request)


def test_a_display_formula_inside_a_paragraph_stands_on_a_line_of_its_own():
    r"""Editors write `\[ … \]` in the middle of a sentence; the words around it stay in order."""
    text = (
        Text("所以 "),
        Formula("a^2", r"\[a^2\]", display=True),
        Text(" 成立，而 "),
        Formula("b", "$b$"),
        Text(" 不变。"),
    )

    card = card_of(Paragraph(text))
    without = card_of(Paragraph(text), pictures={})

    assert [one["alt"]["content"] for one in found(card, "img")] == ["a^2"]
    assert [shown(one) for one in contents(card, "normal")] == ["所以 ", "成立，而 b 不变。"]
    assert [shown(one) for one in contents(without, "normal")] == ["所以 a² 成立，而 b 不变。"]


@pytest.mark.skipif(SEED is None, reason="the seeds are not beside the repository")
def test_the_hardest_formulas_of_a_real_digest_are_pictures_and_the_others_readable():
    """No TeX is left to read, and no dollar."""
    digest = read_text(SEED.read_bytes(), received_at=None, zone=UTC).digests[0]
    drawn = {}
    for number, source in enumerate(sources(digest)):
        ready = draw(source.removeprefix(FORMULA_SOURCE))
        drawn[source] = Picture(f"img_v3_{number}", ready.width, ready.height)

    for density in (Density.STANDARD, Density.FULL):
        cards = picture_cards(digest, drawn, density)

        assert len([one for card in cards for one in found(card, "img")]) == 3
        text = "".join(shown(one) for card in cards for one in contents(card, "normal"))
        assert not re.search(r"\\frac|\\sum|\\sqrt|\\text|\$", text)
        assert "1/√D" in text
