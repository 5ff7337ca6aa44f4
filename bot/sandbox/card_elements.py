"""Pressing something on a JSON 2.0 card: finding it, and what its callback then says.

Sources: feishu-platform notes 5.4 (components, behaviors), 6.1 (action fields).
"""

from collections.abc import Iterator, Mapping
from typing import Any

FIELD_OF_TAG = {  # what an element outside a form reports of the choice
    "overflow": "option",
    "select_static": "option",
    "select_person": "option",
    "date_picker": "option",
    "picker_time": "option",
    "picker_datetime": "option",
    "multi_select_static": "options",
    "multi_select_person": "options",
    "input": "input_value",
    "checker": "checked",
}
PRESSED = {"button", "interactive_container", *FIELD_OF_TAG}
PICKERS = {"date_picker", "picker_time", "picker_datetime"}
TIMEZONE = "Asia/Shanghai"
INITIAL = (
    "default_value",
    "initial_option",
    "initial_date",
    "initial_time",
    "initial_datetime",
    "selected_values",
    "checked",
)
Element = Mapping[str, Any]


class NoSuchElementError(Exception):
    """The card has nothing that can be pressed so. The text says why."""


def press(
    card: Element, wanted: Any, form_value: Mapping[str, Any] | None = None, chosen: Any = None
) -> dict[str, Any]:
    """The `action` of the callback. `chosen`: what was picked or typed.

    `wanted`: the element's callback value, or its name; None means the first one that has neither.
    """
    found = (pair for pair in _elements(card, None) if pair[0].get("tag") in PRESSED and _is(pair[0], wanted))
    element, form = next(found, (None, None))
    if element is None:
        raise NoSuchElementError("the card has no element with this callback value or name")
    if element.get("disabled"):
        raise NoSuchElementError("the element is disabled")
    action: dict[str, Any] = {"tag": element["tag"]}
    if (value := callback_value(element)) is not None:
        action["value"] = value
    if element["tag"] in PICKERS:
        action["timezone"] = TIMEZONE
    if form is not None and (kind := form_action(element)):
        if kind == "reset":
            raise NoSuchElementError("this button only clears the form")
        return {**action, "name": element.get("name"), "form_value": _filled(form, form_value or {})}
    if element["tag"] in FIELD_OF_TAG:
        action[FIELD_OF_TAG[element["tag"]]] = chosen
    return action


def form_action(element: Element) -> str:
    """`submit`, `reset` or nothing; `action_type` is the old name."""
    return str(element.get("form_action_type") or "") or str(element.get("action_type", "")).removeprefix("form_")


def callback_value(element: Element) -> Any:
    """What the element's callback carries, None when it has none."""
    behaviors = element.get("behaviors") or ()
    return next((one.get("value") for one in behaviors if one.get("type") == "callback"), None)


def _is(element: Element, wanted: Any) -> bool:
    value = callback_value(element)
    if wanted is None:
        return value is None and not element.get("name")
    return bool(wanted in (value, element.get("name")))


def _elements(value: Any, form: Element | None) -> Iterator[tuple[Element, Element | None]]:
    """Every object with a tag, outer ones first, with the form around it."""
    if isinstance(value, list):
        for one in value:
            yield from _elements(one, form)
    if not isinstance(value, dict):
        return
    if "tag" in value:
        yield value, form
    inner = value if value.get("tag") == "form" else form
    for key, one in value.items():
        if key != "behaviors":
            yield from _elements(one, inner)


def _filled(form: Element, given: Mapping[str, Any]) -> dict[str, Any]:
    """Value of every named component; what was not filled in has its initial value, else an empty string."""
    fields = {
        element["name"]: element
        for element, _ in _elements(form.get("elements"), form)
        if element.get("name") and element.get("tag") != "button"
    }
    if unknown := set(given) - set(fields):
        raise NoSuchElementError(f"the form has no field {min(unknown)}")
    values = {name: given.get(name, _initial(element)) for name, element in fields.items()}
    for name, element in fields.items():
        if element.get("required") and values[name] in ("", [], None):
            raise NoSuchElementError(f"the field {name} must be filled in")
    return values


def _initial(element: Element) -> Any:
    return next((element[key] for key in INITIAL if key in element), "")
