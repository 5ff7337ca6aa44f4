"""What a person means by a typed text: a command and what it is about, in Chinese or English.

A text is a command only as a whole: 「请帮我订阅一下」 subscribes, 「不要订阅」 and 「我订阅了吗」 do not. What wants
less without saying 退订 is answered with the settings, where leaving and pausing are one tap.
"""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from enum import StrEnum

from bot.domain.pause_words import pause_wish
from bot.domain.series import Series


class Command(StrEnum):
    """What the bot can be told in words; those from FIGURES on are for who runs it."""

    SUBSCRIBE = "subscribe"
    UNSUBSCRIBE = "unsubscribe"
    SETTINGS = "settings"
    TODAY = "today"
    HISTORY = "history"
    SEARCH = "search"
    PAUSE = "pause"
    RESUME = "resume"
    HELP = "help"
    FIGURES = "figures"
    PREVIEW = "preview"
    RESEND = "resend"
    STOP_QUEUE = "stop_queue"
    START_QUEUE = "start_queue"


ADMIN_WORDS = {
    "统计": Command.FIGURES,
    "预览": Command.PREVIEW,
    "补发": Command.RESEND,
    "暂停推送": Command.STOP_QUEUE,
    "恢复推送": Command.START_QUEUE,
}
SEARCH_WORDS = ("搜一下", "搜索", "搜", "search")
_SAID = {
    Command.SUBSCRIBE: "订阅 订阅社区精选 重新订阅 subscribe sub",
    Command.UNSUBSCRIBE: "退订 取消订阅 停止订阅 停止推送 取消推送 unsubscribe unsub td stop",
    Command.SETTINGS: "设置 订阅设置 偏好 状态 订阅状态 我的订阅 settings setting preferences status",
    Command.TODAY: "今日 今天 今日日报 今天的日报 看今天 最新 最新一期 today latest",
    Command.HISTORY: "往期 历史 以前的 往期日报 history archive",
    Command.PAUSE: "暂停 先暂停 pause snooze",
    Command.RESUME: "恢复 继续 恢复订阅 继续推送 resume",
    Command.HELP: "帮助 菜单 怎么用 help menu",
}
WORDS = {word: command for command, words in _SAID.items() for word in words.split()}
LONGEST = 100  # characters; nobody types a longer command
USUAL_PAUSE_DAYS = 3

_BEFORE = re.compile(
    r"(?:请问|请|麻烦你?|劳驾|帮我|帮忙|给我|替我|我想要|我想|我要|我|想要|想|能不能|可不可以|可以|你好|您好|嗨|现在"
    r"|please |pls |hi |hello |hey |i want to |i would like to |i'd like to |can you |could you )[,、\s!]*"
)
_BEHIND = re.compile(
    r"[,、\s]*(?:一下下?|吧|啊|呀|哦|哈|啦|谢谢你?您?|多谢|好吗|可以吗|行吗| please| thanks| thank you)"
)
_LESS = re.compile(r"不|别|勿|莫|停|取消|太多|太吵|打扰|骚扰|\bstop\b|\bdon'?t\b|\bdo not\b|\bno more\b|\bleave\b")
_AM_I = re.compile(r"订(?:阅)?了(?:吗|没|没有|么)|订阅了哪些|订了什么")
_ANY = {"", "日报", "推送", "社区精选", "精选", "这个", "它", "每日精选", "digest", "the digest", "daily digest"}


@dataclass(frozen=True, slots=True)
class Order:
    """A command and what it is about. `series` None where none was named.

    `rest`: what is sought, or the day that an admin named. `pause`: days, or the day on which it is to come again.
    """

    command: Command
    series: Series | None = None
    rest: str = ""
    pause: int | date | None = None


