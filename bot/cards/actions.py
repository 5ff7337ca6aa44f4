"""Button value <-> command.

A value carries the wanted end state, never "toggle": a double click is harmless. Who acts comes from the callback's
operator and where from its chat, never from the value.
"""

from dataclasses import dataclass
from typing import Final

from bot.domain.errors import ActionError

VERSION: Final = 1
_SERIES_MAX = 64  # characters of a series id; longer ones are not ours


@dataclass(frozen=True, slots=True)
class SetSubscription:
    """Subscribe or unsubscribe the person who clicks."""

    series: str
    on: bool


@dataclass(frozen=True, slots=True)
class SetGroupSubscription:
    """Subscribe or unsubscribe the chat in which the button is clicked."""

    series: str
    on: bool


Action = SetSubscription | SetGroupSubscription

_NAMES: dict[str, type[Action]] = {
    "subscription": SetSubscription,
    "group_subscription": SetGroupSubscription,
}


def encode(action: Action) -> dict[str, object]:
    """The value of a button; always an object, as the platform's SDKs accept nothing else."""
    name = next(name for name, kind in _NAMES.items() if isinstance(action, kind))
    return {"v": VERSION, "set": name, "series": action.series, "on": action.on}


def decode(value: object) -> Action:
    """The command in a button value.

    Raises: ActionError for everything that `encode` of this version does not make.
    """
    match value:
        case {"v": int(version), "set": str(name), "series": str(series), "on": bool(on), **more} if not more:
            kind = _NAMES.get(name)
            if version == VERSION and version is not True and kind and 0 < len(series) <= _SERIES_MAX:
                return kind(series, on=on)
    raise ActionError("此卡片已过期，请使用最新一期")
