"""What only those who run the bot may say or press: figures, the queue, a look at the next edition, editors' work."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from bot.cards.actions import Resend, Review
from bot.domain.audience import Kind, Receiver
from bot.domain.commands import Command, Order
from bot.domain.inbound import Answer
from bot.services.reading import Reading
from bot.services.replies import Replies
from bot.store import audit, pauses
from bot.store.engine import Transaction

STOPPED = "管理员暂停了推送"
NOT_ADMIN = Answer("只有管理员可以这样做", "warning")
ELSEWHERE = "这件事现在要在命令行里做：digest-bot edition --help"
_KINDS = {Kind.USER: "人", Kind.GROUP: "群", Kind.WEBHOOK: "自定义机器人"}
_STATES = {"active": "在收", "paused": "暂停", "unsubscribed": "已退订"}


@dataclass(frozen=True, slots=True)
class Editors:
    """What editors' work does with a click or a word of theirs, in the transaction of the event; who asks is proven.

    `resend_day`: what stands behind 「补发」; it returns the line to answer with.
    """

    review: Callable[[Transaction, Review, str, datetime], Answer] | None = None
    resend: Callable[[Transaction, Resend, str, datetime], Answer] | None = None
    resend_day: Callable[[Transaction, Order, str, datetime], str] | None = None


class AdminWords:
    """Answers admins, always in private."""

    def __init__(self, replies: Replies, reading: Reading, admins: Collection[str], editors: Editors) -> None:
        self._replies = replies
        self._reading = reading
        self._admins = frozenset(admins)
        self._editors = editors

    def is_admin(self, person: str) -> bool:
        """Whether a person runs the bot."""
        return person in self._admins

    def clicked(self, tx: Transaction, action: Review | Resend, person: str, now: datetime) -> Answer:
        """A decision about an edition."""
        if not self.is_admin(person):
            return NOT_ADMIN
        if isinstance(action, Review):
            review = self._editors.review
            return review(tx, action, person, now) if review else Answer(ELSEWHERE, "warning")
        resend = self._editors.resend
        return resend(tx, action, person, now) if resend else Answer(ELSEWHERE, "warning")

    def told(
        self, tx: Transaction, order: Order, person: str, event: str, figures: Mapping[str, Any] | None, now: datetime
    ) -> bool:
        """Do what an admin's word says. False if it is no such word."""
        me = Receiver(Kind.USER, person)
        match order.command:
            case Command.FIGURES:
                line = figures_text(figures or {})
            case Command.STOP_QUEUE:
                pauses.lift(tx, pauses.QUEUE)  # a pause that ends by itself would end this one too
                pauses.begin(tx, pauses.QUEUE, pauses.BY_HAND, STOPPED, now)
                audit.append(tx, now, person, "pause_queue", "queue")
                line = "推送已暂停，待发的都留着。对我说「恢复推送」就接着发。"
            case Command.START_QUEUE:
                was_paused = pauses.lift(tx, pauses.QUEUE)
                audit.append(tx, now, person, "resume_queue", "queue")
                line = "推送已恢复，排队的消息正在发出。" if was_paused else "推送没有暂停。"
            case Command.PREVIEW:
                return self._preview(tx, order, me, event, now)
            case Command.RESEND:
                resend = self._editors.resend_day
                line = resend(tx, order, person, now) if resend else ELSEWHERE
            case _:
                return False
        self._replies.say(tx, f"admin:{event}", me, line, now)
        return True

    def _preview(self, tx: Transaction, order: Order, me: Receiver, event: str, now: datetime) -> bool:
        """The latest edition of each series that is meant, to the admin alone."""
        series = [order.series] if order.series else list(self._replies.series.values())
        found = self._reading.latest(tx, series)
        for edition in found:
            self._replies.edition(tx, f"preview:{event}:{edition.id}", me, edition, now)
        if not found:
            self._replies.say(tx, f"admin:{event}", me, "还没有导入过任何一期。", now)
        return True


def figures_text(figures: Mapping[str, Any]) -> str:
    """`status --json` as a few lines for a chat."""
    lines = []
    for kind, states in figures["subscribers"].items():
        if states:
            shares = "，".join(f"{_STATES.get(state, state)} {n}" for state, n in states.items())
            lines.append(f"{_KINDS[Kind(kind)]}：{shares}")
    for one in figures["series"]:
        late = "，今天的还没有来" if one["late"] else ""
        lines.append(
            f"{one['id']}：下次 {one['next_push_at']:%m-%d %H:%M}，最近 {one['last_edition'] or '还没有'}{late}"
        )
    queue, outbox, quota = figures["queue"], figures["outbox"], figures["quota"]
    lines.append(f"队列：{'暂停，' + queue['reason'] if queue['paused'] else '正常'}，待发 {outbox.get('pending', 0)}")
    limit = f" / {quota['limit']}" if quota["limit"] else ""
    lines.append(f"本月调用：{quota['used']}{limit}，预计 {quota['forecast']}")
    return "\n".join(lines)
