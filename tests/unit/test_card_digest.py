"""The digest card: bot/cards/digest_card.py, entries.py, headings.py."""

from datetime import date

import pytest

from bot.cards.digest_card import digest_cards
from bot.domain.audience import Density, Kind, Selection
from bot.domain.digest import Formula, Image, Link, Paragraph, Section, Text
from bot.domain.errors import UsageError
from tests.builders import card_templates, make_cards, make_digest, make_item, make_paragraphs, make_series
from tests.unit.card_reader import (
    assert_golden,
    assert_legal,
    buttons,
    contents,
    links,
    shown,
    story,
    tagged,
    tree,
)


def test_a_standard_card_opens_with_the_lead_and_folds_the_rest():
    """Readable in two minutes; the whole text one tap away."""
    rest = "后面是细节，" * 8 + "完。"
    text = "第一句说明了问题，" * 8 + "完。" + rest * 8

    (card,) = make_cards(make_digest([make_item(text=text)]))

    panel = next(one for one in tagged(tree(card)) if one["tag"] == "collapsible_panel")
    assert contents(card, "normal")[0] == "第一句说明了问题，" * 8 + "完。"
    assert shown(panel["header"]["title"]["content"]) == f"展开全文 · {len(rest) * 8} 字"
    assert panel["expanded"] is False
    assert panel["elements"][0]["content"] == rest * 8


def test_a_short_text_has_nothing_to_fold():
    """No panel for a sentence or two."""
    (card,) = make_cards(make_digest(2))

    assert "展开全文" not in card.body


def test_a_full_card_has_everything_open():
    """No taps."""
    (card,) = make_cards(make_digest([make_item(text="一句话。" * 200)]), Density.FULL)

    assert "collapsible_panel" not in card.body
    assert story([card]) == "一句话。" * 200


def test_a_brief_card_has_titles_and_links_only():
    """And the first sentence where there is no title."""
    untitled = make_item(2, title=None, text="没有标题的第一句。第二句。")

    (card,) = make_cards(make_digest([make_item(1), untitled], intro=make_paragraphs("导语")), Density.BRIEF)

    assert contents(card, "heading") == [
        "**1. [第 1 篇&#58;流水线怎样排得更满](https://read.example.com/p/1)**".replace("&#58;", "：")
    ]
    assert contents(card, "normal") == ["**2.** 没有标题的第一句。 [原文](https://read.example.com/p/2)"]
    assert "第二句" not in card.body
    assert "导语" not in card.body


def test_an_item_without_a_title_begins_with_its_number():
    """Its first sentence is the lead, the link is in the small print."""
    (card,) = make_cards(make_digest([make_item(title=None, text="第一句。")]))

    assert contents(card, "normal") == ["**1.** 第一句。"]
    assert contents(card, "notation")[-1] == "[原文 read.example.com](https://read.example.com/p/1)"


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"title": "", "text": ()}, "read.example.com"),
        ({"title": "只有标题", "url": None, "text": ()}, "只有标题"),
        ({"title": None, "url": None, "blocks": (Image("data:x", "框架图"),)}, "[图片：框架图]"),
        ({"title": None, "url": "ftp://a.example.com/x", "text": ()}, "ftp://a.example.com/x"),
    ],
)
def test_an_item_is_shown_with_what_it_has(changes, expected):
    """Never an empty element."""
    (card,) = make_cards(make_digest([make_item(**changes)]))

    assert_legal(card)
    assert any(expected in shown(one) for one in contents(card))


def test_an_image_becomes_a_link_until_it_can_be_uploaded():
    """The platform refuses a card with an outside image; a picture is not lost either."""
    image = Image("https://img.example.com/a.png", "框架图")

    (card,) = make_cards(make_digest([make_item(blocks=(image,))]))

    assert "[图片：框架图](https://img.example.com/a.png)" in "".join(contents(card))


def test_source_and_tags_stand_in_the_small_print():
    """With the host of the link."""
    (card,) = make_cards(make_digest([make_item(source="量子评论", tags=("推理", "*"))]))

    assert shown(contents(card, "notation")[-1]) == "read.example.com · 量子评论 #推理 #*"


