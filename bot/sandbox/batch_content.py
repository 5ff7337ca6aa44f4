"""Content that comes as an object, of batch sends and custom-bot webhooks: both keep the forms of the old message API.

Sources: feishu-platform notes 3.6, 12 (forms), 5.4 (who calls back); the send-content page (SENDJSON) says that its
forms are not those of batch sends; the batch page's samples have `post` around a post, and `share_chat_id`.
"""

from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from bot.sandbox.audit import audit_of, check_audit
from bot.sandbox.card_elements import PRESSED
from bot.sandbox.gateway import Gateway, RefusalError
from bot.sandbox.message_content import check_content
from bot.sandbox.state import App, Chat, World

TYPES = ("text", "post", "image", "share_chat", "interactive")
SHOWN = {"text", "content", "title"}
CARD_PREFIX = "Failed to create card content, ext="
SILENT = {"checker", "overflow"}  # a tick without `callback` is local, a menu may hold only links


class FormError(Exception):
    """The content has another form than its type asks for. The text says which."""


def read_content(
    gateway: Gateway, app: App, chat: Chat | None, body: dict[str, Any], *, may_share: Callable[[str], bool]
) -> str:
    """The content as a message keeps it: JSON text, a post without its wrapper.

    `chat` is where it goes (None: to people). Raises FormError, or RefusalError as a send does.
    """
    msg_type = str(body.get("msg_type"))
    field = "card" if msg_type == "interactive" else "content"
    value = body.get(field)
    if not isinstance(value, dict):
        raise FormError(f"{field} must be an object")
    if msg_type == "share_chat":
        return gateway.world.shared(_encoded({"chat_id": _group(value, may_share)}))
    content = _encoded(_unwrapped(value) if msg_type == "post" else value)
    check_content(gateway.world, app, chat, msg_type, content)
    check_audit(audit_of(gateway.world, gateway.settings), content)
    return gateway.world.shared(content)


def sub_codes(refusal: RefusalError) -> str:
    """What 11246 says of a card: the sub-codes of 230099 without its opening words (seen live: PrometheusAlert#461)."""
    return refusal.msg.removeprefix(CARD_PREFIX)


def words_of(value: Any) -> Iterator[str]:
    """Every text that a reader may see."""
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in children:
        if key in SHOWN and isinstance(one, str):
            yield one
        yield from words_of(one)


def nodes_of(value: Any) -> Iterator[dict[str, Any]]:
    """Every object with a tag."""
    if isinstance(value, dict) and "tag" in value:
        yield value
    children = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for one in children:
        yield from nodes_of(one)


def note_dead_controls(world: World, who: str, body: dict[str, Any]) -> None:
    """A violation for a card with something that would call back: it is taken, and every click on it fails (5.4)."""
    dead = sorted({str(node["tag"]) for node in nodes_of(body.get("card")) if _calls_back(node)})
    if dead:
        world.violations.append(f"{who}: its cards cannot call back, but this one has {', '.join(dead)}")


def _calls_back(node: dict[str, Any]) -> bool:
    """By a behaviour that says so, or by default: a control that opens no address calls back (5.4)."""
    behaviors = node.get("behaviors") if isinstance(node.get("behaviors"), list) else []
    kinds = {one.get("type") for one in behaviors or () if isinstance(one, dict)}
    opens = "open_url" in kinds or "url" in node or "multi_url" in node  # the latter two in JSON 1.0
    return "callback" in kinds or (node["tag"] in PRESSED - SILENT and not opens)


def _unwrapped(value: dict[str, Any]) -> dict[str, Any]:
    if set(value) != {"post"} or not isinstance(value["post"], dict):
        raise FormError('post content must be {"post": …} here')
    post: dict[str, Any] = value["post"]
    return post


def _group(value: dict[str, Any], may_share: Callable[[str], bool]) -> str:
    chat_id = value.get("share_chat_id")
    if set(value) != {"share_chat_id"} or not isinstance(chat_id, str):
        raise FormError('share_chat content must be {"share_chat_id": …}')
    if not may_share(chat_id):
        raise RefusalError(11231, "chat not found")
    return chat_id


def _encoded(value: dict[str, Any]) -> str:
    return msgspec.json.encode(value).decode()
