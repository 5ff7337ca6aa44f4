"""Digests out of a wiki and a table: the sources, the SDK's calls, real HTTP, and a sandbox with its limits on."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
import stamina

from bot.domain.digest import Formula, Image, Table, links, plain, plain_inlines
from bot.domain.errors import ConfigError
from bot.feishu.client import FeishuClient
from bot.feishu.documents import FeishuDocuments
from bot.sandbox.app import Sandbox, SandboxSettings
from bot.sandbox.clock import Clock
from bot.sandbox.faults import Fault
from bot.sandbox.state import Node
from bot.serving import listen, serving
from bot.sources.bitable import BitableSource
from bot.sources.feishu_wiki import FeishuWikiSource
from tests.docx_builder import equation, heading, lines, other, run, table, text

pytestmark = pytest.mark.anyio

ZONE = ZoneInfo("Asia/Shanghai")
NOW = datetime(2025, 3, 8, 1, tzinfo=UTC)
HOUR = timedelta(hours=1)


@pytest.fixture(autouse=True)
def no_waiting():
    """Retries happen at once; what the platform tells us to wait passes on the sandbox's clock."""
    with stamina.set_testing(True, attempts=5):
        yield


@dataclass
class Wiki:
    """A space of the sandbox, and what reads it."""

    sandbox: Sandbox
    documents: FeishuDocuments
    space: str

    def page(self, title: str, *families: Any, edited_at: datetime = NOW - HOUR, parent: str = "", **more: Any) -> Node:
        library = self.sandbox.library
        at = edited_at.timestamp()
        return library.add_page(self.space, title, lines(*families), parent=parent, edited_at=at, **more)

    def source(self, node: str | None = None, **more: Any) -> FeishuWikiSource:
        return FeishuWikiSource(self.documents, space=None if node else self.space, node=node, zone=ZONE, **more)

    async def titles(self, node: str | None = None) -> list[str | None]:
        found, errors = await self.source(node).load(NOW)
        assert errors == []
        return [one.digest.title for one in found]


@pytest.fixture
async def wiki() -> AsyncIterator[Wiki]:
    """Limits are on; time passes only where our side waits."""
    async with serving_wiki(SandboxSettings()) as made:
        yield made


@contextlib.asynccontextmanager
async def serving_wiki(settings: SandboxSettings) -> AsyncIterator[Wiki]:
    sandbox = Sandbox(settings, clock=Clock(NOW.timestamp))

    async def sleep(seconds: float) -> None:
        sandbox.clock.advance(seconds)
        await asyncio.sleep(0)

    listener = listen("127.0.0.1", 0)
    url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    async with serving(sandbox.app, listener), FeishuClient(url, settings.app_id, settings.app_secret) as client:
        documents = client.documents(clock=sandbox.clock.now, sleep=sleep)
        yield Wiki(sandbox, documents, sandbox.library.add_space("灯塔日报"))


def item(title: str, number: int, *more: Any) -> list[dict[str, Any]]:
    """A heading with a link, a sentence, and whatever follows."""
    link = f"https%3A%2F%2Fpapers.example.org%2Fabs%2F{number}"
    return lines(heading(3, run(title, link=link)), text(f"{title}的做法与结果，都在这一句里说完。"), *more)


