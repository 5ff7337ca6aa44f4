"""Messages over one pooled HTTP client: each reply becomes a result or one of the four send errors.

The body's `code` decides, never the HTTP status alone. Source: im-v1/message/create; feishu-platform notes 2 and 14.
"""

import asyncio
import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Self
from zoneinfo import ZoneInfo

import httpx

from bot.domain.audience import Kind, Receiver
from bot.domain.errors import AppError, CardError, ReceiverError, SendError, TemporaryError
from bot.feishu.codes import Reaction, lookup
from bot.feishu.tokens import Tokens

if TYPE_CHECKING:
    from bot.feishu.documents import FeishuDocuments

log = logging.getLogger(__name__)

# More than 24 pooled connections cost httpcore more than they bring; all of them must be kept alive to be reused.
CONNECTIONS = 12
CALL_S = 15.0
GATEWAY_WAIT_S = 60.0  # a limit answer without its header
ID_TYPES = {Kind.USER: "open_id", Kind.GROUP: "chat_id"}
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
        self._http = httpx.AsyncClient(
            base_url=base_url,
            timeout=httpx.Timeout(10.0, connect=5.0),
            limits=httpx.Limits(max_connections=CONNECTIONS, max_keepalive_connections=CONNECTIONS),
        )
        self.tokens = Tokens(self._fetch_token)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._http.aclose()

    async def send(self, receiver: Receiver, card: str, uuid: str) -> str:
        """Send an interactive card. `card` is its JSON text. Returns the message id. Raises SendError."""
        body = message_body(receiver.id, card, uuid)
        path = f"/open-apis/im/v1/messages?receive_id_type={ID_TYPES[receiver.kind]}"
        reply = await self._authorised("POST", path, body)
        try:
            return str(reply.body["data"]["message_id"])
        except (KeyError, TypeError):
            raise TemporaryError(0, "回答里没有消息编号", log_id=reply.log_id, maybe_sent=True) from None

    def documents(self, **timing: Any) -> "FeishuDocuments":
        """Reading documents over the same connections with the same token. `timing`: `clock` and `sleep`."""
        from bot.feishu.documents import FeishuDocuments  # it needs this module, and not every command needs it

        return FeishuDocuments(self._http, str(self._http.base_url), self._app["app_id"], self.tokens, **timing)

    async def bot_info(self) -> Mapping[str, Any]:
        """The bot as the platform sees it: `open_id`, `app_name`. Raises SendError."""
        reply = await self._authorised("GET", "/open-apis/bot/v3/info", None)
        bot = reply.body.get("bot")
        return bot if isinstance(bot, dict) else {}

    async def _authorised(self, method: str, path: str, body: bytes | None) -> Reply:
        """Call with the current token; a refused token is replaced and the call repeated once."""
        for last in (False, True):
            token = await self.tokens.current()
            try:
                return await self._call(method, path, body, {"Authorization": f"Bearer {token}"})
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
        headers["Content-Type"] = "application/json; charset=utf-8"
        try:
            async with asyncio.timeout(CALL_S):
                response = await self._http.request(method, path, content=body, headers=headers)
        except NEVER_LEFT as exc:
            raise TemporaryError(0, f"连不上飞书（{type(exc).__name__}）") from exc
        except (httpx.HTTPError, TimeoutError) as exc:
            raise TemporaryError(0, f"没有等到飞书的回答（{type(exc).__name__}）", maybe_sent=True) from exc
        return _reply(response)


def message_body(receive_id: str, card: str, uuid: str) -> bytes:
    """The request body of one message, UTF-8: the card's JSON text stands in it as a string."""
    body = {"receive_id": receive_id, "msg_type": "interactive", "content": card, "uuid": uuid}
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
        return CardError(status, f"网关拒绝了请求（HTTP {status}）", log_id=log_id)
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
            return AppError(code, row.reason, log_id=log_id, until=_next_month(datetime.now(UTC)))
        case Reaction.APP | Reaction.NEW_TOKEN:
            return AppError(code, row.reason, log_id=log_id)
    if row.reaction is Reaction.LATER or response.is_server_error:
        # The platform failed half-way, or is at it: the message may be there, and the same uuid settles it.
        maybe = response.is_server_error or code in IN_PROGRESS
        return TemporaryError(code, row.reason, log_id=log_id, maybe_sent=maybe)
    return CardError(code, row.reason, log_id=log_id)


def reset_s(response: httpx.Response) -> float:
    """Seconds that the platform asks us to wait. Source: rate-limit page."""
    try:
        return max(0.0, float(response.headers["x-ogw-ratelimit-reset"]))
    except (KeyError, ValueError):
        return GATEWAY_WAIT_S


def _next_month(now: datetime) -> datetime:
    """The first moment of next month in China, where the quota is counted."""
    local = now.astimezone(ZoneInfo("Asia/Shanghai"))
    later = local.replace(day=1, hour=0, minute=0, second=0, microsecond=0) + timedelta(days=32)
    return later.replace(day=1)
