"""Changing a subscription: one wish → the state that is wanted, whoever asks for it and wherever.

A wish names the end state, so that doing it again changes nothing and only says how it is.
"""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from bot.cards.actions import SetGroupSubscription, SetPause, SetPreferences, SetSubscription, UndoLeave
from bot.cards.forms import preference_of
from bot.cards.notice_cards import goodbye_card, subscribed_card
from bot.cards.pause_card import paused_card, resumed_card
from bot.cards.render import Card
from bot.cards.words import day, hour
from bot.domain.audience import Kind, Receiver, SubscriptionStatus
from bot.domain.errors import ActionError
from bot.domain.preference import Preference, may_pause_until
from bot.domain.series import Series
from bot.domain.webhooks import shown
from bot.services.replies import Replies, next_of, today_of
from bot.store import audit, outbox, past, preferences
from bot.store.engine import Transaction
from bot.store.preferences import Present

ACTIVE, PAUSED, UNSUBSCRIBED = SubscriptionStatus
UNDO_HOLDS = timedelta(minutes=10)

Wish = SetSubscription | SetGroupSubscription | SetPause | SetPreferences | UndoLeave


@dataclass(frozen=True, slots=True)
class Actor:
    """Who asks, when, and what a form of theirs holds, unchecked."""

    id: str
    now: datetime
    form: object = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """How it is now. `card` says so in a chat; `is_back`: what went out today is to follow it."""

    toast: str
    card: Card
    changed: bool = False
    is_back: bool = False
    warning: bool = False


class Subscribing:
    """Applies wishes inside the transaction of whatever brought them."""

    def __init__(self, replies: Replies) -> None:
        self._replies = replies
        self._templates = replies.templates

    def apply(self, tx: Transaction, wish: Wish, receiver: Receiver, series: Series, actor: Actor) -> Outcome:
        """Make it so. Raises ActionError with a line for the person if it cannot be."""
        present = preferences.present(tx, receiver, series.id)
        change = _Change(tx, receiver, series, actor, present)
        match wish:
            case SetSubscription(on=True) | SetGroupSubscription(on=True):
                return self._subscribe(change)
            case SetSubscription() | SetGroupSubscription():
                return self._leave(change)
            case UndoLeave():
                return self._undo(change)
            case SetPause(until=None):
                return self._resume(change)
            case SetPause():
                assert wish.until is not None
                return self._pause(
                    change, replace(present.preference if present else Preference(), paused_until=wish.until)
                )
            case SetPreferences():
                return self._prefer(change)

    def _subscribe(self, change: "_Change") -> Outcome:
        present, series = change.present, change.series
        if present and present.status is ACTIVE:
            return Outcome(f"已经订阅过《{series.name}》了", self._subscribed(change, present.preference, already=True))
        preference = Preference()
        if present and (present.status is PAUSED or change.left_just_now):
            preference = present.preference.resumed()
        change.make(ACTIVE, preference)
        outcome = Outcome(
            f"订阅成功，{hour(series, preference).zh} 送达",
            self._subscribed(change, preference, already=False),
            changed=True,
            is_back=True,
        )
        if present and present.status is PAUSED and present.reason:
            return replace(outcome, toast=_advice(present.reason, change.receiver), warning=True)
        return outcome

    def _leave(self, change: "_Change") -> Outcome:
        series, audience = change.series, change.receiver.kind
        if not change.is_subscribed:
            card = goodbye_card(self._templates, series=series, audience=audience, undo=change.left_just_now)
            return Outcome(f"没有订阅《{series.name}》，不会收到推送", card)
        assert change.present is not None
        change.make(UNSUBSCRIBED, change.present.preference)
        outbox.cancel(change.tx, change.receiver, "已退订", series=series.id)
        card = goodbye_card(self._templates, series=series, audience=audience, undo=True)
        left = f"本群已停止推送《{series.name}》"
        if audience is not Kind.GROUP:
            left = f"已退订《{series.name}》，不会再收到推送"
        return Outcome(left, card, changed=True)

    def _undo(self, change: "_Change") -> Outcome:
        present = change.present
        if present and present.is_own_pause:  # pressed twice: it is undone already
            return Outcome("还在暂停中", self._paused(change, present.preference))
        if not (present and change.left_just_now):
            return self._subscribe(change)
        preference = present.preference
        today = today_of(change.series, preference, change.actor.now)
        undone = "已撤销停止" if change.receiver.kind is Kind.GROUP else "已撤销退订"
        if preference.is_paused(today):
            change.make(PAUSED, preference)
            return Outcome(f"{undone}，还在暂停中", self._paused(change, preference), changed=True)
        change.make(ACTIVE, preference)
        card = self._subscribed(change, preference, already=False)
        return Outcome(f"{undone}，原来的设置都还在", card, changed=True, is_back=True)

    def _pause(self, change: "_Change", preference: Preference) -> Outcome:
        present, until = change.of_subscriber(), preference.paused_until
        assert until is not None
        today = today_of(change.series, preference, change.actor.now)
        if not may_pause_until(until, today):
            raise ActionError("暂停到的日子要在明天以后、一年以内，请重新选一次")
        toast, card = f"暂停到 {day(until, today).zh}，那天自动恢复", self._paused(change, preference)
        if present.status is PAUSED and present.preference.paused_until == until:
            return Outcome(toast, card)
        change.make(PAUSED, preference)
        outbox.cancel(change.tx, change.receiver, "已暂停", series=change.series.id)
        return Outcome(toast, card, changed=True)

    def _resume(self, change: "_Change") -> Outcome:
        present = change.of_subscriber()
        preference = present.preference.resumed()
        card = self._resumed(change, preference)
        if present.status is ACTIVE:
            return Outcome("没有暂停，照常推送", card)
        change.make(ACTIVE, preference)
        return Outcome("已恢复推送", card, changed=True, is_back=True)

    def _prefer(self, change: "_Change") -> Outcome:
        present, series, now = change.of_subscriber(), change.series, change.actor.now
        wanted = preference_of(
            change.actor.form,
            present=present.preference,
            sections=past.sections(change.tx, series.id),
            series=series,
            today=today_of(series, present.preference, now),
        )
        if wanted.is_paused(today_of(series, wanted, now)):
            status, reason = PAUSED, None
        else:
            reason = present.stop_reason
            status = PAUSED if reason else ACTIVE
        changed = (status, wanted) != (present.status, present.preference)
        if changed:
            change.make(status, wanted, reason=reason)
        if status is PAUSED and present.status is ACTIVE:
            outbox.cancel(change.tx, change.receiver, "已暂停", series=series.id)
        card = self._replies.settings(change.tx, change.receiver, series, now)
        is_back = status is ACTIVE and present.status is PAUSED
        return Outcome("已保存" if changed else "没有改动", card, changed=changed, is_back=is_back)

    def _subscribed(self, change: "_Change", preference: Preference, *, already: bool) -> Card:
        return subscribed_card(
            self._templates,
            series=change.series,
            audience=change.receiver.kind,
            already=already,
            preference=preference,
        )

    def _paused(self, change: "_Change", preference: Preference) -> Card:
        assert preference.paused_until is not None
        return paused_card(
            self._templates,
            series=change.series,
            audience=change.receiver.kind,
            until=preference.paused_until,
            now=change.actor.now,
        )

    def _resumed(self, change: "_Change", preference: Preference) -> Card:
        now = change.actor.now
        return resumed_card(
            self._templates,
            series=change.series,
            audience=change.receiver.kind,
            next_at=next_of(change.series, preference, now),
            now=now,
        )


