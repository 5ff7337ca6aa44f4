"""Where to connect to, asked anew before every connection; which refusals pass by themselves and which need a human.

Source: lark-oapi notes 5 (codes, headers of a refused upgrade), feishu-platform notes 7.6.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import parse_qs, urlsplit

import httpx
import msgspec

ASK_S = 10.0
BUSY, INTERNAL, UNAUTHORISED = 1, 1000040343, 514
_PASSING = {BUSY, INTERNAL}
_CONSOLE = "在开发者后台「凭证与基础信息」核对 app_id 和 app_secret"
# code → what is wrong, and the cure, for an admin to read
_FINAL = {
    UNAUTHORISED: ("app_id 或 app_secret 不正确", _CONSOLE),
    1000040344: ("没有带 app_id 或 app_secret", _CONSOLE),
    403: ("应用不能使用长连接", "只有已启用的企业自建应用可以；在「事件与回调」选择「使用长连接接收」并发布版本"),
    1000040350: ("长连接太多（每个应用最多 50 个）", "停掉多余的进程，尤其是忘了关的测试实例：它们会分走事件"),
}
_UNKNOWN = ("平台拒绝建立长连接", _CONSOLE + "，确认应用已启用")


class LinkError(Exception):
    """No connection now. `code` is the platform's or the HTTP status, 0 where there is none."""

    def __init__(self, reason: str, code: int = 0, cure: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.code = code
        self.cure = cure

    @property
    def is_final(self) -> bool:
        """Whether only a human can mend it."""
        return bool(self.cure)


class Tuning(msgspec.Struct, frozen=True, rename="pascal"):
    """What the platform wants of its clients: seconds, and a number of attempts (-1: no end)."""

    ping_interval: float = 120
    reconnect_nonce: float = 30
    reconnect_interval: float = 120
    reconnect_count: int = -1


class _Endpoint(msgspec.Struct):
    URL: str
    ClientConfig: Tuning | None = None


class _Answer(msgspec.Struct):
    code: int
    data: _Endpoint | None = None


@dataclass(frozen=True, slots=True)
class Endpoint:
    """An address good for one connection. It holds a ticket: it must not be shown."""

    url: str
    service: int
    tuning: Tuning | None

    def __repr__(self) -> str:
        return f"Endpoint(service={self.service})"


async def ask(http: httpx.AsyncClient, app_id: str, app_secret: str) -> Endpoint:
    """An address to connect to. Raises LinkError; the caller bounds the time."""
    body = {"AppID": app_id, "AppSecret": app_secret}
    try:
        response = await http.post("/callback/ws/endpoint", json=body, headers={"locale": "zh"})
    except httpx.HTTPError as exc:
        raise LinkError(f"连不上飞书（{type(exc).__name__}）") from exc
    if response.status_code != httpx.codes.OK:
        raise LinkError(f"飞书暂时不能建立长连接（HTTP {response.status_code}）", response.status_code)
    try:
        answer = msgspec.json.decode(response.content, type=_Answer)
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise LinkError("飞书的回答读不懂") from None
    if answer.code != 0:
        raise refused(answer.code)
    return _endpoint(answer.data, secure=http.base_url.scheme == "https")


def refused(code: int) -> LinkError:
    """The error of a code of the address call."""
    if code in _PASSING:
        return LinkError("飞书长连接服务繁忙", code)
    reason, cure = _FINAL.get(code, _UNKNOWN)
    return LinkError(reason, code, cure)


def upgrade_refused(status: int, headers: Mapping[str, str]) -> LinkError:
    """The error of an upgrade that was answered with this HTTP status and these headers."""
    codes = [headers.get(name, "") for name in ("handshake-status", "handshake-autherrcode")]
    code, auth_code = (int(text) if text.isascii() and text.isdigit() else 0 for text in codes)
    if code == UNAUTHORISED:
        # The secret was right a moment ago, so a ticket has aged, unless the platform says more.
        return refused(auth_code) if auth_code in _FINAL else LinkError("飞书不接受这张票据", auth_code or code)
    return refused(code) if code in _FINAL else LinkError(f"飞书拒绝了长连接（HTTP {status}）", code or status)


def _endpoint(data: _Endpoint | None, *, secure: bool) -> Endpoint:
    """Raises LinkError unless the address is complete, and as secure as where it came from."""
    try:
        address = urlsplit(data.URL if data else "")
        service = int(parse_qs(address.query)["service_id"][0])
    except (KeyError, ValueError):
        raise LinkError("飞书没有给出长连接的地址") from None
    if data is None or address.scheme not in ({"wss"} if secure else {"ws", "wss"}):
        raise LinkError("飞书没有给出安全的长连接地址")
    return Endpoint(data.URL, service, data.ClientConfig)
