"""Plain text: layouts, encodings, inlines, keys and the JSON document."""

from datetime import UTC, date, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from bot.domain.digest import Formula, Link, Reading, Text, plain
from bot.domain.errors import DigestError
from bot.reading.inlines import inlines
from bot.reading.json_shape import to_json
from bot.reading.keys import normalised_link
from bot.reading.plain_text import MOST_LINES, read_text

from .test_reading_cases import SHANGHAI, read

FIXTURES = Path(__file__).parents[1] / "fixtures" / "digests"
TWO_ITEMS = "港湾日报（3月9日）\n\n{}\n\n渡轮恢复夜航的消息\n\n每小时一班。\n\nhttps://n.example.com/1\n\n{}\n\n旧仓库要改成书店\n\n夏天开门。\n\nhttps://n.example.com/2\n"


def fixture(name: str) -> Reading:
    """Read one of our own invented digests."""
    return read((FIXTURES / name).read_text(encoding="utf-8"))


def items(reading: Reading) -> list[tuple[str | None, str | None, str | None, str]]:
    """Section, title, last part of the link and text of every item."""
    return [
        (section.name, item.title, item.url and item.url.rsplit("/", 1)[1], plain(item.blocks))
        for digest in reading.digests
        for section in digest.sections
        for item in section.items
    ]


def codes(reading: Reading) -> list[str]:
    """Codes of the warnings, in order."""
    return [warning.code for warning in reading.warnings]


# layouts


def test_links_after_the_text_belong_to_the_text_above():
    """Introduction, two sections, a stray, a broken sentence, a paragraph without a stop."""
    # when
    reading = fixture("link-after-text.txt")

    # then
    assert [(section, title, url) for section, title, url, _ in items(reading)] == [
        ("学习", "缆绳该多久换一次：四种判断办法", "11"),
        ("学习", "灯塔换灯之后，鸟为什么少了", "12"),
        ("工具", "潮汐表的命令行版本", "13"),
    ]
    assert "明显降低检查成本" in items(reading)[0][3]
    assert [(dropped.line, dropped.text) for dropped in reading.dropped] == [(23, "元补贴")]
    assert codes(reading) == ["day_assumed", "joined_lines", "stray_line"]


def test_links_before_the_text_belong_to_the_title_above():
    """A contributor line is neither title nor section."""
    # when
    reading = fixture("link-before-text.txt")

    # then
    assert items(reading) == [
        ("资讯", "新渡轮试航", "1", "贡献人：@编辑甲\n首航坐了八十人。\n回程遇到大雾。"),
        ("资讯", "旧仓库要改成书店", "2", "贡献人：@编辑乙\n夏天开门。"),
        ("学习", "看懂海图的三个符号", "3", "讲清水深、底质与障碍物。"),
    ]
    assert reading.digests[0].title == "港湾日报（2月28日）"


def test_a_text_without_title_that_stops_in_mid_sentence_keeps_everything():
    """The cut item has text, no link, and a warning."""
    # when
    reading = fixture("untitled-cut-off.txt")

    # then
    assert [(title, url) for _, title, url, _ in items(reading)] == [
        ("读者甲的码头日记", "21"),
        ("夜航灯光的两种颜色", None),
    ]
    assert items(reading)[1][3].endswith("恢复夜视更")
    assert plain(reading.digests[0].intro).endswith("欢迎大家一起交流！")
    assert codes(reading) == ["day_assumed", "item_without_link", "cut_off"]


def test_a_list_without_links_is_one_item_a_line():
    """The numbers go, the quotation at the end is no news."""
    # when
    reading = fixture("list-without-links.txt")

    # then
    assert [(title, url) for _, title, url, _ in items(reading)] == [(None, None)] * 4
    assert items(reading)[3][3] == "海外：两座港口结为友好港口。"
    assert plain(reading.digests[0].outro) == "【一句话】潮水不等人，也不催人。"
    assert [(dropped.text, dropped.reason) for dropped in reading.dropped] == [
        (f"{number}、", "编号") for number in range(1, 5)
    ]
    assert reading.digests[0].day == date(2025, 3, 9)


def test_excerpts_without_titles_are_items_by_themselves():
    """The banner above them is introduction."""
    # when
    reading = fixture("excerpts.txt")

    # then
    assert [(title, url) for _, title, url, _ in items(reading)] == [(None, None)] * 3
    assert plain(reading.digests[0].intro) == "SIGNAL RECEIVED"
    assert "[公式]" in items(reading)[2][3]


