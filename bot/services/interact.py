"""Interacting: one inbound event → one transaction → one answer. What follows is an outbox row, never a call."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any

from anyio.to_thread import run_sync

from bot.cards.templates import CardTemplates
from bot.domain.audience import Kind, Receiver
from bot.domain.commands import Command
from bot.domain.inbound import (
    Answer,
    BotAdded,
    BotRemoved,
    CardAction,
    ChatChanged,
    ChatEntered,
    Inbound,
    MembersLeft,
    MessageReceived,
    MessagesRead,
    PersonLeft,
    Unknown,
    identities,
)
from bot.domain.series import Series
from bot.services.admin_words import AdminWords, Editors
from bot.services.clicking import Clicking
from bot.services.group_checks import AskChat, GroupChecks
from bot.services.groups import Groups, Listed
from bot.services.links import PreferenceLinks
from bot.services.publish import Publisher
from bot.services.reading import Reading
from bot.services.replies import Replies
from bot.services.searching import search
from bot.services.status import status
from bot.services.subscribing import Actor, Subscribing
from bot.services.talking import Talking, Told
from bot.store import followups, inbox, preferences
from bot.store.engine import Store, Transaction
from bot.store.subscribers import ACTIVE

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Around:
    """What an Interactor has besides its own parts, where the service has it.

    `ask_chat`: a group as the platform describes it; without it only who brought the bot decides for a group.
    `bot_id`: the bot's own open_id once it is known, to tell a message to us from one to another bot.
    """

    ask_chat: AskChat | None = None
    bot_id: Callable[[], str | None] = lambda: None
    links: PreferenceLinks | None = None
    editors: Editors = field(default_factory=Editors)
    monthly_calls: int = 0


class Interactor:
    """Answers people: whatever they say or press in the chat, over whichever transport it came."""

    def __init__(
        self,
        store: Store,
        templates: CardTemplates,
        series: Sequence[Series],
        publisher: Publisher,
        admins: Collection[str],
        wake: Callable[[], None],
        around: Around | None = None,
    ) -> None:
        self._around = around or Around()
        self._store = store
        self._wake = wake
        self._news = asyncio.Event()
        self.replies = Replies(templates, series, publisher, self._around.links)
        self.subscribing = Subscribing(self.replies)
        reading = Reading(self.replies)
        admin = AdminWords(self.replies, reading, admins, self._around.editors)
        self._groups = Groups(self.replies, admins, can_ask=self._around.ask_chat is not None)
        self._talking = Talking(self.replies, reading, self.subscribing, admin, self._groups)
        self._clicking = Clicking(self.replies, reading, self.subscribing, admin, self._groups)

    async def handle(self, inbound: Inbound, now: datetime) -> Answer:
        """Apply an event once and answer it; the same event again gets the same answer and does nothing."""
        kind = inbound.kind[:100] if isinstance(inbound, Unknown) else type(inbound).__name__
        if isinstance(inbound, Unknown | MessagesRead):
            log.info("event_ignored", extra={"event_id": inbound.event_id, "kind": kind})
            return Answer()
        looked_up = await self._look_up(inbound, now)
        answer, new = await self._store.write(self._once, inbound, looked_up, now)
        log.info("event_handled" if new else "event_repeated", extra={"event_id": inbound.event_id, "kind": kind})
        if new:
            self._wake()
            self._news.set()
        return answer

    async def run(self, clock: Callable[[], datetime]) -> None:
        """Finish what was promised after an answer, until cancelled. Nothing to do where the platform is not asked."""
        checks = self._checks()
        if checks is not None:
            await checks.run(self._news, clock, self._wake)

    async def keep_promises(self, now: datetime) -> int:
        """One turn of `run`. Returns how many are done."""
        checks = self._checks()
        return 0 if checks is None else await checks.keep_all(now)

    async def reconcile(self, listed: Callable[[], Awaitable[Sequence[Listed]]], now: datetime) -> None:
        """Make our groups those of the platform's own list: once a day, since some events never come."""
        new, lost, back = await self._store.write(self._groups.reconcile, await listed(), now)
        log.info("groups_reconciled", extra={"new": new, "lost": lost, "back": back})

    def _checks(self) -> GroupChecks | None:
        ask = self._around.ask_chat
        if ask is None:
            return None
        return GroupChecks(self._store, self.replies, self._groups, self._clicking, self._say_in_group, ask)

    async def _look_up(self, inbound: Inbound, now: datetime) -> Told | Any:
        """What takes longer than a transaction may: searches and figures are read before it."""
        if isinstance(inbound, CardAction):
            sought = self._clicking.sought(inbound)
            return sought and await self._store.read(search, self.replies.series, sought.query, sought.page)
        if not isinstance(inbound, MessageReceived):
            return None
        order = self._talking.order(inbound, now)
        found = figures = None
        if order.command is Command.SEARCH and order.rest:
            found = await self._store.read(search, self.replies.series, order.rest, 1)
        elif order.command is Command.FIGURES:
            figures = await run_sync(self._figures, now)
        return Told(inbound, order, found, figures)

    def _figures(self, now: datetime) -> Mapping[str, Any]:
        return status(self._store, tuple(self.replies.series.values()), self._around.monthly_calls, now)

    def _once(self, tx: Transaction, inbound: Inbound, looked_up: Any, now: datetime) -> tuple[Answer, bool]:
        names = identities(inbound)
        known = {name: stored for name in names if (stored := inbox.answer_of(tx, name)) is not None}
        if known:
            stored = next(iter(known.values()))
            for name in set(names) - set(known):
                inbox.remember(tx, name, stored, now)
            return Answer(**stored), False
        answer = self._act(tx, inbound, looked_up, now)
        for name in names:
            inbox.remember(tx, name, asdict(answer), now)
        return answer, True

    def _act(self, tx: Transaction, inbound: Inbound, looked_up: Any, now: datetime) -> Answer:
        match inbound:
            case CardAction():
                by = Actor(inbound.operator, now, inbound.form_value)
                return self._clicking.clicked(tx, inbound, looked_up, by)
            case MessageReceived(private=True):
                self._talking.told(tx, looked_up, Receiver(Kind.USER, inbound.sender), now, may=True)
            case MessageReceived():
                self._told_in_group(tx, looked_up, now)
            case ChatEntered():
                self._welcome(tx, Receiver(Kind.USER, inbound.operator), now)
            case BotAdded():
                self._groups.added(tx, inbound, now)
            case BotRemoved():
                self._groups.removed(tx, inbound, now)
            case ChatChanged():
                self._groups.changed(tx, inbound, now)
            case MembersLeft():
                self._groups.members_left(tx, inbound)
            case PersonLeft():
                self._groups.person_left(tx, inbound.person, now)
        return Answer()

    def _told_in_group(self, tx: Transaction, told: Told, now: datetime) -> None:
        """A message in a group is for us if it speaks to us; to speak to all is not."""
        message, me = told.message, self._around.bot_id()
        if not message.mentioned or (me is not None and me not in message.mentioned):
            return
        if self._talking.is_for_admin(told.order):
            self._talking.told(tx, told, Receiver(Kind.USER, message.sender), now, may=True)
            return
        may = self._groups.may_decide(tx, message.chat_id, message.sender, now)
        may_write = self._groups.may_write(tx, message.chat_id, now)
        if may_write is None or (may is None and self._talking.is_about(told.order)):
            what = {"chat": message.chat_id, "person": message.sender, "text": message.text}
            followups.promise(tx, message.event_id, what, now)
        elif may_write:
            self._talking.told_in_group(tx, told, now, may=bool(may))

    def _say_in_group(self, tx: Transaction, message: MessageReceived, now: datetime, may: bool) -> None:
        order = self._talking.order(message, now)
        found = search(tx, self.replies.series, order.rest, 1) if order.command is Command.SEARCH else None
        self._talking.told_in_group(tx, Told(message, order, found), now, may=may)

    def _welcome(self, tx: Transaction, person: Receiver, now: datetime) -> None:
        """Once a day, and not to somebody who has subscribed: the chat reports every opening."""
        own = preferences.present_of_all(tx, person)
        if any(one.status is ACTIVE for one in own.values()):
            return
        key = f"welcome:{person.id}:{now:%Y-%m-%d}"
        self.replies.post(tx, key, person, self.replies.welcome(Kind.USER), now)
