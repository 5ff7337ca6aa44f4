"""What an editor is told before an edition goes out, and what is not worth telling."""

from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.cards.render import Card
from bot.domain.audience import Density
from bot.domain.contacts import emails, masked, phones
from bot.domain.digest import Digest, Link, Paragraph, Section, Text
from bot.domain.rate import Rate
from bot.ports import LinkAnswer, LinkState
from bot.services.preflight import Concern, Extent, Finding, Outline, Preflight, addresses, examine
from tests.builders import DAY, make_cards, make_digest, make_item, make_paragraphs

NOBODY = Rate(1.0, 0.0)


def look(digest: Digest, cards: Mapping[Density, Sequence[Card]] | None = None, **known: Any) -> Preflight:
    """Examine a digest of which nothing else is known."""
    return examine(digest, cards or {}, **{"answers": {}, "earlier": [], "receivers": {}, "rate": NOBODY, **known})


def told(digest: Digest) -> list[tuple[Concern, int | None, str]]:
    """Findings without what only a button needs."""
    return [(one.concern, one.number, one.detail) for one in look(digest).findings]


def test_a_digest_that_is_well_has_no_findings():
    """Three items with text and links, all of which answer."""
    digest = make_digest(3)

    assert look(digest, answers={url: LinkAnswer(LinkState.OK) for url in addresses(digest)}).findings == ()


def test_the_outline_has_all_sections_and_the_first_titles():
    """An item without a title is named by how it begins; a long section is counted."""
    short = Section(None, (make_item(1, title=None, text="没有题目的一条。"),))
    long = Section("论文", tuple(make_item(number, title=f"第 {number} 篇") for number in range(2, 22)))

    outline = look(Digest(day=DAY, sections=(short, long))).outline

    assert outline == (
        Outline(None, 1, ("没有题目的一条。",)),
        Outline("论文", 20, tuple(f"第 {number} 篇" for number in range(2, 10))),
    )


def test_the_cost_is_counted_from_the_cards_themselves():
    """Parts and bytes at each density, and calls for those who take it."""
    digest = make_digest(120)
    cards = {density: make_cards(digest, density) for density in (Density.BRIEF, Density.FULL)}
    parts = len(cards[Density.FULL])

    preflight = look(digest, cards=cards, receivers={Density.BRIEF: 100, Density.FULL: 10}, rate=Rate(0.5, 10.0))

    assert preflight.extents == tuple(
        Extent(density, len(made), sum(one.bytes for one in made)) for density, made in cards.items()
    )
    assert parts > 1
    assert (preflight.receivers, preflight.calls) == (110, 100 * len(cards[Density.BRIEF]) + 10 * parts)
    assert preflight.estimate_s == (preflight.calls - 10) * 0.5


def test_a_missing_day_and_missing_items_come_first():
    """Nothing can be published so."""
    assert told(Digest(title="灯塔日报")) == [(Concern.NO_DAY, None, ""), (Concern.NO_ITEMS, None, "")]


def test_what_is_missing_is_found_at_its_item():
    """Numbers run on through the sections, as on the cards."""
    sections = (
        Section("学习", (make_item(1), make_item(2, text=()))),
        Section("论文", (make_item(3, text="损失写成 [公式] 的形式。"), make_item(4, title="论 [Math] 之美"))),
    )

    assert told(Digest(day=DAY, sections=sections)) == [
        (Concern.NO_TEXT, 2, ""),
        (Concern.HOLE, 3, ""),
        (Concern.HOLE, 4, ""),
    ]


