"""Bodies of the events and callbacks that the platform pushes, without their envelope.

Source: feishu-platform notes 8 (events), 6.1 (card.action.trigger). `user_id` is left out everywhere: seeing it needs a
scope of its own. Instants: strings of milliseconds, but the menu's `timestamp` is a number of seconds (15.14).
"""

import secrets
from collections.abc import Sequence
from typing import Any

import msgspec

from bot.sandbox.state import Chat, Message, User, World

TENANT_KEY = "sandbox-tenant"


def millis(at: float) -> str:
    return str(int(at * 1000))


def ensure_p2p_chat(world: World, app_id: str, user: User) -> Chat:
    """The chat of a person and the bot; writing to each other for the first time opens it (2.1)."""
    chat_id = world.p2p_chat_id(app_id, user.open_id)
    if chat_id not in world.chats:
        world.put(Chat(chat_id, "p2p", world.apps[app_id].name, (user.open_id,), bots=(app_id,)))
    return world.chats[chat_id]


def chat_entered(user: User, chat: Chat, last: Message | None) -> dict[str, Any]:
    """im.chat.access_event.bot_p2p_chat_entered_v1"""
    return {
        "chat_id": chat.chat_id,
        "operator_id": ids_of(user),
        "last_message_id": last.message_id if last else "",
        "last_message_create_time": millis(last.created_at) if last else "",
    }


def message_received(world: World, user: User, chat: Chat, message: Message) -> dict[str, Any]:
    """im.message.receive_v1. A mention stands in the text as `@_user_1`."""
    mentions = [_mention(world, number, open_id) for number, open_id in enumerate(message.mentions, 1)]
    thread = {"root_id": message.root_id, "parent_id": message.parent_id} if message.parent_id else {}
    return {
        "sender": {"sender_id": ids_of(user), "sender_type": "user", "tenant_key": TENANT_KEY},
        "message": {
            "message_id": message.message_id,
            **thread,
            "create_time": millis(message.created_at),
            "update_time": millis(message.updated_at),
            "chat_id": chat.chat_id,
            "chat_type": chat.mode,
            "message_type": message.msg_type,
            "content": message.content,
            **({"mentions": mentions} if mentions else {}),
        },
    }


def messages_read(user: User, messages: Sequence[Message], at: float) -> dict[str, Any]:
    """im.message.message_read_v1, only for the chat of a person and the bot."""
    reader = {"reader_id": ids_of(user), "read_time": millis(at), "tenant_key": TENANT_KEY}
    return {"reader": reader, "message_id_list": [message.message_id for message in messages]}


def menu_chosen(user: User, event_key: str, at: float) -> dict[str, Any]:
    """application.bot.menu_v6. It names no chat: the app answers by open_id."""
    operator = {"operator_name": user.name, "operator_id": ids_of(user)}
    return {"operator": operator, "event_key": event_key, "timestamp": int(at)}


def group_event(world: World, chat: Chat, operator: str) -> dict[str, Any]:
    """im.chat.member.bot.added_v1, …deleted_v1 and im.chat.disbanded_v1 have the same fields."""
    return {
        "chat_id": chat.chat_id,
        "operator_id": ids_of(world.users[operator]),
        "external": chat.external,
        "operator_tenant_key": TENANT_KEY,
        "name": chat.name,
        "i18n_names": {"zh_cn": chat.name, "en_us": "", "ja_jp": ""},
    }


def moderation_changed(world: World, before: Chat, after: Chat) -> dict[str, Any]:
    """im.chat.updated_v1, with the changed key only. The owner did it."""
    return {
        "chat_id": after.chat_id,
        "operator_id": ids_of(world.users[after.owner_id or after.members[0]]),
        "external": after.external,
        "operator_tenant_key": TENANT_KEY,
        "after_change": {"moderation_permission": _moderation(after)},
        "before_change": {"moderation_permission": _moderation(before)},
        "moderator_list": {"added_member_list": [], "removed_member_list": []},
    }


def user_deleted(user: User) -> dict[str, Any]:
    """contact.user.deleted_v3"""
    status = {"is_frozen": False, "is_resigned": True, "is_activated": True, "is_exited": False, "is_unjoin": False}
    return {
        "object": {"open_id": user.open_id, "union_id": user.union_id, "name": user.name, "status": status},
        "old_object": {"department_ids": ["0"], "open_id": user.open_id},
    }


def card_action(user: User, message: Message, action: dict[str, Any]) -> dict[str, Any]:
    """card.action.trigger: host and context inside the event, as the SDK's model has them (6.1)."""
    return {
        "operator": {"tenant_key": TENANT_KEY, **ids_of(user)},
        "token": f"c-{secrets.token_hex(20)}",
        "action": action,
        "host": "im_message",
        "context": {"open_message_id": message.message_id, "open_chat_id": message.chat_id},
    }


def envelope(
    event_type: str, event: dict[str, Any] | msgspec.Raw, *, event_id: str, create_time: str, app_id: str, token: str
) -> dict[str, Any]:
    """Schema 2.0 (7.4). `create_time` is in milliseconds, of a card callback in microseconds."""
    header = {
        "event_id": event_id,
        "token": token,
        "create_time": create_time,
        "event_type": event_type,
        "tenant_key": TENANT_KEY,
        "app_id": app_id,
    }
    return {"schema": "2.0", "header": header, "event": event}


def ids_of(user: User) -> dict[str, str]:
    return {"union_id": user.union_id, "open_id": user.open_id}


def _mention(world: World, number: int, open_id: str) -> dict[str, Any]:
    """Of a person, or of a bot: a bot's open_id belongs to an app."""
    bot = next((app for app in world.apps.values() if app.bot_open_id == open_id), None)
    user = world.users.get(open_id)
    return {
        "key": f"@_user_{number}",
        "id": ids_of(user) if user else {"union_id": world.name_id("on_", open_id), "open_id": open_id},
        "mentioned_type": "bot" if bot else "user",
        "name": bot.name if bot else (user.name if user else ""),
        "tenant_key": TENANT_KEY,
    }


def _moderation(chat: Chat) -> str:
    return "moderator_list" if chat.muted else "all_members"
