"""Messages of the long connection that come in several frames, put together again. Nothing here grows without end."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from bot.feishu.frames import FrameError

# The SDK keeps parts for 5 s too. How large a message may get is not documented: a form's click has some 30 KB.
KEPT_S = 5.0
MOST_PARTS = 256
MOST_MESSAGES = 64
MOST_BYTES = 4 * 1024 * 1024


@dataclass(slots=True)
class _Begun:
    at: float
    parts: dict[int, bytes] = field(default_factory=dict)


class Parts:
    """Parts of messages that are not complete yet. Instants are seconds of one clock that only goes forward."""

    def __init__(self) -> None:
        self._begun: dict[tuple[str, int], _Begun] = {}
        self._bytes = 0

    @property
    def held_bytes(self) -> int:
        """What is kept just now."""
        return self._bytes

    def add(self, headers: Mapping[str, str], payload: bytes, now: float) -> bytes | None:
        """The whole message once its last part is here, until then None.

        Raises FrameError for a part that cannot be placed. What is too old, or too much, is forgotten: the platform
        sends a message again that nobody acknowledged.
        """
        count, number = _place(headers)
        if count == 1:
            return payload
        key = headers.get("message_id", ""), count
        self._forget(now)
        begun = self._begun.setdefault(key, _Begun(now))
        self._bytes += len(payload) - len(begun.parts.get(number, b""))
        begun.parts[number] = payload
        if len(begun.parts) == count:
            self._drop(key)
            return b"".join(begun.parts[n] for n in range(count))
        while self._bytes > MOST_BYTES or len(self._begun) > MOST_MESSAGES:
            self._drop(next(iter(self._begun)))
        return None

    def _forget(self, now: float) -> None:
        for key in [key for key, begun in self._begun.items() if now - begun.at > KEPT_S]:
            self._drop(key)

    def _drop(self, key: tuple[str, int]) -> None:
        self._bytes -= sum(map(len, self._begun.pop(key).parts.values()))


def _place(headers: Mapping[str, str]) -> tuple[int, int]:
    """How many parts there are and which one this is, from 0."""
    try:
        count, number = int(headers.get("sum", "1")), int(headers.get("seq", "0"))
    except ValueError:
        raise FrameError("the place of a part is no number") from None
    if count <= 1:
        return 1, 0
    if count > MOST_PARTS or not 0 <= number < count:
        raise FrameError("a part stands outside its message")
    return count, number
