"""Which reader a file gets."""

import codecs
import json
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from bot.domain.errors import DigestError
from bot.reading.formats import Format, format_of, read

SHANGHAI = ZoneInfo("Asia/Shanghai")
PAGE = (
    "<!doctype html><html><head><title>日报 3月8日</title></head><body><h2>学习</h2><p>渡轮恢复夜航。</p></body></html>"
)
FEED = (
    '<?xml version="1.0"?><rss version="2.0"><channel><title>灯塔日报</title>'
    "<item><title>渡轮恢复夜航</title><link>https://a.example.com/1</link></item></channel></rss>"
)


@pytest.mark.parametrize(
    ("name", "content_type", "data", "expected"),
    [
        ("a.TXT", None, b"# a", Format.TEXT),
        ("a.text", "text/html", b"<html>", Format.TEXT),
        ("a.md", None, b"a", Format.MARKDOWN),
        ("2025.03.08.markdown", None, b"a", Format.MARKDOWN),
        ("a.html", None, b"a", Format.HTML),
        ("a.htm", None, b"a", Format.HTML),
        ("a.xml", None, b"a", Format.FEED),
        ("a.rss", None, b"a", Format.FEED),
        ("a.atom", None, b"a", Format.FEED),
        ("a.json", None, b"a", Format.JSON),
        ("feed.php", "application/rss+xml; charset=utf-8", b"a", Format.FEED),
        (None, "Text/HTML", b"a", Format.HTML),
        (None, "application/json", b"a", Format.JSON),
        (None, "text/plain", b"<rss version='2.0'>", Format.FEED),
        (None, None, codecs.BOM_UTF8 + b"\n<?xml version='1.0'?><feed>", Format.FEED),
        (None, None, "<?xml version='1.0'?><rss>".encode("utf-16"), Format.FEED),
        (None, None, b"<feed xmlns='http://www.w3.org/2005/Atom'>", Format.FEED),
        (None, None, b"<!-- a --><!DOCTYPE html>", Format.HTML),
        (None, None, b"<?xml version='1.0'?>\n<!DOCTYPE html><html>", Format.HTML),
        (None, None, b"<HTML>", Format.HTML),
        (None, None, b' {"digests": []}', Format.JSON),
        (None, None, b'[{"block_type": 1}]', Format.JSON),
        (None, None, "[图片] 渡轮".encode(), Format.TEXT),
        ("LICENSE", None, "渡轮".encode(), Format.TEXT),
        (None, None, b"", Format.TEXT),
    ],
)
def test_the_extension_decides_then_the_content_type_then_the_bytes(name, content_type, data, expected):
    """Plain text where nothing says otherwise."""
    assert format_of(data, name, content_type) is expected


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.txt", "日报 3月8日\n\n学习\n\n渡轮恢复夜航\n\n每小时一班。\n\nhttps://a.example.com/1"),
        ("a.md", "# 日报 3月8日\n\n## 学习\n\n### [渡轮恢复夜航](https://a.example.com/1)\n\n每小时一班。"),
        ("a.html", PAGE),
        ("a.xml", FEED),
        ("a.json", json.dumps({"digests": [{"sections": [{"items": [{"title": "渡轮恢复夜航"}]}]}]})),
        ("a.json", json.dumps({"version": "https://jsonfeed.org/version/1", "items": [{"title": "渡轮恢复夜航"}]})),
        ("a.json", json.dumps([{"block_id": "a", "block_type": 1, "page": {"elements": []}, "children": ["b"]},
                               {"block_id": "b", "block_type": 2, "parent_id": "a",
                                "text": {"elements": [{"text_run": {"content": "渡轮恢复夜航"}}]}}])),
    ],
    ids=["text", "markdown", "html", "rss", "own", "json feed", "docx"],
)  # fmt: skip
def test_every_format_is_read(name, data):
    """Each gives at least one digest."""
    reading = read(data.encode(), name=name, received_at=datetime(2025, 3, 9, tzinfo=SHANGHAI), zone=SHANGHAI)

    assert "渡轮恢复夜航" in repr(reading.digests)


@pytest.mark.parametrize(
    "document", [{}, [], 3, None, "text", {"items": []}, {"items": [{"title": "a"}]}, [[[[[[{}]]]]]]]
)
def test_json_of_another_kind_is_refused_saying_what_is_read(document: Any):
    """Never an empty list of digests."""
    with pytest.raises(DigestError) as caught:
        read(json.dumps(document).encode(), name="a.json", zone=SHANGHAI)

    assert caught.value.code == "unknown_json"
    assert all(word in caught.value.message for word in ("digest check --json", "JSON Feed", "Feishu document"))
