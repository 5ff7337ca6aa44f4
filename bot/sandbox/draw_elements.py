"""All components of a card body: the table of their drawers, and the containers that hold other components."""

from collections.abc import Callable, Mapping
from typing import Any

from markupsafe import Markup

from bot.sandbox import draw_content as content
from bot.sandbox import draw_pictures as pictures
from bot.sandbox.draw_controls import CONTROLS, calls_back, hidden_message, opens, press_form_id
from bot.sandbox.draw_html import WIDTHS_PX, Spot, classes, hue, join, link, nearest, padding, tag, web_url
from bot.sandbox.loose import mapping, sequence, text_of, whole

_DEEPEST = 40  # keys between the card and an element; far beyond the five containers that the platform allows
_FLEX = frozenset({"stretch", "flow", "bisect", "trisect"})


def draw_elements(values: object, spot: Spot) -> Markup:
    """A list of components, each with its place in it as the last step of its path."""
    return join(draw_element(value, spot.at(index)) for index, value in enumerate(sequence(values)))


def draw_element(value: object, spot: Spot) -> Markup:
    """One component; what the client would not know becomes a visible marker."""
    element = mapping(value)
    name = text_of(element.get("tag"))
    draw = _DRAWERS.get(name)
    if draw is None:
        return _marker(f"不认识的组件 {name[:40] or '（没有 tag）'}")
    if spot.depth > _DEEPEST:
        return _marker("组件嵌套太深")
    return draw(element, spot)


def _marker(text: str) -> Markup:
    return tag("div", text, class_="unknown", role="note")


def _column_set(element: Mapping[str, Any], spot: Spot) -> Markup:
    flex = text_of(element.get("flex_mode"))
    align = text_of(element.get("horizontal_align"))
    columns = sequence(element.get("columns"))
    drawn = [_column(mapping(column), spot.at("columns", index)) for index, column in enumerate(columns)]
    class_ = classes(
        "columns",
        f"flex-{flex}" if flex in _FLEX else None,
        nearest("gap", element.get("horizontal_spacing")),
        f"justify-{align}" if align in {"center", "right"} else None,
        background(element.get("background_style")),
        nearest("mt", element.get("margin")),
    )
    return tag("div", *drawn, _cover(element), class_=class_)


def _column(element: Mapping[str, Any], spot: Spot) -> Markup:
    width, align = text_of(element.get("width")), text_of(element.get("vertical_align"))
    weight = f"grow-{whole(element.get('weight'), 1, 5, 1)}" if width == "weighted" else None
    class_ = classes(
        "column",
        weight or nearest("width", width, WIDTHS_PX),
        f"valign-{align}" if align in {"center", "bottom"} else None,
        _stack(element),
    )
    return tag("div", draw_elements(element.get("elements"), spot.at("elements")), _cover(element), class_=class_)


def _stack(element: Mapping[str, Any]) -> str | None:
    """Classes that every container of a column of elements understands."""
    align = text_of(element.get("horizontal_align"))
    return classes(
        "row" if text_of(element.get("direction")) == "horizontal" else "stack",
        nearest("gap", element.get("vertical_spacing")),
        padding(element.get("padding")),
        background(element.get("background_style")),
        f"halign-{align}" if align in {"center", "right"} else None,
    )


def background(value: object) -> str | None:
    name = text_of(value)
    return None if not name or name.startswith(("default", "rgb", "#")) else f"fill-hue {hue(name, 'grey')}"


def _cover(element: Mapping[str, Any]) -> Markup:
    """The link of a whole column, behind what is inside it."""
    url = web_url(mapping(mapping(element.get("action")).get("multi_url")).get("url"))
    return link(url, class_="cover", aria_label="打开链接") if url else Markup("")


def _collapsible_panel(element: Mapping[str, Any], spot: Spot) -> Markup:
    header = mapping(element.get("header"))
    title = content.draw_text(header.get("title"), spot.viewer)
    inner = draw_elements(element.get("elements"), spot.at("elements"))
    border = "bordered" if mapping(element.get("border")) else None
    return tag(
        "details",
        tag("summary", tag("span", title or "展开"), class_=background(header.get("background_color"))),
        tag("div", inner, class_=classes("panel", _stack(element))),
        class_=classes("fold", "collapsible", border, background(element.get("background_color"))),
        open=element.get("expanded") is True,
    )


def _interactive_container(element: Mapping[str, Any], spot: Spot) -> Markup:
    border = "bordered" if element.get("has_border") is True else None
    inner = draw_elements(element.get("elements"), spot.at("elements"))
    return tag("div", _container_press(element, spot), inner, class_=classes("container", border, _stack(element)))


def _container_press(element: Mapping[str, Any], spot: Spot) -> Markup:
    """What makes the whole container a button or a link; it lies under the controls inside it."""
    url = opens(element)
    if url and not calls_back(element):
        return link(url, class_="cover", aria_label="打开链接")
    if spot.message_id is None or element.get("disabled") is True:
        return Markup("")
    return tag(
        "button", class_="cover", type="submit", name="press", value=spot.path,
        form=press_form_id(spot.message_id), aria_label=text_of(element.get("hover_tips")) or "点击",
    )  # fmt: skip


def _form(element: Mapping[str, Any], spot: Spot) -> Markup:
    if spot.in_form:
        return _marker("表单里不能再放表单")
    inner = draw_elements(element.get("elements"), _in_form(spot).at("elements"))
    class_ = classes("card-form", _stack(element))
    if spot.message_id is None:
        return tag("div", inner, class_=class_)
    return tag("form", hidden_message(spot.message_id), inner, class_=class_, method="post", action="click")


def _in_form(spot: Spot) -> Spot:
    return Spot(spot.viewer, spot.message_id, spot.path, spot.depth, in_form=True)


_DRAWERS: Mapping[str, Callable[[Mapping[str, Any], Spot], Markup]] = {
    **CONTROLS,
    "div": content.draw_div,
    "markdown": content.draw_markdown_component,
    "plain_text": lambda element, spot: tag("div", content.draw_text(element, spot.viewer), class_="text"),
    "hr": content.draw_rule,
    "img": pictures.draw_image,
    "img_combination": pictures.draw_image_combination,
    "person": content.draw_person,
    "person_list": content.draw_person_list,
    "table": content.draw_table_component,
    "chart": content.draw_chart,
    "audio": content.draw_audio,
    "column_set": _column_set,
    "collapsible_panel": _collapsible_panel,
    "interactive_container": _interactive_container,
    "form": _form,
}
