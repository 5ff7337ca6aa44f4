"""A request body that holds its content as an object, where the message API has it as a string.

Batch sends and custom-bot webhooks both keep the forms of the old message API: a card stands under `card`, a post has a
wrapper. Sources: batch page, custom bot guide; feishu-platform notes 3.6 and 12.
"""

import json
from typing import Any

from bot.domain.ladder import Rung


def object_body(content: str, rung: Rung, **fields: Any) -> bytes:
    """The whole body, UTF-8. `content` is JSON text in the form of `rung`; `fields` go beside it."""
    tree = json.loads(content)
    match rung:
        case Rung.CARD | Rung.LIGHT:
            body = {"msg_type": "interactive", "card": tree}
        case Rung.POST:
            body = {"msg_type": "post", "content": {"post": tree}}
        case Rung.TEXT:
            body = {"msg_type": "text", "content": tree}
    return json.dumps({**fields, **body}, ensure_ascii=False, separators=(",", ":")).encode()
