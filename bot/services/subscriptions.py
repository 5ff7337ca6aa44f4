"""What an operator does with subscriptions that are there: hand them out, pause, resume, remove."""

from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any

from bot.domain.audience import Kind, Receiver, SubscriptionStatus
from bot.domain.errors import UsageError
from bot.domain.webhooks import checked_address, shown
from bot.services.roster import write_row
from bot.store import audit, outbox, standing, subscribers, webhooks
from bot.store.engine import Store, Transaction
from bot.store.standing import Standing
from bot.store.subscribers import Subscription

EXPORT_PAGE = 2_000

Change = Callable[[Transaction, Standing, datetime], bool]


def export(store: Store, series: str | None) -> Iterator[tuple[Subscription, dict[str, str]]]:
    """Every subscription that has not ended, with its cells by column. It holds addresses and secrets of webhooks."""
    after = 0
    while rows := store.read_now(_export_page, series, after):
        after = rows[-1][0].id
        yield from (row for row in rows if row[0].status is not SubscriptionStatus.UNSUBSCRIBED)


def count(store: Store, series: str | None) -> int:
    """How many subscriptions there are, ended ones too."""
    return sum(store.read_now(subscribers.counts, series).values())


def find(store: Store, text: str, base_url: str) -> Receiver:
    """The receiver that an operator means: an id, or a webhook's address or what a list shows of it.

    Raises UsageError for a webhook that is not there, or not told from another.
    """
    for kind, prefix in ((Kind.USER, "ou_"), (Kind.GROUP, "oc_")):
        if text.startswith(prefix):
            return Receiver(kind, text)
    if text.startswith(("http://", "https://")):
        try:
            return Receiver(Kind.WEBHOOK, checked_address(text, base_url))
        except ValueError as exc:
            raise UsageError(f"this {exc}") from None
    same = [one for one in store.read_now(webhooks.receivers) if shown(one) == text]
    if not same:
        raise UsageError(f"there is no subscriber {text[:80]!r}; see `digest-bot subscriber list`")
    if len(same) > 1:
        raise UsageError(f"{len(same)} webhooks are shown as {text}; name the whole address")
    return same[0]


def pause(store: Store, receiver: Receiver, series: str | None, now: datetime, actor: str) -> dict[str, Any]:
    """Pause a receiver until an operator resumes it; what waits for it is cancelled. Raises UsageError if unknown."""
    return store.write_now(_change, "pause", standing.pause, receiver, series, now, actor, subscribers.BY_ADMIN)


def resume(store: Store, receiver: Receiver, series: str | None, now: datetime, actor: str) -> dict[str, Any]:
    """Lift any pause, and take back a removal. Raises UsageError for somebody who has left by themselves."""
    return store.write_now(_change, "resume", standing.resume, receiver, series, now, actor)


def remove(store: Store, receiver: Receiver, series: str | None, now: datetime, actor: str) -> dict[str, Any]:
    """End the subscriptions of a receiver; what waits for it is cancelled. Raises UsageError if unknown."""
    return store.write_now(_change, "remove", standing.remove, receiver, series, now, actor, standing.REMOVED)


def _export_page(tx: Transaction, series: str | None, after: int) -> list[tuple[Subscription, dict[str, str]]]:
    rows = subscribers.page(tx, series, EXPORT_PAGE, after)
    secrets = webhooks.secrets(tx, {row.receiver.id for row in rows if row.receiver.kind is Kind.WEBHOOK})
    return [(row, write_row(row, secrets.get(row.receiver.id, ""))) for row in rows]


def _change(
    tx: Transaction,
    action: str,
    change: Change,
    receiver: Receiver,
    series: str | None,
    now: datetime,
    actor: str,
    cancelled_as: str | None = None,
) -> dict[str, Any]:
    name, found = shown(receiver), standing.of(tx, receiver, series)
    if not found:
        raise UsageError(f"{name} has no subscription{f' to {series}' if series else ''}; see `subscriber list`")
    changed = [one for one in found if change(tx, one, now)]
    if not changed and action != "remove" and all(one.status is SubscriptionStatus.UNSUBSCRIBED for one in found):
        raise UsageError(f"{name} has unsubscribed; only they can come back, by subscribing again")
    for one in changed:
        if cancelled_as:
            outbox.cancel(tx, receiver, cancelled_as, series=one.series)
        target = f"{one.series}:{receiver.kind}:{name}"
        audit.append(tx, now, actor, action, target, before={"status": one.status, "reason": one.reason})
    return {"id": name, "changed": [one.series for one in changed]}
