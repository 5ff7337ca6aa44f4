"""What can be told about a long connection from outside: is it there, does the other end answer, what is wrong."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class LinkHealth:
    """`is_up`: connected, and heard of lately. `trouble`: why the last connection ended or never began.

    Of its life so far: `reconnects` connections after the first; `unreadable` messages that were no event.
    """

    is_up: bool
    connected_since: datetime | None
    last_pong: datetime | None
    last_event: datetime | None
    trouble: str
    reconnects: int
    unreadable: int
