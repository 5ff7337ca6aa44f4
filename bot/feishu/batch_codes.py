"""What the codes of batch sends mean: several mean something else in the table of codes.py.

Pages: BATCH = batch send, 2026-03 (its refusals are HTTP 200) · RECALL, PROGRESS = batch_message/delete, get_progress;
feishu-platform notes 3.6. Codes that are not here mean what codes.py says.
"""

from datetime import datetime, timedelta

from bot.domain.errors import AppError, CardError, ReceiverError, SendError, TemporaryError
from bot.domain.ladder import Rung
from bot.domain.quota import CHINA
from bot.feishu.codes import Code, Reaction

ROWS = (
    # content
    Code(10002, Reaction.CARD, "消息创建失败，内容的格式不被接受或太长", "BATCH", Rung.LIGHT),
    Code(10003, Reaction.CARD, "请求字段不合要求", "BATCH", Rung.LIGHT),
    Code(11227, Reaction.CARD, "图片不存在，或属于另一个应用", "BATCH", Rung.LIGHT),
    Code(11231, Reaction.CARD, "要分享的群不存在", "BATCH"),
    Code(11235, Reaction.CARD, "内容提到了所有人，这里不允许", "BATCH", Rung.LIGHT),
    Code(11246, Reaction.CARD, "卡片创建失败", "BATCH", Rung.LIGHT),
    Code(11312, Reaction.CARD, "内容未通过审核", "BATCH"),
    Code(230100, Reaction.CARD, "测试消息不被接受", "BATCH"),
    # somebody of the list, and the platform does not say who
    Code(11101, Reaction.RECEIVER_PAUSED, "名单里有平台不认识的人", "BATCH"),
    # the app
    Code(11203, Reaction.APP, "应用缺少「给多个用户批量发消息」的权限，请在开发者后台开通并发布版本", "BATCH"),
    Code(11204, Reaction.APP, "应用缺少「给一个或多个部门的成员批量发消息」的权限，请开通并发布版本", "BATCH"),
    Code(11205, Reaction.APP, "应用没有开启机器人能力，请在开发者后台开启并发布版本", "BATCH"),
    Code(11207, Reaction.APP, "应用在本企业不可用，请在开发者后台看它的状态", "BATCH"),
    Code(11209, Reaction.APP, "应用不存在，请核对 app_id", "BATCH"),
    Code(11210, Reaction.APP, "应用没有安装在本企业，请联系企业管理员", "BATCH"),
    Code(11223, Reaction.APP, "应用缺少批量发消息的权限，请在开发者后台开通并发布版本", "BATCH"),
    # the day's share of batch messages; messages one by one still go
    Code(11247, Reaction.QUOTA, "今天的批量消息已到上限，明天再发", "BATCH"),
    # of a batch that was sent: final, whatever is tried
    Code(230009, Reaction.CARD, "已过企业允许撤回的时间", "RECALL"),
    Code(230012, Reaction.CARD, "这批消息不是本应用发的", "PROGRESS"),
    Code(230030, Reaction.CARD, "没有这批消息，或它已超过 30 天", "PROGRESS"),
)
CODES = {row.code: row for row in ROWS}


def meaning(error: SendError, now: datetime) -> SendError:
    """What the client took for a message's refusal, as a batch's. A fault that may pass stays what it is."""
    row = CODES.get(error.code)
    if row is None or isinstance(error, TemporaryError):
        return error
    match row.reaction:
        case Reaction.RECEIVER_PAUSED:
            return ReceiverError(row.code, row.reason, log_id=error.log_id)
        case Reaction.APP:
            return AppError(row.code, row.reason, log_id=error.log_id)
        case Reaction.QUOTA:
            wait_s = (_next_day(now) - now).total_seconds()
            return TemporaryError(row.code, row.reason, log_id=error.log_id, retry_after_s=wait_s)
    return CardError(row.code, row.reason, log_id=error.log_id, least=row.least)


def _next_day(now: datetime) -> datetime:
    """When the day's share begins anew; that the platform counts in China's days is an assumption."""
    local = now.astimezone(CHINA).replace(hour=0, minute=0, second=0, microsecond=0)
    return local + timedelta(days=1)
