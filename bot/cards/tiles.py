"""Figures side by side, and lists of what to look at: what the cards for admins share."""

from collections.abc import Sequence
from dataclasses import dataclass

from bot.cards.words import Words

MOST_LINES = 5  # of one finding


@dataclass(frozen=True, slots=True)
class Tile:
    """A figure with what it counts."""

    figure: str
    label: Words


@dataclass(frozen=True, slots=True)
class Finding:
    """Something to look at, `count` times. `lines`, the first ones, are card markdown; `more`: there are others."""

    title: Words
    count: int
    lines: tuple[str, ...]
    more: bool


def finding(title: Words, lines: Sequence[str]) -> Finding:
    """A finding with as many lines as a card can bear."""
    return Finding(title, len(lines), tuple(lines[:MOST_LINES]), len(lines) > MOST_LINES)
