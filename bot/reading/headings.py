"""Which short lines of unmarked text name a section, and which are strays that a copy left behind."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from bot.reading.marks import Kind, Line, columns
from bot.reading.outline import story_start
from bot.reading.vocabulary import CONTROL, FRAGMENT, SECTION_NAME

SECTION_COLUMNS = 16
STRAY_COLUMNS = 10
MARKED_SECTION_COLUMNS = 30
REPEATED_COLUMNS = 60
WORD_CHARS = 2
MANY = 3

_DECORATED = re.compile(
    r"(【|〔|\[|「|=+\s?|-+\s?|—+\s?|·+\s?|\*+)([^】〔〕\]」=—·*]+?)(】|〕|\]|」|\s?=+|\s?-+|\s?—+|\s?·+|\*+)"
)
_EDGE_SIGNS = re.compile(r"^\W+|\W+$")
_PLAIN_NAME = re.compile(r"[\u4e00-\u9fff]{2}|[\u4e00-\u9fff]{4}|[A-Z][A-Za-z &]+")


@dataclass(frozen=True, slots=True)
class Headings:
    """Lines without the strays; `sections` are indexes into `lines`."""

    lines: tuple[Line, ...]
    sections: frozenset[int]
    strays: tuple[Line, ...]


def find_headings(lines: Sequence[Line]) -> Headings:
    """Tell section names and strays from titles and text."""
    strays = [line for line in lines if CONTROL.fullmatch(line.text)]
    lines = [line for line in lines if not CONTROL.fullmatch(line.text)]
    sections, stray_places = _roles(lines)
    stray_texts = {lines[index].text for index in stray_places}
    kept: list[Line] = []
    names: set[int] = set()
    for index, line in enumerate(lines):
        if index in sections:
            names.add(len(kept))
        elif line.kind is Kind.SHORT and line.text in stray_texts:
            strays.append(line)
            continue
        kept.append(line)
    return Headings(tuple(kept), frozenset(names), tuple(strays))


def section_name(line: Line) -> str:
    """The name without its number and its brackets."""
    decorated = _DECORATED.fullmatch(line.body)
    return decorated[2].strip() if decorated else line.body


def is_known(name: str) -> bool:
    """Made of words that sections are named with, emoji around them aside."""
    return len(name) <= MARKED_SECTION_COLUMNS and bool(SECTION_NAME.fullmatch(_EDGE_SIGNS.sub("", name)))


def _roles(lines: Sequence[Line]) -> tuple[set[int], set[int]]:
    """Indexes of section names and of strays."""
    repeats = Counter(line.text for line in lines if line.kind is Kind.SHORT)
    candidates = [index for index in _before_titles(lines) if _is_narrow(lines[index], repeats)]
    certain = {index for index in candidates if _is_certain(lines[index])}
    repeated = {index for index in candidates if index not in certain and repeats[lines[index].text] > 1}
    unknown = [index for index in candidates if index not in certain and index not in repeated]
    if _are_titles(lines, unknown):
        return certain, repeated
    first = candidates[0] if candidates and candidates[0] < story_start(lines) else None
    sections = {index for index in unknown if first is not None and _is_plausible(lines, index, first)}
    strays = {index for index in unknown if _is_stray(lines[index].body)}
    return certain | sections, repeated | strays - sections


def _before_titles(lines: Sequence[Line]) -> list[int]:
    """Indexes of short lines that stand where a heading could: after finished text, before a title."""
    found: dict[int, None] = {}
    titled = any(_is_title_over_text(line, following) for line, following in pairwise(lines))
    for index, line in enumerate(lines):
        previous = lines[index - 1] if index else None
        follower = _follower(lines, index)
        if line.kind is not Kind.SHORT or follower is None or follower.kind is Kind.LINK:
            continue
        if previous and previous.text.endswith((":", "：")):
            continue
        is_under_heading = index - 1 in found
        if previous and previous.kind is Kind.SHORT and not previous.mark and not is_under_heading:
            continue
        if line.mark and not _is_heading_mark(line, follower):
            continue
        is_after_story = previous is None or previous.kind is Kind.LINK or is_under_heading
        over_text = is_after_story and is_known(section_name(line)) and (not titled or len(line.body) <= WORD_CHARS)
        if follower.could_be_title or follower.mark or over_text:
            found[index] = None
    return list(found)


def _is_title_over_text(line: Line, following: Line) -> bool:
    return line.kind is Kind.SHORT and following.kind is Kind.PROSE and not is_known(section_name(line))


def _follower(lines: Sequence[Line], index: int) -> Line | None:
    return next((line for line in lines[index + 1 : index + 3] if line.kind is not Kind.LABEL), None)


def _is_heading_mark(line: Line, follower: Line) -> bool:
    if line.chinese_numbered:
        return not follower.chinese_numbered
    return not any(char.isalnum() for char in line.mark)


def _is_narrow(line: Line, repeats: Counter[str]) -> bool:
    limit = MARKED_SECTION_COLUMNS if line.mark or _is_certain(line) else SECTION_COLUMNS
    return columns(line.body) <= (REPEATED_COLUMNS if repeats[line.text] > 1 else limit)


def _is_certain(line: Line) -> bool:
    return line.chinese_numbered or bool(_DECORATED.fullmatch(line.body)) or is_known(line.body)


def _is_plausible(lines: Sequence[Line], index: int, first: int) -> bool:
    """The text begins with a section, and this is it, or looks like a name or like the first."""
    name = lines[index].body
    like_first = len(name) == len(lines[first].body)
    return not FRAGMENT.match(name) and (index == first or like_first or bool(_PLAIN_NAME.fullmatch(name)))


def _is_stray(name: str) -> bool:
    return columns(name) <= STRAY_COLUMNS or bool(FRAGMENT.match(name))


def _are_titles(lines: Sequence[Line], unknown: Sequence[int]) -> bool:
    """As many as there are stories, or each with one short line and its link below: these are the titles."""
    links = sum(line.kind is Kind.LINK for line in lines)
    if len(unknown) >= MANY and 2 * len(unknown) > links:
        return True
    return len(unknown) > 1 and all(_heads_short_text(lines, index) for index in unknown)


def _heads_short_text(lines: Sequence[Line], index: int) -> bool:
    kinds = [line.kind for line in lines[index + 2 : index + 4]]
    return kinds[:1] == [Kind.LINK] and kinds[1:] != [Kind.PROSE]
