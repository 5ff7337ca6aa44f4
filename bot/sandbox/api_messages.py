"""Send, reply, get, list: the message API, with every check in the order of feishu-platform notes 2.9.

Sources: 2.1-2.3 (request, response, uuid), 2.7 (codes), 3.1 (reply), 3.5 (get, list), 15.3-15.5.
"""

import hashlib
from collections.abc import Sequence
from typing import Any

from starlette.routing import BaseRoute

from bot.sandbox.audit import audit_of, check_audit
from bot.sandbox.call_checks import (
    invalid,
    message_of,
    require_bot,
    require_fields,
    require_inside,
    require_kept,
    require_single,
)
from bot.sandbox.gateway import Call, Gateway, RefusalError, field_violation, success
from bot.sandbox.message_content import check_content, check_size, read_back
from bot.sandbox.payloads import TENANT_KEY, ensure_p2p_chat, millis
from bot.sandbox.receivers import Receiver, check_may_write, find_receiver
from bot.sandbox.state import App, Message, UuidUse

SEND_SCOPES = ("im:message", "im:message:send_as_bot", "im:message:send")
READ_SCOPES = ("im:message", "im:message:readonly")
UUID_CHARS = 50
UUID_LIFE_S = 3600  # "at most one successful send in an hour"
LARGEST_PAGE = 50


def routes(gateway: Gateway) -> Sequence[BaseRoute]:
    api = Messages(gateway)
    path = "/open-apis/im/v1/messages"
    return [
        gateway.route("POST", path, "send", api.send, scopes=SEND_SCOPES),
        gateway.route("GET", path, "list_messages", api.list, scopes=READ_SCOPES),
        gateway.route("GET", path + "/{message_id}", "get_message", api.get, scopes=READ_SCOPES),
        gateway.route("POST", path + "/{message_id}/reply", "reply", api.reply, scopes=SEND_SCOPES),
    ]


