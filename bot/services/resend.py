"""Sending an edition again: to whom it has missed, to everybody, or to one receiver. One way for all who ask."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from itertools import chain

from bot.cards.actions import Resend
from bot.domain.audience import Kind, Receiver, Selection
from bot.domain.commands import Order
from bot.domain.delivery import OPEN, Lane
from bot.domain.errors import UsageError
from bot.domain.inbound import Answer
from bot.domain.rate import Rate
from bot.domain.series import Series
from bot.services.lanes import LanePolicy, shown
from bot.services.publish import Push, told_again
from bot.services.rendering import Renderer
from bot.store import audit, edition_states, editions, ledger, outbox, resends
from bot.store.editions import Edition, State
from bot.store.engine import Store, Transaction
from bot.store.resends import Missed, Only, Wish

_DAY = re.compile(r"(?:(\d{4})[年/.-])?(\d{1,2})[月/.-](\d{1,2})[日号]?")
_WORDS = {
    "失败": (Only.FAILED,),
    "失败的": (Only.FAILED,),
    "未发": (Only.UNSENT,),
    "没发的": (Only.UNSENT,),
    "": (Only.FAILED, Only.UNSENT),
    "没收到": (Only.FAILED, Only.UNSENT),
    "没收到的": (Only.FAILED, Only.UNSENT),
}


@dataclass(frozen=True, slots=True)
class Again:
    """Whom a resend is for. `base`: the push that it follows, the latest one if none is named."""

    only: Only
    to: Receiver | None = None
    base: int | None = None


class _Undone(Exception):  # noqa: N818  nothing is wrong: it takes a dry run back
    """Carries what would have been done."""

    def __init__(self, push: Push) -> None:
        super().__init__()
        self.push = push


class Resender:
    """Plans further pushes of an edition, each in the transaction of whoever asks for it."""

    def __init__(self, renderer: Renderer, rate: Rate, lanes: LanePolicy) -> None:
        self._renderer = renderer
        self._rate = rate
        self._lanes = lanes

    def would_resend(self, store: Store, name: tuple[str, str], wanted: Again, now: datetime) -> Push:
        """What `resend` would do: it is done and taken back."""
        try:
            store.write_now(self._undone, name, wanted, now)
        except _Undone as undone:
            return undone.push
        raise AssertionError("it is always taken back")

    def resend(self, tx: Transaction, name: tuple[str, str], wanted: Again, now: datetime, actor: str) -> Push:
        """Plan a push of the present revision. The same wish after the same push is one push, however often it comes.

        Raises: UsageError if the edition never went out, is held, or the receiver has left.
        """
        edition = self._edition(tx, *name)
        ours = editions.push_ids(tx, edition)
        if not ours:
            raise UsageError(f"{edition.name} has not been published; use `digest-bot edition publish`")
        base = wanted.base if wanted.base in ours else ours[-1]
        key = f"resend:{edition.id}:{base}:{wanted.only}" + (f":{wanted.to.kind}:{wanted.to.id}" if wanted.to else "")
        if (push := editions.push_id(tx, edition, key)) is not None:
            return told_again(tx, edition, push, {}, self._rate)
        resends.stand_still(tx)
        if wanted.only in {Only.UNSENT, Only.ALL}:
            resends.give_up_stopped(tx, edition)
        wish = Wish(wanted.only, wanted.to, self._renderer.is_rest(edition, now))
        missed = resends.missed(tx, edition, wish)
        if wanted.to and not missed.sizes and not missed.skipped:
            return self._to_a_stranger(tx, edition, wanted.to, key, now, actor)
        if wanted.to and missed.skipped.get(resends.UNSUBSCRIBED):
            raise UsageError("they have left the series; only they themselves can come back")
        return self._push(tx, edition, wish, missed, key, now, actor)

    def pressed(self, tx: Transaction, action: Resend, admin: str, now: datetime) -> Answer:
        """The button of a receipt. Pressed often, or by many, it is one push."""
        series, _, slug = action.edition.partition("/")
        again = Again(Only(action.only.value), base=action.push)
        try:
            push = self.resend(tx, (series, slug), again, now, admin)
        except UsageError:
            return Answer("这一期现在不能补发：可能被扣住了，或者还没有发过", "warning")
        if push.id is None:
            return Answer("没有要补发的人了", "info")
        if not any(ledger.counts(tx, push.id).get(status) for status in OPEN):
            return Answer(f"已经补发给 {push.receivers:,} 个了，结果看那次的回执", "info")
        return Answer(f"正在补发给 {push.receivers:,} 个，发完有回执", "success")

    def asked(self, tx: Transaction, order: Order, admin: str, now: datetime) -> str:
        """「补发 3月8日 失败」 in a chat; without a word behind the day, all who have not got it."""
        if order.series is None:
            return "要补发哪个日报？像这样说：补发 日报名 3月8日"
        found = _understood(order.rest, now.astimezone(order.series.hours.zone).date())
        if found is None:
            return "没有看懂。像这样说：补发 3月8日，或 补发 3月8日 失败；全部重发请用命令行。"
        day, wishes = found
        out = self._published(tx, order.series, day)
        if not out:
            return f"{day.month}月{day.day}日没有发过的日报。"
        return "\n".join(self._answer(tx, edition, wishes, admin, now) for edition in out)

    def _answer(self, tx: Transaction, edition: Edition, wishes: Sequence[Only], admin: str, now: datetime) -> str:
        pushes = [self.resend(tx, (edition.series, edition.slug), Again(one), now, admin) for one in wishes]
        people = sum(push.receivers for push in pushes if push.id is not None)
        return f"{edition.slug}：" + (f"正在补发给 {people:,} 个，发完有回执。" if people else "没有要补发的人。")

    def _published(self, tx: Transaction, series: Series, day: date) -> list[Edition]:
        return [one for one in editions.of_day(tx, series.id, day) if editions.push_ids(tx, one) and _may_go(one)]

    def _edition(self, tx: Transaction, series: str, slug: str) -> Edition:
        self._renderer.one(series)
        edition = editions.find(tx, series, slug)
        if edition is None:
            raise UsageError(f"there is no edition {series}/{slug}; see `digest-bot edition list`")
        edition = edition_states.locked(tx, edition)
        if not _may_go(edition):
            raise UsageError(f"{edition.name} is held; release it before sending it again")
        return edition

    def _push(
        self,
        tx: Transaction,
        edition: Edition,
        wish: Wish,
        missed: Missed,
        key: str,
        now: datetime,
        actor: str,
    ) -> Push:
        private = sum(n for one, n in missed.sizes.items() if one.audience is Kind.USER)
        lane = self._lanes.private(tx, private, now) if private else Lane.SINGLE
        ids = {one: self._renderer.cards_of(tx, edition, shown(one, lane), now) for one in missed.sizes}
        skipped = dict(missed.skipped)
        if empty := sum(n for one, n in missed.sizes.items() if not ids[one]):
            skipped["no_items_in_sections"] = empty
        people = sum(n for one, n in missed.sizes.items() if ids[one])
        parts = sum(n * len(ids[one]) for one, n in missed.sizes.items())
        push = None
        if people:
            push = self._begin(tx, edition, key, wish, people, now, actor)
            for selection, cards in ids.items():
                own = Lane.SINGLE if shown(selection, lane).calls_back else Lane.BATCH
                resends.plan(tx, edition, push, wish, selection, cards, now, own)
        return Push(edition.name, push, people, parts, skipped, self._rate.seconds_for(parts))

    def _to_a_stranger(
        self, tx: Transaction, edition: Edition, to: Receiver, key: str, now: datetime, actor: str
    ) -> Push:
        """Who never subscribed but is named: an admin who wants to see it, say."""
        ids = self._renderer.cards_of(tx, edition, Selection(audience=to.kind), now)
        push = self._begin(tx, edition, key, Wish(Only.TO_ONE, to), 1, now, actor)
        outbox.enqueue_push(tx, push, to, ids, now)
        return Push(edition.name, push, 1, len(ids), {}, self._rate.seconds_for(len(ids)))

    def _undone(self, tx: Transaction, name: tuple[str, str], wanted: Again, now: datetime) -> None:
        raise _Undone(replace(self.resend(tx, name, wanted, now, ""), id=None))

    def _begin(
        self, tx: Transaction, edition: Edition, key: str, wish: Wish, people: int, now: datetime, actor: str
    ) -> int:
        push = editions.start_push(tx, edition, now, key)
        editions.mark_publishing(tx, edition, now)
        audit.append(tx, now, actor, "resend", edition.name, after={"only": wish.only, "receivers": people})
        return push


def _may_go(edition: Edition) -> bool:
    return edition.state is not State.HELD


def _understood(rest: str, today: date) -> tuple[date, Sequence[Only]] | None:
    """The day and the wish in the words behind 「补发」; a day without a year is the nearest one behind us."""
    for word, back in (("今天", 0), ("昨天", 1), ("今日", 0), ("昨日", 1)):
        if rest.startswith(word):
            return _wish(today - timedelta(days=back), rest.removeprefix(word))
    found = _DAY.match(rest)
    if found is None:
        return _wish(today, rest)
    years = [int(found[1])] if found[1] else [today.year, today.year - 1]
    days = chain.from_iterable(_day(year, int(found[2]), int(found[3])) for year in years)
    day = next((one for one in days if found[1] or one <= today), None)
    return _wish(day, rest[found.end() :]) if day else None


def _wish(day: date, word: str) -> tuple[date, Sequence[Only]] | None:
    wishes = _WORDS.get(word.strip())
    return (day, wishes) if wishes else None


def _day(year: int, month: int, day: int) -> Sequence[date]:
    try:
        return [date(year, month, day)]
    except ValueError:
        return []
