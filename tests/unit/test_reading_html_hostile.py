"""Hostile HTML: read or refused, quickly, and without losing a letter."""

from collections import Counter
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.domain.digest import plain
from bot.domain.errors import DigestError
from bot.reading.html.page import Page, read_page
from bot.reading.html.reader import read_html

SHANGHAI = ZoneInfo("Asia/Shanghai")
MEBIBYTE = 1 << 20

HOSTILE = {
    "comments": "<!--" * (MEBIBYTE // 4),
    "tags never ended": "<a " * (MEBIBYTE // 3),
    "nested divs": "<div>" * 50_000,
    "nested quotes": "<blockquote>x" * (MEBIBYTE // 13),
    "bold never closed": "".join(f"<p><b id={number}>x" for number in range(20_000)),
    "lists in definitions": "<li><dd>" * (MEBIBYTE // 8),
    "list entries": "<li>x" * 80_000,
    "cells": "<table>" + "<tr><td>x" * 40_000,
    "a long attribute": '<p class="' + "x-title " * (MEBIBYTE // 8) + '">x',
    "many attributes": "<p " + " ".join(f"a{number}" for number in range(150_000)) + ">x",
    "quotes in a tag": '<p a="' * (MEBIBYTE // 6),
    "scripts never closed": "<script>" * (MEBIBYTE // 8),
    "templates": "<template>" * (MEBIBYTE // 10),
    "a deep formula": "<math>" + "<mrow>" * 4_000 + "x",
    "dollars": "$x " * (MEBIBYTE // 3),
    "links": "<a href='https://[x'>a</a>" * 30_000,
}

NAMES = "div p b span table tr td li ul h2 pre blockquote section nav a br img svg math dd select"
TAGS = st.sampled_from(NAMES.split())
PIECES = st.one_of(
    st.builds("<{}>".format, TAGS),
    st.builds("</{}>".format, TAGS),
    st.text(alphabet="甲乙ab <>&;\"'=-!/$\\", max_size=12),
    st.sampled_from(["<!--", "-->", "<script>", "</script>", "<a href='https://x.example.com/'>", "<p hidden>", "\0"]),
)


@pytest.mark.parametrize("name", HOSTILE)
def test_a_mebibyte_of_hostile_markup_comes_to_an_end(name):
    """Read or refused with a reason."""
    # when
    try:
        result = read_page(HOSTILE[name])
    except DigestError as error:
        result = error

    # then
    assert isinstance(result, Page | DigestError)


def test_a_deep_tree_within_the_limits_is_read_without_recursion():
    """Lists and quotes are flattened below a depth that no editor uses, so that nobody recurses over them later."""
    page = read_page("<ul><li>" * 400 + "<blockquote>" * 400 + "<div>" * 2_000 + "底")
    assert plain(page.blocks) == "底"


def test_a_picture_inside_the_page_does_not_count_against_its_size():
    """Saved pages hold pictures of megabytes as text."""
    page = read_page(f"<p>字</p><img src='data:image/png;base64,{'A' * 5_000_000}' alt='图'>")
    assert plain(page.blocks) == "字\n图"


@settings(max_examples=300, deadline=None)
@given(st.lists(PIECES, max_size=40).map("".join))
def test_no_visible_letter_is_lost(html):
    """What the tree holds as text stands in a block or in the list of what was left out."""
    # given
    from selectolax.lexbor import LexborHTMLParser

    tree = LexborHTMLParser(html)
    for silent in tree.css("title, script, style, math"):
        silent.decompose()
    letters = Counter(char for char in tree.root.text() if char.isalnum())

    # when
    page = read_page(html)

    # then
    kept = Counter(plain(page.blocks) + "".join(text for text, _ in page.dropped))
    assert letters - kept == Counter()


@settings(max_examples=200, deadline=None)
@given(st.binary() | st.lists(PIECES, max_size=30).map(lambda pieces: "".join(pieces).encode("utf-8", "replace")))
def test_any_bytes_are_a_reading_or_a_reason(data):
    """Never a traceback, never a reading without a digest."""
    try:
        result = read_html(data, zone=SHANGHAI)
    except DigestError as error:
        result = error
    assert isinstance(result, DigestError) or result.digests


@settings(max_examples=300, deadline=None)
@given(st.text())
def test_any_text_is_read(text):
    """No traceback, whatever it is; half a surrogate pair included."""
    read_page(text + "\ud800")
