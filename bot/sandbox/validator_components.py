"""The components of card JSON 2.0 and their properties; a property that is not here is an error there.

Source: feishu-platform notes 5.4 (pages V2C), 5.5 (nesting). Colours are free strings: names, rgba and the card's own.
"""

from typing import Any

from bot.sandbox.validator_controls import CALLS, CONTROLS, Properties
from bot.sandbox.validator_fields import (
    CardRefusedError,
    Check,
    Place,
    Reading,
    anything,
    boolean,
    by_locale,
    either,
    element_id,
    image_key,
    listing,
    malformed,
    mapping,
    name,
    number,
    one_of,
    pixels,
    string,
    struct,
    user_id,
)
from bot.sandbox.validator_parts import (
    DIRECTION,
    HEIGHT,
    ICON,
    JUMP,
    MARGIN,
    PADDING,
    PICTURE_SIZE,
    PLAIN,
    PLAIN_OR_LARK,
    RADIUS,
    SIDE,
    SPACING,
    TEXT,
    text_object,
)
from bot.sandbox.validator_rules import CONTAINERS, REMOVED_IN_2, RULES, check_place
from bot.sandbox.validator_text import markdown, text_size


def component(value: Any, place: Place, reading: Reading) -> None:
    """One element: known, in its right place, with its properties, keeping its rules."""
    mapping(value, place, reading)
    tag = value.get("tag")
    if not isinstance(tag, str):
        raise malformed(place, "missing or wrong tag", tag)
    if tag in REMOVED_IN_2:
        msg = f"cards of schema V2 no longer support this capability; unsupported tag {tag}"
        raise CardRefusedError(200861, place, msg, tag)
    if tag not in COMPONENTS:
        raise malformed(place, "unknown tag", tag)
    check_place(tag, value, place)
    inner = place.inside(form=tag == "form") if tag in CONTAINERS else place
    _CHECKS[tag](value, inner, reading)
    if tag in RULES:
        RULES[tag](value, inner, reading)


elements = listing(component)

_EVERYWHERE: dict[str, Check] = {"tag": anything, "element_id": element_id, "margin": MARGIN}
_FLOW: dict[str, Check] = {
    "direction": DIRECTION,
    "horizontal_spacing": SPACING,
    "vertical_spacing": SPACING,
    "horizontal_align": SIDE,
    "vertical_align": HEIGHT,
    "padding": PADDING,
}
_JUMP_ON_TAP = struct({"multi_url": JUMP}, "multi_url")
_COLUMN = struct(
    {
        **_EVERYWHERE, **_FLOW, "tag": one_of("column"), "elements": elements, "background_style": TEXT,
        "action": _JUMP_ON_TAP, "width": either(one_of("auto", "weighted"), pixels(16, 600)),
        "weight": number(1, 5, whole=True),
    },
    "tag",
)  # fmt: skip
_PANEL_HEADER = struct(
    {
        "title": text_object("plain_text", "markdown", "lark_md"), "background_color": TEXT, "padding": PADDING,
        "icon": ICON, "width": either(one_of("fill", "auto", "auto_when_fold"), pixels(1)), "vertical_align": HEIGHT,
        "icon_position": one_of("left", "right", "follow_text"), "icon_expanded_angle": number(-180, 180),
    },
    "title",
)  # fmt: skip
_TABLE_COLUMN = struct(
    {
        "name": TEXT, "display_name": TEXT, "vertical_align": HEIGHT, "horizontal_align": SIDE, "date_format": TEXT,
        "data_type": one_of("text", "lark_md", "options", "number", "persons", "date", "markdown"),
        "width": either(one_of("auto"), pixels(1), string(pattern=r"\d{1,3}%")),
        "format": struct({"precision": number(0, 10, whole=True), "symbol": TEXT, "separator": boolean}),
    },
    "name", "data_type",
)  # fmt: skip
_TABLE_HEADER = struct(
    {
        "text_align": SIDE, "text_size": text_size, "background_style": TEXT, "text_color": TEXT, "bold": boolean,
        "lines": number(1, whole=True),
    }
)  # fmt: skip
_ROW_HEIGHT = either(one_of("low", "middle", "high", "auto"), pixels(32, 999))

