"""The cards around a subscription: welcome, subscribed, goodbye, help. Their words are in the templates."""

from collections.abc import Sequence
from dataclasses import dataclass

from bot.cards.actions import Action, SetGroupSubscription, SetSubscription
from bot.cards.buttons import Button, act, community, header_colour
from bot.cards.entries import shortened
from bot.cards.render import Card
from bot.cards.templates import CardTemplates
from bot.cards.text import plain
from bot.domain.audience import Kind
from bot.domain.schedule import Days
from bot.domain.series import Series

_NAME_CHARS = 60
_MOST_SERIES = 10  # more could pass the limits of a card; it says how many are left out

# What a private chat understands, in the order in which the help card shows it.
COMMANDS = (
    ("订阅", "每天收到日报"),
    ("退订", "不再接收，随时可以回来"),
    ("帮助", "再看一次这张卡片"),
)


@dataclass(frozen=True, slots=True)
class SeriesRow:
    """One series with what can be done about it. `when` is "" where the hour is not known."""

    name: str
    when: str
    when_en: str
    buttons: tuple[Button, ...]


@dataclass(frozen=True, slots=True)
class NoticeView:
    """What the templates of this file may use. `more` series found no room in `rows`."""

    colour: str
    rows: tuple[SeriesRow, ...]
    more: int = 0
    group: bool = False
    already: bool = False
    bot_name: str = ""
    commands: tuple[tuple[str, str], ...] = ()


def welcome_card(templates: CardTemplates, *, series: Sequence[Series], bot_name: str, audience: Kind) -> Card:
    """What the bot is and when it comes, with a button for each series."""
    rows = tuple(_row(one, (*_offers(one, audience), *community(one))) for one in series[:_MOST_SERIES])
    view = NoticeView(
        header_colour(series[0]) if series else "blue",
        rows,
        more=len(series) - len(rows),
        group=audience is not Kind.USER,
        bot_name=shortened(plain(bot_name), _NAME_CHARS),
    )
    return templates.render("welcome.json.j2", view)


def subscribed_card(templates: CardTemplates, *, series: Series, audience: Kind, already: bool) -> Card:
    """The answer to subscribing: when the digest comes, and the way out."""
    words = ("退订", "Unsubscribe") if audience is Kind.USER else ("停止推送", "Stop")
    leave = () if audience is Kind.WEBHOOK else (act(*words, _set(series, audience, on=False)),)
    row = _row(series, (*community(series), *leave))
    view = NoticeView("green", (row,), group=audience is not Kind.USER, already=already)
    return templates.render("subscribed.json.j2", view)


def goodbye_card(templates: CardTemplates, *, series: Series, audience: Kind) -> Card:
    """The answer to leaving, with the way back."""
    back = act("重新订阅", "Subscribe again", _set(series, audience, on=True), "primary")
    row = _row(series, () if audience is Kind.WEBHOOK else (back,))
    return templates.render("goodbye.json.j2", NoticeView("grey", (row,), group=audience is not Kind.USER))


def help_card(templates: CardTemplates, *, series: Sequence[Series]) -> Card:
    """What the bot understands, and both buttons for each series."""
    rows = tuple(_row(one, _both_ways(one)) for one in series[:_MOST_SERIES])
    view = NoticeView(
        header_colour(series[0]) if series else "blue", rows, more=len(series) - len(rows), commands=COMMANDS
    )
    return templates.render("help.json.j2", view)


def _row(series: Series, buttons: tuple[Button, ...]) -> SeriesRow:
    hour = f"{series.hours.push_at:%H:%M}"
    days, days_en = ("每个工作日", "on workdays") if series.hours.days is Days.WORKDAYS else ("每天", "daily")
    name = shortened(plain(series.name), _NAME_CHARS)
    return SeriesRow(name, when=f"{days} {hour}", when_en=f"{days_en} at {hour}", buttons=buttons)


def _offers(series: Series, audience: Kind) -> tuple[Button, ...]:
    """A custom bot's card cannot call back, so it offers nothing."""
    private = SetSubscription(series.id, on=True)
    if audience is Kind.USER:
        return (act("订阅社区精选", "Subscribe", private, "primary_filled"),)
    group = SetGroupSubscription(series.id, on=True)
    buttons = (
        act("为本群订阅", "Subscribe this group", group, "primary_filled"),
        act("订阅社区精选", "Subscribe for me", private),
    )
    return buttons if audience is Kind.GROUP else ()


def _both_ways(series: Series) -> tuple[Button, ...]:
    return (
        act("订阅社区精选", "Subscribe", SetSubscription(series.id, on=True), "primary"),
        act("退订", "Unsubscribe", SetSubscription(series.id, on=False)),
    )


def _set(series: Series, audience: Kind, *, on: bool) -> Action:
    kind = SetSubscription if audience is Kind.USER else SetGroupSubscription
    return kind(series.id, on=on)
