"""What a message may contain. Sources: feishu-platform notes 2.4 (content of each type), 2.5 (sizes), 2.8 (230099)."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import msgspec

from bot.sandbox.gateway import RefusalError
from bot.sandbox.state import App, Chat, Message, World
from bot.sandbox.validator import check_card, check_references
from bot.sandbox.validator_fields import LOCALES, CardError

CARD_BYTES = 30_000  # 30 KB of request body; 1,000 or 1,024 is not documented: the smaller one
TEXT_BYTES = 150_000
SIZES = {"text": TEXT_BYTES, "image": TEXT_BYTES, "post": CARD_BYTES, "interactive": CARD_BYTES}
NODE_FIELDS: dict[str, tuple[set[str], set[str]]] = {  # tag: required, optional
    "text": ({"text"}, {"un_escape", "style"}),
    "a": ({"text", "href"}, {"style"}),
    "at": ({"user_id"}, {"style"}),
    "img": ({"image_key"}, set()),
    "media": ({"file_key"}, {"image_key"}),
    "emotion": ({"emoji_type"}, set()),
    "hr": (set(), set()),
    "code_block": ({"text"}, {"language"}),
    "md": ({"text"}, set()),
}


def check_size(msg_type: str, body_bytes: int) -> None:
    """230025 for a request body over its size; unknown types are 230001 here already."""
    if msg_type not in SIZES:
        raise _invalid("invalid msg_type")
    if body_bytes > SIZES[msg_type]:
        raise RefusalError(230025, "The length of the message content reaches its limit.")


def check_content(world: World, app: App, chat: Chat | None, msg_type: str, content: str) -> None:
    """230001 for content of another shape, 230099 for a card that cannot be created. Warnings go to the world."""
    if msg_type == "interactive":
        _check_interactive(world, app, chat, content)
        return
    try:
        value = msgspec.json.decode(content)
    except (msgspec.DecodeError, RecursionError):
        raise _invalid("content is not a string in json format") from None
    if not isinstance(value, dict):
        raise _invalid("content must be an object")
    if msg_type == "text":
        _check_text(value)
    elif msg_type == "image":
        _check_image(world, app, value)
    else:
        _check_post(world, app, value)


def read_back(message: Message) -> str:
    """Content as send, get and list return it: a card only as its title and texts."""
    return simplified(message.content) if message.msg_type == "interactive" else message.content


@lru_cache(maxsize=256)
def simplified(content: str) -> str:
    card = msgspec.json.decode(content)
    if card.get("schema") != "2.0":
        return '{"title":null,"elements":[]}'  # JSON 1.0 was not checked, so its shape is not known
    title = card.get("header", {}).get("title", {}).get("content")
    texts = [[{"tag": "text", "text": text}] for text in _texts(card.get("body", {}))]
    return msgspec.json.encode({"title": title, "elements": texts}).decode()


def _check_interactive(world: World, app: App, chat: Chat | None, content: str) -> None:
    report = check_card(content)
    error = report.error or check_references(
        report,
        has_user=world.users.__contains__,
        owns_image=lambda image_key: _owns_image(world, app, image_key),
        may_mention_all=chat is not None and chat.mention_all,
    )
    if error is not None:
        raise card_refusal(error)
    for warning in report.warnings:
        if warning not in world.warnings:
            world.warnings.append(warning)


def card_refusal(error: CardError) -> RefusalError:
    """230099 with the sub-code in its msg, as in 15.6."""
    value = f"ErrorValue: {error.err_value}; " if error.err_value else ""
    msg = f"Failed to create card content, ext=ErrCode: {error.err_code}; ErrPath: {error.err_path}; "
    return RefusalError(230099, f"{msg}ErrMsg: {error.err_msg}; {value}")


def _check_text(value: dict[str, Any]) -> None:
    if set(value) != {"text"} or not isinstance(value["text"], str) or not value["text"]:
        raise _invalid('text content must be {"text": …} with a text')


def _check_image(world: World, app: App, value: dict[str, Any]) -> None:
    if set(value) != {"image_key"} or not isinstance(value["image_key"], str):
        raise _invalid('image content must be {"image_key": …}')
    _require_own(world, app, value["image_key"])


def _check_post(world: World, app: App, value: dict[str, Any]) -> None:
    """Locale keys at the top. `{"post": …}` is the form of custom-bot webhooks: 230001 here."""
    if not value or not set(value) <= LOCALES:
        raise _invalid("post content must have locale keys")
    for post in value.values():
        paragraphs = post.get("content") if isinstance(post, dict) else None
        if not isinstance(paragraphs, list) or not set(post) <= {"title", "content"}:
            raise _invalid("post must have title and content")
        for paragraph in paragraphs:
            _check_paragraph(world, app, paragraph)


def _check_paragraph(world: World, app: App, paragraph: Any) -> None:
    if not isinstance(paragraph, list) or not all(isinstance(node, dict) for node in paragraph):
        raise _invalid("a paragraph is a list of nodes")
    for node in paragraph:
        _check_node(world, app, node)
        if node["tag"] == "md" and len(paragraph) > 1:
            raise _invalid("md must be alone in its paragraph")


def _check_node(world: World, app: App, node: Mapping[str, Any]) -> None:
    required, optional = NODE_FIELDS.get(str(node.get("tag")), (None, set()))
    if required is None:
        raise _invalid(f"unknown tag {node.get('tag')}")
    given = set(node) - {"tag"}
    if not required <= given <= required | optional:
        raise _invalid(f"fields of {node['tag']}")
    if node["tag"] == "a" and not str(node["href"]).startswith(("http://", "https://")):
        raise _invalid("invalid href")
    if node["tag"] == "img":
        _require_own(world, app, node["image_key"])


def _require_own(world: World, app: App, image_key: Any) -> None:
    if not _owns_image(world, app, image_key):
        raise RefusalError(230017, "Bot is NOT the owner of the resource.")


def _owns_image(world: World, app: App, image_key: Any) -> bool:
    """Uploaded by this app, for messages."""
    image = world.images.get(str(image_key))
    return image is not None and image.app_id == app.app_id and image.image_type == "message"


def _invalid(detail: str) -> RefusalError:
    return RefusalError(230001, f"Your request contains an invalid request parameter, ext={detail}")


def _texts(value: Any) -> list[str]:
    if isinstance(value, list):
        return [text for one in value for text in _texts(one)]
    if not isinstance(value, dict):
        return []
    own = [value["content"]] if isinstance(value.get("content"), str) else []
    return own + [text for key, one in value.items() if key not in ("value", "chart_spec") for text in _texts(one)]
