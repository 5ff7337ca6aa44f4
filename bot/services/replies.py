"""What the bot writes back: cards with what is so now, and short texts, as rows of the outbox."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime, tzinfo

from bot.cards.history_card import ROWS, Issue, history_card
from bot.cards.notice_cards import help_card, welcome_card
from bot.cards.render import Card
from bot.cards.settings_card import settings_card
from bot.cards.templates import CardTemplates
from bot.domain.audience import Kind, Receiver, SubscriptionStatus
from bot.domain.next_time import next_time
from bot.domain.preference import Preference
from bot.domain.series import Series
from bot.services.links import PreferenceLinks
from bot.services.publish import Publisher
from bot.store import editions, groups, outbox, past, preferences, texts
from bot.store.editions import Edition
from bot.store.engine import Transaction
from bot.store.preferences import Present, zone_of

UNSUBSCRIBED = SubscriptionStatus.UNSUBSCRIBED


class Replies:
    """Cards as they are now, and the way to send them. A key that was used before sends nothing."""

    def __init__(
        self,
        templates: CardTemplates,
        series: Sequence[Series],
        publisher: Publisher,
        links: PreferenceLinks | None = None,
    ) -> None:
        self.templates = templates
        self.series: Mapping[str, Series] = {one.id: one for one in series}
        self._publisher = publisher
        self._links = links

    def post(self, tx: Transaction, key: str, receiver: Receiver, card: Card, now: datetime) -> bool:
        """Send a card. False if the key was promised before."""
        return outbox.enqueue(tx, key, receiver, editions.save_notice(tx, card.body, now), now)

    def say(self, tx: Transaction, key: str, receiver: Receiver, text: str, now: datetime) -> bool:
        """Send a line of text."""
        return outbox.enqueue(tx, key, receiver, texts.save(tx, text, now), now)

    def edition(self, tx: Transaction, key: str, receiver: Receiver, edition: Edition, now: datetime) -> bool:
        """Send an edition by wish, in the receiver's own selection; the whole where that leaves nothing of it."""
        present = preferences.present(tx, receiver, edition.series)
        own = (present.preference if present else Preference()).selection(receiver.kind)
        whole = Preference(density=own.density).selection(receiver.kind)
        cards = self._publisher.cards_of(tx, edition, own, now) or self._publisher.cards_of(tx, edition, whole, now)
        new = [outbox.enqueue(tx, f"{key}:{n}", receiver, card, now, part=n) for n, card in enumerate(cards, 1)]
        return any(new)

    def todays(self, tx: Transaction, series: Series, now: datetime) -> list[Edition]:
        """What went out today."""
        return self._publisher.latest_today(tx, series.id, now)

    def catch_up(self, tx: Transaction, receiver: Receiver, series: Series, now: datetime) -> None:
        """Who comes after today's push gets it at once, under the keys of that push: never a second copy."""
        present = preferences.present(tx, receiver, series.id)
        selection = (present.preference if present else Preference()).selection(receiver.kind)
        for edition in self.todays(tx, series, now):
            push = editions.push_id(tx, edition)
            if push is not None:
                ids = self._publisher.cards_of(tx, edition, selection, now)
                outbox.enqueue_push(tx, push, receiver, ids, now)

    def welcome(self, audience: Kind) -> Card:
        """What the bot is, with a button for each series."""
        series = tuple(self.series.values())
        name = series[0].name if len(series) == 1 else "日报机器人"
        return welcome_card(self.templates, series=series, bot_name=name, audience=audience)

    def help(self, *, admin: bool = False) -> Card:
        """What can be said."""
        return help_card(self.templates, series=tuple(self.series.values()), admin=admin)

    def settings(self, tx: Transaction, receiver: Receiver, series: Series, now: datetime) -> Card:
        """The status of a subscription with its form."""
        found = preferences.present(tx, receiver, series.id)
        present = found if found and found.status is not UNSUBSCRIBED else None
        preference = present.preference if present else None
        others = [one for one in self.series.values() if one.id != series.id]
        return settings_card(
            self.templates,
            series=series,
            audience=receiver.kind,
            preference=preference,
            sections=past.sections(tx, series.id),
            next_at=next_of(series, preference or Preference(), now),
            now=now,
            stopped=(present.stop_reason or "") if present else "",
            set_by=_set_by(tx, receiver, present),
            others=others,
            page_url=self._links.url(receiver, now) if self._links and receiver.kind is Kind.USER else None,
        )

    def history(self, tx: Transaction, series: Series, cursor: str | None, now: datetime) -> Card:
        """A page of what was published."""
        found, following = past.page(tx, series.id, ROWS, cursor)
        today = today_of(series, None, now)
        return history_card(
            self.templates, series=series, issues=issues_of(found), today=today, cursor=cursor, next_cursor=following
        )


def zone_for(series: Series, preference: Preference | None) -> tzinfo:
    """The subscriber's own zone, else that of the series."""
    return zone_of(preference.zone if preference else None) or series.hours.zone


def today_of(series: Series, preference: Preference | None, now: datetime) -> date:
    """The day on the subscriber's wall."""
    return now.astimezone(zone_for(series, preference)).date()


def next_of(series: Series, preference: Preference, now: datetime) -> datetime | None:
    """When the subscriber gets the next one."""
    return next_time(preference, zone_for(series, preference), series.hours, now)


def issues_of(found: Iterable[Edition]) -> list[Issue]:
    """Editions as the history shows them: with their own title, or that of their first story."""
    issues = []
    for edition in found:
        digest = edition.digest
        assert digest.day is not None
        titles = (item.title for item in digest.items if item.title)
        title = next(titles, "")
        issues.append(Issue(edition.slug, digest.day, len(digest.items), digest.day_end, digest.label or "", title))
    return issues


def _set_by(tx: Transaction, receiver: Receiver, present: Present | None) -> str:
    """Who set up a group, by name where we know it, else by what they are to the group."""
    if receiver.kind is not Kind.GROUP or present is None or present.set_by is None:
        return ""
    group = groups.find(tx, receiver.id)
    name = groups.name_of(tx, present.set_by)
    return name or ("请我进群的人" if group and group.added_by == present.set_by else "群主或管理员")
