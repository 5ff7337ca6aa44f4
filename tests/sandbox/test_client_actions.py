"""What people do in their client: feishu-platform notes 6, 8, 10."""

import socket
from dataclasses import replace

import pytest
from starlette.responses import JSONResponse, Response

from bot.sandbox.app import Sandbox
from bot.sandbox.visibility import ActionRefusedError
from tests.sandbox.kit import SETTINGS, START, Rig, button, card_of, markdown, running, text

pytestmark = pytest.mark.anyio
SUBSCRIBE = {"v": 1, "do": "subscribe"}
CARD = card_of(markdown("日报"), button(SUBSCRIBE), button({"v": 2}, disabled=True))
CLICKED = "card.action.trigger"


async def sent(rig: Rig, card: dict | None = None, receiver: str = "", id_type: str = "open_id") -> tuple[str, str]:
    """A reader and the message id of a card in the chat with the bot."""
    reader = receiver or rig.sandbox.client.add_user("读者甲").open_id
    answer = (await rig.send(reader, card or CARD, id_type=id_type)).json()
    assert answer["code"] == 0, answer
    return reader, answer["data"]["message_id"]


def answering(rig: Rig, body: object = None, status: int = 200) -> None:
    async def answer(_body: dict) -> Response:
        return JSONResponse(body, status_code=status) if body is not None else Response(b"nonsense")

    rig.bot.answer = answer


async def test_a_click_carries_value_person_and_place_and_shows_the_toast():
    """The callback's time is in microseconds, host and context stand inside the event."""
    async with running() as rig:
        reader, message_id = await sent(rig)
        answering(rig, {"toast": {"type": "success", "content": "subscribed", "i18n": {"zh_cn": "已订阅"}}})

        shown = await rig.sandbox.client.click(reader, message_id, SUBSCRIBE)

        assert (shown.code, shown.toast_type, shown.toast_text) == (0, "success", "已订阅")
        event = rig.bot.of_type(CLICKED)[0]
        assert rig.bot.heard[0]["header"]["create_time"] == str(int(START * 1_000_000))
        assert event["action"] == {"tag": "button", "value": SUBSCRIBE}
        assert event["operator"]["open_id"] == reader
        assert event["token"].startswith("c-")
        assert (event["host"], event["context"]) == (
            "im_message",
            {"open_message_id": message_id, "open_chat_id": shown.chat_id},
        )
        assert [toast.text for toast in rig.sandbox.world.toasts.values()] == ["已订阅"]


async def test_a_card_in_the_answer_replaces_the_shown_one_for_everybody():
    """The message keeps its id and is marked as updated."""
    async with running() as rig:
        reader, message_id = await sent(rig)
        answering(rig, {"card": {"type": "raw", "data": card_of(markdown("已订阅"))}})

        shown = await rig.sandbox.client.click(reader, message_id, SUBSCRIBE)

        message = rig.sandbox.world.messages[message_id]
        assert (shown.card_changed, shown.toast_text, message.updated) == (True, None, True)
        assert "已订阅" in message.content


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({}, 200, 0),
        ({"toast": {"content": "x"}}, 200, 0),
        ({}, 302, 200671),
        ({}, 500, 200671),
        (None, 200, 200672),
        ([], 200, 200672),
        ({"toast": "x"}, 200, 200672),
        ({"toast": {"type": "loud", "content": "x"}}, 200, 200672),
        ({"card": {"data": {}}}, 200, 200672),
        ({"card": {"type": "raw", "data": "{}"}}, 200, 200672),
        ({"card": {"type": "raw", "data": card_of({"tag": "nothing"})}}, 200, 200673),
        ({"card": {"type": "raw", "data": card_of(markdown("<at id=ou_x></at>"))}}, 200, 200673),
        ({"card": {"type": "raw", "data": {"elements": []}}}, 200, 200830),
    ],
)
async def test_a_wrong_answer_shows_the_clients_own_code(body, status, code):
    """Status, form and card of the answer are judged as the platform does; the card stays as it was."""
    async with running() as rig:
        reader, message_id = await sent(rig)
        answering(rig, body, status)

        shown = await rig.sandbox.client.click(reader, message_id, SUBSCRIBE)

        assert shown.code == code
        assert str(code) in (shown.toast_text or "0") or code == 0
        assert not rig.sandbox.world.messages[message_id].updated


