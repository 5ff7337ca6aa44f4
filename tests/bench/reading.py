"""Time and memory of reading by size, for each format: run as a script in a process of its own for each measurement."""

import contextlib
import json
import math
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

from bot.domain.errors import DigestError
from bot.reading.formats import read
from tests.unit.test_reading_fuzz import corpus

ROOT = Path(__file__).parents[2]
MIB = 1024 * 1024
SIZES_MIB = (0.25, 0.5, 1, 2, 4, 10)
ZONE = ZoneInfo("Asia/Shanghai")
RECEIVED = datetime(2025, 3, 9, tzinfo=ZONE)
STORY = (
    "渡轮从今天起恢复夜航，每小时一班，末班船在零点离开；北岸的仓库要改成书店，"
    "先统一字段名，再谈查询。Latency fell by 12% (p99)。"
)


def _url(number: int) -> str:
    return f"https://news.example.com/{number}?id={number}&from=digest"


def _text(number: int) -> str:
    formula = rf"\(x_{{{number}}} = \frac{{1}}{{k}}\)"
    return f"渡轮恢复夜航的第 {number} 天\n\n{STORY}\n\n其中 {formula}，{STORY}\n\n{_url(number)}\n\n"


def _markdown(number: int) -> str:
    title = f"### [渡轮恢复夜航的第 {number} 天]({_url(number)})\n\n"
    return f"{title}**要点。**{STORY} `code` $x_{{{number}}}$\n\n- {STORY}\n- 见 {_url(number)}\n\n"


def _html(number: int) -> str:
    link = f'<a href="{_url(number)}">渡轮恢复夜航的第 {number} 天</a>'
    return f"<h3>{link}</h3><p><strong>要点。</strong>{STORY}</p><ul><li>{STORY}</li><li><code>a</code></li></ul>\n"


def _rss(number: int) -> str:
    date = "<pubDate>Sat, 08 Mar 2025 07:00:00 GMT</pubDate>"
    link = f"<link>{_url(number).replace('&', '&amp;')}</link>"
    body = f"<description><![CDATA[<p>{STORY}</p><p>{STORY}</p>]]></description>"
    return f"<item><title>渡轮恢复夜航的第 {number} 天</title>{link}{date}{body}</item>\n"


def _json_feed(number: int) -> str:
    title, body = f"渡轮恢复夜航的第 {number} 天", f"<p>{STORY}</p><p>{STORY}</p>"
    return json.dumps({"id": str(number), "url": _url(number), "title": title, "content_html": body}) + ","


def _own(number: int) -> str:
    texts = [STORY, rf"其中 $x\_{{{number}}}$，{STORY}", f"见 <{_url(number)}>"]
    links = [{"text": _url(number), "url": _url(number)}]
    item = {"title": f"渡轮恢复夜航的第 {number} 天", "url": _url(number), "paragraphs": texts, "links": links}
    return json.dumps({**item, "text": STORY}, ensure_ascii=False) + ","


def _docx(number: int) -> str:
    runs = [{"text_run": {"content": STORY, "text_element_style": {"bold": True}}}]
    heading = {"text_run": {"content": f"第 {number} 天", "text_element_style": {"link": {"url": _url(number)}}}}
    blocks = [
        {"block_id": f"h{number}", "block_type": 5, "parent_id": "d", "heading3": {"elements": [heading]}},
        {"block_id": f"t{number}", "block_type": 2, "parent_id": "d", "text": {"elements": runs * 2}},
    ]
    return "".join(json.dumps(block, ensure_ascii=False) + "," for block in blocks)


def _docx_head(count: int) -> str:
    children = [f"{kind}{number}" for number in range(count) for kind in "ht"]
    page = {"elements": [{"text_run": {"content": "灯塔日报（3月8日）", "text_element_style": {}}}]}
    return (
        json.dumps([{"block_id": "d", "block_type": 1, "parent_id": "", "children": children, "page": page}])[:-1] + ","
    )


