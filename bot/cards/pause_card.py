"""The answers to pausing and to resuming."""

from dataclasses import dataclass
from datetime import date, datetime

from bot.cards import words
from bot.cards.actions import SetPause, ShowSettings
from bot.cards.buttons import Button, act
from bot.cards.entries import shortened
from bot.cards.render import Card
from bot.cards.templates import CardTemplates
from bot.cards.text import plain
from bot.cards.words import Words
from bot.domain.audience import Kind
from bot.domain.series import Series

_NAME_CHARS = 60


@dataclass(frozen=True, slots=True)
class PauseView:
    """What the template may use. `until` None: it comes again, `next_at` says when where that is known."""

    name: str
    group: bool
    until: Words | None
    next_at: Words | None
    buttons: tuple[Button, ...]


def paused_card(templates: CardTemplates, *, series: Series, audience: Kind, until: date, now: datetime) -> Card:
    """The answer to pausing: the day on which it comes again, and the way to have it earlier."""
    group = audience is not Kind.USER
    today = now.astimezone(series.hours.zone).date()
    resume = act("现在恢复", "Resume now", SetPause(series.id, None, group=group), "primary")
    return _card(templates, series, audience, words.day(until, today), None, resume)


def resumed_card(
    templates: CardTemplates, *, series: Series, audience: Kind, next_at: datetime | None, now: datetime
) -> Card:
    """The answer to resuming: when the next one comes. `next_at`: in the subscriber's zone."""
    settings = act("设置", "Settings", ShowSettings(series.id, group=audience is not Kind.USER))
    return _card(templates, series, audience, None, words.moment(next_at, now) if next_at else None, settings)


def _card(
    templates: CardTemplates, series: Series, audience: Kind, until: Words | None, next_at: Words | None, button: Button
) -> Card:
    buttons = () if audience is Kind.WEBHOOK else (button,)
    name = shortened(plain(series.name), _NAME_CHARS)
    view = PauseView(name, audience is not Kind.USER, until, next_at, buttons)
    return templates.render("pause.json.j2", view)
