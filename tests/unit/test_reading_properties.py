"""What holds for any text and any bytes."""

import re
from collections import Counter
from datetime import datetime, timedelta, timezone

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.domain.digest import Digest, Item, Paragraph, Reading, Section, Text, plain
from bot.domain.errors import DigestError
from bot.reading.inlines import inlines
from bot.reading.json_shape import to_json
from bot.reading.keys import Keys
from bot.reading.plain_text import read_text
from tests.effort import calls_of

from .test_reading_cases import SHANGHAI, added_characters, lost_characters

PIECES = (
    *("学习", "资讯", "元补贴", "潮汐", "一、要闻", "【工具】", "-- 工具 --", "# 标记", "[图片]", "----"),
    *("灯塔日报（3月8日）", "灯塔日报（3月9日学术篇）", "2025年3月7日", "明天见！", "欢迎订阅", "贡献人：@编辑甲"),
    *("渡轮恢复夜航的消息", "旧仓库要改成书店", "每小时一班。", "周三最高，请注意", "真的吗？", "主要有："),
    *("很长" * 60, "很长的一段话，没有说完" * 6, "1、甲", "2、乙；", "①"),
    *("https://a.example.com/1", "https://a.example.com/2", "见：https://b.example.com", "标题 https://c.example.com"),
    *("https://a.example.com/1 https://b.example.com/1", "（https://d.example.com）"),
    *("$$", "a=b", "$x$", r"\[", r"x\]", r"\(y\)", "", "", "", ""),
)
LINES = st.lists(st.sampled_from(PIECES), max_size=16).map("\n".join)
TEXTS = st.one_of(LINES, st.text(max_size=200), st.text(alphabet="a中 \n\r\t。，：$\\([])1、-#*http:/.", max_size=120))
quick = settings(deadline=None, max_examples=100, derandomize=True)


def reading_of(text: str) -> Reading | None:
    """The reading, or None where the text is refused."""
    try:
        return read_text(text.encode(), received_at=datetime(2025, 3, 10, tzinfo=SHANGHAI), zone=SHANGHAI)
    except DigestError:
        return None


def commonmark_text(markdown: str) -> str:
    """The literal text of a paragraph that holds nothing but escaped text."""
    assert not re.search(r"(?<!\\)(?:\\\\)*[`*_\[\]<>&$~]", markdown)
    assert not re.match(r"[0-9]{1,9}[.)]|[#+=>-]", markdown)
    return re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", markdown)


@quick
@given(TEXTS)
def test_no_character_is_lost_and_none_invented(text):
    """All text is in the digest or in the dropped list."""
    # when
    reading = reading_of(text)

    # then
    if reading:
        assert lost_characters(text, reading) == Counter()
        assert added_characters(text, reading) == Counter()


@quick
@given(TEXTS)
def test_any_text_gives_sound_digests(text):
    """Items say something, sections are not empty, keys are unique, the document can be built."""
    # when
    reading = reading_of(text)

    # then
    for digest in reading.digests if reading else ():
        assert all(section.items and section.name != "" for section in digest.sections)
        assert all(item.title or item.url or item.blocks for item in digest.items)
        assert all(item.title != "" and item.url != "" for item in digest.items)
        assert len({item.key for item in digest.items}) == len(digest.items)
    if reading:
        assert reading.digests
        assert len(to_json(reading)["digests"]) == len(reading.digests)


@quick
@given(st.one_of(st.binary(max_size=300), TEXTS.map(lambda text: text.encode("gb18030")), TEXTS.map(str.encode)))
def test_any_bytes_are_read_or_refused(data):
    """Never another error."""
    # when
    try:
        outcome = len(read_text(data, zone=timezone(timedelta(hours=8))).digests)
    except DigestError as error:
        outcome = error.code

    # then
    assert outcome in {"empty", "not_text", "too_long"} or outcome > 0


@quick
@given(TEXTS)
def test_reading_twice_is_the_same(text):
    """Nothing depends on the clock or on chance."""
    assert reading_of(text) == reading_of(text)


@quick
@given(st.one_of(st.text(max_size=200), st.text(alphabet="$\\()[] a1中,.:/htpx", max_size=120)))
def test_inlines_joined_are_the_text(text):
    """Whatever is found, what was written is kept."""
    assert plain((Paragraph(inlines(text)),)) == text


@quick
@given(st.text(alphabet=st.characters(exclude_categories=("Cs", "Cc")), min_size=1, max_size=120))
def test_literal_text_survives_markdown(text):
    """Unescaped, a paragraph is the text that it was made of."""
    # given
    item = Item("key", None, None, (Paragraph((Text(text.strip()),)),))

    # when
    document = to_json(Reading((Digest(sections=(Section(None, (item,)),)),)))

    # then
    (markdown,) = document["digests"][0]["sections"][0]["items"][0]["paragraphs"]
    assert commonmark_text(markdown) == text.strip()


@quick
@given(
    st.lists(
        st.tuples(
            st.sampled_from([None, "https://a.example.com/1", "https://a.example.com/1?spm=2"]),
            st.sampled_from([None, "甲", "乙"]),
            st.sampled_from(["", "文"]),
        ),
        max_size=30,
    )
)
def test_no_two_stories_share_a_key(stories):
    """Not even if they are the same."""
    # given
    keys = Keys()

    # when
    given_out = [keys.give(*story) for story in stories]

    # then
    assert len(set(given_out)) == len(stories)


@pytest.mark.parametrize(
    "text",
    [
        "$" * 75_000,
        "$a" * 37_500,
        "(" * 75_000,
        "http://" * 10_000,
        "http://a" + ")" * 75_000,
        "http://a/" + "(" * 75_000,
        r"\[" * 37_500,
        r"\(\]" * 25_000,
        "1" * 75_000,
        "1、甲\n" * 5_000,
        "甲\n" * 5_000,
        "日报 3月8日\n" * 5_000,
        "渡轮恢复夜航\n每小时一班。\nhttp://a.b/c\n" + "日报 3月8日\n" * 5_000,
        "学习\n渡轮恢复夜航\n每小时一班。\n" * 1_250,
        "$$\na\n" * 2_500,
        "甲" + " " * 75_000 + "乙",
        "很长的一行，没有完" * 7_500,
    ],
    ids=lambda text: f"{text[:8]!r}*{len(text)}",
)
def test_monotonous_text_takes_linear_effort(text):
    """So many calls for a character, however many there are; a search that goes back and forth takes far more."""
    assert calls_of(lambda: reading_of(text)) < 300 * len(text)
