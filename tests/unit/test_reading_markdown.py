"""Markdown digests: each kind of whole file, read as a careful editor would. All content is invented."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from bot.domain import digest as model
from bot.domain.digest import Digest, Item, Reading, images, links, plain
from bot.domain.errors import DigestError
from bot.reading.markdown.reader import MOST_CHARS, blocks_of, read_markdown

from .test_reading_cases import SHANGHAI

FIXTURES = Path(__file__).parents[1] / "fixtures" / "digests"
ARRIVED = datetime(2025, 5, 20, 8, tzinfo=SHANGHAI)


def read(text: str, **changes: Any) -> Reading:
    """Read Markdown that reached us on 20 May 2025."""
    return read_markdown(text.encode(), **{"received_at": ARRIVED, "zone": SHANGHAI, **changes})


def fixture(name: str) -> Reading:
    """Read one of the files beside the tests."""
    return read_markdown((FIXTURES / name).read_bytes(), received_at=ARRIVED, zone=SHANGHAI)


def told(digest: Digest) -> list[tuple[str | None, str | None, str | None]]:
    """Section, title and link of every item."""
    return [(section.name, item.title, item.url) for section in digest.sections for item in section.items]


def only_item(text: str) -> Item:
    """The one item of a text."""
    (digest,) = read(text).digests
    (item,) = digest.items
    return item


def codes(reading: Reading) -> set[str]:
    """Codes of the warnings."""
    return {warning.code for warning in reading.warnings}


def inlines_of(text: str) -> tuple[model.Inline, ...]:
    """The inlines of one paragraph."""
    (placed,) = blocks_of(text)
    assert isinstance(placed.block, model.Paragraph)
    return placed.block.inlines


# whole files


def test_headings_are_title_sections_and_items():
    """Numbers go, levels that jump mean nothing, labels become what the item knows."""
    # when
    reading = fixture("headings.md")

    # then
    (digest,) = reading.digests
    assert (digest.title, digest.day.isoformat()) == ("海燕日报 2025年5月6日 星期二", "2025-05-06")
    assert told(digest) == [
        ("要闻", "灯塔换了新灯", "https://sea.example.com/a/1?utm_source=md"),
        ("要闻", "渡轮改点", "https://sea.example.com/a/2"),
        ("工具", "潮汐计算器", "https://tools.example.com/tide"),
        ("工具", "没有链接的一条", None),
    ]
    assert (digest.items[0].source, digest.items[0].tags) == ("海边电台", ("灯塔", "节能"))
    assert plain(digest.items[0].blocks) == "新灯比旧灯省电一半。夜里看得更远。"
    assert [image.alt for image in images(digest.items[1].blocks)] == ["时刻表"]
    assert plain(digest.outro) == "关于\n由编辑整理，欢迎转发。"
    assert codes(reading) == {"item_without_link"}


def test_items_of_one_line_have_title_text_and_link():
    """Whatever parts them, and without the blank behind the number; a list of who edits is no news."""
    # when
    (digest,) = fixture("one-line-items.md").digests

    # then
    assert told(digest) == [
        (None, "新的浮桥今天开放", "https://pier.example.com/1"),
        (None, "旧码头改成市场", "https://pier.example.com/2"),
        (None, "渔船登记开始", "https://pier.example.com/3"),
        (None, "补办证件的地方", "https://pier.example.com/4"),
    ]
    assert plain(digest.items[0].blocks) == "两岸步行只要三分钟。"
    assert plain(digest.outro).startswith("编辑：读者甲")


def test_an_overview_is_told_once():
    """By its link, however decorated; what is left out is listed."""
    # when
    reading = fixture("overview.md")

    # then
    (digest,) = reading.digests
    assert told(digest) == [
        ("茶园", "茶园开始采摘", "https://tea.example.com/1"),
        ("交通", "山路封闭三天", "https://road.example.com/2"),
    ]
    assert {"茶园开始采摘", "山路封闭三天", "目录"} <= {dropped.text for dropped in reading.dropped}


def test_an_overview_gives_its_sections_to_details_that_have_none():
    """The place of the overview, the text of the details."""
    # given
    text = "# 早报 2025-05-08\n\n## 概览\n\n### 茶园\n\n- 采茶 [↗](https://t.example.com/1) `#1`\n\n---\n\n"

    # when
    (digest,) = read(f"{text}## [采茶](https://t.example.com/1) `#1`\n\n今年早一周。").digests

    # then
    assert told(digest) == [("茶园", "采茶", "https://t.example.com/1")]
    assert plain(digest.items[0].blocks) == "今年早一周。"


def test_rows_of_a_table_are_items_by_the_names_of_its_columns():
    """An escaped bar is text, an empty cell says nothing."""
    # when
    (digest,) = fixture("table.md").digests

    # then
    assert told(digest) == [
        ("检索", "用|分开的标题", "https://papers.example.org/1"),
        ("检索", "第二篇", "https://papers.example.org/2"),
    ]
    assert digest.items[0].published_at == datetime(2025, 5, 8, tzinfo=SHANGHAI)
    assert [link.url for link in links(digest.items[1].blocks)] == ["https://git.example.com/2"]


def test_several_days_in_one_file_are_several_digests():
    """Each under the title of the file."""
    # when
    digests = fixture("days.md").digests

    # then
    assert [(digest.title, digest.day.isoformat(), len(digest.items)) for digest in digests] == [
        ("一周小记", "2025-05-12", 1),
        ("一周小记", "2025-05-13", 1),
    ]


def test_front_matter_gives_title_and_day():
    """The rest of it is listed as dropped, and comments too."""
    # when
    reading = fixture("front-matter.md")

    # then
    (digest,) = reading.digests
    assert (digest.title, digest.day.isoformat()) == ("山城周刊 第 9 期", "2025-05-10")
    assert told(digest) == [
        ("城市", "[视频] 缆车恢复运行", "https://city.example.com/cable"),
        ("城市", "夜市延长到十一点", "https://city.example.com/night"),
    ]
    assert {"文件头", "注释"} <= {dropped.reason for dropped in reading.dropped}
    assert [dropped.line for dropped in reading.dropped if dropped.reason == "注释"] == [8]


def test_bare_lines_of_metadata_are_front_matter_if_they_name_a_title():
    """`Key: value` lines in a text that has no title among them are text."""
    # when
    (named,) = read("Title: 风筝周刊 42\nDate: 2025-05-11\n\n## 公告\n\n- [新版](https://k.example.org/1)").digests
    (other,) = read("Price: 5\nPlace: 港口\n\n## 公告\n\n- [新版](https://k.example.org/1)").digests

    # then
    assert (named.title, named.day.isoformat()) == ("风筝周刊 42", "2025-05-11")
    assert "港口" in plain(other.intro)


def test_contents_back_links_and_details_leave_no_trace_in_items():
    """Tags go and their text stays; what a script says is dropped."""
    # when
    reading = fixture("details.md")

    # then
    (digest,) = reading.digests
    assert told(digest) == [
        ("天文", "看见一颗新彗星", "https://sky.example.com/1"),
        ("地理", "量出最深的湖", "https://geo.example.com/2"),
    ]
    assert plain(digest.items[0].blocks) == "亮度：七等。\n位置：北天。\nH2O 的谱线清楚，<b> 是标签。"
    assert plain(digest.items[1].blocks) == "深一千米。"
    assert 'alert("脚本")' in {dropped.text for dropped in reading.dropped}


def test_promotions_are_dropped_and_quotations_kept():
    """A block in the stream and a whole section; bold lines are titles, the farewell is no item."""
    # when
    reading = fixture("sponsor.md")

    # then
    (digest,) = reading.digests
    assert told(digest) == [
        ("新闻", "麦子熟了", "https://farm.example.com/1"),
        ("新闻", "水渠修好了", "https://farm.example.com/2"),
        ("言论", None, None),
    ]
    assert plain(digest.items[2].blocks) == "种瓜得瓜。\n—— 读者甲"
    assert plain(digest.outro) == "以上就是今天的全部内容，明天见！"
    assert [dropped.text[:4] for dropped in reading.dropped if dropped.reason == "推广"] == [
        "📢 广告",
        "【推广】",
        "利息很低",
    ]


def test_code_is_never_structure():
    """Fences, closed or not; a hash without its blank is a heading, a full-width one over nothing is text."""
    # when
    (digest,) = fixture("code-and-hashes.md").digests

    # then
    assert told(digest) == [
        ("工具", "一行脚本", "https://dev.example.com/1"),
        ("工具", "六级的标题 👩‍💻", "https://dev.example.com/2"),
    ]
    assert plain(digest.intro) == "＃ 写在前面"
    assert "## 假标题" in plain(digest.items[1].blocks)
    assert list(links(digest.items[1].blocks)) == []


def test_numbers_that_are_no_markdown_list_number_items_too():
    """`1、[title](link)（英文）` with its text below; a link in the text is not the item's."""
    # when
    (digest,) = fixture("numbered-links.md").digests

    # then
    assert told(digest) == [
        ("文章", "怎样修一把伞（英文）", "https://rain.example.com/1"),
        ("文章", "雨量是怎么量的", "https://rain.example.com/2"),
        ("言论", None, None),
    ]
    assert [link.url for link in links(digest.items[1].blocks)] == ["https://git.example.com/i/7"]


