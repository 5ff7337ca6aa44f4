"""Patch, recall, reply, read state and get of sent messages: feishu-platform notes 3.1-3.5, 15.11."""

import json

import httpx
import pytest
from starlette.responses import JSONResponse, Response

from bot.sandbox.faults import Fault
from tests.sandbox.kit import MESSAGES, START, Rig, button, card_json, card_of, markdown, running, text

pytestmark = pytest.mark.anyio
DAY = 86_400
BEFORE, AFTER = card_of(markdown("之前")), card_of(markdown("之后"))


async def sent(rig: Rig, card=BEFORE, **fields) -> tuple[str, str]:
    """A reader, and the id of a card in their chat with the bot."""
    reader = rig.sandbox.client.add_user("读者甲").open_id
    answer = (await rig.send(reader, card, **fields)).json()
    assert answer["code"] == 0, answer
    return reader, answer["data"]["message_id"]


async def patch(rig: Rig, message_id: str, card=AFTER) -> httpx.Response:
    return await rig.api.patch(f"{MESSAGES}/{message_id}", json={"content": card_json(card)})


async def code_of(rig: Rig, message_id: str, card=AFTER) -> int:
    return (await patch(rig, message_id, card)).json()["code"]


async def recall(rig: Rig, message_id: str) -> int:
    return (await rig.api.delete(f"{MESSAGES}/{message_id}")).json()["code"]


async def test_a_patch_replaces_the_whole_card_and_keeps_the_message():
    """Same id and place; the time of the change is kept, and the answer holds nothing."""
    async with running() as rig:
        _, message_id = await sent(
            rig, card_of(markdown("之前"), header={"title": {"tag": "plain_text", "content": "题"}})
        )
        rig.sandbox.clock.advance(5)

        answer = (await patch(rig, message_id)).json()

        assert answer == {"code": 0, "msg": "success", "data": {}}
        (message,) = rig.sandbox.world.messages.values()
        assert json.loads(message.content) == AFTER
        assert (message.message_id, message.updated) == (message_id, True)
        assert (message.created_at, message.updated_at) == (START, START + 5)
        view = (await rig.api.get(f"{MESSAGES}/{message_id}")).json()["data"]["items"][0]
        assert (view["updated"], view["update_time"]) == (True, str(int((START + 5) * 1000)))


@pytest.mark.parametrize(
    ("card", "code", "words"),
    [
        ({"schema": "2.0", "elements": []}, 230099, "200621"),
        (card_of({"tag": "img", "img_key": "img_x", "alt": {"tag": "plain_text", "content": ""}}), 230099, "200570"),
        (card_of(config={"update_multi": False}), 230099, "300302"),
        ({"config": {"update_multi": True}, "elements": []}, 230099, "200830"),
        (card_of(markdown("长" * 10_000)), 230025, ""),
    ],
)
async def test_a_card_that_cannot_be_created_cannot_replace_one(card, code, words):
    """The rules of sending hold, and a 2.0 card never becomes a 1.0 card."""
    async with running() as rig:
        _, message_id = await sent(rig)

        answer = (await patch(rig, message_id, card)).json()

        assert answer["code"] == code
        assert words in answer["msg"]
        assert json.loads(rig.sandbox.world.messages[message_id].content) == BEFORE


async def test_only_shared_cards_are_patched():
    """JSON 1.0 is not shared unless it says so, before and after."""
    old, shared = {"elements": []}, {"config": {"update_multi": True}, "elements": []}
    async with running() as rig:
        _, alone = await sent(rig, old)
        _, together = await sent(rig, shared)

        codes = [
            await code_of(rig, alone, shared),
            await code_of(rig, together, old),
            await code_of(rig, together, shared),
        ]

        assert codes == [230001, 230001, 0]


async def test_content_must_be_a_string():
    """An object is the commonest mistake."""
    async with running() as rig:
        _, message_id = await sent(rig)

        answers = [await rig.api.patch(f"{MESSAGES}/{message_id}", json=body) for body in ({"content": AFTER}, {})]

        assert [one.json()["code"] for one in answers] == [99992402, 99992402]


async def test_only_own_kept_cards_are_patched():
    """Not a text, not somebody else's, not of a batch, not recalled, not deleted, not unknown."""
    async with running() as rig:
        reader, card = await sent(rig)
        world, client = rig.sandbox.world, rig.sandbox.client
        chat_id = world.messages[card].chat_id
        words = (await rig.send(reader)).json()["data"]["message_id"]
        theirs = (await client.say(reader, chat_id, "好")).message_id
        _, recalled = await sent(rig)
        _, deleted = await sent(rig)
        _, batch = await sent(rig)
        await recall(rig, recalled)
        await client.delete_message(deleted)
        world.change(world.messages[batch], batch_id="bm-1")

        wanted = (words, theirs, batch, "bm-1", recalled, deleted, "om_x")
        codes = [await code_of(rig, one) for one in wanted]

        assert codes == [230001, 230012, 230001, 230001, 230011, 230110, 99992354]


