"""Batch sends on their way: one after the other, some time after their calls. Source: feishu-platform notes 3.6, 15.12.

How fast the platform hands a batch out is not documented: here `PER_S` people a second.
"""

import asyncio
from collections.abc import Sequence
from datetime import date, datetime

from bot.sandbox.clock import Clock
from bot.sandbox.local_time import CLIENT_ZONE
from bot.sandbox.payloads import ensure_p2p_chat
from bot.sandbox.settings import SandboxSettings
from bot.sandbox.state import App, Batch, Message, World

PER_S = 50


class BatchQueue:
    """Batches wait in the world. Ids of their messages come from batch and person, so that a kill doubles none."""

    def __init__(self, settings: SandboxSettings, world: World, clock: Clock) -> None:
        self._world, self._clock = world, clock
        self._delay_s = settings.batch_delay_s
        self._changed = asyncio.Event()

    def add(self, app: App, msg_type: str, content: str, people: Sequence[str]) -> Batch:
        """Put a batch behind the app's others. `people` are open_ids."""
        now = self._clock.now()
        batch_id = self._world.free_id("bm-", str(len(self._world.batches)), self._world.batches)
        starts_at = max(now + self._delay_s, self._free_at(app.app_id))
        self._world.put(Batch(batch_id, app.app_id, msg_type, content, tuple(people), now, starts_at))
        self.settle()
        self._changed.set()
        return self._world.batches[batch_id]

    def settle(self) -> None:
        """Hand out everything that is due now; whoever looks at a batch calls this first."""
        for batch in self._waiting():
            due = self._due(batch)
            for open_id in batch.people[batch.handled : due]:
                self._hand_out(batch, open_id)
            if due > batch.handled:
                self._world.change(batch, handled=due)

    async def run(self) -> None:
        """Hand out for ever; ends only by being cancelled."""
        while True:
            self._changed.clear()
            self.settle()
            next_at = [batch.starts_at + batch.handled // PER_S for batch in self._waiting()]
            if next_at:
                await self._clock.within(max(0.0, min(next_at) - self._clock.now()), self._changed.wait)
            else:
                await self._changed.wait()

    def messages_of(self, batch: Batch) -> list[Message]:
        """What arrived, recalled ones included."""
        found = (self._world.messages.get(self._message_id(batch, open_id)) for open_id in batch.people)
        return [message for message in found if message is not None]

    def readers_of(self, batch: Batch) -> list[str]:
        """Open_ids of those who have seen theirs."""
        reads = self._world.reads
        return [one for one in batch.people if f"{self._message_id(batch, one)}/{one}" in reads]

    def recall(self, batch: Batch) -> None:
        """Take back what arrived, and send nothing more."""
        for message in self.messages_of(batch):
            self._world.change(message, recalled=True, updated_at=self._clock.now())
        self._world.change(batch, recalled=True)

    def messages_today(self, app_id: str) -> int:
        """What the app's batches of this day make; days are Shanghai's (assumption). Recalled ones count."""
        today = self._day(self._clock.now())
        mine = (batch for batch in self._world.batches.values() if batch.app_id == app_id)
        return sum(len(batch.people) for batch in mine if self._day(batch.created_at) == today)

    def _hand_out(self, batch: Batch, open_id: str) -> None:
        """Nothing, and no word of it, for who is out of reach at this moment: the progress's counts are all there is.

        Whether they are invalid or lost is not documented. Lost is the harsher reading: the call's answer names nobody.
        """
        user = self._world.users[open_id]
        if user.resigned or user.stopped or not user.available:
            return
        chat = ensure_p2p_chat(self._world, batch.app_id, user)
        now = self._clock.now()
        self._world.put(
            Message(
                self._message_id(batch, open_id),
                chat.chat_id,
                batch.app_id,
                "app",
                batch.msg_type,
                batch.content,
                now,
                now,
                batch_id=batch.batch_id,
            )
        )

    def _waiting(self) -> list[Batch]:
        everything = self._world.batches.values()
        return [batch for batch in everything if batch.handled < len(batch.people) and not batch.recalled]

    def _due(self, batch: Batch) -> int:
        """How many of the batch may have had their turn by now."""
        waited_s = self._clock.now() - batch.starts_at
        if waited_s < 0:
            return 0
        return len(batch.people) if not self._delay_s else min((int(waited_s) + 1) * PER_S, len(batch.people))

    def _free_at(self, app_id: str) -> float:
        """When the app's last batch is through."""
        last = next((one for one in reversed(self._world.batches.values()) if one.app_id == app_id), None)
        return last.starts_at + len(last.people) // PER_S if last and self._delay_s else 0.0

    def _message_id(self, batch: Batch, open_id: str) -> str:
        return self._world.name_id("om_", f"{batch.batch_id}/{open_id}")

    @staticmethod
    def _day(at: float) -> date:
        return datetime.fromtimestamp(at, CLIENT_ZONE).date()