async def test_clicks_without_an_address_or_an_answer_show_their_codes_and_are_never_repeated():
    """No address 200340, nobody there 200342, no web address at all 200080."""
    async with running(card_url=None) as rig:
        reader, message_id = await sent(rig)
        assert (await rig.sandbox.client.click(reader, message_id, SUBSCRIBE)).code == 200340
    codes = []
    for url in (f"http://127.0.0.1:{closed_port()}/card", "nonsense"):
        sandbox = Sandbox(replace(SETTINGS, card_url=url))
        codes.append((await sandbox.pusher.call_back({})).code)
        assert not sandbox.world.pushes
        await sandbox.close()

    assert codes == [200342, 200080]


def closed_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


async def test_a_click_that_the_client_does_not_offer_is_refused():
    """No such button, disabled, not in the chat, recalled, over 14 days old."""
    async with running() as rig:
        client = rig.sandbox.client
        reader, message_id = await sent(rig)
        other = client.add_user("读者乙").open_id
        tries = [
            (reader, message_id, {"v": 3}),
            (reader, message_id, {"v": 2}),
            (other, message_id, SUBSCRIBE),
            (reader, "om_x", SUBSCRIBE),
        ]
        for person, message, value in tries:
            with pytest.raises(ActionRefusedError):
                await client.click(person, message, value)
        rig.sandbox.clock.advance(14 * 86_400)
        assert (await client.click(reader, message_id, SUBSCRIBE)).code == 0
        rig.sandbox.clock.advance(1)
        with pytest.raises(ActionRefusedError, match="14 days"):
            await client.click(reader, message_id, SUBSCRIBE)
        _, young = await sent(rig, receiver=reader)
        rig.sandbox.world.change(rig.sandbox.world.messages[young], recalled=True)
        with pytest.raises(ActionRefusedError, match="recalled"):
            await client.click(reader, young, SUBSCRIBE)


async def test_a_form_sends_every_field_by_name():
    """What was not filled in has its initial value or is empty; unknown and missing required fields are refused."""
    form = {
        "tag": "form",
        "name": "settings",
        "elements": [
            {"tag": "input", "name": "words", "required": True},
            {"tag": "select_static", "name": "density", "initial_option": "standard", "options": []},
            {"tag": "date_picker", "name": "until"},
            button({"do": "save"}, name="save", form_action_type="submit"),
            button({"do": "clear"}, name="clear", form_action_type="reset"),
        ],
    }
    async with running() as rig:
        client = rig.sandbox.client
        reader, message_id = await sent(rig, card_of(form))
        for bad in ({}, {"words": "x", "colour": "red"}):
            with pytest.raises(ActionRefusedError):
                await client.click(reader, message_id, {"do": "save"}, form_value=bad)
        with pytest.raises(ActionRefusedError):
            await client.click(reader, message_id, "clear", form_value={"words": "x"})

        await client.click(reader, message_id, "save", form_value={"words": "并行"})

        assert rig.bot.of_type(CLICKED)[0]["action"] == {
            "tag": "button",
            "value": {"do": "save"},
            "name": "save",
            "form_value": {"words": "并行", "density": "standard", "until": ""},
        }


async def test_controls_outside_a_form_report_what_was_chosen():
    """Each kind in its own field."""
    elements = [
        {
            "tag": "overflow",
            "options": [{"text": {"tag": "plain_text", "content": "甲"}, "value": "a"}],
            "behaviors": [{"type": "callback", "value": {"n": 1}}],
        },
        {"tag": "checker", "behaviors": [{"type": "callback", "value": {"n": 2}}]},
        {"tag": "input", "behaviors": [{"type": "callback", "value": {"n": 3}}]},
        {"tag": "picker_time", "name": "slot"},
    ]
    async with running() as rig:
        reader, message_id = await sent(rig, card_of(*elements))
        for wanted, chosen in (({"n": 1}, "a"), ({"n": 2}, True), ({"n": 3}, "词"), ("slot", "08:30 +0800")):
            await rig.sandbox.client.click(reader, message_id, wanted, chosen=chosen)

        actions = [event["action"] for event in rig.bot.of_type(CLICKED)]
        assert [actions[0]["option"], actions[1]["checked"], actions[2]["input_value"]] == ["a", True, "词"]
        assert (actions[3]["option"], actions[3]["timezone"]) == ("08:30 +0800", "Asia/Shanghai")


