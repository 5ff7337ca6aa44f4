"""Send, reply, get, list: feishu-platform notes 2, 3.1, 3.5, 15.4, 15.5, 15.13, 15.14."""

import anyio
import httpx
import pytest

from bot.sandbox.faults import Fault
from tests.sandbox.kit import MESSAGES, START, card_of, markdown, running, text

pytestmark = pytest.mark.anyio


async def test_sending_to_a_person_opens_the_chat_and_answers_with_the_message():
    """Instants are strings of milliseconds, and the chat can be addressed by its own id afterwards."""
    async with running() as rig:
        reader = rig.sandbox.client.add_user("读者甲").open_id

        first = (
            await rig.send(
                reader, card_of(markdown("今日"), header={"title": {"tag": "plain_text", "content": "日报"}})
            )
        ).json()
        second = (await rig.send(first["data"]["chat_id"], id_type="chat_id")).json()

        assert (first["code"], first["msg"]) == (0, "success")
        data = first["data"]
        assert data["message_id"].startswith("om_")
        assert data["create_time"] == data["update_time"] == str(int(START * 1000))
        assert (data["deleted"], data["updated"], data["sender"]["sender_type"]) == (False, False, "app")
        assert "今日" in data["body"]["content"]
        assert "schema" not in data["body"]["content"]
        assert second["data"]["chat_id"] == data["chat_id"]
        assert [one.msg_type for one in rig.sandbox.world.messages_in(data["chat_id"])] == ["interactive", "text"]


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"content": {"text": "an object"}}, 99992402),
        ({"content": None}, 99992402),
        ({"msg_type": ""}, 99992402),
        ({"receive_id": 5}, 99992402),
        ({"uuid": "x" * 51}, 99992402),
        ({"uuid": 7}, 99992402),
        ({"content": "not json"}, 230001),
        ({"content": "[1]"}, 230001),
        ({"content": '{"text": ""}'}, 230001),
        ({"msg_type": "image", "content": "{}"}, 230001),
        ({"msg_type": "post", "content": '{"post": {"zh_cn": {}}}'}, 230001),
        ({"msg_type": "post", "content": '{"zh_cn": {"content": [[{"tag": "nothing"}]]}}'}, 230001),
        (
            {"msg_type": "post", "content": '{"zh_cn": {"content": [[{"tag": "md", "text": "a"}, {"tag": "hr"}]]}}'},
            230001,
        ),
        ({"msg_type": "post", "content": '{"zh_cn": {"content": [[{"tag": "img", "image_key": "img_x"}]]}}'}, 230017),
        ({"msg_type": "interactive", "content": '{"schema": "2.0", "elements": []}'}, 230099),
        ({"receive_id": "ou_" + "0" * 32}, 99992351),
        ({"receive_id": "somebody"}, 230034),
    ],
)
async def test_a_wrong_send_is_refused_with_its_code(change, code):
    """Content must be a JSON string of the form that its type asks for; a refusal is HTTP 400 and stores nothing."""
    async with running() as rig:
        reader = rig.sandbox.client.add_user("读者甲").open_id

        answer = await rig.send(reader, **change)

        assert (answer.status_code, answer.json()["code"]) == (400, code)
        assert answer.json()["error"]["log_id"]
        assert not rig.sandbox.world.messages


@pytest.mark.parametrize(
    ("id_type", "code"), [("", 99992402), ("nickname", 230001), ("email", 99992402), ("chat_id", 230034)]
)
async def test_the_type_of_the_receiver_must_be_known_and_fit(id_type, code):
    """An id of another shape than its type says is 230034."""
    async with running() as rig:
        reader = rig.sandbox.client.add_user("读者甲").open_id

        assert (await rig.send(reader, id_type=id_type)).json()["code"] == code


async def test_a_body_that_is_no_json_object_is_a_bad_request():
    """9499, whatever the bytes are; deeply nested JSON too."""
    async with running() as rig:
        for raw in (b"", b"[]", b"\xff\xfe", b"[" * 20_000):
            answer = await rig.api.post(MESSAGES, params={"receive_id_type": "open_id"}, content=raw)
            assert (answer.status_code, answer.json()["code"]) == (400, 9499)


