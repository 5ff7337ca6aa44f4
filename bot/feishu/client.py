"""Messages over one pooled HTTP client: each reply becomes a result or one of the four send errors.

The body's `code` decides, never the HTTP status alone. Source: im-v1/message/create; feishu-platform notes 2 and 14.
"""

import asyncio
import json
import logging
import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, Self

import httpx

from bot.domain.audience import Kind, Receiver
from bot.domain.errors import AppError, CardError, ReceiverError, SendError, TemporaryError
from bot.domain.ladder import Rung
from bot.domain.quota import next_month
from bot.feishu.codes import GONE, Reaction, lookup
from bot.feishu.meter import CallMeter
from bot.feishu.tokens import Tokens
from bot.tls import trusted

if TYPE_CHECKING:
    from bot.feishu.batch import BatchSender
    from bot.feishu.documents import FeishuDocuments
    from bot.feishu.images import Images

log = logging.getLogger(__name__)

# More than 24 pooled connections cost httpcore more than they bring; all of them must be kept alive to be reused.
CONNECTIONS = 12
CALL_S = 15.0
JSON_TYPE = "application/json; charset=utf-8"
TIMEOUT = httpx.Timeout(10.0, connect=5.0)
_TIMEOUTS = {"timeout": TIMEOUT.as_dict()}
GATEWAY_WAIT_S = 60.0  # a limit answer without its header
LONGEST_WAIT_S = 3_600.0
ID_TYPES = {Kind.USER: "open_id", Kind.GROUP: "chat_id"}
MESSAGE_TYPES = {Rung.CARD: "interactive", Rung.LIGHT: "interactive", Rung.POST: "post", Rung.TEXT: "text"}
IN_PROGRESS = {230049, 18121}  # the same message is being sent by an earlier attempt
# Faults before the request left; anything later may have arrived.
NEVER_LEFT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.UnsupportedProtocol, httpx.ProxyError)


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer of the platform with code 0."""

    body: Mapping[str, Any]
    log_id: str


class FeishuClient:
    """One app on one platform address. Use as an async context manager."""

    def __init__(self, base_url: str, app_id: str, app_secret: str) -> None:
        self._app = {"app_id": app_id, "app_secret": app_secret}
        self._base_url = base_url.rstrip("/")
        self.meter = CallMeter()
        self.bot_id: str | None = None  # the bot's own open_id, once `bot_info` has told it
        self._http = httpx.AsyncClient(
            base_url=base_url,
            verify=trusted(),
            timeout=TIMEOUT,
            limits=httpx.Limits(max_connections=CONNECTIONS, max_keepalive_connections=CONNECTIONS),
            event_hooks={"response": [self.meter.count]},
        )
        self.tokens = Tokens(self._fetch_token)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._http.aclose()

    async def send(self, receiver: Receiver, content: str, uuid: str, rung: Rung = Rung.CARD) -> str:
        """Send a message. `content` is the JSON text of this form. Returns the message id. Raises SendError."""
        body = message_body(receiver.id, content, uuid, MESSAGE_TYPES[rung])
        path = f"/open-apis/im/v1/messages?receive_id_type={ID_TYPES[receiver.kind]}"
        reply = await self._authorised("POST", path, body)
        try:
            return str(reply.body["data"]["message_id"])
        except (KeyError, TypeError):
            raise TemporaryError(0, "回答里没有消息编号", log_id=reply.log_id, maybe_sent=True) from None

    async def patch(self, message_id: str, content: str) -> None:
        """Put another card in the place of one that was sent. Twice does no harm. Raises SendError."""
        body = json.dumps({"content": content}, ensure_ascii=False, separators=(",", ":")).encode()
        await self._authorised("PATCH", f"/open-apis/im/v1/messages/{message_id}", body)

    async def recall(self, message_id: str) -> None:
        """Take a message back. Twice does no harm. Raises SendError."""
        try:
            await self._authorised("DELETE", f"/open-apis/im/v1/messages/{message_id}", None)
        except CardError as exc:
            if exc.code not in GONE:
                raise

    async def read_count(self, message_id: str) -> int:
        """How many people have read a message; the first hundred are counted. Raises SendError."""
        path = f"/open-apis/im/v1/messages/{message_id}/read_users?user_id_type=open_id&page_size=100"
        reply = await self._authorised("GET", path, None)
        try:
            return len(reply.body["data"].get("items") or ())
        except (KeyError, TypeError, AttributeError):
            raise TemporaryError(0, "回答里没有已读的人", log_id=reply.log_id) from None

    def documents(self, **timing: Any) -> "FeishuDocuments":
        """Reading documents over the same connections with the same token. `timing`: `clock` and `sleep`."""
        from bot.feishu.documents import FeishuDocuments  # it needs this module, and not every command needs it

        return FeishuDocuments(self._http, str(self._http.base_url), self._app["app_id"], self.tokens, **timing)

    async def upload_image(self, content: bytes) -> str:
        """Give the platform a picture for this app's cards. Returns its image_key. Raises SendError."""
        return await self._images.upload(content)

    @cached_property
    def batches(self) -> "BatchSender":
        """One call for many people."""
        from bot.feishu.batch import BatchSender  # as above

        return BatchSender(self._authorised, self.tokens)

    async def bot_info(self) -> Mapping[str, Any]:
        """The bot as the platform sees it: `open_id`, `app_name`. Raises SendError."""
        reply = await self._authorised("GET", "/open-apis/bot/v3/info", None)
        bot = reply.body.get("bot")
        if not isinstance(bot, dict):
            return {}
        self.bot_id = str(bot.get("open_id") or "") or None
        return bot

    @cached_property
    def _images(self) -> "Images":
        from bot.feishu.images import Images  # as above

        return Images(self._authorised)

    async def _authorised(self, method: str, path: str, body: bytes | None, body_type: str = JSON_TYPE) -> Reply:
        """Call with the current token; a refused token is replaced and the call repeated once."""
        for last in (False, True):
            token = await self.tokens.current()
            try:
                return await self._call(
                    method, path, body, {"Authorization": f"Bearer {token}", "Content-Type": body_type}
                )
            except AppError as exc:
                if last or lookup(exc.code).reaction is not Reaction.NEW_TOKEN:
                    raise
                log.info("token_refused", extra={"code": exc.code, "log_id": exc.log_id})
                self.tokens.drop(token)
        raise AssertionError("unreachable")

    async def _fetch_token(self) -> tuple[str, float]:
        path = "/open-apis/auth/v3/tenant_access_token/internal"
        try:
            reply = await self._call("POST", path, json.dumps(self._app).encode(), {})
            return str(reply.body["tenant_access_token"]), float(reply.body["expire"])
        except TemporaryError as exc:
            # Without a token no message left, whatever happened to this call.
            exc.maybe_sent = False
            raise
        except (KeyError, TypeError, ValueError):
            raise TemporaryError(0, "访问凭证的回答不完整") from None

    async def _call(self, method: str, path: str, body: bytes | None, headers: dict[str, str]) -> Reply:
        headers.setdefault("Content-Type", JSON_TYPE)
        try:
            async with asyncio.timeout(CALL_S):
                # Merging a client's defaults into each request would cost more than all else that is ours on this path.
                address = _address(self._base_url, path)
                request = httpx.Request(method, address, content=body, headers=headers, extensions=_TIMEOUTS)
                response = await self._http.send(request)
        except NEVER_LEFT as exc:
            raise TemporaryError(0, f"连不上飞书（{type(exc).__name__}）") from exc
        except (httpx.HTTPError, TimeoutError) as exc:
            raise TemporaryError(0, f"没有等到飞书的回答（{type(exc).__name__}）", maybe_sent=True) from exc
        return _reply(response)


