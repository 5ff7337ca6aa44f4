"""`/metrics` for Prometheus: totals only, no name and no id of anybody.

What the database knows is read for each scrape, so every process says the same of it; the rest is this process's own.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import accumulate

from prometheus_client import CollectorRegistry
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4, generate_latest
from prometheus_client.registry import Collector
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from bot.domain.audience import Kind, SubscriptionStatus
from bot.domain.delivery import Status
from bot.domain.inbound import Why
from bot.feishu.link_health import LinkHealth
from bot.services.arrivals import BOUNDS_S, Durations
from bot.services.vitals import Standing, Totals, Vitals
from bot.web.health import Process

Values = Mapping[tuple[str, ...], float]
REFUSED = ("callback", "refused")
UNREADABLE = ("unreadable", Why.SHAPE.value)


class Metrics:
    """`/metrics`."""

    def __init__(self, vitals: Vitals, process: Process, clock: Callable[[], datetime]) -> None:
        self._vitals = vitals
        self._process = process
        self._clock = clock

    def routes(self) -> list[Route]:
        """What to hang into the app."""
        return [Route("/metrics", self.show)]

    async def show(self, _: Request) -> Response:
        """Where the database does not answer: that, and what the process knows by itself."""
        now = self._clock()
        standing = await self._vitals.standing(now)
        totals = await self._vitals.totals(now) if standing else None
        said = [_gauge("database_up", "Whether the database answers.", standing is not None)]
        said += _of_process(self._process, now)
        said += _of_standing(standing, self._vitals.monthly_calls) if standing else ()
        said += _of_totals(totals) if totals else ()
        registry = CollectorRegistry()
        registry.register(_Scrape(said))
        return Response(generate_latest(registry), headers={"Content-Type": CONTENT_TYPE_PLAIN_0_0_4})


class _Scrape(Collector):
    """What was found out for one scrape."""

    def __init__(self, said: Sequence[Metric]) -> None:
        self._said = said

    def collect(self) -> Iterable[Metric]:
        return self._said


def _of_standing(standing: Standing, monthly_calls: int) -> Iterator[Metric]:
    yield _gauge("schema_version", "Revision of the database.", int(standing.revision or 0))
    yield _gauge("queue_paused", "Whether the queue stands still.", standing.paused is not None)
    yield _gauge("oldest_due_seconds", "How long the longest waiting delivery has been due.", standing.oldest_due_s)
    yield _gauge("calls_used", "Calls of the platform in this month, all processes.", standing.calls_used)
    yield _gauge("calls_forecast", "Calls at the end of this month if it goes on like this.", standing.calls_forecast)
    if monthly_calls:  # no cap is not a cap of none
        yield _gauge("calls_limit", "Calls that a month may have.", monthly_calls)
    next_at: Values = {(one.series,): one.at.timestamp() for one in standing.pushes}
    yield _gauges("next_push_timestamp_seconds", "When a series is pushed next.", ["series"], next_at)
    late: Values = {(one.series,): one.is_late for one in standing.pushes}
    yield _gauges("series_late", "Whether the hour has passed without the day's edition.", ["series"], late)


def _of_totals(totals: Totals) -> Iterator[Metric]:
    ledger: Values = {(status.value,): totals.deliveries.get(status, 0) for status in Status}
    yield _gauges("deliveries", "Deliveries in the ledger.", ["status"], ledger)
    people: Values = {
        (kind.value, status.value): totals.subscriptions.get((kind, status), 0)
        for kind in Kind
        for status in SubscriptionStatus
    }
    yield _gauges("subscriptions", "Subscriptions.", ["kind", "status"], people)
    if totals.last_success:
        at = totals.last_success.timestamp()
        yield _gauge("last_success_timestamp_seconds", "When the platform last took a message.", at)


def _of_process(process: Process, now: datetime) -> Iterator[Metric]:
    link = process.link(now) if process.link else None
    counts = Counter({REFUSED: 0, UNREADABLE: 0, **process.arrivals.counts})
    if process.webhook is not None:
        counts[REFUSED] += process.webhook.refused
        counts[UNREADABLE] += process.webhook.unreadable
    if link is not None:
        counts[UNREADABLE] += link.unreadable
    inbound = CounterMetricFamily("digest_bot_inbound", "Events and clicks that came in.", labels=["kind", "outcome"])
    for labels, count in sorted(counts.items()):
        inbound.add_metric(labels, count)
    yield inbound
    yield _histogram("answer_seconds", "How long the answers to events and clicks took.", process.arrivals.answers)
    late_s = process.sender_late_s(now)
    if late_s is not None:
        yield _gauge("sender_late_seconds", "How late the sender's loop is for its next turn.", late_s)
    yield _gauge("leads", "Whether this process does what is to be done by the clock.", process.leader.is_here)
    if link is not None:
        yield from _of_link(link)


def _of_link(link: LinkHealth) -> Iterator[Metric]:
    yield _gauge("link_up", "Whether the long connection is there and the other end answers.", link.is_up)
    heard = {"link_last_pong": link.last_pong, "link_last_event": link.last_event}
    for name, at in heard.items():
        if at is not None:
            yield _gauge(f"{name}_timestamp_seconds", "When the long connection last brought one.", at.timestamp())
    yield CounterMetricFamily("digest_bot_link_reconnects", "Connections after the first.", value=link.reconnects)


def _gauge(name: str, says: str, value: float) -> Metric:
    return GaugeMetricFamily(f"digest_bot_{name}", says, value=float(value))


def _gauges(name: str, says: str, labels: Sequence[str], values: Values) -> Metric:
    family = GaugeMetricFamily(f"digest_bot_{name}", says, labels=labels)
    for of, value in values.items():
        family.add_metric(of, value)
    return family


def _histogram(name: str, says: str, durations: Durations) -> Metric:
    bounds = (*(str(bound) for bound in BOUNDS_S), "+Inf")
    up_to = zip(bounds, accumulate(durations.counts), strict=True)
    return HistogramMetricFamily(f"digest_bot_{name}", says, buckets=list(up_to), sum_value=durations.sum_s)
