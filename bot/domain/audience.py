"""Who gets what: receivers, subscriptions, and what a subscription selects from a digest."""

import hashlib
from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    """What a receiver is; `webhook` is a custom bot's address in a group where the app cannot go."""

    USER = "user"
    GROUP = "group"
    WEBHOOK = "webhook"


class SubscriptionStatus(StrEnum):
    """`paused` is ours to lift, `unsubscribed` only the subscriber's."""

    ACTIVE = "active"
    PAUSED = "paused"
    UNSUBSCRIBED = "unsubscribed"


class Density(StrEnum):
    """How much of an item a card shows before the reader asks for more."""

    BRIEF = "brief"
    STANDARD = "standard"
    FULL = "full"


@dataclass(frozen=True, slots=True)
class Receiver:
    """Where a message goes. `id` is an open_id for a user, a chat_id for a group."""

    kind: Kind
    id: str


@dataclass(frozen=True, slots=True)
class Selection:
    """What one rendering shows. Subscriptions with equal selections share it; nobody's personal data is in it."""

    sections: frozenset[str] = frozenset()
    density: Density = Density.STANDARD
    audience: Kind = Kind.USER

    @property
    def key(self) -> str:
        """Stable short form for unique keys; section names are hashed, since they may hold anything."""
        if not self.sections:
            return f"{self.audience}:{self.density}:all"
        names = "\0".join(sorted(self.sections))
        return f"{self.audience}:{self.density}:{hashlib.sha256(names.encode()).hexdigest()[:16]}"
