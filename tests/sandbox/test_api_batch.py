"""Batch send with its progress, read count and recall: feishu-platform notes 3.6, 15.12."""

from typing import Any

import httpx
import pytest
from anyio import wait_all_tasks_blocked

from bot.sandbox.faults import Fault
from bot.sandbox.state import Image
from tests.sandbox.kit import MESSAGES, SETTINGS, Rig, button, card_json, card_of, markdown, running

pytestmark = pytest.mark.anyio
SEND = "/open-apis/message/v4/batch_send/"
BATCHES = "/open-apis/im/v1/batch_messages"
TEXT = {"msg_type": "text", "content": {"text": "今日"}}
LINK = button(None, behaviors=[{"type": "open_url", "default_url": "https://example.com"}])


async def batch(rig: Rig, people: list[str], **body: Any) -> httpx.Response:
    return await rig.api.post(SEND, json={"open_ids": people, **(body or TEXT)})


async def batch_id(rig: Rig, people: list[str], **body: Any) -> str:
    answer = (await batch(rig, people, **body)).json()
    assert answer["code"] == 0, answer
    return answer["data"]["message_id"]


async def counts(rig: Rig, one: str) -> tuple[int, int, int, bool, int]:
    """Valid, arrived, read; recalled, and how many."""
    data = (await rig.api.get(f"{BATCHES}/{one}/get_progress")).json()["data"]
    return (*data["batch_message_send_progress"].values(), *data["batch_message_recall_progress"].values())


def people(rig: Rig, number: int) -> list[str]:
    return [rig.sandbox.client.add_user(f"读者{one}").open_id for one in range(number)]


def received(rig: Rig, open_id: str) -> list[str]:
    world = rig.sandbox.world
    return [one.content for one in world.messages_in(world.p2p_chat_id(SETTINGS.app_id, open_id))]


async def test_a_batch_arrives_some_time_after_its_call():
    """The answer is a `bm-` id; nothing is there until its time has come, then one message for everybody."""
    async with running() as rig:
        readers = people(rig, 3)

        one = await batch_id(rig, readers)
        before = await counts(rig, one)
        rig.sandbox.clock.advance(2)

        assert one.startswith("bm-")
        assert before == (3, 0, 0, False, 0)
        assert await counts(rig, one) == (3, 3, 0, False, 0)
        assert [received(rig, reader) for reader in readers] == [['{"text":"今日"}']] * 3


async def test_the_queue_hands_out_by_itself():
    """Without anybody asking for progress, through its own loop."""
    async with running() as rig:
        [reader] = people(rig, 1)
        await batch(rig, [reader])

        rig.sandbox.clock.advance(2)
        await wait_all_tasks_blocked()

        assert len(received(rig, reader)) == 1


async def test_batches_of_an_app_arrive_in_order():
    """A short one behind a long one waits for it."""
    async with running() as rig:
        readers = people(rig, 120)
        long = await batch_id(rig, readers, msg_type="text", content={"text": "长"})
        short = await batch_id(rig, readers[-1:], msg_type="text", content={"text": "短"})

        rig.sandbox.clock.advance(2)
        first = [(await counts(rig, one))[1] for one in (long, short)]
        rig.sandbox.clock.advance(2)
        second = [(await counts(rig, one))[1] for one in (long, short)]

        assert (first, second) == ([50, 0], [120, 1])
        assert received(rig, readers[-1]) == ['{"text":"长"}', '{"text":"短"}']


async def test_a_setting_makes_it_immediate():
    """Then the messages are there when the answer is."""
    async with running(batch_delay_s=0) as rig:
        readers = people(rig, 120)

        await batch(rig, readers)

        assert [len(received(rig, reader)) for reader in readers] == [1] * 120


async def test_a_batch_outlives_the_sandbox(tmp_path):
    """What was on its way before a kill arrives after it, once each."""
    async with running(journal=tmp_path / "world") as rig:
        readers = people(rig, 60)
        one = await batch_id(rig, readers)
        rig.sandbox.clock.advance(2)
        before = await counts(rig, one)
        world = rig.sandbox.world
        world.change(world.batches[one], handled=0)  # as if the kill had come before the note of who had their turn

    async with running(journal=tmp_path / "world") as rig:
        rig.sandbox.clock.advance(10)

        assert (before, await counts(rig, one)) == ((60, 50, 0, False, 0), (60, 60, 0, False, 0))
        assert [len(received(rig, reader)) for reader in readers] == [1] * 60


