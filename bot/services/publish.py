"""Publishing: from a source to one ledger row per receiver and part, in one transaction."""

import logging
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, time
from zoneinfo import ZoneInfo

from bot.cards.digest_card import digest_cards
from bot.cards.render import Card
from bot.cards.templates import CardTemplates
from bot.domain.audience import Density, Kind, Selection, SubscriptionStatus
from bot.domain.delivery import OPEN, Lane
from bot.domain.digest import Digest
from bot.domain.errors import UsageError
from bot.domain.pictures import Pictures
from bot.domain.preference import Timing
from bot.domain.rate import Rate
from bot.domain.schedule import Hours, slot_at
from bot.domain.series import Series
from bot.ports import DigestSource
from bot.services.due import Watch
from bot.services.lanes import LanePolicy, shown
from bot.services.rendering import Renderer
from bot.store import audit, editions, ledger, outbox, subscribers
from bot.store.editions import Edition, State
from bot.store.engine import Store, Transaction

log = logging.getLogger(__name__)

Rendered = dict[tuple[int, Selection], list[str]]
"""The parts of each selection, by the revision of which they are made."""

PREVIEW = Series("preview", "日报", Hours(time(8, 37), time(12), UTC))


@dataclass(frozen=True, slots=True)
class Push:
    """What a publication plans. `parts` is the number of messages, `skipped` counts subscriptions by reason."""

    edition: str
    id: int | None
    receivers: int
    parts: int
    skipped: Mapping[str, int]
    estimate_s: float


