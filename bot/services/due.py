"""What the hour asks for in a series, and whom to tell when it cannot be had."""

import hashlib
import logging
from collections.abc import Collection, Sequence
from datetime import datetime, timedelta

from bot.cards.alert_card import Alert
from bot.domain.errors import DigestError
from bot.domain.schedule import Due, Verdict, next_push, open_day, what_is_due, window
from bot.domain.series import Series
from bot.ports import DigestSource
from bot.services.alert import Alerter
from bot.store import alerts, editions
from bot.store.engine import Store

log = logging.getLogger(__name__)

GRACE = timedelta(minutes=10)  # an editor who is a little late needs no alert
LEAD = timedelta(hours=12)  # how long before its hour a digest that needs a review is looked for
SELDOM = timedelta(minutes=10)  # between two looks where nothing is missing: sources cost calls


class Watch:
    """Looks into sources at the right time. `reviewed`: series whose digests need time before their hour."""

    def __init__(self, store: Store, alerter: Alerter, reviewed: Collection[str] = ()) -> None:
        self._store = store
        self._alerter = alerter
        self._reviewed = reviewed
        self._looked: dict[str, datetime] = {}
        self._logged: set[str] = set()

    async def due(self, series: Series, source: DigestSource, now: datetime) -> Due[str] | None:
        """What the hour asks for, or the next one in a reviewed series; None if there is nothing to do or to tell.

        Its digests, with the hashes of their sources, are to be taken in; the admins are told by `tell`.
        """
        at = self._ahead(series, now) or now
        published = await self._store.read(editions.published, series.id)
        if not await self._is_worth_it(series, what_is_due(series.hours, at, (), published), at, now):
            return None
        found, errors = await source.load(now)
        await self._report(series, errors, now)
        due = what_is_due(series.hours, at, ((one.digest, one.source_hash) for one in found), published)
        if due.verdict is Verdict.PUBLISH or (at == now and not self._is_early(series, due, now)):
            return due
        return None

    async def tell(self, series: Series, due: Due[str], now: datetime) -> None:
        """Tell the admins what is late, empty or missed, once a day each."""
        if due.notice is not None:
            alert = _alert(series, due)
            await self._store.write(self._alerter.tell, _key(series, due.notice), alert, now, hourly=False)

    def is_open(self, series: Series, now: datetime) -> bool:
        """Whether an edition of the series may go out by itself at this moment."""
        return open_day(series.hours, now) is not None

    def _ahead(self, series: Series, now: datetime) -> datetime | None:
        """The next hour, if it is near enough for a review and no window is open."""
        if series.id not in self._reviewed or self.is_open(series, now):
            return None
        opens = next_push(series.hours, now)
        return opens if opens - now <= LEAD else None

    async def _is_worth_it(self, series: Series, bare: Due[str], at: datetime, now: datetime) -> bool:
        """Whether to look into the source, by what would be the case if it were empty."""
        if bare.verdict is Verdict.OVER:
            return not await self._store.read(alerts.is_told, _key(series, bare.notice))
        looked = self._looked.get(series.id)
        is_calm = bare.verdict is Verdict.WAIT or at != now
        if is_calm and looked is not None and timedelta() <= now - looked < SELDOM:
            return False
        if bare.verdict is Verdict.WAIT and not self.is_open(series, at):
            return False
        self._looked[series.id] = now
        return True

    def _is_early(self, series: Series, due: Due[str], now: datetime) -> bool:
        return due.verdict is Verdict.LATE and now < window(series.hours, due.day)[0] + GRACE

    async def _report(self, series: Series, errors: Sequence[DigestError], now: datetime) -> None:
        """Each fault once a process in the log, and once a day to the admins."""
        for error in errors:
            if str(error) not in self._logged:
                self._logged.add(str(error))
                log.error("digest_refused", extra={"series": series.id, "code": error.code, "reason": str(error)})
            place = hashlib.sha256(f"{error.path} {error.code}".encode()).hexdigest()[:16]
            key = f"source:{series.id}:{place}:{now.astimezone(series.hours.zone):%Y-%m-%d}"
            if not await self._store.read(alerts.is_told, key):
                await self._store.write(self._alerter.tell, key, _unreadable(series, error), now, hourly=False)


def _key(series: Series, notice: str | None) -> str:
    return f"due:{series.id}:{notice}"


def _alert(series: Series, due: Due[str]) -> Alert:
    day, until = f"{due.day.month}月{due.day.day}日", f"{series.hours.wait_until:%H:%M}"
    fetch = f"digest-bot digest import FILE --series {series.id}"
    publish = f"digest-bot edition publish {series.id}/latest"
    match due.verdict:
        case Verdict.LATE:
            return Alert(
                f"{series.name}：{day}的还没有来",
                f"{until} 之前来了会自动发，不用做什么。",
                "看一眼来源里有没有这一天的日报；标题或文件名里要有日期。",
                fetch,
            )
        case Verdict.EMPTY:
            return Alert(
                f"{series.name}：{day}的是空的",
                f"一条内容都没有读到，所以没有发；{until} 之前补上会自动发。",
                "打开来源看看；内容在的话，用 digest check 看它是怎么读的。",
                "digest-bot digest check FILE",
            )
        case _ if any(digest.items for digest, _ in due.digests):
            return Alert(
                f"{series.name}：{day}的没有发",
                f"日报在，但过了 {until}，不会再自动发；读者还没有收到。",
                "现在发也可以：确认内容后手动发送。",
                publish,
            )
        case _:
            still = "还是空的" if due.digests else "也没有来"
            return Alert(
                f"{series.name}：{day}没有日报",
                f"等到 {until} {still}，今天读者收不到。",
                "来了以后，导入再手动发送。",
                f"{fetch} && {publish}",
            )


def _unreadable(series: Series, error: DigestError) -> Alert:
    return Alert(
        f"{series.name}：来源里有读不出来的内容",
        f"读得出来的照常发。原因：{error.message}",
        "改好或删掉它；下次查看时会自动重读。",
        "digest-bot digest check FILE",
        urgent=False,
    )
