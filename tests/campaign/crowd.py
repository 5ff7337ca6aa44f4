"""A crowd at the bot's addresses: who says and presses what and when, and how it must be for each in the end."""

import random
import uuid
from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
from sqlalchemy import func, select

from bot.cards.actions import SetPause, SetPreferences, SetSubscription, ShowSettings, encode
from bot.domain.audience import Density, SubscriptionStatus
from bot.store.engine import Transaction
from bot.store.tables import audit, inbox, subscribers, subscriptions
from tests.callbacks import PATHS, Callbacks
from tests.integration.conftest import SERIES

ACTIVE, PAUSED, UNSUBSCRIBED = SubscriptionStatus
UNKNOWN_SHARE, IDLE_SHARE = 0.10, 0.25  # kinds that nobody knows; words and clicks that change nothing
REPEATED_SHARE, AT_ONCE_SHARE = 0.10, 0.3  # of all: delivered again; of those: at the same moment
LATEST_REPETITION_S = 20.0
UNKNOWN = ("im.message.reaction.created_v1", "drive.file.edit_v1", "im.chat.member.user.added_v1")


class Shot(msgspec.Struct, frozen=True):
    """One request, due so many seconds after the first."""

    due_s: float
    event_id: str
    path: str
    body: bytes
    headers: dict[str, str]


@dataclass(frozen=True)
class Wish:
    """What is said, or else pressed, and what is wanted by it; None: as it was."""

    text: str = ""
    value: dict[str, object] | None = None
    form: dict[str, Any] | None = None
    status: SubscriptionStatus | None = None
    density: Density | None = None


def _on(on: bool) -> dict[str, object]:
    return encode(SetSubscription(SERIES, on=on))


SUBSCRIBE = (Wish("订阅", status=ACTIVE), Wish(value=_on(True), status=ACTIVE))
LEAVE = (Wish("退订", status=UNSUBSCRIBED), Wish(value=_on(False), status=UNSUBSCRIBED))
PAUSE = (
    Wish("暂停 3天", status=PAUSED),
    Wish(value=encode(SetPause(SERIES, datetime.now(UTC).date() + timedelta(days=5))), status=PAUSED),
)
PREFER = tuple(Wish(value=encode(SetPreferences(SERIES)), form={"density": one}, density=one) for one in Density)
IDLE = (*map(Wish, ("设置", "帮助", "状态", "今日", "搜 推理", "你好")), Wish(value=encode(ShowSettings(SERIES))))


@dataclass
class Person:
    """What somebody wanted last, and how often that was something else than before."""

    open_id: str
    chat_id: str
    status: SubscriptionStatus | None = None
    density: Density = Density.STANDARD
    changes: int = 0

    def wishes(self) -> Sequence[Wish]:
        """Those that would change something."""
        if self.status in {None, UNSUBSCRIBED}:
            return SUBSCRIBE
        other = [one for one in PREFER if one.density is not self.density]
        return (*LEAVE, *(PAUSE if self.status is ACTIVE else SUBSCRIBE), *other)

    def note(self, wish: Wish) -> None:
        """They want this now."""
        self.status = wish.status or self.status
        self.density = wish.density or self.density
        self.changes += wish not in IDLE


