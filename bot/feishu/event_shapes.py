"""Bodies of events and callbacks, as far as we look at them. Source: feishu-platform notes 6.1, 7.4, 8."""

from typing import Annotated, Any

import msgspec

# The platform's have 35 characters or so. They become keys, and no database takes a key of any length.
Id = Annotated[str, msgspec.Meta(max_length=200)]


class Ids(msgspec.Struct):
    open_id: Id


class Sender(msgspec.Struct):
    sender_id: Ids
    sender_type: str = "user"


class Mention(msgspec.Struct):
    key: str = ""
    id: Ids | None = None
    mentioned_type: str = ""


class Message(msgspec.Struct):
    message_id: Id
    chat_id: Id
    chat_type: str
    message_type: str
    content: str = ""
    mentions: list[Mention] | None = None


class Received(msgspec.Struct):
    sender: Sender
    message: Message


class Chat(msgspec.Struct):
    chat_id: Id
    operator_id: Ids | None = None
    name: str | None = None
    external: bool = False


class Change(msgspec.Struct):
    name: str | None = None
    owner_id: Ids | None = None
    moderation_permission: str | None = None


class Changed(msgspec.Struct):
    chat_id: Id
    after_change: Change = msgspec.field(default_factory=Change)


class Member(msgspec.Struct):
    user_id: Ids


class Members(msgspec.Struct):
    chat_id: Id
    users: list[Member]


class Gone(msgspec.Struct):
    object: Ids


class Reader(msgspec.Struct):
    reader_id: Ids


class Read(msgspec.Struct):
    reader: Reader
    message_id_list: list[str]


class Operator(msgspec.Struct):
    operator_id: Ids


class Menu(msgspec.Struct):
    operator: Operator
    event_key: str


class Context(msgspec.Struct):
    open_chat_id: Id = ""
    open_message_id: Id = ""


class Action(msgspec.Struct):
    value: Any = None
    form_value: Any = None


class Clicked(msgspec.Struct):
    operator: Ids
    action: Action
    context: Context = msgspec.field(default_factory=Context)
