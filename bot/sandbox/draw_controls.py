"""Card components that answer back: buttons, inputs, selects.

A control that calls back becomes a plain HTML control. Its `press` value is its path in the card: the server looks the
element up again, so nothing that comes from the page is trusted. Without a message id (previews) nothing can be sent.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from markupsafe import Markup

from bot.sandbox.draw_html import Spot, classes, join, link, tag, web_url
from bot.sandbox.draw_inline_tags import picture
from bot.sandbox.loose import mapping, sequence, text_of, whole

FIELD = "field."
_TYPES = "default primary danger text primary_text danger_text primary_filled danger_filled laser"
_INPUTS = {"date_picker": "date", "picker_time": "time", "picker_datetime": "datetime-local"}


def behaviors(element: Mapping[str, Any], kind: str) -> list[Mapping[str, Any]]:
    found = [mapping(one) for one in sequence(element.get("behaviors"))]
    return [one for one in found if text_of(one.get("type")) == kind]


def opens(element: Mapping[str, Any]) -> str | None:
    """The address that a press opens, if it opens one."""
    for behavior in behaviors(element, "open_url"):
        url = web_url(behavior.get("pc_url")) or web_url(behavior.get("default_url"))
        if url:
            return url
    return None


def calls_back(element: Mapping[str, Any]) -> bool:
    """Every control calls back unless all it does is open an address; a tick does only with a behavior of its own."""
    if text_of(element.get("tag")) == "checker":
        return bool(behaviors(element, "callback"))
    return bool(behaviors(element, "callback")) or not sequence(element.get("behaviors"))


def draw_button(element: Mapping[str, Any], spot: Spot) -> Markup:
    kind, size = text_of(element.get("type")), text_of(element.get("size"))
    class_ = classes(
        "button",
        f"button-{kind}" if kind in _TYPES.split() else None,
        f"button-{size}" if size in {"tiny", "small", "large"} else None,
        "fill" if text_of(element.get("width")) == "fill" else None,
    )
    label = text_of(element.get("text")) or "按钮"
    url = opens(element)
    if element.get("disabled") is True:
        return tag("button", label, class_=class_, type="button", disabled=True, title=_hint(element, "disabled_tips"))
    if url and not calls_back(element):
        return link(url, label, class_=class_)
    pressed = (
        _confirmed(element, spot, label, class_) if element.get("confirm") else _press(spot, label, class_, element)
    )
    return tag("span", pressed, link(url, "↗", title=url), class_="pair") if url else pressed


def _hint(element: Mapping[str, Any], key: str) -> str | None:
    return text_of(element.get(key)) or None


def _press(spot: Spot, label: str, class_: str | None, element: Mapping[str, Any], value: str = "") -> Markup:
    """The button proper. A submit button sends the card form around it, any other one the card's own empty form."""
    if text_of(element.get("form_action_type")) == "reset" and spot.in_form:
        return tag("button", label, class_=class_, type="reset")
    hint = _hint(element, "hover_tips")
    if spot.message_id is None:
        return tag("button", label, class_=class_, type="button", title=hint)
    own = None if submits(element) and spot.in_form else press_form_id(spot.message_id)
    return tag(
        "button", label, class_=class_, type="submit", name="press", value=spot.path + value, form=own, title=hint
    )


def submits(element: Mapping[str, Any]) -> bool:
    return text_of(element.get("form_action_type")) == "submit" or text_of(element.get("action_type")) == "form_submit"


def press_form_id(message_id: str) -> str:
    return f"press-{message_id}"


def _confirmed(element: Mapping[str, Any], spot: Spot, label: str, class_: str | None) -> Markup:
    """A second question before the press, as a fold-out: it works without a script."""
    confirm = mapping(element.get("confirm"))
    question = tag("strong", text_of(confirm.get("title"))), tag("p", text_of(confirm.get("text")))
    sure = _press(spot, "确定", "button button-primary_filled", element)
    summary = tag("summary", label, class_=class_)
    return tag("details", summary, tag("div", *question, sure, class_="popover"), class_="fold confirm")


def draw_overflow(element: Mapping[str, Any], spot: Spot) -> Markup:
    return tag(
        "details",
        tag("summary", "···", class_="button", title="更多"),
        tag("div", *_overflow_choices(element, spot), class_="popover menu"),
        class_="fold overflow",
    )


def _overflow_choices(element: Mapping[str, Any], spot: Spot) -> list[Markup]:
    drawn = []
    for index, option in enumerate(map(mapping, sequence(element.get("options")))):
        label = text_of(option.get("text")) or "…"
        url = web_url(mapping(option.get("multi_url")).get("url"))
        drawn.append(link(url, label) if url else _press(spot, label, None, {}, f"@{index}"))
    return drawn


