"""Blocks → lines, what is no text of a digest left out."""

from collections.abc import Iterable
from dataclasses import replace

from bot.domain.digest import Image, Rule
from bot.reading.block_shape import block_line
from bot.reading.blocks import Placed
from bot.reading.drafts import Notes
from bot.reading.marks import Line, is_rule
from bot.reading.story_lists import holds_stories
from bot.reading.vocabulary import BACK_LINK, CONTROL, PROMOTION


def block_lines(blocks: Iterable[Placed], notes: Notes) -> list[Line]:
    """One line a block. Rules, buttons, placeholders and promotions are left out."""
    lines: list[Line] = []
    parted = False
    for placed in blocks:
        line = block_line(placed.line or 0, placed.block)
        if isinstance(placed.block, Rule):
            parted = True
        if line is None:
            continue
        if is_rule(line.text) and not isinstance(line.block, Image):
            notes.drop(line.number, line.text, "分隔线")
        elif CONTROL.fullmatch(line.text) and not line.url and not line.level:
            notes.drop(line.number, line.text, "页面控件或占位文字")
        elif not line.level and PROMOTION.match(line.text):
            notes.drop(line.number, line.text, "推广")
        else:
            line = _without_back_link(line, notes) if line.level else line
            lines.append(replace(line, parted=parted, opens=holds_stories(line)))
            parted = False
    return lines


def _without_back_link(line: Line, notes: Notes) -> Line:
    found = BACK_LINK.search(line.text)
    if not found or not found.start():
        return line
    notes.drop(line.number, found[0], "返回链接")
    return replace(line, text=line.text[: found.start()].rstrip())