async def test_patches_end_after_fourteen_days():
    """To the second."""
    async with running() as rig:
        _, message_id = await sent(rig)
        rig.sandbox.clock.advance(14 * DAY)
        last = await code_of(rig, message_id)
        rig.sandbox.clock.advance(1)

        assert (last, await code_of(rig, message_id)) == (0, 230031)


async def test_a_message_takes_five_patches_a_second():
    """Each message for itself, apart from what its chat receives."""
    async with running() as rig:
        _, one = await sent(rig)
        _, other = await sent(rig)

        codes = [await code_of(rig, one) for _ in range(6)]

        assert codes == [0] * 5 + [230020]
        assert await code_of(rig, other) == 0
        rig.sandbox.clock.advance(1)
        assert await code_of(rig, one) == 0


async def test_a_patch_needs_the_chat_but_no_right_to_speak():
    """A mute and an opt-out stop new messages only; range, membership and a dissolved group stop patches too."""
    async with running() as rig:
        reader, mine = await sent(rig)
        chat_id, owner = await rig.group()
        groups = (await rig.send(chat_id, BEFORE, id_type="chat_id")).json()["data"]["message_id"]
        client = rig.sandbox.client
        await client.stop_messages(reader)
        await client.set_muted(chat_id)
        quiet = [await code_of(rig, mine), await code_of(rig, groups)]
        await client.set_available(reader, False)
        await client.remove_bot(chat_id, owner)
        away = [await code_of(rig, mine), await code_of(rig, groups)]
        await client.dissolve(chat_id)
        await client.resign(reader)
        away.append(await code_of(rig, mine))

        assert quiet == [0, 0]
        assert away == [230013, 230002, 230013]
        assert await code_of(rig, groups) == 232009


async def test_a_card_is_locked_while_a_click_waits_for_its_answer():
    """A bot that patches before it answers is told so, and may patch afterwards."""
    async with running() as rig:
        reader, message_id = await sent(rig, card_of(button({"v": 1})))
        codes = []

        async def patch_first(_body: dict) -> Response:
            answer = (await patch(rig, message_id)).json()
            codes.append((answer["code"], "card action is lock" in answer["msg"]))
            return JSONResponse({})

        rig.bot.answer = patch_first
        await rig.sandbox.client.click(reader, message_id, {"v": 1})

        assert codes == [(230099, True)]
        assert await code_of(rig, message_id) == 0


async def test_a_lost_answer_leaves_the_patch_done():
    """So does the quota count it; a fault before it leaves the card alone."""
    async with running(monthly_calls=2) as rig:
        _, message_id = await sent(rig)
        rig.sandbox.faults.add(
            Fault("server_error", api="patch"), Fault("drop_reply", api="patch", receiver=message_id)
        )
        broken = (await patch(rig, message_id)).status_code
        with pytest.raises(httpx.TransportError):
            await patch(rig, message_id)

        assert broken == 502
        assert json.loads(rig.sandbox.world.messages[message_id].content) == AFTER
        assert await code_of(rig, message_id) == 99991403


async def test_a_recalled_message_is_gone_for_everybody():
    """Reads say that it was recalled; replies and a second recall are refused. Nobody replies to a batch either."""
    async with running() as rig:
        _, message_id = await sent(rig)

        _, batch = await sent(rig)
        rig.sandbox.world.change(rig.sandbox.world.messages[batch], batch_id="bm-1")
        first, second = await recall(rig, message_id), await recall(rig, message_id)
        view = (await rig.api.get(f"{MESSAGES}/{message_id}")).json()["data"]["items"][0]
        replies = [await rig.api.post(f"{MESSAGES}/{one}/reply", json=text("x")) for one in (message_id, batch)]

        assert (first, second) == (0, 230110)
        assert [one.json()["code"] for one in replies] == [230011, 230001]
        assert view["deleted"] is True
        assert "This message was recalled" in view["body"]["content"]


async def test_a_recall_has_its_window():
    """A day unless the tenant's admin chose another one."""
    codes = []
    for changes in ({}, {"recall_window_s": 60.0}):
        async with running(**changes) as rig:
            (_, early), (_, late) = await sent(rig), await sent(rig)
            rig.sandbox.clock.advance(changes.get("recall_window_s", DAY))
            codes.append(await recall(rig, early))
            rig.sandbox.clock.advance(1)
            codes.append(await recall(rig, late))

    assert codes == [0, 230009, 0, 230009]


async def test_only_own_messages_in_reach_are_recalled():
    """Not of others, not out of range, not from outside the group, nothing of a batch."""
    async with running() as rig:
        reader, mine = await sent(rig)
        world, client = rig.sandbox.world, rig.sandbox.client
        chat_id, owner = await rig.group()
        in_group = (await rig.send(chat_id, id_type="chat_id")).json()["data"]["message_id"]
        theirs = (await client.say(owner, chat_id, "好")).message_id
        _, batch = await sent(rig)
        world.change(world.messages[batch], batch_id="bm-1")
        not_mine = await recall(rig, theirs)
        await client.remove_bot(chat_id, owner)
        await client.set_available(reader, False)

        codes = [await recall(rig, one) for one in (in_group, mine, batch)]

        assert [not_mine, *codes] == [230026, 230002, 230013, 230001]


