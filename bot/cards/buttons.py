"""Buttons, and what of a series is seen on every card."""

from dataclasses import dataclass

from bot.cards.actions import Action, encode
from bot.cards.text import link_url
from bot.cards.words import Words
from bot.domain.series import Series

# Header colours of a card (JSON 2.0 structure, read 2026-05).
HEADER_COLOURS = frozenset(
    ("blue", "wathet", "turquoise", "green", "yellow", "orange", "red", "carmine", "violet", "purple", "indigo", "grey")
)


@dataclass(frozen=True, slots=True)
class Button:
    """A button in Chinese and English; it carries a callback `value` or opens `url`. `type` is its look."""

    zh: str
    en: str
    value: dict[str, object] | None = None
    url: str | None = None
    type: str = "default"


@dataclass(frozen=True, slots=True)
class Label:
    """A coloured word in a header."""

    text: Words
    colour: str


def act(zh: str, en: str, action: Action, look: str = "default") -> Button:
    """A button that changes something."""
    return Button(zh, en, value=encode(action), type=look)


def go(zh: str, en: str, url: str | None) -> tuple[Button, ...]:
    """A button that opens an address; none if there is no usable one."""
    return (Button(zh, en, url=url),) if url and link_url(url) else ()


def community(series: Series) -> tuple[Button, ...]:
    """The way to the series' community, if it has one."""
    return go("社区", "Community", series.community_url)


def header_colour(series: Series) -> str:
    """The series' colour, if the platform knows it."""
    return series.colour if series.colour in HEADER_COLOURS else "blue"
