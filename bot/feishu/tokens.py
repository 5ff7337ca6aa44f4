"""The tenant token: one fetch at a time, renewed before it ends, dropped when the platform refuses it.

Source: tenant_access_token_internal. The same token comes back while 30 minutes remain, a new one below that, and both
hold until the old one ends; so renewing at 10 minutes always brings a new one.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

RENEW_BEFORE_S = 600


@dataclass(frozen=True, slots=True)
class Token:
    """`ends_at` in seconds of the monotonic clock."""

    text: str
    ends_at: float


class Tokens:
    """Hands out the current token; `fetch` asks the platform and returns (text, seconds left)."""

    def __init__(self, fetch: Callable[[], Awaitable[tuple[str, float]]]) -> None:
        self._fetch = fetch
        self._lock = asyncio.Lock()
        self._token: Token | None = None

    async def current(self) -> str:
        """A token that holds for minutes. Raises what `fetch` raises."""
        if (token := self._fresh()) is not None:
            return token
        async with self._lock:
            if (token := self._fresh()) is not None:
                return token
            text, left_s = await self._fetch()
            self._token = Token(text, time.monotonic() + left_s)
            return text

    def drop(self, text: str) -> None:
        """Forget a token that was refused, unless it has been replaced already: fifty refusals cost one fetch."""
        if self._token is not None and self._token.text == text:
            self._token = None

    def _fresh(self) -> str | None:
        token = self._token
        if token is None or token.ends_at - time.monotonic() < RENEW_BEFORE_S:
            return None
        return token.text