def test_one_line_items_are_a_title_and_a_link():
    """With and without a blank before the link, and one without a link; imprint and archive are no items."""
    # when
    reading = fixture("one-line-items.txt")

    # then
    assert items(reading) == [
        (None, "新渡轮试航", "1", ""),
        (None, "旧仓库要改成书店", "2", ""),
        (None, "码头征集志愿者", None, ""),
    ]
    assert plain(reading.digests[0].outro) == "编辑: 编辑甲\n往期: https://news.example.com/all"


def test_a_file_with_two_days_gives_two_digests():
    """Each title with a day of its own starts a digest."""
    # when
    reading = fixture("two-days.txt")

    # then
    assert [(digest.day, len(digest.items)) for digest in reading.digests] == [
        (date(2025, 3, 8), 1),
        (date(2025, 3, 9), 1),
    ]


@pytest.mark.parametrize(
    ("first", "second", "sections"),
    [
        ("要闻", "科技", ["要闻", "科技"]),
        ("渔汛", "潮汐", ["渔汛", "潮汐"]),
        ("要闻", "潮汐", ["要闻", "潮汐"]),
        ("一、要闻", "二、行业动态", ["要闻", "行业动态"]),
        ("【要闻】", "【读者来信】", ["要闻", "读者来信"]),
        ("Research & Papers", "Tools", ["Research & Papers", "Tools"]),
        ("📰 要闻", "🛠 工具", ["📰 要闻", "🛠 工具"]),
        ("**要闻**", "== 工具 ==", ["要闻", "工具"]),
        ("要闻", "元补贴", ["要闻"]),
        ("要闻", "展开全文", ["要闻"]),
        ("元补贴", "元补贴", [None]),
        ("要闻", "要闻", ["要闻"]),
        ("今天精选两条。", "----", [None]),
    ],
)
def test_sections_are_told_from_strays(first, second, sections):
    """Known, unknown, marked and repeated short lines before a title."""
    # when
    reading = read(TWO_ITEMS.format(first, second))

    # then
    assert [section.name for section in reading.digests[0].sections] == sections
    assert [(title, url) for _, title, url, _ in items(reading)] == [
        ("渡轮恢复夜航的消息", "1"),
        ("旧仓库要改成书店", "2"),
    ]


def test_an_item_in_the_middle_may_have_no_link():
    """Its neighbour's link does not leak to it."""
    # when
    reading = read(TWO_ITEMS.format("要闻", "没有链接的那一条消息\n\n来自一次线下分享。"))

    # then
    assert [(title, url) for _, title, url, _ in items(reading)] == [
        ("渡轮恢复夜航的消息", "1"),
        ("没有链接的那一条消息", None),
        ("旧仓库要改成书店", "2"),
    ]


def test_a_table_of_contents_is_no_second_copy_of_the_items():
    """Titles in a row that stand again below are dropped, and listed as dropped."""
    # when
    reading = read(TWO_ITEMS.format("今日要点：\n1. 渡轮恢复夜航的消息\n2. 旧仓库要改成书店", "科技"))

    # then
    assert [(title, url) for _, title, url, _ in items(reading)] == [
        ("渡轮恢复夜航的消息", "1"),
        ("旧仓库要改成书店", "2"),
    ]
    assert [dropped.text for dropped in reading.dropped] == ["1. 渡轮恢复夜航的消息", "2. 旧仓库要改成书店"]


def test_further_links_stay_in_the_body():
    """The first link is the item's; its label is recorded as dropped."""
    # when
    reading = read(
        "港湾日报 3月9日\n\n论文\n\n潮汐的新算法\n\n正文。\n\n论文链接：https://a.example.com/1\n\n代码：https://a.example.com/2"
    )

    # then
    assert items(reading) == [("论文", "潮汐的新算法", "1", "正文。\n代码：https://a.example.com/2")]
    assert [dropped.text for dropped in reading.dropped] == ["论文链接："]


def test_a_link_at_the_end_of_the_text_is_the_items_where_no_link_has_a_line():
    """The text keeps it."""
    # when
    reading = read(
        "港湾日报 3月9日\n\n要闻\n\n渡轮恢复夜航的消息\n\n每小时一班，详见 https://a.example.com/1 。\n\n旧仓库要改成书店\n\n夏天开门（https://a.example.com/2）。"
    )

    # then
    assert [(title, url) for _, title, url, _ in items(reading)] == [
        ("渡轮恢复夜航的消息", "1"),
        ("旧仓库要改成书店", "2"),
    ]
    assert items(reading)[1][3] == "夏天开门（https://a.example.com/2）。"


