"""A real database, the sandbox over real HTTP, and the bot between them."""

import asyncio
import contextlib
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from starlette.routing import BaseRoute

from bot.app import running
from bot.config import settings_from
from bot.domain.audience import Kind, Receiver
from bot.feishu.client import FeishuClient
from bot.parts import build_illustrator, build_publisher, build_renderer, build_sources, open_store
from bot.sandbox.app import Sandbox, SandboxSettings
from bot.sandbox.state import Message
from bot.services.publish import Publisher
from bot.serving import listen, serving
from bot.settings import FolderSettings, Settings
from bot.store import subscribers
from bot.store.engine import Store
from bot.store.subscribers import NewSubscription
from tests.integration.postgres import Postgres, postgres_server, skip_without_wheel

SERIES = "ai"
PageRoutes = Callable[[Sandbox], Sequence[BaseRoute]]

# A test with this mark runs on both databases: `house`, `store` and `store_url` are made for each.
on_both = pytest.mark.parametrize("store_url", ["sqlite", "postgresql"], indirect=True)
on_postgres = pytest.mark.parametrize("store_url", ["postgresql"], indirect=True)


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class MovingClock:
    """The real time and what a test adds to it: waits are passed by the clock, not waited for."""

    def __init__(self) -> None:
        self._ahead = timedelta()

    def __call__(self) -> datetime:
        return datetime.now(UTC) + self._ahead

    def advance(self, seconds: float) -> None:
        self._ahead += timedelta(seconds=seconds)


@dataclass
class House:
    """The sandbox and the bot's settings, store and publisher; `bot()` starts the bot itself."""

    sandbox: Sandbox
    settings: Settings
    store: Store
    publisher: Publisher
    bot_port: int
    clock: MovingClock = field(default_factory=MovingClock)

    @contextlib.asynccontextmanager
    async def bot(self) -> AsyncIterator[None]:
        """The bot's loops and its web server."""
        async with running(self.settings, self.clock) as web, serving(web, listen("127.0.0.1", self.bot_port)):
            yield

    @property
    def digests(self) -> Path:
        """The folder that the series is read from."""
        source = self.settings.series[0].source
        assert isinstance(source, FolderSettings)
        return Path(source.path)

    def subscribe(self, *receivers: Receiver) -> None:
        """Active subscriptions to the one series."""
        rows = [NewSubscription(one, SERIES) for one in receivers]
        self.store.write_now(subscribers.add, rows, datetime.now(UTC))

    def people(self, count: int) -> list[Receiver]:
        """New people of the sandbox, subscribed."""
        found = [Receiver(Kind.USER, self.sandbox.client.add_user(f"读者{number}").open_id) for number in range(count)]
        self.subscribe(*found)
        return found

    def cards_to(self, open_id: str) -> list[Message]:
        """Cards that stand in a person's chat with the bot."""
        chat_id = self.sandbox.world.p2p_chat_id(self.settings.feishu.app_id, open_id)
        if chat_id not in self.sandbox.world.chats:
            return []
        return [one for one in self.sandbox.world.messages_in(chat_id) if one.sender_type == "app"]

    def cards_in(self, chat_id: str) -> list[Message]:
        """Cards that stand in a group."""
        return [one for one in self.sandbox.world.messages_in(chat_id) if one.sender_type == "app"]


def free_port() -> int:
    """A port that nobody listens on just now."""
    with contextlib.closing(listen("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def house_settings(folder: Path, sandbox_port: int, bot_port: int, **tables: Any) -> Settings:
    """Settings of a bot that talks to the sandbox on that port. Its series is pushed by hand."""
    sandbox = SandboxSettings()
    now = datetime.now(UTC)
    data: dict[str, Any] = {
        "feishu": {
            "base_url": f"http://127.0.0.1:{sandbox_port}",
            "app_id": sandbox.app_id,
            "app_secret": sandbox.app_secret,
            "encrypt_key": sandbox.encrypt_key,
            "verification_token": sandbox.verification_token,
        },
        "series": [
            {
                "id": SERIES,
                "name": "灯塔大模型日报",
                "source": {"kind": "folder", "path": "digests"},
                "timezone": "UTC",
                "push_at": f"{now:%H:%M}",
                "wait_until": f"{(now.hour + 12) % 24:02}:{now:%M}",
            }
        ],
        "store": {"url": "sqlite:///bot.db"},
        "web": {"port": bot_port},
        "delivery": {"per_second": 5000, "per_minute": 200000},
    }
    return settings_from({**data, **tables}, {}, base=folder)


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """One server for all tests that ask for it."""
    skip_without_wheel()
    with postgres_server() as server:
        yield server


@pytest.fixture
def store_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """A fresh database: a file where the test does not say otherwise."""
    if getattr(request, "param", "sqlite") == "sqlite":
        yield f"sqlite:///{tmp_path}/bot.db"
    else:
        server: Postgres = request.getfixturevalue("postgres")
        with server.database() as url:
            yield url


@pytest.fixture
def store(store_url: str) -> Iterator[Store]:
    """A store at schema head."""
    lay_schema(store_url)
    made = Store(store_url)
    made.migrate()
    yield made
    made.close()


@pytest.fixture
async def house(tmp_path: Path, store_url: str) -> AsyncIterator[House]:
    """Limits are off on both sides; tests that are about limits build their own."""
    async with make_house(tmp_path, store={"url": store_url}) as made:
        yield made


def lay_schema(url: str) -> None:
    """A new file at schema head, copied: to run all migrations takes longer than most tests."""
    path = Path(url.removeprefix("sqlite:///"))
    if url.startswith("sqlite:") and not path.exists():
        path.write_bytes(_migrated())


@cache
def _migrated() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "bot.db"
        store = Store(f"sqlite:///{path}")
        store.migrate()
        store.close()
        return path.read_bytes()


@contextlib.asynccontextmanager
async def make_house(
    folder: Path, *, limits: bool = False, page: PageRoutes | None = None, **tables: Any
) -> AsyncIterator[House]:
    """A sandbox that is served, and the bot's parts around a database in `folder`."""
    bot_port, listener = free_port(), listen("127.0.0.1", 0)
    url = f"http://127.0.0.1:{bot_port}/feishu"
    addresses = SandboxSettings(event_url=f"{url}/events", card_url=f"{url}/card", limits=limits)
    sandbox = Sandbox(addresses, page=page)
    settings = house_settings(folder, listener.getsockname()[1], bot_port, **tables)
    (folder / "digests").mkdir()
    feishu = settings.feishu
    async with (
        serving(sandbox.app, listener),
        FeishuClient(feishu.base_url, feishu.app_id, feishu.app_secret) as client,
    ):
        lay_schema(settings.store.url)
        with contextlib.closing(open_store(settings)) as store:
            documents = client.documents()
            illustrator = build_illustrator(settings, store, client, documents)
            sources = build_sources(settings, documents)
            publisher = build_publisher(settings, store, build_renderer(settings, store, illustrator), sources)
            yield House(sandbox, settings, store, publisher, bot_port)


async def until(true: Callable[[], bool], *, passing: MovingClock | None = None) -> None:
    """Wait for what another task or process brings about; fails loudly if it never comes.

    `passing`: a clock on which a second passes at every look.
    """
    async with asyncio.timeout(60):
        while not true():
            if passing:
                passing.advance(1)
            await asyncio.sleep(0.01)
