"""Messages to custom bots: a webhook address for each group, no app, no token.

An address writes to its group for whoever knows it, so neither it nor its secret may stand in a log or an error.
Sources: custom bot guide, 2025-03; feishu-platform notes 12.
"""

import asyncio
import base64
import hashlib
import hmac
import ipaddress
import re
import socket
import time
from collections.abc import Awaitable, Callable
from typing import Any, Self

import httpx

from bot.domain.audience import Receiver
from bot.domain.errors import CardError, ReceiverError, TemporaryError
from bot.domain.ladder import Rung
from bot.feishu.client import CALL_S, JSON_TYPE, NEVER_LEFT
from bot.feishu.hook_codes import raise_refusal
from bot.feishu.object_body import object_body
from bot.tls import trusted

MOST_BYTES = 20_000  # 20 KB of request, 1,000 or 1,024 is not documented
MOST_ANSWER_BYTES = 64 * 1024
CONNECTIONS = 8
# A kept connection that the other side closes just now leaves a message in doubt, and here nothing settles a doubt.
KEPT_S = 2.0
PATH = re.compile(rb"/open-apis/bot/v2/hook/[\w-]{1,128}")
# Uncompressed, since a compressed answer may grow without end while it is read.
HEADERS = {"Content-Type": JSON_TYPE, "Accept-Encoding": "identity"}

SecretOf = Callable[[str], Awaitable[str | None]]


class HookSender:
    """A CardSender for receivers of kind webhook, whose id is the whole address. Use as an async context manager.

    `secret_of` gives the secret that signs for an address, if it has one; `clock` tells epoch seconds. Its own small
    pool keeps a slow webhook from holding up the app's messages.
    """

    def __init__(
        self,
        base_url: str,
        secret_of: SecretOf,
        *,
        clock: Callable[[], float] = time.time,
        call_s: float = CALL_S,
    ) -> None:
        self._platform = _origin(httpx.URL(base_url))
        self._secret_of, self._clock, self._call_s = secret_of, clock, call_s
        # httpx logs whole addresses, and bot.log silences it.
        self._http = httpx.AsyncClient(
            verify=trusted(),
            timeout=httpx.Timeout(10.0, connect=5.0, pool=5.0),
            limits=httpx.Limits(
                max_connections=CONNECTIONS, max_keepalive_connections=CONNECTIONS, keepalive_expiry=KEPT_S
            ),
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._http.aclose()

    async def send(self, receiver: Receiver, content: str, uuid: str, rung: Rung = Rung.CARD) -> str:  # noqa: ARG002
        """Send a message. Returns "": the platform names none, and nothing can change or recall it.

        It knows no uuid either: after a TemporaryError with `maybe_sent` a repetition may be a second copy.
        Raises SendError, and never one that stops anybody but this receiver or this content.
        """
        url = await self._checked(receiver.id)
        secret = await self._secret_of(receiver.id)
        body = object_body(content, rung, **(signature(int(self._clock()), secret) if secret else {}))
        if len(body) > MOST_BYTES:
            raise CardError(230025, f"内容太长，自定义机器人最多收 {MOST_BYTES} 字节", least=Rung.LIGHT)
        await self._post(url, body)
        return ""

    async def _checked(self, address: str) -> httpx.URL:
        """The address, if it is a webhook's: https on the public web, or beside the platform's own API.

        Raises ReceiverError. A host may change its number after this look; then it still has to prove its name by TLS.
        """
        wrong = ReceiverError(0, "这不是自定义机器人的地址，请从群设置里重新复制")
        try:
            url = httpx.URL(address)
        except httpx.InvalidURL:
            raise wrong from None
        if not PATH.fullmatch(url.raw_path) or url.userinfo or url.fragment:
            raise wrong
        if _origin(url) == self._platform:
            return url
        if url.scheme != "https" or url.port is not None or await _is_private(url.host):
            raise wrong
        return url

    async def _post(self, url: httpx.URL, body: bytes) -> None:
        try:
            async with (
                asyncio.timeout(self._call_s),
                self._http.stream("POST", url, content=body, headers=HEADERS) as response,
            ):
                answer = await _beginning(response)
        except NEVER_LEFT as exc:
            raise TemporaryError(0, f"连不上自定义机器人的地址（{type(exc).__name__}）") from exc
        except (httpx.HTTPError, TimeoutError) as exc:
            raise TemporaryError(0, f"没有等到飞书的回答（{type(exc).__name__}）", maybe_sent=True) from exc
        raise_refusal(response, answer)


def signature(timestamp: int, secret: str) -> dict[str, Any]:
    """The two fields that sign a message: HMAC-SHA256 of nothing, with `timestamp`, a line break and `secret` as key.

    Units: epoch seconds; the platform accepts an hour either way.
    """
    digest = hmac.digest(f"{timestamp}\n{secret}".encode(), b"", hashlib.sha256)
    return {"timestamp": str(timestamp), "sign": base64.b64encode(digest).decode()}


def _origin(url: httpx.URL) -> tuple[str, str, int | None]:
    return url.scheme, url.host, url.port


async def _is_private(host: str) -> bool:
    """Whether a host stands in a network of ours. One that nobody knows does not: the connection itself will fail."""
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return False
    return not all(ipaddress.ip_address(entry[4][0]).is_global for entry in found)


async def _beginning(response: httpx.Response) -> bytes:
    """The answer up to a length that no webhook's reaches: the address is not ours to trust."""
    read = bytearray()
    async for part in response.aiter_raw():
        read += part
        if len(read) > MOST_ANSWER_BYTES:
            break
    return bytes(read)
