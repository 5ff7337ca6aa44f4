"""Headings that neither a tag nor a class tells: a few words alone, and below them a block of links."""

from typing import Any

from bot.reading.marks import is_ended

MOST_CHARS = 24
LINES = "div, p, li, section, article, tr, h2, h3, h4, h5, h6"


def heads_links(node: Any) -> bool:
    """Whether this `<div>` holds a few words and nothing else, and what follows is made of lines with links."""
    inner = node.child
    if node.tag != "div" or inner is None or not inner.is_text_node or inner.next is not None:
        return False
    words = (inner.text_content or "").strip()
    if not words or len(words) > MOST_CHARS or is_ended(words) or words[-1] in ":：,，、":
        return False
    below = node.next
    while below is not None and not below.is_element_node:
        below = below.next
    return below is not None and below.css_first(LINES) is not None and below.css_first("a[href]") is not None
