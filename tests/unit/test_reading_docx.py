"""Blocks of a Feishu document → blocks of ours: order, text, lists, tables, and what cannot be read."""

import random
from zoneinfo import ZoneInfo

import pytest

from bot.domain.digest import (
    Block,
    Code,
    CodeBlock,
    Emphasis,
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
from bot.reading.docx.blocks import Walked, walk
from bot.reading.drafts import Notes
from tests.docx_builder import block, bullet, equation, heading, ordered, other, page, run, table, text

ZONE = ZoneInfo("Asia/Shanghai")
ENCODED = "https%3A%2F%2Fd.example.com%2F2%3Fa%3D1%26b%3D2"
HOLE = "[此处有一段暂时读不了的内容]"


def walked(blocks: list[dict], *, url: str | None = None, noise: tuple[str, ...] = ()) -> tuple[Walked, list[str]]:
    """What was read, and the codes of the warnings."""
    notes = Notes()
    found = walk(blocks, zone=ZONE, noise=frozenset(noise), url=url, notes=notes)
    return found, [warning.code for warning in notes.warnings]


def blocks_of(*families: list[dict]) -> tuple[Block, ...]:
    found, warnings = walked(page("题", *families))
    assert warnings == []
    return found.blocks


def para(*inlines) -> Paragraph:
    return Paragraph(tuple(Text(one) if isinstance(one, str) else one for one in inlines))


def test_the_order_is_that_of_children_and_not_of_the_list():
    """The API returns blocks in any order."""
    blocks = page("题", *(text(f"第{number}段") for number in range(20)))
    random.Random(1).shuffle(blocks)

    found, warnings = walked(blocks)

    assert plain(found.blocks) == "\n".join(f"第{number}段" for number in range(20))
    assert (found.title, warnings) == ("题", [])


def test_styles_become_inlines_and_runs_of_one_look_become_one():
    """Bold, italic, code; what has no counterpart here stays as text."""
    said = text(
        run("平"), run("常", underline=True), run("粗", bold=True), run("斜", italic=True), run("x", inline_code=True)
    )

    both = text(run("粗斜", bold=True, italic=True))

    assert blocks_of(said, both) == (
        para("平常", Strong((Text("粗"),)), Emphasis((Text("斜"),)), Code("x")),
        para(Strong((Emphasis((Text("粗斜"),)),))),
    )


def test_links_are_decoded_once_and_only_web_links_are_links():
    """Feishu encodes the whole address; one that is not encoded keeps its own percent signs."""
    found = blocks_of(
        text(run("论", link=ENCODED, bold=True), run("文", link=ENCODED)),
        text(run("空", link="https://d.example.com/a%20b")),
        text(run("坏", link="javascript%3Aalert(1)")),
    )

    assert found == (
        para(Link("https://d.example.com/2?a=1&b=2", "论文")),
        para(Link("https://d.example.com/a%20b", "空")),
        para("坏"),
    )


def test_a_bare_address_and_tex_in_plain_text_are_a_link_and_a_formula():
    """Editors paste both without a style."""
    assert blocks_of(text("见 https://a.example/1 与 $x^2$")) == (
        para("见 ", Link("https://a.example/1", "https://a.example/1"), " 与 ", Formula("x^2", "$x^2$")),
    )


def test_equations_stand_in_the_line_or_are_displayed_when_they_are_alone():
    """The line end that the editor adds is no part of the formula."""
    assert blocks_of(text("能量 ", equation("E=mc^2\n")), text(equation("a+b\n"))) == (
        para("能量 ", Formula("E=mc^2", "$E=mc^2$")),
        para(Formula("a+b", "$$a+b$$", display=True)),
    )


def test_mentions_are_links_and_text_without_ids():
    """A document is a link, a person is somebody: an id is nobody's text."""
    doc = {"mention_doc": {"token": "d", "obj_type": 22, "url": ENCODED, "title": "周报"}}
    somebody = {"mention_user": {"user_id": "ou_example"}}

    assert blocks_of(text(doc, somebody)) == (para(Link("https://d.example.com/2?a=1&b=2", "周报"), "@成员"),)


def test_line_breaks_inside_a_block_are_paragraphs_and_empty_blocks_are_nothing():
    """No inline holds a line break that means anything."""
    assert blocks_of(text("一\n二"), text(), text("  "), heading(2, "上\n下")) == (
        para("一"),
        para("二"),
        Heading(2, (Text("上"), Text(" "), Text("下"))),
    )


def test_headings_rules_code_and_quotes_keep_what_they_are():
    """Levels 1 to 9; the language of code by its number."""
    found = blocks_of(
        heading(9, "深"),
        other(22, divider={}),
        block(14, "code", "def f():\n    pass", language=49),
        block(15, "quote", "古语"),
        other(34, (text("引"), text("用")), quote_container={}),
    )

    assert found == (
        Heading(9, (Text("深"),)),
        Rule(),
        CodeBlock("def f():\n    pass", "python"),
        Quote((para("古语"),)),
        Quote((para("引"), para("用"))),
    )


def test_neighbouring_entries_are_one_list_with_their_children_inside():
    """Bullets, numbers and tasks; a number of its own begins another list, `auto` goes on."""
    found = blocks_of(
        bullet("甲", children=(bullet("甲一"), text("说明"))),
        bullet("乙"),
        ordered("一", sequence="1"),
        ordered("二"),
        text("插话"),
        ordered("三"),
        ordered("又一", sequence="1"),
        block(17, "todo", "待办", done=True),
    )

    assert found == (
        Listing(((para("甲"), Listing(((para("甲一"),),)), para("说明")), (para("乙"),))),
        Listing(((para("一"),), (para("二"),)), 1),
        para("插话"),
        Listing(((para("三"),),), 3),
        Listing(((para("又一"),),), 1),
        Listing(((para("待办"),),)),
    )


def test_callouts_and_columns_are_laid_flat_in_order():
    """They frame text, and do not change what it says."""
    columns = other(24, (other(25, (text("左"),), grid_column={}), other(25, (text("右"),), grid_column={})), grid={})

    assert blocks_of(other(19, (heading(3, "框"), text("内")), callout={"emoji_id": "bulb"}), columns) == (
        Heading(3, (Text("框"),)),
        para("内"),
        para("左"),
        para("右"),
    )


def test_what_is_merged_over_rows_stands_in_every_row():
    """Each row says all; a cell merged over columns stands in the first one. Pictures of cells come after the table."""
    spans = [{"row_span": 1, "col_span": 2}, {}, {"row_span": 2, "col_span": 1}, {}, {}, {}]
    picture = other(27, image={"token": "T"})
    rows = [["名单", ""], ["论文", text(run("一", link=ENCODED))], ["", picture]]

    assert blocks_of(table(rows, spans)) == (
        Table(
            (
                ((Text("名单"),), ()),
                ((Text("论文"),), (Link("https://d.example.com/2?a=1&b=2", "一"),)),
                ((Text("论文"),), ()),
            )
        ),
        Image("feishu-media:T", ""),
    )


@pytest.mark.parametrize("columns", [0, -1, 10**9, None, "2"])
def test_a_table_whose_size_is_nonsense_loses_no_cell(columns):
    """Every row still has as many cells as the head."""
    blocks = page("题", table([["甲", "乙"], ["丙", "丁"]]))
    next(one for one in blocks if one["block_type"] == 31)["table"]["property"]["column_size"] = columns

    [found] = walked(blocks)[0].blocks

    assert isinstance(found, Table)
    assert len({len(row) for row in found.rows}) == 1
    assert [char for char in plain((found,)) if char in "甲乙丙丁"] == list("甲乙丙丁")


def test_pictures_keep_their_token_and_their_caption():
    """The token is what the platform gives for the bytes; a card shows the caption until it has the picture."""
    assert blocks_of(other(27, image={"token": "T", "caption": {"content": " 图一 "}})) == (
        Image("feishu-media:T", "图一"),
    )


def test_link_cards_and_embedded_pages_are_their_links():
    """Nothing is unreadable about an address."""
    found = blocks_of(
        other(48, link_preview={"url": ENCODED}), other(26, iframe={"component": {"iframe_type": 1, "url": ENCODED}})
    )

    address = Link("https://d.example.com/2?a=1&b=2", "https://d.example.com/2?a=1&b=2")
    assert found == (para(address), para("嵌入的网页：", address))


@pytest.mark.parametrize(
    ("kind", "body", "label"),
    [
        (999, "undefined", ""),
        (30, "sheet", "电子表格"),
        (18, "bitable", "多维表格"),
        (43, "board", "画板"),
        (777, "new", ""),
    ],
)
def test_what_cannot_be_read_is_a_mark_with_a_link_and_a_warning(kind, body, label):
    """Readers see that something is missing and where it is; without an address the mark stands alone."""
    blocks = page("题", text("前"), other(kind, **{body: {"token": "t"}}), text("后"))

    linked, warnings = walked(blocks, url="https://team.example/wiki/w")
    alone, _ = walked(blocks)

    before, mark, after = linked.blocks
    assert mark == para(
        f"{HOLE}（{label}{'，' if label else ''}", Link("https://team.example/wiki/w", "见原文"), "）。"
    )
    assert (before, after) == (para("前"), para("后"))
    assert alone.blocks[1] == para(f"{HOLE}（{label}）。" if label else f"{HOLE}。")
    assert warnings == ["unreadable_block"]


def test_an_unknown_kind_with_text_or_children_is_read():
    """The platform adds kinds; what they hold is not lost."""
    assert blocks_of(block(900, "novelty", "新"), other(901, (text("里"),), frame={})) == (para("新"), para("里"))


def test_blocks_that_hang_on_no_page_stand_at_the_end_with_a_warning():
    """Children of an orphan stay with it."""
    blocks = [*text("孤", children=(text("孤之子"),)), *page("题", text("正"))]

    found, warnings = walked(blocks)

    assert plain(found.blocks) == "正\n孤\n孤之子"
    assert warnings == ["orphan_block"]


def test_a_child_that_is_not_there_is_a_mark():
    """A page of the list that was not read must not pass for the whole."""
    blocks = page("题", text("正"))
    blocks[0]["children"].append("gone")

    found, warnings = walked(blocks)

    assert (found.blocks, warnings) == ((para("正"), para(f"{HOLE}。")), ["missing_block"])


def test_circles_and_doubles_are_read_once():
    """No block is told twice, and no walk is endless."""
    blocks = page("题", bullet("甲", children=(text("乙"),)), text("丙"))
    blocks[1]["children"] += [blocks[0]["block_id"], blocks[1]["block_id"], blocks[3]["block_id"]]

    found, warnings = walked(blocks)

    assert plain(found.blocks) == "甲\n乙\n丙"
    assert warnings == []


def test_a_list_without_a_page_is_read_from_top_to_bottom():
    """Its title is what the caller knows."""
    found, warnings = walked([*text("一"), *bullet("二", children=(text("三"),))])

    assert (found.title, plain(found.blocks), warnings) == (None, "一\n二\n三", [])


def test_headings_of_a_page_inside_a_page_are_one_level_lower():
    """The inner page's title is a heading itself."""
    assert blocks_of(heading(1, "外"), page("子页", heading(1, "内"))) == (
        Heading(1, (Text("外"),)),
        Heading(1, (Text("子页"),)),
        Heading(2, (Text("内"),)),
    )


def test_configured_noise_is_dropped():
    """A line that stands in every issue."""
    found, _ = walked(page("题", text("广告位"), text("正文")), noise=("广告位",))

    assert found.blocks == (para("正文"),)


def test_ten_thousand_blocks_in_one_chain_neither_nest_too_deep_nor_get_lost():
    """Every renderer is recursive: beyond twelve levels the text is laid flat."""
    chain: list[dict] = page("题")
    chain[0]["children"] = ["c0"]
    for number in range(10_000):
        said = {"elements": [run(f"第{number}层")]}
        chain.append({"block_id": f"c{number}", "block_type": 12, "children": [f"c{number + 1}"], "bullet": said})
    chain[-1]["children"] = []

    found, warnings = walked(chain)

    assert plain(found.blocks) == "\n".join(f"第{number}层" for number in range(10_000))
    assert warnings == []
