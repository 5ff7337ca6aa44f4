"""Patch and recall of sent messages, and who has read one.

Sources: feishu-platform notes 3.2 and 15.11 (patch), 3.4 (recall), 3.5 (read_users).
"""

from collections.abc import Sequence
from typing import Any

from starlette.routing import BaseRoute

from bot.sandbox.api_messages import page_of
from bot.sandbox.audit import audit_of, check_audit
from bot.sandbox.call_checks import (
    invalid,
    message_of,
    require_bot,
    require_fields,
    require_inside,
    require_kept,
    require_reach,
    require_sender,
    require_single,
)
from bot.sandbox.card_replacement import check_replacement
from bot.sandbox.gateway import Call, Gateway, RefusalError, success
from bot.sandbox.message_content import check_size
from bot.sandbox.payloads import TENANT_KEY, millis
from bot.sandbox.state import Message, Read

PATCH_SCOPES = ("im:message", "im:message:send_as_bot", "im:message:update")
RECALL_SCOPES = ("im:message", "im:message:recall", "im:message:send_as_bot")
READ_USERS_SCOPES = ("im:message", "im:message:readonly", "im:message:basic")
DAY_S = 86_400
PATCH_DAYS, READ_DAYS = 14, 7
LARGEST_PAGE = 100


def routes(gateway: Gateway) -> Sequence[BaseRoute]:
    api = Changes(gateway)
    one = "/open-apis/im/v1/messages/{message_id}"
    return [
        gateway.route("PATCH", one, "patch", api.patch, scopes=PATCH_SCOPES),
        gateway.route("DELETE", one, "recall", api.recall, scopes=RECALL_SCOPES),
        gateway.route("GET", one + "/read_users", "read_users", api.read_users, scopes=READ_USERS_SCOPES),
    ]


class Changes:
    """One method an API."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway
        self._world, self._clock = gateway.world, gateway.clock

    async def patch(self, call: Call) -> dict[str, Any]:
        """Another card in the place of the whole old one; the message keeps its id. Nobody is told."""
        body = call.json()
        require_fields(body, "content")
        require_bot(call.app)
        message = message_of(self._world, call)
        require_sender(call.app, message)
        require_single(message)
        if message.msg_type != "interactive":
            raise invalid("This message is NOT a card.")
        require_kept(message)
        if self._age(message) > PATCH_DAYS * DAY_S:
            raise RefusalError(230031, "Message can only be updated within fourteen days.")
        require_reach(self._world, call.app, message)
        if self._gateway.limits.take_target(message.message_id) is not None:
            raise RefusalError(230020, "This operation triggers the frequency limit.")
        check_size("interactive", len(call.body))
        check_replacement(self._world, call.app, message, body["content"])
        check_audit(audit_of(self._world, self._gateway.settings), body["content"])
        await call.pause()
        content = self._world.shared(body["content"])
        self._change(message, content=content, updated=True, updated_at=self._clock.now())
        return success()

    async def recall(self, call: Call) -> dict[str, Any]:
        """Own messages only: the bot is never owner or manager of a group here. Twice is 230110."""
        require_bot(call.app)
        message = message_of(self._world, call)
        require_single(message)
        require_kept(message, recalled=230110)
        require_reach(self._world, call.app, message)
        require_sender(call.app, message, code=230026)
        if self._age(message) > self._gateway.settings.recall_window_s:
            raise RefusalError(230009, "This message can not be recalled, as it has passed the recall window.")
        await call.pause()
        self._change(message, recalled=True, updated_at=self._clock.now())
        return success()

    async def read_users(self, call: Call) -> dict[str, Any]:
        """Who has read it, first readers first; those who have not are not named."""
        asked = call.request.query_params
        require_fields(asked, "user_id_type")
        require_bot(call.app)
        message = message_of(self._world, call)
        require_sender(call.app, message)
        require_single(message)
        require_kept(message, recalled=230110)
        if self._age(message) > READ_DAYS * DAY_S:
            raise RefusalError(230033, "The message is too old: read status is kept for seven days.")
        require_inside(self._world, call.app, message.chat_id)
        shown, more = page_of(self._reads(message), call, default=20, largest=LARGEST_PAGE)
        return success({"items": [self._reader(read, asked["user_id_type"]) for read in shown], **more})

    def _reads(self, message: Message) -> list[Read]:
        members = self._world.chats[message.chat_id].members
        found = (self._world.reads.get(f"{message.message_id}/{open_id}") for open_id in members)
        return sorted((read for read in found if read), key=lambda read: read.at)

    def _reader(self, read: Read, id_type: str) -> dict[str, str]:
        user = self._world.users[read.open_id]
        ids = {"open_id": user.open_id, "union_id": user.union_id}
        if id_type not in ids:
            raise invalid("invalid user_id_type")
        return {
            "user_id_type": id_type,
            "user_id": ids[id_type],
            "timestamp": millis(read.at),
            "tenant_key": TENANT_KEY,
        }

    def _age(self, message: Message) -> float:
        return self._clock.now() - message.created_at

    def _change(self, message: Message, **fields: object) -> None:
        """On top of what happened to it while the call was slow."""
        self._world.change(self._world.messages[message.message_id], **fields)
