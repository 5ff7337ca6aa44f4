"""Decrypted bytes → an inbound event. Fields of an unexpected shape make it Unknown, never an error.

Source: feishu-platform notes 6.1, 7.4, 8.
"""

import json
import re
from collections.abc import Callable
from typing import Any, TypeVar

import msgspec

from bot.domain.inbound import (
    BotAdded,
    BotRemoved,
    CardAction,
    ChatChanged,
    ChatEntered,
    Inbound,
    MembersLeft,
    MessageReceived,
    MessagesRead,
    PersonLeft,
    Unknown,
    Why,
)
from bot.feishu.event_shapes import (
    Changed,
    Chat,
    Clicked,
    Gone,
    Id,
    Members,
    Menu,
    Message,
    Read,
    Received,
)

T = TypeVar("T")
CARD_ACTION = "card.action.trigger"
# PostgreSQL keeps no NUL in a text, and no name or word of anybody has one.
_NUL = re.compile(rb"(?<!\\)((?:\\\\)*)\\u0000")
_MENTION = re.compile(r"@_(user_\d+|all)")


class Header(msgspec.Struct):
    event_id: Id
    event_type: str
    token: str = ""
    app_id: str = ""


class Envelope(msgspec.Struct):
    """Schema 2.0; `event` is decoded once its type is known."""

    header: Header
    event: msgspec.Raw = msgspec.Raw(b"{}")


def envelope_of(plain: bytes) -> Envelope:
    """The envelope of a decrypted body. Raises msgspec.DecodeError if it is none."""
    return shaped(_NUL.sub(rb"\1", plain), Envelope)


def shaped(data: bytes, shape: type[T]) -> T:
    """JSON of a shape. Raises msgspec.DecodeError for everything else, be it no text or too deep to be read."""
    try:
        return msgspec.json.decode(data, type=shape)
    except (UnicodeDecodeError, RecursionError) as exc:
        raise msgspec.DecodeError(str(exc)) from exc


def parse(envelope: Envelope) -> Inbound:
    """The event inside an envelope."""
    header = envelope.header
    read = _READ.get(header.event_type)
    if read is None:
        return Unknown(header.event_id, header.event_type)
    try:
        return read(header, envelope.event)
    except msgspec.DecodeError:
        return Unknown(header.event_id, header.event_type, Why.SHAPE)


def _received(header: Header, event: msgspec.Raw) -> Inbound:
    received = shaped(event, Received)
    message = received.message
    if received.sender.sender_type != "user":
        return Unknown(header.event_id, header.event_type, Why.BOT)
    # Older payloads do not say what was mentioned: then it may be us.
    spoken_to = [one.id for one in message.mentions or () if one.id and one.mentioned_type in {"bot", ""}]
    return MessageReceived(
        header.event_id,
        received.sender.sender_id.open_id,
        message.chat_id,
        message.chat_type == "p2p",
        _text(message),
        message.message_id,
        tuple(one.open_id for one in spoken_to),
    )


def _entered(header: Header, event: msgspec.Raw) -> Inbound:
    return ChatEntered(header.event_id, _operator(_chat(event)))


def _added(header: Header, event: msgspec.Raw) -> Inbound:
    chat = _chat(event)
    return BotAdded(header.event_id, _operator(chat), chat.chat_id, chat.name or "", chat.external)


def _removed(header: Header, event: msgspec.Raw) -> Inbound:
    return BotRemoved(header.event_id, _chat(event).chat_id, dissolved=header.event_type == "im.chat.disbanded_v1")


def _changed(header: Header, event: msgspec.Raw) -> Inbound:
    changed = shaped(event, Changed)
    after = changed.after_change
    voice = after.moderation_permission
    owner = after.owner_id.open_id if after.owner_id else None
    muted = None if voice is None else voice != "all_members"
    return ChatChanged(header.event_id, changed.chat_id, after.name, owner, muted)


def _members_left(header: Header, event: msgspec.Raw) -> Inbound:
    left = shaped(event, Members)
    return MembersLeft(header.event_id, left.chat_id, tuple(one.user_id.open_id for one in left.users))


def _person_left(header: Header, event: msgspec.Raw) -> Inbound:
    return PersonLeft(header.event_id, shaped(event, Gone).object.open_id)


def _were_read(header: Header, event: msgspec.Raw) -> Inbound:
    read = shaped(event, Read)
    return MessagesRead(header.event_id, read.reader.reader_id.open_id, tuple(read.message_id_list))


def _menu(header: Header, event: msgspec.Raw) -> Inbound:
    """The keys of the menu are words that the chat understands too."""
    chosen = shaped(event, Menu)
    who = chosen.operator.operator_id.open_id
    return MessageReceived(header.event_id, who, "", private=True, text=chosen.event_key)


def _clicked(header: Header, event: msgspec.Raw) -> Inbound:
    clicked = shaped(event, Clicked)
    action, context = clicked.action, clicked.context
    return CardAction(
        header.event_id,
        clicked.operator.open_id,
        context.open_chat_id,
        action.value,
        context.open_message_id,
        action.form_value,
    )


_READ: dict[str, Callable[[Header, msgspec.Raw], Inbound]] = {
    "im.message.receive_v1": _received,
    "im.chat.access_event.bot_p2p_chat_entered_v1": _entered,
    "im.chat.member.bot.added_v1": _added,
    "im.chat.member.bot.deleted_v1": _removed,
    "im.chat.disbanded_v1": _removed,
    "im.chat.updated_v1": _changed,
    "im.chat.member.user.deleted_v1": _members_left,
    "contact.user.deleted_v3": _person_left,
    "im.message.message_read_v1": _were_read,
    "application.bot.menu_v6": _menu,
    CARD_ACTION: _clicked,
}


def _text(message: Message) -> str:
    try:
        content = json.loads(message.content)
    except (ValueError, RecursionError):
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


def _chat(event: msgspec.Raw) -> Chat:
    return shaped(event, Chat)


def _operator(chat: Chat) -> str:
    return chat.operator_id.open_id if chat.operator_id else ""
