"""The cards around a subscription: welcome, subscribed, goodbye, help. Most of their words are in the templates."""

from collections.abc import Sequence
from dataclasses import dataclass

from bot.cards import words
from bot.cards.actions import Action, SetGroupSubscription, SetSubscription, ShowSettings, UndoLeave
from bot.cards.buttons import Button, act, community, header_colour
from bot.cards.entries import shortened
from bot.cards.render import Card
from bot.cards.templates import CardTemplates
from bot.cards.text import plain
from bot.cards.words import Words
from bot.domain.audience import Kind
from bot.domain.preference import Preference
from bot.domain.series import Series

_NAME_CHARS = 60
_MOST_SERIES = 10  # more could pass the limits of a card; it says how many are left out

# What the bot understands, in the order in which the help card shows it: a word and what it does.
COMMANDS = (
    ("订阅", Words("每天收到日报", "get the digest every day")),
    ("退订", Words("不再接收，随时可以回来", "stop; come back whenever you like")),
    ("今日", Words("马上看今天这一期", "today's issue, now")),
    ("往期", Words("翻翻以前的", "earlier issues")),
    ("搜 推理", Words("在往期里找一个词", "find a word in earlier issues")),
    ("设置", Words("选栏目、内容多少、送达时间", "sections, detail and hour")),
    ("状态", Words("看看现在订了什么", "what you are subscribed to")),
    ("暂停 3天", Words("出门几天，到时自动恢复", "pause for some days")),
    ("恢复", Words("现在就继续收", "go on now")),
    ("帮助", Words("再看一次这张卡片", "this card again")),
)
ADMIN_COMMANDS = (("补发 3月8日", Words("给没收到那一期的人补发", "send that day's issue to those who missed it")),)


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
    commands: tuple[tuple[str, Words], ...] = ()
    admin_commands: tuple[tuple[str, Words], ...] = ()
    choice: Words | None = None
    undo: bool = False


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


def subscribed_card(
    templates: CardTemplates,
    *,
    series: Series,
    audience: Kind,
    already: bool,
    preference: Preference | None = None,
) -> Card:
    """The answer to subscribing: when the digest comes, what of it as far as it is known, and the way out."""
    group = audience is not Kind.USER
    words_ = ("停止推送", "Stop") if group else ("退订", "Unsubscribe")
    can_call = audience is not Kind.WEBHOOK
    settings = (act("设置", "Settings", ShowSettings(series.id, group=group)),) if preference and can_call else ()
    ways = (*settings, act(*words_, _set(series, audience, on=False))) if can_call else ()
    row = _row(series, (*community(series), *ways), preference)
    choice = words.choice(preference) if settings and preference else None
    view = NoticeView("green", (row,), group=group, already=already, choice=choice)
    return templates.render("subscribed.json.j2", view)


def goodbye_card(templates: CardTemplates, *, series: Series, audience: Kind, undo: bool = False) -> Card:
    """The answer to leaving, with the way back. `undo`: for ten minutes it brings back the preferences too."""
    group = audience is not Kind.USER
    if undo:
        back = act("撤销退订" if not group else "撤销停止", "Undo", UndoLeave(series.id, group=group), "primary")
    else:
        back = act("重新订阅", "Subscribe again", _set(series, audience, on=True), "primary")
    row = _row(series, () if audience is Kind.WEBHOOK else (back,))
    return templates.render("goodbye.json.j2", NoticeView("grey", (row,), group=group, undo=undo))


def help_card(templates: CardTemplates, *, series: Sequence[Series], admin: bool = False) -> Card:
    """What the bot understands, and both buttons for each series. `admin`: for somebody who runs it."""
    rows = tuple(_row(one, _both_ways(one)) for one in series[:_MOST_SERIES])
    view = NoticeView(
        header_colour(series[0]) if series else "blue",
        rows,
        more=len(series) - len(rows),
        commands=COMMANDS,
        admin_commands=ADMIN_COMMANDS if admin else (),
    )
    return templates.render("help.json.j2", view)


def _row(series: Series, buttons: tuple[Button, ...], preference: Preference | None = None) -> SeriesRow:
    when = words.hour(series, preference)
    return SeriesRow(shortened(plain(series.name), _NAME_CHARS), when=when.zh, when_en=when.en, buttons=buttons)


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