def test_a_formula_over_several_lines_is_one_paragraph():
    """Its lines are no titles."""
    # when
    reading = read(
        "港湾日报 3月9日\n\n学习\n\n潮高怎么算\n\n如下：\n\n$$\nh = a + b\n$$\n\n算完为止。\n\nhttps://a.example.com/1"
    )

    # then
    (item,) = reading.digests[0].items
    assert item.blocks[1].inlines == (Formula("h = a + b", "$$ h = a + b $$", display=True),)


def test_a_text_without_items_is_a_reading_with_a_warning():
    """The day can still be read."""
    # when
    reading = read("港湾日报（3月9日）\n\n今天编辑部休息。\n\n明天见！")

    # then
    (digest,) = reading.digests
    assert (digest.day, digest.items, codes(reading)) == (date(2025, 3, 9), (), ["no_items"])
    assert (plain(digest.intro), plain(digest.outro)) == ("今天编辑部休息。", "明天见！")


def test_configured_noise_is_dropped_with_its_line():
    """Literal lines of the series' configuration, blanks around them aside."""
    # when
    reading = read(TWO_ITEMS.format("要闻", "　小编推荐阅读 "), noise=["小编推荐阅读"])

    # then
    assert [(dropped.line, dropped.text) for dropped in reading.dropped] == [(11, "小编推荐阅读")]
    assert len(reading.digests[0].items) == 2


# bytes


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32", "gb18030", "gbk"])
def test_every_usual_encoding_reads_the_same(encoding):
    """UTF-8 and UTF-16 by their marks, GB18030 by what its characters are."""
    # given
    text = TWO_ITEMS.format("要闻", "科技")

    # when
    reading = read_text(text.encode(encoding), received_at=datetime(2025, 3, 10, tzinfo=SHANGHAI), zone=SHANGHAI)

    # then
    assert reading == read(text)


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", "empty"),
        ("\ufeff \u3000\r\n\u200b".encode(), "empty"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0", "not_text"),
        (b"abc\0def", "not_text"),
        (bytes(range(1, 32)) * 9, "not_text"),
        (b"\xff" * 99, "not_text"),
        ("読み物".encode("shift_jis") * 9, "not_text"),
        (b"a\n" * (MOST_LINES + 1), "too_long"),
        (b"$a$ " * 900_000, "too_long"),
    ],
)
def test_what_is_no_digest_is_refused_with_a_reason(data, code):
    """One line that names the file."""
    # when
    with pytest.raises(DigestError) as raised:
        read_text(data, name="日报.txt", zone=SHANGHAI)

    # then
    assert raised.value.code == code
    assert str(raised.value).startswith("日报.txt: ")
    assert "\n" not in str(raised.value)


def test_a_file_cut_inside_a_character_is_read():
    """The half character shows as U+FFFD."""
    # when
    reading = read_text("港湾日报 2025-03-09\n\n渡轮".encode()[:-1], zone=SHANGHAI)

    # then
    assert plain(reading.digests[0].intro) == "渡\ufffd"


def test_invisible_characters_go_but_joined_emoji_stay():
    """A joiner between two emoji is part of one picture."""
    # when
    reading = read(
        "港湾\u200b日报 3月9日\n\n渡\u00ad轮\u200d恢复👩\u200d🚀\u200d\n\n每小时一班。\n\nhttps://a.example.com/1"
    )

    # then
    assert reading.digests[0].title == "港湾日报 3月9日"
    assert reading.digests[0].items[0].title == "渡轮恢复👩\u200d🚀"


def test_arrival_is_counted_in_the_given_zone():
    """Late evening in London is the next day in Shanghai; a naive time is in the zone."""
    # given
    evening = datetime(2025, 3, 9, 20, tzinfo=UTC)

    # then
    assert read("信号", received_at=evening).digests[0].day == date(2025, 3, 10)
    assert read("信号", received_at=evening, zone=ZoneInfo("Europe/London")).digests[0].day == date(2025, 3, 9)
    assert read("信号", received_at=evening.replace(tzinfo=None)).digests[0].day == date(2025, 3, 9)


