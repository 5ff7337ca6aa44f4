"""Decrypted bytes → an inbound event. Fields of an unexpected shape make it Unknown, never an error.

Source: feishu-platform notes 6.1, 7.4, 8.
"""

import json
import re
from typing import Any

import msgspec

from bot.domain.inbound import BotAdded, BotRemoved, CardAction, ChatEntered, Inbound, MessageReceived, Unknown

CARD_ACTION = "card.action.trigger"
_MENTION = re.compile(r"@_(user_\d+|all)")


class Header(msgspec.Struct):
    event_id: str
    event_type: str
    token: str = ""
    app_id: str = ""


class Envelope(msgspec.Struct):
    """Schema 2.0; `event` is decoded once its type is known."""

    header: Header
    event: msgspec.Raw = msgspec.Raw(b"{}")


class _Ids(msgspec.Struct):
    open_id: str


class _Sender(msgspec.Struct):
    sender_id: _Ids
    sender_type: str = "user"


class _Mention(msgspec.Struct):
    key: str


class _Message(msgspec.Struct):
    message_id: str
    chat_id: str
    chat_type: str
    message_type: str
    content: str = ""
    mentions: list[_Mention] | None = None


class _Received(msgspec.Struct):
    sender: _Sender
    message: _Message


class _Chat(msgspec.Struct):
    chat_id: str
    operator_id: _Ids | None = None
    name: str | None = None


class _Operator(msgspec.Struct):
    operator_id: _Ids


class _Menu(msgspec.Struct):
    operator: _Operator
    event_key: str


class _Context(msgspec.Struct):
    open_chat_id: str = ""


class _Action(msgspec.Struct):
    value: Any = None


class _Clicked(msgspec.Struct):
    operator: _Ids
    action: _Action
    context: _Context = msgspec.field(default_factory=_Context)


def envelope_of(plain: bytes) -> Envelope:
    """The envelope of a decrypted body. Raises msgspec.DecodeError if it is none."""
    return msgspec.json.decode(plain, type=Envelope)


def parse(envelope: Envelope) -> Inbound:
    """The event inside an envelope."""
    header = envelope.header
    try:
        match header.event_type:
            case "im.message.receive_v1":
                return _received(header, msgspec.json.decode(envelope.event, type=_Received))
            case "im.chat.access_event.bot_p2p_chat_entered_v1":
                chat = _chat(envelope)
                return ChatEntered(header.event_id, _operator(chat))
            case "im.chat.member.bot.added_v1":
                chat = _chat(envelope)
                return BotAdded(header.event_id, _operator(chat), chat.chat_id, chat.name or "")
            case "im.chat.member.bot.deleted_v1" | "im.chat.disbanded_v1":
                dissolved = header.event_type == "im.chat.disbanded_v1"
                return BotRemoved(header.event_id, _chat(envelope).chat_id, dissolved)
            case "application.bot.menu_v6":
                # The keys of the menu are words that the chat understands too.
                chosen = msgspec.json.decode(envelope.event, type=_Menu)
                who = chosen.operator.operator_id.open_id
                return MessageReceived(header.event_id, who, "", private=True, text=chosen.event_key)
            case _ if header.event_type == CARD_ACTION:
                clicked = msgspec.json.decode(envelope.event, type=_Clicked)
                return CardAction(
                    header.event_id, clicked.operator.open_id, clicked.context.open_chat_id, clicked.action.value
                )
    except msgspec.DecodeError:
        pass
    return Unknown(header.event_id, header.event_type)


def _received(header: Header, received: _Received) -> Inbound:
    message = received.message
    if received.sender.sender_type != "user":
        return Unknown(header.event_id, header.event_type)  # bots do not subscribe, and never answer each other
    return MessageReceived(
        # The platform may repeat a message under a new event id: the message itself is the identity. Source: 7.5.
        f"message:{message.message_id}",
        received.sender.sender_id.open_id,
        message.chat_id,
        message.chat_type == "p2p",
        _text(message),
    )


def _text(message: _Message) -> str:
    try:
        content = json.loads(message.content)
    except ValueError:
        return ""
    if not isinstance(content, dict):
        return ""
    text = content.get("text") if message.message_type == "text" else _post_text(content)
    return _MENTION.sub(" ", text).strip() if isinstance(text, str) else ""


def _post_text(content: dict[str, Any]) -> str:
    lines = content.get("content")
    nodes = [node for line in lines if isinstance(line, list) for node in line] if isinstance(lines, list) else []
    texts = [node.get("text") for node in nodes if isinstance(node, dict) and node.get("tag") in {"text", "a"}]
    return "".join(text for text in texts if isinstance(text, str))


def _chat(envelope: Envelope) -> _Chat:
    return msgspec.json.decode(envelope.event, type=_Chat)


def _operator(chat: _Chat) -> str:
    return chat.operator_id.open_id if chat.operator_id else ""
