"""Body codes of the platform: what each means for the sender, one row a code.

The HTTP status never decides alone: most business errors come with 400, some with 200.
Pages: CREATE = im-v1/message/create · ERR = general error codes · RATE = rate limits ·
QUOTA = notice on monthly calls · TOKEN = tenant_access_token · BATCH = batch send · PATCH = im-v1/message/patch ·
DELETE = im-v1/message/delete · READ = im-v1/message/read_users; all as of 2026-05.
FIELD = seen in the field, on no page.
"""

from dataclasses import dataclass
from enum import Enum, auto

from bot.domain.ladder import Rung


class Reaction(Enum):
    """What the sender does. The four send errors, split where the same error has two shades."""

    OK = auto()
    NEW_TOKEN = auto()  # drop the token, repeat once; a second time it is APP
    WAIT_APP = auto()  # the whole app waits for as long as the header says
    LATER = auto()  # this delivery again, with the same uuid
    RECEIVER_PAUSED = auto()  # this receiver not until it comes back
    RECEIVER_GONE = auto()  # this receiver never again by itself
    CARD = auto()  # this content for nobody in this form
    FORM = auto()  # this form not for this receiver
    MESSAGE = auto()  # this message can no longer be changed, taken back or asked about
    APP = auto()  # nobody, until a human acts
    QUOTA = auto()  # nobody until the first of next month


@dataclass(frozen=True, slots=True)
class Code:
    """`reason` and `cure` are what an admin reads, in plain Chinese; `cure` is "" where there is none.

    `least`: the first form in which a refused card may pass.
    """

    code: int
    reaction: Reaction
    reason: str
    page: str
    least: Rung | None = None
    cure: str = ""


_BACK = "请对方给机器人发一条消息，推送会自动恢复。"
_REACH = "在开发者后台把对方加进应用可用范围，再补发。"
_ADD = "把机器人重新拉进群，再补发。"
_SPEAK = "请群主放开机器人发言，再补发。"
_IDS = "名单里的编号不对或换了应用；请对方重新订阅。"
_GONE = "不用处理，以后不会再发。"
_MEND = "改好这一期的内容，重新导入，再补发。"

