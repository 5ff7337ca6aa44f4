"""One event off the long connection → the service's answer → the frame that acknowledges it."""

import asyncio
import base64
import logging
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import datetime
from typing import Any

import msgspec

from bot.domain.inbound import Answer, Inbound
from bot.feishu import inbound
from bot.feishu.answers import body_of
from bot.feishu.frames import Frame

log = logging.getLogger(__name__)

ANSWER_S = 2.5  # the platform waits 3 s
HANDLED = {"event", "card"}
_TAKEN: dict[str, Any] = {"code": 200}
_FAILED: dict[str, Any] = {"code": 500}


class Answerer:
    """Calls the service for each event. Only what it did not finish is answered with a failure: that comes again."""

    def __init__(
        self,
        handle: Callable[[Inbound, datetime], Awaitable[Answer]],
        clock: Callable[[], datetime],
        within_s: float,
    ) -> None:
        self.last_event: datetime | None = None
        self.unreadable = 0
        self._handle = handle
        self._clock = clock
        self._within_s = within_s

    async def reply(self, frame: Frame, payload: bytes) -> Frame:
        """The acknowledgement of a message: its own frame, with how long we took and what we say."""
        started = time.monotonic()
        said = await self._said(frame, payload)
        took_ms = round((time.monotonic() - started) * 1000)
        headers = {**frame.headers, "biz_rt": str(took_ms)}
        return replace(frame, headers=headers, payload=msgspec.json.encode(said))

    async def _said(self, frame: Frame, payload: bytes) -> dict[str, Any]:
        now = self._clock()
        envelope = _envelope(frame, payload)
        if envelope is None:
            self.unreadable += 1
            log.warning("event_unreadable")  # it would be no more readable if it came again
            return _TAKEN
        self.last_event = now
        fields = {"event_id": envelope.header.event_id, "kind": envelope.header.event_type[:100]}
        try:
            async with asyncio.timeout(self._within_s):
                answer = await self._handle(inbound.parse(envelope), now)
        except TimeoutError:
            log.warning("event_late", extra=fields)
            return _FAILED
        except Exception:  # the edge of the service, as the web server is for callbacks over HTTP
            log.exception("event_failed", extra=fields)
            return _FAILED
        if envelope.header.event_type != inbound.CARD_ACTION:
            return _TAKEN
        return {**_TAKEN, "data": base64.b64encode(msgspec.json.encode(body_of(answer))).decode()}


def _envelope(frame: Frame, payload: bytes) -> inbound.Envelope | None:
    if frame.headers.get("type") not in HANDLED:
        return None
    try:
        return inbound.envelope_of(payload)
    except msgspec.DecodeError:
        return None
