"""Typed words and taps on the menu: what was meant, done, and answered in the chat in which it was said."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

from bot.cards.actions import SetGroupSubscription, SetPause, SetSubscription
from bot.domain.audience import Kind, Receiver, SubscriptionStatus
from bot.domain.commands import ADMIN_WORDS, Command, Order, understand
from bot.domain.errors import ActionError
from bot.domain.inbound import MessageReceived
from bot.domain.preference import Preference
from bot.domain.rate import Rate
from bot.domain.series import Series
from bot.services.admin_words import AdminWords
from bot.services.groups import Groups
from bot.services.reading import Reading
from bot.services.replies import Replies, next_of, today_of
from bot.services.searching import Found
from bot.services.subscribing import Actor, Subscribing, Wish
from bot.store import pace, preferences, subscribers
from bot.store.engine import Transaction

# At most 20 in any minute: ten at once, and one every six seconds.
TALK = Rate(interval_s=6.0, burst=9.0)
TOO_FAST = "说得有点快，我先歇一分钟，待会儿再聊。"
NOT_THEIRS = "只有群主、群管理员或请我进群的人可以为本群设置。你自己想收的话，私聊我发「订阅」。"
WHAT_TO_SEEK = "想找什么？发「搜」加一个词，例如：搜 推理"
NOTHING_YET = "还没有订阅，发「订阅」就能收到下一期。"
_SUBSCRIBED = frozenset({SubscriptionStatus.ACTIVE, SubscriptionStatus.PAUSED})
_CHANGES = frozenset({Command.SUBSCRIBE, Command.UNSUBSCRIBE, Command.PAUSE, Command.RESUME})


@dataclass(frozen=True, slots=True)
class Told:
    """A message with what it means. `found`, `figures`: what was looked up before the transaction, where it asks so."""

    message: MessageReceived
    order: Order
    found: Found | None = None
    figures: Mapping[str, Any] | None = None


class Talking:
    """Answers messages."""

    def __init__(
        self, replies: Replies, reading: Reading, subscribing: Subscribing, admin: AdminWords, groups: Groups
    ) -> None:
        self._replies = replies
        self._groups = groups
        self._reading = reading
        self._subscribing = subscribing
        self._admin = admin

    def order(self, message: MessageReceived, now: datetime) -> Order:
        """What a message means."""
        series = tuple(self._replies.series.values())
        today = today_of(series[0], None, now) if series else now.date()
        return understand(message.text, series, today=today, admin=self._admin.is_admin(message.sender))

    def is_about(self, order: Order) -> bool:
        """Whether it would change a subscription: in a group not everybody may."""
        return order.command in _CHANGES

    def is_for_admin(self, order: Order) -> bool:
        """Whether it is a word that only an admin's text is read as."""
        return order.command in ADMIN_WORDS.values()

    def told_in_group(self, tx: Transaction, told: Told, now: datetime, *, may: bool) -> None:
        """The same in a group, which is learnt if we never heard of it: its card must find it known."""
        group = Receiver(Kind.GROUP, told.message.chat_id)
        subscribers.ensure(tx, group, now)
        self._groups.heard(tx, group, now)
        self.told(tx, told, group, now, may=may)

    def told(self, tx: Transaction, told: Told, receiver: Receiver, now: datetime, *, may: bool) -> None:
        """Do what was said and answer it. `may`: whether whoever said it decides for the receiver."""
        message, order = told.message, told.order
        if receiver.kind is Kind.USER:  # whoever writes can be written to
            subscribers.resume(tx, receiver, now)
        if is_too_fast(tx, message.sender, now):
            self._silenced(tx, told, receiver, now, may=may)
        elif self._admin.is_admin(message.sender) and self._admin.told(
            tx, order, message.sender, message.event_id, told.figures, now
        ):
            return
        elif self.is_about(order) and not may:
            self._replies.say(tx, f"refused:{message.event_id}", receiver, NOT_THEIRS, now)
        else:
            try:
                self._obey(tx, told, receiver, now)
            except ActionError as exc:
                self._replies.say(tx, f"refused:{message.event_id}", receiver, str(exc), now)

    def _obey(self, tx: Transaction, told: Told, receiver: Receiver, now: datetime) -> None:
        order, event = told.order, told.message.event_id
        match order.command:
            case Command.SUBSCRIBE | Command.UNSUBSCRIBE | Command.PAUSE | Command.RESUME:
                self._change(tx, told, receiver, now)
            case Command.TODAY:
                self._reading.today(tx, receiver, self._reading.chosen(tx, receiver, order.series), event, now)
            case Command.SEARCH if not order.rest:
                self._replies.say(tx, f"search:{event}", receiver, WHAT_TO_SEEK, now)
            case Command.SEARCH:
                assert told.found is not None
                self._replies.post(tx, f"search:{event}", receiver, self._reading.results(told.found, now), now)
            case Command.HISTORY:
                series = self._reading.chosen(tx, receiver, order.series)[0]
                self._replies.post(tx, f"history:{event}", receiver, self._replies.history(tx, series, None, now), now)
            case Command.SETTINGS:
                self._settings(tx, order, receiver, event, now)
            case _:
                admin = receiver.kind is Kind.USER and self._admin.is_admin(told.message.sender)
                self._replies.post(tx, f"help:{event}", receiver, self._replies.help(admin=admin), now)

    def _settings(self, tx: Transaction, order: Order, receiver: Receiver, event: str, now: datetime) -> None:
        series = self._reading.chosen(tx, receiver, order.series)[0]
        card = self._replies.settings(tx, receiver, series, now)
        self._replies.post(tx, f"settings:{event}", receiver, card, now)

    def _change(self, tx: Transaction, told: Told, receiver: Receiver, now: datetime) -> None:
        order, event = told.order, told.message.event_id
        meant = self._meant(tx, order, receiver)
        if order.series is None and order.command is Command.SUBSCRIBE and len(meant) != 1:
            self._replies.post(tx, f"choose:{event}", receiver, self._replies.welcome(receiver.kind), now)
        elif not meant:
            self._replies.say(tx, f"choose:{event}", receiver, NOTHING_YET, now)
        elif order.command is Command.UNSUBSCRIBE and len(meant) > 1:
            self._settings(tx, order, receiver, event, now)  # which one: the card has them all
        else:
            for one in meant:
                wish = self._wish(tx, order, receiver, one, now)
                self._apply(tx, wish, receiver, one, told.message.sender, event, now)

    def _apply(
        self, tx: Transaction, wish: Wish, receiver: Receiver, series: Series, sender: str, event: str, now: datetime
    ) -> None:
        outcome = self._subscribing.apply(tx, wish, receiver, series, Actor(sender, now))
        if outcome.warning:
            self._replies.say(tx, f"warned:{event}:{series.id}", receiver, outcome.toast, now)
        self._replies.post(tx, f"confirm:{event}:{series.id}", receiver, outcome.card, now)
        if outcome.is_back:
            self._replies.catch_up(tx, receiver, series, now)

    def _meant(self, tx: Transaction, order: Order, receiver: Receiver) -> list[Series]:
        """For which series it is to be done: without a name to subscribe means all, all else what is subscribed to."""
        series = self._replies.series
        if order.series is not None:
            return [order.series]
        if order.command is Command.SUBSCRIBE:
            return list(series.values())
        own = preferences.present_of_all(tx, receiver)
        return [one for name, one in series.items() if name in own and own[name].status in _SUBSCRIBED]

    def _wish(self, tx: Transaction, order: Order, receiver: Receiver, series: Series, now: datetime) -> Wish:
        group = receiver.kind is Kind.GROUP
        if order.command in {Command.SUBSCRIBE, Command.UNSUBSCRIBE}:
            kind = SetGroupSubscription if group else SetSubscription
            return kind(series.id, on=order.command is Command.SUBSCRIBE)
        if order.command is Command.RESUME:
            return SetPause(series.id, None, group=group)
        return SetPause(series.id, self._until(tx, order, receiver, series, now), group=group)

    def _until(self, tx: Transaction, order: Order, receiver: Receiver, series: Series, now: datetime) -> date:
        """A number of days skips so many, beginning with that of the next one."""
        if isinstance(order.pause, date):
            return order.pause
        assert order.pause is not None
        present = preferences.present(tx, receiver, series.id)
        preference = present.preference if present else Preference()
        at = next_of(series, preference.resumed(), now)
        first = at.date() if at else today_of(series, preference, now)
        return first + timedelta(days=order.pause)

    def _silenced(self, tx: Transaction, told: Told, receiver: Receiver, now: datetime, *, may: bool) -> None:
        """One kind line a minute, then nothing. To leave is always heard."""
        message, order = told.message, told.order
        self._replies.say(tx, f"fast:{message.sender}:{now:%Y%m%d%H%M}", receiver, TOO_FAST, now)
        if order.command is Command.UNSUBSCRIBE and order.series is not None and may:
            wish = self._wish(tx, order, receiver, order.series, now)
            self._subscribing.apply(tx, wish, receiver, order.series, Actor(message.sender, now))


def is_too_fast(tx: Transaction, person: str, now: datetime) -> bool:
    """Whether somebody says or presses more than is good; what is over the limit does not count against them."""
    key = f"talk:{person}"
    if pace.wait_s(tx, key, now) > 0:
        return True
    pace.reserve(tx, [key], 1, TALK, now)
    return False