@dataclass(frozen=True, slots=True)
class _Change:
    """A subscription that somebody wants changed, as it was found."""

    tx: Transaction
    receiver: Receiver
    series: Series
    actor: Actor
    present: Present | None

    @property
    def is_subscribed(self) -> bool:
        return self.present is not None and self.present.status is not UNSUBSCRIBED

    @property
    def left_just_now(self) -> bool:
        """So recently that it can be taken back."""
        present = self.present
        if present is None or present.status is not UNSUBSCRIBED:
            return False
        return self.actor.now - present.changed_at < UNDO_HOLDS

    def of_subscriber(self) -> Present:
        """Raises ActionError if there is no subscription to change."""
        if self.present is None or not self.is_subscribed:
            raise ActionError(f"还没有订阅《{self.series.name}》，先订阅再设置")
        return self.present

    def make(self, status: SubscriptionStatus, preference: Preference, *, reason: str | None = None) -> None:
        """Write the new state, with its line in the audit."""
        before, now = self.present, self.actor.now
        set_by = self.actor.id if self.receiver.kind is not Kind.USER else None
        preferences.put(
            self.tx, self.receiver, self.series.id, before, status, preference, now, reason=reason, set_by=set_by
        )
        was = before.status if before else None
        action = status if status is not was else "prefer"
        target = f"{self.series.id}:{self.receiver.kind}:{shown(self.receiver)}"
        audit.append(self.tx, now, self.actor.id, action, target, before=was, after=status)


def _advice(reason: str, receiver: Receiver) -> str:
    """What to do about what kept the last message from arriving."""
    if receiver.kind is Kind.USER:
        return f"已重新订阅。上次没能私聊到你（{reason}）；若还收不到，请管理员把你加进应用的可用范围"
    return f"已重新订阅。上次没能发到群里（{reason}）；若还收不到，请群主看看机器人的权限"