async def test_a_whole_space_with_formula_picture_table_and_a_forbidden_page_is_the_right_edition(wiki: Wiki):
    """Two warnings, for the forbidden child page and the unreadable block, and nothing lost."""
    board = other(43, board={"token": "b"})
    wiki.page("值班安排", text("与日报无关。"))
    march = wiki.page("2025年3月")
    picture = wiki.sandbox.library.add_media("图", b"\x89PNG")
    today = wiki.page(
        "灯塔日报（3月8日学术篇）",
        text("欢迎订阅灯塔日报。"),
        heading(1, "论文"),
        item(
            "长序列并行的显存账",
            1301,
            text("注意力是 ", equation("\\mathrm{softmax}(QK^\\top)V\n"), "，显存随长度平方增长。"),
            other(27, image={"token": picture, "caption": {"content": "显存曲线"}}),
            table([["长度", "显存"], ["8k", "12 GB"]]),
        ),
        item("低精度训练的稳定性", 1302, board),
        parent=march.node_token,
    )
    wiki.page("产业", item("新芯片发布", 1401), parent=today.node_token)
    secret = wiki.page("内部", text("不给应用看。"), parent=today.node_token)
    wiki.sandbox.library.forbid(secret.obj_token)

    reading, _ = await wiki.source().read_page(await wiki.documents.node(today.node_token), NOW)
    found, errors = await wiki.source().load(NOW)

    [digest] = reading.digests
    assert [one.digest for one in found] == [digest]
    assert errors == []
    assert (digest.title, digest.day, digest.label) == ("灯塔日报（3月8日学术篇）", date(2025, 3, 8), "学术篇")
    assert [(one.title, one.url) for one in digest.items] == [
        ("长序列并行的显存账", "https://papers.example.org/abs/1301"),
        ("低精度训练的稳定性", "https://papers.example.org/abs/1302"),
        ("新芯片发布", "https://papers.example.org/abs/1401"),
    ]
    first = digest.items[0].blocks
    formulas = [one.tex for block in first for one in getattr(block, "inlines", ()) if isinstance(one, Formula)]
    assert formulas == [r"\mathrm{softmax}(QK^\top)V"]
    assert Image(f"feishu-media:{picture}", "显存曲线") in first
    [grid] = [block for block in first if isinstance(block, Table)]
    assert [[plain_inlines(cell) for cell in row] for row in grid.rows] == [["长度", "显存"], ["8k", "12 GB"]]
    assert sorted(warning.code for warning in reading.warnings) == ["unreadable_block", "unreadable_block"]
    everything = [*digest.intro, *(block for one in digest.items for block in one.blocks), *digest.outro]
    assert plain(everything).count("[此处有一段暂时读不了的内容]") == 2
    assert wiki.documents.address(secret.node_token) in [link.url for link in links(everything)]
    assert wiki.documents.address(today.node_token) in [link.url for link in links(everything)]
    assert wiki.sandbox.limits.answers == []


async def test_only_pages_with_a_day_that_were_edited_lately_are_digests(wiki: Wiki):
    """Neither last month's page that somebody mended, nor a page without a day, nor one of long ago."""
    wiki.page("灯塔日报（3月8日）", item("新", 1))
    wiki.page("灯塔日报（3月1日）", item("旧", 2), edited_at=NOW - timedelta(days=8))
    wiki.page("灯塔日报（2024年3月1日）", item("补", 3))
    wiki.page("写作指南", item("教", 4))
    wiki.page("灯塔日报（3月7日）", obj_type="sheet")

    assert await wiki.titles() == ["灯塔日报（3月8日）"]


async def test_a_parent_node_is_a_place_to_start_from(wiki: Wiki):
    """What stands beside it is not looked at."""
    parent = wiki.page("学术日报")
    wiki.page("学术日报（3月8日）", item("一", 1), parent=parent.node_token)
    wiki.page("产业日报（3月8日）", item("二", 2))

    assert await wiki.titles(parent.node_token) == ["学术日报（3月8日）"]


async def test_child_pages_are_parts_where_the_page_lists_them_and_digests_where_they_have_another_day(wiki: Wiki):
    """A page of two days with a page for one of them, and with a part that has no day."""
    week = wiki.page(
        "灯塔日报（3月7-8日）", heading(1, "论文"), item("一", 1), other(51, sub_page_list={}), text("再会。")
    )
    wiki.page("开源", item("二", 2), parent=week.node_token)
    wiki.page("灯塔日报（3月7日）", item("三", 3), parent=week.node_token)

    found, errors = await wiki.source().load(NOW)

    assert errors == []
    assert [[one.title for one in each.digest.items] for each in found] == [["一", "二"], ["三"]]


async def test_a_shortcut_is_read_once_and_its_children_are_those_of_its_origin(wiki: Wiki):
    """The same object under two nodes is one digest."""
    elsewhere = wiki.sandbox.library.add_space("别处")
    origin = wiki.sandbox.library.add_page(elsewhere, "灯塔日报（3月8日）", lines(item("一", 1)))
    wiki.sandbox.library.add_page(elsewhere, "续", lines(item("二", 2)), parent=origin.node_token)
    for _ in range(2):
        wiki.sandbox.library.add_shortcut(wiki.space, origin.node_token)

    [found] = (await wiki.source().load(NOW))[0]

    assert [one.title for one in found.digest.items] == ["一", "二"]


