"""What the page says in Chinese: the client's error codes, and why an action is not possible."""

CLIENT_CODES = {
    200080: "调用机器人地址时出错",
    200340: "机器人没有配置卡片回调地址",
    200341: "机器人没有在 3 秒内回应",
    200342: "连不上机器人的地址",
    200343: "找不到机器人的地址",
    200345: "机器人的卡片回调地址无效",
    200346: "机器人没有订阅卡片回调",
    200347: "机器人没有订阅卡片回调",
    200530: "表单里有组件没有 name",
    200671: "机器人返回的状态码不是 200",
    200672: "机器人返回的内容格式不对",
    200673: "机器人返回的新卡片有问题",
    200830: "卡片不能从 2.0 换回 1.0",
    300000: "平台内部错误",
}
"""Source: feishu-platform notes 6.3."""

_REFUSALS = {
    "outside the app's availability range": "你不在应用的可用范围内，用不了这个机器人",
    "group is muted": "群里开了全员禁言，只有群主和管理员能发言",
    "no chat with the bot": "你还没有打开过机器人会话",
    "a menu key has": "菜单的 event_key 长度不对",
    "manager must be a member": "管理员要先是群成员",
    "bot is in this group already": "机器人已经在群里了",
    "bot is not in this group": "机器人不在这个群里",
    "no such person": "这位同事不存在，或已离职",
    "not in such a chat": "你不在这个会话里",
    "group is dissolved": "这个群已解散",
    "no such group": "这个群不存在，或已解散",
    "no such message": "消息不存在，或已撤回",
    "not a card": "这条消息不是卡片",
    "is older than": "卡片发出已超过 14 天，按钮不再可用",
    "only clears the form": "这个按钮只清空表单",
    "must be filled in": "还有必填项没有填",
    "form has no field": "表单刚刚变过，请重新填写",
    "element is disabled": "这个组件现在不能点",
    "no element with this": "卡片刚刚更新过，请在新的卡片上再点一次",
    "empty text": "不能发送空白消息",
}


def words_of_code(code: int) -> str:
    return CLIENT_CODES.get(code, "请稍后再试")


def words_of_refusal(reason: str) -> str:
    """The client's Chinese for a refusal; an unknown one keeps its English."""
    return next((words for part, words in _REFUSALS.items() if part in reason), f"现在不能这样做：{reason}")
