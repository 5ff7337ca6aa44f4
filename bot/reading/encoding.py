"""Bytes → text, whatever they say they are."""

import codecs
import re
from collections.abc import Iterator

from bot.domain.errors import DigestError

LEAST_COMMON_SHARE = 0.5
SAMPLE_CHARS = 20_000
MOST_CONTROL_SHARE = 0.02
ALWAYS_CONTROLS = 3
MOST_NUL_SHARE = 0.001

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
# GB18030 holds all of GB2312 and GBK, and files declare the smaller ones while they use the larger
_WIDER = {"gb2312": "gb18030", "gbk": "gb18030"}
_CUT_OFF = {"unexpected end of data", "truncated data", "incomplete multibyte sequence"}


def decoded(data: bytes, name: str | None, declared: str | None = None) -> str:
    """The text, invisible characters left out.

    `declared`: the encoding that the source states, tried right after a byte order mark; a wrong one is passed over.
    Raises: DigestError `not_text` for what is binary or in an encoding that cannot be told, `empty` for no text.
    """
    text = next((text for text in _attempts(data, declared) if text is not None), None)
    if text is None:
        raise DigestError(
            "not_text", "the file is no text in UTF-8, UTF-16 or GB18030; save it as UTF-8 text", path=name
        )
    controls = len(_CONTROL.findall(text))
    if text.count("\0") > MOST_NUL_SHARE * len(text) or controls > ALWAYS_CONTROLS + MOST_CONTROL_SHARE * len(text):
        raise DigestError("not_text", "the file is binary; export the digest as UTF-8 text", path=name)
    text = visible(text)
    if not text.strip():
        raise DigestError("empty", "the file holds no text; export it again", path=name)
    return text


def visible(text: str) -> str:
    """The text without characters that nobody sees."""
    return _INVISIBLE.sub("", text)


def _attempts(data: bytes, declared: str | None) -> Iterator[str | None]:
    yield next((_decode(data, encoding) for mark, encoding in _MARKS.items() if data.startswith(mark)), None)
    if declared:
        yield _decode_declared(data, declared)
    yield _decode(data, "utf-8")
    yield _decode_gb18030(data)


def _decode_declared(data: bytes, declared: str) -> str | None:
    try:
        encoding = codecs.lookup(declared.strip()).name
    except (LookupError, ValueError):
        return None
    encoding = _WIDER.get(encoding, encoding)
    try:
        return _decode(data, encoding)
    except (LookupError, UnicodeError):  # base64, rot13, idna: codecs, but none of text in files
        return None


def _decode_gb18030(data: bytes) -> str | None:
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