@dataclass
class Crowd:
    """People who take turns: nobody's next wish is due before the last one should be answered.

    `remembered`: the names of events that must be in the inbox afterwards, and no others.
    """

    people: Sequence[Person]
    callbacks: Callbacks
    begins_at: float
    chance: random.Random
    remembered: set[str] = field(default_factory=set)
    kinds: Counter[str] = field(default_factory=Counter)

    def shots(self, count: int, per_s: float) -> list[Shot]:
        """So many at that rate, at random moments: people do not keep step."""
        again, lasts_s = round(count * REPEATED_SHARE), count / per_s
        turns = deque(self.people)
        events = []
        for due_s in sorted(self.chance.uniform(0, lasts_s) for _ in range(count - again)):
            turns.rotate()
            events.append((due_s, *self._event(turns[0])))
        events += [self._again(*one, lasts_s) for one in self.chance.sample(events, again)]
        return sorted((self._shot(*one) for one in events), key=lambda shot: shot.due_s)

    def _event(self, person: Person) -> tuple[str, bytes]:
        event_id, draw = self._new_id(), self.chance.random()
        if draw < UNKNOWN_SHARE:
            self.kinds["unknown"] += 1
            return event_id, self.callbacks.envelope(self.chance.choice(UNKNOWN), {"who": person.open_id}, event_id)
        wish = self.chance.choice(IDLE if draw < UNKNOWN_SHARE + IDLE_SHARE else person.wishes())
        person.note(wish)
        self.remembered.add(event_id)
        who = {"person": person.open_id, "chat": person.chat_id}
        if not wish.text:
            self.kinds["click"] += 1
            return event_id, self.callbacks.click(wish.value, event_id, form=wish.form, **who)
        self.kinds["message"] += 1
        message_id = f"om_{self._new_id()}"
        self.remembered.add(f"message:{message_id}")
        return event_id, self.callbacks.message(wish.text, message_id, event_id, **who)

    def _again(self, due_s: float, event_id: str, plain: bytes, lasts_s: float) -> tuple[float, str, bytes]:
        """The same once more, a message sometimes under another event id; other wishes may have come between."""
        self.kinds["repetition"] += 1
        latest_s = min(LATEST_REPETITION_S, lasts_s - due_s)
        later_s = 0.0 if self.chance.random() < AT_ONCE_SHARE else self.chance.uniform(0, latest_s)
        if b'"message_id"' in plain and self.chance.random() < 0.5:
            fresh = self._new_id()
            self.remembered.add(fresh)
            event_id, plain = fresh, plain.replace(event_id.encode(), fresh.encode())
        return due_s + later_s, event_id, plain

    def _shot(self, due_s: float, event_id: str, plain: bytes) -> Shot:
        """Sealed and signed anew for each delivery, with the time at which it is due."""
        body = self.callbacks.sealed(plain)
        headers = self.callbacks.headers(body, self.begins_at + due_s)
        return Shot(due_s, event_id, self.chance.choice(PATHS), body, headers)

    def _new_id(self) -> str:
        return uuid.UUID(int=self.chance.getrandbits(128)).hex


@dataclass(frozen=True)
class Found:
    """What the tables say of the crowd, against what it wanted. All of it should be 0."""

    wrong_states: int
    wrong_changes: int
    forgotten: int
    made_up: int

    def __str__(self) -> str:
        return (
            f"{self.wrong_states} people not as they wanted it last, {self.wrong_changes} with changes too many or too "
            f"few; inbox: {self.forgotten} events missing, {self.made_up} that never were"
        )

    @property
    def is_right(self) -> bool:
        return not (self.wrong_states or self.wrong_changes or self.forgotten or self.made_up)


def found(tx: Transaction, crowd: Crowd) -> Found:
    """Compare each person's subscription, the audit's lines about them, and the inbox."""
    rows = tx.execute(
        select(subscribers.c.receiver, subscriptions.c.status, subscriptions.c.density).join(subscriptions)
    )
    states = {row.receiver: (row.status, row.density) for row in rows}
    counted = select(audit.c.actor, func.count().label("changes")).group_by(audit.c.actor)
    changes = {row.actor: row.changes for row in tx.execute(counted)}
    names = set(tx.execute(select(inbox.c.event_id)).scalars())
    wanted = {one.open_id: (one.status, one.density) if one.status else None for one in crowd.people}
    return Found(
        sum(states.get(who) != state for who, state in wanted.items()),
        sum(changes.get(one.open_id, 0) != one.changes for one in crowd.people),
        len(crowd.remembered - names),
        len(names - crowd.remembered),
    )
