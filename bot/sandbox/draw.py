"""Feishu messages as HTML, the way the client shows them: cards (JSON 2.0), texts and rich text posts.

Any JSON at all is drawn, none raises; nothing in it can become live HTML. The result needs `card.css`.
"""

from base64 import b64encode
from collections.abc import Mapping
from typing import Any

import msgspec
from markupsafe import Markup

from bot.sandbox.assets import render, stylesheet
from bot.sandbox.draw_content import draw_text
from bot.sandbox.draw_controls import hidden_message, press_form_id
from bot.sandbox.draw_elements import draw_elements
from bot.sandbox.draw_html import Spot, Viewer, classes, hue, join, link, nearest, padding, tag, web_url
from bot.sandbox.draw_inline import MESSAGE, draw_inline
from bot.sandbox.draw_markdown import draw_markdown
from bot.sandbox.draw_pictures import draw_sent_picture
from bot.sandbox.image_format import image_format
from bot.sandbox.loose import LANGUAGE, mapping, sequence, text_of

NOBODY = Viewer()
_MOST_TAGS = 3
_PREVIEW_CHARACTERS = 80


def draw_card(card: Mapping[str, Any], *, message_id: str | None = None, viewer: Viewer = NOBODY) -> Markup:
    """A card as an `<article>`.

    With a message id its controls post to the relative address `click`: fields `message_id`, `press` (the path of the
    pressed element, see `press.py`) and `field.PATH`. Without one it is a preview, and nothing can be sent.
    """
    card = mapping(card)
    if text_of(card.get("type")) in {"template", "card"}:
        return tag("article", tag("p", "卡片模板，沙箱里没有它的内容", class_="unknown"), class_="card")
    spot = Spot(viewer, message_id)
    width = text_of(mapping(card.get("config")).get("width_mode"))
    return _safe(
        tag(
            "article",
            _header(card, viewer),
            _body(card, spot),
            _press_form(message_id) if message_id else "",
            class_=classes("card", f"card-{width}" if width in {"compact", "fill"} else None),
        )
    )


def _safe(drawn: Markup) -> Markup:
    """Half of a surrogate pair is legal JSON and cannot be sent: it is shown as a question mark."""
    return Markup(drawn.encode("utf-8", "replace").decode())  # noqa: S704 - it was markup before


def _press_form(message_id: str) -> Markup:
    form_id = press_form_id(message_id)
    return tag("form", hidden_message(message_id), id=form_id, method="post", action="click", class_="press")


def _header(card: Mapping[str, Any], viewer: Viewer) -> Markup:
    header = mapping(card.get("header"))
    if not header:
        return Markup("")
    url = web_url(mapping(card.get("card_link")).get("url"))
    title, subtitle = draw_text(header.get("title"), viewer), draw_text(header.get("subtitle"), viewer)
    return tag(
        "header",
        tag("div", tag("h2", link(url, title) if url else title), *_text_tags(header), class_="title-line"),
        tag("p", subtitle) if subtitle else "",
        class_=f"card-header {hue(header.get('template'))}",
    )


def _text_tags(header: Mapping[str, Any]) -> list[Markup]:
    translated = mapping(header.get("i18n_text_tag_list")).get(LANGUAGE)
    tags = [mapping(one) for one in sequence(translated or header.get("text_tag_list"))[:_MOST_TAGS]]
    return [tag("span", text_of(one.get("text")), class_=f"tag {hue(one.get('color'), 'blue')}") for one in tags]


def _body(card: Mapping[str, Any], spot: Spot) -> Markup:
    """Elements of a 2.0 card, or those that a 1.0 card keeps at its top."""
    body = mapping(card.get("body"))
    if "elements" in body:
        elements = draw_elements(body.get("elements"), spot.at("body", "elements"))
    else:
        elements = draw_elements(card.get("elements"), spot.at("elements"))
    direction = "row" if text_of(body.get("direction")) == "horizontal" else "stack"
    class_ = classes("card-body", direction, nearest("gap", body.get("vertical_spacing")), padding(body.get("padding")))
    return tag("div", elements, class_=class_)