class Publisher:
    """Takes digests in, and sends them out to whoever has subscribed."""

    def __init__(
        self,
        store: Store,
        renderer: Renderer,
        sources: Mapping[str, DigestSource],
        rate: Rate,
        lanes: LanePolicy,
        watch: Watch,
        reviewed: Collection[str] = (),
    ) -> None:
        """`reviewed`: series whose editions wait until somebody approves them."""
        self._store = store
        self._renderer = renderer
        self._sources = sources
        self._rate = rate
        self._lanes = lanes
        self._watch = watch
        self._reviewed = reviewed

    async def import_digest(self, series: str, digest: Digest, source_hash: str, now: datetime, actor: str) -> Edition:
        """Store a digest as an edition, as a new revision if it exists. Raises UsageError without a day or items."""
        self._renderer.one(series)
        if digest.day is None:
            raise UsageError("the digest has no day; put it in the title or the file name, or pass --received-at")
        if not digest.items:
            raise UsageError("the digest has no items; check the file with `digest-bot digest check`")
        state = State.DRAFT if series in self._reviewed else State.READY
        return await self._store.write(_import, series, digest, source_hash, now, actor, state)

    async def publish(self, series: str, slug: str, now: datetime, actor: str, *, dry_run: bool = False) -> Push:
        """Plan an edition for every active subscriber. A second call changes nothing and tells the same."""
        one = self._renderer.one(series)
        rendered: Rendered = {}
        pictures: Pictures = {}
        revision = 0
        while True:
            # Rendering stays outside the transaction; who subscribed meanwhile with a new selection asks for one more.
            plan = await self._store.write(self._plan, one, slug, rendered, now, actor, dry_run)
            if isinstance(plan, Push):
                return plan
            edition, missing = plan
            if revision != edition.revision:
                revision = edition.revision
                pictures = await self._renderer.pictures_of(edition.digest, now, dry_run=dry_run)
            for selection in missing:
                rendered[edition.revision, selection] = self._renderer.bodies(edition, selection, pictures)

    async def publish_due(self, now: datetime) -> list[Push]:
        """Publish what the hour asks for, in every series. Nothing is sent twice, however often it runs."""
        pushes = []
        for series in self._renderer.series.values():
            source = self._sources.get(series.id)
            due = await self._watch.due(series, source, now) if source else None
            if due is None:
                continue
            for digest, source_hash in due.digests:
                if not digest.items:
                    continue
                edition = await self.import_digest(series.id, digest, source_hash, now, "scheduler")
                may_go = edition.state is State.READY or series.id not in self._reviewed
                if may_go and self._watch.is_open(series, now):
                    pushes.append(await self.publish(series.id, edition.slug, now, "scheduler"))
            await self._watch.tell(series, due, now)  # what came too late is there by then, for a human to publish
        return pushes

    def latest_today(self, tx: Transaction, series: str, now: datetime) -> list[Edition]:
        """Editions that went out today, for somebody who has just come."""
        zone = self._renderer.one(series).hours.zone
        midnight = now.astimezone(zone).replace(hour=0, minute=0, second=0, microsecond=0)
        return editions.published_since(tx, series, midnight)

    def cards_of(self, tx: Transaction, edition: Edition, selection: Selection, now: datetime) -> list[int]:
        """Ids of a selection's cards, rendered if nobody has needed them before."""
        return self._renderer.cards_of(tx, edition, selection, now)

    def _plan(
        self,
        tx: Transaction,
        series: Series,
        slug: str,
        rendered: Rendered,
        now: datetime,
        actor: str,
        dry_run: bool,
    ) -> Push | tuple[Edition, list[Selection]]:
        edition = editions.find(tx, series.id, slug)
        if edition is None:
            raise UsageError(f"there is no edition {series.id}/{slug}; see `digest-bot edition list`")
        if edition.state is State.HELD:
            raise UsageError(f"{edition.name} is held; release it before publishing")
        push = editions.push_id(tx, edition)
        if push is not None:
            return told_again(tx, edition, push, _skipped(tx, series.id), self._rate)
        sizes = subscribers.sizes(tx, series.id)
        lane = self._lanes.private(tx, sum(n for one, n in sizes.items() if one.audience is Kind.USER), now)
        sizes = {shown(one, lane): n for one, n in sizes.items()}
        cards = {one: rendered[key] for one in sizes if (key := (edition.revision, one)) in rendered}
        if missing := [one for one in sizes if one not in cards]:
            return edition, missing
        skipped = _skipped(tx, series.id)
        if empty := sum(n for one, n in sizes.items() if not cards[one]):
            skipped["no_items_in_sections"] = empty
        hours, resting = self._hours(tx, series, now)
        if resting:
            skipped["workdays_only"] = resting
        people = sum(n for one, n in sizes.items() if cards[one]) - resting
        parts = sum(n * len(cards[one]) for one, n in sizes.items())
        if not dry_run:
            push = self._fan_out(tx, edition, cards, lane, hours, now)
            audit.append(tx, now, actor, "publish", edition.name, after={"receivers": people, "messages": parts})
        return Push(edition.name, push, people, parts, skipped, self._rate.seconds_for(parts))

    def _hours(self, tx: Transaction, series: Series, now: datetime) -> tuple[dict[Timing, datetime | None], int]:
        """When whoever asked for an hour or for certain days gets what goes out now, and how many do not this time."""
        own = series.hours.zone
        day = now.astimezone(own).date()
        timings = subscribers.timings(tx, series.id)
        hours = {
            one: slot_at(one.preference, ZoneInfo(one.zone) if one.zone else own, series.hours, day, now)
            for one in timings
            if one != Timing()
        }
        return hours, sum(timings[one] for one, at in hours.items() if at is None)

    def _fan_out(
        self,
        tx: Transaction,
        edition: Edition,
        rendered: Mapping[Selection, list[str]],
        private: Lane,
        hours: Mapping[Timing, datetime | None],
        now: datetime,
    ) -> int:
        push = editions.start_push(tx, edition, now)
        rows = 0
        for selection, bodies in rendered.items():
            ids = editions.save_cards(tx, edition, selection, bodies, now)
            lane = Lane.SINGLE if selection.calls_back else Lane.BATCH
            rows += outbox.plan(tx, push, edition.series, selection, ids, now, lane, hours)
        if private is Lane.BATCH:
            self._lanes.tell(tx, now)
        editions.mark_publishing(tx, edition, now)
        log.info("edition_planned", extra={"edition": edition.name, "push": push, "messages": rows})
        return push


def told_again(tx: Transaction, edition: Edition, push: int, skipped: Mapping[str, int], rate: Rate) -> Push:
    """A push that was planned before; the estimate is for what is left of it."""
    counts = ledger.counts(tx, push)
    left = sum(counts.get(status, 0) for status in OPEN)
    people = ledger.receivers(tx, push)
    return Push(edition.name, push, people, sum(counts.values()), skipped, rate.seconds_for(left))


def preview(digest: Digest, density: str, pictures: Pictures | None = None) -> tuple[Card, ...]:
    """The cards of a digest as an unnamed series would send them to a reader."""
    selection = Selection(density=Density(density))
    return digest_cards(CardTemplates(), digest, PREVIEW, selection, edition=None, pictures=pictures)


def _import(
    tx: Transaction, series: str, digest: Digest, source_hash: str, now: datetime, actor: str, state: State
) -> Edition:
    edition, changed = editions.save(tx, series, digest, source_hash, now, state)
    if changed:
        audit.append(tx, now, actor, "import", edition.name, after={"revision": edition.revision})
    return edition


def _skipped(tx: Transaction, series: str) -> dict[str, int]:
    """Subscriptions that a push leaves out, by reason."""
    skipped: dict[str, int] = {}
    for (_, status), n in subscribers.counts(tx, series).items():
        if status is not SubscriptionStatus.ACTIVE:
            skipped[status.value] = skipped.get(status.value, 0) + n
    return skipped
