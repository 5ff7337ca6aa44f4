"""Clicks on cards: who may, what is done, and what the person sees at once.

A card in a group is everybody's: there a click is answered by a toast alone, which only the person sees, and what they
wanted to read comes in private. In the private chat a list or a form is replaced by what it is now.
"""

import json

from bot.cards.actions import (
    Action,
    Resend,
    Review,
    SetGroupSubscription,
    SetPause,
    SetPreferences,
    SetSubscription,
    ShowEdition,
    ShowHistory,
    ShowResults,
    ShowSettings,
    UndoLeave,
    decode,
    encode,
)
from bot.cards.render import Card
from bot.domain.audience import Kind, Receiver
from bot.domain.errors import ActionError
from bot.domain.inbound import Answer, CardAction
from bot.domain.series import Series
from bot.services.admin_words import AdminWords
from bot.services.groups import Groups
from bot.services.reading import Reading
from bot.services.replies import Replies
from bot.services.searching import Found
from bot.services.subscribing import Actor, Outcome, Subscribing, Wish
from bot.services.talking import is_too_fast
from bot.store import followups, groups
from bot.store.engine import Transaction

OLD_CARD = Answer("此卡片已过期，请使用最新一期", "warning")
NOT_YOURS = Answer("只有群主、群管理员或请我进群的人可以为本群设置，您可以自己订阅", "warning")
BEING_CHECKED = Answer("正在核对权限…结果马上告诉你")
_OF_GROUPS = (SetGroupSubscription, SetPause, SetPreferences, UndoLeave, ShowSettings)
TOO_FAST = Answer("点得有点快，歇一会儿再试", "warning")