def test_markdown_without_marks_reads_as_text_does():
    """A bold title, then titles, paragraphs and links on lines of their own."""
    # when
    (digest,) = fixture("like-text.md").digests

    # then
    assert (digest.title, digest.day.isoformat()) == ("港口日报（5月15日）", "2025-05-15")
    assert told(digest) == [
        (None, "新吊机开始试用", "https://port.example.com/1"),
        (None, "集装箱改用新编号", "https://port.example.com/2"),
    ]
    assert [link.text for link in links(digest.intro)] == ["这里"]


@pytest.mark.parametrize("path", sorted(FIXTURES.glob("*.md")), ids=lambda path: path.stem)
def test_every_fixture_keeps_all_its_words(path):
    """Chinese characters of the file are in the digest or in the dropped list."""
    # given
    text = path.read_text(encoding="utf-8")

    # when
    reading = read(text)

    # then
    from .test_reading_structure_properties import known_letters, letters

    assert {char for char in letters(text) - known_letters(reading) if "\u4e00" <= char <= "\u9fff"} == set()


# pieces of files


@pytest.mark.parametrize(
    "text",
    [
        "### [灯塔](https://a.example.com/1)\n\n新灯。",
        "### 灯塔\n\nhttps://a.example.com/1\n\n新灯。",
        "### 灯塔\n\n新灯。\n\n[阅读原文](https://a.example.com/1)",
        "### 灯塔\n\n新灯。\n\n**原文链接**: [https://a.example.com/1](https://a.example.com/1)",
        "### 灯塔\n\n* 🔗 [原文](https://a.example.com/1)\n\n新灯。",
        "### 灯塔 [链接](https://a.example.com/1)\n\n新灯。",
        "### 3. 灯塔 https://a.example.com/1\n\n新灯。",
        "**灯塔**\n\n新灯。\n\n链接：https://a.example.com/1",
        "- [灯塔](https://a.example.com/1)：新灯。",
        "- **灯塔**：新灯。[原文](https://a.example.com/1)",
        "1. 灯塔\n\n   新灯。\n\n   [原文](https://a.example.com/1)",
        "1、[灯塔](https://a.example.com/1)\n\n新灯。",
        "<h3><a href='https://a.example.com/1'>灯塔</a></h3>\n\n新灯。",
    ],
)
def test_title_text_and_link_are_found_wherever_the_link_stands(text):
    """One story in a dozen hands."""
    # when
    (digest,) = read(f"# 日报 2025-05-06\n\n## 要闻\n\n{text}").digests

    # then
    assert told(digest) == [("要闻", "灯塔", "https://a.example.com/1")]
    assert plain(digest.items[0].blocks) == "新灯。"


