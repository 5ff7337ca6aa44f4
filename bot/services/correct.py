"""After an edition went out: making right what was sent, in place, and taking it back as far as that can be done."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from bot.cards.alert_card import Alert
from bot.cards.fallback import fallback
from bot.cards.words import Words
from bot.domain.audience import Kind, Selection
from bot.domain.delivery import OPEN, Lane, Status
from bot.domain.differences import Difference, difference
from bot.domain.errors import UsageError
from bot.domain.ladder import Rung
from bot.ports import DigestSource
from bot.services.alert import Alerter
from bot.services.publish import Publisher
from bot.services.rendering import Renderer
from bot.store import audit, changes, corrections, edition_states, editions
from bot.store.corrections import Shown, Standing
from bot.store.editions import Edition, State
from bot.store.engine import Store, Transaction

CAN_BE_CHANGED_FOR = timedelta(days=14)  # message patch page (230031)
# Why a message stays as it is.
TOO_OLD, BATCH, HOOK, NO_CARD, UNKNOWN = (
    "发出超过 14 天",
    "批量发送的卡片",
    "自定义机器人",
    "发的不是卡片",
    "不知道是否送到",
)


@dataclass(frozen=True, slots=True)
class Summary:
    """What becomes of the messages of an edition. `difference`: None where the first revision is not known.

    `changed` messages are to be patched or deleted, `turned` ones had not gone out, `followed` are further parts;
    `unchanged` say the same as before. `misses`: how many stay as they are, by reason.
    """

    edition: str
    revision: int
    difference: Difference | None = None
    changed: int = 0
    turned: int = 0
    followed: int = 0
    unchanged: int = 0
    misses: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Fresh:
    """The parts of one selection as they are to be: plain for whoever got none, marked for whoever got the old ones."""

    plain: tuple[str, ...]
    marked: tuple[str, ...]


_Cards = Mapping[tuple[Selection, int], _Fresh]


class Corrector:
    """Changes what was sent. Every change is a row first; the loop of changes makes it."""

    def __init__(
        self,
        store: Store,
        renderer: Renderer,
        publisher: Publisher,
        sources: Mapping[str, DigestSource],
        alerter: Alerter,
    ) -> None:
        self._store = store
        self._renderer = renderer
        self._publisher = publisher
        self._sources = sources
        self._alerter = alerter

    async def reread(self, name: tuple[str, str], now: datetime, actor: str, *, dry_run: bool = False) -> bool:
        """Take in what the source says of the edition now. Returns whether it is another text.

        A revision that was imported and that nobody has seen yet comes first: the source is left alone.
        """
        edition = await self._store.read(self._edition, *name)
        source = self._sources.get(edition.series)
        if source is None or await self._store.read(self._is_unseen, edition, now):
            return False
        found, _ = await source.load(now)
        for one in found:
            if (one.digest.day, one.digest.label or "") == (edition.digest.day, edition.digest.label or ""):
                if one.digest == edition.digest or dry_run:
                    return one.digest != edition.digest
                await self._publisher.import_digest(edition.series, one.digest, one.source_hash, now, actor)
                return True
        return False

    def _is_unseen(self, tx: Transaction, edition: Edition, now: datetime) -> bool:
        seen = corrections.standings(tx, edition, now - CAN_BE_CHANGED_FOR)
        return max((one.card.revision for one in seen), default=edition.revision) < edition.revision

    async def correct(self, name: tuple[str, str], now: datetime, actor: str, *, dry_run: bool = False) -> Summary:
        """Let every message of the last 14 days show the present revision. Again, it finds nothing left to do.

        Raises: UsageError if the edition has not gone out.
        """
        edition = await self._store.read(self._edition, *name)
        await self._renderer.pictures_of(edition.digest, now, dry_run=dry_run)
        fresh = await self._store.read(self._fresh, edition, now)
        if dry_run:
            return await self._store.read(self._summary, edition, fresh, now)
        return await self._store.write(self._carry_out, edition, fresh, now, actor)

    async def recall(self, name: tuple[str, str], now: datetime, actor: str, *, dry_run: bool = False) -> Summary:
        """Delete what the platform lets us delete, cancel what has not gone out, and hold the edition back."""
        work = self._would_recall if dry_run else self._recall
        return await self._store.write(work, name, now, actor)

    async def tick(self, now: datetime) -> None:
        """Tell the admins, once, what of a finished correction or recall stayed as it was."""
        for purpose in await self._store.read(changes.finished, now):
            await self._store.write(self._tell, purpose, now)

    def _edition(self, tx: Transaction, series: str, slug: str) -> Edition:
        self._renderer.one(series)
        edition = editions.find(tx, series, slug)
        if edition is None:
            raise UsageError(f"there is no edition {series}/{slug}; see `digest-bot edition list`")
        if not editions.push_ids(tx, edition):
            raise UsageError(f"{edition.name} has not gone out; import it again and publish it")
        return edition

    def _fresh(self, tx: Transaction, edition: Edition, now: datetime) -> _Cards:
        """New cards for each selection and number of parts that somebody has."""
        pictures = self._renderer.known_pictures(tx, edition.digest)
        at = now.astimezone(self._renderer.one(edition.series).hours.zone)
        mark = Words(f"已更正 {at:%H:%M}", f"corrected {at:%H:%M}")
        found: dict[tuple[Selection, int], _Fresh] = {}
        for card in (one.card for one in self._outdated(tx, edition, now)):
            key = (card.selection, card.parts)
            if key in found:
                continue
            plain = tuple(self._renderer.bodies(edition, card.selection, pictures))
            more = len(plain) - card.parts
            own = Words(f"{mark.zh} · 后面新增 {more} 张", f"{mark.en} · {more} more below") if more > 0 else mark
            marked = [one.body for one in self._renderer.cards(edition, card.selection, pictures, own)]
            stubs = [self._renderer.stub(edition, mark)] * max(0, card.parts - len(marked))
            found[key] = _Fresh(plain, (*marked, *stubs))
        return found

    def _outdated(self, tx: Transaction, edition: Edition, now: datetime) -> list[Standing]:
        """What does not show the present revision."""
        found = corrections.standings(tx, edition, now - CAN_BE_CHANGED_FOR)
        return [one for one in found if one.card.revision < edition.revision]

    def _summary(self, tx: Transaction, edition: Edition, fresh: _Cards, now: datetime) -> Summary:
        outdated = self._outdated(tx, edition, now)
        counted: Counter[str] = Counter()
        misses: Counter[str] = Counter()
        for one in outdated:
            if _is_same(one.card, fresh):
                counted["unchanged"] += one.number
            elif one.status is Status.PENDING and not one.begun:
                counted["turned"] += one.number
            elif (why := _miss(one)) is not None:
                misses[why] += one.number
            elif one.status in {*OPEN, Status.SENT}:
                counted["changed"] += one.number
                new = fresh[one.card.selection, one.card.parts]
                if one.card.part == one.card.parts:
                    counted["followed"] += one.number * max(0, len(new.marked) - one.card.parts)
        first = min((one.card.revision for one in outdated), default=edition.revision)
        old = edition_states.revision(tx, edition.id, first)
        diff = difference(old, edition.digest) if old else None
        return _summed(edition, diff, counted, misses)

    def _carry_out(self, tx: Transaction, edition: Edition, fresh: _Cards, now: datetime, actor: str) -> Summary:
        if edition_states.locked(tx, edition).revision != edition.revision:
            raise UsageError(f"{edition.name} was changed meanwhile; look at it and correct it again")
        summary = self._summary(tx, edition, fresh, now)
        purpose = f"correct:{edition.id}:{now:%Y%m%d%H%M%S}"
        cards = {one.card.id: one.card for one in self._outdated(tx, edition, now)}
        for card in cards.values():
            if not _is_same(card, fresh):
                self._plan(tx, edition, card, fresh[card.selection, card.parts], purpose, now)
        if summary.changed or summary.turned:
            done = {"changed": summary.changed, "turned": summary.turned, "revision": edition.revision}
            audit.append(tx, now, actor, "correct", edition.name, after=done)
        if summary.followed and edition.state is State.PUBLISHED:
            edition_states.change(tx, edition, State.PUBLISHING, now)
        return summary

    def _plan(self, tx: Transaction, edition: Edition, card: Shown, new: _Fresh, purpose: str, now: datetime) -> None:
        since = now - CAN_BE_CHANGED_FOR
        ids = editions.save_cards(tx, edition, card.selection, new.plain, now)
        if card.part == card.parts and len(ids) > card.parts:
            corrections.follow(tx, edition, card.id, ids[card.parts :], corrections.waits(), now)
        corrections.turn(tx, edition, card.id, ids[card.part - 1] if card.part <= len(ids) else None)
        if card.rung not in {Rung.CARD, Rung.LIGHT} or not card.selection.calls_back:
            return
        # The parts that there were are in the key: who had two is told of a third, who had three is not.
        mark = f"c{now:%H%M%S}-{card.parts}-"
        marked = editions.save_cards(tx, edition, card.selection, new.marked, now, mark)
        target = marked[card.part - 1] if card.part <= len(marked) else marked[-1]
        if card.rung is Rung.LIGHT:
            target = self._light(tx, edition, target, new.marked[card.part - 1], card, now)
        if card.part == card.parts and len(marked) > card.parts:
            corrections.follow(tx, edition, card.id, marked[card.parts :], corrections.can_change(since), now)
        corrections.patch(tx, edition, purpose, card.id, target, since, now)

    def _light(self, tx: Transaction, edition: Edition, of: int, body: str, card: Shown, now: datetime) -> int:
        """Whoever got the simpler form of a card gets it so again: the other one may be refused again."""
        light = fallback(body, Rung.LIGHT)
        key = f"{editions.card_prefix(edition)}{edition.revision}:{card.selection.key}:l{of}#light"
        more = {"rung": Rung.LIGHT, "of_card": of, "sections": card.selection.sections}
        return editions.save_card(tx, key, light or body, now, part=card.part, parts=card.parts, **more)

    def _would_recall(self, tx: Transaction, name: tuple[str, str], now: datetime, actor: str) -> Summary:
        del actor
        edition = self._edition(tx, *name)
        counted: Counter[str] = Counter()
        misses: Counter[str] = Counter()
        for one in corrections.standings(tx, edition, now - CAN_BE_CHANGED_FOR):
            if one.status is Status.PENDING and not one.begun:
                counted["turned"] += one.number
            elif one.status is Status.UNKNOWN:
                misses[UNKNOWN] += one.number
            elif one.status in {*OPEN, Status.SENT} and one.kind is Kind.WEBHOOK:
                misses[HOOK] += one.number
            elif one.status in {*OPEN, Status.SENT}:
                counted["changed"] += one.number
        return _summed(edition, None, counted, misses)

    def _recall(self, tx: Transaction, name: tuple[str, str], now: datetime, actor: str) -> Summary:
        edition = edition_states.locked(tx, self._edition(tx, *name))
        summary = self._would_recall(tx, name, now, actor)
        corrections.take_back(tx, edition, f"recall:{edition.id}:{now:%Y%m%d%H%M%S}", now)
        edition_states.hold(tx, edition, now)
        audit.append(tx, now, actor, "recall", edition.name, after={"messages": summary.changed})
        return summary

    def _tell(self, tx: Transaction, purpose: str, now: datetime) -> None:
        kind, number, _ = purpose.split(":")
        edition = editions.by_id(tx, int(number))
        name = edition.name if edition else number
        verb = "更正" if kind == "correct" else "撤回"
        done, misses = changes.counts(tx, purpose).get(Status.SENT, 0), changes.misses(tx, purpose)
        lost = "；".join(f"{reason} {n} 个" for reason, n in misses.items())
        alert = Alert(
            f"{name} {verb}完成：{done:,} 条",
            f"没有{verb}成的：{lost}。" if lost else "",
            "没成的那些，读者看到的还是原来的内容。" if lost else "",
            f"digest-bot edition show {name}" if lost else "",
            urgent=False,
            done=not lost,
        )
        self._alerter.tell(tx, f"done:{purpose}", alert, now, hourly=False)


def _summed(
    edition: Edition, diff: Difference | None, counted: Mapping[str, int], misses: Mapping[str, int]
) -> Summary:
    return Summary(
        edition.name,
        edition.revision,
        diff,
        changed=counted.get("changed", 0),
        turned=counted.get("turned", 0),
        followed=counted.get("followed", 0),
        unchanged=counted.get("unchanged", 0),
        misses=misses,
    )


def _is_same(card: Shown, fresh: _Cards) -> bool:
    """Whether the part says what it said. The numbers of a changed set of parts stand on all of them."""
    new = fresh[card.selection, card.parts].plain
    return card.rung is Rung.CARD and card.part <= len(new) and new[card.part - 1] == card.body


def _miss(one: Standing) -> str | None:
    if one.status is Status.UNKNOWN:
        return UNKNOWN
    if one.status not in {*OPEN, Status.SENT}:
        return None
    if one.kind is Kind.WEBHOOK:
        return HOOK
    if one.lane is Lane.BATCH:
        return BATCH
    if one.card.rung not in {Rung.CARD, Rung.LIGHT}:
        return NO_CARD
    return TOO_OLD if one.is_old else None
