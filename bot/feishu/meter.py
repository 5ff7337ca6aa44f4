"""Counting calls as the platform does: what it answers with an error costs nothing. Source: notes 1.6."""

import re
from collections import Counter
from collections.abc import Mapping

import httpx

_KINDS = (  # the first that fits names a call
    ("token", r"/auth/"),
    ("send", r"POST /im/v1/messages$|/reply$"),
    ("correct", r"PATCH /im/v1/messages/"),
    ("recall", r"DELETE /im/v1/"),
    ("batch", r"/message/v4/batch_send|/batch_messages/"),
    ("upload", r"/im/v1/images"),
    ("read", r"/im/v1/messages/"),
    ("chat", r"/im/v1/chats"),
    ("document", r"/(?:wiki|docx|drive|bitable)/"),
)
_PATTERNS = tuple((kind, re.compile(pattern)) for kind, pattern in _KINDS)


class CallMeter:
    """Counts the calls of one client, by kind."""

    def __init__(self) -> None:
        self._made: Counter[str] = Counter()

    async def count(self, response: httpx.Response) -> None:
        """An httpx response hook."""
        if response.is_success:
            self._made[_kind(response.request)] += 1

    def take(self) -> Mapping[str, int]:
        """The calls since it was last asked."""
        made, self._made = self._made, Counter()
        return made


def _kind(request: httpx.Request) -> str:
    call = f"{request.method} {request.url.path.removeprefix('/open-apis')}"
    return next((kind for kind, pattern in _PATTERNS if pattern.search(call)), "other")
