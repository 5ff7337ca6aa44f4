"""Text as card markdown: bot/cards/text.py, inlines.py."""

import html
from urllib.parse import parse_qsl, urlsplit

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.cards.inlines import formula, paragraph
from bot.cards.sentences import atoms_of
from bot.cards.text import escape, link, link_url, plain
from bot.cards.writing import markdown
from bot.domain.digest import Formula, Link, Paragraph, Text
from tests.unit.card_reader import links, shown, squeezed

MARKUP = st.text(alphabet=st.sampled_from("<>&*_~`[]()#+-!|\\$:\"'/=@.;0123456789 \n\tabco中。é\u2028\x00\ud800😀"))
HOSTILE = st.one_of(
    MARKUP,
    st.text(),
    st.sampled_from(
        [
            "<at id=all></at>",
            "<font color='red'>x</font>",
            "[点我](https://evil.example.com)",
            "![x](https://img.example.com/a.png)",
            "https://bare.example.com/a中文",
            "www.bare.example.com",
            "user@mail.example.com",
            ":DONE:",
            "# 标题",
            "- 列表",
            "1. 列表",
            "12) 列表",
            "    四个空格",
            "> 引用",
            "```python",
            "---",
            "| a | b |",
            "&lt;at id=all&gt;",
            "&copy",
            "&#60;b&#62;",
            "<think>",
            "$x$",
        ]
    ),
)


@settings(max_examples=300, deadline=None)
@given(st.lists(HOSTILE, min_size=1, max_size=3))
def test_any_text_is_shown_as_it_is(texts):
    """Text is text: un-escaped it reads back equal, and nothing in it is live."""
    line = paragraph(Text(text) for text in texts)

    assert squeezed(shown(line)) == squeezed("".join(texts))
    assert not links(line)


@settings(max_examples=60, deadline=None)
@given(HOSTILE, HOSTILE, HOSTILE)
def test_text_around_a_link_cannot_change_it(before, text, after):
    """Our link stays the only one, with its own text and address."""
    line = paragraph((Text(before), Link("https://read.example.com/p", text or "x"), Text(after)))

    assert [url for _, url in links(line)] == ["https://read.example.com/p"]
    shown(line)


@settings(max_examples=60, deadline=None)
@given(st.text() | HOSTILE)
def test_any_address_is_a_safe_link_or_no_link(address):
    """Nothing that the platform refuses, and nothing that ends the link early."""
    safe = link_url(address)

    assert safe is None or links(f"[x]({safe})") == [("x", safe)]
    assert safe is None or html.unescape(safe) == safe


@pytest.mark.parametrize(
    "url", ["javascript:alert(1)", "ftp://a.example.com", "/p/1", "", "https://", "http://[::1", "data:x"]
)
def test_an_address_that_is_not_http_is_shown_as_text(url):
    """Never a live link, never lost."""
    written = link(url, "点我")

    assert not links(written)
    assert shown(written).startswith("点我")
    assert url in shown(written)


@pytest.mark.parametrize(
    ("url", "safe"),
    [
        ("https://a.example.com/x (1).html", "https://a.example.com/x%20%281%29.html"),
        (
            "https://a.example.com/大模型?q=日报",
            "https://a.example.com/%E5%A4%A7%E6%A8%A1%E5%9E%8B?q=%E6%97%A5%E6%8A%A5",
        ),
        ('https://a.example.com/"<>\\', "https://a.example.com/%22%3C%3E%5C"),
        ("https://a.example.com/%E5%A4%A7?a=100%", "https://a.example.com/%E5%A4%A7?a=100%25"),
        ("https://a.example.com/?u=https://b.example.com/", "https://a.example.com/?u=https%3A//b.example.com/"),
        ("https://a.example.com/a_b/*c*", "https://a.example.com/a_b/%2Ac%2A"),
        ("https://例子.example.com/", "https://xn--fsqu00a.example.com/"),
        ("HTTPS://a.example.com:8080/#f", "https://a.example.com:8080/#f"),
    ],
)
def test_characters_that_the_platform_refuses_are_percent_encoded(url, safe):
    """The link still leads to the same place."""
    assert link_url(url) == safe


@pytest.mark.parametrize("name", ["copy", "reg", "amp", "lt", "notify", "sect", "copyright", "lang", "COPY", "times"])
def test_a_parameter_that_looks_like_an_entity_stays_that_parameter(name):
    """`&copy=2` would show as ©=2, even inside a link."""
    safe = link_url(f"https://a.example.com/?a=1&{name}=2&#169;")

    assert html.unescape(safe) == safe
    assert parse_qsl(urlsplit(safe).query) == [("a", "1"), (name, "2")]


def test_an_ordinary_parameter_is_left_alone():
    """Only what needs it is rewritten."""
    assert link_url("https://a.example.com/?a=1&id=2") == "https://a.example.com/?a=1&id=2"


def test_a_bare_link_is_written_with_its_text():
    """A bare address glued to Chinese text is refused by the platform."""
    line = paragraph((Text("见"), Link("https://a.example.com/", "https://a.example.com/"), Text("。")))

    assert line == "见[https&#58;//a.example.com/](https://a.example.com/)。"


def test_holes_and_money_stay_visible():
    """What the editor's tool left out must be seen."""
    assert shown(escape("见 [公式] 与 [Math]，售价 $5")) == "见 [公式] 与 [Math]，售价 $5"


@pytest.mark.parametrize(
    ("tex", "written"),
    [
        ("(L, D)", "(L, D)"),
        ("x = 1", "x = 1"),
        (r"\frac{1}{\sqrt{D}}", "1/√D"),
        ("a_i", "aᵢ"),
        ("W_Q", "W&#95;Q"),
        (r"\foo<b_1", r"`\foo< b_1`"),
        (r"a &copy_b", "`a & copy_b`"),
        (r"\text{<at id=all>}", "&#60;at id=all&#62;"),
        (r"\text{**x** :DONE:}", "&#42;&#42;x&#42;&#42; &#58;DONE&#58;"),
        ("x_` <at id=all></at>", "`x_‘ < at id=all>< /at>`"),
        ("a < b", "a &#60; b"),
    ],
)
def test_a_formula_is_text_where_it_can_be_and_code_where_not(tex, written):
    """Readable, and no way out of the code."""
    assert formula(Formula(tex, f"${tex}$")) == written


def test_a_formula_without_source_shows_what_was_written():
    """A hole is not nothing."""
    assert formula(Formula("", "[公式]")) == "&#91;公式&#93;"


def test_two_formulas_in_a_row_stay_two():
    """Touching back quotes would make one code of them."""
    line = paragraph((Formula(r"\foo", ""), Formula(r"\bar", "")))

    assert line == r"`\foo` `\bar`"


@settings(max_examples=60, deadline=None)
@given(HOSTILE, HOSTILE)
def test_no_formula_breaks_out(tex, after):
    """Any TeX, any text behind it."""
    shown(paragraph((Formula(tex, tex), Text(after))))


def test_paragraphs_are_apart_and_empty_ones_vanish():
    """No empty element ever reaches a card."""
    blocks = [Paragraph((Text(text),)) for text in ("甲", " \n", "", "\x00", "乙")]

    assert markdown(atoms_of(blocks)) == "甲\n\n乙"


@settings(max_examples=60, deadline=None)
@given(HOSTILE)
def test_plain_text_is_one_line_without_tags(text):
    """Headers, summaries and buttons show it as it is."""
    line = plain(text)

    assert "\n" not in line
    assert "<at" not in line
    assert "<font" not in line
    assert squeezed(line.replace("\u200d", "")) == squeezed(text.replace("\u200d", ""))
