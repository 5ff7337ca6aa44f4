"""What the platform's refusals of a read mean: by body code, whatever the HTTP status is.

The document half of codes.py: there the reactions are a sender's, here they are a reader's.
Sources: the error tables of wiki-v2, docx-v1, drive-v1 and bitable-v1, rate-limit page; feishu-platform notes 9.
"""

import httpx

from bot.domain.errors import DigestError
from bot.feishu.client import reset_s
from bot.feishu.codes import Reaction, lookup

LONGEST_TOLD_WAIT_S = 60.0
APP_CURE = "add the app to the document (… → 添加文档应用) or to a group that may read the space"

FORBIDDEN = {1770032: "docx", 131006: "wiki", 1254302: "bitable", 91403: "bitable"}
MISSING = {1770002: "docx", 1770003: "docx, deleted", 131005: "wiki", 1254040: "bitable app", 1254041: "bitable table"}
PASSING = {1771001: "docx", 1254607: "bitable, not ready", 1255040: "bitable, timeout", 1254290: "bitable, too many"}


class PassingError(DigestError):
    """A read that may succeed if repeated. `wait_s`: told by the platform. `new_token`: ours was refused."""

    def __init__(self, message: str, *, wait_s: float = 0.0, new_token: bool = False) -> None:
        super().__init__("busy", message)
        self.wait_s = wait_s
        self.new_token = new_token


def raise_refusal(response: httpx.Response, what: str, *, is_file: bool = False) -> None:
    """Raise DigestError unless the answer is a yes: the body's code decides, whatever the status is.

    `is_file`: a yes is a file, and has no code.
    """
    code = _code(response)
    if code == 0 or (is_file and code is None and response.is_success):
        return
    reaction = lookup(code).reaction if code is not None else None
    if reaction is Reaction.WAIT_APP or (code is None and response.status_code == httpx.codes.TOO_MANY_REQUESTS):
        raise _limited(reset_s(response))
    if reaction is Reaction.NEW_TOKEN:
        raise PassingError("the platform refused our token; look at app_id and app_secret", new_token=True)
    is_garbled = code is None and response.is_success
    if code in PASSING or reaction is Reaction.LATER or response.is_server_error or is_garbled:
        raise PassingError(f"the platform did not answer well ({code or response.status_code}); try again later")
    if code in FORBIDDEN or response.status_code == httpx.codes.FORBIDDEN:
        raise DigestError("forbidden", f"the app may not read it ({code}); {APP_CURE}", path=what)
    if code in MISSING or response.status_code == httpx.codes.NOT_FOUND:
        raise DigestError("not_found", f"does not exist ({code}); look at the token in the source", path=what)
    reason = lookup(code).reason if code is not None else f"HTTP {response.status_code}"
    raise DigestError("refused", f"the platform refused the call ({code}: {reason}); look it up there", path=what)


def _limited(told_s: float) -> DigestError:
    if told_s > LONGEST_TOLD_WAIT_S:
        return DigestError("busy", f"the platform wants {told_s:.0f} s of silence; it is asked again later")
    return PassingError("the platform's rate limit was met; it is asked again later", wait_s=told_s)


def _code(response: httpx.Response) -> int | None:
    """None for an answer without a code: a file, or a gateway's page."""
    if "json" not in response.headers.get("content-type", ""):
        return None
    try:
        code = response.json()["code"]
    except (ValueError, KeyError, TypeError):
        return None
    return code if isinstance(code, int) else None