class Clicking:
    """Answers clicks."""

    def __init__(
        self, replies: Replies, reading: Reading, subscribing: Subscribing, admin: AdminWords, known: Groups
    ) -> None:
        self._replies = replies
        self._reading = reading
        self._subscribing = subscribing
        self._admin = admin
        self._groups = known

    def sought(self, click: CardAction) -> ShowResults | None:
        """What is to be looked up before the click is handled."""
        try:
            action = decode(click.value)
        except ActionError:
            return None
        return action if isinstance(action, ShowResults) else None

    def clicked(self, tx: Transaction, click: CardAction, found: Found | None, by: Actor) -> Answer:
        """Do what the button says, in the name of whoever clicked."""
        try:
            action = decode(click.value)
        except ActionError:
            return OLD_CARD
        leaves = isinstance(action, SetSubscription | SetGroupSubscription) and not action.on
        if is_too_fast(tx, click.operator, by.now) and not leaves:
            return TOO_FAST
        if isinstance(action, Review | Resend):
            return self._admin.clicked(tx, action, click.operator, by.now)
        if isinstance(action, ShowResults):
            return OLD_CARD if found is None else self._page(tx, click, self._reading.results(found, by.now), by)
        series = self._replies.series.get(action.series)
        return OLD_CARD if series is None else self._of_series(tx, click, action, series, by)

    def _of_series(
        self,
        tx: Transaction,
        click: CardAction,
        action: Wish | ShowEdition | ShowHistory | ShowSettings,
        series: Series,
        by: Actor,
    ) -> Answer:
        me = Receiver(Kind.USER, click.operator)
        match action:
            case ShowEdition():
                return self._reading.show(tx, me, series, action.slug, click.message_id or click.event_id, by.now)
            case ShowHistory():
                return self._page(tx, click, self._replies.history(tx, series, action.cursor, by.now), by)
            case SetGroupSubscription() | SetPause(group=True) | SetPreferences(group=True) | UndoLeave(group=True):
                return self._of_group(tx, click, action, series, by)
            case ShowSettings(group=True):
                return self._of_group(tx, click, action, series, by)
            case ShowSettings():
                card = self._replies.settings(tx, me, series, by.now)
                key = f"settings:{me.id}:{series.id}:{click.message_id}:{by.now:%Y%m%d%H%M}"
                self._replies.post(tx, key, me, card, by.now)
                return Answer("设置在下面" if self._is_private(tx, click) else "设置发到你的私聊了")
            case _:
                return self._of_person(tx, click, action, series, by)

    def finish(self, tx: Transaction, click: CardAction, action: Action, by: Actor, *, may: bool) -> None:
        """End what `_of_group` left open. The toast is gone by now: the person is told in private."""
        answer = NOT_YOURS
        series = self._replies.series.get(getattr(action, "series", ""))
        if may and series and isinstance(action, _OF_GROUPS):
            answer = self._do_in_group(tx, click, action, series, by)
            if answer.card:  # it comes too late to be put into the place of the one that was clicked
                group = Receiver(Kind.GROUP, click.chat_id)
                card = self._replies.settings(tx, group, series, by.now)
                self._replies.post(tx, f"confirm:{click.event_id}", group, card, by.now)
        me = Receiver(Kind.USER, click.operator)
        self._replies.say(tx, f"checked:{click.event_id}", me, answer.toast or "", by.now)

    def _of_group(
        self, tx: Transaction, click: CardAction, action: Wish | ShowSettings, series: Series, by: Actor
    ) -> Answer:
        if not click.chat_id:
            return OLD_CARD
        may = self._groups.may_decide(tx, click.chat_id, click.operator, by.now)
        if may is None:
            what = {
                "chat": click.chat_id,
                "person": click.operator,
                "click": encode(action),
                "form": click.form_value,
            }
            followups.promise(tx, click.event_id, what, by.now)
            return BEING_CHECKED
        return self._do_in_group(tx, click, action, series, by) if may else NOT_YOURS

    def _do_in_group(
        self, tx: Transaction, click: CardAction, action: Wish | ShowSettings, series: Series, by: Actor
    ) -> Answer:
        group = Receiver(Kind.GROUP, click.chat_id)
        if isinstance(action, ShowSettings):
            shown = self._replies.settings(tx, group, series, by.now)
            key = f"settings:{group.id}:{series.id}:{click.message_id}:{by.now:%Y%m%d%H%M}"
            self._replies.post(tx, key, group, shown, by.now)
            return Answer("设置发到群里了")
        try:
            outcome = self._subscribing.apply(tx, action, group, series, by)
        except ActionError as exc:
            return Answer(str(exc), "warning")
        card = outcome.card if isinstance(action, SetPreferences) else None  # the form shows what is so now
        if outcome.changed and card is None:
            self._replies.post(tx, f"confirm:{click.event_id}", group, outcome.card, by.now)
        return self._ended(tx, outcome, group, series, by, card)

    def _of_person(self, tx: Transaction, click: CardAction, wish: Wish, series: Series, by: Actor) -> Answer:
        me = Receiver(Kind.USER, click.operator)
        try:
            outcome = self._subscribing.apply(tx, wish, me, series, by)
        except ActionError as exc:
            return Answer(str(exc), "warning")
        card = None
        if self._is_private(tx, click) and not isinstance(wish, SetSubscription):
            shows_it = isinstance(wish, UndoLeave | SetPreferences)
            card = outcome.card if shows_it else self._replies.settings(tx, me, series, by.now)
        elif outcome.changed:
            self._replies.post(tx, f"confirm:{click.event_id}", me, outcome.card, by.now)
        return self._ended(tx, outcome, me, series, by, card)

    def _ended(
        self,
        tx: Transaction,
        outcome: Outcome,
        receiver: Receiver,
        series: Series,
        by: Actor,
        card: Card | None = None,
    ) -> Answer:
        if outcome.is_back:
            self._replies.catch_up(tx, receiver, series, by.now)
        tone = "warning" if outcome.warning else "success" if outcome.changed else "info"
        return Answer(outcome.toast, tone, json.loads(card.body) if card else None)

    def _page(self, tx: Transaction, click: CardAction, card: Card, by: Actor) -> Answer:
        if self._is_private(tx, click):
            return Answer(card=json.loads(card.body))
        me = Receiver(Kind.USER, click.operator)
        self._replies.post(tx, f"page:{click.event_id}", me, card, by.now)
        return Answer("发到你的私聊了")

    def _is_private(self, tx: Transaction, click: CardAction) -> bool:
        """Every group that holds a card of ours is known: what is not known is a private chat."""
        return bool(click.chat_id) and groups.find(tx, click.chat_id) is None
