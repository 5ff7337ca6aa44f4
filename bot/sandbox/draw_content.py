"""Card components that only show something: text, people, tables.

Icons are left out: they are the vendor's drawings, and no text depends on them.
"""

from collections.abc import Callable, Mapping
from typing import Any

from markupsafe import Markup

from bot.sandbox.draw_html import Spot, Viewer, classes, hue, join, nearest, tag
from bot.sandbox.draw_inline import draw_inline
from bot.sandbox.draw_markdown import draw_markdown, draw_table
from bot.sandbox.local_time import local_datetime
from bot.sandbox.loose import mapping, number, number_text, sequence, text_of, whole

_SIZES = {
    "heading-0": 30, "heading-1": 24, "heading-2": 20, "heading-3": 18, "heading-4": 16, "heading": 16,
    "normal": 14, "notation": 12, "xxxx-large": 30, "xxx-large": 24, "xx-large": 20, "x-large": 18,
    "large": 16, "medium": 14, "small": 12, "x-small": 10,
}  # fmt: skip
_MOST_COLUMNS = 50


def draw_text(value: object, viewer: Viewer) -> Markup:
    """A text object: `lark_md` and `markdown` with their inline marks, everything else as it is written."""
    text = text_of(value)
    if text_of(mapping(value).get("tag")) in {"lark_md", "markdown"}:
        return draw_inline(text, viewer)
    return Markup("<br>").join(text.split("\n"))


def text_class(element: Mapping[str, Any]) -> str | None:
    """Classes of size and alignment; an unknown size is the normal one."""
    size = _SIZES.get(text_of(element.get("text_size")), 14)
    align = text_of(element.get("text_align"))
    return classes(f"size-{size}" if size != 14 else None, f"align-{align}" if align in {"center", "right"} else None)


def draw_div(element: Mapping[str, Any], spot: Spot) -> Markup:
    text = mapping(element.get("text"))
    colour = hue(text["text_color"]) + " font" if text.get("text_color") else None
    class_ = classes("text", text_class(text), colour, nearest("mt", element.get("margin")))
    return tag("div", draw_text(text or element.get("text"), spot.viewer), class_=class_)


def draw_markdown_component(element: Mapping[str, Any], spot: Spot) -> Markup:
    class_ = classes("markdown", text_class(element))
    return tag("div", draw_markdown(text_of(element), spot.viewer), class_=class_)


def draw_rule(_element: Mapping[str, Any], _spot: Spot) -> Markup:
    return tag("hr")


def draw_person(element: Mapping[str, Any], spot: Spot) -> Markup:
    return _person(text_of(element.get("user_id")), spot.viewer)


def draw_person_list(element: Mapping[str, Any], spot: Spot) -> Markup:
    ids = [text_of(mapping(one).get("id")) for one in sequence(element.get("persons"))]
    return tag("div", *(_person(one, spot.viewer) for one in ids), class_="people")


def _person(open_id: str, viewer: Viewer) -> Markup:
    return tag("span", viewer.name_of(open_id), class_="person")


def draw_chart(_element: Mapping[str, Any], _spot: Spot) -> Markup:
    return tag("div", "图表（沙箱里不画）", class_="image placeholder")


def draw_audio(_element: Mapping[str, Any], _spot: Spot) -> Markup:
    return tag("div", "语音（沙箱里不播放）", class_="image placeholder")


def draw_table_component(element: Mapping[str, Any], spot: Spot) -> Markup:
    columns = [mapping(column) for column in sequence(element.get("columns"))[:_MOST_COLUMNS]]
    head = [text_of(column.get("display_name")) or text_of(column.get("name")) for column in columns]
    rows = [
        [_cell(mapping(row).get(text_of(column.get("name"))), column, spot.viewer) for column in columns]
        for row in sequence(element.get("rows"))
    ]
    return draw_table(head, rows, whole(element.get("page_size"), 1, 10, 5))


def _cell(value: object, column: Mapping[str, Any], viewer: Viewer) -> Markup:
    draw = _CELLS.get(text_of(column.get("data_type")), _text_cell)
    return draw(value, column, viewer)


def _text_cell(value: object, _column: Mapping[str, Any], _viewer: Viewer) -> Markup:
    return Markup("{}").format(text_of(value))


def _markdown_cell(value: object, _column: Mapping[str, Any], viewer: Viewer) -> Markup:
    return draw_markdown(text_of(value), viewer)


def _inline_cell(value: object, _column: Mapping[str, Any], viewer: Viewer) -> Markup:
    return draw_inline(text_of(value), viewer)


def _number_cell(value: object, column: Mapping[str, Any], _viewer: Viewer) -> Markup:
    style = mapping(column.get("format"))
    if not style or isinstance(value, bool) or not isinstance(value, int | float):
        return Markup("{}").format(text_of(value))
    separator = "," if style.get("separator") else ""
    shown = format(number(value), f"{separator}.{whole(style.get('precision'), 0, 10, 0)}f")
    digits = shown if "precision" in style else number_text(value)
    return Markup("{}{}").format(text_of(style.get("symbol")), digits)


def _options_cell(value: object, _column: Mapping[str, Any], _viewer: Viewer) -> Markup:
    options = [mapping(one) for one in sequence(value)]
    return join(tag("span", text_of(one.get("text")), class_=f"tag {hue(one.get('color'), 'blue')}") for one in options)


def _persons_cell(value: object, _column: Mapping[str, Any], viewer: Viewer) -> Markup:
    ids = [text_of(value)] if isinstance(value, str) else [text_of(one) for one in sequence(value)]
    return join(_person(one, viewer) for one in ids)


def _date_cell(value: object, column: Mapping[str, Any], _viewer: Viewer) -> Markup:
    return tag("time", local_datetime(value, text_of(column.get("date_format")) or "YYYY/MM/DD"))


_CELLS: Mapping[str, Callable[[object, Mapping[str, Any], Viewer], Markup]] = {
    "markdown": _markdown_cell,
    "lark_md": _inline_cell,
    "number": _number_cell,
    "options": _options_cell,
    "persons": _persons_cell,
    "date": _date_cell,
}
