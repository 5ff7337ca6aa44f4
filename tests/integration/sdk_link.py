"""The official SDK's long connection as a process of its own: tells a line for every event, answers every click.

python -m tests.integration.sdk_link BASE_URL APP_ID APP_SECRET
"""

import sys
from typing import Any

from bot.feishu.sdk import load

load()  # narrowly: the whole SDK takes seconds

from lark_oapi.core.enum import LogLevel  # noqa: E402
from lark_oapi.event.callback.model.p2_card_action_trigger import P2CardActionTriggerResponse  # noqa: E402
from lark_oapi.event.dispatcher_handler import EventDispatcherHandler  # noqa: E402
from lark_oapi.ws.client import Client  # noqa: E402


def heard(message: Any) -> None:
    print(message.event.message.message_id, flush=True)  # noqa: T201


def clicked(_click: Any) -> Any:
    return P2CardActionTriggerResponse({"toast": {"type": "success", "content": "收到"}})


if __name__ == "__main__":
    base_url, app_id, app_secret = sys.argv[1:]
    events = EventDispatcherHandler.builder("", "")
    events = events.register_p2_im_message_receive_v1(heard).register_p2_card_action_trigger(clicked)
    Client(app_id, app_secret, LogLevel.CRITICAL, events.build(), base_url).start()