def test_a_link_that_is_none_of_the_web_is_text():
    """Relative, mail, telephone: their words stay, their address is listed."""
    # when
    reading = read("# 日报 2025-05-06\n\n### 灯塔\n\n见 [旧文](../old.md) 或 [来信](mailto:editor@example.com)。")

    # then
    (item,) = reading.digests[0].items
    assert (item.url, plain(item.blocks)) == (None, "见 旧文 或 来信。")
    assert {dropped.text for dropped in reading.dropped} == {"../old.md", "mailto:editor@example.com"}


def test_inner_headings_stay_in_their_item():
    """Under a title that has its link, deeper headings are text."""
    # when
    item = only_item(
        "# 日报 2025-05-06\n\n## [灯塔](https://a.example.com/1)\n\n新灯。\n\n### 背景\n\n旧灯用了二十年。"
    )

    # then
    assert item.title == "灯塔"
    assert [type(block).__name__ for block in item.blocks] == ["Paragraph", "Heading", "Paragraph"]


def test_groups_inside_one_list_are_sections():
    """A name, and a list of stories below it."""
    # when
    (digest,) = read(
        "# 日报 2025-05-06\n\n- 科技\n  - [灯塔](https://a.example.com/1)\n- 社会\n  - [集市](https://a.example.com/2)"
    ).digests

    # then
    assert told(digest) == [("科技", "灯塔", "https://a.example.com/1"), ("社会", "集市", "https://a.example.com/2")]


