"""What commands and the service share: the clock, the database, the series, and what takes digests in."""

import contextlib
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from bot.cards.templates import CardTemplates
from bot.domain.rate import Rate
from bot.domain.series import Series
from bot.ports import DigestSource, LinkAnswer
from bot.services.alert import Alerter
from bot.services.changes import ChangesDeliverer
from bot.services.correct import Corrector
from bot.services.desk import Desk
from bot.services.due import Watch
from bot.services.illustrate import Illustrator
from bot.services.lanes import LanePolicy
from bot.services.publish import Publisher
from bot.services.receipt import ReadAsk, Receipts
from bot.services.rendering import Renderer
from bot.services.resend import Resender
from bot.services.review import CheckLinks, Costs, Reviewer
from bot.settings import (
    BitableSettings,
    FeedSettings,
    FolderSettings,
    HttpJsonSettings,
    SeriesSettings,
    Settings,
    WikiSettings,
)
from bot.store.changes import Change, ChangeKind
from bot.store.engine import Store

if TYPE_CHECKING:
    from bot.feishu.client import FeishuClient
    from bot.feishu.documents import FeishuDocuments


def now_utc() -> datetime:
    """The clock, read here and handed on."""
    return datetime.now(UTC)


def open_store(settings: Settings) -> Store:
    """The database at schema head."""
    store = Store(settings.store.url)
    store.migrate()
    return store


def build_renderer(settings: Settings, store: Store, illustrator: Illustrator | None = None) -> Renderer:
    """What makes cards of editions. An operator's templates are tried here: one for each process."""
    return Renderer(store, card_templates(settings), all_series(settings), illustrator)


def build_publisher(
    settings: Settings, store: Store, renderer: Renderer, sources: Mapping[str, DigestSource] | None = None
) -> Publisher:
    """What takes digests in and plans their way out. Commands bring their digests themselves and need no sources."""
    alerter = build_alerter(settings, renderer.templates)
    return Publisher(
        store,
        renderer,
        sources or {},
        app_rate(settings),
        build_lanes(settings, alerter),
        Watch(store, alerter, reviewed_series(settings)),
        reviewed_series(settings),
    )


def build_lanes(settings: Settings, alerter: Alerter) -> LanePolicy:
    """Which way private copies go."""
    return LanePolicy(settings.delivery.personal, settings.delivery.monthly_calls, alerter)


def reviewed_series(settings: Settings) -> frozenset[str]:
    """Ids of the series whose editions wait until somebody approves them."""
    return frozenset(one.id for one in settings.series if one.review == "approve")


def build_resender(settings: Settings, renderer: Renderer, alerter: Alerter) -> Resender:
    """What sends editions again."""
    return Resender(renderer, app_rate(settings), build_lanes(settings, alerter))


def build_desk(
    settings: Settings,
    store: Store,
    client: "FeishuClient",
    renderer: Renderer,
    publisher: Publisher,
    sources: Mapping[str, DigestSource],
    check_links: CheckLinks | None = None,
) -> Desk:
    """The editors' work of the service. `check_links`: how links are asked, on the public web if not given."""
    from bot.feishu.codes import CURES

    alerter, admins = build_alerter(settings, renderer.templates), settings.admin.open_ids
    delivery = settings.delivery

    async def read_of_batch(message_id: str) -> int:
        return (await client.batches.progress(message_id)).read

    return Desk(
        publisher,
        Reviewer(
            store,
            renderer,
            reviewed_series(settings),
            admins,
            check_links or _checked_links,
            Costs(app_rate(settings), delivery.monthly_calls),
        ),
        Receipts(
            store, renderer, admins, CURES, ReadAsk(client.read_count, read_of_batch, delivery.monthly_calls == 0)
        ),
        build_resender(settings, renderer, alerter),
        Corrector(store, renderer, publisher, sources, alerter),
    )


def build_changes(
    settings: Settings, store: Store, client: "FeishuClient", alerter: Alerter, clock: Callable[[], datetime]
) -> ChangesDeliverer:
    """What changes messages that were sent."""

    async def patch(change: Change) -> None:
        await client.patch(change.message_id, change.body)

    async def recall(change: Change) -> None:
        await client.recall(change.message_id)

    async def recall_batch(change: Change) -> None:
        await client.batches.recall(change.message_id)

    calls = {ChangeKind.PATCH: patch, ChangeKind.RECALL: recall, ChangeKind.RECALL_BATCH: recall_batch}
    return ChangesDeliverer(store, calls, alerter, clock, app_rate(settings))