async def test_ids_that_nobody_has_come_back_and_the_rest_is_sent():
    """Each in the list of its kind; a person named under two ids gets one message, and that is noted."""
    async with running(batch_delay_s=0) as rig:
        reader = rig.sandbox.client.add_user("读者甲")
        lists = {
            "open_ids": [reader.open_id, "ou_nobody", "garbage"],
            "union_ids": [reader.union_id, "on_nobody"],
            "user_ids": ["u1"],
            "department_ids": ["od-1"],
        }

        data = (await rig.api.post(SEND, json={**lists, **TEXT})).json()["data"]

        assert data["message_id"].startswith("bm-")
        assert {key: data[key] for key in data if key != "message_id"} == {
            "invalid_open_ids": ["ou_nobody", "garbage"],
            "invalid_union_ids": ["on_nobody"],
            "invalid_user_ids": ["u1"],
            "invalid_department_ids": ["od-1"],
        }
        assert len(received(rig, reader.open_id)) == 1
        assert (await counts(rig, data["message_id"]))[0] == 1
        assert ["named twice" in one for one in rig.sandbox.world.violations] == [True]


async def test_people_out_of_reach_are_valid_and_get_nothing():
    """Out of range, resigned, stopped, as they are when their turn comes: only the counts tell."""
    async with running() as rig:
        client = rig.sandbox.client
        outside, resigned, stopped, reader = people(rig, 4)
        one = await batch_id(rig, [outside, resigned, stopped, reader])
        await client.set_available(outside, False)
        await client.resign(resigned)
        await client.stop_messages(stopped)
        rig.sandbox.clock.advance(2)

        assert await counts(rig, one) == (4, 1, 0, False, 0)
        assert [len(received(rig, who)) for who in (outside, resigned, stopped, reader)] == [0, 0, 0, 1]


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"open_ids": []}, 10003),
        ({"open_ids": "ou_x"}, 10003),
        ({"open_ids": [1]}, 10003),
        ({"open_ids": ["ou_x"] * 201}, 10003),
        ({"department_ids": ["0"]}, 10003),
        ({"msg_type": None}, 10003),
        ({"msg_type": "file"}, 10003),
        ({"msg_type": ["text"]}, 10003),
        ({"content": '{"text": "a string"}'}, 10003),
        ({"content": None}, 10003),
        ({"content": {"text": ""}}, 10002),
        ({"content": {"text": "字" * 50_000}}, 10002),
        ({"msg_type": "post", "content": {"zh_cn": {"content": []}}}, 10003),
        ({"msg_type": "post", "content": {"post": {"zh_cn": {"content": [[{"tag": "nothing"}]]}}}}, 10002),
        ({"msg_type": "post", "content": {"post": {"zh_cn": {"content": [[{"tag": "md", "text": "a"}]]}}}}, 10002),
        ({"msg_type": "image", "content": {"image_key": "img_nobody"}}, 11227),
        ({"msg_type": "share_chat", "content": {"chat_id": "oc_x"}}, 10003),
        ({"msg_type": "share_chat", "content": {"share_chat_id": "oc_x"}}, 11231),
        ({"msg_type": "interactive"}, 10003),
        ({"msg_type": "interactive", "card": '{"schema": "2.0"}'}, 10003),
        ({"msg_type": "interactive", "card": {"schema": "2.0", "elements": []}}, 11246),
        ({"msg_type": "interactive", "card": card_of(markdown("字" * 10_000))}, 10002),
    ],
)
async def test_a_wrong_batch_is_refused_with_http_200(change, code):
    """The status says nothing, the body's code all; no batch comes of it."""
    async with running() as rig:
        readers = people(rig, 1)

        answer = await rig.api.post(SEND, json={"open_ids": readers, **TEXT, **change})

        assert (answer.status_code, answer.json()["code"]) == (200, code)
        assert answer.json()["error"]["log_id"]
        assert not rig.sandbox.world.batches


async def test_a_card_is_refused_with_the_sub_codes_of_a_send():
    """11246 in the place of 230099, and its msg begins with the sub-code."""
    async with running() as rig:
        readers = people(rig, 1)
        card = card_of({"tag": "img", "img_key": "img_nobody", "alt": {"tag": "plain_text", "content": ""}})

        msg = (await batch(rig, readers, msg_type="interactive", card=card)).json()["msg"]

        assert msg.startswith("ErrCode: 200570; ErrPath: ROOT -> body -> elements -> [0](tag: img)")


async def test_what_the_audit_stops_is_sent_to_nobody():
    """The batch's own code of it, at once."""
    async with running(audit_words=("今日",)) as rig:
        answer = await batch(rig, people(rig, 1))

        assert (answer.status_code, answer.json()["code"], rig.sandbox.world.batches) == (200, 11312, {})