def test_links_that_do_not_answer_are_told_with_their_reason():
    """The item's own and those in its text, dead and unclear ones apart, each once an item."""
    gone, unsure = (
        LinkAnswer(LinkState.DEAD, "页面不存在（404）"),
        LinkAnswer(LinkState.UNCLEAR, "没有确认：等不到回应"),
    )
    again = Paragraph((Text("见"), Link("https://read.example.com/p/1", "此处"), Link("https://b.example/", "彼处")))
    digest = make_digest([make_item(1, blocks=(again,))], intro=(Paragraph((Link("https://c.example/", "社区"),)),))

    findings = look(
        digest,
        answers={"https://read.example.com/p/1": gone, "https://b.example/": unsure, "https://c.example/": gone},
    ).findings

    assert addresses(digest) == ("https://c.example/", "https://read.example.com/p/1", "https://b.example/")
    assert findings == (
        Finding(Concern.DEAD_LINK, None, "开头", "页面不存在（404）", "https://c.example/"),
        Finding(
            Concern.DEAD_LINK, 1, "第 1 篇：流水线怎样排得更满", "页面不存在（404）", "https://read.example.com/p/1"
        ),
        Finding(Concern.UNCLEAR_LINK, 1, "第 1 篇：流水线怎样排得更满", "没有确认：等不到回应", "https://b.example/"),
    )


def before(item: Any, days: int = 1, label: str | None = None) -> tuple[str, Digest]:
    """An earlier edition with that item."""
    day = DAY - timedelta(days=days)
    return f"daily/{day}", make_digest([item], day=day, label=label)


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({}, id="the same"),
        pytest.param({"title": "改过的题目", "text": "改过的字"}, id="the same link"),
        pytest.param({"url": "http://READ.example.com/p/1/?utm_source=x#top", "text": "别的"}, id="a decorated link"),
        pytest.param({"url": "https://mirror.example.com/1"}, id="the same words"),
        pytest.param({"url": None, "title": "第 1 篇： 流水线怎样排得更满"}, id="the same words but for blanks"),
    ],
)
def test_a_story_that_was_there_before_is_told_with_its_edition(changes):
    """By its link however decorated, else by title and text."""
    (found,) = look(make_digest([make_item(1)]), earlier=[before(make_item(1, **changes))]).findings

    assert (found.concern, found.number, found.detail, found.day) == (
        Concern.REPEAT,
        1,
        "daily/2025-03-07",
        DAY - timedelta(days=1),
    )


@pytest.mark.parametrize(
    "edition",
    [
        pytest.param(before(make_item(2)), id="another story"),
        pytest.param(before(make_item(1, url="https://b.example/", text="别的内容")), id="a column's title alone"),
        pytest.param(before(make_item(1), days=0), id="this edition itself"),
        pytest.param(before(make_item(1), days=91), id="long ago"),
        pytest.param(("daily/x", make_digest([make_item(1)], day=None)), id="a digest that never went out"),
    ],
)
def test_what_is_no_repeat(edition):
    """An editor who is told too much reads nothing."""
    assert look(make_digest([make_item(1)]), earlier=[edition]).findings == ()


def test_a_title_alone_is_a_story_only_where_there_is_nothing_else():
    """Case and width of letters aside. With a link of its own it may be a column that comes every day."""
    bare, column = make_item(1, title="KV Cache 一览", url=None, text=()), make_item(2, title="每日一图", text=())
    earlier = before(make_item(1, title="ｋｖ cache 一览", url=None, text=()))
    other = before(make_item(2, title="每日一图", text=(), url="https://read.example.com/other"))

    repeats = look(make_digest([bare, column]), earlier=[earlier, other]).of(Concern.REPEAT)

    assert [one.number for one in repeats] == [1]


def test_the_last_edition_that_had_a_story_is_named():
    """In whatever order they come; another label of the same day is another edition."""
    earlier = [before(make_item(1), 5), before(make_item(1), 0, "资讯篇"), before(make_item(1), 90)]

    (found,) = look(make_digest([make_item(1)]), earlier=earlier).findings

    assert found.day == DAY