async def test_synced_blocks_are_read_from_the_document_they_come_from(wiki: Wiki):
    """One that the app may not read leaves a mark."""
    shared = lines(
        other(49, (text("每天都一样的一句。"),), source_synced={}), other(49, (text("另一句。"),), source_synced={})
    )
    source = wiki.sandbox.library.add_document("公用", shared)
    secret = wiki.sandbox.library.add_document("密", lines(text("密")))
    wiki.sandbox.library.forbid(secret.document_id)
    here = {"source_document_id": source.document_id, "source_block_id": shared[0]["block_id"]}
    also = {"source_document_id": source.document_id, "source_block_id": shared[2]["block_id"]}
    gone = {"source_document_id": secret.document_id, "source_block_id": "x"}
    page = wiki.page(
        "灯塔日报（3月8日）",
        item("一", 1),
        other(50, reference_synced=here),
        other(50, reference_synced=also),
        other(50, reference_synced=gone),
    )

    reading, _ = await wiki.source().read_page(await wiki.documents.node(page.node_token), NOW)

    [digest] = reading.digests
    said = plain([*digest.items[0].blocks, *digest.outro])
    assert "每天都一样的一句。" in said
    assert "另一句。" in said
    assert [warning.code for warning in reading.warnings] == ["unreadable_block"]


async def test_a_page_that_may_not_be_read_is_an_error_with_the_cure_and_others_are_read(wiki: Wiki):
    """The address says which, the text what to do."""
    secret = wiki.page("灯塔日报（3月7日）", item("一", 1))
    wiki.page("灯塔日报（3月8日）", item("二", 2))
    wiki.sandbox.library.forbid(secret.obj_token)

    found, [error] = await wiki.source().load(NOW)

    assert [one.digest.day for one in found] == [date(2025, 3, 8)]
    assert (error.code, error.path) == ("forbidden", wiki.documents.address(secret.node_token))
    assert "添加文档应用" in error.message


async def test_a_space_that_may_not_be_read_is_one_error(wiki: Wiki):
    """There is nothing else to tell."""
    top = wiki.page("日报")
    wiki.sandbox.library.forbid(top.node_token)

    found, [error] = await wiki.source(top.node_token).load(NOW)

    assert (found, error.code) == ([], "forbidden")


async def test_child_pages_that_the_app_does_not_see_leave_a_mark(wiki: Wiki):
    """The platform lists no page without permission, but it says that there are some."""
    page = wiki.page("灯塔日报（3月8日）", item("一", 1))
    hidden = wiki.page("内部", parent=page.node_token)
    wiki.sandbox.library.forbid(hidden.node_token)

    reading, _ = await wiki.source().read_page(await wiki.documents.node(page.node_token), NOW)

    assert [warning.code for warning in reading.warnings] == ["unreadable_block"]


async def test_limit_answers_and_faults_that_pass_cost_no_digest(wiki: Wiki):
    """400, 429, a gateway's page and a dead token in one reading."""
    wiki.page("灯塔日报（3月8日）", item("一", 1))
    wiki.sandbox.faults.add(
        Fault("rate_limited", api="nodes", seconds=3),
        Fault("code", api="document", code=99991400, status=400),
        Fault("server_error", api="document_blocks"),
        Fault("revoke_token", api="document_blocks"),
    )

    assert await wiki.titles() == ["灯塔日报（3月8日）"]
    assert len(wiki.sandbox.faults.met) == 4


async def test_a_child_page_that_is_only_busy_makes_no_hole(wiki: Wiki):
    """The whole page is read again later: a hole would be sent to everybody."""
    page = wiki.page("灯塔日报（3月8日）", item("一", 1))
    wiki.page("续", item("二", 2), parent=page.node_token)
    wiki.sandbox.faults.add(Fault("server_error", api="document_blocks", after=1, times=None))

    found, [error] = await wiki.source().load(NOW)

    assert (found, error.code) == ([], "busy")


async def test_forty_pages_are_read_without_meeting_a_limit(wiki: Wiki):
    """Five documents a second, a hundred lists a minute: our side waits before the platform has to say so."""
    for number in range(40):
        wiki.page(f"灯塔日报（3月8日第{number}版）", item(f"第{number}条", number))

    found, errors = await wiki.source().load(NOW)

    assert (len(found), errors) == (40, [])
    assert wiki.sandbox.limits.answers == []


async def test_the_hash_changes_with_the_document_and_only_then(wiki: Wiki):
    """A correction is found by it."""
    page = wiki.page("灯塔日报（3月8日）", item("一", 1))

    async def source_hash() -> str:
        [found] = (await wiki.source().load(NOW))[0]
        return found.source_hash

    before, again = await source_hash(), await source_hash()
    wiki.sandbox.library.edit_document(page.obj_token, lines(item("一", 2)))

    assert before == again
    assert await source_hash() != before


