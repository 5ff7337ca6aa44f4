"""RSS, Atom and JSON Feed: one entry is one item, whatever state the feed is in."""

import json
from datetime import UTC, date, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.domain.digest import Image, Reading, links, plain
from bot.domain.errors import DigestError
from bot.reading.feed.reader import read_feed, read_json_feed

FIXTURES = Path(__file__).parents[1] / "fixtures" / "digests"
SHANGHAI = ZoneInfo("Asia/Shanghai")
ARRIVED = datetime(2026, 3, 9, 9, tzinfo=SHANGHAI)
MEBIBYTE = 1 << 20
HEAD = '<rss version="2.0"><channel><title>日报</title>'


def read_fixture(name):
    """Read a fixture that arrived on 9 March 2026."""
    data = (FIXTURES / name).read_bytes()
    if name.endswith(".json"):
        return read_json_feed(json.loads(data), received_at=ARRIVED, zone=SHANGHAI)
    return read_feed(data, received_at=ARRIVED, zone=SHANGHAI)


def read_items(items):
    """The items of an RSS feed with this inside."""
    (digest,) = read_feed(f"{HEAD}{items}</channel></rss>".encode(), received_at=ARRIVED, zone=SHANGHAI).digests
    return digest.items


def test_rss_is_read_field_by_field():
    """Relative links, a permalink as the only address, Chinese dates, categories, enclosures."""
    # when
    reading = read_fixture("rss.xml")

    # then
    (digest,) = reading.digests
    first, second, third = digest.items
    assert (digest.title, digest.day) == ("码头 & 灯塔日报", date(2026, 3, 5))
    assert (first.title, first.url) == ("吊车 <旧型> 退役", "https://feed.example.com/daily/1")
    assert (first.tags, first.published_at) == (("设备",), datetime(2026, 3, 5, 0, 0, tzinfo=UTC))
    assert plain(first.blocks[:2]) == "一共 三台。\n见图。"
    assert [link.url for link in links(first.blocks)] == ["https://img.example.com/x"]
    assert first.blocks[2] == Image("https://img.example.com/1.png", "")
    assert (second.title, second.url) == ("没有标题的一条", "https://feed.example.com/2")
    assert plain(second.blocks) == "没有标题的一条。后面还有一句。"
    assert (third.title, third.published_at) == ("写在未来", None)


def test_what_is_left_out_of_a_feed_is_listed():
    """What the feed says of itself, the summary beside the text, the same story again, an empty entry."""
    dropped = {(each.text, each.reason) for each in read_fixture("rss.xml").dropped}
    assert dropped == {
        ("每天一份", "频道简介"),
        ("一句摘要。", "摘要，另有正文"),
        ("重复的一条", "重复的条目"),
        ("第 5 条", "空条目"),
    }


def test_atom_takes_the_link_to_the_page_and_the_day_in_the_title():
    """Neither the comments nor the feed itself is the story."""
    (digest,) = read_fixture("atom.xml").digests
    (item,) = digest.items
    assert (digest.day, digest.day_end) == (date(2026, 3, 2), date(2026, 3, 8))
    assert (item.title, item.url, item.source) == ("灯光 <b> 换成 LED", "https://atom.example.com/1", "读者甲")


def test_a_json_feed_is_read_whatever_types_its_values_have():
    """A value of another type is no value; what is no entry is passed over."""
    # when
    (digest,) = read_fixture("pier.feed.json").digests

    # then
    first, second, third = digest.items
    assert (first.url, first.tags, first.source) == ("https://json.example.com/1", ("施工",), "编辑")
    assert plain(first.blocks[:2]) == "先换东侧。\n再换西侧。"
    assert first.blocks[2] == Image("https://img.example.com/pier.png", "")
    assert (second.url, plain(second.blocks)) == ("https://else.example.org/a", "第一行\n第二行")
    assert (third.title, plain(third.blocks)) == ("只有摘要的一条", "只有摘要的一条。")
    assert digest.day == date(2026, 3, 5)


def test_bytes_count_more_than_what_a_feed_declares():
    """GB18030 called gb2312, UTF-8 called gbk, and no declaration at all."""
    feed = f"{HEAD}<item><title>朱镕喆與價格</title></item></channel></rss>"
    for declared, encoding in (("gb2312", "gb18030"), ("gbk", "utf-8"), ("utf-8", "gb18030"), ("", "gb18030")):
        declaration = f'<?xml version="1.0" encoding="{declared}"?>' if declared else ""
        (digest,) = read_feed((declaration + feed).encode(encoding), zone=SHANGHAI).digests
        assert digest.items[0].title == "朱镕喆與價格"


def test_a_broken_feed_is_read_as_far_as_it_goes():
    """A bare ampersand, a control character, an end that is missing."""
    data = f"{HEAD}<item><title>甲 & 乙</title><description>a\x0bb</description></item><item><title>丙".encode()
    reading = read_feed(data, zone=SHANGHAI)
    assert [item.title for item in reading.digests[0].items] == ["甲 & 乙", "丙"]
    assert "broken_xml" in {warning.code for warning in reading.warnings}


