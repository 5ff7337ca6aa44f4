"""Events as the platform writes them → what they mean: bot/feishu/inbound.py."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.domain.inbound import (
    BotAdded,
    BotRemoved,
    CardAction,
    ChatChanged,
    ChatEntered,
    MembersLeft,
    MessageReceived,
    MessagesRead,
    PersonLeft,
    Unknown,
    identities,
)
from bot.feishu.inbound import envelope_of, parse

PERSON = {"open_id": "ou_1", "union_id": "on_1"}
BOT = {"key": "@_user_1", "id": {"open_id": "ou_bot"}, "mentioned_type": "bot", "name": "日报"}


def parsed(event_type: str, event):
    header = {"event_id": "e1", "event_type": event_type, "token": "t", "app_id": "cli_1"}
    return parse(envelope_of(json.dumps({"schema": "2.0", "header": header, "event": event}).encode()))


def message(content, **changes):
    sent = {
        "message_id": "om_1",
        "chat_id": "oc_1",
        "chat_type": "p2p",
        "message_type": "text",
        "content": content if isinstance(content, str) else json.dumps(content),
        **changes,
    }
    return parsed("im.message.receive_v1", {"sender": {"sender_id": PERSON, "sender_type": "user"}, "message": sent})


@pytest.mark.parametrize(
    ("event_type", "event", "expected"),
    [
        (
            "im.chat.access_event.bot_p2p_chat_entered_v1",
            {"chat_id": "oc_1", "operator_id": PERSON, "last_message_id": ""},
            ChatEntered("e1", "ou_1"),
        ),
        (
            "im.chat.member.bot.added_v1",
            {"chat_id": "oc_1", "operator_id": PERSON, "name": "学习群", "external": True},
            BotAdded("e1", "ou_1", "oc_1", "学习群", external=True),
        ),
        ("im.chat.member.bot.deleted_v1", {"chat_id": "oc_1"}, BotRemoved("e1", "oc_1", dissolved=False)),
        ("im.chat.disbanded_v1", {"chat_id": "oc_1", "name": None}, BotRemoved("e1", "oc_1", dissolved=True)),
        (
            "im.chat.updated_v1",
            {"chat_id": "oc_1", "after_change": {"owner_id": PERSON, "name": "新名字"}, "before_change": {}},
            ChatChanged("e1", "oc_1", "新名字", "ou_1", None),
        ),
        (
            "im.chat.updated_v1",
            {"chat_id": "oc_1", "after_change": {"moderation_permission": "moderator_list"}},
            ChatChanged("e1", "oc_1", muted=True),
        ),
        (
            "im.chat.updated_v1",
            {"chat_id": "oc_1", "after_change": {"moderation_permission": "all_members"}},
            ChatChanged("e1", "oc_1", muted=False),
        ),
        (
            "im.chat.member.user.deleted_v1",
            {"chat_id": "oc_1", "users": [{"name": "读者甲", "user_id": PERSON}]},
            MembersLeft("e1", "oc_1", ("ou_1",)),
        ),
        ("contact.user.deleted_v3", {"object": PERSON, "old_object": {}}, PersonLeft("e1", "ou_1")),
        (
            "im.message.message_read_v1",
            {"reader": {"reader_id": PERSON, "read_time": "1"}, "message_id_list": ["om_1", "om_2"]},
            MessagesRead("e1", "ou_1", ("om_1", "om_2")),
        ),
        (
            "application.bot.menu_v6",
            {"operator": {"operator_id": PERSON}, "event_key": "today", "timestamp": 1},
            MessageReceived("e1", "ou_1", "", private=True, text="today"),
        ),
        (
            "card.action.trigger",
            {
                "operator": PERSON,
                "token": "c-1",
                "action": {"value": {"v": 1}, "tag": "button", "form_value": {"density": "full"}},
                "context": {"open_message_id": "om_1", "open_chat_id": "oc_1"},
            },
            CardAction("e1", "ou_1", "oc_1", {"v": 1}, "om_1", {"density": "full"}),
        ),
        ("card.action.trigger", {"operator": PERSON, "action": {"value": "x"}}, CardAction("e1", "ou_1", "", "x")),
        ("im.message.reaction.created_v1", {"message_id": "om_1"}, Unknown("e1", "im.message.reaction.created_v1")),
    ],
)
def test_each_event_is_read(event_type, event, expected):
    """The fields that we look at; all others may come and go."""
    assert parsed(event_type, event) == expected


@pytest.mark.parametrize(
    ("content", "changes", "text"),
    [
        ({"text": "@_user_1 订阅"}, {}, "订阅"),
        ({"text": "@_all 大家好"}, {}, "大家好"),
        ({"text": ""}, {}, ""),
        ("", {}, ""),
        ({"image_key": "img_1"}, {"message_type": "image"}, ""),
        (
            {"title": "", "content": [[{"tag": "at", "user_id": "@_user_1"}, {"tag": "text", "text": " 退订"}]]},
            {"message_type": "post"},
            "退订",
        ),
        ({"text": "订阅"}, {"root_id": "om_0", "parent_id": "om_0"}, "订阅"),
        ({"text": 7}, {}, ""),
        ("[]", {}, ""),
        ("[" * 5000, {}, ""),
    ],
)
def test_a_message_is_its_plain_text(content, changes, text):
    """Mentions taken out; a picture, an empty or a broken one is no text."""
    assert message(content, **changes).text == text


def test_whom_a_message_in_a_group_speaks_to():
    """A mention of a bot, or one that does not say of whom; people and all are not us."""
    person = {"key": "@_user_2", "id": PERSON, "mentioned_type": "user"}
    old = {"key": "@_user_1", "id": {"open_id": "ou_old"}, "name": "日报"}

    def spoken_to(*mentions):
        return message({"text": "x"}, chat_type="group", mentions=list(mentions)).mentioned

    assert spoken_to(BOT, person) == ("ou_bot",)
    assert spoken_to(old) == ("ou_old",)
    assert spoken_to(person) == spoken_to() == ()


def test_a_message_is_known_by_itself_and_by_its_event():
    """The platform may repeat it under another event id."""
    assert identities(message({"text": "x"})) == ("e1", "message:om_1")
    assert identities(ChatEntered("e2", "ou_1")) == ("e2",)


def test_bots_are_not_answered():
    """They would answer us."""
    event = {"sender": {"sender_id": PERSON, "sender_type": "bot"}, "message": {}}

    assert isinstance(parsed("im.message.receive_v1", event), Unknown)


@given(st.text(st.sampled_from("\\\0u0a\"'x"), max_size=12))
def test_no_nul_comes_in_and_nothing_else_is_lost(text):
    """PostgreSQL would refuse it, in whatever field it stood."""
    plain = json.dumps({"header": {"event_id": "e", "event_type": text}, "event": {}}).encode()

    assert envelope_of(plain).header.event_type == text.replace("\0", "")