def test_a_list_without_any_link_is_a_list_of_news():
    """One entry one item."""
    # when
    (digest,) = read("# 周报\n\n## 国内\n\n- 甲地下雨\n- 乙地放晴\n\n## 国外\n\n- 丙地有风").digests

    # then
    assert told(digest) == [("国内", "甲地下雨", None), ("国内", "乙地放晴", None), ("国外", "丙地有风", None)]


@pytest.mark.parametrize(
    "line",
    [
        "*更新于 2025-05-06 20:37*",
        "> 2025年5月6日 星期二",
        "2025-05-06 | 共 2 篇",
        "日期：2025/05/06",
        "## Refreshed 2025.05.06",
    ],
)
def test_the_day_may_stand_below_the_title(line):
    """On a line that says little else."""
    # when
    (digest,) = read(f"# 海外摘要\n\n{line}\n\n## [灯塔](https://a.example.com/1)\n\n新灯。").digests

    # then
    assert digest.day.isoformat() == "2025-05-06"


def test_a_date_in_the_title_of_an_item_is_not_the_day():
    """Even in the first heading: its siblings have none."""
    # when
    reading = read("### 展会开幕（2025-03-08）\n\nhttps://a.example.com/1\n\n### 灯塔\n\nhttps://a.example.com/2")

    # then
    assert [digest.day.isoformat() for digest in reading.digests] == ["2025-05-20"]
    assert "day_assumed" in codes(reading)
    assert len(reading.digests[0].items) == 2


def test_a_moment_of_publication_is_in_the_zone_of_the_digest():
    """The label goes, the moment stays."""
    # when
    item = only_item("# 日报 2025-05-06\n\n### [灯塔](https://a.example.com/1)\n\n发布时间：2025-05-05 10:30\n\n新灯。")

    # then
    assert item.published_at.astimezone(UTC) == datetime(2025, 5, 5, 2, 30, tzinfo=UTC)
    assert item.published_at.utcoffset() == timedelta(hours=8)
    assert plain(item.blocks) == "新灯。"


def test_noise_is_left_out():
    """Lines named in the configuration, as paragraphs."""
    # when
    reading = read(
        "# 日报 2025-05-06\n\n### [灯塔](https://a.example.com/1)\n\n新灯。\n\n点我抽奖", noise=[" 点我抽奖 "]
    )

    # then
    assert plain(reading.digests[0].items[0].blocks) == "新灯。"
    assert [dropped.reason for dropped in reading.dropped] == ["配置的干扰行"]


def test_a_list_of_labels_says_what_the_item_knows():
    """Source, link and summary as bullets below a title."""
    # when
    item = only_item(
        "# 日报 2025-05-06\n\n## 要闻\n\n#### **灯塔**\n\n"
        "- **来源**：[海边电台](https://a.example.com/1)\n- **摘要**：新灯。"
    )

    # then
    assert (item.title, item.url, item.source) == ("灯塔", "https://a.example.com/1", "海边电台")
    assert plain(item.blocks) == "摘要：新灯。"


def test_wrapped_lines_of_an_entry_are_its_text():
    """A bold beginning is the title, a link on a line of its own is the link."""
    # when
    item = only_item("# 日报 2025-05-06\n\n1. **灯塔换灯** 新灯更亮，\n   夜里看得更远。\n   https://a.example.com/1")

    # then
    assert (item.title, item.url) == ("灯塔换灯", "https://a.example.com/1")
    assert plain(item.blocks).replace("\n", "") == "新灯更亮，夜里看得更远。"


def test_numbers_of_rows_are_no_text():
    """A column that only counts."""
    # when
    table = "| # | 标题 | 热度 |\n|---|---|---|\n| 1 | [灯塔](https://a.example.com/1) | 99 |"
    item = only_item(f"# 日报 2025-05-06\n\n{table}")

    # then
    assert (item.title, plain(item.blocks)) == ("灯塔", "热度: 99")


# blocks


