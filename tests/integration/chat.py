"""The bot's answers without its loops: events go straight to an Interactor, and what it would send is read as rows."""

import json
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

from sqlalchemy import select

from bot.cards.actions import Action, encode
from bot.config import settings_from
from bot.domain.audience import Kind, Receiver
from bot.domain.inbound import Answer, CardAction, Inbound, MessageReceived
from bot.domain.preference import Preference
from bot.parts import all_series, build_publisher, build_renderer
from bot.services.interact import Around, Interactor
from bot.store import preferences
from bot.store.engine import Store, Transaction
from bot.store.preferences import Present
from bot.store.tables import cards, deliveries
from tests.builders import card_templates, make_digest, make_item

START = datetime(2025, 3, 10, 9, 0, tzinfo=UTC)  # a Monday, after the push at 08:37
ADMIN, ADDER, READER = "ou_admin", "ou_adder", "ou_reader"
GROUP, PRIVATE = "oc_group", "oc_private"


@dataclass(frozen=True)
class Row:
    """A delivery as it would be sent."""

    key: str
    receiver: Receiver
    status: str
    push: int | None
    part: int
    text: str


@dataclass
class Chat:
    """People and an Interactor on a store. `now` moves by a second with every event."""

    store: Store
    around: Around = field(default_factory=Around)
    names: tuple[str, ...] = ("灯塔日报",)
    zone: str = "UTC"
    now: datetime = START
    events: int = 0

    def __post_init__(self) -> None:
        tables = [
            {"id": one, "name": name, "timezone": self.zone}
            for one, name in zip(("ai", "chips"), self.names, strict=False)
        ]
        self.settings = settings_from({"series": tables, "admin": {"open_ids": [ADMIN]}}, {}, base=Path())
        self.publisher = build_publisher(self.settings, self.store, build_renderer(self.settings, self.store))
        self.restart()

    def restart(self) -> None:
        """As a new process would find it."""
        self.interactor = Interactor(
            self.store,
            card_templates(),
            all_series(self.settings),
            self.publisher,
            [ADMIN],
            lambda: None,
            self.around,
        )

    def event(self) -> str:
        self.events += 1
        self.now += timedelta(seconds=1)
        return f"event-{self.events}"

    async def handle(self, inbound: Inbound) -> Answer:
        return await self.interactor.handle(inbound, self.now)

    async def say(self, text: str, person: str = READER, group: str | None = None) -> None:
        event = self.event()
        chat, mentioned = group or PRIVATE, ("ou_bot",) if group else ()
        await self.handle(MessageReceived(event, person, chat, group is None, text, f"om_{event}", mentioned))

    async def click(
        self, action: Action | Any, person: str = READER, chat: str = PRIVATE, form: Any = None, card: str = "om_card"
    ) -> Answer:
        value = action if isinstance(action, dict | list | str | None) else encode(action)
        return await self.handle(CardAction(self.event(), person, chat, value, card, form))

    async def push(self, day: date | None = None, title: str = "流水线怎样排得更满", text: str | None = None) -> str:
        """Publish an edition now; returns its slug."""
        items = [make_item(1, title=title, text=text)]
        digest = make_digest(items, section="学习", day=day or self.now.date())
        edition = await self.publisher.import_digest("ai", digest, f"{day}{title}", self.now, "cli")
        await self.publisher.publish("ai", edition.slug, self.now, "cli")
        return edition.slug

    def rows(self, receiver: Receiver | None = None) -> list[Row]:
        """What was or would be sent, oldest first."""
        return [row for row in self.store.read_now(_rows) if receiver in {None, row.receiver}]

    @staticmethod
    def rows_of(store: Store, receiver: Receiver) -> list[str]:
        """What was or would be sent to somebody, whoever put it there."""
        return [row.text for row in store.read_now(_rows) if row.receiver == receiver]

    def texts(self, receiver: Receiver) -> list[str]:
        return [row.text for row in self.rows(receiver)]

    def present(self, receiver: Receiver, series: str = "ai") -> Present | None:
        return self.store.read_now(preferences.present, receiver, series)

    def status(self, receiver: Receiver, series: str = "ai") -> str | None:
        found = self.present(receiver, series)
        return found.status if found else None

    def preference(self, receiver: Receiver) -> Preference:
        found = self.present(receiver)
        assert found is not None
        return found.preference


def reader(person: str = READER) -> Receiver:
    return Receiver(Kind.USER, person)


def group(chat: str = GROUP) -> Receiver:
    return Receiver(Kind.GROUP, chat)


def _rows(tx: Transaction) -> list[Row]:
    query = select(deliveries, cards.c.body).join(cards).order_by(deliveries.c.id)
    return [
        Row(
            row.key,
            Receiver(Kind(row.kind), row.receiver),
            row.status,
            row.push_id,
            row.part,
            json.dumps(json.loads(row.body), ensure_ascii=False),
        )
        for row in tx.execute(query)
    ]