async def test_posts_that_keep_the_rules_are_sent():
    """Locale keys at the top, known nodes, `md` alone in its paragraph."""
    async with running() as rig:
        reader = rig.sandbox.client.add_user("读者甲").open_id
        content = (
            '{"zh_cn": {"title": "日报", "content": [[{"tag": "text", "text": "甲"}, '
            '{"tag": "a", "text": "乙", "href": "https://example.com"}], [{"tag": "md", "text": "**丙**"}]]}}'
        )

        assert (await rig.send(reader, msg_type="post", content=content)).json()["code"] == 0


async def test_receivers_who_cannot_be_reached_are_told_apart():
    """Out of range, resigned, stopped; bot not inside, muted, dissolved."""
    async with running() as rig:
        client = rig.sandbox.client
        outside = client.add_user("读者甲", available=False).open_id
        resigned, stopped = client.add_user("读者乙").open_id, client.add_user("读者丙").open_id
        await client.resign(resigned)
        await client.stop_messages(stopped)
        without_bot, _ = await rig.group("甲群", with_bot=False)
        muted, _ = await rig.group("乙群")
        dissolved, _ = await rig.group("丙群")
        await client.set_muted(muted)
        await client.dissolve(dissolved)

        people = [(await rig.send(one)).json()["code"] for one in (outside, resigned, stopped)]
        groups = [(await rig.send(one, id_type="chat_id")).json()["code"] for one in (without_bot, muted, dissolved)]

        assert people == [230013, 230029, 230053]
        assert groups == [230002, 230035, 232009]


async def test_a_uuid_sends_once_an_hour_and_returns_the_first_message():
    """A replay answers code 0 with the original; after an hour the key is free again."""
    async with running() as rig:
        reader = rig.sandbox.client.add_user("读者甲").open_id

        first = (await rig.send(reader, uuid="edition-1")).json()["data"]["message_id"]
        rig.sandbox.clock.advance(3599)
        replay = (await rig.send(reader, uuid="edition-1")).json()["data"]["message_id"]
        rig.sandbox.clock.advance(1)
        later = (await rig.send(reader, uuid="edition-1")).json()["data"]["message_id"]

        assert replay == first
        assert later != first
        assert len(rig.sandbox.world.messages) == 2
        assert not rig.sandbox.world.violations


async def test_a_uuid_used_for_something_else_is_answered_as_the_platform_does_and_noted():
    """Production would silently drop the second message: the sandbox keeps a violation for the test to find."""
    async with running() as rig:
        reader, other = (rig.sandbox.client.add_user(name).open_id for name in ("读者甲", "读者乙"))
        first = (await rig.send(reader, uuid="k")).json()["data"]["message_id"]

        same = [(await rig.send(reader, uuid="k", **text("other"))).json(), (await rig.send(other, uuid="k")).json()]

        assert [one["data"]["message_id"] for one in same] == [first, first]
        assert [one.split(" again with ")[1] for one in rig.sandbox.world.violations] == [
            "other content",
            "another receiver",
        ]


async def test_only_a_successful_send_occupies_its_uuid():
    """A refused send may be repeated under the same key with a corrected content."""
    async with running() as rig:
        reader = rig.sandbox.client.add_user("读者甲").open_id

        refused = (await rig.send(reader, card_of({"tag": "nothing"}), uuid="k")).json()["code"]
        sent = (await rig.send(reader, card_of(markdown("good")), uuid="k")).json()["code"]

        assert (refused, sent) == (230099, 0)
        assert not rig.sandbox.world.violations


async def test_the_same_uuid_in_progress_is_230049():
    """Of two sends at once one is told that the message is being sent."""
    async with running() as rig:
        reader = rig.sandbox.client.add_user("读者甲").open_id
        rig.sandbox.faults.add(Fault("slow", api="send", seconds=5))
        codes = []

        async def send() -> None:
            codes.append((await rig.send(reader, uuid="k")).json()["code"])

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(send)
            await anyio.sleep(0.01)
            await send()
            rig.sandbox.clock.advance(5)

        assert codes == [230049, 0]
        assert len(rig.sandbox.world.messages) == 1


