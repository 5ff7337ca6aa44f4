"""A refused card in another form: the same text and links without what may have been refused.

Made from the card's JSON alone, so that it works for every card and for every operator's template. Pictures become
their captions, tables rows of words, panels open text.
"""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token

from bot.cards.inlines import paragraph
from bot.cards.render import Limits, body_bytes, compact
from bot.cards.text import JOINER, TAG_START, clean, escape, link, link_url
from bot.domain.digest import Text
from bot.domain.ladder import Rung

_DIALECT = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
# The platform takes 30 KB of a card or post and 150 KB of a text (message create, 230025, read 2026-05).
_MESSAGE_BYTES = {Rung.LIGHT: Limits().body_bytes, Rung.POST: Limits().body_bytes, Rung.TEXT: 140_000}

_BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)
_LINK_LIKE = re.compile(r"\](?=\()")
_LAYOUT = frozenset({"collapsible_panel", "column_set", "column", "form", "interactive_container"})


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of a line; `url` makes it a link."""

    text: str
    url: str = ""


SpanLine = tuple[Span, ...]


def fallback(card: str, rung: Rung) -> str | None:
    """The content of a message of that rung with the text of a card, as JSON text; None if it would be too long.

    `card`: JSON text of the card that was refused, on the first rung.
    """
    tree = json.loads(card)
    header = tree.get("header", {})
    title = "　".join(filter(None, (_content(header.get("title")), _content(header.get("subtitle")))))
    elements = tree.get("body", {}).get("elements", [])
    lines = [line for element in elements for line in _lines(element)]
    match rung:
        case Rung.LIGHT:
            content = compact(_light(tree, title, lines, elements))
        case Rung.POST:
            content = compact(_post(title, lines))
        case Rung.TEXT:
            content = compact({"text": _text(title, lines)})
        case Rung.CARD:
            return card
    return content if body_bytes(content) <= _MESSAGE_BYTES[rung] else None


def _light(tree: dict[str, Any], title: str, lines: Iterable[SpanLine], elements: Sequence[Any]) -> dict[str, Any]:
    text = "\n\n".join(filter(None, map(_written, lines)))
    colour = tree.get("header", {}).get("template", "blue")
    body = [{"tag": "markdown", "content": text}] if text else []
    return {
        "schema": "2.0",
        "config": {"update_multi": True, "summary": {"content": title}},
        "header": {"title": {"tag": "plain_text", "content": title}, "template": colour},
        "body": {"elements": [*body, *_buttons(elements)]},
    }


def _post(title: str, lines: Iterable[SpanLine]) -> dict[str, Any]:
    content = [[_node(span) for span in line] for line in lines]
    return {"zh_cn": {"title": title, "content": content or [[{"tag": "text", "text": title}]]}}


def _text(title: str, lines: Iterable[SpanLine]) -> str:
    return "\n".join(filter(None, (_harmless(title), *("".join(map(_bare, line)) for line in lines))))


def _written(line: SpanLine) -> str:
    """A line of card markdown. What it begins with is no mark of a list or heading."""
    if any(span.url for span in line):
        return "".join(link(span.url, span.text) if span.url else escape(span.text) for span in line)
    return paragraph([Text(span.text) for span in line])


def _node(span: Span) -> dict[str, str]:
    if span.url:
        return {"tag": "a", "text": span.text, "href": span.url}
    return {"tag": "text", "text": span.text}


def _bare(span: Span) -> str:
    """In a text message an address is a link by itself, up to the next blank."""
    if not span.url:
        return _harmless(span.text)
    return f"{_harmless(span.text)} {span.url} " if span.text != span.url else f" {span.url} "


def _harmless(text: str) -> str:
    """Tags and `[text](address)` mean something in text messages (send-message content page): a joiner parts them."""
    return _LINK_LIKE.sub(f"]{JOINER}", TAG_START.sub(f"<{JOINER}", clean(text)))


def _lines(element: Any) -> Iterator[SpanLine]:
    """What a reader sees of an element, line by line."""
    if not isinstance(element, dict):
        return
    tag = element.get("tag")
    if tag == "markdown":
        yield from _markdown(element.get("content", ""))
    elif tag == "div":
        yield from _markdown(_content(element.get("text"))) if _is_markup(element.get("text")) else _plain(element)
    elif tag == "img":
        yield (Span(f"［图片］{_content(element.get('alt'))}"),)
    elif tag == "button":
        yield from _address(element)
    elif tag in _LAYOUT:
        for child in (*element.get("elements", ()), *element.get("columns", ())):
            yield from _lines(child)


def _is_markup(text: Any) -> bool:
    return isinstance(text, dict) and text.get("tag") == "lark_md"


def _plain(element: dict[str, Any]) -> Iterator[SpanLine]:
    text = clean(_content(element.get("text")))
    if text:
        yield (Span(text),)


def _address(button: dict[str, Any]) -> Iterator[SpanLine]:
    """A button that opens an address is a link; one that acts is no text."""
    urls = [one.get("default_url") for one in button.get("behaviors", ()) if one.get("type") == "open_url"]
    if urls and link_url(str(urls[0])):
        yield (Span(_content(button.get("text")), str(urls[0])),)


def _buttons(elements: Iterable[Any]) -> Iterator[dict[str, Any]]:
    """The buttons that act, one below the other."""
    for element in elements:
        if not isinstance(element, dict):
            continue
        if element.get("tag") == "button" and any(one.get("type") == "callback" for one in element["behaviors"]):
            yield {"tag": "button", "text": element["text"], "behaviors": element["behaviors"]}
        elif element.get("tag") in _LAYOUT - {"form"}:  # what a form's button sends is what was filled in
            yield from _buttons((*element.get("elements", ()), *element.get("columns", ())))


def _content(text: Any) -> str:
    return str(text.get("content", "")) if isinstance(text, dict) else ""


def _markdown(text: str) -> Iterator[SpanLine]:
    """Card markdown as lines. Its tags are dropped: the text between them is what is read."""
    mark = ""
    row: list[Span] | None = None
    for token in _DIALECT.parse(text):
        match token.type:
            case "tr_open":
                row = []
            case "th_open" | "td_open" if row:
                row.append(Span(" | "))
            case "tr_close" if row is not None:
                yield tuple(row)
                row = None
            case "inline" if row is not None:
                row += [span for line in _inline(token.children or ()) for span in line]
            case "list_item_open":
                mark = f"{token.info}. " if token.info else "• "
            case "inline":
                yield from _marked(mark, _inline(token.children or ()))
                mark = ""
            case "fence" | "code_block":
                yield from ((Span(line),) for line in token.content.splitlines() if line)
            case "html_block":
                yield from _inline(_DIALECT.parseInline(token.content)[0].children or ())


def _marked(mark: str, lines: Iterable[SpanLine]) -> Iterator[SpanLine]:
    for line in lines:
        yield (Span(mark), *line) if mark else line
        mark = ""


def _inline(tokens: Iterable[Token]) -> Iterator[SpanLine]:
    line: list[Span] = []
    url = ""
    for token in tokens:
        if token.type in {"softbreak", "hardbreak"} or (token.type == "html_inline" and _BREAK.match(token.content)):
            yield from _joined(line)
            line = []
        elif token.type == "link_open":
            url = str(token.attrs.get("href", ""))
        elif token.type == "link_close":
            url = ""
        elif token.type == "image":
            line.append(Span(f"［图片］{token.content}"))
        elif token.content and token.type != "html_inline":
            line.append(Span(token.content, url))
    yield from _joined(line)


def _joined(spans: Iterable[Span]) -> Iterator[SpanLine]:
    """A line, neighbours of one kind as one piece; none if there is nothing on it."""
    line = tuple(Span("".join(span.text for span in group), url) for url, group in groupby(spans, lambda one: one.url))
    if line:
        yield line
