"""Protocols for what a service needs from outside and gets in more than one form."""

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from bot.domain.audience import Receiver
from bot.domain.digest import Digest
from bot.domain.errors import DigestError


class CardSender(Protocol):
    """Sends one card. The same uuid on every attempt: the platform sends at most one message for it in an hour."""

    async def send(self, receiver: Receiver, card: str, uuid: str) -> str:
        """Return the message id. Raises SendError."""
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
