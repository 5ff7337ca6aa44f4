"""The long connection: events and clicks come over a connection that we open, so no public address is needed.

One task keeps one connection: ask for an address → connect → read, ping and watch → after any end, wait and begin anew.
Several processes may each keep one: the platform gives every event to a random one of them.
Source: lark-oapi notes 5, feishu-platform notes 7.6.
"""

import asyncio
import contextlib
import logging
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

import httpx
import msgspec
from websockets.asyncio.client import connect
from websockets.asyncio.connection import Connection
from websockets.exceptions import ConnectionClosed, InvalidStatus, WebSocketException

from bot.domain.inbound import Answer, Inbound
from bot.feishu.frames import CONTROL, DATA, Frame, FrameError, decode, encode
from bot.feishu.link_answer import ANSWER_S, Answerer
from bot.feishu.link_endpoint import ASK_S, Endpoint, LinkError, Tuning, ask, upgrade_refused
from bot.feishu.link_health import LinkHealth
from bot.feishu.link_parts import Parts
from bot.tls import trusted

log = logging.getLogger(__name__)

CONNECT_S = 10.0
CLOSE_S = 1.0
GRACE_S = 1.0  # for what is being handled when we stop
# How late a pong may be before the other end counts as gone: lossy networks delay it by seconds.
PONG_S = 30.0
FIRST_WAIT_S, LONGEST_WAIT_S = 1.0, 60.0  # until the platform has said what it wants
SLOW_S = 300.0  # between attempts that only a human can make succeed
LONGEST_FRAME = 4 * 1024 * 1024
HANDLED_AT_ONCE = 64
# The library's own logger prints the address with its ticket, and frames with what people wrote.
_MUTE = logging.Logger("websockets", logging.CRITICAL + 1)  # noqa: LOG001  outside the tree: it has no handlers


@dataclass(frozen=True, slots=True)
class Timing:
    """What a link knows of time and chance; a test brings its own.

    `timer` is in seconds and never goes back. `ask_s`, `answer_s`: how long an address and a handler may take.
    """

    clock: Callable[[], datetime]
    timer: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    chance: Callable[[], float] = random.random
    ask_s: float = ASK_S
    answer_s: float = ANSWER_S


