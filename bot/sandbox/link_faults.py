"""What goes wrong with long connections on purpose.

A refused, busy or hanging address call is a `Fault` of the api `link`.
"""

from typing import Literal

import msgspec

Kind = Literal["cut", "swallow_pong", "lose_answer", "twice", "split"]


class LinkFault(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One thing that goes wrong; `after` so many occasions, `times` times (None: until it is cleared).

    cut           the connection is cut instead of carrying a frame, whichever way it goes
    swallow_pong  a ping stays unanswered
    lose_answer   an acknowledgement is lost, so that the event comes again
    twice         an event is pushed twice at once, each time over a connection of its own choice
    split         a message comes in parts of `size` bytes
    """

    kind: Kind
    after: int = 0
    times: int | None = 1
    size: int = 1


class LinkFaults:
    """The script. Each fault counts the occasions for its own kind, over all connections."""

    def __init__(self) -> None:
        self._script: list[_Entry] = []

    def add(self, *faults: LinkFault) -> None:
        self._script.extend(map(_Entry, faults))

    def clear(self) -> None:
        self._script.clear()

    def strikes(self, kind: Kind) -> LinkFault | None:
        """The fault that this occasion meets, if any."""
        return next((entry.fault for entry in self._script if entry.fault.kind == kind and entry.takes()), None)


class _Entry:
    def __init__(self, fault: LinkFault) -> None:
        self.fault = fault
        self._seen = 0

    def takes(self) -> bool:
        """Count the occasion, and say whether it is one of those that go wrong."""
        fault = self.fault
        if fault.times is not None and self._seen >= fault.after + fault.times:
            return False
        self._seen += 1
        return self._seen > fault.after
