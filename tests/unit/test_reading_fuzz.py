"""Hostile input of every format: a reading or a refusal, never anything else. The corpus is the same on every run."""

import json
import random
import zlib
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from bot.domain.errors import DigestError
from bot.reading.formats import read

SHANGHAI = ZoneInfo("Asia/Shanghai")
SIZE = 16 * 1024

# What a parser counts, nests, or looks for to the end of the text: repeated until the size is reached.
MONOTONOUS: dict[str, tuple[str, ...]] = {
    "a.txt": (
        "$",
        "$$\n",
        "\\[",
        "\\(\\)",
        "(",
        "http://",
        "http://a/(",
        "1、甲\n",
        "日报 3月8日\n",
        "甲\n\n",
        "\0",
        "\u200d",
    ),
    "a.md": (
        *(
            "[",
            "![",
            "](",
            "[a](b",
            "*",
            "**a ",
            "_",
            "`",
            "`a``b",
            "~",
            "~~",
            "<",
            "<a ",
            "<!--",
            "<![CDATA[",
            "&",
            "&#",
        ),
        *(
            "> ",
            "- ",
            "1. ",
            "# ",
            "#" * 7,
            "| a ",
            "|\n",
            "| - |\n",
            "```\n",
            "~~~\n",
            "---\n",
            "===\n",
            "\t",
            "    a\n",
        ),
        *(
            "[a]: b\n",
            "[^1]",
            "$",
            "$$",
            "$$\n",
            "$a",
            "\\",
            "https://a.b/(",
            "- a\n\n",
            "a\n",
            "***a***",
            "<details>\n",
        ),
        *("[a][b]", "<b>", "</b>", "\r", "a<br>", "> - ", "- > ", "* a\n  ", "|a|\n|-|\n"),
    ),
    "a.html": (
        *(
            "<div>",
            "<a ",
            "<a href=",
            "<!--",
            "<!",
            "<",
            "<p>",
            "</p>",
            "<b><i>",
            "</b>",
            "<table>",
            "<tr><td>",
            "<td>",
        ),
        *("<ul><li>", "<li>", "<blockquote>", "<svg>", "<math>", "<script>", "<style>", "<template>", "<select>", "&"),
        *(
            "&amp;",
            "&#x110000;",
            "<p style='a",
            "<font>",
            "<h1>",
            "<br>",
            "<img>",
            "<pre>\n",
            "<![CDATA[",
            "<?",
            "<form>",
        ),
        *("<a href=x>", "<span>a", "<frameset>", "<plaintext>", "<noscript>", "<iframe>", "</"),
    ),
    "a.xml": (
        *("<", "<a>", "<item>", "<item><title>a</title></item>", "<!--", "<![CDATA[", "&", "&amp;", "&#0;", "<entry>"),
        *(
            "<a b='",
            "<title>",
            "</title>",
            "<description>&lt;a ",
            "<!ENTITY a 'b'>",
            "<?a ",
            "<a:b>",
            "<link>",
            "<content>",
        ),
    ),
    "a.json": ("[", "{", '{"a":', "[]", "[],", '"', '"\\u', "1", "1e9", "-", "null,", '{"digests":['),
}
# Around the monotonous part, so that it is reached inside a document that begins well.
FRAMES = {
    "a.txt": ("日报 3月8日\n\n学习\n\n", "\n\n渡轮恢复夜航\n\n每小时一班。\n\nhttps://a.example.com/1\n"),
    "a.md": (
        "# 日报 2025-03-08\n\n## 学习\n\n### 渡轮\n\n",
        "\n\n### [夜航](https://a.example.com/1)\n\n每小时一班。\n",
    ),
    "a.html": ("<!doctype html><title>日报</title><h2>学习</h2><h3>渡轮</h3>", "<h3>夜航</h3><p>每小时一班。</p>"),
    "a.xml": ('<?xml version="1.0"?><rss version="2.0"><channel><title>日报</title>', "</channel></rss>"),
    "a.json": ('{"digests":[{"day":"2025-03-08","sections":[{"items":[{"title":"渡轮"}', "]}]}]}"),
}
WORDS = ("渡轮恢复夜航", "每小时一班。", "https://a.example.com/1", "\n", "\n\n", " ")


