"""One message to many people in one call, its progress, and its recall as a whole.

Asynchronous on the platform's side, and not idempotent: a batch whose answer was lost may have been sent, and a second
call sends it again. Cards of a batch cannot call back, be corrected, or be recalled one by one.
Sources: batch send, batch_message/get_progress and /delete; feishu-platform notes 3.6.
"""

from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from bot.domain.errors import CardError, SendError, TemporaryError
from bot.domain.ladder import Rung
from bot.feishu.batch_codes import meaning
from bot.feishu.object_body import object_body
from bot.feishu.tokens import Tokens
from bot.ports import BatchAccepted, BatchProgress

if TYPE_CHECKING:
    from bot.feishu.client import Reply

SEND_PATH = "/open-apis/message/v4/batch_send/"  # with the slash, or there is no such path
ONE_PATH = "/open-apis/im/v1/batch_messages/"
MOST_PEOPLE = 200
OPEN_ID_BYTES = 40  # with quotes and comma: 38 as seen
# 30 KB and 150 KB. What is measured is not documented (16.5): the whole body, which is the harshest reading.
MOST_BYTES = {Rung.CARD: 30_000, Rung.LIGHT: 30_000, Rung.POST: 30_000, Rung.TEXT: 150_000}

Call = Callable[[str, str, bytes | None], Awaitable["Reply"]]  # method, path, body


class BatchSender:
    """Sends through `call`, the client's authorised call, which takes its token from `tokens`."""

    def __init__(self, call: Call, tokens: Tokens, clock: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self._call, self._tokens, self._clock = call, tokens, clock

    def room_for(self, content: str, rung: Rung) -> int:
        """How many people fit into one call beside this content."""
        return room_for(content, rung)

    async def send(self, open_ids: Sequence[str], content: str, rung: Rung = Rung.CARD) -> BatchAccepted:
        """Send to at most `room_for` different people. `content` is JSON text in the form of `rung`.

        Raises SendError. ReceiverError: somebody of the list is refused, and nobody got it. TemporaryError with
        `maybe_sent`: everybody may get it, so it must not be repeated.
        """
        assert 0 < len(set(open_ids)) == len(open_ids) <= MOST_PEOPLE
        body = object_body(content, rung, open_ids=list(open_ids))
        if len(body) > MOST_BYTES[rung]:
            raise CardError(230025, "内容太长", least=Rung.LIGHT)
        reply = await self._answer("POST", SEND_PATH, body)
        try:
            data = reply.body["data"]
            return BatchAccepted(str(data["message_id"]), tuple(map(str, data.get("invalid_open_ids") or ())))
        except (KeyError, TypeError, AttributeError):
            raise TemporaryError(0, "回答里没有消息编号", log_id=reply.log_id, maybe_sent=True) from None

    async def progress(self, message_id: str) -> BatchProgress:
        """Counts of a batch, kept for 30 days. Raises SendError."""
        reply = await self._answer("GET", f"{ONE_PATH}{message_id}/get_progress")
        try:
            told: dict[str, Any] = reply.body["data"]["batch_message_send_progress"]
            return BatchProgress(*(int(told[f"{name}_user_ids_count"]) for name in ("valid", "success", "read")))
        except (KeyError, TypeError, ValueError):
            raise TemporaryError(0, "回答里没有进度", log_id=reply.log_id) from None

    async def recall(self, message_id: str) -> None:
        """Take back the whole batch, also what has not arrived yet. Twice does no harm. Raises SendError."""
        await self._answer("DELETE", f"{ONE_PATH}{message_id}")

    async def _answer(self, method: str, path: str, body: bytes | None = None) -> "Reply":
        await self._tokens.current()  # here, since 10003 means something else when it is the token that is refused
        try:
            return await self._call(method, path, body)
        except SendError as exc:
            if (meant := meaning(exc, self._clock())) is exc:
                raise
            raise meant from exc


def room_for(content: str, rung: Rung) -> int:
    """How many people fit into one call beside this content: 0 to 200. Their ids count towards its size."""
    left = MOST_BYTES[rung] - len(object_body(content, rung, open_ids=[]))
    return max(0, min(MOST_PEOPLE, left // OPEN_ID_BYTES))
