"""One long connection as the platform sees it: pushes and their acknowledgements, pings and pongs.

Source: lark-oapi notes 5 (frames, headers, forms of the answer). Where the platform cuts a message, when it drops a
connection that pings no more and how strictly it reads an acknowledgement is not documented: this is the harsh reading.
"""

import asyncio
import base64
import binascii
import contextlib
import itertools
import secrets
from typing import Any

import anyio
import msgspec
from starlette.types import Receive, Send

from bot.feishu.frames import CONTROL, DATA, Frame, FrameError, decode, encode
from bot.sandbox.clock import Clock
from bot.sandbox.link_faults import LinkFaults
from bot.sandbox.settings import SandboxSettings

PART_BYTES = 32 * 1024
MISSED_PINGS = 3
Answer = tuple[int | None, bytes]
"""Status and body of an acknowledgement; without a status the connection went first."""

GONE: Answer = None, b""


class _Acknowledgement(msgspec.Struct):
    code: int
    data: str | None = None


class Wire:
    """`misuse` collects what a client must not do; `serve` returns once the connection has ended."""

    def __init__(
        self,
        device_id: str,
        service: int,
        receive: Receive,
        send: Send,
        settings: SandboxSettings,
        clock: Clock,
        faults: LinkFaults,
        misuse: list[str],
    ) -> None:
        self.device_id = device_id
        self.pushed = 0
        self._service = service
        self._receive, self._send = receive, send
        self._settings, self._clock, self._faults = settings, clock, faults
        self._misuse = misuse
        self._numbers = itertools.count(1)
        self._waiting: dict[str, tuple[Frame, asyncio.Future[Answer]]] = {}
        self._heard_at = self._time()

    async def serve(self) -> None:
        """Read until the connection ends. One that stays silent for three intervals is dropped."""
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._drop_when_silent)
                while (message := await self._receive())["type"] == "websocket.receive":
                    self._heard_at = self._time()
                    await self._take(message.get("bytes") or b"")
                tasks.cancel_scope.cancel()
        finally:
            for _, answered in self._waiting.values():
                if not answered.done():
                    answered.set_result(GONE)

    async def push(self, payload: bytes, part_bytes: int = PART_BYTES) -> Answer:
        """One message, in parts if it is long, and what the client says to it. The caller bounds the time."""
        message_id = secrets.token_hex(16)
        answered: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        starts = range(0, max(len(payload), 1), part_bytes)
        base = {"type": "event", "message_id": message_id, "trace_id": secrets.token_hex(16), "sum": str(len(starts))}
        try:
            for number, start in enumerate(starts):
                headers, part = {**base, "seq": str(number)}, payload[start : start + part_bytes]
                frame = Frame(DATA, headers, part, next(self._numbers), secrets.randbits(63), self._service)
                self._waiting[message_id] = frame, answered
                await self._write(frame)
            self.pushed += 1
            return await answered
        except OSError:
            return GONE
        finally:
            del self._waiting[message_id]

    def cut(self) -> None:
        """Drop the connection without a word, as a network does. Reaches uvicorn's transport through `receive`."""
        self._receive.__self__.transport.abort()  # type: ignore[attr-defined]

    async def _take(self, raw: bytes) -> None:
        if self._faults.strikes("cut"):
            self.cut()
            return
        try:
            frame = decode(raw)
        except FrameError as exc:
            self._misuse.append(f"link: {exc}")
            return
        if frame.service != self._service:
            self._misuse.append("link: a frame names another service")
        elif frame.method == CONTROL and frame.headers.get("type") == "ping":
            if not self._faults.strikes("swallow_pong"):
                pong = Frame(CONTROL, {"type": "pong"}, client_config(self._settings), service=self._service)
                with contextlib.suppress(OSError):
                    await self._write(pong)
        elif frame.method == DATA:
            self._acknowledged(frame)
        else:
            self._misuse.append("link: a frame of an unknown kind")

    def _acknowledged(self, frame: Frame) -> None:
        """An answer that comes too late is nobody's; one that is not the pushed frame is misuse, and no answer."""
        sent, answered = self._waiting.get(frame.headers.get("message_id", ""), (None, None))
        if sent is None or answered is None or answered.done() or self._faults.strikes("lose_answer"):
            return
        # The official Node SDK gives the log id back as a double holds it, so the platform cannot want all its bits.
        same = frame.seq_id == sent.seq_id and float(frame.log_id) == float(sent.log_id)
        if not same or not frame.headers.items() >= sent.headers.items():
            self._misuse.append("link: an acknowledgement is not the pushed frame")
            return
        try:
            said = msgspec.json.decode(frame.payload, type=_Acknowledgement)
            body = base64.b64decode(said.data, validate=True) if said.data else b"{}"
        except (msgspec.DecodeError, UnicodeDecodeError, binascii.Error):
            self._misuse.append("link: an acknowledgement has the wrong form")
            return
        answered.set_result((said.code, body))

    async def _write(self, frame: Frame) -> None:
        """Raises OSError once the connection is gone."""
        if self._faults.strikes("cut"):
            self.cut()
            return
        await self._send({"type": "websocket.send", "bytes": encode(frame)})

    async def _drop_when_silent(self) -> None:
        longest_s = MISSED_PINGS * self._settings.ping_s
        while (left := self._heard_at + longest_s - self._time()) > 0:
            await self._clock.sleep(left)
        self.cut()

    def _time(self) -> float:
        """The client's time: a page that moves the sandbox's clock must not make a bot with its own look silent."""
        return self._clock.now() if self._settings.bot_shares_clock else self._clock.base()


def client_config(settings: SandboxSettings) -> bytes:
    """What clients are asked to do, as JSON."""
    return msgspec.json.encode(config_of(settings))


def config_of(settings: SandboxSettings) -> dict[str, Any]:
    return {
        "ReconnectCount": -1,
        "ReconnectInterval": settings.reconnect_interval_s,
        "ReconnectNonce": settings.reconnect_nonce_s,
        "PingInterval": settings.ping_s,
    }
