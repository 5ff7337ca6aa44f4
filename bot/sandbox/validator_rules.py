"""What a component must keep beyond its properties. Source: feishu-platform notes 5.4-5.6, 2.8."""

from collections.abc import Callable, Mapping
from typing import Any

from bot.sandbox.validator_fields import CardRefusedError, Place, Reading, malformed
from bot.sandbox.validator_text import content_of

Component = Mapping[str, Any]
Rule = Callable[[Component, Place, Reading], None]

DEEPEST = 5
REMOVED_IN_2 = {"action", "note"}
ROOT_ONLY = {"form", "table"}
CONTAINERS = {"column_set", "form", "collapsible_panel", "interactive_container"}
MULTIPLE = {"multi_select_static"}  # several choices: only in a form
NAMED_IN_FORM = {
    "button", "input", "select_static", "multi_select_static", "select_person", "multi_select_person",
    "date_picker", "picker_time", "picker_datetime", "checker", "select_img",
}  # fmt: skip
MOST_COLUMNS_SHOWN = 50
MOST_IMAGES = {"double": 2, "triple": 3, "bisect": 6, "trisect": 9}
CELLS: dict[str, tuple[type, ...]] = {
    "text": (str,), "lark_md": (str,), "markdown": (str,), "options": (list, str), "number": (int, float),
    "persons": (list, str), "date": (int,),
}  # fmt: skip


def check_place(tag: str, value: Component, place: Place) -> None:
    """`place` is that of the surroundings."""
    if tag in ROOT_ONLY and place.depth:
        raise malformed(place, f"{tag} must stand at the root", tag)
    if tag in CONTAINERS and place.depth >= DEEPEST:
        raise malformed(place, f"containers are nested deeper than {DEEPEST}", tag)
    if not place.in_form and (tag in MULTIPLE or (tag == "select_img" and value.get("multi_select"))):
        raise malformed(place, f"{tag} with several choices must stand in a form", tag)
    if place.in_form and tag in NAMED_IN_FORM and not value.get("name"):
        raise malformed(place, "an interactive component in a form needs a name", tag)


def _form(value: Component, place: Place, _reading: Reading) -> None:
    if not any(button.get("form_action_type") == "submit" for button in _buttons(value["elements"])):
        raise malformed(place, "a form needs a submit button")


def _required(value: Component, place: Place, reading: Reading) -> None:
    if value.get("required") and not place.in_form:
        reading.warn(place, "required has no effect outside a form")


def _image_combination(value: Component, place: Place, reading: Reading) -> None:
    most = MOST_IMAGES[value["combination_mode"]]
    if len(value["img_list"]) > most:
        reading.warn(place, f"only {most} images are shown")


def _person_list(value: Component, place: Place, reading: Reading) -> None:
    """An unknown person is an error unless the list says to drop them."""
    if not value.get("drop_invalid_user_id", False):
        for person in value["persons"]:
            reading.users.setdefault(person["id"], place.path)


def _audio(value: Component, place: Place, reading: Reading) -> None:
    if reading.forwardable:
        raise CardRefusedError(300220, place, "a card with audio must set enable_forward to false")
    audio_id = value.get("audio_id")
    if audio_id in reading.audio_ids:
        raise CardRefusedError(300230, place, "duplicate audio id", str(audio_id))
    if audio_id:
        reading.audio_ids.add(audio_id)


def _table(value: Component, place: Place, reading: Reading) -> None:
    reading.tables += 1
    if len(value["columns"]) > MOST_COLUMNS_SHOWN:
        reading.warn(place, f"only {MOST_COLUMNS_SHOWN} columns are shown")
    kinds = {column["name"]: column["data_type"] for column in value["columns"]}
    for index, row in enumerate(value["rows"]):
        _row(row, kinds, place.at("rows").item(index, None), reading)


def _row(row: Any, kinds: Mapping[str, str], place: Place, reading: Reading) -> None:
    """200914 for a row of a wrong form, 200915 for a cell without a column."""
    if not isinstance(row, dict):
        raise CardRefusedError(200914, place, "table rows is invalid", str(row)[:80])
    for key, cell in row.items():
        if key not in kinds:
            raise CardRefusedError(200915, place, "row name is not declared in columns", key)
        if not isinstance(cell, CELLS[kinds[key]]) or isinstance(cell, bool):
            raise CardRefusedError(200914, place, f"table rows is invalid: {key} is no {kinds[key]}", str(cell)[:80])
        if kinds[key] in ("lark_md", "markdown"):
            content_of("lark_md")(cell, place.at(key), reading)


def _buttons(value: Any) -> list[Component]:
    if isinstance(value, list):
        return [button for one in value for button in _buttons(one)]
    if not isinstance(value, dict):
        return []
    inner = [button for one in value.values() for button in _buttons(one)]
    return [value, *inner] if value.get("tag") == "button" else inner


RULES: dict[str, Rule] = {
    "form": _form,
    "img_combination": _image_combination,
    "person_list": _person_list,
    "audio": _audio,
    "table": _table,
    **dict.fromkeys(NAMED_IN_FORM, _required),
}
