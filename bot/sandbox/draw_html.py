"""Building HTML so that text stays text: names come from our code, everything else is escaped.

No inline style is ever written, since the page's Content-Security-Policy forbids it: sizes and colours of a card
become the nearest class of `card.css`.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from urllib.parse import urlsplit

from markupsafe import Markup, escape

from bot.sandbox.loose import text_of

_HUE_NAMES = "blue wathet turquoise green lime yellow orange red carmine violet purple indigo neutral grey default"
HUES = frozenset(_HUE_NAMES.split())
STEPS_PX = (0, 4, 8, 12, 16, 20, 24)
WIDTHS_PX = (16, 24, 32, 48, 64, 80, 100, 120, 160, 200, 240, 280, 320, 400, 480, 600)
SPACING_PX = {"small": 4, "medium": 8, "large": 12, "extra_large": 16}
_URL = re.compile(r"[!-~]+", re.ASCII)
_VOID = frozenset({"br", "hr", "img", "input"})


def tag(name: str, /, *children: str, **attributes: str | bool | None) -> Markup:
    """One element. `class_` is written `class`, `data_x` as `data-x`; False and None are left out."""
    pairs = join(_attribute(key, value) for key, value in attributes.items())
    if name in _VOID:
        return Markup("<{}{}>").format(name, pairs)
    return Markup("<{0}{1}>{2}</{0}>").format(name, pairs, join(children))


def _attribute(key: str, value: str | bool | None) -> Markup:
    name = key.rstrip("_").replace("_", "-")
    if value is None or value is False:
        return Markup("")
    return Markup(" {}").format(name) if value is True else Markup(' {}="{}"').format(name, value)


def join(parts: Iterable[str]) -> Markup:
    return Markup("").join(escape(part) for part in parts)


def classes(*names: str | None) -> str | None:
    return " ".join(name for name in names if name) or None


def hue(value: object, default: str = "default") -> str:
    """The class of a colour name; shades such as `blue-50` fall back to their base colour."""
    name = text_of(value).split("-")[0]
    return f"hue-{name if name in HUES else default}"


def pixels(value: object) -> int | None:
    """`12px` or a spacing word in pixels; None for everything else."""
    text = text_of(value).strip()
    match = re.fullmatch(r"(-?\d{1,4})(?:px)?", text, re.ASCII)
    return int(match[1]) if match else SPACING_PX.get(text)


def nearest(prefix: str, value: object, steps: tuple[int, ...] = STEPS_PX) -> str | None:
    """The class `prefix-N` of the step nearest to a length, if it is one."""
    wanted = pixels(value)
    return None if wanted is None else f"{prefix}-{min(steps, key=lambda step: abs(step - wanted))}"


def padding(value: object) -> str | None:
    """Classes of a one- to four-valued padding: its top and its left value stand for both sides."""
    values = text_of(value).split()
    if not values:
        return None
    return classes(nearest("py", values[0]), nearest("px", values[-1] if len(values) in (1, 2, 4) else values[1]))


def web_url(value: object) -> str | None:
    """The address if a client would open it: http or https, with a host, and of printable ASCII alone."""
    text = text_of(value).strip()
    if not _URL.fullmatch(text):
        return None
    try:
        parts = urlsplit(text)
    except ValueError:
        return None
    return text if parts.scheme.lower() in {"http", "https"} and parts.netloc else None


def link(url: str, *children: str, class_: str | None = None, **attributes: str) -> Markup:
    """A link that opens beside the page and tells the other side nothing about it."""
    return tag(
        "a", *children, class_=class_, href=url, target="_blank", rel="noopener noreferrer nofollow", **attributes
    )


def no_image(_image_key: str) -> str | None:
    return None


@dataclass(frozen=True, slots=True)
class Viewer:
    """What the one who looks knows: people's names by open_id, and the address of a picture by its key."""

    names: Mapping[str, str] = field(default_factory=dict)
    image_url: Callable[[str], str | None] = no_image

    def name_of(self, person_id: str) -> str:
        return self.names.get(person_id, person_id) or "未知用户"


@dataclass(frozen=True, slots=True)
class Spot:
    """Where drawing stands in a card. `path` finds the element again when its button is pressed."""

    viewer: Viewer
    message_id: str | None
    path: str = ""
    depth: int = 0
    in_form: bool = False

    def at(self, *keys: str | int) -> "Spot":
        steps = ".".join(str(key) for key in keys)
        return replace(self, path=f"{self.path}.{steps}" if self.path else steps, depth=self.depth + 1)
