"""Wiki spaces and nodes: feishu-platform notes 9.1."""

import pytest

from tests.sandbox.kit import START, running

pytestmark = pytest.mark.anyio

SPACES = "/open-apis/wiki/v2/spaces"


async def test_a_node_is_found_by_its_token_and_by_what_stands_there():
    """The token of a /wiki/ address is a node token; the object's own token needs its kind."""
    async with running() as rig:
        space = rig.sandbox.library.add_space("日报")
        page = rig.sandbox.library.add_page(space, "3月8日", edited_at=START - 60)

        by_node = (await rig.api.get(f"{SPACES}/get_node", params={"token": page.node_token})).json()
        asked = {"token": page.obj_token, "obj_type": "docx"}
        by_object = (await rig.api.get(f"{SPACES}/get_node", params=asked)).json()

        node = by_node["data"]["node"]
        assert by_object == by_node
        assert (node["space_id"], node["obj_type"], node["title"]) == (space, "docx", "3月8日")
        assert (node["obj_edit_time"], node["node_type"], node["has_child"]) == (str(int(START - 60)), "origin", False)


async def test_nodes_are_listed_level_by_level_with_pages():
    """Fifty at most in a page; a shortcut shows the object of its origin."""
    async with running() as rig:
        library = rig.sandbox.library
        space = library.add_space("日报")
        top = library.add_page(space, "三月")
        for number in range(60):
            library.add_page(space, f"第{number}页", parent=top.node_token)
        shortcut = library.add_shortcut(space, top.node_token)

        first = (await rig.api.get(f"{SPACES}/{space}/nodes", params={"page_size": 50})).json()["data"]
        asked = {"page_size": 50, "parent_node_token": top.node_token}
        below = (await rig.api.get(f"{SPACES}/{space}/nodes", params=asked)).json()["data"]
        rest = (
            await rig.api.get(f"{SPACES}/{space}/nodes", params={**asked, "page_token": below["page_token"]})
        ).json()

        assert [(node["title"], node["node_type"], node["has_child"]) for node in first["items"]] == [
            ("三月", "origin", True),
            ("三月", "shortcut", False),
        ]
        assert first["items"][1]["origin_node_token"] == top.node_token
        assert (first["items"][1]["node_token"], first["items"][1]["obj_token"]) == (shortcut.node_token, top.obj_token)
        assert (len(below["items"]), below["has_more"]) == (50, True)
        assert (len(rest["data"]["items"]), rest["data"]["has_more"]) == (10, False)
        assert (await rig.api.get(f"{SPACES}/{space}/nodes", params={"page_size": 51})).json()["code"] == 99992402


async def test_what_the_app_may_not_read_makes_an_empty_page_and_is_refused_by_name():
    """The filter works after paging, so that more may follow an empty page."""
    async with running() as rig:
        library = rig.sandbox.library
        space = library.add_space("日报")
        secret, _open = library.add_page(space, "密"), library.add_page(space, "开")
        library.forbid(secret.node_token)

        first = (await rig.api.get(f"{SPACES}/{space}/nodes", params={"page_size": 1})).json()["data"]
        named = await rig.api.get(f"{SPACES}/get_node", params={"token": secret.node_token})
        below = await rig.api.get(f"{SPACES}/{space}/nodes", params={"parent_node_token": secret.node_token})

        assert (first["items"], first["has_more"]) == ([], True)
        assert (named.json()["code"], below.json()["code"]) == (131006, 131006)


async def test_unknown_spaces_and_nodes_are_131005_and_a_missing_token_131002():
    """Each error has its own code."""
    async with running() as rig:
        unknown = await rig.api.get(f"{SPACES}/get_node", params={"token": "wikcnUnknown"})
        nothing = await rig.api.get(f"{SPACES}/get_node")
        space = await rig.api.get(f"{SPACES}/1/nodes")

        assert [answer.json()["code"] for answer in (unknown, nothing, space)] == [131005, 131002, 131005]


async def test_the_hundred_and_first_call_in_a_minute_waits():
    """Wiki has a limit per minute, none per second."""
    async with running() as rig:
        space = rig.sandbox.library.add_space("日报")
        codes = [(await rig.api.get(f"{SPACES}/{space}/nodes")).json()["code"] for _ in range(101)]

        assert codes == [0] * 100 + [99991400]
        assert rig.sandbox.limits.answers[-1].reset_s == 60


async def test_shelves_are_filled_through_the_control_api_too():
    """Black-box tests and other people's bots have no other way."""
    async with running() as rig:
        control = "/sandbox/api/library"
        space = (await rig.api.post(f"{control}/add_space", json={"name": "日报"})).json()["id"]
        block = {"block_type": 2, "text": {"elements": [{"text_run": {"content": "一"}}]}}
        asked = {"space_id": space, "title": "3月8日", "blocks": [block]}
        page = (await rig.api.post(f"{control}/add_page", json=asked)).json()
        media = (await rig.api.post(f"{control}/add_media", json={"name": "图", "content": "aGk="})).json()["id"]
        await rig.api.post(f"{control}/forbid", json={"token": page["node_token"]})
        wrong = await rig.api.post(f"{control}/add_shelf", json={})

        assert rig.sandbox.world.nodes[page["node_token"]].forbidden
        assert rig.sandbox.world.documents[page["obj_token"]].blocks[1]["text"]["elements"]
        assert rig.sandbox.world.media[media].content == b"hi"
        assert wrong.status_code == 400
