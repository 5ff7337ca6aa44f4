"""Documents as editors make them, saved from the API: each is read as a careful editor would read it."""

import json
from datetime import UTC, date, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from bot.domain.digest import Image, Reading, plain
from bot.reading.docx.reader import read_docx

FILES = Path(__file__).parents[1] / "fixtures" / "digests"


def read(name: str) -> Reading:
    document = json.loads((FILES / f"{name}.docx.json").read_text(encoding="utf-8"))
    at = datetime(2025, 3, 8, 1, tzinfo=UTC)
    return read_docx(document, name=f"{name}.docx.json", received_at=at, zone=ZoneInfo("Asia/Shanghai"))


@pytest.mark.parametrize(
    ("name", "sections"),
    [
        (
            "plain-lines",
            {
                "学习": [
                    ("长序列并行的显存账", "https://papers.example.org/abs/1301v2"),
                    ("低精度训练的稳定性", "https://papers.example.org/abs/1302"),
                ],
                "资讯": [("某公司开源推理框架", "https://news.example.org/2?utm_source=x")],
            },
        ),
        (
            "numbered-lists",
            {
                "论文": [
                    ("长序列并行的显存账", "https://papers.example.org/abs/1301"),
                    ("低精度训练的稳定性", "https://papers.example.org/abs/1302"),
                ],
                "资讯": [("开源推理框架发布，详见 公告", "https://news.example.org/2")],
            },
        ),
        (
            "table-of-papers",
            {
                "论文速览": [
                    ("长序列并行的显存账", "https://papers.example.org/abs/1301"),
                    ("低精度训练的稳定性", "https://papers.example.org/abs/1302"),
                ]
            },
        ),
        (
            "holes",
            {
                None: [
                    ("长序列并行的显存账", "https://papers.example.org/abs/1301"),
                    ("低精度训练的稳定性", "https://papers.example.org/abs/1302"),
                ]
            },
        ),
    ],
)
def test_sections_and_items_are_the_editors(name, sections):
    """Pasted lines, numbered lists, a table with a merged column, and a page with holes: the same stories."""
    [digest] = read(name).digests

    assert {one.name: [(item.title, item.url) for item in one.items] for one in digest.sections} == sections
    assert digest.day == date(2025, 3, 8)


def test_a_hole_stays_in_its_story_and_does_not_become_its_link():
    """The mark stands where the sheet stood; the picture keeps its caption."""
    reading = read("holes")
    first, second = reading.digests[0].items

    assert plain(first.blocks).endswith("[此处有一段暂时读不了的内容]（电子表格）。")
    assert Image("feishu-media:boxcn1", "溢出曲线") in second.blocks
    assert [warning.code for warning in reading.warnings] == ["unreadable_block"]


def test_what_is_merged_over_rows_is_told_in_each_story():
    """The direction of the second paper stands in the cell above."""
    [digest] = read("table-of-papers").digests

    assert ["系统" in plain(item.blocks) for item in digest.items] == [True, True]
