"""What holds for any tree of blocks and any Markdown."""

from collections import Counter
from datetime import datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.domain import digest as model
from bot.domain.digest import Block, Reading, links, plain
from bot.domain.errors import DigestError
from bot.reading.blocks import Document, Placed
from bot.reading.drafts import Notes
from bot.reading.json_shape import to_json
from bot.reading.markdown.reader import blocks_of, read_markdown
from bot.reading.structure import arrive, read_blocks
from tests.effort import calls_of

from .test_reading_cases import SHANGHAI, texts_of

quick = settings(deadline=None, max_examples=60, derandomize=True)

WORDS = (
    *(
        "学习",
        "资讯",
        "灯塔日报（3月8日）",
        "2025-03-09",
        "灯塔日报（3月9日学术篇）",
        "目录",
        "广告：便宜",
        "赞助",
        "【推广】春耕",
    ),
    *(
        "渡轮恢复夜航的消息",
        "旧仓库要改成书店",
        "每小时一班。",
        "来源：港口网",
        "Tags: 甲, 乙",
        "发布时间：2025-03-08 10:00",
    ),
    *(
        "1、甲",
        "一、乙",
        "#标题",
        "＃ 全角",
        "以上就是全部",
        "编辑：读者甲",
        "阅读原文",
        "↗",
        "背景",
        "声明",
        "概览",
        "null",
    ),
    *(
        "标题",
        "日期",
        "链接",
        "很长的一段话，没有说完" * 6,
        "x y z",
        "-",
        "[1] ",
        "（英文）",
        "明天见！",
        "更新于 2025-03-09",
    ),
)
LINKS = (
    "https://a.example.com/1",
    "https://a.example.com/1?utm_source=x",
    "https://b.example.com/2",
    "https://c.example.com/3",
)

TEXT = st.sampled_from(WORDS).map(model.Text)
LINK = st.builds(model.Link, st.sampled_from(LINKS), st.one_of(st.sampled_from(WORDS), st.sampled_from(LINKS)))
LEAF = st.one_of(TEXT, LINK, st.just(model.Code("#1")), st.just(model.Formula("x", "$x$")))
INLINES = st.lists(st.one_of(LEAF, st.builds(lambda inner: model.Strong((inner,)), LEAF)), min_size=1, max_size=3).map(
    tuple
)
SIMPLE = st.one_of(
    st.builds(model.Paragraph, INLINES),
    st.builds(model.Heading, st.integers(1, 9), INLINES),
    st.builds(model.CodeBlock, st.sampled_from(WORDS)),
    st.builds(model.Image, st.just("https://i.example.com/p.png"), st.sampled_from(("", "图"))),
    st.just(model.Rule()),
    st.lists(st.tuples(INLINES, INLINES), min_size=1, max_size=3).map(lambda rows: model.Table(tuple(rows))),
)
BLOCK: st.SearchStrategy[Block] = st.recursive(
    SIMPLE,
    lambda inner: st.one_of(
        st.builds(
            model.Listing,
            st.lists(st.lists(inner, min_size=1, max_size=2).map(tuple), min_size=1, max_size=3).map(tuple),
            st.sampled_from((None, 1)),
        ),
        st.builds(model.Quote, st.lists(inner, min_size=1, max_size=2).map(tuple)),
    ),
    max_leaves=4,
)
MARKS = (
    "# ",
    "## ",
    "### ",
    "- ",
    "1. ",
    "> ",
    "",
    "",
    "**",
    "* ",
    "    ",
    "|",
    "~~~",
    "---",
    "<b>",
    "<!-- ",
    "$$",
    "[",
    "](",
    "`",
)
MARK, WORD = st.sampled_from(MARKS), st.sampled_from(WORDS + LINKS)
MARKDOWN = st.one_of(
    st.lists(st.tuples(MARK, WORD, MARK).map("".join), max_size=12).map("\n".join),
    st.lists(st.tuples(MARK, WORD).map("".join), max_size=12).map("\n\n".join),
    st.text(alphabet="甲乙 a1\n#*_-[]()<>!|`~$:\\&;.。、", max_size=120),
)  # fmt: skip