def test_stories_that_only_link_to_the_home_page_stay_apart():
    """Such a link does not say which story it is."""
    same = "<link>https://x.example.com/</link>"
    items = read_items(f"{same}<item><title>甲</title>{same}</item><item><title>乙</title>{same}</item>")
    assert [item.title for item in items] == ["甲", "乙"]
    assert items[0].key != items[1].key


def test_hostile_html_costs_one_entry_its_text_and_not_the_feed():
    """The others are read, and an editor is told."""
    # when
    deep = "<![CDATA[" + "<div>" * 20_000 + "]]>"
    feed = f"{HEAD}<item><title>甲</title><description>{deep}</description></item><item><title>乙</title></item>"
    reading = read_feed(f"{feed}</channel></rss>".encode(), zone=SHANGHAI)

    # then
    assert [item.title for item in reading.digests[0].items] == ["甲", "乙"]
    assert "unreadable_text" in {warning.code for warning in reading.warnings}


@pytest.mark.parametrize(
    "entity", ['<!ENTITY a "b">', '<!ENTITY a SYSTEM "file:///etc/hostname">', '<!ENTITY % a "b">']
)
def test_a_feed_that_defines_entities_is_refused(entity):
    """A few lines of them can stand for gigabytes, or for a file of ours."""
    feed = (
        f"<?xml version='1.0'?><!-- x --><!DOCTYPE rss [{entity}]>{HEAD}<item><title>&a;</title></item></channel></rss>"
    )
    with pytest.raises(DigestError) as caught:
        read_feed(feed.encode(), zone=SHANGHAI)
    assert caught.value.code == "unsafe"


@pytest.mark.parametrize(("data", "code"), [(b"hello", "not_a_feed"), (b"<html><p>x</p></html>", "not_a_feed")])
def test_what_is_no_feed_is_refused(data, code):
    """With the cure in the message."""
    with pytest.raises(DigestError) as caught:
        read_feed(data, zone=SHANGHAI)
    assert caught.value.code == code


def test_a_feed_without_entries_is_refused():
    """A digest of nothing is none."""
    with pytest.raises(DigestError, match="no entry"):
        read_items("")


HOSTILE = {
    "items never closed": HEAD + "<item>" * (MEBIBYTE // 6),
    "tags never ended": HEAD + "<a " * (MEBIBYTE // 3),
    "ampersands": HEAD + "&" * MEBIBYTE,
    "categories": f"{HEAD}<item>{''.join(f'<category>{n}</category>' for n in range(37_000))}</item></channel></rss>",
    "keywords": f"{HEAD}<item><itunes:keywords>{','.join(map(str, range(150_000)))}</itunes:keywords></item>",
    "comments": HEAD + "<!--" * (MEBIBYTE // 4),
    "html in one entry": f"{HEAD}<item><description><![CDATA[{'<a ' * (MEBIBYTE // 3)}]]></description></item>",
    "nested elements": HEAD + "<x>" * (MEBIBYTE // 3),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_mebibyte_of_hostile_feed_comes_to_an_end(name):
    """Read or refused with a reason."""
    # when
    try:
        result = read_feed(HOSTILE[name].encode(), zone=SHANGHAI)
    except DigestError as error:
        result = error

    # then
    assert isinstance(result, Reading | DigestError)


MARKUP = (
    "<rss> <channel> <item> </item> <title> </title> <link> </link> <guid> <description> <![CDATA[ ]]> &amp; & < <feed>"
    " <entry> </entry> <content> <category/> <pubDate> </pubDate> <updated> 2026-03-05 <!DOCTYPE [ ]>"
)
PIECES = st.one_of(st.sampled_from(MARKUP.split()), st.text(max_size=8))


@settings(max_examples=300, deadline=None)
@given(st.lists(PIECES, max_size=30).map("".join), st.booleans())
def test_any_text_is_a_reading_or_a_reason(text, is_framed):
    """Never a traceback, never a reading without a digest."""
    data = (f"{HEAD}<item>{text}" if is_framed else text).encode("utf-8", "surrogatepass")
    try:
        result = read_feed(data, received_at=ARRIVED, zone=SHANGHAI)
    except DigestError as error:
        result = error
    assert isinstance(result, DigestError) or len(result.digests) == 1


VALUES = st.recursive(st.none() | st.integers() | st.text(max_size=5), lambda inner: st.lists(inner, max_size=3))
KEYS = (
    "id url external_url title content_html content_text summary image tags authors author attachments date_published"
)
ENTRIES = st.dictionaries(st.sampled_from(KEYS.split()), VALUES)


@settings(max_examples=300, deadline=None)
@given(st.fixed_dictionaries({"title": VALUES, "items": st.lists(ENTRIES | VALUES, max_size=4)}))
def test_any_json_is_a_reading_or_a_reason(document):
    """Whatever the types are."""
    try:
        result = read_json_feed(document, received_at=ARRIVED, zone=SHANGHAI)
    except DigestError as error:
        result = error
    assert isinstance(result, DigestError) or len(result.digests) == 1
