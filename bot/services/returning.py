"""Pauses that end by themselves: on their day people are back, with one card of what they missed."""

import logging
from datetime import datetime

from bot.cards.history_card import ROWS, history_card
from bot.cards.pause_card import resumed_card
from bot.cards.render import Card
from bot.domain.series import Series
from bot.services.replies import Replies, issues_of, next_of, today_of
from bot.store import audit, past, preferences
from bot.store.engine import Store, Transaction
from bot.store.preferences import Returned

log = logging.getLogger(__name__)


async def end_pauses(store: Store, replies: Replies, now: datetime) -> int:
    """Let those come back whose day it is: to be run before every push, and every few minutes. Returns how many."""
    back = await store.write(_end, replies, now)
    if back:
        log.info("pauses_ended", extra={"subscriptions": back})
    return back


def _end(tx: Transaction, replies: Replies, now: datetime) -> int:
    zones = {one.id: one.hours.zone for one in replies.series.values()}
    back = preferences.end_pauses(tx, zones, now)
    for one in back:
        series = replies.series[one.series]
        target = f"{one.series}:{one.receiver.kind}:{one.receiver.id}"
        audit.append(tx, now, "scheduler", "active", target, before="paused", after="active")
        key = f"back:{one.id}:{one.preference.paused_until}"
        replies.post(tx, key, one.receiver, _card(tx, replies, series, one, now), now)
    return len(back)


def _card(tx: Transaction, replies: Replies, series: Series, back: Returned, now: datetime) -> Card:
    """What was missed, latest first; where that is nothing, when the next one comes."""
    missed = past.since(tx, series.id, back.paused_at, ROWS)
    if missed:
        today = today_of(series, back.preference, now)
        return history_card(replies.templates, series=series, issues=issues_of(missed), today=today)
    next_at = next_of(series, back.preference, now)
    return resumed_card(replies.templates, series=series, audience=back.receiver.kind, next_at=next_at, now=now)
