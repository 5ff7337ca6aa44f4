"""What the answers of a custom-bot webhook mean: by body code, since the platform's own come as HTTP 200.

The webhook half of codes.py. A webhook has no app behind it and limits of its own, so nothing here stops anybody else.
Pages: HOOK = custom bot guide, 2025-03 · ERR = general error codes · RATE = rate limits; feishu-platform notes 12.
FIELD = seen in the field, on no page. Who answers need not be the platform: nothing of an answer is taken as it comes.
"""

import json
from typing import Any

import httpx

from bot.domain.errors import CardError, ReceiverError, SendError, TemporaryError
from bot.domain.ladder import Rung
from bot.feishu.client import reset_s
from bot.feishu.codes import Code, Reaction

LONGEST_TOLD_WAIT_S = 600.0
LOG_ID_CHARS = 100
HIGHEST_CODE = 2**31  # the ledger holds no more

ROWS = (
    Code(0, Reaction.OK, "成功", "HOOK"),
    # the custom bot itself: its group has to act, or whoever keeps its address here
    Code(19001, Reaction.RECEIVER_GONE, "机器人已被移除或地址不对，请在群设置里添加后换上新地址", "HOOK"),
    Code(
        19021,
        Reaction.RECEIVER_PAUSED,
        "签名不对：请核对机器人的签名密钥，并看服务器的时钟是否准（相差须在一小时内）",
        "HOOK",
    ),
    Code(19022, Reaction.RECEIVER_PAUSED, "服务器不在机器人的 IP 白名单里，请在机器人的安全设置里加上", "HOOK"),
    Code(
        19024,
        Reaction.RECEIVER_PAUSED,
        "消息里没有机器人要求的关键词，请在它的安全设置里加上日报标题里的词，或改用签名",
        "HOOK",
    ),
    Code(99991201, Reaction.RECEIVER_PAUSED, "这个地址上没有自定义机器人，请核对地址", "ERR"),
    # limits
    Code(11232, Reaction.LATER, "给这个机器人发得太快，或平台消息拥堵", "HOOK"),
    Code(11233, Reaction.LATER, "给同一个群发得太快", "RATE"),
    Code(230020, Reaction.LATER, "给同一个群发得太快", "RATE"),
    Code(11247, Reaction.LATER, "平台消息拥堵", "FIELD"),
    Code(99991400, Reaction.LATER, "调用太频繁，平台要求等待", "RATE"),
    # content
    Code(9499, Reaction.CARD, "请求的格式不被接受", "HOOK", Rung.LIGHT),
    Code(19002, Reaction.CARD, "消息的格式不被接受", "HOOK", Rung.LIGHT),
    Code(19036, Reaction.CARD, "内容太长", "HOOK", Rung.LIGHT),
    Code(11246, Reaction.CARD, "卡片创建失败", "FIELD", Rung.LIGHT),
    Code(11248, Reaction.CARD, "内容含敏感信息", "ERR"),
    Code(11312, Reaction.CARD, "内容未通过审核", "ERR"),
    Code(230022, Reaction.CARD, "内容含敏感信息", "ERR"),
    Code(230028, Reaction.CARD, "内容未通过防泄漏审核（例如手机号、邮箱）", "ERR"),
)
CODES = {row.code: row for row in ROWS}


def raise_refusal(response: httpx.Response, content: bytes) -> None:
    """Raise SendError unless the answer is a yes. `content` is the answer's body, or as much of it as was read."""
    log_id = response.headers.get("x-tt-logid", "")[:LOG_ID_CHARS]
    code = _code(content)
    if code is None:
        raise _without_code(response, log_id)
    row = CODES.get(code) or Code(code, Reaction.FORM, f"平台返回未知错误 {code}", "", Rung.LIGHT)
    match row.reaction:
        case Reaction.OK:
            return
        case Reaction.RECEIVER_GONE | Reaction.RECEIVER_PAUSED:
            raise ReceiverError(code, row.reason, log_id=log_id)
        case Reaction.LATER:
            raise TemporaryError(code, row.reason, log_id=log_id, retry_after_s=_told_s(response))
    if response.is_server_error:
        raise TemporaryError(code, row.reason, log_id=log_id, maybe_sent=True)
    raise CardError(code, row.reason, log_id=log_id, least=row.least, for_all=row.reaction is Reaction.CARD)


def _without_code(response: httpx.Response, log_id: str) -> SendError:
    status = response.status_code
    if status == httpx.codes.TOO_MANY_REQUESTS:
        return TemporaryError(
            status, "网关限流", log_id=log_id, retry_after_s=min(reset_s(response), LONGEST_TOLD_WAIT_S)
        )
    if 300 <= status < 500 and status != httpx.codes.REQUEST_TIMEOUT:
        return ReceiverError(status, f"回答的不是自定义机器人（HTTP {status}），请核对地址", log_id=log_id)
    return TemporaryError(status, f"飞书的回答读不懂（HTTP {status}）", log_id=log_id, maybe_sent=True)


def _told_s(response: httpx.Response) -> float | None:
    """How long to wait, where a limit's answer says it; webhooks' own do not."""
    return min(reset_s(response), LONGEST_TOLD_WAIT_S) if "x-ogw-ratelimit-reset" in response.headers else None


def _code(content: bytes) -> int | None:
    """None for an answer that is not the platform's. Older ones have only `StatusCode` (FIELD)."""
    try:
        body: Any = json.loads(content)
        code = body.get("code", body.get("StatusCode"))
    except (ValueError, AttributeError, RecursionError):
        return None
    return code if isinstance(code, int) and abs(code) < HIGHEST_CODE else None