_ROWS = (
    Code(0, Reaction.OK, "成功", "CREATE"),
    # tokens
    Code(99991663, Reaction.NEW_TOKEN, "访问凭证已失效", "ERR"),
    Code(99991664, Reaction.NEW_TOKEN, "应用凭证已失效", "ERR"),
    Code(99991665, Reaction.NEW_TOKEN, "访问凭证不被接受", "ERR"),
    Code(99991671, Reaction.NEW_TOKEN, "访问凭证格式不对", "ERR"),
    # limits and faults that pass
    Code(99991400, Reaction.WAIT_APP, "调用太频繁，平台要求等待", "RATE"),
    Code(11232, Reaction.WAIT_APP, "平台消息整体拥堵", "RATE"),
    Code(230020, Reaction.LATER, "给同一接收方发得太快", "CREATE"),
    Code(11233, Reaction.LATER, "给同一个群发得太快", "RATE"),
    Code(230049, Reaction.LATER, "同一条消息正在发送", "CREATE"),
    Code(18121, Reaction.LATER, "同一条消息正在创建", "ERR"),
    Code(2200, Reaction.LATER, "平台内部错误", "FIELD"),
    # receivers that may come back
    Code(230002, Reaction.RECEIVER_PAUSED, "机器人不在群里", "CREATE", cure=_ADD),
    Code(10002, Reaction.RECEIVER_PAUSED, "机器人不在会话里", "ERR", cure=_ADD),
    Code(10030, Reaction.RECEIVER_PAUSED, "不能给对方发消息", "ERR", cure=_BACK),
    Code(230013, Reaction.RECEIVER_PAUSED, "对方不在应用可用范围内", "CREATE", cure=_REACH),
    Code(230018, Reaction.RECEIVER_PAUSED, "群设置不允许发言", "CREATE", cure=_SPEAK),
    Code(230035, Reaction.RECEIVER_PAUSED, "群已禁言或对方屏蔽了机器人", "CREATE", cure=_SPEAK),
    Code(230034, Reaction.RECEIVER_PAUSED, "接收方编号不正确", "CREATE", cure=_IDS),
    Code(230038, Reaction.RECEIVER_PAUSED, "对方在其他企业，不能私聊", "CREATE", cure=_GONE),
    Code(230019, Reaction.RECEIVER_PAUSED, "话题不存在", "CREATE"),
    Code(230075, Reaction.RECEIVER_PAUSED, "加密会话不支持机器人消息", "CREATE", cure=_GONE),
    Code(230053, Reaction.RECEIVER_PAUSED, "对方停止接收机器人消息", "CREATE", cure=_BACK),
    Code(99992351, Reaction.RECEIVER_PAUSED, "找不到这个人", "ERR", cure=_IDS),
    Code(99992352, Reaction.RECEIVER_PAUSED, "找不到这个人", "ERR", cure=_IDS),
    Code(99992353, Reaction.RECEIVER_PAUSED, "找不到这个人", "ERR", cure=_IDS),
    Code(99992355, Reaction.RECEIVER_PAUSED, "找不到这个群", "ERR", cure=_IDS),
    Code(99992356, Reaction.RECEIVER_PAUSED, "找不到这个群", "ERR", cure=_IDS),
    Code(99992359, Reaction.RECEIVER_PAUSED, "找不到这个人", "ERR", cure=_IDS),
    Code(99992360, Reaction.RECEIVER_PAUSED, "找不到这个人", "ERR", cure=_IDS),
    Code(99992361, Reaction.RECEIVER_PAUSED, "编号属于另一个应用", "ERR", cure=_IDS),
    Code(99992363, Reaction.RECEIVER_PAUSED, "找不到这个人", "ERR", cure=_IDS),
    Code(99992364, Reaction.RECEIVER_PAUSED, "编号属于另一个企业", "ERR", cure=_IDS),
    Code(99992381, Reaction.RECEIVER_PAUSED, "编号属于另一个企业", "ERR", cure=_IDS),
    # receivers that will not
    Code(230029, Reaction.RECEIVER_GONE, "对方已离职", "CREATE", cure=_GONE),
    Code(11236, Reaction.RECEIVER_GONE, "对方已离职", "ERR", cure=_GONE),
    Code(232009, Reaction.RECEIVER_GONE, "群已解散", "CREATE", cure=_GONE),
    # content
    Code(230001, Reaction.CARD, "消息内容不被接受", "CREATE", Rung.LIGHT, cure=_MEND),
    Code(230015, Reaction.CARD, "不能分享这个会话", "CREATE"),
    Code(230017, Reaction.CARD, "图片或文件属于另一个应用", "CREATE", Rung.LIGHT),
    Code(230022, Reaction.CARD, "内容含敏感信息", "CREATE", cure=_MEND),
    Code(230025, Reaction.CARD, "内容太长", "CREATE", Rung.LIGHT, cure=_MEND),
    Code(230028, Reaction.CARD, "内容未通过防泄漏审核（例如手机号、邮箱）", "CREATE", cure=_MEND),
    Code(230055, Reaction.CARD, "文件与消息类型不符", "CREATE"),
    Code(230099, Reaction.CARD, "卡片创建失败", "CREATE", Rung.LIGHT, cure=_MEND),
    Code(230100, Reaction.CARD, "测试消息不被接受", "CREATE"),
    Code(11246, Reaction.CARD, "卡片创建失败", "BATCH", Rung.LIGHT, cure=_MEND),
    Code(11312, Reaction.CARD, "内容未通过审核", "BATCH", cure=_MEND),
    Code(99992402, Reaction.CARD, "请求字段不合要求", "ERR", Rung.LIGHT),
    # forms
    Code(230054, Reaction.FORM, "这个群不支持卡片", "CREATE", Rung.POST),
    # messages that were sent
    Code(230009, Reaction.MESSAGE, "过了企业允许撤回的时间", "DELETE", cure="只能请管理员在飞书里处理。"),
    Code(230011, Reaction.MESSAGE, "消息已经撤回", "PATCH"),
    Code(230012, Reaction.MESSAGE, "消息不是本应用发的", "PATCH"),
    Code(230026, Reaction.MESSAGE, "没有撤回这条消息的权限", "DELETE"),
    Code(230031, Reaction.MESSAGE, "发出超过 14 天，不能再更正", "PATCH"),
    Code(230033, Reaction.MESSAGE, "发出超过 7 天，查不到已读", "READ"),
    Code(230110, Reaction.MESSAGE, "消息已经删除", "DELETE"),
    # the app itself
    Code(99991403, Reaction.QUOTA, "本月调用次数已用完", "QUOTA"),
    Code(99991672, Reaction.APP, "应用缺少权限，请在开发者后台开通并发布版本", "ERR"),
    Code(99991662, Reaction.APP, "应用已停用", "ERR"),
    Code(99991673, Reaction.APP, "应用在本企业不可用", "ERR"),
    Code(99991401, Reaction.APP, "服务器地址不在应用的白名单里", "ERR"),
    Code(99991661, Reaction.APP, "请求没有带访问凭证", "ERR"),
    Code(99991668, Reaction.APP, "访问凭证类型不对", "ERR"),
    Code(99991676, Reaction.APP, "访问凭证没有权限", "ERR"),
    Code(230006, Reaction.APP, "应用没有开启机器人能力", "CREATE"),
    Code(230027, Reaction.APP, "应用缺少发消息的权限", "CREATE"),
    Code(230036, Reaction.APP, "企业密钥已删除", "CREATE"),
    Code(10003, Reaction.APP, "app_id 或 app_secret 格式不对", "TOKEN"),
    Code(10012, Reaction.APP, "取访问凭证失败", "TOKEN"),
    Code(10013, Reaction.APP, "取访问凭证失败", "TOKEN"),
    Code(10014, Reaction.APP, "app_id 或 app_secret 不正确", "TOKEN"),
    Code(10015, Reaction.APP, "app_secret 不正确", "TOKEN"),
    Code(99991543, Reaction.APP, "app_id 或 app_secret 不存在", "TOKEN"),
)

CODES = {row.code: row for row in _ROWS}
GONE = frozenset({230011, 230110})  # a message that is to be taken back and is
CURES = {row.code: row.cure for row in _ROWS if row.cure}


def lookup(code: int) -> Code:
    """The row of a code. An unknown one refuses what was sent: it is never retried blindly, only in another form."""
    return CODES.get(code) or Code(code, Reaction.FORM, f"平台返回未知错误 {code}", "", Rung.LIGHT)