class Messages:
    """One method an API. Create and reply share one space of uuids (16.4: unconfirmed, the harshest reading)."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway
        self._world, self._clock = gateway.world, gateway.clock
        self._in_progress: set[str] = set()

    async def send(self, call: Call) -> dict[str, Any]:
        body = call.json()
        id_type = call.request.query_params.get("receive_id_type")
        require_fields({"receive_id_type": id_type, **body}, "receive_id_type", "receive_id")
        _check_message_fields(body)
        require_bot(call.app)
        receiver = find_receiver(self._world, call.app, str(id_type), body["receive_id"])
        return await self._deliver(call, body, receiver, None)

    async def reply(self, call: Call) -> dict[str, Any]:
        """Attached to the message, in its chat. `reply_in_thread` is accepted and changes nothing here."""
        body = call.json()
        _check_message_fields(body)
        require_bot(call.app)
        parent = message_of(self._world, call)
        require_single(parent)
        require_kept(parent)
        return await self._deliver(call, body, Receiver(chat=self._world.chats[parent.chat_id]), parent)

    async def get(self, call: Call) -> dict[str, Any]:
        """With `card_msg_content_type=user_card_content` a card comes as it was sent, else simplified."""
        message = message_of(self._world, call)
        if message.deleted:
            raise RefusalError(230110, "Action unavailable as the message has been deleted.")
        require_inside(self._world, call.app, message.chat_id)
        if self._is_of_others(call.app, message):
            raise RefusalError(230027, "Lack of necessary permissions.")
        view = self.view(message)
        if call.request.query_params.get("card_msg_content_type") == "user_card_content" and not message.recalled:
            view["body"] = {"content": message.content}
        return success({"items": [view]})

    async def list(self, call: Call) -> dict[str, Any]:
        """Messages of one chat, oldest first (`sort_type` ByCreateTimeDesc turns it); threads are not kept."""
        asked = call.request.query_params
        require_fields(asked, "container_id_type", "container_id")
        if asked["container_id_type"] != "chat":
            raise invalid("container_id_type")
        require_inside(self._world, call.app, asked["container_id"])
        messages = [one for one in self._world.messages_in(asked["container_id"]) if not one.deleted]
        if asked.get("sort_type") == "ByCreateTimeDesc":
            messages.reverse()
        shown, more = page_of(messages, call, default=20, largest=LARGEST_PAGE)
        return success({"items": [self.view(message) for message in shown], **more})

    def _is_of_others(self, app: App, message: Message) -> bool:
        """Written by somebody else in a group, which needs a scope of its own."""
        in_group = self._world.chats[message.chat_id].mode == "group"
        allowed = app.scopes is None or "im:message.group_msg" in app.scopes
        return in_group and message.sender_id != app.app_id and not allowed

    def view(self, message: Message) -> dict[str, Any]:
        """A message as the API shows it: instants are strings of milliseconds, cards come simplified (2.2)."""
        by_app = message.sender_type == "app"
        content = '{"text":"This message was recalled"}' if message.recalled else read_back(message)
        return {
            "message_id": message.message_id,
            **({"parent_id": message.parent_id, "root_id": message.root_id} if message.parent_id else {}),
            "msg_type": message.msg_type,
            "create_time": millis(message.created_at),
            "update_time": millis(message.updated_at),
            "deleted": message.recalled,
            "updated": message.updated,
            "chat_id": message.chat_id,
            "sender": {
                "id": message.sender_id,
                "id_type": "app_id" if by_app else "open_id",
                "sender_type": message.sender_type,
                "tenant_key": TENANT_KEY,
            },
            "body": {"content": content},
        }

    async def _deliver(
        self, call: Call, body: dict[str, Any], receiver: Receiver, parent: Message | None
    ) -> dict[str, Any]:
        check_may_write(self._world, call.app, receiver)
        target = receiver.chat_id(self._world, call.app)
        if self._gateway.limits.take_target(target) is not None:
            raise RefusalError(230020, "This operation triggers the frequency limit.")
        use = f"{call.app.app_id}/{body.get('uuid')}" if body.get("uuid") else ""
        if (earlier := self._replayed(use, target, body)) is not None:
            return success(self.view(earlier))
        if use in self._in_progress:
            raise RefusalError(230049, "The message is being sent.")
        self._in_progress.update({use} - {""})
        try:
            check_size(body["msg_type"], len(call.body))
            check_content(self._world, call.app, receiver.chat, body["msg_type"], body["content"])
            check_audit(audit_of(self._world, self._gateway.settings), body["content"])
            await call.pause()
            return success(self.view(self._store(call.app, body, receiver, parent, use)))
        finally:
            self._in_progress.discard(use)

    def _replayed(self, use: str, target: str, body: dict[str, Any]) -> Message | None:
        """The first message under this uuid within the hour, whatever content and receiver come now (2.3)."""
        first = self._world.uuid_uses.get(use)
        message = self._world.messages.get(first.message_id) if first else None
        if first is None or message is None or self._clock.now() - first.at >= UUID_LIFE_S:
            return None
        if self._gateway.settings.strict_uuid and (first.receiver, first.digest) != (target, _digest(body)):
            changed = "another receiver" if first.receiver != target else "other content"
            self._world.violations.append(f"uuid of {first.message_id} was used again with {changed}")
        return message

    def _store(self, app: App, body: dict[str, Any], receiver: Receiver, parent: Message | None, use: str) -> Message:
        chat = receiver.chat or ensure_p2p_chat(self._world, app.app_id, receiver.person)
        now = self._clock.now()
        message = Message(
            self._world.next_message_id(),
            chat.chat_id,
            app.app_id,
            "app",
            body["msg_type"],
            self._world.shared(body["content"]),
            now,
            now,
            parent_id=parent.message_id if parent else None,
            root_id=(parent.root_id or parent.message_id) if parent else None,
        )
        if use:  # first: a kill between the two lines leaves a key without its message, which is a free key
            self._world.put(UuidUse(use, message.message_id, chat.chat_id, _digest(body), now))
        self._world.put(message)
        return message


def page_of(rows: list[Any], call: Call, *, default: int, largest: int) -> tuple[list[Any], dict[str, Any]]:
    """The page that `page_size` and `page_token` ask for, and the fields that lead to the next one."""
    asked = call.request.query_params
    size, token = asked.get("page_size") or str(default), asked.get("page_token") or "0"
    if not size.isdecimal() or not 1 <= int(size) <= largest:
        raise field_violation("page_size", f"must be 1 to {largest}")
    if not token.isdecimal():
        raise field_violation("page_token", "is invalid")
    start, end = int(token), int(token) + int(size)
    more = end < len(rows)
    return rows[start:end], {"has_more": more, "page_token": str(end) if more else ""}


def _check_message_fields(body: dict[str, Any]) -> None:
    """`content` must be a string: an object is the commonest mistake (15.5; 99992402 or 230001 is unconfirmed)."""
    require_fields(body, "msg_type", "content")
    uuid = body.get("uuid")
    if uuid is not None and not isinstance(uuid, str):
        raise field_violation("uuid", "must be a string")
    if uuid and len(uuid) > UUID_CHARS:
        raise field_violation("uuid", f"the max len is {UUID_CHARS}")


def _digest(body: dict[str, Any]) -> str:
    return hashlib.sha256(f"{body['msg_type']}\n{body['content']}".encode()).hexdigest()
