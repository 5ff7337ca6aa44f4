"""The controls of card JSON 2.0 and their properties. Source: feishu-platform notes 5.4 (pages V2C)."""

from bot.sandbox.validator_fields import (
    Check,
    boolean,
    by_locale,
    either,
    image_key,
    listing,
    name,
    number,
    one_of,
    pixels,
    string,
    struct,
    user_id,
)
from bot.sandbox.validator_parts import (
    BEHAVIORS,
    CONFIRM,
    ICON,
    JUMP,
    LABEL,
    PLAIN,
    SHORT_TEXT_CHARS,
    TEXT,
    text_object,
)

Properties = tuple[dict[str, Check], tuple[str, ...]]
"""What a component may have, and what it must have."""

_NAMED: dict[str, Check] = {"name": name, "required": boolean, "disabled": boolean}
CALLS: dict[str, Check] = {
    **_NAMED,
    "behaviors": BEHAVIORS,
    "confirm": CONFIRM,
    "hover_tips": PLAIN,
    "disabled_tips": PLAIN,
}
_WIDTH = either(one_of("default", "fill"), pixels(100))
_PLACEHOLDER = text_object("plain_text", content=string(most=SHORT_TEXT_CHARS))

_OPTION = struct({"text": PLAIN, "value": TEXT, "icon": ICON}, "text", "value")
_PERSON_OPTION = struct({"value": user_id}, "value")
_CHOICE: dict[str, Check] = {
    **CALLS, "placeholder": _PLACEHOLDER, "width": _WIDTH, "type": one_of("default", "text"), "initial_option": TEXT,
    "initial_index": number(0, whole=True), "options": listing(_OPTION),
}  # fmt: skip
_CHOICES: dict[str, Check] = {**_CHOICE, "selected_values": listing(TEXT)}
_PICKER: dict[str, Check] = {**CALLS, "placeholder": _PLACEHOLDER, "width": _WIDTH}

_MENU_ENTRY = struct({"text": LABEL, "multi_url": JUMP, "value": TEXT})
_IMAGE_OPTION = struct(
    {"img_key": image_key, "value": TEXT, "disabled": boolean, "disabled_tips": PLAIN, "hover_tips": PLAIN},
    "img_key", "value",
)  # fmt: skip

CONTROLS: dict[str, Properties] = {
    "button": (
        {
            **CALLS, "text": LABEL, "icon": ICON, "width": _WIDTH, "size": one_of("tiny", "small", "medium", "large"),
            "type": one_of("default", "primary", "danger", "text", "primary_text", "danger_text", "primary_filled",
                           "danger_filled", "laser"),
            "form_action_type": one_of("submit", "reset"), "action_type": one_of("form_submit", "form_reset"),
        },
        (),
    ),
    "overflow": (
        {**CALLS, "width": _WIDTH, "options": listing(_MENU_ENTRY, least=1)},
        ("options",),
    ),
    "select_static": (_CHOICE, ()),
    "multi_select_static": (_CHOICES, ()),
    "select_person": ({**_CHOICE, "options": listing(_PERSON_OPTION)}, ()),
    "multi_select_person": ({**_CHOICES, "options": listing(_PERSON_OPTION)}, ()),
    "input": (
        {
            **CALLS, "placeholder": _PLACEHOLDER, "default_value": TEXT, "i18n_default_value": by_locale(TEXT),
            "max_length": number(1, 1000, whole=True), "input_type": one_of("text", "multiline_text", "password"),
            "rows": number(1, whole=True), "auto_resize": boolean, "max_rows": number(1, whole=True), "label": PLAIN,
            "label_position": one_of("top", "left"), "width": _WIDTH, "show_icon": boolean,
        },
        (),
    ),
    "date_picker": ({**_PICKER, "initial_date": string(pattern=r"\d{4}-\d{2}-\d{2}")}, ()),
    "picker_time": ({**_PICKER, "initial_time": string(pattern=r"\d{2}:\d{2}")}, ()),
    "picker_datetime": ({**_PICKER, "initial_datetime": string(pattern=r"\d{4}-\d{2}-\d{2} \d{2}:\d{2}")}, ()),
    "select_img": (
        {
            **CALLS, "multi_select": boolean, "layout": TEXT, "aspect_ratio": TEXT, "can_preview": boolean,
            "style": TEXT, "options": listing(_IMAGE_OPTION, least=1),
        },
        ("options",),
    ),
}  # fmt: skip
