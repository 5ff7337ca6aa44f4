"""What a process is made of, put together from the settings."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from starlette.applications import Starlette
from starlette.routing import BaseRoute

from bot.domain.audience import Kind
from bot.domain.rate import Rate
from bot.feishu.client import FeishuClient
from bot.feishu.documents import FeishuDocuments
from bot.feishu.hooks import HookSender
from bot.feishu.link import Link, Timing
from bot.leader import Leader
from bot.parts import (
    app_rate,
    build_alerter,
    build_changes,
    build_desk,
    build_illustrator,
    build_publisher,
    build_renderer,
    build_sources,
)
from bot.services.admin_words import Editors
from bot.services.arrivals import Arrivals
from bot.services.calls import CallCounter
from bot.services.changes import ChangesDeliverer
from bot.services.deliver import Deliverer
from bot.services.deliver_batch import BatchDeliverer
from bot.services.desk import Desk
from bot.services.interact import Around, Interactor
from bot.services.links import PreferenceLinks
from bot.services.outcomes import Outcomes
from bot.services.preference_hooks import PreferenceHooks
from bot.services.preference_page import PreferencePage
from bot.services.publish import Publisher
from bot.services.review import CheckLinks
from bot.services.vitals import Vitals
from bot.settings import Settings
from bot.store.engine import Store
from bot.web.app import build_web
from bot.web.health import Health, Process
from bot.web.metrics import Metrics
from bot.web.preferences import Preferences
from bot.web.webhook import Credentials, Webhook


@dataclass(frozen=True)
class Parts:
    """What a process is made of."""

    settings: Settings
    store: Store
    client: FeishuClient
    publisher: Publisher
    deliverer: Deliverer
    batches: BatchDeliverer
    changes: ChangesDeliverer
    desk: Desk
    interactor: Interactor
    arrivals: Arrivals
    calls: CallCounter
    leader: Leader
    link: Link | None
    links: PreferenceLinks | None
    documents: FeishuDocuments
    clock: Callable[[], datetime]


def assemble(
    settings: Settings,
    store: Store,
    client: FeishuClient,
    hooks: HookSender,
    clock: Callable[[], datetime],
    check_links: CheckLinks | None = None,
) -> Parts:
    """All parts, whatever the role: what is not started costs nothing. `check_links`: see `build_desk`."""
    documents = client.documents()
    illustrator = build_illustrator(settings, store, client, documents)
    sources, renderer = build_sources(settings, documents), build_renderer(settings, store, illustrator)
    publisher = build_publisher(settings, store, renderer, sources)
    desk = build_desk(settings, store, client, renderer, publisher, sources, check_links)
    alerter = build_alerter(settings, renderer.templates)
    calls = CallCounter(client.meter.take, settings.delivery.monthly_calls, alerter)
    outcomes = Outcomes(alerter)
    deliverer = Deliverer(
        store,
        {Kind.USER: client, Kind.GROUP: client, Kind.WEBHOOK: hooks},
        outcomes,
        calls,
        clock,
        app_rate(settings),
        Rate.per_receiver(settings.delivery.per_receiver_per_second),
    )
    batches = BatchDeliverer(store, client.batches, outcomes, clock, app_rate(settings))
    public_url = settings.web.public_url
    links = PreferenceLinks(settings.feishu.app_secret, public_url) if public_url else None
    around = Around(
        ask_chat=documents.chat,
        bot_id=lambda: client.bot_id,
        links=links,
        editors=Editors(desk.reviewer.decide, desk.resender.pressed, desk.resender.asked),
        monthly_calls=settings.delivery.monthly_calls,
    )
    series = tuple(renderer.series.values())
    interactor = Interactor(
        store, renderer.templates, series, publisher, settings.admin.open_ids, deliverer.wake, around
    )
    arrivals = Arrivals(interactor.handle)
    return Parts(
        settings,
        store,
        client,
        publisher,
        deliverer,
        batches,
        build_changes(settings, store, client, alerter, clock),
        desk,
        interactor,
        arrivals,
        calls,
        Leader(store, clock),
        _link(settings, arrivals, clock),
        links,
        documents,
        clock,
    )


def _link(settings: Settings, arrivals: Arrivals, clock: Callable[[], datetime]) -> Link | None:
    feishu = settings.feishu
    if feishu.transport != "websocket":
        return None
    return Link(feishu.base_url, feishu.app_id, feishu.app_secret, arrivals.handle, Timing(clock))


def web_of(parts: Parts) -> Starlette:
    """The callbacks and pages of a process."""
    feishu = parts.settings.feishu
    credentials = Credentials(feishu.encrypt_key, feishu.verification_token)
    webhook = Webhook(credentials, parts.arrivals.handle, parts.clock) if feishu.encrypt_key else None
    routes = _operator_routes(parts, webhook)
    if parts.links is not None:
        replies, subscribing = parts.interactor.replies, parts.interactor.subscribing
        hooks = PreferenceHooks(replies, subscribing, feishu.base_url)
        page = PreferencePage(parts.store, replies, subscribing, hooks, parts.links, parts.deliverer.wake)
        routes += Preferences(page, parts.clock).routes()
    return build_web(webhook, routes)


def _operator_routes(parts: Parts, webhook: Webhook | None) -> list[BaseRoute]:
    """What tells how the bot is."""
    series = tuple(parts.interactor.replies.series.values())
    vitals = Vitals(parts.store, series, parts.settings.delivery.monthly_calls)
    link = parts.link.health if parts.link else None
    process = Process(parts.deliverer, parts.leader, parts.arrivals, webhook, link)
    return [
        *Health(vitals, process, parts.clock).routes(),
        *Metrics(vitals, process, parts.clock).routes(),
    ]
