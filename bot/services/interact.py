"""Interacting: one inbound event → one transaction → one answer. What follows is an outbox row, never a call."""

import hashlib
import logging
from collections.abc import Callable, Collection, Sequence
from dataclasses import asdict
from datetime import datetime

from bot.cards.actions import SetGroupSubscription, SetSubscription, decode
from bot.cards.notice_cards import goodbye_card, help_card, subscribed_card, welcome_card
from bot.cards.render import Card
from bot.cards.templates import CardTemplates
from bot.domain.audience import Kind, Receiver, SubscriptionStatus
from bot.domain.commands import Command, understand
from bot.domain.errors import ActionError
from bot.domain.inbound import Answer, BotAdded, BotRemoved, CardAction, ChatEntered, Inbound, MessageReceived, Unknown
from bot.domain.series import Series
from bot.services.publish import Publisher
from bot.store import audit, editions, inbox, outbox, subscribers
from bot.store.engine import Store, Transaction

log = logging.getLogger(__name__)

ACTIVE, PAUSED, UNSUBSCRIBED = SubscriptionStatus
OLD_CARD = Answer("此卡片已过期，请使用最新一期", "warning")
NOT_YOURS = Answer("只有请我进群的人或管理员可以为本群设置，您可以自己订阅", "warning")