FIELDS = {
    "title": "标题", "url": "链接", "text": "简介", "section": "栏目", "day": "日期", "tags": "标签", "source": "来源",
}  # fmt: skip


def row(title: str, day: datetime, **fields: Any) -> dict[str, Any]:
    return {"标题": [{"text": title, "type": "text"}], "日期": int(day.timestamp() * 1000), **fields}


def bitable(wiki: Wiki, **fields: str) -> BitableSource:
    wanted = fields or FIELDS
    return BitableSource(wiki.documents, app="bascn", table="tbl", fields=wanted, view=None, zone=ZONE)


async def test_rows_of_a_table_are_items_and_their_days_are_digests(wiki: Wiki):
    """Every form in which the platform gives values; rows of other weeks stay where they are."""
    midnight = datetime(2025, 3, 8, tzinfo=ZONE)
    rich = [
        {"text": "详见", "type": "text"},
        {"text": "论文", "type": "url", "link": "https://papers.example.org/abs/1"},
        {"text": "，其中 $x^2$。\n第二段。", "type": "text"},
    ]
    paper = {"link": "https://papers.example.org/abs/1", "text": "原文"}
    rows = [
        row(
            "一",
            midnight,
            链接=paper,
            简介=rich,
            栏目="论文",
            标签=["推理", "显存"],
            来源=[{"id": "ou_1", "name": "张三"}],
        ),
        row("二", midnight, 链接={"link": "https://news.example.org/2", "text": "x"}, 栏目="产业", 简介="普通。"),
        row("三", midnight, 栏目="论文"),
        row("昨", midnight - timedelta(days=1)),
        row("旧", midnight - timedelta(days=30)),
        {"标题": "没有日期"},
    ]
    wiki.sandbox.library.add_table("bascn", "tbl", rows)

    found, [error] = await bitable(wiki).load(NOW)

    yesterday, today = (one.digest for one in found)
    assert (yesterday.day, today.day, today.title) == (date(2025, 3, 7), date(2025, 3, 8), None)
    assert [(section.name, [one.title for one in section.items]) for section in today.sections] == [
        ("论文", ["一", "三"]),
        ("产业", ["二"]),
    ]
    first = today.items[0]
    assert (first.url, first.tags, first.source) == ("https://papers.example.org/abs/1", ("推理", "显存"), "张三")
    assert plain(first.blocks) == "详见论文，其中 $x^2$。\n第二段。"
    assert [link.text for link in links(first.blocks)] == ["论文"]
    assert (error.code, error.path) == ("row_without_day", "bascn/tbl")


async def test_a_table_of_a_thousand_rows_is_read_page_by_page(wiki: Wiki):
    """Five hundred in a page; a day written as text is a day as well."""
    rows = [{"标题": f"第{number}条", "日期": "2025年3月8日"} for number in range(1200)]
    wiki.sandbox.library.add_table("bascn", "tbl", rows)

    [found], errors = await bitable(wiki, title="标题", day="日期").load(NOW)

    assert (len(found.digest.items), errors) == (1200, [])


async def test_a_table_that_cannot_be_read_is_an_error_that_names_it(wiki: Wiki):
    """A wrong column, a wrong table, no right: HTTP 200 each."""
    missing = await bitable(wiki).load(NOW)
    wiki.sandbox.library.add_table("bascn", "tbl", [row("一", NOW)])
    column = await bitable(wiki, title="名称", day="日期").load(NOW)
    wiki.sandbox.library.forbid("bascn/tbl")
    forbidden = await bitable(wiki, title="标题", day="日期").load(NOW)

    assert [(errors[0].code, errors[0].path) for _, errors in (missing, column, forbidden)] == [
        ("not_found", "bascn/tbl"),
        ("refused", "bascn/tbl"),
        ("forbidden", "bascn/tbl"),
    ]


@pytest.mark.parametrize("fields", [{"title": "标题"}, {"day": "日期"}, {"day": "日期", "titel": "标题"}])
def test_fields_that_make_no_item_are_refused_at_once(fields):
    """Before the first call, with the key."""
    with pytest.raises(ConfigError, match=r"series\.source\.fields"):
        BitableSource(None, app="a", table="t", fields=fields, view=None, zone=ZONE)  # type: ignore[arg-type]
