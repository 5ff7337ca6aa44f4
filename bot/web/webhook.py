"""Callbacks over HTTP: size → signature → decryption → age → one transaction → answer.

Nothing is parsed before it is proven to be the platform's, and every refusal looks the same from outside.
"""

import logging
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from hmac import compare_digest
from typing import Literal

import msgspec
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response

from bot.domain.errors import SignatureError
from bot.domain.inbound import Answer, Inbound
from bot.feishu import inbound, signature
from bot.feishu.answers import body_of

log = logging.getLogger(__name__)

LONGEST_BODY = 64 * 1024
# A click is never delivered again. An event is, for about seven hours, and whether it is signed anew then is not
# documented; the inbox stops replays inside that time. Source: feishu-platform notes 6.2, 7.3, 7.5.
CLICK_HOLDS = timedelta(minutes=5)
EVENT_HOLDS = timedelta(hours=8)
_STAMP = re.compile(r"\d{1,15}", re.ASCII)


class _Encrypted(msgspec.Struct):
    encrypt: str


class _UrlCheck(msgspec.Struct):
    challenge: str
    token: str
    type: Literal["url_verification"]


@dataclass(frozen=True, slots=True)
class Credentials:
    """What proves a callback to be the platform's."""

    encrypt_key: str
    verification_token: str


class Webhook:
    """The endpoint of events and card callbacks; either address takes both kinds."""

    def __init__(
        self,
        credentials: Credentials,
        handle: Callable[[Inbound, datetime], Awaitable[Answer]],
        clock: Callable[[], datetime],
    ) -> None:
        self._credentials = credentials
        self._handle = handle
        self._clock = clock
        self.refused = 0
        """Requests that proved nothing."""
        self.unreadable = 0
        """Requests that are the platform's, but no event."""

    async def endpoint(self, request: Request) -> Response:
        """Answer one request: 200 once its effect is stored, 401 if it proves nothing, 400 if it is not all here."""
        now = self._clock()
        try:
            body = await _read(request)
            return await self._answer(request, body, now)
        except SignatureError as exc:
            self.refused += 1
            log.warning("callback_refused", extra={"status": exc.status, "reason": str(exc)})
            return JSONResponse({"msg": "refused"}, status_code=exc.status)

    async def _answer(self, request: Request, body: bytes, now: datetime) -> Response:
        if "x-lark-signature" not in request.headers:
            return self._url_check(body)
        self._verify(request, body)
        plain = self._decrypt(body)
        try:
            envelope = inbound.envelope_of(plain)
        except msgspec.DecodeError:
            return self._no_event(plain)
        self._check_token(envelope.header.token)
        self._check_age(request, envelope, now)
        answer = await self._handle(inbound.parse(envelope), now)
        return JSONResponse(body_of(answer))

    def _verify(self, request: Request, body: bytes) -> None:
        headers = request.headers
        signature.verify(
            headers["x-lark-signature"],
            headers.get("x-lark-request-timestamp", ""),
            headers.get("x-lark-request-nonce", ""),
            self._credentials.encrypt_key,
            body,
        )

    def _decrypt(self, body: bytes, *, is_signed: bool = True) -> bytes:
        try:
            encrypted = inbound.shaped(body, _Encrypted).encrypt
        except msgspec.DecodeError:
            raise SignatureError(401, "body is not encrypted") from None
        return signature.decrypt(self._credentials.encrypt_key, encrypted, is_signed=is_signed)

    def _url_check(self, body: bytes) -> Response:
        """The one request that may come unsigned; it changes nothing and must know the token.

        Whatever is wrong with it, the refusal is the same, and as soon: who cannot sign must not learn how decryption
        went.
        """
        try:
            return self._challenge(self._decrypt(body, is_signed=False))
        except (msgspec.DecodeError, SignatureError):
            raise SignatureError(401, "no signature") from None

    def _challenge(self, plain: bytes) -> Response:
        check = inbound.shaped(plain, _UrlCheck)
        self._check_token(check.token)
        return JSONResponse({"challenge": check.challenge})

    def _no_event(self, plain: bytes) -> Response:
        """What is signed and no event: the console's check, or something that the platform has not sent before.

        That is taken: it would be no more readable if it came again, for hours.
        """
        try:
            return self._challenge(plain)
        except msgspec.DecodeError:
            self.unreadable += 1
            log.warning("event_unreadable")
            return JSONResponse({})

    def _check_token(self, token: str) -> None:
        if not compare_digest(token.encode(), self._credentials.verification_token.encode()):
            raise SignatureError(401, "verification token does not match")

    def _check_age(self, request: Request, envelope: inbound.Envelope, now: datetime) -> None:
        holds = CLICK_HOLDS if envelope.header.event_type == inbound.CARD_ACTION else EVENT_HOLDS
        stamp = _STAMP.fullmatch(request.headers.get("x-lark-request-timestamp", ""))
        if stamp is None or abs(now.timestamp() - int(stamp[0])) > holds.total_seconds():
            raise SignatureError(401, "timestamp is too old")


async def _read(request: Request) -> bytes:
    """The raw body, at most 64 KiB of it: a longer one is refused before it is all here."""
    body = bytearray()
    try:
        async for chunk in request.stream():
            body += chunk
            if len(body) > LONGEST_BODY:
                raise SignatureError(400, "body is too long")
    except ClientDisconnect:
        raise SignatureError(400, "body was cut off") from None
    return bytes(body)