class Link:
    """One connection of one app, kept up from `run` to `stop`."""

    def __init__(
        self,
        base_url: str,
        app_id: str,
        app_secret: str,
        handle: Callable[[Inbound, datetime], Awaitable[Answer]],
        timing: Timing,
    ) -> None:
        self._base_url = base_url
        self._app = (app_id, app_secret)
        self._timing = timing
        self._answerer = Answerer(handle, timing.clock, timing.answer_s)
        self._parts = Parts()
        self._tuning: Tuning | None = None
        self._slots = asyncio.Semaphore(HANDLED_AT_ONCE)
        self._handling: set[asyncio.Task[None]] = set()
        self._stopping = asyncio.Event()
        self._running = False
        self._failures = 0
        self._connections = 0
        self._odd_frames = 0
        self._told = ""
        self._trouble = ""
        self._since: datetime | None = None
        self._last_pong: datetime | None = None
        self._heard_at = 0.0
        self._heard_on: datetime | None = None

    async def run(self) -> None:
        """Keep a connection until `stop` or cancelled. What is being handled at a stop gets a moment to end."""
        if self._running:
            raise RuntimeError("this link runs already")
        self._running = True
        try:
            async with (
                httpx.AsyncClient(base_url=self._base_url, verify=trusted(), timeout=self._timing.ask_s) as http,
                asyncio.TaskGroup() as tasks,
            ):
                keeping = tasks.create_task(self._keep(http, tasks))
                await self._stopping.wait()
                if self._handling:
                    await asyncio.wait(self._handling, timeout=GRACE_S)
                keeping.cancel()
                for task in self._handling:
                    task.cancel()
        finally:
            self._running = False

    def stop(self) -> None:
        """Take no more events; `run` returns within a second or two."""
        self._stopping.set()

    def health(self, now: datetime) -> LinkHealth:
        """How the link is. A silent one is down before it is given up: what it would have brought is not here."""
        silent_for = now - self._heard_on if self._heard_on else timedelta.max
        is_up = self._since is not None and silent_for.total_seconds() <= self._longest_silence_s()
        unreadable = self._odd_frames + self._answerer.unreadable
        heard = (self._since, self._last_pong, self._answerer.last_event)
        return LinkHealth(is_up, *heard, self._trouble, max(0, self._connections - 1), unreadable)

    async def _keep(self, http: httpx.AsyncClient, tasks: asyncio.TaskGroup) -> None:
        while True:
            try:
                await self._one_connection(http, tasks)
            except LinkError as exc:
                self._tell(exc)
                await self._timing.sleep(self._wait_s(exc))
                self._failures += 1

    async def _one_connection(self, http: httpx.AsyncClient, tasks: asyncio.TaskGroup) -> None:
        """From the address to the end, which is always a LinkError."""
        try:
            async with asyncio.timeout(self._timing.ask_s):
                endpoint = await ask(http, *self._app)
        except TimeoutError:
            raise LinkError("飞书没有给出长连接的地址（超时）") from None
        self._tuning = endpoint.tuning or self._tuning
        async with await _open(endpoint) as socket:
            self._since = self._timing.clock()
            self._connections += 1
            self._hear()
            log.info("link_connected")
            watching = tasks.create_task(self._watch(socket, endpoint.service))
            try:
                while True:
                    await self._take(await socket.recv(), socket, tasks)
            except ConnectionClosed as exc:
                silent = self._timing.timer() - self._heard_at >= self._longest_silence_s()
                reason = "平台很久没有回应" if silent else "长连接断了"
                raise LinkError(f"{reason}（{type(exc).__name__}）") from None
            finally:
                self._since = None
                watching.cancel()

    async def _watch(self, socket: Connection, service: int) -> None:
        """Ping as often as the platform wants; close a connection that stays silent, which ends the reading."""
        ping = encode(Frame(CONTROL, {"type": "ping"}, service=service))
        timer = self._timing.timer
        ping_at = timer()
        with contextlib.suppress(ConnectionClosed):
            while (now := timer()) < (gone_at := self._heard_at + self._longest_silence_s()):
                if now >= ping_at:
                    await socket.send(ping)
                    ping_at = now + self._ping_s()
                await self._timing.sleep(min(ping_at, gone_at) - now)
        await socket.close()

    async def _take(self, raw: str | bytes, socket: Connection, tasks: asyncio.TaskGroup) -> None:
        """One message off the wire. What is no frame is passed over: the connection lives on."""
        self._hear()
        try:
            frame = decode(raw if isinstance(raw, bytes) else b"")
            if frame.method == CONTROL and frame.headers.get("type") == "pong":
                self._pong(frame.payload)
            elif frame.method == DATA and not self._stopping.is_set():
                payload = self._parts.add(frame.headers, frame.payload, self._timing.timer())
                if payload is not None:
                    await self._slots.acquire()  # with all of them taken we read no further, and the platform waits
                    task = tasks.create_task(self._answer(socket, frame, payload))
                    self._handling.add(task)
                    task.add_done_callback(self._handling.discard)
        except FrameError as exc:
            self._odd_frames += 1
            log.warning("frame_refused", extra={"reason": str(exc)})

    async def _answer(self, socket: Connection, frame: Frame, payload: bytes) -> None:
        """Handle an event and acknowledge it. Where that no longer arrives, the platform sends the event again."""
        try:
            reply = await self._answerer.reply(frame, payload)
            with contextlib.suppress(ConnectionClosed):
                await socket.send(encode(reply))
        finally:
            self._slots.release()

    def _pong(self, payload: bytes) -> None:
        """The other end lives; it may bring new settings, which hold from now on."""
        self._last_pong = self._timing.clock()
        self._failures, self._told, self._trouble = 0, "", ""
        if payload:
            try:
                self._tuning = msgspec.json.decode(payload, type=Tuning)
            except (msgspec.DecodeError, UnicodeDecodeError):
                log.warning("frame_refused", extra={"reason": "the settings in a pong are unreadable"})

    def _hear(self) -> None:
        self._heard_at, self._heard_on = self._timing.timer(), self._timing.clock()

    def _ping_s(self) -> float:
        return max(1.0, (self._tuning or Tuning()).ping_interval)

    def _longest_silence_s(self) -> float:
        return self._ping_s() + PONG_S

    def _wait_s(self, error: LinkError) -> float:
        """Full jitter under a ceiling that doubles with each failure, between the bounds that the platform gave."""
        tuning = self._tuning
        if error.is_final or (tuning is not None and 0 <= tuning.reconnect_count <= self._failures):
            return SLOW_S * (0.5 + self._timing.chance() / 2)
        first, longest = FIRST_WAIT_S, LONGEST_WAIT_S
        if tuning is not None:
            first, longest = max(tuning.reconnect_nonce, FIRST_WAIT_S), tuning.reconnect_interval
        return self._timing.chance() * max(first, min(first * 2.0 ** min(self._failures, 16), longest))

    def _tell(self, error: LinkError) -> None:
        """One line for each cause; one that a human must mend is an error, told once until it is mended."""
        self._trouble = error.reason
        fields = {"code": error.code, "reason": error.reason, "failures": self._failures}
        if error.is_final and error.reason != self._told:
            log.error("link_refused", extra={**fields, "cure": error.cure})
            self._told = error.reason
        elif not error.is_final:
            log.log(logging.WARNING if self._failures else logging.INFO, "link_lost", extra=fields)


async def _open(endpoint: Endpoint) -> Connection:
    """Connect. Raises LinkError. Dead peers below our own pings are found by the library's keep-alive (20 s + 20 s)."""
    try:
        return await connect(
            endpoint.url, max_size=LONGEST_FRAME, open_timeout=CONNECT_S, close_timeout=CLOSE_S, logger=_MUTE
        )
    except InvalidStatus as exc:
        headers = {name.lower(): value for name, value in exc.response.headers.raw_items()}
        raise upgrade_refused(exc.response.status_code, headers) from None
    except (OSError, ValueError, WebSocketException) as exc:
        raise LinkError(f"连不上长连接（{type(exc).__name__}）") from None