async def test_a_reply_stands_under_its_message():
    """Of a reply to a reply the root is the first message."""
    async with running() as rig:
        _, root = await sent(rig)
        first = (await rig.api.post(f"{MESSAGES}/{root}/reply", json=text("一"))).json()["data"]
        second = (await rig.api.post(f"{MESSAGES}/{first['message_id']}/reply", json=text("二"))).json()["data"]

        assert (second["parent_id"], second["root_id"]) == (first["message_id"], root)


async def test_a_card_is_read_back_whole_on_demand():
    """Simplified unless the original is asked for."""
    async with running() as rig:
        _, message_id = await sent(rig)
        url = f"{MESSAGES}/{message_id}"
        plain = (await rig.api.get(url)).json()["data"]["items"][0]["body"]["content"]
        whole = await rig.api.get(url, params={"card_msg_content_type": "user_card_content"})

        assert "schema" not in plain
        assert json.loads(whole.json()["data"]["items"][0]["body"]["content"]) == BEFORE


async def test_messages_of_others_in_a_group_need_a_scope():
    """im:message.group_msg; the bot's own need none."""
    async with running() as rig:
        chat_id, owner = await rig.group()
        theirs = (await rig.sandbox.client.say(owner, chat_id, "好")).message_id
        mine = (await rig.send(chat_id, id_type="chat_id")).json()["data"]["message_id"]
        rig.sandbox.change_app(scopes=frozenset({"im:message:readonly"}))

        codes = [(await rig.api.get(f"{MESSAGES}/{one}")).json()["code"] for one in (theirs, mine)]

        assert codes == [230027, 0]


async def test_who_opens_the_chat_has_read_it():
    """The bot is told in its chat with a person, once a message, and finds them among the readers."""
    async with running() as rig:
        reader, first = await sent(rig)
        _, second = await sent(rig, receive_id=reader)
        rig.sandbox.clock.advance(7)

        await rig.sandbox.client.open_bot_chat(reader)
        await rig.sandbox.client.open_bot_chat(reader)

        (event,) = rig.bot.of_type("im.message.message_read_v1")
        assert event["message_id_list"] == [first, second]
        assert event["reader"]["reader_id"]["open_id"] == reader
        assert event["reader"]["read_time"] == str(int((START + 7) * 1000))
        readers = (await rig.api.get(f"{MESSAGES}/{first}/read_users", params={"user_id_type": "open_id"})).json()[
            "data"
        ]
        assert [(one["user_id"], one["timestamp"]) for one in readers["items"]] == [
            (reader, str(int((START + 7) * 1000)))
        ]


async def test_readers_of_a_group_come_in_pages_without_events():
    """First readers first; those who have not looked are not named."""
    async with running() as rig:
        owner, second, third = (rig.sandbox.client.add_user(name).open_id for name in ("编辑", "读者甲", "读者乙"))
        client = rig.sandbox.client
        chat_id = (await client.create_group("读者群", owner, [second, third])).chat_id
        await client.add_bot(chat_id, owner)
        message_id = (await rig.send(chat_id, id_type="chat_id")).json()["data"]["message_id"]
        for one in (third, owner):
            rig.sandbox.clock.advance(1)
            await client.read_chat(one, chat_id)
        asked = {"user_id_type": "union_id", "page_size": 1}
        url = f"{MESSAGES}/{message_id}/read_users"
        page = (await rig.api.get(url, params=asked)).json()["data"]
        rest = (await rig.api.get(url, params={**asked, "page_token": page["page_token"]})).json()["data"]

        union_ids = [rig.sandbox.world.users[one].union_id for one in (third, owner)]
        assert [one["user_id"] for one in page["items"] + rest["items"]] == union_ids
        assert (page["has_more"], rest["has_more"]) == (True, False)
        assert not rig.bot.of_type("im.message.message_read_v1")


async def test_readers_are_told_of_own_messages_for_seven_days():
    """Also the type of the ids must be named, and the bot be inside."""
    async with running() as rig:
        chat_id, owner = await rig.group()
        theirs = (await rig.sandbox.client.say(owner, chat_id, "好")).message_id
        mine = (await rig.send(chat_id, id_type="chat_id")).json()["data"]["message_id"]

        async def ask(message_id: str, **asked: object) -> int:
            asked = {"user_id_type": "open_id", **asked}
            return (await rig.api.get(f"{MESSAGES}/{message_id}/read_users", params=asked)).json()["code"]

        codes = [await ask(theirs), await ask(mine, user_id_type=""), await ask(mine, page_size=101)]
        rig.sandbox.clock.advance(7 * DAY)
        codes.append(await ask(mine))
        await rig.sandbox.client.remove_bot(chat_id, owner)
        codes.append(await ask(mine))
        rig.sandbox.clock.advance(1)
        codes.append(await ask(mine))

        assert codes == [230012, 99992402, 99992402, 0, 230002, 230033]