def draw_message(msg_type: str, content: object, *, message_id: str, viewer: Viewer = NOBODY) -> Markup:
    """What is inside a message of any type; `content` is the decoded JSON of its content."""
    fields = mapping(content)
    if msg_type == "interactive":
        return draw_card(fields, message_id=message_id, viewer=viewer)
    if msg_type == "text":
        return _safe(tag("div", draw_inline(text_of(fields.get("text")), viewer, MESSAGE), class_="bubble"))
    if msg_type == "post":
        return _safe(tag("div", draw_post(fields, viewer), class_="bubble post"))
    if msg_type == "image":
        return _safe(draw_sent_picture(text_of(fields.get("image_key")), viewer))
    return _safe(tag("div", f"[{msg_type[:40]} 消息]", class_="bubble muted"))


def draw_post(content: Mapping[str, Any], viewer: Viewer = NOBODY) -> Markup:
    """A rich text post: with locale keys as it is sent, or without them as it is received."""
    post = _chosen_language(content)
    title = text_of(post.get("title"))
    paragraphs = [sequence(paragraph) for paragraph in sequence(post.get("content"))]
    drawn = (tag("div", *(_node(mapping(node), viewer) for node in nodes), class_="line") for nodes in paragraphs)
    return join((tag("h2", title) if title else "", *drawn))


def _chosen_language(content: Mapping[str, Any]) -> Mapping[str, Any]:
    if "content" in content:
        return content
    versions = [version for version in content.values() if isinstance(version, Mapping)]
    return mapping(content.get(LANGUAGE)) or (versions[0] if versions else {})


def _node(node: Mapping[str, Any], viewer: Viewer) -> Markup:
    """One node of a paragraph; an unknown one shows its text."""
    text = text_of(node.get("text"))
    match text_of(node.get("tag")):
        case "md":
            return draw_markdown(text, viewer)
        case "code_block":
            return tag("div", tag("pre", tag("code", text)), class_="code-block")
        case "hr":
            return tag("hr")
        case "img":
            return draw_sent_picture(text_of(node.get("image_key")), viewer)
        case "at":
            return tag("span", "@", viewer.name_of(text_of(node.get("user_id"))), class_="at")
        case "emotion":
            return tag("span", f"[{text_of(node.get('emoji_type'))}]")
        case _:
            return _styled(node, text)


def _styled(node: Mapping[str, Any], text: str) -> Markup:
    names = {"bold": "strong", "italic": "em", "underline": "u", "lineThrough": "s"}
    drawn = Markup("<br>").join(text.split("\n"))
    url = web_url(node.get("href"))
    if url:
        drawn = link(url, drawn)
    for style in map(text_of, sequence(node.get("style"))):
        drawn = tag(names[style], drawn) if style in names else drawn
    return drawn


def preview_of(msg_type: str, content: object, viewer: Viewer = NOBODY) -> str:
    """The one line under a chat's name: a card's summary, else its title, else a general word."""
    fields = mapping(content)
    if msg_type == "interactive":
        text = _card_preview(fields)
    elif msg_type == "text":
        text = _words(draw_inline(text_of(fields.get("text")), viewer, MESSAGE))
    elif msg_type == "post":
        text = text_of(_chosen_language(fields).get("title")) or _words(draw_post(fields, viewer))
    else:
        text = "[图片]" if msg_type == "image" else "[消息]"
    return " ".join(text[:_PREVIEW_CHARACTERS].encode("utf-8", "replace").decode().split())


def _words(drawn: Markup) -> str:
    return drawn.replace(Markup("<br>"), " ").striptags()


def _card_preview(card: Mapping[str, Any]) -> str:
    summary = text_of(mapping(card.get("config")).get("summary"))
    return summary or text_of(mapping(card.get("header")).get("title")) or "[卡片]"


def page_of(card: Mapping[str, Any], pictures: Mapping[str, bytes] | None = None) -> str:
    """A whole HTML page with one card: style and pictures inside, no script, nothing else to be fetched.

    `pictures`: files by image_key; a key without one is a labelled box.
    """
    files = pictures or {}

    def address(image_key: str) -> str | None:
        return _data_uri(files[image_key]) if image_key in files else None

    title = preview_of("interactive", card)
    drawn = draw_card(card, viewer=Viewer(image_url=address))
    return render("card_page.html.j2", title=title, style=stylesheet(), card=drawn)


def _data_uri(content: bytes) -> str | None:
    """None for what is no picture."""
    found = image_format(content)
    return f"data:{found.content_type};base64,{b64encode(content).decode()}" if found else None


def decoded(content: str) -> object:
    """The JSON of a message's content; what is no JSON is an empty object."""
    try:
        return msgspec.json.decode(content)
    except msgspec.DecodeError:
        return {}
