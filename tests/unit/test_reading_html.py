"""HTML pages: what is shown becomes blocks, what is not shown is listed."""

from datetime import date, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from bot.domain.digest import (
    Code,
    CodeBlock,
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
    plain,
)
from bot.domain.errors import DigestError
from bot.reading.html.reader import blocks_of, read_html

FIXTURES = Path(__file__).parents[1] / "fixtures" / "digests"
SHANGHAI = ZoneInfo("Asia/Shanghai")
ARRIVED = datetime(2026, 3, 6, 9, tzinfo=SHANGHAI)


def text(words):
    """A paragraph of literal text."""
    return Paragraph((Text(words),))


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<p>一</p><p>二</p>", (text("一"), text("二"))),
        ("一<br><br>二<br>三", (text("一"), text("二"), text("三"))),
        ("<p>&amp;lt; &nbsp; 甲</p>", (text("&lt; 甲"),)),
        ("<p>空\n 白</p>", (text("空 白"),)),
        ("<h3>名</h3>文<hr>", (Heading(3, (Text("名"),)), text("文"), Rule())),
        ("<blockquote>引</blockquote>", (Quote((text("引"),)),)),
        ("<pre><code class='language-py'>a\n  b</code></pre>", (CodeBlock("a\n  b", "py"),)),
        ("<ol start=3><li>甲<ul><li>乙</ul></ol>", (Listing(((text("甲"), Listing(((text("乙"),),))),), 3),)),
        ("<img data-src='//i.example.com/a.png' alt='图'>", (Image("https://i.example.com/a.png", "图"),)),
        ("<img src='data:image/png;base64,AA' alt='图'>", (text("图"),)),
        ("甲<img src='https://i.example.com/a.png' width=1>", (text("甲"),)),
        ("<code>x</code>", (Paragraph((Code("x"),)),)),
        ("<b>粗</b>字", (Paragraph((Strong((Text("粗"),)), Text("字"))),)),
        ("<a href='/a?b=1&amp;c=2'> 链 </a>", (Paragraph((Link("https://h.example.com/a?b=1&c=2", "链"),)),)),
        ("<a href='mailto:a@example.com'>信</a>", (text("信"),)),
        ("<at user_id='ou_x'>读者甲</at>到了", (text("读者甲到了"),)),
        (r"\(a+b\)", (Paragraph((Formula("a+b", r"\(a+b\)"),)),)),
        ("<script type='math/tex'>a^2</script>", (Paragraph((Formula("a^2", "$a^2$"),)),)),
        ("<math><msup><mi>x</mi><mn>2</mn></msup></math>", (Paragraph((Formula("x^{2}", "$x^{2}$"),)),)),
        ("<img eeimg=1 alt='y=x'>", (Paragraph((Formula("y=x", "$y=x$"),)),)),
        ("<div class='item-title'>短</div>", (Heading(2, (Text("短"),)),)),
    ],
)
def test_each_element_becomes_its_block(html, expected):
    """Entities are decoded once, addresses resolved, markup gone."""
    assert blocks_of(html, base="https://h.example.com/d/") == expected


def test_a_table_of_data_is_a_table():
    """Short rows are filled up to the width of the widest."""
    html = "<table><tr><th>甲<th>乙<tr><td>1</table>"
    assert blocks_of(html) == (text("甲"), text("乙"), text("1"))
    html = "<table><tr><th>甲<th>乙<tr><td>1<td>2</table>"
    assert blocks_of(html) == (Table((((Text("甲"),), (Text("乙"),)), ((Text("1"),), (Text("2"),)))),)


def test_a_table_for_layout_is_what_it_holds():
    """Mails put whole pages into cells."""
    html = "<table><tr><td><h2>名</h2><p>文</p></td></tr></table>"
    assert blocks_of(html) == (Heading(2, (Text("名"),)), text("文"))


def test_a_display_formula_is_a_line_of_its_own():
    """As the block model wants it."""
    formula = Formula("a", "$$a$$", display=True)
    assert blocks_of("<p>前 $$a$$ 后</p>") == (text("前"), Paragraph((formula,)), text("后"))


def test_titles_by_class_take_their_level_from_where_they_stand():
    """A title inside a section is below the title of the section."""
    html = "<h1>报</h1><div><div class='cat-header'>栏</div><div><div class='item-title'>条</div>文</div></div>"
    levels = [block.level for block in blocks_of(html) if isinstance(block, Heading)]
    assert levels == [1, 2, 3]


def test_a_few_words_above_a_block_of_links_are_a_heading():
    """Pages made by programs have no other sign of a section; a sentence or a label is none."""
    below = "<div><div><a href='https://x.example.com/1'>条</a></div><div>文</div></div>"
    first = {words: blocks_of(f"<div>{words}</div>{below}")[0] for words in ("栏", "一句话。", "来源：")}
    assert first == {"栏": Heading(2, (Text("栏"),)), "一句话。": text("一句话。"), "来源：": text("来源：")}


def test_a_page_is_read_as_an_editor_would():
    """Sections and titles are divs; the navigation, the footer and what is hidden are listed."""
    # when
    reading = read_html((FIXTURES / "page.html").read_bytes(), received_at=ARRIVED, zone=SHANGHAI)

    # then
    (digest,) = reading.digests
    assert (digest.title, digest.day) == ("河畔日报 2026年3月5日", date(2026, 3, 5))
    assert [section.name for section in digest.sections] == ["工具"]
    assert [(item.title, item.url) for item in digest.items] == [
        ("船闸模拟器开放下载", "https://news.example.com/a?x=1&y=2"),
        ("渡口时刻表有了接口", "https://news.example.com/b"),
    ]
    assert r"$\epsilon$" in plain(digest.items[0].blocks)
    assert {dropped.text for dropped in reading.dropped} >= {"首页", "编辑部", "看不见的字"}
    assert "脚本" not in repr(reading)


def test_an_article_copied_out_of_a_chat_keeps_no_script_and_no_mention():
    """Links that are programs are buttons; mention tags are nothing but their text."""
    # when
    reading = read_html((FIXTURES / "article.html").read_bytes(), received_at=ARRIVED, zone=SHANGHAI)

    # then
    (digest,) = reading.digests
    assert digest.day == date(2026, 3, 6)
    assert [(item.title, item.url) for item in digest.items] == [
        ("桥面检修完成", "https://news.example.com/bridge"),
        ("河堤种树", "https://news.example.com/trees"),
    ]
    assert "steal" not in repr(reading)
    assert "展开" in {dropped.text for dropped in reading.dropped}


def test_a_declared_encoding_counts_unless_the_bytes_are_utf8():
    """Half the pages of an archive say gb2312 and mean something else."""
    page = '<meta charset="gb2312"><h1>日报 2026-03-05</h1><p>价格表与喆字</p>'
    for data in (page.encode("gb18030"), page.encode()):
        assert "价格表与喆字" in repr(read_html(data, zone=SHANGHAI))


def test_a_line_of_noise_is_left_out_and_listed():
    """What the configuration names."""
    reading = read_html("<h1>日报</h1><p>扫一扫</p><p>正文。</p>".encode(), zone=SHANGHAI, noise=["扫一扫"])
    assert [dropped.reason for dropped in reading.dropped if dropped.text == "扫一扫"] == ["配置的干扰行"]


@pytest.mark.parametrize("page", ["<div></div>", "<script>x</script>", "<nav>首页</nav>"])
def test_a_page_without_text_is_refused(page):
    """Never a digest of nothing."""
    with pytest.raises(DigestError) as caught:
        read_html(page.encode(), zone=SHANGHAI)
    assert caught.value.code == "empty"
