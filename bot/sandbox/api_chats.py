"""Who the bot is, and the groups it is in. Source: feishu-platform notes 10, 15.10."""

from collections.abc import Sequence
from typing import Any

from starlette.routing import BaseRoute

from bot.sandbox.api_messages import page_of
from bot.sandbox.gateway import Call, Gateway, RefusalError, success
from bot.sandbox.payloads import TENANT_KEY
from bot.sandbox.state import Chat, World

SCOPES = ("im:chat", "im:chat:read", "im:chat:readonly")
MEMBER_SCOPES = ("im:chat", "im:chat:readonly", "im:chat.members:read")
LARGEST_PAGE = 100
AVATAR = "https://sandbox.invalid/avatar.png"


def routes(gateway: Gateway) -> Sequence[BaseRoute]:
    api = Chats(gateway.world)
    chats = "/open-apis/im/v1/chats"
    one = chats + "/{chat_id}"
    return [
        gateway.route("GET", "/open-apis/bot/v3/info", "bot_info", api.bot_info),
        gateway.route("GET", chats, "chats", api.list, scopes=SCOPES),
        gateway.route("GET", one, "chat", api.get, scopes=SCOPES),
        gateway.route("GET", one + "/members", "members", api.members, scopes=MEMBER_SCOPES),
        gateway.route("GET", one + "/members/is_in_chat", "is_in_chat", api.is_in_chat, scopes=MEMBER_SCOPES),
    ]


class Chats:
    """One method an API."""

    def __init__(self, world: World) -> None:
        self._world = world

    async def bot_info(self, call: Call) -> dict[str, Any]:
        """`bot` stands at the top level, without `data`; msg is "ok"."""
        app = call.app
        bot = {
            "activate_status": 2 if app.enabled else 3,
            "app_name": app.name,
            "avatar_url": AVATAR,
            "ip_white_list": sorted(app.allowed_ips or ()),
            "open_id": app.bot_open_id,
        }
        return {"code": 0, "msg": "ok", "bot": bot}

    async def list(self, call: Call) -> dict[str, Any]:
        """Groups of the bot, no p2p chats; dissolved ones are gone from it (assumption)."""
        groups = [chat for chat in self._world.chats.values() if _is_group_of(chat, call.app.app_id)]
        shown, more = page_of(groups, call, default=20, largest=LARGEST_PAGE)
        return success({"items": [_summary(chat) for chat in shown], **more})

    async def get(self, call: Call) -> dict[str, Any]:
        """Everything about a chat for its members; name, avatar, counts and status for others."""
        chat = self._chat(call, allow_dissolved=True)
        outside = {"avatar": AVATAR, "name": chat.name, "chat_status": chat.status, **_counts(chat)}
        return success(outside if call.app.app_id not in chat.bots else {**outside, **_details(chat)})

    async def members(self, call: Call) -> dict[str, Any]:
        """Users only: bots are left out."""
        chat = self._chat(call)
        if call.app.app_id not in chat.bots:
            raise RefusalError(232011, "Operator can NOT be out of the chat.")
        shown, more = page_of(list(chat.members), call, default=20, largest=LARGEST_PAGE)
        items = [self._member(open_id) for open_id in shown]
        return success({"items": items, **more, "member_total": len(chat.members)})

    async def is_in_chat(self, call: Call) -> dict[str, Any]:
        return success({"is_in_chat": call.app.app_id in self._chat(call).bots})

    def _member(self, open_id: str) -> dict[str, str]:
        name = self._world.users[open_id].name
        return {"member_id_type": "open_id", "member_id": open_id, "name": name, "tenant_key": TENANT_KEY}

    def _chat(self, call: Call, *, allow_dissolved: bool = False) -> Chat:
        chat = self._world.chats.get(call.request.path_params["chat_id"])
        if chat is None:
            raise RefusalError(232006, "Your request specifies a chat_id which is invalid.")
        if chat.status != "normal" and not allow_dissolved:
            raise RefusalError(232009, "Your request specifies a chat which has already been dissolved.")
        return chat


def _is_group_of(chat: Chat, app_id: str) -> bool:
    return chat.mode == "group" and chat.status == "normal" and app_id in chat.bots


def _counts(chat: Chat) -> dict[str, str]:
    """Strings, not numbers (15.14)."""
    return {"user_count": str(len(chat.members)), "bot_count": str(len(chat.bots))}


def _owner(chat: Chat) -> dict[str, str]:
    """Both fields are absent in a p2p chat, and when the owner is a bot."""
    return {"owner_id": chat.owner_id, "owner_id_type": "open_id"} if chat.owner_id else {}


def _summary(chat: Chat) -> dict[str, Any]:
    return {
        "chat_id": chat.chat_id,
        "avatar": AVATAR,
        "name": chat.name,
        "description": "",
        **_owner(chat),
        "external": chat.external,
        "tenant_key": TENANT_KEY,
        "chat_status": chat.status,
    }


def _details(chat: Chat) -> dict[str, Any]:
    return {
        "description": "",
        "i18n_names": {"zh_cn": chat.name},
        **_owner(chat),
        "user_manager_id_list": list(chat.managers),
        "bot_manager_id_list": [],
        "group_message_type": "chat",
        "chat_mode": chat.mode,
        "chat_type": "private",
        "chat_tag": "inner",
        "external": chat.external,
        "tenant_key": TENANT_KEY,
        "at_all_permission": "all_members" if chat.mention_all else "only_owner",
        "moderation_permission": "moderator_list" if chat.muted else "all_members",
        "restricted_mode_setting": {"status": False},
    }
