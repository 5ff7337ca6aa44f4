"""The editors' desk around a house: who asks, tells, resends and corrects, and the loop that changes messages."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime

from bot.domain.digest import Digest
from bot.feishu.client import FeishuClient
from bot.parts import (
    build_alerter,
    build_changes,
    build_desk,
    build_illustrator,
    build_renderer,
    build_sources,
    card_templates,
)
from bot.ports import LinkAnswer, LinkState
from bot.sandbox.state import Message
from bot.services.desk import Desk
from bot.services.publish import Push
from bot.services.resend import Again
from bot.services.review import CheckLinks
from bot.store import ledger
from bot.store.resends import Only
from tests.builders import make_digest
from tests.integration.conftest import SERIES, House, until

DAY = date(2025, 3, 10)
ADMIN = "ou_admin"
ADMINS = {"admin": {"open_ids": [ADMIN]}}


@dataclass
class Office:
    """A house with its desk. `links`: how addresses answer; those that are not in it are well."""

    house: House
    desk: Desk
    client: FeishuClient
    links: dict[str, LinkAnswer] = field(default_factory=dict)

    async def take_in(self, digest: Digest | None = None, *, day: date = DAY, items: int = 3) -> tuple[str, str]:
        """Import a digest; returns the name of its edition."""
        digest = digest or make_digest(items=items, day=day)
        saved = await self.desk.publisher.import_digest(SERIES, digest, f"{hash(digest)}", self.now, "cli")
        return SERIES, saved.slug

    async def publish(self, digest: Digest | None = None, *, day: date = DAY, items: int = 3) -> tuple[str, str]:
        """Import a digest and plan its push."""
        name = await self.take_in(digest, day=day, items=items)
        await self.desk.publisher.publish(*name, self.now, "cli")
        return name

    def resend(self, name: tuple[str, str], only: Only, **more: object) -> Push:
        """As a command does."""
        return self.house.store.write_now(self.desk.resender.resend, name, Again(only, **more), self.now, "cli")

    @property
    def now(self) -> datetime:
        return self.house.clock()

    @contextlib.asynccontextmanager
    async def at_work(self) -> AsyncIterator[None]:
        """The bot runs, and changes are made."""
        loop = self.new_changes()
        async with self.house.bot(), asyncio.TaskGroup() as tasks:
            running = tasks.create_task(loop.run())
            try:
                yield
            finally:
                loop.stop()
                await running

    def new_changes(self):
        settings = self.house.settings
        alerter = build_alerter(settings, card_templates(settings))
        return build_changes(settings, self.house.store, self.client, alerter, self.house.clock)

    async def quiet(self) -> None:
        """Wait until nothing is left to send or to change."""
        await until(lambda: not self.is_busy(), passing=self.house.clock)

    def is_busy(self) -> bool:
        left = self.house.store.read_now(_open)
        return left > 0

    def cards_to(self, open_id: str) -> list[Message]:
        """Cards of the bot that a person can still see."""
        return [one for one in self.house.cards_to(open_id) if not one.recalled]


@contextlib.asynccontextmanager
async def make_office(house: House, check_links: CheckLinks | None = None) -> AsyncIterator[Office]:
    """The desk of a house; admins of its settings are people of the sandbox. Links are as `links` says, or asked."""
    settings, feishu = house.settings, house.settings.feishu
    for admin in settings.admin.open_ids:
        house.sandbox.client.add_user("管理员", open_id=admin)
    links: dict[str, LinkAnswer] = {}

    async def check(urls: Iterable[str]) -> Mapping[str, LinkAnswer]:
        return {url: links.get(url, LinkAnswer(LinkState.OK)) for url in urls}

    async with FeishuClient(feishu.base_url, feishu.app_id, feishu.app_secret) as client:
        documents = client.documents()
        illustrator = build_illustrator(settings, house.store, client, documents)
        renderer = build_renderer(settings, house.store, illustrator)
        sources = build_sources(settings, documents)
        desk = build_desk(settings, house.store, client, renderer, house.publisher, sources, check_links or check)
        yield Office(house, desk, client, links)


def _open(tx) -> int:
    from sqlalchemy import func, select

    from bot.store.editor_tables import changes

    counts = ledger.counts(tx)
    waiting = changes.c.status.in_(["pending", "sending"])
    return (
        sum(counts.get(one, 0) for one in ("pending", "sending"))
        + tx.execute(select(func.count()).where(waiting)).scalar_one()
    )


def now_utc() -> datetime:
    return datetime.now(UTC)
