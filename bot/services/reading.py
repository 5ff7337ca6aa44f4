"""What readers look at: today's edition, past ones, what a search found. Nothing here changes a subscription."""

from collections.abc import Sequence
from datetime import datetime

from bot.cards.render import Card
from bot.cards.results_card import results_card
from bot.domain.audience import Receiver, SubscriptionStatus
from bot.domain.inbound import Answer
from bot.domain.series import Series
from bot.services.replies import Replies, today_of
from bot.services.searching import Found
from bot.store import editions, past, preferences
from bot.store.editions import Edition
from bot.store.engine import Transaction


class Reading:
    """Sends what somebody wants to read to where they asked for it."""

    def __init__(self, replies: Replies) -> None:
        self._replies = replies

    def today(self, tx: Transaction, receiver: Receiver, series: Sequence[Series], event: str, now: datetime) -> None:
        """Today's editions at once; where there is none yet, what came last."""
        found = [(one, edition) for one in series for edition in self._replies.todays(tx, one, now)]
        for one, edition in found:
            push = editions.push_id(tx, edition)
            if push is not None and past.is_on_its_way(tx, push, receiver):
                past.hasten(tx, push, receiver, now)
            else:
                self._replies.edition(tx, f"today:{event}:{one.id}:{edition.id}", receiver, edition, now)
        if not found:
            self._replies.say(tx, f"today:{event}", receiver, "今天的还没有出，先翻翻往期：", now)
            self._replies.post(tx, f"history:{event}", receiver, self._replies.history(tx, series[0], None, now), now)

    def show(
        self, tx: Transaction, person: Receiver, series: Series, slug: str, asked_in: str, now: datetime
    ) -> Answer:
        """One edition of the past, to whoever asks, once for each card in which they ask, and day."""
        edition = past.find(tx, series.id, slug)
        if edition is None:
            return Answer("这一期已经不在了，看看别的吧", "warning")
        key = f"shown:{edition.id}:{person.id}:{asked_in}:{today_of(series, None, now)}"
        is_new = self._replies.edition(tx, key, person, edition, now)
        return Answer("这一期发到你的私聊了", "success") if is_new else Answer("这一期刚才发过了，在私聊里往上翻翻")

    def results(self, found: Found, now: datetime) -> Card:
        """A page of what was found."""
        series = tuple(self._replies.series.values())
        return results_card(
            self._replies.templates,
            query=found.query,
            hits=found.hits,
            total=found.total,
            today=today_of(series[0], None, now),
            page=found.page,
            series=series,
        )

    def chosen(self, tx: Transaction, receiver: Receiver, named: Series | None) -> list[Series]:
        """The series that is meant: the named one, else what is subscribed to, else all."""
        if named is not None:
            return [named]
        own = preferences.present_of_all(tx, receiver)
        subscribed = [
            one
            for one in self._replies.series.values()
            if one.id in own and own[one.id].status is not SubscriptionStatus.UNSUBSCRIBED
        ]
        return subscribed or list(self._replies.series.values())

    def latest(self, tx: Transaction, series: Sequence[Series]) -> list[Edition]:
        """The newest edition of each series, out or not."""
        return [edition for one in series if (edition := editions.find(tx, one.id, "latest"))]
