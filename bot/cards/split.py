"""Passages -> parts that each fit one card: order kept, nothing lost, as few parts as reasonable.

Sizes are sums: a JSON string costs what its characters cost. So parts are planned with numbers alone, in time linear
in the text, and the caller renders each part once to verify.
"""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from bot.cards.sentences import Atom, Cut
from bot.domain.errors import BotError

# How much of a part may stay empty for the sake of a better cut, and how many more parts than the fewest are fine.
_SLACK = 0.15


@dataclass(frozen=True, slots=True)
class Size:
    """What something costs: bytes of the request body and tagged elements."""

    bytes: int
    elements: int

    def __add__(self, other: "Size") -> "Size":
        return Size(self.bytes + other.bytes, self.elements + other.elements)

    def __sub__(self, other: "Size") -> "Size":
        return Size(self.bytes - other.bytes, self.elements - other.elements)

    def holds(self, other: "Size") -> bool:
        """Whether there is room for `other` in this."""
        return self.bytes >= other.bytes and self.elements >= other.elements


@dataclass(frozen=True, slots=True)
class Passage:
    """What wants to stay together, such as an item. `frame` is its cost beside the atoms, `again` that of a
    continuation in a further part, beside what its first atom costs there.
    """

    frame: Size
    again: Size
    atoms: tuple[Atom, ...]


@dataclass(frozen=True, slots=True)
class Slice:
    """Atoms `start` to `stop` of passage number `passage`."""

    passage: int
    start: int
    stop: int


Part = list[Slice]


def split(passages: Sequence[Passage], room: Size) -> list[Part]:
    """Cut between passages, else between paragraphs, else between sentences, else anywhere but inside an atom.

    Of the plans that need hardly more parts than the tightest one, the first that keeps most passages whole.
    Raises: BotError if `room` is too small for one atom with its frame.
    """
    tight = _Plan(passages, room, empty=0.0).parts
    for empty in (1.0, 0.5, _SLACK):
        parts = _Plan(passages, room, empty=empty).parts
        if len(parts) <= len(tight) * (1 + _SLACK):
            return parts
    return tight


class _Plan:
    """One way through the passages. `empty`: the share of a part that may stay empty to keep a passage whole."""

    def __init__(self, passages: Sequence[Passage], room: Size, *, empty: float) -> None:
        self.parts: list[Part] = [[]]
        self._room = room
        self._left = room
        self._empty = Size(int(empty * room.bytes), int(empty * room.elements))
        for number, passage in enumerate(passages):
            self._place(number, passage)

    def _place(self, number: int, passage: Passage) -> None:
        sums = _Sums(passage.atoms)
        start = 0
        while True:
            frame = passage.again if start else passage.frame
            if passage.atoms:
                frame += Size(passage.atoms[start].again, 0)
            stop = self._stop(passage.atoms, sums, start, frame)
            if stop is not None:
                self.parts[-1].append(Slice(number, start, stop))
                self._left -= frame + sums.between(start, stop)
                if stop == len(passage.atoms):
                    return
                start = stop
            elif not self.parts[-1]:
                raise BotError(f"a card of {self._room.bytes} bytes has no room for item {number + 1}; raise the limit")
            self.parts.append([])
            self._left = self._room

    def _stop(self, atoms: Sequence[Atom], sums: "_Sums", start: int, frame: Size) -> int | None:
        """Up to where the atoms from `start` go into the current part; None if they should begin in the next."""
        whole = frame + sums.between(start, len(atoms))
        if self._left.holds(whole):
            return len(atoms)
        spare = self._left - frame
        is_filled = self._left.bytes <= self._empty.bytes or self._left.elements <= self._empty.elements
        furthest = sums.furthest(start, spare)
        if (self.parts[-1] and is_filled and self._room.holds(whole)) or furthest <= start:
            return None
        for cut, share in ((Cut.PARAGRAPH, _SLACK), (Cut.SENTENCE, 0.5)):
            lowest = sums.bytes[furthest] - share * self._room.bytes
            for stop in range(furthest, start, -1):
                if sums.bytes[stop] < lowest:
                    break
                if atoms[stop].cut <= cut:
                    return stop
        # Inside a sentence: only where its beginning has a good part of a card for itself.
        return furthest if not self.parts[-1] or spare.bytes > self._room.bytes / 2 else None


class _Sums:
    """What the atoms before each one cost together."""

    def __init__(self, atoms: Sequence[Atom]) -> None:
        self.bytes = (0, *accumulate(atom.bytes for atom in atoms))
        self._elements = (0, *accumulate(atom.elements for atom in atoms))

    def between(self, start: int, stop: int) -> Size:
        return Size(self.bytes[stop] - self.bytes[start], self._elements[stop] - self._elements[start])

    def furthest(self, start: int, room: Size) -> int:
        """Where to stop, starting there, so that it all has room."""
        by_bytes = bisect_right(self.bytes, self.bytes[start] + room.bytes)
        return min(by_bytes, bisect_right(self._elements, self._elements[start] + room.elements)) - 1
