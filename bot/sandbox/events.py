"""Pushing events and card callbacks to the app: in three seconds, and again when it failed.

Over one of the app's long connections while it has any, else sealed and signed to its address.
Sources: feishu-platform notes 7.1-7.5 (URL check, encryption, signature, redelivery), 6.2 (callbacks come once), 15.8.
"""

import asyncio
import secrets
import uuid
from collections import deque
from dataclasses import dataclass
from typing import Any, Literal

import anyio
import httpx
import msgspec

from bot.feishu import signature
from bot.sandbox.card_answers import Answer, failed, read_answer
from bot.sandbox.clock import Clock
from bot.sandbox.link_hub import Hub
from bot.sandbox.payloads import envelope
from bot.sandbox.settings import SandboxSettings
from bot.sandbox.state import Push, World

ANSWER_S = 3.0
CONNECT_S = 2.0
VERIFY_S = 1.0
REDELIVERY_S = (15, 300, 3600, 21_600)
REMEMBERED = 1000

NO_ADDRESS, NO_ANSWER_IN_TIME, NO_CONNECTION, BROKEN_CALL = 200340, 200341, 200342, 200080


@dataclass(frozen=True, slots=True)
class Attempt:
    """One push of one event. `status`: the HTTP status, or None with `failure` telling why there was none."""

    event_id: str
    event_type: str
    number: int
    at: float
    status: int | None
    failure: str


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back from the app."""

    status: int | None = None
    body: bytes = b""
    failure: Literal["", "timeout", "connect", "broken"] = ""


class Pusher:
    """Pushes wait in the world until they are answered, so that they outlive the sandbox's own death."""

    def __init__(
        self, settings: SandboxSettings, world: World, clock: Clock, http: httpx.AsyncClient, hub: Hub
    ) -> None:
        self.clock = clock
        self.attempts: deque[Attempt] = deque(maxlen=REMEMBERED)
        self.given_up: list[str] = []
        """Ids of events that failed five times: the app will never see them."""
        self._settings, self._world, self._http, self._hub = settings, world, http, hub
        self._recent: deque[Push] = deque(maxlen=REMEMBERED)
        self._in_flight: set[str] = set()
        self._changed = asyncio.Event()

    async def publish(self, event_type: str, event: dict[str, Any]) -> bool | None:
        """Push an event and wait for the first answer: whether it was 200. None: nobody listens."""
        if not self._settings.event_url and not self._hub.is_known:
            return None
        now = self.clock.now()
        push = Push(uuid.uuid4().hex, event_type, now, msgspec.Raw(msgspec.json.encode(event)), 0, now)
        self._recent.append(push)
        return await self._begin(push)

    async def repeat(self, event_type: str, *, fresh_id: bool = False) -> bool | None:
        """Push the latest event of this type once more, as the platform does now and then after a success too (7.5).

        `fresh_id`: with another event_id, as seen for messages, which are one by their message_id.
        """
        push = next((push for push in reversed(self._recent) if push.event_type == event_type), None)
        if push is None:
            return None
        event_id = uuid.uuid4().hex if fresh_id else push.event_id
        return await self._begin(msgspec.structs.replace(push, event_id=event_id, attempts=0))

    async def call_back(self, event: dict[str, Any]) -> Answer:
        """One card callback, never repeated: what the person is shown for its answer (6.3)."""
        url = self._settings.card_url
        if not url and not self._hub.is_open:
            return failed(NO_ADDRESS)
        now = self.clock.now()
        body = self._envelope("card.action.trigger", event, uuid.uuid4().hex, str(int(now * 1_000_000)))
        reply = await self._carry(url, body)
        failures = {"timeout": NO_ANSWER_IN_TIME, "connect": NO_CONNECTION, "broken": BROKEN_CALL}
        if reply.failure:
            return failed(failures[reply.failure])
        return read_answer(self._world, reply.status, reply.body)

    async def verify_url(self, url: str) -> bool:
        """The check when an address is saved: unsigned, and the challenge must come back within a second."""
        challenge = uuid.uuid4().hex
        body = {"challenge": challenge, "token": self._settings.verification_token, "type": "url_verification"}
        reply = await self._post(url, body, VERIFY_S, signed=False)
        try:
            return reply.status == 200 and msgspec.json.decode(reply.body) == {"challenge": challenge}
        except (msgspec.DecodeError, RecursionError):
            return False

    async def run(self) -> None:
        """The redelivery loop; ends only by being cancelled."""
        async with anyio.create_task_group() as tasks:
            while True:
                self._changed.clear()
                for push in self._waiting():
                    if push.due_at <= self.clock.now():
                        self._in_flight.add(push.event_id)
                        tasks.start_soon(self._attempt, push)
                await self._sleep_until_due()

    async def _begin(self, push: Push) -> bool:
        self._world.put(push)
        self._in_flight.add(push.event_id)
        return await self._attempt(push)

    async def _attempt(self, push: Push) -> bool:
        try:
            create_time = str(int(push.created_at * 1000))
            body = self._envelope(push.event_type, push.event, push.event_id, create_time)
            reply = await self._carry(self._settings.event_url, body)
            number = push.attempts + 1
            now = self.clock.now()
            self.attempts.append(Attempt(push.event_id, push.event_type, number, now, reply.status, reply.failure))
            self._settle(push, number, answered=reply.status == 200)
            return reply.status == 200
        finally:
            self._in_flight.discard(push.event_id)
            self._changed.set()

    def _settle(self, push: Push, number: int, *, answered: bool) -> None:
        if answered or number > len(REDELIVERY_S):
            self._world.drop(push)
            if not answered:
                self.given_up.append(push.event_id)
            return
        wait_s = REDELIVERY_S[number - 1] * self._settings.redelivery_scale
        self._world.change(push, attempts=number, due_at=self.clock.now() + wait_s)

    def _waiting(self) -> list[Push]:
        return [push for push in self._world.pushes.values() if push.event_id not in self._in_flight]

    async def _sleep_until_due(self) -> None:
        waiting = self._waiting()
        if not waiting:
            await self._changed.wait()
            return
        earliest = min(push.due_at for push in waiting)
        await self.clock.within(max(0.0, earliest - self.clock.now()), self._changed.wait)

    def _envelope(self, event_type: str, event: Any, event_id: str, create_time: str) -> dict[str, Any]:
        return envelope(
            event_type,
            event,
            event_id=event_id,
            create_time=create_time,
            app_id=self._settings.app_id,
            token=self._settings.verification_token,
        )

    async def _carry(self, url: str | None, body: dict[str, Any]) -> Reply:
        if not self._hub.is_open:
            return await self._post(url, body, ANSWER_S) if url else Reply(failure="connect")

        async def exchange() -> Reply:
            status, answer = await self._hub.deliver(msgspec.json.encode(body))
            return Reply(status, answer, "broken" if status is None else "")

        return await self.clock.within(ANSWER_S, exchange) or Reply(failure="timeout")

    async def _post(self, url: str, body: dict[str, Any], limit_s: float, *, signed: bool = True) -> Reply:
        raw = msgspec.json.encode(body)
        headers = {"Content-Type": "application/json;charset=utf-8"}
        if key := self._settings.encrypt_key:
            raw = msgspec.json.encode({"encrypt": signature.encrypt(key, raw)})
            headers |= self._signature(key, raw) if signed else {}

        async def exchange() -> Reply:
            try:
                response = await self._http.post(url, content=raw, headers=headers, timeout=_TIMEOUT)
            except (httpx.ConnectError, httpx.ConnectTimeout):
                return Reply(failure="connect")
            except (httpx.HTTPError, httpx.InvalidURL):
                return Reply(failure="broken")
            return Reply(response.status_code, response.content)

        return await self.clock.within(limit_s, exchange) or Reply(failure="timeout")

    def _signature(self, key: str, raw: bytes) -> dict[str, str]:
        """Signed anew at every push (7.3 leaves it open), with the time of whoever the app's clock agrees with."""
        at = self.clock.now() if self._settings.bot_shares_clock else self.clock.base()
        timestamp, nonce = str(int(at)), secrets.token_hex(8)
        return {
            "X-Lark-Request-Timestamp": timestamp,
            "X-Lark-Request-Nonce": nonce,
            "X-Lark-Signature": signature.sign(timestamp, nonce, key, raw),
        }


_TIMEOUT = httpx.Timeout(None, connect=CONNECT_S)  # the whole exchange is timed by the sandbox's clock
