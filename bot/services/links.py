"""Signed links to somebody's own preferences: who holds one may change them, until it ends."""

import base64
import binascii
import hashlib
import hmac
from datetime import UTC, datetime, timedelta

from bot.domain.audience import Kind, Receiver
from bot.domain.errors import ActionError

HOLDS = timedelta(days=7)
PATH = "/preferences"
_PURPOSE = b"digest-bot preferences 1"


class PreferenceLinks:
    """Makes and reads them. `secret`: the app's; the key is derived from it, so that it proves nothing else."""

    def __init__(self, secret: str, public_url: str) -> None:
        self._key = hmac.digest(secret.encode(), _PURPOSE, hashlib.sha256)
        self._base = public_url.rstrip("/")

    def url(self, person: Receiver, now: datetime) -> str:
        """A link that holds for a week. Who asks within an hour gets the same, so that equal cards stay equal."""
        hour = now.replace(minute=0, second=0, microsecond=0)
        return f"{self._base}{PATH}?t={self.token(person, hour + HOLDS)}"

    def token(self, person: Receiver, until: datetime) -> str:
        """Who and until when, signed."""
        said = f"{person.kind}.{person.id}.{int(until.timestamp())}".encode()
        return f"{_text(said)}.{_text(self._signature(b'link', said))}"

    def open(self, token: str, now: datetime) -> Receiver:
        """Whose preferences a token opens. Raises ActionError with a line for whoever followed the link."""
        said, _, signature = token.partition(".")
        try:
            plain, given = _bytes(said), _bytes(signature)
        except (ValueError, binascii.Error):
            plain, given = b"", b""
        if not hmac.compare_digest(given, self._signature(b"link", plain)):
            raise ActionError("这个链接不完整，请回到飞书里重新打开")
        kind, _, rest = plain.decode().partition(".")
        person, _, until = rest.rpartition(".")
        if now >= datetime.fromtimestamp(int(until), UTC):
            raise ActionError("这个链接已经过期，请回到飞书里发「设置」，拿一个新的")
        return Receiver(Kind(kind), person)

    def form_token(self, token: str) -> str:
        """What a form must carry besides the link itself: whoever merely repeats the address does not have it."""
        return _text(self._signature(b"form", token.encode()))

    def is_form_token(self, token: str, given: str) -> bool:
        """Whether a form was made by us for this link."""
        return hmac.compare_digest(given.encode(), self.form_token(token).encode())

    def _signature(self, purpose: bytes, said: bytes) -> bytes:
        return hmac.digest(self._key, purpose + b"\0" + said, hashlib.sha256)


def _text(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def _bytes(text: str) -> bytes:
    return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
