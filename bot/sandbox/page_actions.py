"""What can be done on the page, and what it says afterwards. Each action is one call of the client."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from urllib.parse import quote

import msgspec
from starlette.datastructures import FormData

from bot.sandbox.app import Sandbox
from bot.sandbox.client_actions import ActionRefusedError, Shown
from bot.sandbox.draw import decoded
from bot.sandbox.page_words import words_of_code, words_of_refusal
from bot.sandbox.press import NotOnCardError, read_press
from bot.sandbox.state import User

_MOST_HOURS = 24 * 31


class PageToast(msgspec.Struct, frozen=True):
    """`kind`: info, success, warning or error. `detail` explains a client's error code."""

    kind: str
    text: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Outcome:
    """`goto`: the page to show next, None for the one we came from."""

    toast: PageToast | None = None
    goto: str | None = None


@dataclass(frozen=True, slots=True)
class Visit:
    """Who acts, in which chat, with what was posted."""

    sandbox: Sandbox
    me: User
    chat_id: str | None
    form: FormData

    def text(self, name: str) -> str:
        value = self.form.get(name)
        return value if isinstance(value, str) else ""

    def texts(self, name: str) -> list[str]:
        return [value for value in self.form.getlist(name) if isinstance(value, str)]

    @property
    def chat(self) -> str:
        return self.chat_id or ""

    def url_of(self, chat_id: str) -> str:
        return f"/as/{quote(self.me.open_id, safe='')}/chats/{quote(chat_id, safe='')}/"


Action = Callable[[Visit], Awaitable[Outcome]]


async def perform(action: Action, visit: Visit) -> Outcome:
    """Do it; what the client refuses becomes a toast."""
    try:
        return await action(visit)
    except ActionRefusedError as refused:
        return Outcome(PageToast("error", words_of_refusal(str(refused))))
    except NotOnCardError:
        return Outcome(PageToast("warning", "卡片刚刚更新过", "请在新的卡片上再点一次"))


def shown_as_toast(shown: Shown) -> PageToast | None:
    """What a client shows: the app's toast, its own error code, or nothing."""
    if shown.code:
        return PageToast("error", f"操作失败 {shown.code}", words_of_code(shown.code))
    if shown.toast_text:
        return PageToast(shown.toast_type or "info", shown.toast_text)
    if shown.answered is False:
        return PageToast("warning", "机器人没有应答这个事件", "平台会在 15 秒、5 分钟、1 小时和 6 小时后再推送")
    return None


async def _open_bot(visit: Visit) -> Outcome:
    shown = await visit.sandbox.client.open_bot_chat(visit.me.open_id)
    return Outcome(shown_as_toast(shown), visit.url_of(shown.chat_id or ""))


async def _click(visit: Visit) -> Outcome:
    message_id = visit.text("message_id")
    message = visit.sandbox.world.messages.get(message_id)
    fields = {key: visit.texts(key) for key in visit.form}
    press = read_press(decoded(message.content) if message else {}, visit.text("press"), fields)
    shown = await visit.sandbox.client.click(
        visit.me.open_id, message_id, press.wanted, form_value=press.form_value, chosen=press.chosen
    )
    return Outcome(shown_as_toast(shown))


async def _say(visit: Visit) -> Outcome:
    """A text that begins with @ and the bot's name mentions it, like the tick beside the line."""
    app = visit.sandbox.world.apps[visit.sandbox.settings.app_id]
    text = visit.text("text").strip()
    called = f"@{app.name}"
    mention = bool(visit.text("mention")) or text.startswith(called)
    shown = await visit.sandbox.client.say(
        visit.me.open_id, visit.chat, text.removeprefix(called).strip() if mention else text, mention
    )
    return Outcome(shown_as_toast(shown))


async def _menu(visit: Visit) -> Outcome:
    return Outcome(shown_as_toast(await visit.sandbox.client.choose_menu(visit.me.open_id, visit.text("key"))))


async def _add_bot(visit: Visit) -> Outcome:
    shown = await visit.sandbox.client.add_bot(visit.chat, visit.me.open_id)
    return Outcome(shown_as_toast(shown) or PageToast("success", "机器人已进群"))


async def _remove_bot(visit: Visit) -> Outcome:
    shown = await visit.sandbox.client.remove_bot(visit.chat, visit.me.open_id)
    return Outcome(shown_as_toast(shown) or PageToast("success", "机器人已移出"))


async def _mute(visit: Visit) -> Outcome:
    muted = visit.text("on") == "1"
    shown = await visit.sandbox.client.set_muted(visit.chat, muted)
    return Outcome(shown_as_toast(shown) or PageToast("success", "已开启全员禁言" if muted else "已解除禁言"))


async def _dissolve(visit: Visit) -> Outcome:
    keep = visit.text("keep") == "1"
    await visit.sandbox.client.dissolve(visit.chat, keep)
    home = f"/as/{quote(visit.me.open_id, safe='')}/"
    return Outcome(PageToast("success", "群已解散"), None if keep else home)


async def _create_group(visit: Visit) -> Outcome:
    name = visit.text("name").strip()[:60] or "新群"
    shown = await visit.sandbox.client.create_group(name, visit.me.open_id, visit.texts("member"))
    if visit.text("with_bot") and shown.chat_id:
        added = await visit.sandbox.client.add_bot(shown.chat_id, visit.me.open_id)
        return Outcome(shown_as_toast(added), visit.url_of(shown.chat_id))
    return Outcome(goto=visit.url_of(shown.chat_id or ""))


async def _stop(visit: Visit) -> Outcome:
    stopped = visit.text("on") == "1"
    await visit.sandbox.client.stop_messages(visit.me.open_id, stopped)
    return Outcome(PageToast("success", "不再接收机器人的消息" if stopped else "重新接收机器人的消息"))


async def _resign(visit: Visit) -> Outcome:
    await visit.sandbox.client.resign(visit.me.open_id)
    return Outcome(PageToast("info", f"{visit.me.name} 已离职"), "/")


async def _forward(visit: Visit) -> Outcome:
    """The clock of the sandbox only: whether the bot follows it depends on how it was started."""
    hours = visit.text("hours")
    if not (hours.isascii() and hours.isdigit() and 0 < int(hours[:4]) <= _MOST_HOURS):
        return Outcome(PageToast("error", "时间只能往后拨 1 小时到 31 天"))
    visit.sandbox.clock.advance(int(hours[:4]) * 3600)
    return Outcome(PageToast("success", f"沙箱的时钟拨快了 {hours} 小时"))


async def _audit(visit: Visit) -> Outcome:
    """The words are split at spaces and commas. What is not ticked is off."""
    words, leaks = visit.text("words").replace("，", " ").replace(",", " ").split(), bool(visit.text("leaks"))
    visit.sandbox.change_audit(words=tuple(words), leaks=leaks)
    return Outcome(PageToast("success", "内容审核已开启" if words or leaks else "内容审核已关闭"))


async def _read(visit: Visit) -> Outcome:
    await visit.sandbox.client.read_chat(visit.me.open_id, visit.chat)
    return Outcome()


MINE: Mapping[str, Action] = {
    "open": _open_bot,
    "group": _create_group,
    "stop": _stop,
    "resign": _resign,
    "forward": _forward,
    "audit": _audit,
}
IN_CHAT: Mapping[str, Action] = {
    "click": _click,
    "read": _read,
    "say": _say,
    "menu": _menu,
    "add-bot": _add_bot,
    "remove-bot": _remove_bot,
    "mute": _mute,
    "dissolve": _dissolve,
}