async def test_the_life_of_a_group_is_told_by_events():
    """Added, muted, removed, dissolved; a removed bot hears of its own removal and of nothing more."""
    async with running() as rig:
        client = rig.sandbox.client
        chat_id, owner = await rig.group()
        await client.set_muted(chat_id)
        await client.set_muted(chat_id)
        await client.remove_bot(chat_id, owner)
        await client.set_muted(chat_id, muted=False)
        await client.add_bot(chat_id, owner)
        await client.dissolve(chat_id)

        heard = [one["header"]["event_type"] for one in rig.bot.heard]
        assert heard == [
            "im.chat.member.bot.added_v1",
            "im.chat.updated_v1",
            "im.chat.member.bot.deleted_v1",
            "im.chat.member.bot.added_v1",
            "im.chat.disbanded_v1",
        ]
        assert rig.bot.heard[0]["event"]["operator_id"]["open_id"] == owner
        change = rig.bot.heard[1]["event"]["after_change"]
        assert change == {"moderation_permission": "moderator_list"}


async def test_a_group_dissolved_with_its_history_kept_sends_no_event():
    """The gap that the daily reconciliation is for: sending meets 232009."""
    async with running() as rig:
        chat_id, _ = await rig.group()
        await rig.sandbox.client.dissolve(chat_id, keep_history=True)

        assert not rig.bot.of_type("im.chat.disbanded_v1")
        assert (await rig.send(chat_id, id_type="chat_id")).json()["code"] == 232009


async def test_resigning_tells_the_app_and_leaves_all_groups():
    """contact.user.deleted_v3, and the person can do nothing any more."""
    async with running() as rig:
        client = rig.sandbox.client
        owner, reader = client.add_user("编辑").open_id, client.add_user("读者甲").open_id
        chat_id = (await client.create_group("读者群", owner, [reader])).chat_id
        await client.resign(reader)

        assert rig.bot.of_type("contact.user.deleted_v3")[0]["object"]["status"]["is_resigned"] is True
        assert rig.sandbox.world.chats[chat_id].members == (owner,)
        with pytest.raises(ActionRefusedError):
            await client.say(reader, chat_id, "x")


async def test_the_menu_names_no_chat_and_counts_seconds():
    """Only in the chat with the bot."""
    async with running() as rig:
        client = rig.sandbox.client
        reader = client.add_user("读者甲")
        with pytest.raises(ActionRefusedError):
            await client.choose_menu(reader.open_id, "today")
        await client.open_bot_chat(reader.open_id)
        await client.choose_menu(reader.open_id, "today")

        assert rig.bot.of_type("application.bot.menu_v6") == [
            {
                "operator": {
                    "operator_name": "读者甲",
                    "operator_id": {"union_id": reader.union_id, "open_id": reader.open_id},
                },
                "event_key": "today",
                "timestamp": int(START),
            }
        ]


@pytest.mark.parametrize("bad", ["open", "say", "empty", "mute", "twice", "remove", "manager", "stranger"])
async def test_what_a_client_would_not_let_one_do_is_refused(bad):
    """Each refusal is one clear line, and no event goes out for it."""
    async with running() as rig:
        client = rig.sandbox.client
        chat_id, owner = await rig.group(with_bot=bad != "remove")
        stranger = client.add_user("读者乙", available=False).open_id
        member = client.add_user("读者丙").open_id
        muted = (await client.create_group("静群", owner, [member])).chat_id
        await client.set_muted(muted)
        before = len(rig.bot.heard)
        attempts = {
            "open": lambda: client.open_bot_chat(stranger),
            "say": lambda: client.say(stranger, chat_id, "x"),
            "empty": lambda: client.say(owner, chat_id, " "),
            "mute": lambda: client.say(member, muted, "x"),
            "twice": lambda: client.add_bot(chat_id, owner),
            "remove": lambda: client.remove_bot(chat_id, owner),
            "manager": lambda: client.create_group("x", owner, [], [stranger]),
            "stranger": lambda: client.add_bot(chat_id, "ou_nobody"),
        }
        with pytest.raises(ActionRefusedError, match=r"^[^\n]+$"):
            await attempts[bad]()

        assert len(rig.bot.heard) == before


async def test_chats_of_a_person_come_with_the_latest_first():
    """Dissolved groups are gone, unless their history was kept."""
    async with running() as rig:
        client, world = rig.sandbox.client, rig.sandbox.world
        first, owner = await rig.group("甲群")
        second = (await client.create_group("乙群", owner, [])).chat_id
        third = (await client.create_group("丙群", owner, [])).chat_id
        await client.say(owner, second, "x")
        rig.sandbox.clock.advance(1)
        await rig.send(first, id_type="chat_id", **text("y"))
        await client.dissolve(third)

        assert [chat.chat_id for chat in world.chats_of(owner)] == [first, second]
        assert all(SETTINGS.app_id not in chat.bots or chat.chat_id == first for chat in world.chats_of(owner))
