"""Which way private copies go: one by one, or many in one call. Where the operator lets them, the calls left decide."""

from datetime import datetime
from typing import Literal

from bot.cards.alert_card import Alert
from bot.domain.audience import Kind, Selection
from bot.domain.delivery import Lane
from bot.domain.quota import forecast, month_of
from bot.services.alert import Alerter
from bot.store import quota
from bot.store.engine import Transaction

Personal = Literal["single", "batch", "auto"]


class LanePolicy:
    """What `delivery.personal` says. `limit`: calls that a month may have, 0 for no cap."""

    def __init__(self, personal: Personal, limit: int, alerter: Alerter) -> None:
        self._personal = personal
        self._limit = limit
        self._alerter = alerter

    def private(self, tx: Transaction, messages: int, now: datetime) -> Lane:
        """The lane of so many private messages. `auto` takes the batch lane when the month's calls would not do."""
        if self._personal != "auto":
            return Lane(self._personal)
        used = quota.used(tx, now)
        enough = self._limit == 0 or max(forecast(used, now), used + messages) <= self._limit
        return Lane.SINGLE if enough else Lane.BATCH

    def tell(self, tx: Transaction, now: datetime) -> None:
        """Tell the admins, once a month, that the batch lane was taken to save calls."""
        if self._personal != "auto":
            return
        alert = Alert(
            "私聊改为批量发送",
            "读者照常收到；卡片上的按钮变成链接，发出后不能更正。",
            f"照现在的速度，本月调用会超过 {self._limit:,} 次；下个月自动改回来。",
            "digest-bot status",
            urgent=False,
        )
        self._alerter.tell(tx, f"personal_batch:{month_of(now)}", alert, now, hourly=False)


def shown(selection: Selection, lane: Lane) -> Selection:
    """What a selection's card may have on a lane: cards of a batch cannot call back."""
    if lane is Lane.SINGLE or selection.audience is not Kind.USER:
        return selection
    return Selection(selection.sections, selection.density, selection.audience, calls_back=False)
