"""Custom bots on the preferences page: groups where the app cannot go, each by an address that somebody holds.

An address writes to its group for whoever knows it. So one that is in use belongs to one person, who alone sees and
stops it, and whoever else names it is told no more than that it was not added.
"""

from dataclasses import dataclass
from datetime import datetime

from bot.cards.actions import SetSubscription
from bot.domain.audience import Kind, Receiver, SubscriptionStatus
from bot.domain.errors import ActionError
from bot.domain.series import Series
from bot.domain.webhooks import platform_address, platform_prefix, shown
from bot.services.replies import Replies
from bot.services.subscribing import Actor, Subscribing
from bot.services.talking import is_too_fast
from bot.store import audit, preferences, subscribers, webhooks
from bot.store.engine import Transaction
from bot.store.preferences import Present

ACTIVE, _, UNSUBSCRIBED = SubscriptionStatus
MOST = 5
LONGEST_SECRET = 128  # the platform's own are far shorter
# What adding has done, in a word.
ADDED, BACK, THERE, SECRET = "hook-add", "hook-back", "hook-there", "hook-secret"
# Says neither that somebody has it nor who: an operator's, a colleague's and a paused one all get these words.
NOT_ADDED = "没能添加这个地址，请从群设置里重新复制一次；还是不行，请找管理员"
TOO_MANY = f"最多添加 {MOST} 个，先停止一个再添加"
TOO_FAST = "点得有点快，歇一会儿再试"
WRONG_KEY = "密钥不对，请重新复制「签名校验」里的那一串；没有开签名校验就空着"


@dataclass(frozen=True, slots=True)
class HookView:
    """One webhook and one series. `name`: what may be shown of the address; `stopped`: why nothing comes, or ""."""

    id: int
    series: Series
    name: str
    stopped: str


class PreferenceHooks:
    """What the page shows and changes of them, inside the page's transaction."""

    def __init__(self, replies: Replies, subscribing: Subscribing, base_url: str) -> None:
        self._replies = replies
        self._subscribing = subscribing
        self._base_url = base_url
        self.prefix = platform_prefix(base_url)

    def views(self, tx: Transaction, person: Receiver) -> tuple[HookView, ...]:
        """A person's own."""
        series = self._replies.series
        return tuple(
            HookView(one.id, series[one.series], shown(one.receiver), one.reason or "")
            for one in webhooks.added_by(tx, person.id)
            if one.status is not UNSUBSCRIBED and one.series in series
        )

    def add(self, tx: Transaction, person: Receiver, series: Series, address: str, secret: str, now: datetime) -> str:
        """Add an address, with its secret or ""; of one's own a secret that is given replaces the old one.

        Returns what was done in a word. Raises ActionError with a line for the person.
        """
        hook, secret = self._checked(address, secret)
        # Whoever adds for the same person or the same address waits until this transaction ends, and sees it then.
        for one in (person, hook):
            subscribers.ensure(tx, one, now)
        if is_too_fast(tx, person.id, now):
            raise ActionError(TOO_FAST)
        there = preferences.present_of_all(tx, hook)
        in_use = [one for one in there.values() if one.status is not UNSUBSCRIBED]
        if any(one.set_by != person.id for one in in_use):
            raise ActionError(NOT_ADDED)
        self._subscribe(tx, person, hook, series, now)
        done = _done(there.get(series.id))
        kept = webhooks.secret_of(tx, hook.id)
        wanted = secret or (kept if in_use else None)  # an address that is free again brings no secret along
        if wanted != kept:
            webhooks.put_secret(tx, hook.id, wanted)
            audit.append(tx, now, person.id, "secret", f"{series.id}:{hook.kind}:{shown(hook)}")
            done = SECRET if done == THERE else done
        return done

    def stop(self, tx: Transaction, person: Receiver, series: Series, number: str, now: datetime) -> bool:
        """End one, and cancel what waits for it. False if a person has none of that number for that series."""
        subscribers.ensure(tx, person, now)
        found = [one for one in webhooks.added_by(tx, person.id) if (one.series, str(one.id)) == (series.id, number)]
        for one in found:
            if one.status is not UNSUBSCRIBED:
                wish = SetSubscription(series.id, on=False)
                self._subscribing.apply(tx, wish, one.receiver, series, Actor(person.id, now))
        return bool(found)

    def _subscribe(self, tx: Transaction, person: Receiver, hook: Receiver, series: Series, now: datetime) -> None:
        """As everybody else is subscribed; what went out today follows."""
        wish = SetSubscription(series.id, on=True)
        outcome = self._subscribing.apply(tx, wish, hook, series, Actor(person.id, now))
        if len(self.views(tx, person)) > MOST:
            raise ActionError(TOO_MANY)
        if outcome.is_back:
            self._replies.catch_up(tx, hook, series, now)

    def _checked(self, address: str, secret: str) -> tuple[Receiver, str]:
        try:
            hook = Receiver(Kind.WEBHOOK, platform_address(address, self._base_url))
        except ValueError:
            raise ActionError(f"地址不对，请从群设置里复制完整的地址，它以 {self.prefix} 开头") from None
        secret = secret.strip()
        if len(secret) > LONGEST_SECRET or not secret.isprintable():
            raise ActionError(WRONG_KEY)
        return hook, secret


def _done(before: Present | None) -> str:
    if before is None or before.status is UNSUBSCRIBED:
        return ADDED
    return THERE if before.status is ACTIVE else BACK
