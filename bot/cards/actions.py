"""Button value <-> command.

A value carries the wanted end state, never "toggle": a double click is harmless. Who acts comes from the callback's
operator and where from its chat, never from the value. `group` says which of two subscriptions is meant: that of the
chat in which the button is, or that of the person who clicks.
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from datetime import date
from enum import StrEnum
from typing import Any, Final

from bot.domain.errors import ActionError

VERSION: Final = 1
QUERY_CHARS = 100
LAST_PAGE = 1_000
_ID_CHARS = 64  # of a series id; longer ones are not ours
_NAME_CHARS = 300  # of an edition or a cursor
_LARGEST = 2**53 - 1  # JSON numbers are exact up to here


class Decision(StrEnum):
    """What an admin decides about an edition that waits for a review."""

    APPROVE = "approve"
    LATER = "later"
    SKIP = "skip"
    PREVIEW = "preview"


class Missed(StrEnum):
    """Whom a resend is for."""

    FAILED = "failed"
    UNSENT = "unsent"


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


@dataclass(frozen=True, slots=True)
class SetPreferences:
    """Make the preference what the form says; its values come beside this one, see `forms.preference_of`."""

    series: str
    group: bool = False


@dataclass(frozen=True, slots=True)
class SetPause:
    """Pause until a day, on which it comes again; None resumes."""

    series: str
    until: date | None
    group: bool = False


@dataclass(frozen=True, slots=True)
class UndoLeave:
    """Be subscribed as before leaving; when that is too long ago, be subscribed anew."""

    series: str
    group: bool = False


@dataclass(frozen=True, slots=True)
class ShowSettings:
    """Show the status and the preferences of a subscription."""

    series: str
    group: bool = False


@dataclass(frozen=True, slots=True)
class ShowEdition:
    """Send an edition of the past."""

    series: str
    slug: str


@dataclass(frozen=True, slots=True)
class ShowHistory:
    """Show what was published, from a cursor on; None begins with the latest."""

    series: str
    cursor: str | None = None


@dataclass(frozen=True, slots=True)
class ShowResults:
    """Show one page of what a search finds; the first is 1."""

    query: str
    page: int = 1


@dataclass(frozen=True, slots=True)
class Review:
    """Decide about one revision of an edition; a later revision needs a decision of its own."""

    edition: str
    revision: int
    decision: Decision


@dataclass(frozen=True, slots=True)
class Resend:
    """See that those whom a push missed have got its edition."""

    edition: str
    push: int
    only: Missed


Action = (
    SetSubscription
    | SetGroupSubscription
    | SetPreferences
    | SetPause
    | UndoLeave
    | ShowSettings
    | ShowEdition
    | ShowHistory
    | ShowResults
    | Review
    | Resend
)
Read = Callable[[Any], Any]
"""A field of a value -> a field of an action. Raises ValueError or TypeError for anything else."""


def _text(most: int) -> Read:
    def read(value: Any) -> str:
        if not isinstance(value, str) or not 0 < len(value) <= most:
            raise ValueError
        return value

    return read


def _number(most: int) -> Read:
    def read(value: Any) -> int:
        if type(value) is not int or not 0 < value <= most:
            raise ValueError
        return value

    return read


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise TypeError
    return value


def _day(value: Any) -> date:
    day = date.fromisoformat(value)
    if day.isoformat() != value:  # one form only
        raise ValueError
    return day


def _or_none(read: Read) -> Read:
    return lambda value: None if value is None else read(value)


_ID, _EDITION = _text(_ID_CHARS), _text(_NAME_CHARS)
_WHOSE: Mapping[str, Read] = {"series": _ID, "group": _flag}
_ACTIONS: Mapping[str, tuple[type[Action], Mapping[str, Read]]] = {
    "subscription": (SetSubscription, {"series": _ID, "on": _flag}),
    "group_subscription": (SetGroupSubscription, {"series": _ID, "on": _flag}),
    "preferences": (SetPreferences, _WHOSE),
    "pause": (SetPause, {**_WHOSE, "until": _or_none(_day)}),
    "undo_leave": (UndoLeave, _WHOSE),
    "settings_shown": (ShowSettings, _WHOSE),
    "edition_shown": (ShowEdition, {"series": _ID, "slug": _EDITION}),
    "history_shown": (ShowHistory, {"series": _ID, "cursor": _or_none(_EDITION)}),
    "results_shown": (ShowResults, {"query": _text(QUERY_CHARS), "page": _number(LAST_PAGE)}),
    "review": (Review, {"edition": _EDITION, "revision": _number(_LARGEST), "decision": Decision}),
    "resend": (Resend, {"edition": _EDITION, "push": _number(_LARGEST), "only": Missed}),
}
_NAMES = {kind: name for name, (kind, _) in _ACTIONS.items()}


def encode(action: Action) -> dict[str, object]:
    """The value of a button; always an object, as the platform's SDKs accept nothing else."""
    fields = {key: value.isoformat() if isinstance(value, date) else value for key, value in asdict(action).items()}
    return {"v": VERSION, "set": _NAMES[type(action)], **fields}


def decode(value: object) -> Action:
    """The command in a button value.

    Raises: ActionError for everything that `encode` of this version does not make.
    """
    match value:
        case {"v": int(version), "set": str(name), **given} if version == VERSION and version is not True:
            fields: dict[Any, Any] = given
            kind, reads = _ACTIONS.get(name, (None, {}))
            if kind is not None and set(fields) == set(reads):
                try:
                    return kind(**{key: read(fields[key]) for key, read in reads.items()})
                except (ValueError, TypeError):
                    pass
    raise ActionError("此卡片已过期，请使用最新一期")
