"""Groups: who may decide for one, and what happens to it.

Who owns a group and who manages it only the platform knows, and it is not asked before a click is answered. What it
said last holds for a short while; where that cannot tell, the answer is 「正在核对权限…」 and the rest follows.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from bot.domain.audience import Kind, Receiver, SubscriptionStatus
from bot.domain.inbound import BotAdded, BotRemoved, ChatChanged, MembersLeft
from bot.services.replies import Replies
from bot.store import groups, outbox, preferences, subscribers
from bot.store.engine import Transaction

HOLDS = timedelta(minutes=2)
MOST_KNOWN = 5_000
MUTED, EXTERNAL, GONE = "群已禁言", "外部群不能推送", "机器人已被移出群"
LEFT, DISSOLVED = "已离职", "群已解散"
NOT_INSIDE = "机器人不在群里"  # as a refused send says it
AWAY = frozenset({GONE, DISSOLVED, NOT_INSIDE})


@dataclass(frozen=True, slots=True)
class Facts:
    """What the platform says of a group, and when it said so."""

    deciders: frozenset[str]
    external: bool
    name: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Listed:
    """A group in the platform's own list."""

    chat_id: str
    name: str
    external: bool


def facts_of(chat: Mapping[str, Any], now: datetime) -> Facts | None:
    """Facts in the platform's description of a chat; None if the bot is not inside, or the group is no more."""
    if chat.get("chat_status", "normal") != "normal" or "chat_mode" not in chat:
        return None
    managers = chat.get("user_manager_id_list")
    people = [chat.get("owner_id"), *(managers if isinstance(managers, list) else [])]
    deciders = frozenset(one for one in people if isinstance(one, str))
    return Facts(deciders, bool(chat.get("external")), str(chat.get("name") or ""), now)


