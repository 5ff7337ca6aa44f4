"""Preferences as a page, for clients that cannot show the form: what it shows, and what a sent form changes."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from bot.cards import words
from bot.cards.actions import SetPause, SetPreferences, SetSubscription, UndoLeave
from bot.cards.forms import DAILY, DEFAULT, WORKDAYS, ZONES, offered_sections, offered_slots, offered_zones
from bot.domain.audience import Receiver, SubscriptionStatus
from bot.domain.errors import ActionError
from bot.domain.preference import LONGEST_PAUSE, Preference
from bot.domain.series import Series
from bot.services.links import PreferenceLinks
from bot.services.preference_hooks import HookView, PreferenceHooks
from bot.services.replies import Replies, next_of, today_of
from bot.services.subscribing import UNDO_HOLDS, Actor, Subscribing, Wish
from bot.store import past, preferences
from bot.store.engine import Store, Transaction
from bot.store.preferences import Present

UNSUBSCRIBED = SubscriptionStatus.UNSUBSCRIBED
STALE = "页面已经旧了，请刷新后再试一次"


@dataclass(frozen=True, slots=True)
class Choice:
    """One of several."""

    value: str
    text: str
    chosen: bool


@dataclass(frozen=True, slots=True)
class SeriesView:
    """One series. `state`: subscribed, paused, left_just_now or none; `next`, `until`: in words, "" if unknown."""

    id: str
    name: str
    state: str
    next: str
    until: str
    sections: tuple[Choice, ...]
    densities: tuple[Choice, ...]
    slots: tuple[Choice, ...]
    zones: tuple[Choice, ...]
    days: tuple[Choice, ...]
    pause: str
    first_day: date
    last_day: date


@dataclass(frozen=True, slots=True)
class PageView:
    """Everything that the page shows of one person."""

    series: tuple[SeriesView, ...]
    hooks: tuple[HookView, ...]


class PreferencePage:
    """Opens with a signed link. Changes go the same way as those of the chat."""

    def __init__(
        self,
        store: Store,
        replies: Replies,
        subscribing: Subscribing,
        hooks: PreferenceHooks,
        links: PreferenceLinks,
        wake: Callable[[], None],
    ) -> None:
        self._store = store
        self._replies = replies
        self._subscribing = subscribing
        self._wake = wake
        self.hooks = hooks
        self.links = links

    async def view(self, token: str, now: datetime) -> PageView:
        """Everything as it is now. Raises ActionError if the link opens nothing."""
        person = self.links.open(token, now)
        return await self._store.read(self._views, person, now)

    async def change(self, token: str, form: Mapping[str, Sequence[str]], now: datetime) -> str:
        """Do what a sent form says; returns what was done in a word, mostly the name of its button.

        Raises: ActionError with a line for whoever sent it.
        """
        person = self.links.open(token, now)
        if not self.links.is_form_token(token, _first(form, "csrf")):
            raise ActionError(STALE)
        series = self._replies.series.get(_first(form, "series"))
        done = what = _first(form, "do")
        if series is None:
            raise ActionError(STALE)
        if what == "hook-add":
            address, secret = _first(form, "address"), _first(form, "secret")
            done = await self._store.write(self.hooks.add, person, series, address, secret, now)
        elif what == "hook-stop":
            if not await self._store.write(self.hooks.stop, person, series, _first(form, "hook"), now):
                raise ActionError(STALE)
        else:
            wish, values = _wish(series, what, form), _values(form)
            await self._store.write(self._apply, wish, person, series, Actor(person.id, now, values))
        self._wake()
        return done

    def _apply(self, tx: Transaction, wish: Wish, person: Receiver, series: Series, by: Actor) -> None:
        outcome = self._subscribing.apply(tx, wish, person, series, by)
        if outcome.is_back:
            self._replies.catch_up(tx, person, series, by.now)

    def _views(self, tx: Transaction, person: Receiver, now: datetime) -> PageView:
        own = preferences.present_of_all(tx, person)
        series = tuple(
            _view(series, own.get(series.id), past.sections(tx, series.id), now)
            for series in self._replies.series.values()
        )
        return PageView(series, self.hooks.views(tx, person))


def _view(series: Series, present: Present | None, sections: Sequence[str], now: datetime) -> SeriesView:
    is_on = present is not None and present.status is not UNSUBSCRIBED
    own = present.preference if present and is_on else Preference()
    today = today_of(series, own, now)
    until = own.paused_until if own.is_paused(today) else None
    next_at = next_of(series, own, now)
    return SeriesView(
        id=series.id,
        name=series.name,
        state=_state(present, now, is_paused=until is not None),
        next=words.moment(next_at, now).zh if next_at else "",
        until=words.day(until, today).zh if until else "",
        sections=tuple(Choice(one, one, one in own.sections) for one in offered_sections(sections, own)),
        densities=_choices(((value, text.zh) for value, text in words.DENSITIES.items()), own.density),
        slots=_choices(_slots(series, own), f"{own.slot:%H:%M}" if own.slot else DEFAULT),
        zones=_choices(_zones(series, own), own.zone or DEFAULT),
        days=_choices(((DAILY, "每天"), (WORKDAYS, "只在工作日")), WORKDAYS if own.workdays else DAILY),
        pause=until.isoformat() if until else "",
        first_day=today + timedelta(days=1),
        last_day=today + LONGEST_PAUSE,
    )


def _state(present: Present | None, now: datetime, *, is_paused: bool) -> str:
    if present is None:
        return "none"
    if present.status is UNSUBSCRIBED:
        return "left_just_now" if now - present.changed_at < UNDO_HOLDS else "none"
    return "paused" if is_paused else "subscribed"


def _choices(offered: Iterable[tuple[str, str]], chosen: str) -> tuple[Choice, ...]:
    return tuple(Choice(value, text, value == chosen) for value, text in offered)


def _slots(series: Series, own: Preference) -> Iterable[tuple[str, str]]:
    yield DEFAULT, f"跟随默认（{series.hours.push_at:%H:%M}）"
    for slot in offered_slots(own):
        yield f"{slot:%H:%M}", f"{slot:%H:%M}"


def _zones(series: Series, own: Preference) -> Iterable[tuple[str, str]]:
    yield DEFAULT, "跟随日报"
    for name in offered_zones(series, own):
        yield name, ZONES[name].zh if name in ZONES else name


def _wish(series: Series, what: str, form: Mapping[str, Sequence[str]]) -> Wish:
    match what:
        case "save":
            return SetPreferences(series.id)
        case "pause":
            return SetPause(series.id, _day(_first(form, "pause")))
        case "resume":
            return SetPause(series.id, None)
        case "subscribe" | "leave":
            return SetSubscription(series.id, on=what == "subscribe")
        case "undo":
            return UndoLeave(series.id)
    raise ActionError(STALE)


def _day(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise ActionError("先选一个日子，再点暂停") from None


def _values(form: Mapping[str, Sequence[str]]) -> dict[str, object]:
    """The fields as a card's form would send them. Pausing is a form of its own here."""
    return {
        "sections": [one for one in form.get("sections", ()) if one],
        **{name: _first(form, name) for name in ("density", "slot", "zone", "days")},
    }


def _first(form: Mapping[str, Sequence[str]], name: str) -> str:
    return next(iter(form.get(name, ())), "")
