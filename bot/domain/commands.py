"""What a person means by a typed text: a command and the series it names, in Chinese or English."""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from bot.domain.series import Series


class Command(StrEnum):
    """What the bot can be told in words."""

    SUBSCRIBE = "subscribe"
    UNSUBSCRIBE = "unsubscribe"
    HELP = "help"


WORDS = {
    "订阅": Command.SUBSCRIBE,
    "订阅社区精选": Command.SUBSCRIBE,
    "subscribe": Command.SUBSCRIBE,
    "退订": Command.UNSUBSCRIBE,
    "取消订阅": Command.UNSUBSCRIBE,
    "unsubscribe": Command.UNSUBSCRIBE,
    "td": Command.UNSUBSCRIBE,
}
LONGEST = 100  # characters; nobody types a longer command


@dataclass(frozen=True, slots=True)
class Order:
    """A command and the series it is for; `series` None where none was named."""

    command: Command
    series: Series | None = None


def understand(text: str, series: Sequence[Series]) -> Order:
    """Read a typed text. With one series it need not be named; what is not understood asks for help."""
    folded = _folded(text)
    if len(folded) > LONGEST:
        return Order(Command.HELP)
    only = series[0] if len(series) == 1 else None
    if folded in WORDS:
        return Order(WORDS[folded], only)
    for word, command in WORDS.items():
        rest = folded.removeprefix(word).strip(" :,《》「」")
        named = [one for one in series if rest in {_folded(one.name), one.id}]
        if folded.startswith(word) and named:
            return Order(command, named[0])
    return Order(Command.HELP)


def _folded(text: str) -> str:
    """Width and case folded, the slash before and punctuation behind taken off."""
    return unicodedata.normalize("NFKC", text[: 4 * LONGEST]).casefold().strip().strip("/.!?~。、· \t").strip()
