"""What commands and the service share: the clock, the database, the series, and what takes digests in."""

from datetime import UTC, datetime
from pathlib import Path

from bot.cards.templates import CardTemplates
from bot.config import SeriesSettings, Settings
from bot.domain.rate import Rate
from bot.domain.series import Series
from bot.ports import DigestSource
from bot.services.publish import Publisher
from bot.sources.folder import FolderSource
from bot.store.engine import Store


def now_utc() -> datetime:
    """The clock, read here and handed on."""
    return datetime.now(UTC)


def open_store(settings: Settings) -> Store:
    """The database at schema head."""
    store = Store(settings.store.url)
    store.migrate()
    return store


def build_publisher(settings: Settings, store: Store) -> Publisher:
    """What takes digests in and plans their way out."""
    sources = {one.id: _source(one) for one in settings.series if one.source is not None}
    return Publisher(store, CardTemplates(), all_series(settings), sources, app_rate(settings))


def all_series(settings: Settings) -> tuple[Series, ...]:
    """The configured series as the domain knows them."""
    return tuple(
        Series(one.id, one.name, one.hours, one.colour, one.community_url, one.research_url) for one in settings.series
    )


def app_rate(settings: Settings) -> Rate:
    """How fast the whole app may send."""
    return Rate.within(settings.delivery.per_second, settings.delivery.per_minute)


def _source(settings: SeriesSettings) -> DigestSource:
    assert settings.source is not None
    source = settings.source
    return FolderSource(Path(source.path), source.glob, settings.hours.zone, settings.noise)
