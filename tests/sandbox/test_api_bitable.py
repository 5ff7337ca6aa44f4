"""Rows of tables: feishu-platform notes 9.4."""

from typing import Any

import pytest

from tests.sandbox.kit import Rig, running

pytestmark = pytest.mark.anyio

ROWS = [{"标题": [{"text": f"第{number}条", "type": "text"}], "日期": 1741363200000} for number in range(30)]


async def search(rig: Rig, where: str = "app/tables/tbl", body: dict | None = None, **query: Any) -> dict:
    path = f"/open-apis/bitable/v1/apps/{where}/records/search"
    answer = await rig.api.post(path, params=query, json=body or {})
    assert answer.status_code in (200, 429)
    return answer.json()


async def test_rows_come_in_pages_with_the_fields_asked_for():
    """Twenty in a page unless more are asked for; a field that is empty in a row is absent."""
    async with running() as rig:
        rig.sandbox.library.add_table("app", "tbl", [*ROWS, {"标题": "末"}])

        first = (await search(rig))["data"]
        rest = (await search(rig, page_token=first["page_token"], body={"field_names": ["日期"]}))["data"]

        assert (len(first["items"]), first["has_more"], first["total"]) == (20, True, 31)
        assert first["items"][0]["fields"] == ROWS[0]
        assert [set(item["fields"]) for item in rest["items"]] == [{"日期"}] * 10 + [set()]


async def test_a_view_shows_its_rows():
    """An unknown one is an error."""
    async with running() as rig:
        rig.sandbox.library.add_table("app", "tbl", ROWS, {"vew": [3, 5]})

        shown = (await search(rig, body={"view_id": "vew"}))["data"]

        assert [item["record_id"] for item in shown["items"]] == ["rec00000003", "rec00000005"]
        assert (await search(rig, body={"view_id": "other"}))["code"] == 1254042


async def test_errors_are_codes_in_an_answer_with_status_200():
    """A client that looks at the status alone takes them for an empty table."""
    async with running() as rig:
        rig.sandbox.library.add_table("app", "tbl", ROWS)
        codes = [
            (await search(rig, "nobody/tables/tbl"))["code"],
            (await search(rig, "app/tables/other"))["code"],
            (await search(rig, body={"field_names": ["无此列"]}))["code"],
            (await search(rig, body={"filter": {"conjunction": "and"}}))["code"],
        ]
        rig.sandbox.library.forbid("app/tbl")

        assert codes == [1254040, 1254041, 1254045, 1254018]
        assert (await search(rig))["code"] == 1254302


async def test_over_twenty_calls_in_a_second_is_429():
    """The reset header tells how long to wait."""
    async with running() as rig:
        rig.sandbox.library.add_table("app", "tbl", ROWS)

        assert [(await search(rig))["code"] for _ in range(21)] == [0] * 20 + [99991400]
