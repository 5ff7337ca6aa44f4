"""What reaches us from the chat, whichever transport brought it. Actors are who the platform says they are."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class MessageReceived:
    """A message to the bot. `text` is plain, mentions taken out."""

    event_id: str
    sender: str
    chat_id: str
    private: bool
    text: str


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


@dataclass(frozen=True, slots=True)
class BotRemoved:
    """The bot is out of a group, or the group is gone."""

    event_id: str
    chat_id: str
    dissolved: bool


@dataclass(frozen=True, slots=True)
class CardAction:
    """A click on a button. `value` is what the button carries, unchecked."""

    event_id: str
    operator: str
    chat_id: str
    value: Any


@dataclass(frozen=True, slots=True)
class Unknown:
    """An event that means nothing to us."""

    event_id: str
    kind: str


Inbound = MessageReceived | ChatEntered | BotAdded | BotRemoved | CardAction | Unknown


@dataclass(frozen=True, slots=True)
class Answer:
    """What the person who clicked sees at once; None shows nothing."""

    toast: str | None = None
    tone: str = "info"  # info, success, warning or error
