"""The incoming webhook of custom bots. Source: feishu-platform notes 12 (page HOOK, general table ERR).

Every answer is HTTP 200 with a body code, without `error`. Calls need no token and do not count for the monthly quota.
"""

import base64
import hashlib
import hmac
import ipaddress
from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Any

import msgspec
from starlette.routing import BaseRoute

from bot.sandbox.batch_content import TYPES, FormError, note_dead_controls, read_content, sub_codes, words_of
from bot.sandbox.gateway import Call, Gateway, RefusalError
from bot.sandbox.state import App, Chat, Hook, Message

MOST_BYTES = 20_000  # 20 KB in the text; the code for too long speaks of 30 KB (16.33). The smaller unit of each
FAR_TOO_MANY_BYTES = 30_000
SIGNED_FOR_S = 3600
FORM_CODES = {230001, 230017, 11231}
ACCEPTED = {"StatusCode": 0, "StatusMessage": "success", "code": 0, "data": {}, "msg": "success"}


def routes(gateway: Gateway) -> Sequence[BaseRoute]:
    path = "/open-apis/bot/v2/hook/{token}"
    return [gateway.route("POST", path, "hook", HookApi(gateway).receive, token=False)]


def sign(timestamp: str, secret: str) -> str:
    """Base64 of HMAC-SHA256 of nothing; timestamp, a line break and the secret are the key."""
    return base64.b64encode(hmac.digest(f"{timestamp}\n{secret}".encode(), b"", hashlib.sha256)).decode()


class HookApi:
    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway
        self._world, self._clock = gateway.world, gateway.clock

    async def receive(self, call: Call) -> dict[str, Any]:
        """One message into the custom bot's group; the answer names no message."""
        try:
            hook, chat = self._hook(call)
            self._check_caller(call, hook)
            body = _body(call.body)
            self._check_sign(hook, body)
            content = self._content(hook, chat, body)
            await call.pause()
            self._store(hook, body, content)
        except RefusalError as refusal:
            return {"code": refusal.code, "data": {}, "msg": refusal.msg}
        return ACCEPTED

    def _hook(self, call: Call) -> tuple[Hook, Chat]:
        """19001 before anything else is looked at. A dissolved group has no custom bots any more (assumption)."""
        hook = self._world.hooks.get(call.request.path_params["token"])
        chat = self._world.chats.get(hook.chat_id) if hook and not hook.removed else None
        if hook is None or chat is None or chat.status != "normal":
            raise RefusalError(19001, "param invalid: incoming webhook access token invalid")
        return hook, chat

    def _check_caller(self, call: Call, hook: Hook) -> None:
        client = call.request.client
        if hook.ips and not (client and any(_matches(client.host, one) for one in hook.ips)):
            raise RefusalError(19022, "Ip Not Allowed")
        if self._gateway.limits.take_hook(hook.sender_id, hook.chat_id) is not None:
            raise RefusalError(11232, "frequency limited")

    def _check_sign(self, hook: Hook, body: dict[str, Any]) -> None:
        """19021 by the clock that the app goes by, as for the signatures of events."""
        if not hook.secret:
            return
        now = self._clock.now() if self._gateway.settings.bot_shares_clock else self._clock.base()
        timestamp, given = str(body.get("timestamp")), str(body.get("sign"))
        fresh = timestamp.isascii() and timestamp.isdigit() and abs(now - int(timestamp[:15])) <= SIGNED_FOR_S
        if not fresh or not hmac.compare_digest(sign(timestamp, hook.secret).encode(), given.encode()):
            raise RefusalError(19021, "sign match fail or timestamp is not within one hour from current time")

    def _content(self, hook: Hook, chat: Chat, body: dict[str, Any]) -> str:
        """19002 for another form, 19024 without a keyword, 11246 with its sub-codes for a card (seen in the field).

        What the audit stops is 11246 as well (assumption).
        """
        if body.get("msg_type") not in TYPES:
            raise RefusalError(19002, "params error, msg_type need")
        try:
            content = read_content(self._gateway, self._app, chat, body, may_share=lambda one: one == hook.chat_id)
        except FormError as exc:
            raise RefusalError(19002, f"params error, {exc}") from None
        except RefusalError as refusal:
            code = 19002 if refusal.code in FORM_CODES else 11246
            raise RefusalError(code, sub_codes(refusal)) from None
        if hook.keywords and not any(word in text for text in words_of(body) for word in hook.keywords):
            raise RefusalError(19024, "Key Words Not Found")
        return content

    def _store(self, hook: Hook, body: dict[str, Any], content: str) -> None:
        now = self._clock.now()
        message_id, msg_type = self._world.next_message_id(), body["msg_type"]
        self._world.put(Message(message_id, hook.chat_id, hook.sender_id, "app", msg_type, content, now, now))
        note_dead_controls(self._world, message_id, body)

    @property
    def _app(self) -> App:
        """Whose images it may show: a custom bot uploads none itself."""
        return self._world.apps[self._gateway.settings.app_id]


def _body(raw: bytes) -> dict[str, Any]:
    """9499 for what is no object or over 20 KB, 19036 over 30 KB."""
    if len(raw) > FAR_TOO_MANY_BYTES:
        raise RefusalError(19036, "The message exceeds the size limit of 30KB")
    try:
        body = msgspec.json.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        body = None
    if not isinstance(body, dict) or len(raw) > MOST_BYTES:
        raise RefusalError(9499, "Bad Request")
    return body


def _matches(host: str, allowed: str) -> bool:
    """An address, a pattern like 123.12.1.* or a network like 123.1.1.1/24."""
    try:
        return ipaddress.ip_address(host) in ipaddress.ip_network(allowed, strict=False)
    except ValueError:
        return fnmatchcase(host, allowed)
