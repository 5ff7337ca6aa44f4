"""Receipts: a card for the admins while an edition goes out, and what became of it; kept true by changing that card."""

import hashlib
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from bot.cards.receipt_card import Failure, Receipt, Share, receipt_card
from bot.domain.audience import Density, Receiver
from bot.domain.audience import Kind as Audience
from bot.domain.delivery import Status
from bot.domain.errors import SendError
from bot.domain.ladder import Rung
from bot.services.outcomes import FORMS
from bot.services.rendering import Renderer
from bot.store import batches, changes, editions, ledger, outbox, receipts, resends
from bot.store.changes import ChangeKind
from bot.store.editions import Edition
from bot.store.engine import Store, Transaction
from bot.store.receipts import Group, Watched
from bot.store.resends import Only, Wish

SHORT = timedelta(seconds=10)  # a push that ends sooner has no progress; and no card changes more often
BUSY, SELDOM, EACH = timedelta(hours=1), timedelta(seconds=50), timedelta(milliseconds=0.5)
READ_AFTER = timedelta(hours=20)  # the next morning
READ_CALLS = 300  # a larger push is not asked about: it would cost as much as to send it
PARTLY = "只收到了一部分"


@dataclass(frozen=True, slots=True)
class ReadAsk:
    """How to learn how many people have read a message, or a whole batch. `is_free`: calls are not capped."""

    message: Callable[[str], Awaitable[int]]
    batch: Callable[[str], Awaitable[int]]
    is_free: bool


@dataclass(frozen=True, slots=True)
class _Counted:
    """A receipt of so many people, and whether nothing of the push is left to come."""

    receipt: Receipt
    people: int
    is_final: bool


