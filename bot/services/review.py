"""Before an edition goes out: admins are shown what a careful editor would look at, and one of them decides."""

from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.cards import preflight_card as shown
from bot.cards.actions import Decision, Review
from bot.cards.preflight_card import Settled, preflight_card
from bot.cards.words import moment
from bot.domain.audience import Density, Kind, Receiver, Selection
from bot.domain.inbound import Answer
from bot.domain.rate import Rate
from bot.domain.schedule import NEWS_FOR, goes_at
from bot.ports import LinkAnswer
from bot.services.preflight import REPEATS_FOR, Concern, Preflight, addresses, examine
from bot.services.rendering import Renderer
from bot.store import audit, changes, edition_states, editions, outbox, quota, reviews
from bot.store.changes import ChangeKind
from bot.store.editions import Edition, State
from bot.store.engine import Store, Transaction
from bot.store.ledger import id_of
from bot.store.resends import PREVIEW
from bot.store.reviews import Asked

LATER = timedelta(minutes=30)
_CLOSED = {
    State.PUBLISHING: "这一期正在发，改不了决定了",
    State.PUBLISHED: "这一期已经发出去了",
    State.HELD: "这一期已经跳过；要发的话先放行：digest-bot edition release",
}

CheckLinks = Callable[[Iterable[str]], Awaitable[Mapping[str, LinkAnswer]]]


@dataclass(frozen=True, slots=True)
class Costs:
    """What is counted with: how fast the app may send, and how many calls a month may have, 0 for no cap."""

    rate: Rate
    monthly_calls: int