class Interactor:
    """Answers people: subscribe, leave, help."""

    def __init__(
        self,
        store: Store,
        templates: CardTemplates,
        series: Sequence[Series],
        publisher: Publisher,
        admins: Collection[str],
        wake: Callable[[], None],
    ) -> None:
        self._store = store
        self._templates = templates
        self._series = {one.id: one for one in series}
        self._publisher = publisher
        self._admins = frozenset(admins)
        self._wake = wake

    async def handle(self, inbound: Inbound, now: datetime) -> Answer:
        """Apply an event once and answer it; the same event again gets the same answer and does nothing."""
        if isinstance(inbound, Unknown):
            log.info("event_ignored", extra={"event_id": inbound.event_id, "kind": inbound.kind[:100]})
            return Answer()
        answer, new = await self._store.write(self._once, inbound, now)
        kind = type(inbound).__name__
        log.info("event_handled" if new else "event_repeated", extra={"event_id": inbound.event_id, "kind": kind})
        if new:
            self._wake()
        return answer

    def _once(self, tx: Transaction, inbound: Inbound, now: datetime) -> tuple[Answer, bool]:
        stored = inbox.answer_of(tx, inbound.event_id)
        if stored is not None:
            return Answer(**stored), False
        answer = self._act(tx, inbound, now)
        inbox.remember(tx, inbound.event_id, asdict(answer), now)
        return answer, True

    def _act(self, tx: Transaction, inbound: Inbound, now: datetime) -> Answer:
        match inbound:
            case CardAction():
                return self._clicked(tx, inbound, now)
            case MessageReceived(private=True):
                self._told(tx, inbound, Receiver(Kind.USER, inbound.sender), now)
            case MessageReceived():
                self._told(tx, inbound, Receiver(Kind.GROUP, inbound.chat_id), now)
            case ChatEntered():
                self._welcome(tx, Receiver(Kind.USER, inbound.operator), now)
            case BotAdded():
                group = Receiver(Kind.GROUP, inbound.chat_id)
                subscribers.ensure(tx, group, now, name=inbound.name, added_by=inbound.operator)
                subscribers.resume(tx, group, now)
                self._post(tx, f"added:{inbound.event_id}", group, self._welcome_card(Kind.GROUP), now)
            case BotRemoved():
                group = Receiver(Kind.GROUP, inbound.chat_id)
                reason = "群已解散" if inbound.dissolved else "机器人已被移出群"
                subscribers.pause(tx, group, reason, now)
                outbox.cancel(tx, group, reason)
        return Answer()

    def _clicked(self, tx: Transaction, click: CardAction, now: datetime) -> Answer:
        try:
            action = decode(click.value)
        except ActionError:
            return OLD_CARD
        series = self._series.get(action.series)
        if series is None:
            return OLD_CARD
        match action:
            case SetSubscription():
                receiver = Receiver(Kind.USER, click.operator)
            case SetGroupSubscription():
                receiver = Receiver(Kind.GROUP, click.chat_id)
                if not self._may_decide(tx, receiver, click.operator):
                    return NOT_YOURS
        return self._set(tx, receiver, series, now, on=action.on, actor=click.operator, event_id=click.event_id)

    def _told(self, tx: Transaction, message: MessageReceived, receiver: Receiver, now: datetime) -> None:
        """Answer a typed text in the chat in which it was typed."""
        subscribers.resume(tx, receiver, now)
        order = understand(message.text, tuple(self._series.values()))
        may = message.private or self._may_decide(tx, receiver, message.sender)
        if order.command is Command.HELP or not may:
            card = help_card(self._templates, series=tuple(self._series.values()))
            self._post(tx, f"help:{message.event_id}", receiver, card, now)
        elif order.series is None:
            self._post(tx, f"choose:{message.event_id}", receiver, self._welcome_card(receiver.kind), now)
        else:
            on = order.command is Command.SUBSCRIBE
            before = subscribers.status(tx, receiver, order.series.id)
            self._set(tx, receiver, order.series, now, on=on, actor=message.sender, event_id=message.event_id)
            if (before is ACTIVE) is on:  # nothing changed, but a typed word always gets an answer
                self._confirm(tx, receiver, order.series, now, on=on, already=True, event_id=message.event_id)

    def _set(
        self, tx: Transaction, receiver: Receiver, series: Series, now: datetime, *, on: bool, actor: str, event_id: str
    ) -> Answer:
        """Make a subscription what it is wanted to be: a second click finds it so and only says it."""
        before = subscribers.status(tx, receiver, series.id)
        if on and before is ACTIVE:
            return Answer(f"已经订阅过《{series.name}》了")
        if not on and before in {None, UNSUBSCRIBED}:
            return Answer(f"没有订阅《{series.name}》，不会收到推送")
        wanted = ACTIVE if on else UNSUBSCRIBED
        subscribers.set_status(tx, receiver, series.id, wanted, now)
        audit.append(tx, now, actor, wanted, f"{series.id}:{receiver.kind}:{receiver.id}", before=before, after=wanted)
        self._confirm(tx, receiver, series, now, on=on, already=False, event_id=event_id)
        if not on:
            outbox.cancel(tx, receiver, "已退订", series=series.id)
            return Answer(f"已退订《{series.name}》，不会再收到推送", "success")
        self._send_todays(tx, receiver, series, now)
        return Answer(f"订阅成功，每天 {series.hours.push_at:%H:%M} 送达", "success")

    def _confirm(
        self,
        tx: Transaction,
        receiver: Receiver,
        series: Series,
        now: datetime,
        *,
        on: bool,
        already: bool,
        event_id: str,
    ) -> None:
        if on:
            card = subscribed_card(self._templates, series=series, audience=receiver.kind, already=already)
        else:
            card = goodbye_card(self._templates, series=series, audience=receiver.kind)
        self._post(tx, f"confirm:{event_id}", receiver, card, now)

    def _send_todays(self, tx: Transaction, receiver: Receiver, series: Series, now: datetime) -> None:
        """Who comes after today's push gets it at once, under the keys of that push: never a second copy."""
        selection = subscribers.selection(tx, receiver, series.id)
        for edition in self._publisher.latest_today(tx, series.id, now):
            push = editions.push_id(tx, edition)
            if push is not None:
                ids = self._publisher.cards_of(tx, edition, selection, now)
                outbox.enqueue_push(tx, push, receiver, ids, now)

    def _welcome(self, tx: Transaction, person: Receiver, now: datetime) -> None:
        """Once a day, and not to somebody who has subscribed: the chat reports every opening."""
        if any(subscribers.status(tx, person, series) is ACTIVE for series in self._series):
            return
        day = f"{now:%Y-%m-%d}"
        self._post(tx, f"welcome:{person.id}:{day}", person, self._welcome_card(Kind.USER), now)

    def _welcome_card(self, audience: Kind) -> Card:
        series = tuple(self._series.values())
        name = series[0].name if len(series) == 1 else "日报机器人"
        return welcome_card(self._templates, series=series, bot_name=name, audience=audience)

    def _may_decide(self, tx: Transaction, group: Receiver, person: str) -> bool:
        return person in self._admins or person == subscribers.added_by(tx, group)

    def _post(self, tx: Transaction, key: str, receiver: Receiver, card: Card, now: datetime) -> None:
        content = hashlib.sha256(card.body.encode()).hexdigest()
        card_id = editions.save_card(tx, f"notice:{content}", card.body, now)
        outbox.enqueue(tx, key, receiver, card_id, now)