class Groups:
    """What is known of groups. `can_ask`: whether what is not known can be found out."""

    def __init__(self, replies: Replies, admins: Collection[str], *, can_ask: bool) -> None:
        self._replies = replies
        self._admins = frozenset(admins)
        self._can_ask = can_ask
        self._facts: dict[str, Facts] = {}

    def may_decide(self, tx: Transaction, chat_id: str, person: str, now: datetime) -> bool | None:
        """Whether a person decides for a group; None if the platform has to be asked."""
        facts = self._fresh(chat_id, now)
        if facts:
            return self.decides(tx, chat_id, person, facts)
        if person in self._admins or self._brought(tx, chat_id, person):
            return True
        return None if self._can_ask else False

    def may_write(self, tx: Transaction, chat_id: str, now: datetime) -> bool | None:
        """Whether anything may be sent to a group; None if the platform has to be asked."""
        facts = self._fresh(chat_id, now)
        if facts:
            return not facts.external
        group = groups.find(tx, chat_id)  # of an external one nobody is kept as having brought us
        return True if not self._can_ask or (group and group.added_by) else None

    def learn(self, chat_id: str, facts: Facts) -> None:
        """Keep what the platform has just said."""
        if len(self._facts) >= MOST_KNOWN:
            self._facts.pop(next(iter(self._facts)))
        self._facts[chat_id] = facts

    def decides(self, tx: Transaction, chat_id: str, person: str, facts: Facts) -> bool:
        """The same by facts that have just come."""
        return not facts.external and (
            person in self._admins or person in facts.deciders or self._brought(tx, chat_id, person)
        )

    def added(self, tx: Transaction, event: BotAdded, now: datetime) -> None:
        """The bot is in: the group is offered a subscription, or shown the one it has, which goes on.

        To an external group nothing is sent: the app may not, and a refusal would look like one of the whole app.
        """
        group = Receiver(Kind.GROUP, event.chat_id)
        if event.external:
            subscribers.ensure(tx, group, now, name=event.name)
            self._stop(tx, group, EXTERNAL, now)
            return
        subscribers.ensure(tx, group, now, name=event.name, added_by=event.operator or None)
        own = preferences.present_of_all(tx, group)
        on = [one for name, one in self._replies.series.items() if name in own and _is_on(own[name].status)]
        if not self.go_on(tx, group, now):
            cards = [self._replies.settings(tx, group, one, now) for one in on]
            for number, card in enumerate(cards or [self._replies.welcome(Kind.GROUP)]):
                self._replies.post(tx, f"added:{event.event_id}:{number}", group, card, now)

    def removed(self, tx: Transaction, event: BotRemoved, now: datetime) -> None:
        """The bot is out, or the group is gone."""
        self._facts.pop(event.chat_id, None)
        self._stop(tx, Receiver(Kind.GROUP, event.chat_id), DISSOLVED if event.dissolved else GONE, now)

    def changed(self, tx: Transaction, event: ChatChanged, now: datetime) -> None:
        """Another name, another owner, or nobody may speak any more, or again."""
        group = Receiver(Kind.GROUP, event.chat_id)
        if groups.find(tx, event.chat_id) is None:
            return
        if event.name:
            subscribers.ensure(tx, group, now, name=event.name)
        if event.owner:
            self._facts.pop(event.chat_id, None)
        if event.muted:
            self._stop(tx, group, MUTED, now)
        elif event.muted is False:
            self.go_on(tx, group, now)

    def heard(self, tx: Transaction, group: Receiver, now: datetime) -> None:
        """Somebody spoke to us in a group: we are inside, even if we missed how we came there."""
        if AWAY & {one.stop_reason for one in preferences.present_of_all(tx, group).values()}:
            self.go_on(tx, group, now)

    def go_on(self, tx: Transaction, group: Receiver, now: datetime) -> bool:
        """The group can be written to again: what was stopped goes on. False if nothing was.

        It is shown so, with the way to stop it, and gets what it has missed today.
        """
        own = preferences.present_of_all(tx, group)
        stopped = [one for name, one in self._replies.series.items() if name in own and own[name].is_refused]
        subscribers.resume(tx, group, now)
        for series in stopped:
            key = f"back:{own[series.id].id}:{own[series.id].changed_at:%Y%m%d%H%M%S%f}"
            self._replies.post(tx, key, group, self._replies.settings(tx, group, series, now), now)
            self._replies.catch_up(tx, group, series, now)
        return bool(stopped)

    def members_left(self, tx: Transaction, event: MembersLeft) -> None:
        """Who has left decides no more."""
        groups.forget_adder(tx, event.chat_id, event.people)
        facts = self._facts.get(event.chat_id)
        if facts:
            self._facts[event.chat_id] = replace(facts, deciders=facts.deciders - set(event.people))

    def person_left(self, tx: Transaction, person: str, now: datetime) -> None:
        """Nobody reads there any more."""
        self._stop(tx, Receiver(Kind.USER, person), LEFT, now)

    def reconcile(self, tx: Transaction, listed: Sequence[Listed], now: datetime) -> tuple[int, int, int]:
        """Make ours what the platform lists. Returns how many are new, how many were paused, how many are back."""
        inside = {one.chat_id: one for one in listed if not one.external}
        known, away = groups.ids(tx), groups.away(tx, AWAY)
        for chat_id in sorted(inside.keys() - known):
            subscribers.ensure(tx, Receiver(Kind.GROUP, chat_id), now, name=inside[chat_id].name)
        lost = sum(bool(self._stop(tx, Receiver(Kind.GROUP, one), GONE, now)) for one in sorted(known - inside.keys()))
        back = [self.go_on(tx, Receiver(Kind.GROUP, one), now) for one in sorted(away & inside.keys())]
        return len(inside.keys() - known), lost, len(back)

    def _fresh(self, chat_id: str, now: datetime) -> Facts | None:
        facts = self._facts.get(chat_id)
        return facts if facts and now - facts.at < HOLDS else None

    def _stop(self, tx: Transaction, receiver: Receiver, reason: str, now: datetime) -> int:
        outbox.cancel(tx, receiver, reason)
        return subscribers.pause(tx, receiver, reason, now)

    def _brought(self, tx: Transaction, chat_id: str, person: str) -> bool:
        group = groups.find(tx, chat_id)
        return group is not None and group.added_by == person


def _is_on(status: SubscriptionStatus) -> bool:
    return status is not SubscriptionStatus.UNSUBSCRIBED