class Reviewer:
    """Asks about drafts of the reviewed series, and takes decisions."""

    def __init__(
        self,
        store: Store,
        renderer: Renderer,
        reviewed: Collection[str],
        admins: Collection[str],
        check_links: CheckLinks,
        costs: Costs,
    ) -> None:
        self._store = store
        self._renderer = renderer
        self._reviewed = reviewed
        self._admins = admins
        self._check_links = check_links
        self._costs = costs

    async def tick(self, now: datetime) -> bool:
        """Ask about what is new, remind, and show on the admins' cards what was decided.

        Returns whether something was decided: what is approved may go at once.
        """
        if not self._reviewed:
            return False
        for edition in await self._store.read(reviews.unasked, self._reviewed, (now - NEWS_FOR).date()):
            await self._ask(edition, now)
        for asked in await self._store.read(reviews.to_remind, now):
            await self._store.write(self._remind, asked, now)
        decided = await self._store.read(reviews.unshown)
        for asked in decided:
            await self._store.write(self._show, asked, now)
        return bool(decided)

    def decide(self, tx: Transaction, action: Review, admin: str, now: datetime) -> Answer:
        """A button of the card, in the transaction of the click. Whoever comes second is told what was decided."""
        series, _, slug = action.edition.partition("/")
        found = editions.find(tx, series, slug)
        if found is None:
            return Answer("这一期已经不在了", "warning")
        edition = edition_states.locked(tx, found)
        asked = reviews.of(tx, edition.id, action.revision)
        if asked is None or edition.revision != action.revision:
            return Answer("内容已经更新，请看最新的那张检查卡片", "warning")
        if action.decision is Decision.PREVIEW:
            return self._preview(tx, edition, admin, now)
        if edition.state in _CLOSED:
            return Answer(_CLOSED[edition.state], "warning")
        match action.decision:
            case Decision.LATER if asked.decision is None:
                reviews.later(tx, asked, now + LATER)
                return Answer("好，半小时后再提醒", "info")
            case Decision.LATER | Decision.APPROVE if asked.decision is not None:
                return Answer(f"{reviews.name_of(tx, asked.decided_by or '')}已经通过了", "info")
            case Decision.APPROVE:
                edition_states.change(tx, edition, State.READY, now)
            case Decision.SKIP:
                edition_states.hold(tx, edition, now)
        reviews.decide(tx, asked, action.decision, admin, now)
        audit.append(tx, now, admin, action.decision, edition.name, after={"revision": edition.revision})
        return self._told(edition, action.decision, now)

    def _told(self, edition: Edition, decision: Decision, now: datetime) -> Answer:
        if decision is Decision.SKIP:
            return Answer("好，今天不发", "success")
        goes = goes_at(self._renderer.one(edition.series).hours, edition.digest, now)
        if goes is None:
            return Answer(
                f"已通过，但过了时间，不会自动发；要发请用 digest-bot edition publish {edition.name}", "warning"
            )
        if goes == now:
            return Answer("已通过，马上发出", "success")
        at = moment(goes, now)
        return Answer(f"已通过，{at.zh} 准时发出", "success")

    def _preview(self, tx: Transaction, edition: Edition, admin: str, now: datetime) -> Answer:
        """The edition itself, to whoever pressed."""
        receiver = Receiver(Kind.USER, admin)
        key = f"{PREVIEW}{edition.id}:{edition.revision}:{admin}"
        ids = self._renderer.cards_of(tx, edition, Selection(), now)
        new = [outbox.enqueue(tx, f"{key}:{n}", receiver, card, now, part=n) for n, card in enumerate(ids, 1)]
        return Answer("发到你的私聊了", "success") if any(new) else Answer("已经发给你了，在私聊里往上翻翻", "info")

    async def _ask(self, number: int, now: datetime) -> None:
        edition = await self._store.read(editions.by_id, number)
        if edition is None:
            return
        answers = dict(await self._check_links(addresses(edition.digest)))
        await self._renderer.pictures_of(edition.digest, now)  # so that they are there when it goes out
        await self._store.write(self._begin, edition, answers, now)

    def _begin(self, tx: Transaction, edition: Edition, answers: dict[str, LinkAnswer], now: datetime) -> None:
        goes = goes_at(self._renderer.one(edition.series).hours, edition.digest, now)
        remind_at = None if goes == now else goes
        if reviews.begin(tx, edition.id, edition.revision, answers, remind_at):
            self._send(tx, Asked(edition.id, edition.revision, 1, answers, None, None, None), now)

    def _remind(self, tx: Transaction, asked: Asked, now: datetime) -> None:
        again = Asked(asked.edition, asked.revision, asked.round + 1, asked.answers, None, None, None)
        if reviews.ask_again(tx, asked):
            self._send(tx, again, now)

    def _send(self, tx: Transaction, asked: Asked, now: datetime) -> None:
        card = self._card(tx, asked, now)
        if card is not None:
            for admin in self._admins:
                outbox.enqueue(tx, _key(asked, asked.round, admin), Receiver(Kind.USER, admin), card, now)

    def _show(self, tx: Transaction, asked: Asked, now: datetime) -> None:
        """Every card that asked says now what was decided, by whom."""
        reviews.show(tx, asked, now)
        card = self._card(tx, asked, now)
        for round_ in range(1, asked.round + 1):
            for admin in self._admins:
                delivery = id_of(tx, _key(asked, round_, admin))
                if delivery is not None and card is not None:
                    key = f"{_key(asked, round_, admin)}:{asked.decision}"
                    changes.add(tx, key, f"review:{asked.edition}", ChangeKind.PATCH, delivery, card, now)

    def _card(self, tx: Transaction, asked: Asked, now: datetime) -> int | None:
        edition = editions.by_id(tx, asked.edition)
        if edition is None or edition.revision != asked.revision:
            return None
        settled = None
        if asked.decision and asked.decided_at:
            zone = self._renderer.one(edition.series).hours.zone
            who = reviews.name_of(tx, asked.decided_by or "")
            settled = Settled(Decision(asked.decision), who, asked.decided_at.astimezone(zone))
        card = preflight_card(self._renderer.templates, self._facts(tx, edition, asked, now), settled=settled)
        return editions.save_notice(tx, card.body, now)

    def _facts(self, tx: Transaction, edition: Edition, asked: Asked, now: datetime) -> shown.Preflight:
        pictures = self._renderer.known_pictures(tx, edition.digest)
        cards = {one: self._renderer.cards(edition, Selection(density=one), pictures) for one in Density}
        found = examine(
            edition.digest,
            cards,
            answers=asked.answers,
            earlier=edition_states.neighbours(tx, edition, REPEATS_FOR),
            receivers=reviews.densities(tx, edition.series),
            rate=self._costs.rate,
        )
        limit = self._costs.monthly_calls
        left = limit - quota.used(tx, now) if limit else None
        return self._shown(edition, found, left)

    def _shown(self, edition: Edition, found: Preflight, calls_left: int | None) -> shown.Preflight:
        digest = edition.digest
        assert digest.day is not None
        titles = [
            (one.name, (*one.titles, *[""] * (one.items - len(one.titles)))) for one in found.outline
        ]  # untold ones are counted
        return shown.Preflight(
            edition.name,
            edition.revision,
            self._renderer.one(edition.series),
            digest.day,
            digest.day_end,
            digest.label or "",
            digest.title or "",
            outline=tuple(shown.Outline(name, told) for name, told in titles),
            extents=tuple(shown.Extent(one.density, one.parts, one.bytes) for one in found.extents),
            dead_links=tuple(
                shown.DeadLink(one.title, one.url or "", one.detail) for one in found.of(Concern.DEAD_LINK)
            ),
            unclear_links=len(found.of(Concern.UNCLEAR_LINK)),
            textless=tuple(one.title for one in found.of(Concern.NO_TEXT)),
            holes=tuple(one.title for one in found.of(Concern.HOLE)),
            repeats=tuple(shown.Repeat(one.title, one.day) for one in found.of(Concern.REPEAT) if one.day),
            contacts=tuple(shown.Contact(one.detail, one.title) for one in found.of(Concern.PHONE, Concern.EMAIL)),
            receivers=found.receivers,
            calls=found.calls,
            calls_left=calls_left,
            estimate_s=found.estimate_s,
        )


def _key(asked: Asked, round_: int, admin: str) -> str:
    return f"review:{asked.edition}:{asked.revision}:{round_}:{admin}"
