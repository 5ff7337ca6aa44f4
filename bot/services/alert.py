"""Telling admins that something needs a human: once for each cause and hour, with the cure and the command."""

import logging
from collections.abc import Sequence
from datetime import datetime, tzinfo

from bot.cards.alert_card import Alert, alert_card
from bot.cards.templates import CardTemplates
from bot.domain.audience import Kind, Receiver
from bot.store import alerts, editions, outbox
from bot.store.engine import Transaction

log = logging.getLogger(__name__)


class Alerter:
    """Writes an alert card for every admin into the outbox, in the transaction in which the cause is noticed."""

    def __init__(self, templates: CardTemplates, admins: Sequence[str], zone: tzinfo) -> None:
        """`zone`: in which admins read the clock."""
        self._templates = templates
        self._admins = tuple(Receiver(Kind.USER, one) for one in admins)
        self._zone = zone

    def tell(self, tx: Transaction, key: str, alert: Alert, now: datetime, *, hourly: bool = True) -> bool:
        """Tell, and say whether it is news. `key` names the cause; without `hourly` it is told once and for all."""
        once = f"{key}:{now:%Y-%m-%dT%H}" if hourly else key
        if not alerts.begin(tx, once, now):
            return False
        log.log(logging.INFO if alert.done else logging.ERROR, "alert", extra={"key": key, "cause": alert.cause})
        card = alert_card(self._templates, alert, at=now.astimezone(self._zone))
        card_id = editions.save_notice(tx, card.body, now)
        for admin in self._admins:
            outbox.enqueue(tx, f"alert:{once}:{admin.id}", admin, card_id, now)
        return True
