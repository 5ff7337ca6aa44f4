"""Plain text files: bytes → lines → digests. The text is literal; `*` stays `*`."""

import re
from collections.abc import Iterator, Sequence
from datetime import datetime, tzinfo

from bot.domain.digest import Reading
from bot.domain.errors import DigestError
from bot.reading.drafts import Notes
from bot.reading.encoding import decoded, visible
from bot.reading.marks import Line, is_rule, mark_line
from bot.reading.structure import arrive, read_lines

MOST_LINES = 50_000
MOST_MARKS = 400_000  # links and formulas; each costs some 200 bytes of memory
FORMULA_LINES = 40

_DOLLARS = re.compile(r"\$\$+")
_LINE_END = re.compile("\r\n|[\r\n\v\f\x85\u2028\u2029]")
_DISPLAY = {"$$": "$$", "\\[": "\\]"}


def read_text(
    data: bytes,
    *,
    name: str | None = None,
    received_at: datetime | None = None,
    zone: tzinfo,
    noise: Sequence[str] = (),
) -> Reading:
    """Read a plain text digest as a careful editor would.

    `name`: the file name, for errors, and for the day where the text has none. `received_at`: gives a missing year; a
    naive one is in `zone`. `noise`: lines to leave out, exactly as they stand but for the blanks around them.
    Raises: DigestError `empty`, `not_text` or `too_long`.
    """
    text = decoded(data, name)
    _check_size(text, name)
    notes = Notes()
    lines = _lines(text, {visible(line).strip() for line in noise}, notes)
    return read_lines(lines, arrive(name, received_at, zone), notes)


def _check_size(text: str, name: str | None) -> None:
    """Refuse what is no digest by its size, before it costs time and memory."""
    lines = len(_LINE_END.findall(text))
    if lines > MOST_LINES:
        raise DigestError("too_long", f"{lines} lines are no digest; give one day, at most {MOST_LINES}", path=name)
    dollars = _DOLLARS.sub("$", text).count("$") // 2
    brackets = min(text.count("\\("), text.count("\\)")) + min(text.count("\\["), text.count("\\]"))
    marks = dollars + brackets + text.lower().count("http")
    if marks > MOST_MARKS:
        raise DigestError("too_long", f"{marks} links and formulas are no digest; give one day alone", path=name)


def _lines(text: str, noise: set[str], notes: Notes) -> list[Line]:
    """Lines that say something, numbered as in the source; formulas over several lines are one."""
    lines: list[Line] = []
    for number, stripped in _joined_formulas(_LINE_END.split(text)):
        if stripped in noise:
            notes.drop(number, stripped, "配置的干扰行")
        elif is_rule(stripped):
            notes.drop(number, stripped, "分隔线")
        else:
            lines.append(mark_line(number, stripped))
    return lines


def _joined_formulas(raw: list[str]) -> Iterator[tuple[int, str]]:
    number = 0
    while number < len(raw):
        stripped = raw[number].strip()
        number += 1
        first = number
        closer = _DISPLAY.get(stripped[:2])
        if closer and closer not in stripped[2:]:
            ends = (end for end in range(number, min(number + FORMULA_LINES, len(raw))) if closer in raw[end])
            end = next(ends, None)
            if end is not None and raw[end].strip().endswith(closer):
                stripped = " ".join([stripped, *(line.strip() for line in raw[number : end + 1] if line.strip())])
                number = end + 1
        if stripped:
            yield first, stripped
