"""What commands and the service share: the clock, the database, the series, and what takes digests in."""

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from bot.cards.templates import CardTemplates
from bot.domain.rate import Rate
from bot.domain.series import Series
from bot.ports import DigestSource
from bot.services.publish import Publisher
from bot.settings import (
    BitableSettings,
    FeedSettings,
    FolderSettings,
    HttpJsonSettings,
    SeriesSettings,
    Settings,
    WikiSettings,
)
from bot.store.engine import Store

if TYPE_CHECKING:
    from bot.feishu.documents import FeishuDocuments


def now_utc() -> datetime:
    """The clock, read here and handed on."""
    return datetime.now(UTC)


def open_store(settings: Settings) -> Store:
    """The database at schema head."""
    store = Store(settings.store.url)
    store.migrate()
    return store


def build_publisher(settings: Settings, store: Store, sources: Mapping[str, DigestSource] | None = None) -> Publisher:
    """What takes digests in and plans their way out. Commands bring their digests themselves and need no sources."""
    return Publisher(store, CardTemplates(), all_series(settings), sources or {}, app_rate(settings))


def build_sources(settings: Settings, documents: "FeishuDocuments") -> dict[str, DigestSource]:
    """Where each series' digests come from, by its id."""
    return {one.id: _source(one, documents) for one in settings.series if one.source is not None}


def all_series(settings: Settings) -> tuple[Series, ...]:
    """The configured series as the domain knows them."""
    return tuple(
        Series(one.id, one.name, one.hours, one.colour, one.community_url, one.research_url) for one in settings.series
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
