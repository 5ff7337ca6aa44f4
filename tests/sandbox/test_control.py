"""The control API, and the groups as the bot sees them: feishu-platform notes 10."""

from typing import Any

import pytest

from tests.sandbox.kit import SETTINGS, Rig, button, card_of, running

pytestmark = pytest.mark.anyio
API = "/sandbox/api"
CHATS = "/open-apis/im/v1/chats"


async def post(rig: Rig, path: str, body: Any) -> dict:
    answer = await rig.api.post(f"{API}/{path}", json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()


async def test_a_whole_story_can_be_driven_from_outside():
    """People, a group, the bot, a card, a click, and the state to look at afterwards."""
    async with running() as rig:
        owner = (await post(rig, "users", {"name": "编辑"}))["open_id"]
        reader = (await post(rig, "users", {"name": "读者甲", "available": True}))["open_id"]
        chat_id = (await post(rig, "actions/create_group", {"name": "读者群", "owner": owner, "members": [reader]}))[
            "chat_id"
        ]
        await post(rig, "actions/add_bot", {"chat_id": chat_id, "operator": owner})
        message_id = (await rig.send(chat_id, card_of(button({"v": 1})), id_type="chat_id")).json()["data"][
            "message_id"
        ]
        shown = await post(rig, "actions/click", {"open_id": reader, "message_id": message_id, "element": {"v": 1}})
        state = (await rig.api.get(f"{API}/state", params={"chat_id": chat_id})).json()

        assert (shown["code"], shown["message_id"]) == (0, message_id)
        assert [user["name"] for user in state["users"]] == ["编辑", "读者甲"]
        assert [message["message_id"] for message in state["messages"]] == [message_id]
        assert state["chats"][0]["bots"] == [SETTINGS.app_id]
        assert [attempt["status"] for attempt in state["event_attempts"]] == [200]
        assert SETTINGS.app_secret not in str(state)
        assert "t-" not in [message["content"][:2] for message in state["messages"]]


async def test_faults_clock_images_and_switches_can_be_set_from_outside():
    """What an operator's drawer needs."""
    async with running() as rig:
        reader = (await post(rig, "users", {"name": "读者甲"}))["open_id"]
        before = rig.sandbox.clock.now()
        await post(rig, "faults", {"kind": "code", "api": "send", "code": 11232, "times": None})
        broken = (await rig.send(reader)).json()["code"]
        await rig.api.delete(f"{API}/faults")
        await post(rig, "images", {"image_key": "img_1"})
        image = card_of({"tag": "img", "img_key": "img_1", "alt": {"tag": "plain_text", "content": ""}})
        sent = (await rig.send(reader, image)).json()["code"]
        await post(rig, "apps", {"bot_enabled": False})

        assert (broken, sent, (await rig.send(reader)).json()["code"]) == (11232, 0, 230006)
        assert (await post(rig, "clock", {"advance_s": 60}))["now"] == before + 60
        assert await post(rig, "verify-url", {}) == {"verified": False}
        assert await post(rig, "repeat-event", {"event_type": "im.message.receive_v1"}) == {"answered": None}


async def test_reading_deleting_and_the_audit_are_driven_from_outside():
    """What they changed stands in the state."""
    async with running() as rig:
        reader = (await post(rig, "users", {"name": "读者甲"}))["open_id"]
        sent = (await rig.send(reader)).json()["data"]
        await post(rig, "actions/read_chat", {"open_id": reader, "chat_id": sent["chat_id"]})
        await post(rig, "actions/delete_message", {"message_id": sent["message_id"]})
        await post(rig, "audit", {"words": ["违禁"], "leaks": True})
        state = (await rig.api.get(f"{API}/state")).json()

        assert [(one["message_id"], one["open_id"]) for one in state["reads"]] == [(sent["message_id"], reader)]
        assert [one["deleted"] for one in state["messages"]] == [True]
        assert (state["audit"]["words"], state["audit"]["leaks"]) == (["违禁"], True)
        assert (await rig.api.get(f"/open-apis/im/v1/messages/{sent['message_id']}")).json()["code"] == 230110


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("actions/nothing", {}),
        ("actions/_show", {}),
        ("actions/say", {}),
        ("actions/say", {"open_id": 1, "chat_id": "oc_x", "text": "x"}),
        ("actions/say", {"open_id": "ou_x", "chat_id": "oc_x", "text": "x", "colour": "red"}),
        ("actions/say", {"open_id": "ou_x", "chat_id": "oc_x", "text": "x"}),
        ("users", {}),
        ("users", []),
        ("images", {}),
        ("actions/delete_message", {"message_id": "om_x"}),
        ("audit", {"words": "违禁"}),
        ("audit", {"colour": "red"}),
        ("faults", {"kind": "earthquake"}),
        ("faults", {"kind": "reset", "oops": 1}),
        ("clock", {"advance_s": -1}),
        ("clock", {"advance_s": "x"}),
        ("clock", {}),
    ],
)
async def test_a_refused_request_is_400_with_one_line(path, body):
    """The line says what does not fit."""
    async with running() as rig:
        answer = await rig.api.post(f"{API}/{path}", json=body)

        assert answer.status_code == 400
        assert len(answer.json()["error"].splitlines()) == 1