@pytest.mark.parametrize(
    ("changes", "title", "subtitle"),
    [
        ({}, "灯塔日报 3月8日", None),
        ({"day_end": date(2025, 3, 9), "label": "学术篇"}, "灯塔日报 3月8–9日", "学术篇"),
        ({"day": date(2025, 3, 31), "day_end": date(2025, 4, 1)}, "灯塔日报 3月31日–4月1日", None),
        ({"day": None}, "灯塔日报", None),
        ({"title": "晨报"}, "晨报", "3月8日"),
        ({"title": "晨报（ 3月8-9日学术篇）", "label": "学术篇"}, "晨报（ 3月8-9日学术篇）", None),
        ({"title": "晨报 2025-03-08", "label": "资讯篇"}, "晨报 2025-03-08", "资讯篇"),
        ({"title": "<at id=all></at>"}, "<\u200dat id=all><\u200d/at>", "3月8日"),
    ],
)
def test_the_header_says_series_day_and_label_once(changes, title, subtitle):
    """Own title first; a digest without a day shows none."""
    (card,) = make_cards(make_digest(**changes))

    header = tree(card)["header"]
    assert header["title"]["content"] == title
    assert header.get("subtitle", {}).get("content") == subtitle


def test_the_contents_line_counts_items_and_minutes():
    """About 400 characters a minute, at least one."""
    (short,) = make_cards(make_digest(2))
    (long,) = make_cards(make_digest([make_item(text="字" * 2_000 + "。")]))

    assert "2 条 · 约 1 分钟" in short.body
    assert "1 条 · 约 5 分钟" in long.body


def test_the_chat_list_shows_the_top_titles():
    """Short enough for one line."""
    (card,) = make_cards(make_digest([make_item(n, title=f"标题{n}") for n in range(1, 60)]), Density.BRIEF)

    summary = tree(card)["config"]["summary"]["content"]
    assert summary.startswith("标题1；标题2；标题3")
    assert len(summary) <= 130


def test_a_long_intro_waits_behind_its_label_and_a_short_one_is_open():
    """It does not push the news down, and comes on the first part only."""
    (short,) = make_cards(make_digest(intro=make_paragraphs("欢迎。")))
    parts = make_cards(make_digest([make_item(text="字。" * 9_000)], intro=make_paragraphs("欢迎阅读。" * 30)))

    assert contents(short, "notation")[0] == "欢迎。"
    assert ["写在前面" in part.body for part in parts] == [True] + [False] * (len(parts) - 1)


@pytest.mark.parametrize(
    ("audience", "expected"),
    [
        (
            Kind.USER,
            {
                "设置": {"v": 1, "set": "settings_shown", "series": "daily", "group": False},
                "退订": {"v": 1, "set": "subscription", "series": "daily", "on": False},
            },
        ),
        (Kind.GROUP, {"订阅社区精选": {"v": 1, "set": "subscription", "series": "daily", "on": True}}),
        (Kind.WEBHOOK, {}),
    ],
)
def test_buttons_are_those_of_the_audience(audience, expected):
    """People can choose and leave, group members subscribe for themselves, a custom bot's card cannot call back."""
    (card,) = make_cards(make_digest(), audience=audience)

    assert buttons(card) == {text: {"type": "callback", "value": value} for text, value in expected.items()}


@pytest.mark.parametrize(
    ("audience", "expected"),
    [
        (
            Kind.USER,
            [("阅读全文", "primary"), *((text, "default") for text in ("社区", "深度研究", "设置", "退订"))],
        ),
        (
            Kind.GROUP,
            [("订阅社区精选", "primary"), ("阅读全文", "default"), ("社区", "default"), ("深度研究", "default")],
        ),
        (Kind.WEBHOOK, [("阅读全文", "primary"), ("社区", "default"), ("深度研究", "default")]),
    ],
)
def test_the_footer_leads_to_the_whole_text_where_it_is_online(audience, expected):
    """In the order of their use, one of them first in looks; an address that is none makes no button."""
    series = make_series(community_url="https://team.example.com/", research_url="https://r.example.com/")
    selection = Selection(audience=audience)

    def footer(read_url):
        (card,) = digest_cards(card_templates(), make_digest(), series, selection, edition=None, read_url=read_url)
        return [one for one in tagged(tree(card)) if one["tag"] == "button"]

    shown_buttons = footer("https://bot.example.com/read/1")
    assert [(one["text"]["content"], one["type"]) for one in shown_buttons] == expected
    assert {"type": "open_url", "default_url": "https://bot.example.com/read/1"} in [
        behavior for one in shown_buttons for behavior in one["behaviors"]
    ]
    assert "阅读全文" not in [one["text"]["content"] for one in footer("javascript:alert(1)")]