def read_tree(blocks: list[Block]) -> Reading:
    """Blocks that reached us on 10 March 2025."""
    placed = tuple(Placed(number, block) for number, block in enumerate(blocks, start=1))
    arrived = arrive(None, datetime(2025, 3, 10, 8, tzinfo=SHANGHAI), SHANGHAI)
    return read_blocks(Document(placed), arrived, Notes())


def read_or_none(text: str) -> Reading | None:
    """The reading of Markdown, or None where it is refused."""
    try:
        return read_markdown(text.encode(), received_at=datetime(2025, 3, 10, 8, tzinfo=SHANGHAI), zone=SHANGHAI)
    except DigestError:
        return None


def letters(text: str) -> Counter[str]:
    """Letters that people read; signs and digits may be marks of a list or a day."""
    return Counter(char for char in text if char.isalpha())


def known_letters(reading: Reading) -> Counter[str]:
    """All letters of a reading, addresses and what items know of themselves included."""
    found = texts_of(reading)
    for digest in reading.digests:
        for item in digest.items:
            found += [item.url or "", item.source or "", *item.tags]
        for blocks in (digest.intro, digest.outro, *(item.blocks for item in digest.items)):
            found += [link.url for link in links(blocks)]
    return letters("".join(found))


def assert_sound(reading: Reading) -> None:
    """Items say something, sections are not empty, keys are unique."""
    assert reading.digests
    for digest in reading.digests:
        assert all(section.items and section.name != "" for section in digest.sections)
        assert all(item.title or item.url or item.blocks for item in digest.items)
        assert all(item.title != "" and item.url != "" for item in digest.items)
        assert len({item.key for item in digest.items}) == len(digest.items)
    assert len(to_json(reading)["digests"]) == len(reading.digests)


@quick
@given(st.lists(BLOCK, max_size=10))
def test_no_letter_of_any_tree_of_blocks_is_lost(blocks):
    """Every letter is in the digest or in the dropped list."""
    # when
    reading = read_tree(blocks)

    # then
    assert letters(plain(blocks)) - known_letters(reading) == Counter()


@quick
@given(st.lists(BLOCK, max_size=10))
def test_any_tree_of_blocks_gives_sound_digests(blocks):
    """Whatever stands where."""
    assert_sound(read_tree(blocks))


@quick
@given(MARKDOWN)
def test_no_letter_of_any_markdown_is_lost(text):
    """Comments and addresses that are none of the web are in the dropped list."""
    # when
    reading = read_or_none(text)

    # then
    if reading:
        chinese = Counter(char for char in text if "\u4e00" <= char <= "\u9fff")
        assert chinese - known_letters(reading) == Counter()
        assert_sound(reading)


@quick
@given(MARKDOWN)
def test_reading_markdown_twice_is_the_same(text):
    """Nothing depends on the clock or on chance."""
    assert read_or_none(text) == read_or_none(text)


@pytest.mark.parametrize(
    "text",
    [
        "> " * 3_000 + "深",
        "- " * 3_000 + "深",
        "".join(" " * 2 * depth + "- 甲\n" for depth in range(300)),
        "*甲 " * 3_000 + "乙*" * 3_000,
        "[" * 10_000 + "]" * 10_000,
        "**甲" * 8_000,
        "$甲" * 8_000,
        "`" * 20_000,
        "<a " * 10_000,
        "<b>" * 10_000,
        "<!--" * 10_000,
        "![" * 10_000,
        "https://a.b/" * 8_000,
        "[a](https://b.example.com)" * 3_000,
        "- [甲](https://b.example.com)\n" * 3_000,
        "### [甲](https://b.example.com/1)\n" * 2_000,
        "1、甲\n" * 8_000,
        "|甲|乙|\n|-|-|\n" + "|甲|乙|\n" * 4_000,
        "# 甲\n" * 3_000,
        "**甲**\n\n" * 3_000,
    ],
    ids=lambda text: f"{text[:8]!r}*{len(text)}",
)
def test_monotonous_markdown_takes_linear_effort(text):
    """So many calls for a character, however many there are, and nesting has a floor."""
    assert calls_of(lambda: read_or_none(text)) < 300 * len(text)


def test_deep_nesting_keeps_its_text():
    """Quotes in quotes beyond any reader's patience are one paragraph."""
    # when
    (placed,) = blocks_of("> " * 3_000 + "深")

    # then
    assert plain((placed.block,)).endswith("深")
