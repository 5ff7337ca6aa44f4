"""Who gets what: receivers, subscriptions, and what a subscription selects from a digest."""

import hashlib
from dataclasses import dataclass, field
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
    """Where a message goes. `id`: an open_id, a chat_id, or the address of a webhook, which is as good as a key."""

    kind: Kind
    id: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Selection:
    """What one rendering shows. Subscriptions with equal selections share it; nobody's personal data is in it."""

    sections: frozenset[str] = frozenset()
    density: Density = Density.STANDARD
    audience: Kind = Kind.USER
    calls_back: bool = True  # its buttons may act; those of batch-sent cards only open addresses

    @property
    def key(self) -> str:
        """Stable short form for unique keys; section names are hashed, since they may hold anything."""
        names = "\0".join(sorted(self.sections))
        chosen = hashlib.sha256(names.encode()).hexdigest()[:16] if names else "all"
        return f"{self.audience}:{self.density}:{chosen}" + ("" if self.calls_back else ":links")