def test_chinese_bold_closes_behind_its_stop():
    """No blanks part Chinese words; Latin text is read as before."""
    # then
    assert inlines_of("**粗体。**后文") == (model.Strong((model.Text("粗体。"),)), model.Text("后文"))
    assert plain((model.Paragraph(inlines_of("2 * 3 * 4 and a_b_c")),)) == "2 * 3 * 4 and a_b_c"


def test_formulas_and_prices_are_told_apart():
    """By the rule of plain text; a display formula is a paragraph of its own."""
    # then
    assert inlines_of("设 $x_1$ 价 $5 到 $15") == (
        model.Text("设 "),
        model.Formula("x_1", "$x_1$"),
        model.Text(" 价 $5 到 $15"),
    )
    assert [placed.block for placed in blocks_of("前 $$a=b$$ 后")] == [
        model.Paragraph((model.Text("前"),)),
        model.Paragraph((model.Formula("a=b", "$$a=b$$", display=True),)),
        model.Paragraph((model.Text("后"),)),
    ]


def test_bare_links_end_where_chinese_begins():
    """And no underline in them is emphasis."""
    # then
    assert inlines_of("见https://a.example.com/b_c_d，详情") == (
        model.Text("见"),
        model.Link("https://a.example.com/b_c_d", "https://a.example.com/b_c_d"),
        model.Text("，详情"),
    )


def test_blocks_know_their_lines():
    """Counted from one; a picture in a paragraph is a block of its own."""
    # when
    placed = blocks_of(
        "# 题\n\n甲 ![图](https://i.example.com/1.png) 乙\n\n> 丙\n\n3. 丁\n4. 戊\n\n```py\nx\n```\n\n---"
    )

    # then
    assert [(each.line, type(each.block).__name__) for each in placed] == [
        (1, "Heading"),
        (3, "Paragraph"),
        (3, "Image"),
        (3, "Paragraph"),
        (5, "Quote"),
        (7, "Listing"),
        (10, "CodeBlock"),
        (14, "Rule"),
    ]
    assert placed[5].block == model.Listing(
        ((model.Paragraph((model.Text("丁"),)),), (model.Paragraph((model.Text("戊"),)),)), 3
    )
    assert placed[6].block == model.CodeBlock("x", "py")


def test_source_lines_of_a_paragraph_are_one_but_where_one_stands_by_itself():
    """Between Chinese characters a line end is nothing, between words a blank."""
    # then
    assert [plain((placed.block,)) for placed in blocks_of("一句\n话。")] == ["一句话。"]
    assert [plain((placed.block,)) for placed in blocks_of("one\ntwo")] == ["one two"]
    assert [plain((placed.block,)) for placed in blocks_of("题\n文。\nhttps://a.example.com/1")] == [
        "题",
        "文。",
        "https://a.example.com/1",
    ]


def test_words_in_angle_brackets_are_words():
    """Tags that come in pairs are markup, a lone one in a sentence is what the sentence is about."""
    # then
    assert plain((model.Paragraph(inlines_of("记号 <table>、<tr> 与 <b>粗</b>")),)) == "记号 <table>、<tr> 与 粗"


def test_cells_beyond_the_head_of_a_table_are_kept():
    """Markdown would leave them out."""
    # when
    (placed,) = blocks_of("|甲|乙|\n|-|-|\n|丙|丁|戊|")

    # then
    assert "戊" in plain((placed.block,))


# refusals


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"\xef\xbb\xbf \n", "empty"),
        (b"\x00\x01\x02" * 100, "not_text"),
        (b"a" * (MOST_CHARS + 1), "too_long"),
        (b"\n" * 20_000 + b"a", "too_long"),
        (b"[" * 20_000, "too_long"),
        (b"*a" * 90_000, "too_long"),
    ],
    ids=["empty", "binary", "chars", "lines", "brackets", "stars"],
)
def test_what_is_no_digest_is_refused_with_its_reason(data, code):
    """Before it costs time."""
    # when
    with pytest.raises(DigestError) as caught:
        read_markdown(data, name="a.md", zone=SHANGHAI)

    # then
    assert (caught.value.code, caught.value.path) == (code, "a.md")


def test_markdown_in_gb18030_is_read():
    """As text is."""
    # when
    reading = read_markdown(
        "# 港口日报 2025-05-06\n\n- [灯塔](https://a.example.com/1)".encode("gb18030"), zone=SHANGHAI
    )

    # then
    assert told(reading.digests[0]) == [(None, "灯塔", "https://a.example.com/1")]