class Receipts:
    """Tells the admins of every push. `cures`: what can be done about an error code, in plain Chinese."""

    def __init__(
        self,
        store: Store,
        renderer: Renderer,
        admins: Collection[str],
        cures: Mapping[int, str],
        read: ReadAsk,
    ) -> None:
        self._store = store
        self._renderer = renderer
        self._admins = admins
        self._cures = cures
        self._read = read
        self._counted: dict[int, tuple[datetime, int]] = {}

    async def tick(self, now: datetime) -> None:
        """Send the receipts that are due, and change those whose figures have changed."""
        for push in await self._store.read(receipts.watched, now):
            if not self._is_time(push, now):
                continue
            if push.is_resend:
                await self._store.write(resends.resume_reached, push.id, now)
            counted = await self._store.read(self._receipt, push, now)
            if counted is None:
                continue
            self._counted[push.id] = now, counted.people
            if _is_due(push, counted.receipt, now):
                await self._store.write(self._show, push, counted, now)
            elif counted.is_final and push.shown == _hash(counted.receipt):
                await self._store.write(receipts.close, push.id)

    async def ask_who_read(self, now: datetime) -> None:
        """Once for each push, the next morning; not for large ones, and not where calls are capped."""
        for push in await self._store.read(receipts.unread, now, now - READ_AFTER) if self._read.is_free else ():
            copies = await self._store.read(receipts.private_copies, push.id, READ_CALLS)
            if copies is None or not any(copies):
                continue
            try:
                read = sum([await self._read.message(one) for one in copies[0]])
                read += sum([await self._read.batch(one) for one in copies[1]])
            except SendError:
                return  # it is no promise: another time, or not at all
            await self._store.write(receipts.note_read, push.id, read)

    def _is_time(self, push: Watched, now: datetime) -> bool:
        """Counting costs: often at first, seldom while only a few wait for their own hour."""
        last, people = self._counted.get(push.id, (None, 0))
        every = min(SELDOM, max(SHORT / 2, EACH * people)) if now - push.created_at < BUSY else SELDOM
        return last is None or not timedelta() <= now - last < every

    def _receipt(self, tx: Transaction, push: Watched, now: datetime) -> _Counted | None:
        edition = editions.by_id(tx, push.edition)
        if edition is None or edition.series not in self._renderer.series:
            return None
        groups = list(receipts.groups(tx, push, now))
        is_open = any(one.status is Status.PENDING for one in groups)
        until = now if is_open else receipts.ended_at(tx, push.id) or push.created_at
        receipt = replace(
            self._figures(edition, push, groups),
            unsent=0 if is_open else self._unsent(tx, edition, now),
            reached=batches.reach(tx, push.id),
            duration_s=max(0.0, round((until - push.created_at).total_seconds())),
        )
        is_final = not is_open and all(one.status is not None for one in groups)
        return _Counted(receipt, sum(one.receivers for one in groups), is_final)

    def _unsent(self, tx: Transaction, edition: Edition, now: datetime) -> int:
        wish = Wish(Only.UNSENT, resting=self._renderer.is_rest(edition, now))
        return sum(resends.missed(tx, edition, wish).sizes.values())

    def _figures(self, edition: Edition, push: Watched, groups: Iterable[Group]) -> Receipt:
        digest = edition.digest
        assert digest.day is not None
        shares: Counter[tuple[Audience, Density]] = Counter()
        lost: Counter[tuple[str, str, bool]] = Counter()
        forms: Counter[Rung] = Counter()
        states: Counter[Status | None] = Counter()
        for one in groups:
            states[one.status] += one.receivers
            if one.status is Status.FAILED:
                lost[*self._cause(one), one.is_partial] += one.receivers
            elif one.status is Status.SENT:
                shares[one.kind, one.density or Density.STANDARD] += one.receivers
                forms[one.rung] += one.receivers
        return Receipt(
            edition.name,
            push.id,
            self._renderer.one(edition.series),
            digest.day,
            digest.day_end,
            digest.label or "",
            shares=tuple(Share(kind, density, n) for (kind, density), n in sorted(shares.items())),
            failures=tuple(Failure(cause, n, cure, partly) for (cause, cure, partly), n in sorted(lost.items())),
            open=states[Status.PENDING],
            unknown=states[Status.UNKNOWN],
            fallbacks=tuple((FORMS[rung], forms[rung]) for rung in FORMS if forms[rung]),
            read=push.read,
        )

    def _cause(self, group: Group) -> tuple[str, str]:
        """A failure in plain words, and its cure. Whoever has a part of it cannot get a whole copy besides."""
        cause = group.reason or "原因不明"
        if group.is_partial:
            return f"{PARTLY}：{cause}", "补其余部分：digest-bot delivery retry"
        return cause, self._cures.get(group.code or 0, "")

    def _show(self, tx: Transaction, push: Watched, counted: _Counted, now: datetime) -> None:
        """The first time a message, afterwards a change of it. It goes before the push that it is about."""
        if not receipts.show(tx, push, _hash(counted.receipt), now, is_final=counted.is_final):
            return
        card = editions.save_notice(tx, receipt_card(self._renderer.templates, counted.receipt).body, now)
        for admin in self._admins:
            key = f"receipt:{push.id}:{admin}"
            if push.shown is None:
                outbox.enqueue(tx, key, Receiver(Audience.USER, admin), card, push.created_at - SHORT)
            elif (delivery := ledger.id_of(tx, key)) is not None:
                purpose = f"receipt:{push.id}"
                changes.add(tx, f"{key}:{push.number}", purpose, ChangeKind.PATCH, delivery, card, now)


def _is_due(push: Watched, receipt: Receipt, now: datetime) -> bool:
    if push.shown is None:
        return not receipt.open or now - push.created_at >= SHORT
    return push.shown != _hash(receipt) and push.shown_at is not None and now - push.shown_at >= SHORT


def _hash(receipt: Receipt) -> str:
    """Of the figures; time that passes alone is no news."""
    figures = (receipt.shares, receipt.failures, receipt.open, receipt.unknown, receipt.unsent, receipt.fallbacks)
    return hashlib.sha256(repr((figures, receipt.read, receipt.reached)).encode()).hexdigest()
