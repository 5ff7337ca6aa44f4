"""Feishu blocks as the API gives them, for tests: `page("标题", heading(1, "论文"), text("…"))`."""

from itertools import count
from typing import Any

Json = dict[str, Any]
_numbers = count(1)


def run(content: str, *, link: str | None = None, **style: Any) -> Json:
    """A piece of text; `link` as it stands in the block, which is encoded on the platform."""
    if link is not None:
        style["link"] = {"url": link}
    return {"text_run": {"content": content, "text_element_style": style}}


def equation(tex: str) -> Json:
    return {"equation": {"content": tex, "text_element_style": {}}}


def block(kind: int, key: str, *elements: str | Json, children: tuple[Json, ...] = (), **style: Any) -> list[Json]:
    """A block with text, and its children after it."""
    pieces = [run(one) if isinstance(one, str) else one for one in elements]
    return _family(kind, {key: {"elements": pieces, "style": style}}, children)


def text(*elements: str | Json, children: tuple[Any, ...] = ()) -> list[Json]:
    return block(2, "text", *elements, children=children)


def heading(level: int, *elements: str | Json) -> list[Json]:
    return block(level + 2, f"heading{level}", *elements)


def bullet(*elements: str | Json, children: tuple[Any, ...] = ()) -> list[Json]:
    return block(12, "bullet", *elements, children=children)


def ordered(*elements: str | Json, sequence: str = "auto", children: tuple[Any, ...] = ()) -> list[Json]:
    return block(13, "ordered", *elements, sequence=sequence, children=children)


def other(kind: int, children: tuple[Any, ...] = (), **body: Any) -> list[Json]:
    """A block of another kind: `other(27, image={"token": …})`."""
    return _family(kind, body, children)


def table(rows: list[list[Any]], merge_info: list[Json] | None = None) -> list[Json]:
    """A table of texts, or of blocks."""
    cells = [
        other(32, (cell if isinstance(cell, list) else text(cell),), table_cell={}) for row in rows for cell in row
    ]
    shape = {"row_size": len(rows), "column_size": len(rows[0]), "merge_info": merge_info or []}
    found = _family(31, {"table": {"property": shape}}, tuple(cells))
    found[0]["table"]["cells"] = found[0]["children"]
    return found


def page(title: str, *families: list[Json]) -> list[Json]:
    """A whole document: the page block first, then the rest."""
    return _family(1, {"page": {"elements": [run(title)], "style": {}}}, families)


def lines(*families: list[Json]) -> list[Json]:
    """Blocks for a page that somebody else makes."""
    return [one for family in families for one in family]


def _family(kind: int, body: Json, children: tuple[list[Json], ...]) -> list[Json]:
    key = f"b{next(_numbers)}"
    head: Json = {"block_id": key, "block_type": kind, **body}
    if children:
        head["children"] = [child[0]["block_id"] for child in children]
    for child in children:
        child[0]["parent_id"] = key
    return [head, *(one for child in children for one in child)]