def corpus(size: int) -> Iterator[tuple[str, str, bytes]]:
    """File name, what is in it, and its bytes: about `size` of them, whatever the format."""
    for name, repeated in MONOTONOUS.items():
        start, end = FRAMES[name]
        for piece in repeated:
            body = piece * (size // len(piece.encode()))
            yield name, repr(piece), body.encode()
            yield name, f"{piece!r} framed", f"{start}{body}{end}".encode()
        for seed in range(2):
            tokens = _random(f"{name}{seed}").choices((*repeated, *WORDS), k=size // 6)
            yield name, f"tokens {seed}", f"{start}{''.join(tokens)}{end}".encode()[:size]
    yield from _documents(size)
    for name in MONOTONOUS:
        bytes_at_random = _random(name).randbytes(size)
        yield name, "bytes", bytes_at_random
        yield name, "gb18030", bytes_at_random.decode("gb18030", "ignore").encode("gb18030", "ignore")
        yield name, "utf-16", bytes_at_random.decode("utf-16", "ignore").encode("utf-16", "ignore")


def _random(seed: str) -> random.Random:
    return random.Random(zlib.crc32(seed.encode()))


def _documents(size: int) -> Iterator[tuple[str, str, bytes]]:
    """JSON whose texts are hostile in their turn: Markdown in our own shape, HTML in a feed, blocks in a circle."""
    for piece in MONOTONOUS["a.md"]:
        text = piece * (size // len(piece.encode()))
        yield "a.json", f"own {piece!r}", _dumped(_own([text]))
    yield "a.json", "own, many", _dumped(_own(["*a*"] * (size // 8)))
    yield "a.json", "own, items", _dumped(_own([], size // 16))
    for piece in MONOTONOUS["a.html"]:
        item = {"id": "1", "content_html": piece * (size // len(piece.encode()))}
        yield "a.json", f"feed {piece!r}", _dumped({"version": "https://jsonfeed.org/version/1", "items": [item]})
    for kind, children in _BLOCK_TREES.items():
        yield "a.json", f"docx {kind}", _dumped(_blocks(size // 100, children))
    for value in (None, 3, [], {}, "x", [None], {"a": None}):
        yield "a.json", f"feed of {value!r}", _dumped({"version": "https://jsonfeed.org/version/1", "items": value})
        yield (
            "a.json",
            f"blocks of {value!r}",
            _dumped({"items": [{"block_type": 2, "text": value, "children": value}]}),
        )


def _own(paragraphs: list[str], items: int = 1) -> dict[str, Any]:
    item = {"title": "渡轮", "paragraphs": paragraphs}
    return {"digests": [{"day": "2025-03-08", "sections": [{"items": [item] * items}]}]}


_BLOCK_TREES: dict[str, Callable[[int, int], list[str]]] = {
    "chain": lambda number, count: [str(number + 1)] if number + 1 < count else [],
    "circle": lambda number, count: [str((number + 1) % count)],
    "itself": lambda number, _: [str(number)],
    "flat": lambda number, count: list(map(str, range(1, count))) if number == 0 else [],
    "twice": lambda number, count: [str(number + 1)] * 2 if number + 1 < min(count, 40) else [],
}


def _blocks(count: int, children: Callable[[int, int], list[str]]) -> list[dict[str, Any]]:
    text = {"elements": [{"text_run": {"content": "渡轮恢复夜航"}}]}
    kinds = ((1, "page"), (2, "text"), (12, "bullet"), (34, "quote_container"))
    made = []
    for number in range(count):
        kind, key = kinds[0] if number == 0 else kinds[number % 3 + 1]
        made.append({"block_id": str(number), "block_type": kind, key: text, "children": children(number, count)})
    return made


def _dumped(document: Any) -> bytes:
    return json.dumps(document, ensure_ascii=False).encode()


@pytest.mark.parametrize("name", MONOTONOUS)
def test_hostile_input_is_read_or_refused(name):
    """A refusal is one line for a human; a reading has at least one digest."""
    failed = []
    for file, what, data in corpus(SIZE):
        if file == name and (problem := _problem(file, data)):
            failed.append(f"{what}: {problem}")
    assert failed == []


def _problem(name: str, data: bytes) -> str | None:
    try:
        reading = read(data, name=name, received_at=datetime(2025, 3, 9, tzinfo=SHANGHAI), zone=SHANGHAI)
    except DigestError as exc:
        return None if str(exc) and "\n" not in str(exc) else f"an unreadable refusal {str(exc)[:80]!r}"
    except Exception as exc:  # noqa: BLE001  any other error is what this test looks for
        return f"{type(exc).__name__} {str(exc)[:80]}"
    return None if reading.digests else "no digest"
