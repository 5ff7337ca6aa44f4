"""What the platform posts to the bot's addresses: events and clicks, sealed and signed as it does. Or not quite."""

import json
import time
from typing import Any

import msgspec

from bot.feishu import signature
from bot.sandbox import payloads
from bot.settings import FeishuSettings

PATHS = ("/feishu/events", "/feishu/card")
PERSON = "ou_" + "a" * 32
Headers = dict[str, str]


class Callbacks:
    """Makes requests in the name of one app's platform."""

    def __init__(self, feishu: FeishuSettings) -> None:
        self.token = str.__str__(feishu.verification_token)
        self._app_id, self.key = feishu.app_id, str.__str__(feishu.encrypt_key)

    def envelope(self, event_type: str, event: Any, event_id: str = "event-1", token: str | None = None) -> bytes:
        token = self.token if token is None else token
        made = payloads.envelope(
            event_type, event, event_id=event_id, create_time="1", app_id=self._app_id, token=token
        )
        return msgspec.json.encode(made)

    def click(
        self,
        value: Any,
        event_id: str = "event-1",
        *,
        person: str = PERSON,
        chat: str = "oc_1",
        form: dict[str, Any] | None = None,
    ) -> bytes:
        event = {
            "operator": {"open_id": person},
            "token": "c-1",
            "action": {"value": value, "tag": "button", **({} if form is None else {"form_value": form})},
            "context": {"open_message_id": "om_1", "open_chat_id": chat},
        }
        return self.envelope("card.action.trigger", event, event_id)

    def message(
        self,
        text: str,
        message_id: str = "om_1",
        event_id: str = "event-1",
        *,
        person: str = PERSON,
        chat: str = "oc_1",
    ) -> bytes:
        event = {
            "sender": {"sender_id": {"open_id": person}, "sender_type": "user"},
            "message": {
                "message_id": message_id,
                "chat_id": chat,
                "chat_type": "p2p",
                "message_type": "text",
                "content": json.dumps({"text": text}),
            },
        }
        return self.envelope("im.message.receive_v1", event, event_id)

    def challenge(self, challenge: str, token: str | None = None) -> bytes:
        check = {"challenge": challenge, "token": self.token if token is None else token, "type": "url_verification"}
        return msgspec.json.encode(check)

    def sealed(self, plain: bytes) -> bytes:
        return msgspec.json.encode({"encrypt": signature.encrypt(self.key, plain)})

    def headers(self, body: bytes, at: float | str | None = None, nonce: str = "nonce") -> Headers:
        """Of a body that is signed. `at`: the timestamp, as seconds or as it is to be written."""
        stamp = at if isinstance(at, str) else str(int(time.time() if at is None else at))
        return {
            "X-Lark-Request-Timestamp": stamp,
            "X-Lark-Request-Nonce": nonce,
            "X-Lark-Signature": signature.sign(stamp, nonce, self.key, body),
        }