async def test_a_card_over_30000_bytes_of_request_is_too_long():
    """The whole request body counts: 30,000 bytes pass, one more does not; a text may be longer."""
    async with running() as rig:
        reader = rig.sandbox.client.add_user("读者甲").open_id
        codes = []
        for size in (30_000, 30_001):
            request = rig.api.build_request(
                "POST",
                MESSAGES,
                params={"receive_id_type": "open_id"},
                json={"receive_id": reader, "msg_type": "interactive", "content": '{"schema":"2.0"}'},
            )
            padded = request.read()[:-1] + b" " * (size - len(request.read())) + b"}"
            answer = await rig.api.post(MESSAGES, params={"receive_id_type": "open_id"}, content=padded)
            codes.append(answer.json()["code"])
        long_text = (await rig.send(reader, **text("x" * 100_000))).json()["code"]

        assert codes == [0, 230025]
        assert long_text == 0


async def test_a_refused_card_names_error_code_and_path():
    """The sub-code stands in msg, in the form of the platform."""
    async with running() as rig:
        reader = rig.sandbox.client.add_user("读者甲").open_id

        answer = (await rig.send(reader, card_of(markdown("a"), {"tag": "note", "elements": []}))).json()

        assert answer["code"] == 230099
        place = "ErrPath: ROOT -> body -> elements -> [1](tag: note)"
        assert answer["msg"].startswith(f"Failed to create card content, ext=ErrCode: 200861; {place}; ErrMsg: ")


async def test_a_reply_is_attached_to_its_message():
    """It goes to the same chat and names parent and root; a recalled or unknown message cannot be answered."""
    async with running() as rig:
        chat_id, owner = await rig.group()
        said = (await rig.sandbox.client.say(owner, chat_id, "订阅", mention_bot=True)).message_id

        first = (await rig.api.post(f"{MESSAGES}/{said}/reply", json=text("好"))).json()["data"]
        second = (await rig.api.post(f"{MESSAGES}/{first['message_id']}/reply", json=text("好"))).json()["data"]
        unknown = (await rig.api.post(f"{MESSAGES}/om_x/reply", json=text("好"))).json()["code"]
        rig.sandbox.world.change(rig.sandbox.world.messages[said], recalled=True)
        recalled = (await rig.api.post(f"{MESSAGES}/{said}/reply", json=text("好"))).json()["code"]

        assert (first["chat_id"], first["parent_id"], first["root_id"]) == (chat_id, said, said)
        assert (second["parent_id"], second["root_id"]) == (first["message_id"], said)
        assert (unknown, recalled) == (99992354, 230011)


async def test_messages_can_be_read_one_by_one_and_in_pages():
    """Only inside the bot's own chats; a recalled message shows no content."""
    async with running() as rig:
        chat_id, _ = await rig.group()
        ids = [
            (await rig.send(chat_id, id_type="chat_id", **text(f"{n}"))).json()["data"]["message_id"] for n in range(3)
        ]
        rig.sandbox.world.change(rig.sandbox.world.messages[ids[0]], recalled=True)
        params = {"container_id_type": "chat", "container_id": chat_id, "page_size": "2"}

        one = (await rig.api.get(f"{MESSAGES}/{ids[0]}")).json()["data"]["items"][0]
        first = (await rig.api.get(MESSAGES, params=params)).json()["data"]
        rest = (await rig.api.get(MESSAGES, params={**params, "page_token": first["page_token"]})).json()["data"]
        too_many = (await rig.api.get(MESSAGES, params={**params, "page_size": "51"})).json()["code"]

        assert (one["deleted"], one["body"]["content"]) == (True, '{"text":"This message was recalled"}')
        assert [item["message_id"] for item in first["items"] + rest["items"]] == ids
        assert (first["has_more"], rest["has_more"], too_many) == (True, False, 99992402)


async def test_a_mention_of_all_needs_the_owners_permission():
    """The same card is refused, then sent once the group allows it."""
    async with running() as rig:
        chat_id, _ = await rig.group()
        card = card_of(markdown("<at id=all></at>"))

        refused = (await rig.send(chat_id, card, id_type="chat_id")).json()
        rig.sandbox.world.change(rig.sandbox.world.chats[chat_id], mention_all=True)
        sent = (await rig.send(chat_id, card, id_type="chat_id")).json()

        assert (refused["code"], sent["code"]) == (230099, 0)


async def test_messages_keep_their_ids_from_run_to_run():
    """Ids come from names and order, so that a demo looks the same every time."""
    seen = []
    for _ in range(2):
        async with running() as rig:
            answer: httpx.Response = await rig.send(rig.sandbox.client.add_user("读者甲").open_id)
            seen.append((answer.json()["data"]["message_id"], answer.json()["data"]["chat_id"]))

    assert seen[0] == seen[1]
