"""What follows from the platform's answers: written in the transaction that settles the deliveries."""

import logging
import random
from collections.abc import Sequence
from datetime import datetime

from bot.cards.alert_card import Alert
from bot.cards.fallback import fallback
from bot.domain.delivery import Accepted, next_step
from bot.domain.errors import AppError, CardError, ReceiverError, SendError, TemporaryError
from bot.domain.ladder import Rung, below
from bot.services.alert import Alerter
from bot.store import claiming, forms, ledger, outbox, pace, pauses, subscribers
from bot.store.claiming import Claimed
from bot.store.engine import Transaction

log = logging.getLogger(__name__)

REFUSALS_BEFORE_STOP = 3
FORMS = {Rung.LIGHT: "精简卡片", Rung.POST: "图文消息", Rung.TEXT: "文字消息"}

Outcome = tuple[Claimed, Accepted | SendError | None]  # None: the request never left


class Outcomes:
    """Settles deliveries and draws the consequences."""

    def __init__(self, alerter: Alerter) -> None:
        self._alerter = alerter

    def write(self, tx: Transaction, ended: Sequence[Outcome], now: datetime) -> None:
        """Write what has ended, and what each outcome means beyond its own delivery."""
        simple = [
            (one, next_step(one.attempt, outcome, now, 0.0))
            for one, outcome in ended
            if not isinstance(outcome, SendError)
        ]
        lost = len(simple) - claiming.settle(tx, simple, now)
        for claimed, outcome in ended:
            if not isinstance(outcome, SendError):
                continue
            if isinstance(outcome, CardError) and self._fall_back(tx, claimed, outcome, now):
                continue
            step = next_step(claimed.attempt, outcome, now, random.random())
            if claiming.settle(tx, [(claimed, step)], now):
                self._react(tx, claimed, outcome, now)
            else:
                lost += 1
        if lost:
            log.warning("lease_lost", extra={"deliveries": lost})

    def _fall_back(self, tx: Transaction, claimed: Claimed, error: CardError, now: datetime) -> bool:
        """Send it in the next form. False if no form is left, or if the refused one may have arrived before."""
        if claimed.attempt.maybe_sent_at is not None:
            return False
        card = forms.designed(tx, claimed.card_id)
        for rung in below(claimed.rung, error.least):
            content = fallback(card, rung)
            if content is None:
                continue
            if forms.fall_back(tx, claimed, rung, content, error, now) and error.for_all:
                alert = Alert(
                    f"卡片被拒：{error.reason}（{error.code}）",
                    f"读者会收到{FORMS[rung]}，文字和链接都在，样子简单一些。",
                    "看一眼是哪一期、哪种内容；同一期不用重发。",
                    "digest-bot delivery list --limit 20",
                    urgent=False,
                )
                self._alerter.tell(tx, f"card_refused:{claimed.card_id}:{rung.label}", alert, now, hourly=False)
            return True
        return False

    def _react(self, tx: Transaction, claimed: Claimed, outcome: SendError, now: datetime) -> None:
        match outcome:
            case ReceiverError():
                subscribers.pause(tx, claimed.receiver, outcome.reason, now)
                outbox.cancel(tx, claimed.receiver, outcome.reason)
            case AppError():
                self._pause_queue(tx, outcome, now)
            case TemporaryError() if outcome.whole_app:
                pace.hold(tx, pace.APP, outcome.retry_after_s or 0.0, now)
            case CardError() if claimed.push_id is not None:
                self._stop_bad_push(tx, claimed, claimed.push_id, outcome, now)

    def _pause_queue(self, tx: Transaction, error: AppError, now: datetime) -> None:
        if not pauses.begin(tx, pauses.QUEUE, error.code, error.reason, now, error.until):
            return
        log.error("queue_paused", extra={"code": error.code, "reason": error.reason, "until": error.until})
        alert = Alert(
            f"推送已暂停：{error.reason}（{error.code}）",
            "所有待发的消息都留着，一条没丢；修好之前谁也收不到。",
            "到开发者后台改好，再重启，或在私聊里对我说「恢复推送」。",
            "digest-bot status",
        )
        self._alerter.tell(tx, f"queue:{error.code}", alert, now)

    def _stop_bad_push(self, tx: Transaction, claimed: Claimed, push: int, error: CardError, now: datetime) -> None:
        """Nothing is left to try. What nobody has got yet nobody will get; else a few identical answers are needed."""
        is_certain = error.for_all and not claimed.is_proven
        if not is_certain and ledger.failures(tx, push, error.code) < REFUSALS_BEFORE_STOP:
            return
        if not pauses.begin(tx, f"{pauses.PUSH}{push}", error.code, error.reason, now):
            return
        log.error("push_stopped", extra={"push": push, "code": error.code, "reason": error.reason})
        alert = Alert(
            f"这一期停下了：{error.reason}（{error.code}）",
            "只试了最少的几位，其余的都还没发，也没有丢。",
            "改好内容重新导入，再补发没有收到的人。",
            "digest-bot delivery list --status failed",
        )
        self._alerter.tell(tx, f"push:{push}", alert, now, hourly=False)
