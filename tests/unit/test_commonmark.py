"""Blocks written as CommonMark read back as the same blocks."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.domain.digest import (
    Block,
    Code,
    CodeBlock,
    Emphasis,
    Formula,
    Heading,
    Image,
    Inline,
    Link,
    Listing,
    Paragraph,
    Quote,
    Rule,
    Strong,
    Table,
    Text,
)
from bot.reading.commonmark import to_commonmark
from bot.reading.markdown.reader import blocks_of

quick = settings(deadline=None, max_examples=300, derandomize=True)

MARKUP = "ab1中。.!`*_[]()<>&$~#+-=|\\:;,'\" /@^{}"
PIECES = (
    *("1. ", "- ", "# ", "> ", "```", "&amp;", "<b>", "[x](http://a.b)", "![a](b)", "**", "__", "~~~", "\\(x\\)"),
    *("https://a.example.com/b", "www.a.example", "$5 和 $6", "| a | b |", "---", "a_b_c", "://", "\\", "！"),
)


def words(alphabet: str = MARKUP) -> st.SearchStrategy[str]:
    """Text without blanks at its ends, and never empty."""
    free = st.text(alphabet=alphabet, min_size=1, max_size=12)
    whole = st.lists(st.sampled_from(PIECES), min_size=1, max_size=4).map("".join)
    return st.one_of(free, whole).map(str.strip).filter(bool)


URLS = st.sampled_from(
    (
        "https://a.example.com/",
        "https://a.example.com/x_(y)?q=1&amp;b=2#z",
        "http://b.example/*_$~",
    )
)
TEX = st.sampled_from(("x", r"\frac{a}{b}", "a_1^2", r"\|x\|", "a|b"))
LEAVES: st.SearchStrategy[Inline] = st.one_of(
    words().map(Text),
    words().map(Code),
    st.builds(Link, URLS, words()),
    URLS.map(lambda url: Link(url, url)),
    TEX.map(lambda tex: Formula(tex, f"${tex}$")),
)


def told_apart(inlines: list[Inline]) -> tuple[Inline, ...]:
    """No two of a kind side by side: Markdown cannot tell them apart."""
    kept: list[Inline] = []
    for inline in inlines:
        if not kept or type(inline) is not type(kept[-1]):
            kept.append(inline)
    return tuple(kept)


def rows_of(leaves: st.SearchStrategy[Inline]) -> st.SearchStrategy[tuple[Inline, ...]]:
    return st.lists(leaves, min_size=1, max_size=4).map(told_apart)


INLINES = rows_of(
    st.one_of(
        LEAVES,
        rows_of(st.one_of(LEAVES, rows_of(LEAVES).map(Emphasis))).map(Strong),
        rows_of(st.one_of(LEAVES, rows_of(LEAVES).map(Strong))).map(Emphasis),
    )
)
LINES = st.text(alphabet="ab中`~ #-\n", max_size=20)
FLAT: st.SearchStrategy[Block] = st.one_of(
    INLINES.map(Paragraph),
    st.builds(Heading, st.integers(1, 6), INLINES),
    st.builds(CodeBlock, LINES, st.sampled_from(("", "python", "c++"))),
    st.builds(Image, URLS, st.text(alphabet="ab中!", max_size=5)),
    st.just(Rule()),
    TEX.map(lambda tex: Paragraph((Formula(tex, f"$${tex}$$", display=True),))),
    st.integers(1, 3).flatmap(
        lambda n: st.lists(st.lists(INLINES, min_size=n, max_size=n).map(tuple), min_size=1, max_size=3).map(
            lambda rows: Table(tuple(rows))
        )
    ),
)
BLOCKS = st.recursive(
    FLAT,
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=3).map(tuple).map(Quote),
        st.builds(
            Listing,
            st.lists(st.lists(inner, min_size=1, max_size=3).map(tuple), min_size=1, max_size=3).map(tuple),
            st.sampled_from((None, 0, 1, 7)),
        ),
    ),
    max_leaves=6,
)


def read(markdown: str) -> list[Block]:
    """The blocks of a text."""
    return [placed.block for placed in blocks_of(markdown)]


@quick
@given(BLOCKS)
def test_a_block_reads_back_as_itself(block):
    """Literal text stays literal, marks stay marks, whatever stands beside them."""
    assert read(to_commonmark(block)) == [block]


@quick
@given(st.text(alphabet=st.characters(exclude_categories=("Cs", "Cc", "Cf", "Zl", "Zp")), min_size=1, max_size=80))
def test_any_text_reads_back_as_itself(text):
    """But for blanks at its ends."""
    text = text.strip()
    if text:
        assert read(to_commonmark(Paragraph((Text(text),)))) == [Paragraph((Text(text),))]


@pytest.mark.parametrize(
    ("block", "markdown"),
    [
        (Paragraph((Text("粗"), Strong((Text("体。"),)), Text("后文"))), "粗**体。**后文"),
        (Paragraph((Strong((Text("a."),)), Text("b"))), "**a.**&#98;"),
        (Paragraph((Strong((Text(" a "),)), Text("b"))), "**a** b"),
        (Paragraph((Strong((Emphasis((Text("a"),)),)),)), "**_a_**"),
        (Paragraph((Text("a\nb"),)), "a b"),
        (Paragraph((Code("a`b"),)), "``a`b``"),
        (Paragraph((Text("看!"), Link("https://a.b/(c)", "d"))), r"看\![d](<https://a.b/(c)>)"),
        (Paragraph((Formula("x", r"\(x\)"), Text("1"))), "$x$&#49;"),
        (Paragraph((Formula("a$b", r"\(a$b\)"),)), r"\\(a\$b\\)"),
        (Paragraph((Text("12. 月"),)), r"12\. 月"),
        (Heading(9, (Text("C #"),)), r"###### C \#"),
        (CodeBlock("```\na\n```", "md"), "````md\n```\na\n```\n````"),
        (Table((((Text("a|b"),),), ((Code("c|d"),),))), "| a\\|b |\n| --- |\n| `c\\|d` |"),
        (Image("https://a.b/c", "图 [1]"), r"![图 \[1\]](https://a.b/c)"),
        (Quote((Paragraph((Text("a"),)), Paragraph((Text("b"),)))), "> a\n>\n> b"),
        (
            Listing(((Paragraph((Text("a"),)), Listing(((Paragraph((Text("b"),)),),), 9)), (Paragraph((Text("c"),)),))),
            "- a\n\n  9. b\n\n- c",
        ),
    ],
    ids=lambda value: value[:12] if isinstance(value, str) else type(value).__name__,
)
def test_blocks_are_written_as_an_editor_would(block, markdown):
    """Canonical: one way for each thing."""
    assert to_commonmark(block) == markdown


def test_two_lists_side_by_side_stay_two():
    """Their marks differ."""
    entry = ((Paragraph((Text("a"),)),),)
    quote = Quote((Listing(entry), Listing(entry), Listing(entry), Listing(entry, 1), Listing(entry, 1)))

    assert re.findall(r"^> (\S+) a", to_commonmark(quote), re.MULTILINE) == ["-", "*", "-", "1.", "1)"]
    assert read(to_commonmark(quote)) == [quote]