async def test_a_page_from_elsewhere_cannot_drive_the_sandbox():
    """A form or a text sent by another site is no JSON request."""
    async with running() as rig:
        for kind in ("text/plain", "application/x-www-form-urlencoded"):
            answer = await rig.api.post(f"{API}/users", content=b'{"name":"x"}', headers={"content-type": kind})
            assert (answer.status_code, rig.sandbox.world.users) == (400, {})


async def test_the_bot_lists_its_living_groups_only():
    """No p2p chats, no groups without it, none that is dissolved; in pages."""
    async with running() as rig:
        first, owner = await rig.group("甲群")
        second, _ = await rig.group("乙群")
        await rig.group("丙群", with_bot=False)
        gone, _ = await rig.group("丁群")
        await rig.sandbox.client.dissolve(gone, keep_history=True)
        await rig.sandbox.client.open_bot_chat(owner)

        page = (await rig.api.get(CHATS, params={"page_size": 1})).json()["data"]
        rest = (await rig.api.get(CHATS, params={"page_size": 1, "page_token": page["page_token"]})).json()["data"]

        assert [one["chat_id"] for one in page["items"] + rest["items"]] == [first, second]
        assert (page["has_more"], rest["has_more"], page["items"][0]["owner_id"]) == (True, False, owner)


async def test_a_group_tells_members_more_than_strangers():
    """Counts are strings; owner and managers only for a bot that is inside."""
    async with running() as rig:
        inside, owner = await rig.group("甲群")
        outside, _ = await rig.group("乙群", with_bot=False)

        full = (await rig.api.get(f"{CHATS}/{inside}")).json()["data"]
        little = (await rig.api.get(f"{CHATS}/{outside}")).json()["data"]
        unknown = (await rig.api.get(f"{CHATS}/oc_x")).json()["code"]

        assert (full["owner_id"], full["user_count"], full["bot_count"], full["chat_mode"]) == (
            owner,
            "1",
            "1",
            "group",
        )
        assert set(little) == {"avatar", "name", "chat_status", "user_count", "bot_count"}
        assert unknown == 232006


async def test_members_are_listed_for_bots_inside():
    """People only; a bot outside is 232011, and may ask whether it is inside."""
    async with running() as rig:
        inside, owner = await rig.group("甲群")
        outside, _ = await rig.group("乙群", with_bot=False)

        members = (await rig.api.get(f"{CHATS}/{inside}/members")).json()["data"]["items"]
        refused = (await rig.api.get(f"{CHATS}/{outside}/members")).json()["code"]
        asked = [(await rig.api.get(f"{CHATS}/{one}/members/is_in_chat")).json()["data"] for one in (inside, outside)]

        assert [(one["member_id"], one["name"]) for one in members] == [(owner, "编辑")]
        assert refused == 232011
        assert asked == [{"is_in_chat": True}, {"is_in_chat": False}]
