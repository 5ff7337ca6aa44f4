"""The app's answer to a card callback, judged as the platform does: what the person who clicked is shown.

Source: feishu-platform notes 6.2 (forms of the answer), 6.3 (codes shown).
"""

from dataclasses import dataclass
from typing import Any

import msgspec

from bot.sandbox.state import World
from bot.sandbox.validator import check_card, check_references

TOAST_TYPES = {"info", "success", "warning", "error"}
BAD_STATUS, BAD_FORMAT, BAD_CARD, WENT_BACK = 200671, 200672, 200673, 200830
LOCALE = "zh_cn"


@dataclass(frozen=True, slots=True)
class Answer:
    """`code` 0: `toast_text` is the app's (may be empty), `card` the new content of the message, if any."""

    code: int = 0
    toast_type: str = "info"
    toast_text: str = ""
    card: str | None = None


class _WrongFormatError(Exception):
    pass


def failed(code: int) -> Answer:
    """The client's own error."""
    return Answer(code, "error", f"出错了，请稍后重试（code: {code}）")


def read_answer(world: World, status: int | None, body: bytes) -> Answer:
    if status != 200:
        return failed(BAD_STATUS)
    try:
        answer = _object(msgspec.json.decode(body))
        toast_type, toast_text = _toast(answer.get("toast"))
        card = _card(answer.get("card"))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, _WrongFormatError):
        return failed(BAD_FORMAT)
    if card is None:
        return Answer(0, toast_type, toast_text)
    if card.get("schema") != "2.0":
        return failed(WENT_BACK)
    content = msgspec.json.encode(card).decode()
    return Answer(0, toast_type, toast_text, content) if _is_valid(world, content) else failed(BAD_CARD)


def _toast(toast: Any) -> tuple[str, str]:
    """Type and the text for a Chinese client. `type` may be missing; `content` may be replaced by `i18n`."""
    if toast is None:
        return "info", ""
    fields = _object(toast)
    toast_type = fields.get("type", "info")
    text = _object(fields.get("i18n") or {}).get(LOCALE) or fields.get("content")
    if toast_type not in TOAST_TYPES or not isinstance(text, str):
        raise _WrongFormatError
    return toast_type, text


def _card(card: Any) -> dict[str, Any] | None:
    """`data` is an object, not a string. Templates are not known here, so one is a wrong card."""
    if card is None:
        return None
    fields = _object(card)
    if fields.get("type") == "template":
        return {"schema": "2.0", "template": fields.get("data")}
    if fields.get("type") != "raw":
        raise _WrongFormatError
    return _object(fields.get("data"))


def _is_valid(world: World, content: str) -> bool:
    report = check_card(content)
    error = report.error or check_references(
        report, has_user=world.users.__contains__, owns_image=world.images.__contains__, may_mention_all=False
    )
    return error is None


def _object(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise _WrongFormatError
    return value