COMPONENTS: dict[str, Properties] = {
    "div": (
        {"text": PLAIN_OR_LARK, "icon": ICON, "width": either(one_of("fill", "auto"), pixels(16, 999))}, (),
    ),
    "markdown": (
        {
            "content": markdown, "i18n_content": by_locale(markdown), "text_align": SIDE, "text_size": text_size,
            "icon": ICON,
        },
        ("content",),
    ),
    "hr": ({}, ()),
    "img": (
        {
            "img_key": image_key, "i18n_img_key": by_locale(image_key), "alt": PLAIN, "title": PLAIN_OR_LARK,
            "corner_radius": RADIUS, "scale_type": one_of("crop_center", "crop_top", "fit_horizontal"),
            "size": PICTURE_SIZE, "transparent": boolean, "preview": boolean, "mode": TEXT,
            "custom_width": number(278, 580, whole=True), "compact_width": boolean,
        },
        ("img_key", "alt"),
    ),
    "img_combination": (
        {
            "combination_mode": one_of("double", "triple", "bisect", "trisect"), "combination_transparent": boolean,
            "img_list": listing(struct({"img_key": image_key}, "img_key"), least=1), "corner_radius": RADIUS,
        },
        ("combination_mode", "img_list"),
    ),
    "person": (
        {
            "user_id": user_id, "size": TEXT, "show_avatar": boolean, "show_name": boolean,
            "style": one_of("normal", "capsule"),
        },
        ("user_id",),
    ),
    "person_list": (
        {
            "persons": listing(struct({"id": TEXT}, "id")), "drop_invalid_user_id": boolean, "show_name": boolean,
            "lines": number(1, whole=True), "show_avatar": boolean, "size": TEXT, "icon": ICON, "ud_icon": ICON,
        },
        ("persons",),
    ),
    "table": (
        {
            "columns": listing(_TABLE_COLUMN, least=1), "rows": listing(anything), "row_height": _ROW_HEIGHT,
            "page_size": number(1, 10, whole=True), "row_max_height": pixels(32, 999), "freeze_first_column": boolean,
            "header_style": _TABLE_HEADER,
        },
        ("columns", "rows"),
    ),
    "chart": (
        {
            "chart_spec": mapping, "aspect_ratio": TEXT, "color_theme": TEXT, "preview": boolean,
            "height": either(one_of("auto"), pixels(1)),
        },
        ("chart_spec",),
    ),
    "audio": (
        {
            "file_key": TEXT, "i18n_file_key": by_locale(TEXT), "audio_id": TEXT, "show_time": boolean, "style": TEXT,
            "fill_color": TEXT, "width": TEXT,
        },
        ("file_key",),
    ),
    "column_set": (
        {
            "columns": listing(_COLUMN, least=1), "background_style": TEXT, "horizontal_spacing": SPACING,
            "horizontal_align": SIDE, "flex_mode": one_of("none", "stretch", "flow", "bisect", "trisect"),
            "action": _JUMP_ON_TAP,
        },
        ("columns",),
    ),
    "collapsible_panel": (
        {
            **_FLOW, "header": _PANEL_HEADER, "expanded": boolean, "background_color": TEXT, "elements": elements,
            "border": struct({"color": TEXT, "corner_radius": RADIUS}),
        },
        ("header",),
    ),
    "interactive_container": (
        {
            **_FLOW, **CALLS, "elements": elements, "background_style": TEXT, "has_border": boolean,
            "border_color": TEXT, "corner_radius": RADIUS, "width": either(one_of("fill", "auto"), pixels(16, 999)),
            "height": either(one_of("auto"), pixels(10, 999)),
        },
        ("behaviors", "elements"),
    ),
    "form": ({**_FLOW, "name": name, "elements": elements}, ("name", "elements")),
    **CONTROLS,
    "checker": (
        {
            **CALLS, "text": PLAIN_OR_LARK, "checked": boolean, "checked_style": mapping, "overall_checkable": boolean,
            "button_area": struct({"buttons": listing(component, most=3), "pc_display_rule": TEXT}), "padding": PADDING,
        },
        (),
    ),
}  # fmt: skip
_CHECKS = {tag: struct({**_EVERYWHERE, **fields}, *required) for tag, (fields, required) in COMPONENTS.items()}
