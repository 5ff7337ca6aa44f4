"""From what a page posts back to what was pressed: the element of the stored card, and what was filled in around it.

The page sends only paths (`press`, `field.PATH`, see `draw_controls`); values and names are read from the card itself.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bot.sandbox.draw_controls import FIELD, behaviors, submits
from bot.sandbox.loose import mapping, sequence, text_of

Fields = Mapping[str, Sequence[str]]
Element = Mapping[str, Any]

_OFFSET = " +0800"  # dates and times are reported with the zone of the client (6.1)
_SUFFIXED = {"date_picker", "picker_time", "picker_datetime"}
_SEVERAL = {"multi_select_static", "multi_select_person"}


class NotOnCardError(Exception):
    """The card has no such element now: it was replaced since the page was drawn."""


@dataclass(frozen=True, slots=True)
class Press:
    """`wanted` finds the element again: its name in a form, else its callback value.

    `chosen`: what was picked or typed.
    """

    wanted: Any
    form_value: Mapping[str, Any] | None = None
    chosen: Any = None


def read_press(card: object, pressed: str, fields: Fields) -> Press:
    """`pressed` is the path of the element, with `@N` behind it for the N-th entry of an overflow menu."""
    path, _, option = pressed.partition("@")
    elements = list(_way(card, path))
    element = elements[-1]
    form = next(((at, one) for at, one in _forms(path, elements)), None)
    name = text_of(element.get("name")) or None
    if form is not None and submits(element):
        return Press(name, dict(_filled(*form, fields)))
    value = next((one.get("value") for one in behaviors(element, "callback")), None)
    return Press(name if value is None else value, None, _chosen(element, path, option, fields))


def _way(card: object, path: str) -> Iterator[Element]:
    """The objects with a tag between the card and the end of the path, which must be one itself."""
    at: Any = card
    for key in path.split("."):
        at = _step(at, key)
        if isinstance(at, Mapping):
            yield at
    if not text_of(mapping(at).get("tag")):
        raise NotOnCardError


def _step(at: Any, key: str) -> Any:
    if isinstance(at, Mapping) and key in at:
        return at[key]
    if isinstance(at, list) and key.isascii() and key.isdigit() and int(key[:6]) < len(at):
        return at[int(key[:6])]
    raise NotOnCardError


def _forms(path: str, elements: Sequence[Element]) -> Iterator[tuple[str, Element]]:
    """The card form on the way with its own path. Forms lie at the card's root: `body.elements.N`."""
    for element in elements:
        if text_of(element.get("tag")) == "form":
            yield ".".join(path.split(".")[:3]), element


def _filled(at: str, form: Element, fields: Fields) -> Iterator[tuple[str, Any]]:
    for path, element in _fields_in(form, at):
        name = text_of(element.get("name"))
        if name and text_of(element.get("tag")) != "button":
            yield name, _value(element, fields.get(FIELD + path, ()))


def _fields_in(value: Any, path: str) -> Iterator[tuple[str, Element]]:
    """Every object with a tag below, with its path."""
    pairs = value.items() if isinstance(value, Mapping) else enumerate(sequence(value))
    for key, one in pairs:
        if key == "behaviors":
            continue
        if isinstance(one, Mapping) and "tag" in one:
            yield f"{path}.{key}", one
        yield from _fields_in(one, f"{path}.{key}") if isinstance(one, Mapping | list) else ()


def _value(element: Element, given: Sequence[str]) -> Any:
    """What the platform reports of a field: a list, a tick, or a text that may be empty."""
    tag = text_of(element.get("tag"))
    if tag in _SEVERAL or (tag == "select_img" and element.get("multi_select") is True):
        return list(given)
    if tag == "checker":
        return bool(given)
    first = given[0] if given else ""
    return first.replace("T", " ") + _OFFSET if tag in _SUFFIXED and first else first


def _chosen(element: Element, path: str, option: str, fields: Fields) -> Any:
    if text_of(element.get("tag")) == "overflow":
        options = sequence(element.get("options"))
        return text_of(mapping(_step(list(options), option)).get("value"))
    return _value(element, fields[FIELD + path]) if FIELD + path in fields else _unticked(element)


def _unticked(element: Element) -> Any:
    """A box that is not ticked sends nothing."""
    return False if text_of(element.get("tag")) == "checker" else None
