"""Frames of the long connection: bytes ↔ Frame. Protobuf (proto2), written out by hand: one message with one inside.

    Frame   1 SeqID  2 LogID  3 service  4 method  5 headers*  6 payload_encoding  7 payload_type  8 payload  9 LogIDNew
    Header  1 key  2 value

1 to 4, key and value are required: they are always written, zeros too. Source: lark-oapi notes 5.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

CONTROL, DATA = 0, 1

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_NUMBERS = {1: "seq_id", 2: "log_id", 3: "service", 4: "method"}
_TEXTS = {6: "payload_encoding", 7: "payload_type", 9: "log_id_new"}
_HEADER, _PAYLOAD = 5, 8
_SIGNED = {"service", "method"}  # int32: a negative one is written as its 64-bit complement


class FrameError(ValueError):
    """Bytes that are no frame. The text never quotes them."""


@dataclass(frozen=True, slots=True)
class Frame:
    """One binary message. `seq_id` and `log_id` are unsigned 64-bit numbers, `service` and `method` signed 32-bit."""

    method: int
    headers: Mapping[str, str] = field(default_factory=dict)
    payload: bytes = b""
    seq_id: int = 0
    log_id: int = 0
    service: int = 0
    payload_encoding: str = ""
    payload_type: str = ""
    log_id_new: str = ""


def encode(frame: Frame) -> bytes:
    """The bytes of a frame; an empty payload or text is left out."""
    out = b"".join(_number(key, getattr(frame, name)) for key, name in _NUMBERS.items())
    for name, value in frame.headers.items():
        out += _bytes(_HEADER, _bytes(1, name.encode()) + _bytes(2, value.encode()))
    texts = frame.payload_encoding.encode(), frame.payload_type.encode(), frame.payload, frame.log_id_new.encode()
    for key, text in enumerate(texts, start=6):
        out += _bytes(key, text) if text else b""
    return out


def decode(raw: bytes) -> Frame:
    """The frame of these bytes; unknown fields are passed over. Raises FrameError, and nothing else."""
    found: dict[str, int | str | bytes] = {}
    headers: dict[str, str] = {}
    for key, value in _fields(raw):
        if key in _NUMBERS:
            name = _NUMBERS[key]
            found[name] = _int32(_as_number(value)) if name in _SIGNED else _as_number(value)
        elif key in _TEXTS:
            found[_TEXTS[key]] = _text(_as_bytes(value))
        elif key == _PAYLOAD:
            found["payload"] = _as_bytes(value)
        elif key == _HEADER:
            headers.setdefault(*_header(_as_bytes(value)))
    if not found.keys() >= set(_NUMBERS.values()):
        raise FrameError("a required field is missing")
    return Frame(headers=headers, **found)  # type: ignore[arg-type]


def _header(raw: bytes) -> tuple[str, str]:
    pair = {key: _text(_as_bytes(value)) for key, value in _fields(raw) if key in {1, 2}}
    if len(pair) < 2:
        raise FrameError("a header lacks its key or value")
    return pair[1], pair[2]


def _fields(raw: bytes) -> Iterator[tuple[int, int | bytes]]:
    """Field numbers with their values, as they come."""
    at = 0
    while at < len(raw):
        tag, at = _varint(raw, at)
        kind = tag & 7
        if not 0 < tag >> 3 < 1 << 29:
            raise FrameError("a field has no number")
        if kind == _VARINT:
            value, at = _varint(raw, at)
            yield tag >> 3, value
            continue
        if kind == _BYTES:
            size, at = _varint(raw, at)
        elif kind in {_FIXED32, _FIXED64}:
            size = 4 if kind == _FIXED32 else 8
        else:
            raise FrameError("a field has an unknown wire type")
        if size > len(raw) - at:
            raise FrameError("the frame is cut off")
        yield tag >> 3, raw[at : at + size]
        at += size


def _varint(raw: bytes, at: int) -> tuple[int, int]:
    """The number that begins at `at` and where it ends: at most 10 bytes, 64 bits."""
    number = 0
    for shift, byte in enumerate(raw[at : at + 10]):
        number |= (byte & 0x7F) << (7 * shift)
        if byte < 0x80:
            if number >= 1 << 64:
                break
            return number, at + shift + 1
    raise FrameError("a number is cut off or too long")


def _number(key: int, value: int) -> bytes:
    return _varint_of(key << 3 | _VARINT) + _varint_of(value & ((1 << 64) - 1))


def _bytes(key: int, value: bytes) -> bytes:
    return _varint_of(key << 3 | _BYTES) + _varint_of(len(value)) + value


def _varint_of(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def _int32(number: int) -> int:
    low = number & 0xFFFF_FFFF
    return low - (1 << 32) if low >= 1 << 31 else low


def _text(raw: bytes) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError:
        raise FrameError("a text is not UTF-8") from None


def _as_number(value: int | bytes) -> int:
    if isinstance(value, bytes):
        raise FrameError("a number has the wire type of a text")
    return value


def _as_bytes(value: int | bytes) -> bytes:
    if isinstance(value, int):
        raise FrameError("a text has the wire type of a number")
    return value
