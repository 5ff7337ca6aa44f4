"""Where things stand in the lines of one day: introduction, section names, first lines of items, farewell."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from bot.reading.marks import Kind, Line
from bot.reading.vocabulary import STANDING, STANDING_START


@dataclass(frozen=True, slots=True)
class Outline:
    """Indexes into `lines`: the introduction stands before `body_start`, the outro from `body_end` on."""

    lines: Sequence[Line]
    sections: frozenset[int]
    body_start: int
    body_end: int
    starts: frozenset[int] = frozenset()
    has_links: bool = False

    @property
    def body(self) -> range:
        """Indexes of the lines between introduction and outro."""
        return range(self.body_start, self.body_end)

    def kind(self, index: int) -> Kind | None:
        """The shape of a line of the body; None for a section name and beyond the ends."""
        return self.lines[index].kind if index in self.body and index not in self.sections else None


def is_standing(line: Line) -> bool:
    """Part of an introduction that is the same every day."""
    return bool((STANDING_START.match if line.kind is Kind.SHORT else STANDING.search)(line.text))


def story_start(lines: Sequence[Line]) -> int:
    """Index of the first link with a title and prose before it: there the news has begun."""
    titled = False
    for index, (line, following) in enumerate(pairwise(lines)):
        titled = titled or (line.kind is Kind.SHORT and following.kind is Kind.PROSE and not is_standing(line))
        if titled and following.kind is Kind.LINK:
            return index + 1
    return len(lines)


def list_style(line: Line) -> str:
    """How a list is marked: `1、` and `2、` alike, `①` otherwise; empty without a mark."""
    mark = line.mark.strip()
    if len(mark) == 1 and mark.isnumeric():
        return "①"
    return re.sub("[一二三四五六七八九十]+", "一", re.sub("[0-9]+", "1", unicodedata.normalize("NFKC", mark)))
