"""Something that a human must look at."""

from dataclasses import dataclass
from datetime import datetime

from bot.cards import words
from bot.cards.entries import shortened
from bot.cards.render import Card
from bot.cards.sentences import atoms_of
from bot.cards.templates import CardTemplates
from bot.cards.text import plain
from bot.cards.words import Words
from bot.cards.writing import markdown
from bot.domain.digest import CodeBlock

_TITLE_CHARS = 60
_TEXT_CHARS = 500
_COMMAND_CHARS = 300


@dataclass(frozen=True, slots=True)
class Alert:
    """`cause` in a few words, what it `means` for readers, the `cure`, and the `command` to run, where there is one.

    `urgent`: something does not go out until a human acts. `done`: it is no alarm, there is nothing left to do.
    """

    cause: str
    means: str
    cure: str
    command: str = ""
    urgent: bool = True
    done: bool = False


@dataclass(frozen=True, slots=True)
class AlertView:
    """What the template may use. `command` is card markdown, the others are plain text."""

    cause: str
    means: str
    cure: str
    command: str
    urgent: bool
    done: bool
    at: Words


def alert_card(templates: CardTemplates, alert: Alert, *, at: datetime) -> Card:
    """An alert for an admin. `at`: when it was noticed, in the zone in which it is told."""
    command = shortened(plain(alert.command), _COMMAND_CHARS)
    view = AlertView(
        cause=shortened(plain(alert.cause), _TITLE_CHARS) or "出了点问题",
        means=shortened(plain(alert.means), _TEXT_CHARS),
        cure=shortened(plain(alert.cure), _TEXT_CHARS),
        command=markdown(atoms_of((CodeBlock(command),))) if command else "",
        urgent=alert.urgent,
        done=alert.done,
        at=words.stamp(at),
    )
    return templates.render("alert.json.j2", view)