def test_contacts_are_found_where_a_reader_sees_them_and_told_masked():
    """In titles, texts and texts of links; not in addresses. The card that tells of them must pass the same audit."""
    link = Paragraph((Link("https://a.example/13900139000?to=x@b.example", "写信给 editor@mail.example.com"),))
    items = [
        make_item(1, title="热线 138-0013-8000 开通", blocks=(link, *make_paragraphs("https://a.example/13700137000"))),
        make_item(2, text="报名：+86 13800138000，或 13800138000。", source="qa@example.com"),
    ]

    preflight = look(make_digest(items, outro=make_paragraphs("群主 13900139000")))

    assert [(one.concern, one.number, one.detail) for one in preflight.findings] == [
        (Concern.PHONE, None, "139****9000"),
        (Concern.PHONE, 1, "138****8000"),
        (Concern.EMAIL, 1, "e***@mail.example.com"),
        (Concern.PHONE, 2, "138****8000"),
        (Concern.EMAIL, 2, "q***@example.com"),
    ]
    assert preflight.findings[1].title == "热线 138****8000 开通"
    assert phones(repr(preflight)) == ()


@pytest.mark.parametrize(
    "text",
    [
        "13800138000", "电话：138 0013 8000", "1380-013-8000", "(+86)13800138000", "0086-138-0013-8000",
        "8613800138000", "１３８００１３８０００", "138－0013－8000", "13700137000,13800138000", "微信13800138000同号",
    ],
)  # fmt: skip
def test_a_mobile_number_is_found_however_it_is_written(text):
    """With usual separators, in full width, next to Chinese text, in a list."""
    assert "138****8000" in phones(text)


@pytest.mark.parametrize(
    "text",
    [
        "arXiv:2503.13800", "138001380001", "7613800138000", "1741568220000", "¥13800138000", "$ 13800138000",
        "13800138000 元", "13,800,138,000", "0.13800138000", "10.1145/13800138000", "08:37-12:00",
        "150 2000 3000 4000", "2025-03-08 13:00", "12345678901", "138\n0013\n8000", "sha 13800138000ab",
        "https://a.example/13800138000",
    ],
)  # fmt: skip
def test_other_numbers_are_no_telephone(text):
    """Parts of longer ones, prices, times, identifiers, columns."""
    assert phones(text) == ()


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("联系editor.a+b@mail.example.com。", ("e***@mail.example.com",)),
        ("a@163.com，b@qq.com", ("a***@163.com", "b***@qq.com")),
        ("读者＠example.com x＠example.com", ("x***@example.com",)),
        ("准确率 mAP@0.5 与 Pass@1.The next", ()),
        ("@reader @a.example foo@1.2.3 a@localhost", ()),
        ("https://a.example/@x/a@b.example", ()),
    ],
)
def test_an_e_mail_address_is_told_from_its_likes(text, found):
    """Metrics, mentions, versions and web addresses are none."""
    assert emails(text) == found


PIECES = [
    "138",
    "0013",
    "8000",
    "-",
    " ",
    "+86",
    "(86)",
    "a@b.com",
    "@163.com",
    "http://",
    "x",
    ".",
    ",",
    "电",
    "＠",
    "０",
]


@given(st.lists(st.sampled_from(PIECES), max_size=12).map("".join))
def test_a_masked_text_holds_no_contact_any_more(text):
    """Masked once, nothing is found, and masking again changes nothing."""
    hidden = masked(text)

    assert (phones(hidden), emails(hidden)) == ((), ())
    assert masked(hidden) == hidden


def test_a_title_that_no_card_shows_whole_is_told_with_its_length():
    """Mostly a paragraph that was taken for a title."""
    digest = make_digest([make_item(1, title="长" * 121), make_item(2, title="长" * 120)], title="报" * 130)

    assert told(digest) == [(Concern.LONG_TITLE, None, "130 字"), (Concern.LONG_TITLE, 1, "121 字")]
    assert max(len(one.title) for one in look(digest).findings) == 60


def test_a_day_beyond_the_calendar_is_no_trouble():
    """The first day there is has no ninety days before it."""
    assert look(make_digest([make_item(1)], day=date.min), earlier=[before(make_item(1))]).findings == ()
