"""What reaches us from the chat, whichever transport brought it. Actors are who the platform says they are."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any


@dataclass(frozen=True, slots=True)
class MessageReceived:
    """A message to the bot. `text` is plain, mentions taken out; "" for a picture and the like.

    `message_id` "" where a tap on the menu stands for a message. `mentioned`: who else but people is spoken to.
    """

    event_id: str
    sender: str
    chat_id: str
    private: bool
    text: str
    message_id: str = ""
    mentioned: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ChatEntered:
    """A person opened the bot's chat. Fires at every opening."""

    event_id: str
    operator: str


@dataclass(frozen=True, slots=True)
class BotAdded:
    """The bot came into a group."""

    event_id: str
    operator: str
    chat_id: str
    name: str
    external: bool = False


@dataclass(frozen=True, slots=True)
class BotRemoved:
    """The bot is out of a group, or the group is gone."""

    event_id: str
    chat_id: str
    dissolved: bool


@dataclass(frozen=True, slots=True)
class ChatChanged:
    """A group has another name, owner, or rule of who may speak. None: that is as it was."""

    event_id: str
    chat_id: str
    name: str | None = None
    owner: str | None = None
    muted: bool | None = None


@dataclass(frozen=True, slots=True)
class MembersLeft:
    """People are no longer in a group."""

    event_id: str
    chat_id: str
    people: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PersonLeft:
    """A person is no longer in the company."""

    event_id: str
    person: str


@dataclass(frozen=True, slots=True)
class MessagesRead:
    """Somebody has read messages of ours in the private chat."""

    event_id: str
    reader: str
    message_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CardAction:
    """A click on a button. `value` and `form_value` are what the callback carries, unchecked.

    `message_id`: the card in which it was; "" where the platform does not say.
    """

    event_id: str
    operator: str
    chat_id: str
    value: Any
    message_id: str = ""
    form_value: Any = None


class Why(StrEnum):
    """Why an event means nothing to us."""

    TYPE = "unknown_type"
    SHAPE = "unexpected_shape"  # its type does mean something, its fields are not those that we know
    BOT = "other_bot"  # bots do not subscribe, and never answer each other


@dataclass(frozen=True, slots=True)
class Unknown:
    """An event that means nothing to us. `kind`: its type, as the platform names it."""

    event_id: str
    kind: str
    why: Why = Why.TYPE


Inbound = (
    MessageReceived
    | ChatEntered
    | BotAdded
    | BotRemoved
    | ChatChanged
    | MembersLeft
    | PersonLeft
    | MessagesRead
    | CardAction
    | Unknown
)


def identities(inbound: Inbound) -> tuple[str, ...]:
    """Under which names it is known when it comes again.

    A message may be repeated under a new event id: the message itself is the identity too. Source: feishu-platform
    notes 7.5.
    """
    if isinstance(inbound, MessageReceived) and inbound.message_id:
        return inbound.event_id, f"message:{inbound.message_id}"
    return (inbound.event_id,)


@dataclass(frozen=True, slots=True)
class Answer:
    """What the person who clicked sees at once; None shows nothing.

    `card` takes the place of the one that was clicked, for everybody who sees it.
    """

    toast: str | None = None
    tone: str = "info"  # info, success, warning or error
    card: dict[str, Any] | None = None
