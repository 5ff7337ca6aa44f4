"""Plain text files: bytes → lines → digests. The text is literal; `*` stays `*`."""

import codecs
import re
from collections.abc import Iterator, Sequence
from datetime import datetime, tzinfo

from bot.domain.digest import Reading
from bot.domain.errors import DigestError
from bot.reading.drafts import Notes
from bot.reading.marks import Line, is_rule, mark_line
from bot.reading.structure import arrival, read_lines

MOST_LINES = 100_000
MOST_MARKS = 400_000  # links and formulas; each costs some 200 bytes of memory
LEAST_COMMON_SHARE = 0.5
SAMPLE_CHARS = 20_000
MOST_CONTROL_SHARE = 0.02
ALWAYS_CONTROLS = 3
MOST_NUL_SHARE = 0.001
FORMULA_LINES = 40

_DOLLARS = re.compile(r"\$\$+")
_LINE_END = re.compile("\r\n|[\r\n\v\f\x85\u2028\u2029]")
_CONTROL = re.compile("[\x01-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\ufffd]")
_EMOJI = "\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff"
# the joiner is kept where it makes one emoji of two
_INVISIBLE = re.compile(
    f"[\x00-\x08\x0e-\x1f\u200b\u200c\u200e\u200f\u2060\ufeff\xad]|(?<![\ufe0f{_EMOJI}])\u200d|\u200d(?![{_EMOJI}])"
)
_COMMON_GB2312 = re.compile(rb"[\xa1-\xa3\xb0-\xd7].", re.DOTALL)
_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_CUT_OFF = {"unexpected end of data", "truncated data", "incomplete multibyte sequence"}
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
    text = _INVISIBLE.sub("", _decoded(data, name))
    if not text.strip():
        raise DigestError("empty", "the file holds no text; export it again", path=name)
    _check_size(text, name)
    notes = Notes()
    lines = _lines(text, {_INVISIBLE.sub("", line).strip() for line in noise}, notes)
    if received_at and received_at.tzinfo is None:
        received_at = received_at.replace(tzinfo=zone)
    today = received_at.astimezone(zone).date() if received_at else None
    return read_lines(lines, arrival(today, name), notes)


def _decoded(data: bytes, name: str | None) -> str:
    text = _decoded_by_mark(data) or _decode(data, "utf-8") or _decoded_gb18030(data)
    if text is None:
        raise DigestError(
            "not_text", "the file is no text in UTF-8, UTF-16 or GB18030; save it as UTF-8 text", path=name
        )
    controls = len(_CONTROL.findall(text))
    if text.count("\0") > MOST_NUL_SHARE * len(text) or controls > ALWAYS_CONTROLS + MOST_CONTROL_SHARE * len(text):
        raise DigestError("not_text", "the file is binary; export the digest as UTF-8 text", path=name)
    return text


def _decoded_by_mark(data: bytes) -> str | None:
    return next((_decode(data, encoding) for mark, encoding in _MARKS.items() if data.startswith(mark)), None)


def _decoded_gb18030(data: bytes) -> str | None:
    """Most bytes decode as GB18030; what is text is mostly made of everyday characters. EUC-KR and EUC-JP pass too."""
    text = _decode(data, "gb18030")
    sample = "".join(char for char in (text or "")[:SAMPLE_CHARS] if not char.isascii())
    common = _COMMON_GB2312.findall(sample.encode("gb2312", "ignore"))
    return text if len(common) >= LEAST_COMMON_SHARE * len(sample) else None


def _decode(data: bytes, encoding: str) -> str | None:
    """A file cut off inside its last character is still read; the half character shows as U+FFFD."""
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        is_tail = error.end == len(data) and error.reason in _CUT_OFF
        return data.decode(encoding, "replace") if is_tail else None


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