# inlines


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("见https://a.example.com/b(c)。还有", ["https://a.example.com/b(c)"]),
        ("（https://b.example.com/x）", ["https://b.example.com/x"]),
        ("see HTTP://A.example.com/?q=1&b=2.", ["HTTP://A.example.com/?q=1&b=2"]),
        ("https://a.example.com/中文", ["https://a.example.com/"]),
        ("(https://a.example.com/x).", ["https://a.example.com/x"]),
        ("http:// ftp://a.example.com xhttp://b http://[::1", []),
    ],
)
def test_bare_links_end_where_the_address_ends(text, found):
    """Before full-width punctuation, Chinese, trailing stops and brackets that were not opened inside."""
    assert [inline.url for inline in inlines(text) if isinstance(inline, Link)] == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (r"均值 $\bar{x}_n$ ，", [r"\bar{x}_n"]),
        (r"率 \(p(a \mid b)\) 与 \[a \\ b\]", [r"p(a \mid b)", r"a \\ b"]),
        (r"$$a+b$$ 与 ($2x$)", ["a+b", "2x"]),
        (r"\(a \(b\)", ["b"]),
        (r"$\text{损失}$", [r"\text{损失}"]),
        ("从 $5 降到 $3，从$5降到$3起，$15 ，US$5 to US$6", []),
        (r"C:\new\table 与 \{x_i\}_{i=1}^n 与 $HOME/$USER", []),
        (r"\[注\] 与 $$ 到 $$ 与 \(没有结束", []),
        ("$3,000 (about 2,000$)", []),
    ],
)
def test_formulas_are_told_from_money_and_paths(text, found):
    """An unclosed delimiter is text."""
    assert [inline.tex for inline in inlines(text) if isinstance(inline, Formula)] == found


# keys


def test_the_key_is_of_the_page_and_not_of_its_decoration():
    """Host case, default port, fragment, tracking and the version of a preprint do not count."""
    # given
    decorated = "HTTPS://A.example.com:443/x?id=7&utm_source=w&spm=1.2&from=feed#top"

    # then
    assert normalised_link(decorated) == "https://a.example.com/x?id=7"
    assert normalised_link("https://arxiv.org/abs/2501.00001v3") == "https://arxiv.org/abs/2501.00001"
    assert normalised_link("https://a.example.com") == "https://a.example.com/"
    assert normalised_link("https://a.example.com/x?id=8") != normalised_link(decorated)


def test_a_link_told_twice_is_one_item_under_the_key_of_the_link():
    """What both tell stands in the one item; nothing of the second is lost."""
    # given
    text = TWO_ITEMS.format("要闻", "科技")

    # when
    (same,) = read(text.replace("com/2", "com/1")).digests
    (other,) = read(text).digests

    # then
    (item,) = same.items
    assert item.key == other.items[0].key
    assert item.title == other.items[0].title
    assert plain(other.items[1].blocks) in plain(item.blocks)
    assert other.items[1].title in plain(item.blocks)


# the JSON document


def test_the_document_is_commonmark_with_literal_text_escaped():
    """Links, formulas and characters that mean something to Markdown."""
    # given
    body = r"1. *星* 与 _下划线_ <b> & `码` [注] 价 $5 路径 C:\x ，式 \(a\) 见 https://a.example.com/b_c 。"
    text = f"港湾日报 3月9日\n\n学习\n\n潮高怎么算\n\n如下：\n\n{body}\n\n# 不是标题\n\nhttps://a.example.com/1"

    # when
    (item,) = to_json(read(text))["digests"][0]["sections"][0]["items"]

    # then
    assert item["paragraphs"][1] == (
        r"1\. \*星\* 与 \_下划线\_ \<b\> \& \`码\` \[注\] 价 \$5 路径 C:\\x ，式 $a$ 见 <https://a.example.com/b_c> 。"
    )
    assert item["paragraphs"][2] == r"\# 不是标题"
    assert item["text"].split("\n")[1] == body
    assert item["links"] == [{"text": "https://a.example.com/b_c", "url": "https://a.example.com/b_c"}]


def test_what_is_missing_is_null_and_days_are_iso():
    """Never an empty text."""
    # when
    document = to_json(fixture("excerpts.txt"))

    # then
    (digest,) = document["digests"]
    item = digest["sections"][0]["items"][0]
    assert (digest["title"], digest["day"], digest["day_end"], digest["label"]) == (None, "2025-03-10", None, None)
    assert (digest["sections"][0]["name"], item["title"], item["url"], item["source"]) == (None, None, None, None)
    assert (item["images"], item["tags"], item["published_at"]) == ([], [], None)
    assert document["warnings"][0]["code"] == "day_assumed"


def test_inlines_of_other_readers_stay_links_in_the_document():
    """A named link after an exclamation mark is no image; an address with brackets is kept whole."""
    # given
    from bot.domain.digest import Digest, Item, Paragraph, Section

    named = Paragraph((Text("看！!"), Link("https://a.example.com/x_(y)", "这 [里]")))
    reading = Reading((Digest(sections=(Section(None, (Item("k", None, None, (named,)),)),)),))

    # when
    (item,) = to_json(reading)["digests"][0]["sections"][0]["items"]

    # then
    assert item["paragraphs"] == [r"看！\![这 \[里\]](<https://a.example.com/x_(y)>)"]