async def _checked_links(urls: Iterable[str]) -> Mapping[str, LinkAnswer]:
    """How addresses answer, on the public web only."""
    from bot.sources.fetch import new_client
    from bot.sources.link_check import check_links

    async with new_client() as client:
        return await check_links(client, urls)


def card_templates(settings: Settings) -> CardTemplates:
    """Ours, and the operator's before them."""
    folder = settings.cards.templates
    return CardTemplates(Path(folder) if folder else None)


@contextlib.asynccontextmanager
async def commanded_publisher(settings: Settings, store: Store) -> AsyncIterator[Publisher]:
    """What a command publishes with: it brings pictures itself; the messages are the running service's."""
    from bot.feishu.client import FeishuClient

    feishu = settings.feishu
    async with FeishuClient(feishu.base_url, feishu.app_id, feishu.app_secret) as client:
        illustrator = build_illustrator(settings, store, client, client.documents())
        yield build_publisher(settings, store, build_renderer(settings, store, illustrator))


@contextlib.asynccontextmanager
async def commanded_desk(settings: Settings, store: Store) -> AsyncIterator[Desk]:
    """What a command does editors' work with: it reads sources itself; messages and changes are the service's."""
    from bot.feishu.client import FeishuClient

    feishu = settings.feishu
    async with FeishuClient(feishu.base_url, feishu.app_id, feishu.app_secret) as client:
        documents = client.documents()
        sources = build_sources(settings, documents)
        illustrator = build_illustrator(settings, store, client, documents)
        renderer = build_renderer(settings, store, illustrator)
        publisher = build_publisher(settings, store, renderer, sources)
        yield build_desk(settings, store, client, renderer, publisher, sources)


def build_alerter(settings: Settings, templates: CardTemplates) -> Alerter:
    """What tells the admins. They read the clock of the first series."""
    zone = settings.series[0].hours.zone if settings.series else UTC
    return Alerter(templates, settings.admin.open_ids, zone)


def build_illustrator(
    settings: Settings, store: Store, client: "FeishuClient", documents: "FeishuDocuments"
) -> Illustrator:
    """What brings pictures to the platform."""
    from bot.sources.picture_bytes import PictureBytes

    return Illustrator(store, settings.feishu.app_id, PictureBytes(documents), client)


def build_sources(settings: Settings, documents: "FeishuDocuments") -> dict[str, DigestSource]:
    """Where each series' digests come from, by its id."""
    return {one.id: _source(one, documents) for one in settings.series if one.source is not None}


def all_series(settings: Settings) -> tuple[Series, ...]:
    """The configured series as the domain knows them, under one calendar."""
    from bot.workdays import OfficialCalendar

    calendar = OfficialCalendar(settings.calendar.workdays, settings.calendar.holidays)
    return tuple(
        Series(one.id, one.name, replace(one.hours, calendar=calendar), one.colour, one.community_url, one.research_url)
        for one in settings.series
    )


def app_rate(settings: Settings) -> Rate:
    """How fast the whole app may send."""
    return Rate.within(settings.delivery.per_second, settings.delivery.per_minute)


def _source(series: SeriesSettings, documents: "FeishuDocuments") -> DigestSource:
    from bot.sources.bitable import BitableSource
    from bot.sources.feed_url import FeedSource
    from bot.sources.feishu_wiki import FeishuWikiSource
    from bot.sources.folder import FolderSource
    from bot.sources.http_json import HttpJsonSource

    zone, noise = series.hours.zone, series.noise
    match series.source:
        case FolderSettings(path=path, glob=glob):
            return FolderSource(Path(path), glob, zone, noise)
        case FeedSettings(url=url, allow_private=private):
            return FeedSource(url, zone, noise, allow_private=private)
        case HttpJsonSettings(url=url, allow_private=private):
            return HttpJsonSource(url, zone, noise, allow_private=private)
        case WikiSettings(space=space, node=node):
            return FeishuWikiSource(documents, space=space, node=node, zone=zone, noise=noise)
        case BitableSettings(app=app, table=table, fields=fields, view=view):
            return BitableSource(documents, app=app, table=table, fields=fields, view=view, zone=zone)
    raise AssertionError("a series without a source is not asked for one")
