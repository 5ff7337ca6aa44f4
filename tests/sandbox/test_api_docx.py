"""Documents, their blocks and their media: feishu-platform notes 9.2, 9.3."""

import pytest

from tests.docx_builder import lines, text
from tests.sandbox.kit import running

pytestmark = pytest.mark.anyio

DOCUMENTS = "/open-apis/docx/v1/documents"


async def test_a_document_tells_its_title_and_a_revision_that_grows():
    """Every edit is a new revision."""
    async with running() as rig:
        document = rig.sandbox.library.add_document("题", lines(text("一")))
        before = (await rig.api.get(f"{DOCUMENTS}/{document.document_id}")).json()["data"]["document"]
        rig.sandbox.library.edit_document(document.document_id, lines(text("二")))
        after = (await rig.api.get(f"{DOCUMENTS}/{document.document_id}")).json()["data"]["document"]

        assert before == {"document_id": document.document_id, "revision_id": 1, "title": "题"}
        assert after["revision_id"] == 2


async def test_blocks_are_a_flat_list_in_pages_the_page_block_first():
    """The tree is in `children` and `parent_id`."""
    async with running() as rig:
        document = rig.sandbox.library.add_document("题", lines(*(text(f"第{n}段") for n in range(700))))
        path = f"{DOCUMENTS}/{document.document_id}/blocks"

        first = (await rig.api.get(path, params={"page_size": 500, "document_revision_id": -1})).json()["data"]
        rest = (await rig.api.get(path, params={"page_token": first["page_token"]})).json()["data"]

        page = first["items"][0]
        assert (page["block_type"], len(page["children"])) == (1, 700)
        assert {block["parent_id"] for block in first["items"][1:]} == {document.document_id}
        assert (len(first["items"]), len(rest["items"]), rest["has_more"]) == (500, 201, False)


async def test_what_is_not_there_not_allowed_or_not_an_id_has_its_code_and_status():
    """404, 403 and 400."""
    async with running() as rig:
        document = rig.sandbox.library.add_document("题", ())
        path = f"{DOCUMENTS}/{document.document_id}/blocks"
        token = await rig.api.get(path, params={"page_token": "x"})
        size = await rig.api.get(path, params={"page_size": 501})
        revision = await rig.api.get(path, params={"document_revision_id": 9})
        rig.sandbox.library.forbid(document.document_id)
        answers = [
            await rig.api.get(f"{DOCUMENTS}/{'x' * 27}"),
            await rig.api.get(path),
            await rig.api.get(f"{DOCUMENTS}/short"),
        ]

        assert [(one.status_code, one.json()["code"]) for one in answers] == [
            (404, 1770002),
            (403, 1770032),
            (400, 99992402),
        ]
        assert [one.json()["code"] for one in (token, size, revision)] == [1770022, 99992402, 1770001]
        assert answers[2].json()["error"]["field_violations"][0]["description"] == "the min len is 27"


async def test_over_five_calls_in_a_second_is_the_old_style_answer():
    """HTTP 400 with the code and the headers of a 429; a second later a call passes."""
    async with running() as rig:
        path = f"{DOCUMENTS}/{rig.sandbox.library.add_document('题', ()).document_id}"
        answers = [await rig.api.get(path) for _ in range(6)]
        rig.sandbox.clock.advance(1)

        assert [one.status_code for one in answers] == [200] * 5 + [400]
        assert answers[-1].json()["code"] == 99991400
        assert answers[-1].headers["x-ogw-ratelimit-reset"] == "1"
        assert (await rig.api.get(path)).status_code == 200


async def test_scopes_are_asked_for_by_name():
    """An app without the right learns which one."""
    async with running() as rig:
        document = rig.sandbox.library.add_document("题", ())
        rig.sandbox.change_app(scopes=frozenset({"im:message"}))

        refused = (await rig.api.get(f"{DOCUMENTS}/{document.document_id}")).json()

        assert refused["code"] == 99991672
        assert "docx:document:readonly" in refused["msg"]


async def test_media_are_bytes_with_their_type():
    """403 without the right, 404 for an unknown token."""
    async with running() as rig:
        token = rig.sandbox.library.add_media("图", b"\x89PNG")
        path = "/open-apis/drive/v1/medias/{}/download"
        found = await rig.api.get(path.format(token))
        rig.sandbox.library.forbid(token)

        assert (found.content, found.headers["content-type"]) == (b"\x89PNG", "image/png")
        assert (await rig.api.get(path.format(token))).status_code == 403
        assert (await rig.api.get(path.format("unknown"))).status_code == 404


async def test_documents_outlive_the_sandbox(tmp_path):
    """They are rows of the world like any other."""
    journal = tmp_path / "world.jsonl"
    async with running(journal=journal) as rig:
        space = rig.sandbox.library.add_space("日报")
        rig.sandbox.library.add_page(space, "3月8日", lines(text("一")))
        rig.sandbox.library.add_table("app", "tbl", [{"标题": "一"}], {"vew": [0]})
        rig.sandbox.library.add_media("图", b"\x89PNG")
        world = rig.sandbox.world
        before = [dict(one) for one in (world.spaces, world.nodes, world.documents, world.tables, world.media)]
    async with running(journal=journal) as rig:
        world = rig.sandbox.world

        assert [world.spaces, world.nodes, world.documents, world.tables, world.media] == before