@lru_cache(maxsize=256)
def _address(base_url: str, path: str) -> httpx.URL:
    return httpx.URL(base_url + path)


def message_body(receive_id: str, content: str, uuid: str, message_type: str = "interactive") -> bytes:
    """The request body of one message, UTF-8: the content's JSON text stands in it as a string."""
    body = {"receive_id": receive_id, "msg_type": message_type, "content": content, "uuid": uuid}
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()


def _reply(response: httpx.Response) -> Reply:
    log_id = response.headers.get("x-tt-logid", "")
    try:
        body = json.loads(response.content)
        code = body["code"]
    except (ValueError, KeyError, TypeError):
        raise _without_code(response, log_id) from None
    if not isinstance(code, int):
        raise _without_code(response, log_id)
    if code != 0:
        raise _refusal(response, code, log_id)
    return Reply(body, log_id)


def _without_code(response: httpx.Response, log_id: str) -> SendError:
    status = response.status_code
    if status == httpx.codes.TOO_MANY_REQUESTS:
        return TemporaryError(status, "网关限流", log_id=log_id, retry_after_s=reset_s(response), whole_app=True)
    if 400 <= status < 500 and status != httpx.codes.REQUEST_TIMEOUT:
        return CardError(status, f"网关拒绝了请求（HTTP {status}）", log_id=log_id, least=Rung.LIGHT)
    return TemporaryError(status, f"飞书的回答读不懂（HTTP {status}）", log_id=log_id, maybe_sent=True)


def _refusal(response: httpx.Response, code: int, log_id: str) -> SendError:
    row = lookup(code)
    match row.reaction:
        case Reaction.WAIT_APP:
            wait_s = reset_s(response)
            return TemporaryError(code, row.reason, log_id=log_id, retry_after_s=wait_s, whole_app=True)
        case Reaction.RECEIVER_PAUSED | Reaction.RECEIVER_GONE:
            return ReceiverError(code, row.reason, log_id=log_id)
        case Reaction.QUOTA:
            return AppError(code, row.reason, log_id=log_id, until=next_month(datetime.now(UTC)))
        case Reaction.APP | Reaction.NEW_TOKEN:
            return AppError(code, row.reason, log_id=log_id)
    if row.reaction is Reaction.LATER or response.is_server_error:
        # The platform failed half-way, or is at it: the message may be there, and the same uuid settles it.
        maybe = response.is_server_error or code in IN_PROGRESS
        return TemporaryError(code, row.reason, log_id=log_id, maybe_sent=maybe)
    return CardError(code, row.reason, log_id=log_id, least=row.least, for_all=row.reaction is Reaction.CARD)


def reset_s(response: httpx.Response) -> float:
    """Seconds that the platform asks us to wait, an hour at most. Source: rate-limit page."""
    try:
        asked = float(response.headers["x-ogw-ratelimit-reset"])
    except (KeyError, ValueError):
        return GATEWAY_WAIT_S
    return min(max(0.0, asked), LONGEST_WAIT_S) if math.isfinite(asked) else GATEWAY_WAIT_S
