"""What a group's click or message leaves open: the platform is asked who decides there, then it is finished.

The promise is a row: a process that dies in between leaves it to the next one, and it is finished once.
"""

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from bot.cards.actions import decode
from bot.domain.audience import Kind, Receiver
from bot.domain.errors import DigestError
from bot.domain.inbound import CardAction, MessageReceived
from bot.services.clicking import Clicking
from bot.services.groups import EXTERNAL, Facts, Groups, facts_of
from bot.services.replies import Replies
from bot.services.subscribing import Actor
from bot.store import followups, subscribers
from bot.store.engine import Store, Transaction
from bot.store.followups import Promise

log = logging.getLogger(__name__)

AT_ONCE = 20
LOOK_EVERY_S = 30.0  # for what was left by a process that died, or has to be asked again
GIVES_UP = timedelta(minutes=10)
NOT_NOW = "没能核对到群里的权限，请过一会儿再点一次。"

AskChat = Callable[[str], Awaitable[Mapping[str, Any]]]
"""A group as the platform describes it, by chat_id. Raises DigestError."""
Say = Callable[[Transaction, MessageReceived, datetime, bool], None]
"""Answer a message in a group; the last says whether who wrote it decides there."""


@dataclass(frozen=True, slots=True)
class GroupChecks:
    """Keeps promises. `ask`: the platform."""

    store: Store
    replies: Replies
    groups: Groups
    clicking: Clicking
    say: Say
    ask: AskChat

    async def keep_all(self, now: datetime) -> int:
        """Finish what is open. Returns how many are done; those whose answer did not come stay for the next time."""
        done = 0
        for promise in await self.store.read(followups.open_, AT_ONCE):
            try:
                facts = facts_of(await self.ask(promise.what["chat"]), now)
            except DigestError as exc:
                log.info("group_unknown", extra={"event_id": promise.event_id, "code": exc.code})
                if exc.code == "busy" and now - promise.since < GIVES_UP:
                    continue
                facts = None
            done += await self.store.write(self._keep, promise, facts, now)
        return done

    async def run(self, news: asyncio.Event, clock: Callable[[], datetime], wake: Callable[[], None]) -> None:
        """Finish what comes, until cancelled. `news`: there is something; `wake`: there is something to send."""
        while True:
            news.clear()
            if await self.keep_all(clock()):
                wake()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(news.wait(), LOOK_EVERY_S)

    def _keep(self, tx: Transaction, promise: Promise, facts: Facts | None, now: datetime) -> bool:
        if not followups.keep(tx, promise.event_id):
            return False
        what = promise.what
        chat_id, person = what["chat"], what["person"]
        if facts is not None:
            self.groups.learn(chat_id, facts)
            subscribers.ensure(tx, Receiver(Kind.GROUP, chat_id), now, name=facts.name)
        may = facts is not None and self.groups.decides(tx, chat_id, person, facts)
        if "click" in what:
            self._finish_click(tx, promise, facts, now, may=may)
        elif facts is not None and not facts.external:
            message = MessageReceived(promise.event_id, person, chat_id, private=False, text=what["text"])
            self.say(tx, message, now, may)
        return True

    def _finish_click(
        self, tx: Transaction, promise: Promise, facts: Facts | None, now: datetime, *, may: bool
    ) -> None:
        chat_id, person = promise.what["chat"], promise.what["person"]
        if facts is None or facts.external:
            line = NOT_NOW if facts is None else f"{EXTERNAL}，请在公司内部的群里使用。"
            self.replies.say(tx, f"checked:{promise.event_id}", Receiver(Kind.USER, person), line, now)
            return
        click = CardAction(promise.event_id, person, chat_id, promise.what["click"], form_value=promise.what["form"])
        self.clicking.finish(tx, click, decode(click.value), Actor(person, now, click.form_value), may=may)
