"""Whatever the list of blocks holds: it is read or refused, nothing is lost, and the time is linear."""

import contextlib
import json
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.domain.digest import plain
from bot.domain.errors import DigestError
from bot.reading.docx.blocks import walk
from bot.reading.docx.reader import read_docx
from bot.reading.drafts import Notes
from tests.docx_builder import heading, page, run, text
from tests.effort import calls_of

ZONE = ZoneInfo("Asia/Shanghai")
KINDS = st.sampled_from([1, 2, 3, 5, 12, 13, 14, 15, 17, 19, 22, 24, 25, 27, 30, 31, 32, 34, 48, 49, 50, 51, 777, 999])
KEYS = {
    1: "page",
    2: "text",
    3: "heading1",
    5: "heading3",
    12: "bullet",
    13: "ordered",
    14: "code",
    15: "quote",
    17: "todo",
}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["elements", "content", "text_run", "style", "link", "url", "cells", "token", "property"]),
            inner,
        )
    ),
    max_leaves=8,
)


@st.composite
def trees(draw) -> list[dict]:
    """Blocks that name each other as children in any way, each with a word of its own where its kind has text."""
    count = draw(st.integers(1, 12))
    blocks: list[dict] = []
    for number in range(count):
        kind = draw(KINDS)
        children = draw(st.lists(st.integers(0, count), max_size=4))
        block: dict = {"block_id": f"b{number}", "block_type": kind, "children": [f"b{child}" for child in children]}
        block["parent_id"] = f"b{draw(st.integers(0, count))}"
        if kind in KEYS:
            block[KEYS[kind]] = {"elements": [run(f"字{number}号", bold=draw(st.booleans()))]}
        if kind == 31:
            block["table"] = {"cells": block["children"], "property": {"column_size": draw(st.integers(-1, 4))}}
        blocks.append(block)
    return blocks


@given(trees())
def test_no_word_is_lost_whatever_names_whom(blocks):
    """Circles, orphans, tables of anything: each word is there, outside tables exactly once."""
    notes = Notes()
    found = walk(blocks, zone=ZONE, noise=frozenset(), url=None, notes=notes)
    said = f"{found.title or ''}\n{plain(found.blocks)}"

    words = [f"字{number}号" for number, block in enumerate(blocks) if block["block_type"] in KEYS]
    assert [word for word in words if word not in said] == []
    if not any(block["block_type"] == 31 for block in blocks):
        assert [word for word in words if said.count(word) > 1] == []


@given(st.dictionaries(st.text(max_size=6), JSON, max_size=4), KINDS, JSON)
def test_a_block_of_any_shape_is_read(body, kind, children):
    """The platform's shapes are a promise, not a law."""
    notes = Notes()
    blocks = [{**body, "block_id": "b", "block_type": kind, "children": children}]

    walk(blocks, zone=ZONE, noise=frozenset(), url=None, notes=notes)


@given(JSON | st.lists(st.dictionaries(st.sampled_from(["items", "data", "code", "block_id", "block_type"]), JSON)))
def test_any_json_is_read_or_refused_with_a_reason(document):
    """Never another exception."""
    with contextlib.suppress(DigestError):
        assert read_docx(document, zone=ZONE).digests


@pytest.mark.parametrize("columns", [1, 7])
@settings(deadline=None)
@given(st.lists(st.integers(0, 6), min_size=1, max_size=30))
def test_merged_cells_never_make_rows_of_unequal_length(columns, spans):
    """Spans that reach beyond the table, or nowhere."""
    cells = [{"block_id": f"c{n}", "block_type": 32, "children": [f"t{n}"]} for n in range(len(spans))]
    texts = [
        {"block_id": f"t{n}", "block_type": 2, "text": {"elements": [run(f"格{n}")]}} for n in range(0, len(spans), 2)
    ]
    merged = [{"row_span": span, "col_span": span} for span in spans]
    shape = {"column_size": columns, "merge_info": merged}
    table = {"block_id": "t", "block_type": 31, "table": {"cells": [c["block_id"] for c in cells], "property": shape}}

    [grid, *_] = walk([table, *cells, *texts], zone=ZONE, noise=frozenset(), url=None, notes=Notes()).blocks

    assert len({len(row) for row in grid.rows}) == 1


def test_ten_thousand_blocks_take_linear_effort():
    """A week in one document, many times over; twice as much takes about twice the calls."""

    def effort(stories: int) -> int:
        families = [
            family
            for number in range(stories)
            for family in (
                heading(3, run(f"第{number}条新闻", link=f"https%3A%2F%2Fnews.example.org%2F{number}")),
                text(f"第{number}条的内容在这里说完。" * 10),
            )
        ]
        document = page("灯塔日报 2025-03-08", heading(1, "论文"), *families)
        assert len(read_docx(document, zone=ZONE).digests[0].items) == stories
        return calls_of(lambda: read_docx(document, zone=ZONE))

    assert effort(2_000) < 3 * effort(1_000)


def test_answers_of_the_api_pages_and_bare_lists_are_the_same_document():
    """What one gets by curl, by an SDK, or page by page."""
    blocks = page("灯塔日报 2025-03-08", heading(1, "论文"), text("一句话说完。"))
    first = {"code": 0, "data": {"items": blocks[:2], "has_more": True, "page_token": "2"}}
    rest = {"code": 0, "data": {"items": blocks[2:], "has_more": False}}
    shapes = [blocks, rest | {"data": {"items": blocks}}, {"items": blocks}, {"blocks": blocks}, [first, rest]]

    readings = [read_docx(json.loads(json.dumps(shape)), zone=ZONE) for shape in shapes]

    assert len(readings) == 5
    assert all(reading == readings[0] for reading in readings)


def test_a_first_page_alone_says_that_more_follows():
    """Half a list must not pass for a whole digest."""
    blocks = page("灯塔日报 2025-03-08", text("一句话说完。"))

    reading = read_docx({"data": {"items": blocks, "has_more": True, "page_token": "2"}}, zone=ZONE)

    assert "incomplete" in [warning.code for warning in reading.warnings]


@pytest.mark.parametrize(
    ("document", "code"),
    [
        ({"code": 1770032, "msg": "forBidden"}, "refused"),
        ({"data": {"document": {}}}, "not_docx"),
        (["a", "b"], "not_docx"),
        ({"items": [{"block_id": "p", "block_type": 1, "children": []}]}, "empty"),
        ([], "empty"),
        ([{"block_id": str(number)} for number in range(100_001)], "too_long"),
    ],
)
def test_what_is_no_document_is_refused_with_its_code(document, code):
    """The text says what to do."""
    with pytest.raises(DigestError) as caught:
        read_docx(document, zone=ZONE, name="a.json")

    assert (caught.value.code, caught.value.path) == (code, "a.json")