def draw_input(element: Mapping[str, Any], spot: Spot) -> Markup:
    several = text_of(element.get("input_type")) == "multiline_text"
    secret = text_of(element.get("input_type")) == "password"
    common: dict[str, str | bool | None] = {
        **_common(element, spot),
        "placeholder": text_of(element.get("placeholder")) or None,
        "maxlength": str(whole(element.get("max_length"), 1, 1000, 1000)),
    }
    value = text_of(element.get("default_value"))
    if several:
        control = tag("textarea", value, rows=str(whole(element.get("rows"), 1, 20, 5)), **common)
    else:
        control = tag("input", type="password" if secret else "text", value=value, **common)
    return _field(element, spot, control, "发送")


def _common(element: Mapping[str, Any], spot: Spot) -> dict[str, str | bool | None]:
    return {
        "name": FIELD + spot.path,
        "required": element.get("required") is True and spot.in_form,
        "disabled": element.get("disabled") is True,
        "aria_label": text_of(element.get("label")) or text_of(element.get("placeholder")) or "输入",
    }


def _field(element: Mapping[str, Any], spot: Spot, control: Markup, verb: str, around: str = "label") -> Markup:
    """A control with its label. Outside a card form it gets a small form of its own, as it calls back by itself."""
    label = text_of(element.get("label"))
    labelled = tag(around, tag("span", label, class_="label") if label else "", control, class_="field")
    if spot.in_form or spot.message_id is None or not calls_back(element) or element.get("disabled") is True:
        return labelled
    send = tag("button", verb, type="submit", name="press", value=spot.path, class_="button button-small")
    return tag("form", hidden_message(spot.message_id), labelled, send, class_="lone", method="post", action="click")


def hidden_message(message_id: str) -> Markup:
    return tag("input", type="hidden", name="message_id", value=message_id)


def draw_select(element: Mapping[str, Any], spot: Spot) -> Markup:
    """A list to choose one from, or chips to tick several."""
    options = [mapping(one) for one in sequence(element.get("options"))]
    chosen = _chosen(element, options)
    if text_of(element.get("tag")).startswith("multi_"):
        chips = (_chip(option, chosen, element, spot) for option in options)
        return _field(element, spot, tag("span", *chips, class_="chips"), "确定", around="div")
    empty = tag("option", text_of(element.get("placeholder")) or "请选择", value="")
    drawn = [_option(option, chosen, spot) for option in options]
    return _field(element, spot, tag("select", empty, *drawn, **_common(element, spot)), "确定")


def _chip(option: Mapping[str, Any], chosen: set[str], element: Mapping[str, Any], spot: Spot) -> Markup:
    value = text_of(option.get("value"))
    common = {**_common(element, spot), "required": None, "aria_label": None}
    box = tag("input", type="checkbox", value=value, checked=value in chosen, **common)
    return tag("label", box, text_of(option.get("text")) or spot.viewer.name_of(value), class_="chip")


def _chosen(element: Mapping[str, Any], options: Sequence[Mapping[str, Any]]) -> set[str]:
    index = whole(element.get("initial_index"), 0, len(options), 0)
    by_index = [text_of(options[index - 1].get("value"))] if index else []
    return {
        text_of(element.get("initial_option")), *map(text_of, sequence(element.get("selected_values"))), *by_index,
    }  # fmt: skip


def _option(option: Mapping[str, Any], chosen: set[str], spot: Spot) -> Markup:
    value = text_of(option.get("value"))
    label = text_of(option.get("text")) or spot.viewer.name_of(value)
    return tag("option", label, value=value, selected=value in chosen and bool(value))


def draw_picker(element: Mapping[str, Any], spot: Spot) -> Markup:
    kind = _INPUTS[text_of(element.get("tag"))]
    value = next((text_of(element[key]) for key in element if key.startswith("initial_")), "")
    control = tag("input", type=kind, value=value.replace(" ", "T"), **_common(element, spot))
    return _field(element, spot, control, "确定")


def draw_checker(element: Mapping[str, Any], spot: Spot) -> Markup:
    box = tag("input", type="checkbox", value="1", checked=element.get("checked") is True, **_common(element, spot))
    text = tag("span", text_of(element.get("text")))
    return _field({**element, "label": ""}, spot, tag("span", box, text, class_="check"), "确定")


def draw_select_image(element: Mapping[str, Any], spot: Spot) -> Markup:
    kind = "checkbox" if element.get("multi_select") is True else "radio"
    common = _common(element, spot)
    drawn = []
    for option in map(mapping, sequence(element.get("options"))):
        value = text_of(option.get("value"))
        box = tag("input", type=kind, value=value, **common)
        drawn.append(tag("label", box, picture(text_of(option.get("img_key")), value, spot.viewer), class_="check"))
    return _field({**element, "label": ""}, spot, tag("span", join(drawn), class_="images"), "确定", around="div")


CONTROLS: Mapping[str, Callable[[Mapping[str, Any], Spot], Markup]] = {
    "button": draw_button,
    "overflow": draw_overflow,
    "input": draw_input,
    "select_static": draw_select,
    "multi_select_static": draw_select,
    "select_person": draw_select,
    "multi_select_person": draw_select,
    "date_picker": draw_picker,
    "picker_time": draw_picker,
    "picker_datetime": draw_picker,
    "checker": draw_checker,
    "select_img": draw_select_image,
}