async def test_every_type_of_message_arrives():
    """A post without its wrapper, a card as it was given: as the message API keeps them."""
    async with running(batch_delay_s=0) as rig:
        [reader] = people(rig, 1)
        chat_id, _ = await rig.group()
        rig.sandbox.world.put(Image("img_1", SETTINGS.app_id))
        post = {"zh_cn": {"title": "日报", "content": [[{"tag": "a", "text": "甲", "href": "https://example.com"}]]}}
        card = card_of(markdown("今日"), LINK)
        for body in (
            {"msg_type": "post", "content": {"post": post}},
            {"msg_type": "image", "content": {"image_key": "img_1"}},
            {"msg_type": "share_chat", "content": {"share_chat_id": chat_id}},
            {"msg_type": "interactive", "card": card},
        ):
            await batch_id(rig, [reader], **body)

        chat = rig.sandbox.world.p2p_chat_id(SETTINGS.app_id, reader)
        kinds = [one.msg_type for one in rig.sandbox.world.messages_in(chat)]
        contents = [httpx.Response(200, text=one).json() for one in received(rig, reader)]
        assert kinds == ["post", "image", "share_chat", "interactive"]
        assert contents == [post, {"image_key": "img_1"}, {"chat_id": chat_id}, card]
        assert not rig.sandbox.world.violations


async def test_a_click_on_a_batch_card_reaches_nobody():
    """The person sees the client's error, the app hears nothing, and the send itself was noted as a mistake."""
    async with running(batch_delay_s=0) as rig:
        [reader] = people(rig, 1)
        await batch_id(rig, [reader], msg_type="interactive", card=card_of(button({"v": 1})))
        [message] = rig.sandbox.world.messages.values()

        shown = await rig.sandbox.client.click(reader, message.message_id, {"v": 1})

        assert (shown.code, shown.toast_type, shown.card_changed) == (200340, "error", False)
        assert rig.bot.heard == []
        assert ["cannot call back" in one for one in rig.sandbox.world.violations] == [True]


async def test_a_batch_is_changed_by_nothing_but_its_recall():
    """Its id is no message id, and the messages in the chats can neither be patched nor recalled one by one."""
    async with running(batch_delay_s=0) as rig:
        one = await batch_id(rig, people(rig, 1), msg_type="interactive", card=card_of(LINK))
        [message] = rig.sandbox.world.messages.values()
        answers = [
            await rig.api.post(f"{MESSAGES}/{one}/reply", json={"msg_type": "text", "content": '{"text": "x"}'}),
            await rig.api.get(f"{MESSAGES}/{one}"),
        ]
        for which in (one, message.message_id):
            answers.append(await rig.api.patch(f"{MESSAGES}/{which}", json={"content": card_json(card_of(LINK))}))
            answers.append(await rig.api.delete(f"{MESSAGES}/{which}"))

        assert [answer.json()["code"] for answer in answers] == [230001] * 6
        assert rig.sandbox.world.messages == {message.message_id: message}


async def test_a_recall_takes_back_what_arrived_and_stops_the_rest():
    """Progress tells how many; the window is the tenant's."""
    async with running() as rig:
        readers = people(rig, 60)
        one = await batch_id(rig, readers)
        rig.sandbox.clock.advance(2)

        answer = (await rig.api.delete(f"{BATCHES}/{one}")).json()
        rig.sandbox.clock.advance(10)

        assert (answer["code"], answer["data"]) == (0, {})
        assert await counts(rig, one) == (60, 50, 0, True, 50)
        assert all(message.recalled for message in rig.sandbox.world.messages.values())
        rig.sandbox.clock.advance(86_400)
        late = await rig.api.delete(f"{BATCHES}/{one}")
        assert (late.status_code, late.json()["code"]) == (400, 230009)


async def test_progress_is_kept_for_thirty_days():
    """Then, as for an id that never was, 230030."""
    async with running() as rig:
        one = await batch_id(rig, people(rig, 1))

        for path in (f"{BATCHES}/bm-nothing", f"{BATCHES}/bm-nothing/get_progress", f"{BATCHES}/bm-nothing/read_user"):
            answer = await rig.api.request("GET" if path.count("/") > 5 else "DELETE", path)
            assert (answer.status_code, answer.json()["code"]) == (400, 230030)
        rig.sandbox.clock.advance(30 * 86_400 + 1)

        assert (await rig.api.get(f"{BATCHES}/{one}/get_progress")).json()["code"] == 230030


async def test_read_counts_are_strings():
    """Of those whom it reached."""
    async with running(batch_delay_s=0) as rig:
        reader, other, outside = people(rig, 3)
        await rig.sandbox.client.set_available(outside, False)
        one = await batch_id(rig, [reader, other, outside])
        before = (await rig.api.get(f"{BATCHES}/{one}/read_user")).json()["data"]
        await rig.sandbox.client.read_chat(reader, rig.sandbox.world.p2p_chat_id(SETTINGS.app_id, reader))

        after = (await rig.api.get(f"{BATCHES}/{one}/read_user")).json()["data"]

        assert before == {"read_user": {"read_count": "0", "total_count": "2"}}
        assert after == {"read_user": {"read_count": "1", "total_count": "2"}}
        assert await counts(rig, one) == (3, 2, 1, False, 0)


