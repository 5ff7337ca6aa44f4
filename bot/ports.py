"""Protocols for what a service needs from outside and gets in more than one form."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from bot.domain.audience import Receiver
from bot.domain.digest import Digest
from bot.domain.errors import DigestError
from bot.domain.ladder import Rung


class CardSender(Protocol):
    """Sends one message. The same uuid on every attempt: the platform sends at most one message for it in an hour."""

    async def send(self, receiver: Receiver, content: str, uuid: str, rung: Rung = Rung.CARD) -> str:
        """`content` is JSON text in the form of `rung`. Returns the message id. Raises SendError."""
        ...


@dataclass(frozen=True, slots=True)
class BatchAccepted:
    """The platform's yes to a batch: everybody gets it but those whose ids it does not know."""

    message_id: str
    invalid_open_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class BatchProgress:
    """How far a batch is. People who are valid and never succeed are out of the bot's reach; nobody is named."""

    valid: int
    success: int
    read: int


class BatchCaller(Protocol):
    """Sends one message to many people in one call. Not idempotent: a call in doubt is not to be repeated."""

    def room_for(self, content: str, rung: Rung) -> int:
        """How many people one call with this content has room for."""
        ...

    async def send(self, open_ids: Sequence[str], content: str, rung: Rung = Rung.CARD) -> BatchAccepted:
        """Raises SendError; ReceiverError if somebody, who is not named, is refused, and nobody got it."""
        ...

    async def progress(self, message_id: str) -> BatchProgress:
        """Raises SendError."""
        ...


@dataclass(frozen=True, slots=True)
class Found:
    """A digest that a source holds, with the hash of the bytes it was read from."""

    digest: Digest
    source_hash: str


class DigestSource(Protocol):
    """Where a series' digests come from."""

    async def load(self, now: datetime) -> tuple[list[Found], list[DigestError]]:
        """Everything recent that can be read, and what could not be."""
        ...


class PictureFetcher(Protocol):
    """Brings the bytes of a picture that somebody else keeps."""

    async def fetch(self, source: str) -> bytes:
        """`source`: a web address, or `feishu-media:TOKEN`. Raises DigestError."""
        ...


class PictureUploader(Protocol):
    """Gives pictures to the platform."""

    async def upload_image(self, content: bytes) -> str:
        """Return the image_key, which only this app may use. Raises SendError."""
        ...


class LinkState(StrEnum):
    """What is known of a link. `unclear`: a person may see what a program is not shown."""

    OK = "ok"
    DEAD = "dead"
    UNCLEAR = "unclear"
    NOT_CHECKED = "not_checked"


@dataclass(frozen=True, slots=True)
class LinkAnswer:
    """How a link answered; `reason` is a few words of Chinese for an editor, empty for one that is well."""

    state: LinkState
    reason: str = ""
