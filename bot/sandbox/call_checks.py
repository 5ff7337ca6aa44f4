"""Checks that several message APIs share. Source: feishu-platform notes 2.7 (codes), 2.9 (order)."""

from typing import Any

from bot.sandbox.gateway import Call, RefusalError, field_violation
from bot.sandbox.receivers import Receiver, check_reaches
from bot.sandbox.state import App, Message, World


def require_fields(fields: Any, *names: str) -> None:
    for name in names:
        value = fields.get(name)
        if value is None or value == "":
            raise field_violation(name, f"{name} is required")
        if not isinstance(value, str):
            raise field_violation(name, "must be a string")


def require_bot(app: App) -> None:
    if not app.bot_enabled:
        raise RefusalError(230006, "Bot ability is not activated.")


def invalid(detail: str) -> RefusalError:
    return RefusalError(230001, f"Your request contains an invalid request parameter, ext={detail}")


def message_of(world: World, call: Call) -> Message:
    """The message in the path. The id of a batch is no message (3.6)."""
    message_id = call.request.path_params["message_id"]
    if message_id.startswith("bm-"):
        raise invalid("a batch message is not supported")
    message = world.messages.get(message_id)
    if message is None:
        raise RefusalError(99992354, "message_id does not exist")
    return message


def require_single(message: Message) -> None:
    """What came with a batch send can be neither changed, recalled nor asked about one by one (3.6)."""
    if message.batch_id is not None:
        raise invalid("a batch message is not supported")


def require_sender(app: App, message: Message, code: int = 230012) -> None:
    if message.sender_id != app.app_id:
        raise RefusalError(code, "Operator is NOT the sender of the message.")


def require_kept(message: Message, recalled: int = 230011) -> None:
    """Neither recalled by its sender nor deleted."""
    if message.recalled:
        raise RefusalError(recalled, "The message was withdrawn.")
    if message.deleted:
        raise RefusalError(230110, "Action unavailable as the message has been deleted.")


def require_inside(world: World, app: App, chat_id: str) -> None:
    chat = world.chats.get(chat_id)
    if chat is None or app.app_id not in chat.bots:
        raise RefusalError(230002, "Bot/User can NOT be out of the chat.")


def require_reach(world: World, app: App, message: Message) -> None:
    """The chat lives, the bot is in it, its person is in the app's range. A mute or an opt-out stops only new ones."""
    check_reaches(world, app, Receiver(chat=world.chats[message.chat_id]), resigned=230013)
