"""Status and preferences of one subscription: when the next one comes, a form, and the ways out."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from bot.cards import words
from bot.cards.actions import SetGroupSubscription, SetPause, SetPreferences, SetSubscription, ShowSettings, encode
from bot.cards.buttons import Button, Label, act, go, header_colour
from bot.cards.entries import shortened
from bot.cards.forms import (
    DAILY,
    DAYS,
    DEFAULT,
    DENSITY,
    PAUSE,
    SECTIONS,
    SLOT,
    WORKDAYS,
    ZONE,
    ZONES,
    offered_sections,
    offered_slots,
    offered_zones,
)
from bot.cards.render import Card
from bot.cards.templates import CardTemplates
from bot.cards.text import plain
from bot.cards.words import Words
from bot.domain.audience import Kind
from bot.domain.preference import Preference
from bot.domain.series import Series

_NAME_CHARS = 60
_SHORT_NAME_CHARS = 20
_SECTION_CHARS = 40
_MOST_OTHERS = 6
_SHORT_PAUSE = timedelta(days=3)


@dataclass(frozen=True, slots=True)
class Option:
    """One choice of a field."""

    text: Words
    value: str


@dataclass(frozen=True, slots=True)
class Field:
    """A line of the form. `tag`: the control; `chosen` is for a list of one choice or a day, `several` for many."""

    name: str
    tag: str
    label: Words
    hint: Words
    options: tuple[Option, ...] = ()
    chosen: str = ""
    several: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SettingsView:
    """What the template may use. `next_at` and `choice` are None where nothing is subscribed.

    `stopped`: why nothing is sent until somebody says so, "" where it is.
    """

    name: str
    colour: str
    state: Label
    next_at: Words | None
    paused_until: Words | None
    stopped: str
    choice: Words | None
    set_by: str
    group: bool
    fields: tuple[Field, ...]
    save: dict[str, object]
    buttons: tuple[Button, ...]
    others: tuple[Button, ...]
    more_sections: int = 0
    more: int = 0


def settings_card(
    templates: CardTemplates,
    *,
    series: Series,
    audience: Kind,
    preference: Preference | None,
    sections: Sequence[str],
    next_at: datetime | None,
    now: datetime,
    stopped: str = "",
    set_by: str = "",
    others: Sequence[Series] = (),
    page_url: str | None = None,
) -> Card:
    """The status of a subscription with the form that changes it.

    `preference`: None if there is no subscription. `sections`: the names known, in order. `next_at`: when the next
    one comes, in the subscriber's zone. `stopped`: why it is paused, if not by wish. `set_by`: who set up a group.
    `others`: what else can be set here. `page_url`: the same as a page, for clients that cannot show the form.
    """
    today = now.astimezone(next_at.tzinfo if next_at else series.hours.zone).date()
    is_own = preference is not None and preference.is_paused(today)
    paused = is_own or bool(preference and stopped)
    can_call = audience is not Kind.WEBHOOK  # a custom bot's card cannot call back
    group = audience is not Kind.USER
    view = SettingsView(
        name=shortened(plain(series.name), _NAME_CHARS),
        colour=header_colour(series),
        state=_state(preference, paused=paused),
        next_at=words.moment(next_at, now) if next_at and preference else None,
        paused_until=words.day(preference.paused_until, today)
        if is_own and preference and preference.paused_until
        else None,
        stopped="" if is_own else shortened(plain(stopped), _NAME_CHARS),
        choice=words.choice(preference) if preference else None,
        set_by=shortened(plain(set_by), _NAME_CHARS),
        group=group,
        fields=tuple(_fields(series, preference, sections, today)) if preference and can_call else (),
        save=encode(SetPreferences(series.id, group=group)),
        buttons=(
            *(_buttons(series, preference, next_at, today, group=group, paused=paused) if can_call else ()),
            *go("网页版", "As a page", page_url),
        ),
        others=tuple(_other(one, group=group) for one in others[:_MOST_OTHERS]) if can_call else (),
        more_sections=_left_out(sections, preference),
        more=max(0, len(others) - _MOST_OTHERS),
    )
    return templates.render("settings.json.j2", view)


def _state(preference: Preference | None, *, paused: bool) -> Label:
    if preference is None:
        return Label(Words("未订阅", "Not subscribed"), "neutral")
    return Label(Words("已暂停", "Paused"), "orange") if paused else Label(Words("订阅中", "Subscribed"), "green")


def _fields(series: Series, preference: Preference, sections: Sequence[str], today: date) -> Iterable[Field]:
    names = offered_sections(sections, preference)
    if names:
        options = tuple(Option(words.same(shortened(plain(name), _SECTION_CHARS) or "…"), name) for name in names)
        several = tuple(name for name in names if name in preference.sections)
        hint = Words("全部栏目", "All sections")
        yield Field(SECTIONS, "multi_select_static", Words("栏目", "Sections"), hint, options, several=several)
    densities = tuple(Option(text, density) for density, text in words.DENSITIES.items())
    yield _one(DENSITY, Words("内容", "Detail"), densities, preference.density)
    yield _one(SLOT, Words("时间", "Time"), _slots(series, preference), _slot(preference))
    yield _one(ZONE, Words("时区", "Zone"), _zones(series, preference), preference.zone or DEFAULT)
    days = (Option(Words("每天", "Every day"), DAILY), Option(Words("工作日", "Workdays"), WORKDAYS))
    yield _one(DAYS, Words("哪些天", "Days"), days, WORKDAYS if preference.workdays else DAILY)
    until = preference.paused_until if preference.is_paused(today) else None
    hint = Words("不暂停", "No pause")
    yield Field(PAUSE, "date_picker", Words("暂停到", "Pause until"), hint, chosen=f"{until}" if until else "")


def _one(name: str, label: Words, options: tuple[Option, ...], chosen: str) -> Field:
    return Field(name, "select_static", label, Words("请选择", "Choose"), options, chosen=chosen)


def _slots(series: Series, preference: Preference) -> tuple[Option, ...]:
    own = f"{series.hours.push_at:%H:%M}"
    default = Option(Words(f"跟随默认 {own}", f"Default, {own}"), DEFAULT)
    return (default, *(Option(words.same(f"{slot:%H:%M}"), f"{slot:%H:%M}") for slot in offered_slots(preference)))


def _slot(preference: Preference) -> str:
    return f"{preference.slot:%H:%M}" if preference.slot else DEFAULT


def _zones(series: Series, preference: Preference) -> tuple[Option, ...]:
    offered = (Option(ZONES.get(name, words.same(name)), name) for name in offered_zones(series, preference))
    return (Option(Words("跟随日报", "The digest's"), DEFAULT), *offered)


def _left_out(sections: Sequence[str], preference: Preference | None) -> int:
    return len(set(sections) - set(offered_sections(sections, preference))) if preference else 0


def _buttons(
    series: Series, preference: Preference | None, next_at: datetime | None, today: date, *, group: bool, paused: bool
) -> tuple[Button, ...]:
    """A short pause skips the next three days, beginning with that of the next one."""
    kind = SetGroupSubscription if group else SetSubscription
    if preference is None:
        words_ = ("为本群订阅", "Subscribe this group") if group else ("订阅社区精选", "Subscribe")
        return (act(*words_, kind(series.id, on=True), "primary_filled"),)
    leave = act(*(("停止推送", "Stop") if group else ("退订", "Unsubscribe")), kind(series.id, on=False), "danger")
    if paused:
        return (act("现在恢复", "Resume now", SetPause(series.id, None, group=group), "primary"), leave)
    until = (next_at.date() if next_at else today) + _SHORT_PAUSE
    return (act("暂停 3 天", "Pause 3 days", SetPause(series.id, until, group=group)), leave)


def _other(series: Series, *, group: bool) -> Button:
    name = shortened(plain(series.name), _SHORT_NAME_CHARS)
    return act(name, name, ShowSettings(series.id, group=group))