async def test_a_day_has_its_number_of_messages():
    """11247 for the call that would exceed it, which sends nothing; at midnight in Shanghai it begins anew."""
    async with running(batch_messages_a_day=3) as rig:
        readers = people(rig, 2)

        codes = [(await batch(rig, one)).json()["code"] for one in (readers, readers, readers[:1])]
        rig.sandbox.clock.advance(86_400)

        assert codes == [0, 11247, 0]
        assert (await batch(rig, readers)).json()["code"] == 0


@pytest.mark.parametrize(
    ("scopes", "status", "code"),
    [
        (set(), 400, 99991672),
        ({"im:message"}, 200, 11223),
        ({"im:message:send_as_bot", "im:message:send_multi_depts"}, 200, 11223),
        ({"im:message:send_as_bot", "im:message:send_multi_users"}, 200, 11203),
        ({"im:message", "im:message:send_multi_users", "contact:user.employee_id:readonly"}, 200, 0),
    ],
)
async def test_two_scopes_are_needed(scopes, status, code):
    """One to send, one to send to many, and a third for employee ids."""
    async with running() as rig:
        rig.sandbox.change_app(scopes=frozenset(scopes))

        answer = await rig.api.post(SEND, json={"user_ids": ["u1"], **TEXT})

        assert (answer.status_code, answer.json()["code"]) == (status, code)


async def test_the_bot_must_be_switched_on():
    """The old code of it, with HTTP 200."""
    async with running() as rig:
        rig.sandbox.change_app(bot_enabled=False)

        answer = await batch(rig, ["ou_x"])

        assert (answer.status_code, answer.json()["code"]) == (200, 11205)


async def test_the_address_ends_in_a_slash_and_the_rate_is_limited():
    """Fifty calls in a second; an API of the old generation refuses with HTTP 400. One call counts once."""
    async with running(monthly_calls=100) as rig:
        readers = people(rig, 5)
        without = await rig.api.post(SEND.rstrip("/"), json={"open_ids": readers, **TEXT})
        answers = [await batch(rig, readers) for _ in range(51)]

        assert (without.status_code, without.json()["code"]) == (404, 99991201)
        assert [answer.json()["code"] for answer in answers] == [0] * 50 + [99991400]
        assert answers[-1].status_code == 400
        assert list(rig.sandbox.limits.calls_by_month.values()) == [50]


async def test_a_repetition_sends_twice_whatever_uuid_it_has():
    """Batch sends are not idempotent: a lost reply and a retry make two messages, and the uuid is noted as useless."""
    async with running(batch_delay_s=0) as rig:
        [reader] = people(rig, 1)
        rig.sandbox.faults.add(Fault("drop_reply", api="batch_send"), Fault("server_error", api="batch_send"))

        with pytest.raises(httpx.TransportError):
            await batch(rig, [reader], **TEXT, uuid="k")
        broken = await batch(rig, [reader], **TEXT, uuid="k")
        await batch(rig, [reader], **TEXT, uuid="k")

        assert broken.status_code == 502
        assert len(received(rig, reader)) == 2
        assert ["uuid" in one for one in rig.sandbox.world.violations] == [True, True]


async def test_scripted_codes_and_limits_meet_batches_too():
    """By API and by batch."""
    async with running() as rig:
        readers = people(rig, 1)
        one, other = await batch_id(rig, readers), await batch_id(rig, readers)
        rig.sandbox.faults.add(
            Fault("code", api="batch_send", code=11247, status=200),
            Fault("rate_limited", api="batch_send", seconds=7),
            Fault("code", api="batch_progress", code=2200, receiver=one),
        )

        sent = [await batch(rig, readers) for _ in range(3)]
        seen = [(await rig.api.get(f"{BATCHES}/{which}/get_progress")).json()["code"] for which in (other, one, one)]

        assert [(answer.status_code, answer.json()["code"]) for answer in sent] == [
            (200, 11247),
            (429, 99991400),
            (200, 0),
        ]
        assert seen == [0, 2200, 0]


async def test_batches_can_be_looked_at_from_outside():
    """The control API lists them, and tells of one what it delivered."""
    async with running() as rig:
        readers = people(rig, 2)
        one = await batch_id(rig, readers)
        rig.sandbox.clock.advance(2)

        listed = (await rig.api.get("/sandbox/api/batches")).json()["batches"]
        told = (await rig.api.get(f"/sandbox/api/batches/{one}")).json()
        unknown = await rig.api.get("/sandbox/api/batches/bm-nothing")

        assert [(entry["batch_id"], entry["handled"]) for entry in listed] == [(one, 2)]
        assert [message["content"] for message in told["messages"]] == ['{"text":"今日"}'] * 2
        assert (told["people"], told["readers"], unknown.status_code) == (readers, [], 400)