def test_community_and_research_links_are_shown_where_configured():
    """The research link is filled with the item's title and address, safely."""
    series = make_series(
        colour="green",
        community_url="https://team.example.com/wiki",
        research_url="https://r.example.com/?q={title}&copy={url}",
    )
    (card,) = make_cards(make_digest([make_item(title="A&B {url}")]), series=series)

    assert buttons(card)["社区"] == {"type": "open_url", "default_url": "https://team.example.com/wiki"}
    assert (
        "深度研究",
        "https://r.example.com/?q=A%26B%20%7Burl%7D&%63opy=https%3A%2F%2Fread.example.com%2Fp%2F1",
    ) in links(contents(card, "notation")[-1])
    assert tree(card)["header"]["template"] == "green"


@pytest.mark.parametrize("audience", Kind)
def test_addresses_that_are_none_and_colours_that_are_none_do_no_harm(audience):
    """One wrong line of configuration never loses a card."""
    series = make_series(colour="mauve", community_url="javascript:alert(1)", research_url="not an address")

    (card,) = make_cards(make_digest(), audience=audience, series=series)

    assert tree(card)["header"]["template"] == "blue"
    assert "open_url" not in card.body


def test_only_the_selected_sections_are_shown():
    """Numbers run through what the reader sees."""
    sections = (Section("论文", (make_item(1),)), Section("产品", (make_item(2),)))
    selection = Selection(sections=frozenset({"产品"}))

    (card,) = digest_cards(card_templates(), make_digest(sections=sections), make_series(), selection, edition=None)

    assert [shown(one) for one in contents(card, "heading")] == ["1. 第 2 篇：流水线怎样排得更满"]


@pytest.mark.parametrize("items", [[], [make_item(title=None, url=None, text="\n \x00")]])
def test_a_digest_with_nothing_in_it_is_not_sent(items):
    """The reason names the edition."""
    with pytest.raises(UsageError, match="nothing to send in daily/2025-03-08"):
        make_cards(make_digest(items))


_SHOWCASE = make_digest(
    [
        make_item(1),
        make_item(
            2,
            title="引号“”与 <think> 标签 *不* 会变样",
            blocks=(
                Paragraph(
                    (
                        Text("注意力写作 "),
                        Formula(r"\frac{QK^T}{\sqrt{d}}", "$…$"),
                        Text("，其中 "),
                        Formula("(L, D)", ""),
                    )
                ),
                Paragraph((Text("代码见"), Link("https://code.example.com/a_b?x=1&copy=2", "仓库"), Text("。"))),
                *make_paragraphs("细节一：" + "在两台机器上重复了实验。" * 24, "细节二：售价 $5，提升 12.5%。"),
            ),
            source="编辑部",
            tags=("推理",),
        ),
        make_item(3, title=None, text="没有标题的摘录，见 [公式]。后面还有一句。"),
    ],
    label="学术篇",
    day_end=date(2025, 3, 9),
    intro=make_paragraphs("欢迎转给身边的同事。" * 8),
    outro=make_paragraphs("明天见。"),
)
_CONFIGURED = make_series(
    colour="turquoise",
    community_url="https://team.example.com/wiki",
    research_url="https://r.example.com/?q={title}",
)


@pytest.mark.parametrize("audience", Kind)
@pytest.mark.parametrize("density", Density)
def test_the_showcase_card_looks_as_it_did(density, audience, request):
    """A change of a card is seen by a human: `pytest --update-golden`, then read the diff."""
    (card,) = make_cards(_SHOWCASE, density, audience, series=_CONFIGURED)

    assert_legal(card)
    assert_golden(card, f"digest-{density}-{audience}", request)
