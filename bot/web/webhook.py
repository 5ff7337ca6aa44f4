"""Callbacks over HTTP: size → signature → decryption → age → one transaction → answer.

Nothing is parsed before it is proven to be the platform's, and every refusal looks the same from outside.
"""

import logging
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
        """Answer one request: 200 once its effect is stored, 400 or 401 if it proves nothing."""
        now = self._clock()
        try:
            body = await _read(request)
            return await self._answer(request, body, now)
        except SignatureError as exc:
            self.refused += 1
            return _refusal(exc)

    async def _answer(self, request: Request, body: bytes, now: datetime) -> Response:
        if "x-lark-signature" not in request.headers:
            return self._url_check(body)
        self._verify(request, body)
        try:
            envelope = inbound.envelope_of(self._decrypt(body))
        except (msgspec.DecodeError, UnicodeDecodeError):
            return self._no_event(body)
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

    def _decrypt(self, body: bytes) -> bytes:
        try:
            encrypted = msgspec.json.decode(body, type=_Encrypted).encrypt
        except (msgspec.DecodeError, UnicodeDecodeError):
            raise SignatureError(400, "body is not encrypted") from None
        return signature.decrypt(self._credentials.encrypt_key, encrypted)

    def _url_check(self, body: bytes) -> Response:
        """The one request that may come unsigned; it changes nothing and must know the token.

        Whatever is wrong with it, the refusal is the same: who cannot sign must not learn how decryption went.
        """
        try:
            check = msgspec.json.decode(self._decrypt(body), type=_UrlCheck)
            self._check_token(check.token)
        except (msgspec.DecodeError, UnicodeDecodeError, SignatureError):
            raise SignatureError(401, "no signature") from None
        return JSONResponse({"challenge": check.challenge})

    def _no_event(self, body: bytes) -> Response:
        """What is signed and no event: the console's check, or something that the platform has not sent before."""
        try:
            return self._url_check(body)
        except SignatureError:
            self.unreadable += 1
            return _refusal(SignatureError(401, "signed, but no event"))

    def _check_token(self, token: str) -> None:
        if not compare_digest(token.encode(), self._credentials.verification_token.encode()):
            raise SignatureError(401, "verification token does not match")

    def _check_age(self, request: Request, envelope: inbound.Envelope, now: datetime) -> None:
        holds = CLICK_HOLDS if envelope.header.event_type == inbound.CARD_ACTION else EVENT_HOLDS
        try:
            age_s = abs(now.timestamp() - float(request.headers.get("x-lark-request-timestamp", "")))
        except ValueError:
            age_s = float("inf")
        if not age_s <= holds.total_seconds():
            raise SignatureError(401, "timestamp is too old")


def _refusal(error: SignatureError) -> Response:
    log.warning("callback_refused", extra={"status": error.status, "reason": str(error)})
    return JSONResponse({"msg": "refused"}, status_code=error.status)


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
