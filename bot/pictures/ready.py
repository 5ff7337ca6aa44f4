"""A picture as it goes to the platform, and why one does not."""

from dataclasses import dataclass

from bot.domain.errors import BotError


@dataclass(frozen=True, slots=True)
class ReadyPicture:
    """`content`: the bytes to upload. `width`, `height`: pixels on a screen; a sharp picture holds more of its own."""

    content: bytes
    width: int
    height: int


class PictureError(BotError):
    """Bytes or TeX that become no picture. `code` is stable and for programs, `reason` holds nothing of the content."""

    def __init__(self, code: str, reason: str) -> None:
        super().__init__(f"{code}: {reason}")
        self.code = code
        self.reason = reason
