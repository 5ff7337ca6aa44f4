"""Text of a page → its blocks, through selectolax: the one file that would change for another parser."""

import re
from dataclasses import dataclass

from bot.domain.digest import Block
from bot.reading.html.blocks import Walk
from bot.reading.html.guard import check_markup
from bot.reading.html.tags import web_address

_INLINE_DATA = re.compile(r"data:[a-z]+/[\w.+-]+;base64,[A-Za-z0-9+/=\s]{1000,}")  # pictures in saved pages: megabytes


@dataclass(frozen=True, slots=True)
class Page:
    """The blocks of a page, the text that is left out with the reason, and the title in its head."""

    blocks: tuple[Block, ...]
    dropped: tuple[tuple[str, str], ...]
    title: str | None


def read_page(html: str, *, base: str | None = None, name: str | None = None) -> Page:
    """Blocks of a page or of a piece of one. `base`: to resolve relative addresses; a `<base>` in the page comes first.

    Raises: DigestError `too_long` or `too_deep`.
    """
    from selectolax.lexbor import LexborDocumentOptions, LexborHTMLParser  # 7 MB, and most commands read no HTML

    html = _INLINE_DATA.sub("", html)
    check_markup(html, name)
    data = html.encode("utf-8", "replace")  # half a surrogate pair is no character
    tree = LexborHTMLParser(data, options=LexborDocumentOptions.WO_EVENTS)
    written_base = tree.css_first("base[href]")
    if written_base is not None:
        base = web_address(written_base.attributes.get("href"), base) or base
    title = tree.css_first("head > title")
    walk = Walk(base)
    walk.through(tree.root)
    written_title = " ".join(title.text().split()) if title is not None else ""
    return Page(walk.blocks, tuple(walk.dropped), written_title or None)
