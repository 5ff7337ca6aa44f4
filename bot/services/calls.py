"""Counting the month's calls, and telling people before none is left."""

from collections.abc import Callable, Mapping
from datetime import datetime

from bot.cards.alert_card import Alert
from bot.domain.quota import forecast, level, month_of, next_month
from bot.services.alert import Alerter
from bot.store import quota
from bot.store.engine import Transaction


class CallCounter:
    """Writes down the calls that a process has made. `taken` gives those since it was last asked."""

    def __init__(self, taken: Callable[[], Mapping[str, int]], limit: int, alerter: Alerter) -> None:
        """`limit`: calls that a month may have; 0: no cap."""
        self._taken = taken
        self._limit = limit
        self._alerter = alerter

    def write(self, tx: Transaction, now: datetime) -> None:
        """Add what was made since the last time; at 80, 90 and 100 percent of the month's calls admins are told."""
        made = self._taken()
        if not made:
            return
        used = quota.add(tx, made, now)
        reached = level(used, self._limit)
        if reached:
            alert = Alert(
                f"本月调用次数已用 {reached}%",
                f"已用 {used:,} 次，上限 {self._limit:,} 次；照现在的速度，月底是 {forecast(used, now):,} 次。",
                f"用完后要等到 {next_month(now):%-m月%-d日} 才能再发；可以改成批量发送，或升级飞书版本。",
                'digest-bot config show   # delivery.personal = "auto"',
                urgent=reached == 100,
            )
            self._alerter.tell(tx, f"quota:{month_of(now)}:{reached}", alert, now, hourly=False)
