"""Metadata at the top of a Markdown file: between `---` lines, or as bare `Key: value` lines."""

import re
from dataclasses import dataclass

from bot.reading.drafts import Notes

LONGEST_LINES = 60

_PAIR = re.compile(r"([A-Za-z][\w .-]{0,30}|标题|日期|时间|发布时间|作者|标签|分类|摘要)\s*[:：](?:\s+|(?<=：)|$)(.*)")
_DATE_KEYS = {"date", "日期", "时间", "发布时间", "pubdate", "published"}
_TITLE_KEYS = {"title", "标题"}
_REASON = "文件头"


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """What the top of the file says, the text below it, and the number of its first line."""

    body: str
    first_line: int = 1
    title: str | None = None
    day_text: str | None = None


def split_front_matter(text: str, notes: Notes) -> FrontMatter:
    """The text without its metadata; what is neither title nor date is noted as dropped."""
    lines = text.split("\n")
    fenced = _fenced(lines)
    end = fenced if fenced is not None else _bare(lines)
    if not end:
        return FrontMatter(text)
    found: dict[str, str] = {}
    for number, line in enumerate(lines[:end], start=1):
        pair = _PAIR.match(line)
        key = pair[1].lower().strip() if pair else ""
        kind = "title" if key in _TITLE_KEYS else "day" if key in _DATE_KEYS else ""
        value = _unquoted(pair[2]) if pair else ""
        if pair and kind and value and kind not in found:
            found[kind] = value
            notes.drop(number, pair[1], _REASON)
        else:
            notes.drop(number, line, _REASON)
    return FrontMatter("\n".join(lines[end:]), end + 1, found.get("title"), found.get("day"))


def _fenced(lines: list[str]) -> int | None:
    """Number of lines of a block between fences, if the file starts with one."""
    if lines[0].rstrip() not in {"---", "+++"}:
        return None
    for index, line in enumerate(lines[1:LONGEST_LINES], start=1):
        if line.rstrip() in {lines[0].rstrip(), "..."}:
            inner = [each for each in lines[1:index] if each.strip()]
            return index + 1 if inner and _is_pair(inner[0]) else None
    return None


def _is_pair(line: str) -> bool:
    return bool(_PAIR.match(line)) or line.lstrip().startswith("#") or " = " in line


def _bare(lines: list[str]) -> int:
    """Number of `Key: value` lines at the top, if a title is among them; else none of them is metadata."""
    end = 0
    while end < min(len(lines), LONGEST_LINES) and _PAIR.fullmatch(lines[end]):
        end += 1
    keys = {pair[1].lower().strip() for line in lines[:end] if (pair := _PAIR.match(line))}
    return (
        end
        if end > 1 and keys & _TITLE_KEYS and not any(lines[end : end + 1][0].strip() for _ in [0] if end < len(lines))
        else 0
    )


def _unquoted(value: str) -> str:
    value = value.strip()
    return value[1:-1].strip() if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'" else value