def understand(text: str, series: Sequence[Series], *, today: date, admin: bool = False) -> Order:
    """Read a typed text. With one series it need not be named; what is not understood asks for help."""
    said = folded(text)
    if len(said) > LONGEST:
        return Order(Command.HELP)
    if query := _sought(said):
        return Order(Command.SEARCH, rest=query)
    said = _bare(said)
    if admin and (order := _of_admin(said, series)):
        return order
    for word in sorted(WORDS, key=len, reverse=True):
        rest = _behind(said, word)
        order = None if rest is None else _read(WORDS[word], rest, series, today)
        if order is not None:
            return order
    if said in SEARCH_WORDS:
        return Order(Command.SEARCH)
    return Order(Command.SETTINGS if _LESS.search(said) or _AM_I.fullmatch(said) else Command.HELP, _only(series))


def folded(text: str) -> str:
    """Width and case folded; what nobody sees taken out; a slash before and signs around it taken off."""
    kept = (c for c in text[: 4 * LONGEST] if unicodedata.category(c)[0] != "C" or c.isspace())
    plain = unicodedata.normalize("NFKC", "".join(kept)).casefold().replace("\ufe0f", "")
    return _stripped(" ".join(plain.split()))


def _stripped(text: str) -> str:
    """Without signs and blanks at its ends: a command is made of letters."""
    at, end = 0, len(text)
    while at < end and unicodedata.category(text[at])[0] in "PSZ":
        at += 1
    while end > at and unicodedata.category(text[end - 1])[0] in "PSZ":
        end -= 1
    return text[at:end]


def _sought(said: str) -> str:
    """What a search is for: all that stands behind the word, politeness too."""
    if said in SEARCH_WORDS:
        return ""
    for word in SEARCH_WORDS:
        for text in (said, _BEFORE.sub("", said, count=1) if _BEFORE.match(said) else said):
            if rest := _behind(text, word):
                return rest
    return ""


def _bare(said: str) -> str:
    """Without politeness around it. 「吗」 is that only of a request: 「可以帮我订阅吗」, not 「订阅了吗」."""
    if said.startswith(("可以", "能")):
        said = _stripped(said.removesuffix("吗"))
    while (found := _BEFORE.match(said)) and found.end() < len(said):
        said = _stripped(said[found.end() :])
    while found := re.search(_BEHIND.pattern + r"$", said):
        if not found.start():
            break
        said = _stripped(said[: found.start()])
    return said


def _behind(said: str, word: str) -> str | None:
    """What follows a word, "" if nothing; None where it is another word. English words end at a blank or sign."""
    if not said.startswith(word):
        return None
    rest = said[len(word) :]
    if rest and word.isascii() and rest[0].isascii() and rest[0].isalnum():
        return None
    return _stripped(rest)


def _read(command: Command, rest: str, series: Sequence[Series], today: date) -> Order | None:
    """The order if all of the rest is understood."""
    named, rest = _named(rest, series)
    if command is Command.PAUSE:
        wish = USUAL_PAUSE_DAYS if rest in _ANY else pause_wish(rest, today)
        # 「暂停」 was said, for how long was not understood: the settings have a calendar.
        return Order(command, named, pause=wish) if wish else Order(Command.SETTINGS, named)
    return Order(command, named) if rest in _ANY else None


def _of_admin(said: str, series: Sequence[Series]) -> Order | None:
    for word, command in ADMIN_WORDS.items():
        rest = _behind(said, word)
        if rest is None:
            continue
        named, rest = _named(rest, series)
        if not rest or command is Command.RESEND:
            return Order(command, named, rest)
    return None


def _named(rest: str, series: Sequence[Series]) -> tuple[Series | None, str]:
    """The series that a text names, and what is left of it; the longest name counts."""
    for one in sorted(series, key=lambda one: len(one.name), reverse=True):
        for name in (folded(one.name), one.id):
            if name and rest == name:
                return one, ""
            if name and rest.startswith(name) and not (name[-1].isascii() and rest[len(name)].isalnum()):
                return one, _stripped(rest[len(name) :])
    return _only(series), rest


def _only(series: Sequence[Series]) -> Series | None:
    return series[0] if len(series) == 1 else None
