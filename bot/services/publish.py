"""Publishing: from a source to one ledger row per receiver and part, in one transaction."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time

from bot.cards.digest_card import digest_cards
from bot.cards.render import Card
from bot.cards.templates import CardTemplates
from bot.domain.audience import Density, Selection, SubscriptionStatus
from bot.domain.delivery import OPEN
from bot.domain.digest import Digest
from bot.domain.errors import DigestError, UsageError
from bot.domain.rate import Rate
from bot.domain.schedule import Hours, due, open_day
from bot.domain.series import Series
from bot.ports import DigestSource
from bot.store import audit, editions, ledger, outbox, subscribers
from bot.store.editions import Edition, State
from bot.store.engine import Store, Transaction

log = logging.getLogger(__name__)

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
        templates: CardTemplates,
        series: Sequence[Series],
        sources: Mapping[str, DigestSource],
        rate: Rate,
    ) -> None:
        self._store = store
        self._templates = templates
        self._series = {one.id: one for one in series}
        self._sources = sources
        self._rate = rate
        self._told: set[str] = set()

    async def import_digest(self, series: str, digest: Digest, source_hash: str, now: datetime, actor: str) -> Edition:
        """Store a digest as an edition, as a new revision if it exists. Raises UsageError without a day or items."""
        self._one(series)
        if digest.day is None:
            raise UsageError("the digest has no day; put it in the title or the file name, or pass --received-at")
        if not digest.items:
            raise UsageError("the digest has no items; check the file with `digest-bot digest check`")
        return await self._store.write(_import, series, digest, source_hash, now, actor)

    async def publish(self, series: str, slug: str, now: datetime, actor: str, *, dry_run: bool = False) -> Push:
        """Plan an edition for every active subscriber. A second call changes nothing and tells the same."""
        one = self._one(series)
        rendered: dict[Selection, list[str]] = {}
        while True:
            # Rendering stays outside the transaction; who subscribed meanwhile with a new selection asks for one more.
            plan = await self._store.write(self._plan, one, slug, rendered, now, actor, dry_run)
            if isinstance(plan, Push):
                return plan
            edition, missing = plan
            for selection in missing:
                rendered[selection] = self._render(one, edition, selection)

    async def publish_due(self, now: datetime) -> list[Push]:
        """Publish what the hour asks for, in every series. Nothing is sent twice, however often it runs."""
        pushes = []
        for series in self._series.values():
            day = open_day(series.hours, now)
            source = self._sources.get(series.id)
            if day is None or source is None:
                continue
            found, errors = await source.load(now)
            self._report(series, errors)
            published = await self._store.read(editions.published_keys, series.id)
            for digest, source_hash in due(((f.digest, f.source_hash) for f in found), day, published):
                if not digest.items:
                    self._report(
                        series, [DigestError("no_items", f"the digest of {digest.day} has no items; not sent")]
                    )
                    continue
                edition = await self.import_digest(series.id, digest, source_hash, now, "scheduler")
                pushes.append(await self.publish(series.id, edition.slug, now, "scheduler"))
        return pushes

    def latest_today(self, tx: Transaction, series: str, now: datetime) -> list[Edition]:
        """Editions that went out today, for somebody who has just come."""
        midnight = now.astimezone(self._one(series).hours.zone).replace(hour=0, minute=0, second=0, microsecond=0)
        return editions.published_since(tx, series, midnight)

    def cards_of(self, tx: Transaction, edition: Edition, selection: Selection, now: datetime) -> list[int]:
        """Ids of a selection's cards, rendered if nobody has needed them before."""
        if ids := editions.card_ids(tx, edition, selection):
            return ids
        bodies = self._render(self._one(edition.series), edition, selection)
        return editions.save_cards(tx, edition, selection, bodies, now)

    def _one(self, series: str) -> Series:
        if series not in self._series:
            known = ", ".join(self._series) or "none configured"
            raise UsageError(f"there is no series {series!r}; known: {known}")
        return self._series[series]

    def _render(self, series: Series, edition: Edition, selection: Selection) -> list[str]:
        digest = edition.digest.keep(selection.sections)
        if not digest.items:
            return []
        return [card.body for card in digest_cards(self._templates, digest, series, selection, edition=edition.name)]

    def _plan(
        self,
        tx: Transaction,
        series: Series,
        slug: str,
        rendered: Mapping[Selection, list[str]],
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
            return self._told_again(tx, edition, push)
        sizes = subscribers.sizes(tx, series.id)
        if missing := [one for one in sizes if one not in rendered]:
            return edition, missing
        skipped = _skipped(tx, series.id)
        if empty := sum(n for one, n in sizes.items() if not rendered[one]):
            skipped["no_items_in_sections"] = empty
        people = sum(n for one, n in sizes.items() if rendered[one])
        parts = sum(n * len(rendered[one]) for one, n in sizes.items())
        if not dry_run:
            push = self._fan_out(tx, edition, rendered, now)
            audit.append(tx, now, actor, "publish", edition.name, after={"receivers": people, "messages": parts})
        return Push(edition.name, push, people, parts, skipped, self._rate.seconds_for(parts))

    def _fan_out(
        self, tx: Transaction, edition: Edition, rendered: Mapping[Selection, list[str]], now: datetime
    ) -> int:
        push = editions.start_push(tx, edition, now)
        rows = 0
        for selection, bodies in rendered.items():
            ids = editions.save_cards(tx, edition, selection, bodies, now)
            rows += outbox.plan(tx, push, edition.series, selection, ids, now)
        editions.mark_publishing(tx, edition, now)
        log.info("edition_planned", extra={"edition": edition.name, "push": push, "messages": rows})
        return push

    def _told_again(self, tx: Transaction, edition: Edition, push: int) -> Push:
        counts = ledger.counts(tx, push)
        left = sum(counts.get(status, 0) for status in OPEN)
        return Push(
            edition.name,
            push,
            ledger.receivers(tx, push),
            sum(counts.values()),
            _skipped(tx, edition.series),
            self._rate.seconds_for(left),
        )

    def _report(self, series: Series, errors: Sequence[DigestError]) -> None:
        """One line for each fault and process, however often the folder is looked at."""
        for error in errors:
            if str(error) not in self._told:
                self._told.add(str(error))
                log.error("digest_refused", extra={"series": series.id, "code": error.code, "reason": str(error)})


def preview(digest: Digest, density: str) -> tuple[Card, ...]:
    """The cards of a digest as an unnamed series would send them to a reader."""
    return digest_cards(CardTemplates(), digest, PREVIEW, Selection(density=Density(density)), edition=None)


def _import(tx: Transaction, series: str, digest: Digest, source_hash: str, now: datetime, actor: str) -> Edition:
    edition, changed = editions.save(tx, series, digest, source_hash, now)
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