# name of a file → how it begins, one story, how it ends
FORMATS: dict[str, tuple[Callable[[int], str], Callable[[int], str], str]] = {
    "day.txt": (lambda _: "灯塔日报（3月8日）\n\n学习\n\n", _text, ""),
    "day.md": (lambda _: "# 灯塔日报 2025-03-08\n\n## 学习\n\n", _markdown, ""),
    "day.html": (lambda _: "<!doctype html><title>灯塔日报 2025-03-08</title><h2>学习</h2>", _html, ""),
    "feed.xml": (
        lambda _: '<?xml version="1.0"?><rss version="2.0"><channel><title>日报</title>',
        _rss,
        "</channel></rss>",
    ),
    "feed.json": (lambda _: '{"version":"https://jsonfeed.org/version/1.1","title":"日报","items":[', _json_feed, "]}"),
    "own.json": (lambda _: '{"digests":[{"day":"2025-03-08","sections":[{"items":[', _own, "]}]}]}"),
    "docx.json": (_docx_head, _docx, "]"),
}


def content(name: str, size: int) -> bytes:
    """A realistic file of about that many bytes."""
    start, story, end = FORMATS[name]
    count = max(1, size // len(story(1000).encode()))
    stories = "".join(map(story, range(count)))
    if end.startswith("]"):
        stories = stories.removesuffix(",")
    return f"{start(count)}{stories}{end}".encode()


def reading_slopes() -> None:
    """A line for each format: seconds and MiB of memory by size, and the exponent of the time (1 is linear)."""
    for name in FORMATS:
        measured = [_in_own_process(name, size) for size in SIZES_MIB]
        cells = [
            f"{size:>4} MiB {took:5.2f} s {mib:4.0f} MiB {said}"
            for size, (took, mib, said) in zip(SIZES_MIB, measured, strict=True)
        ]
        print(f"read {name:<10} {'  '.join(cells)}  slope {_slope(measured)}")


def reading_hostile() -> None:
    """The slowest inputs of the fuzz corpus at 1 MiB; the budget is 2 s each."""
    took: list[tuple[float, str]] = []
    for name, what, data in corpus(MIB):
        start = time.perf_counter()
        with contextlib.suppress(DigestError):
            read(data, name=name, received_at=RECEIVED, zone=ZONE)
        took.append((time.perf_counter() - start, f"{name} {what}"))
    took.sort(reverse=True)
    print(f"hostile 1 MiB: {len(took)} inputs, {sum(seconds > 2 for seconds, _ in took)} over 2 s; slowest:")
    for seconds, what in took[:5]:
        print(f"  {seconds:6.2f} s  {what}")


def _slope(measured: list[tuple[float, float, str]]) -> str:
    """Between the smallest and the largest that were read."""
    read_ones = [(size, took) for size, (took, _, said) in zip(SIZES_MIB, measured, strict=True) if said == "read"]
    if len(read_ones) < 2:
        return "-"
    (small, quick), (large, slow) = read_ones[0], read_ones[-1]
    return f"{math.log(slow / quick) / math.log(large / small):.2f}"


def _in_own_process(name: str, size_mib: float) -> tuple[float, float, str]:
    command = [sys.executable, "-m", "tests.bench.reading", name, str(size_mib)]
    done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    took, mib, said = done.stdout.split()
    return float(took), float(mib), said


def _measure(name: str, size_mib: float) -> None:
    data = content(name, int(size_mib * MIB))
    start = time.perf_counter()
    try:
        read(data, name=name, received_at=RECEIVED, zone=ZONE)
        said = "read"
    except DigestError as exc:
        said = f"refused:{exc.code}"
    took = time.perf_counter() - start
    print(f"{took:.3f} {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} {said}")


if __name__ == "__main__":
    _measure(sys.argv[1], float(sys.argv[2]))
