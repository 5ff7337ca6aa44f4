"""What an uploaded picture is, read from its first bytes: format and resolution, without decoding it.

Formats: feishu-platform notes 4. ICO, TIFF and HEIC are only recognised: their resolution stays unknown.
"""

import struct
from collections.abc import Callable
from dataclasses import dataclass

Size = tuple[int, int]
_PNG = b"\x89PNG\r\n\x1a\n"
_HEIC_BRANDS = {b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"mif1", b"msf1"}
_NO_FRAME = {0xC4, 0xC8, 0xCC}  # between the frame markers of JPEG: tables and an extension
_BARE = {0x01, *range(0xD0, 0xD9)}  # markers without a length


@dataclass(frozen=True, slots=True)
class ImageFormat:
    """`size`: width and height in pixels, None where the header is of a kind that is not read."""

    content_type: str
    size: Size | None


def image_format(content: bytes) -> ImageFormat | None:
    """None for what is no picture of a known format, or for one whose header is broken."""
    content_type = _content_type(content)
    if content_type is None:
        return None
    read = _SIZES.get(content_type)
    if read is None:
        return ImageFormat(content_type, None)
    try:
        size = read(content)
    except (struct.error, IndexError):
        return None
    return ImageFormat(content_type, size) if size and min(size) > 0 else None


def _content_type(content: bytes) -> str | None:
    for content_type, beginnings in _BEGINNINGS.items():
        if content.startswith(beginnings):
            return content_type
    if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
        return "image/webp"
    if content[4:8] == b"ftyp" and content[8:12] in _HEIC_BRANDS:
        return "image/heic"
    return None


def _png(content: bytes) -> Size | None:
    width, height = struct.unpack_from(">II", content, 16)
    return (width, height) if content[12:16] == b"IHDR" else None


def _gif(content: bytes) -> Size:
    width, height = struct.unpack_from("<HH", content, 6)
    return width, height


def _bmp(content: bytes) -> Size:
    """The oldest header has 16-bit lengths; a height below zero means rows from the top."""
    (header,) = struct.unpack_from("<I", content, 14)
    width, height = struct.unpack_from("<HH" if header == 12 else "<ii", content, 18)
    return width, abs(height)


def _webp(content: bytes) -> Size | None:
    """Lossy, lossless or extended: three headers."""
    kind = content[12:16]
    if kind == b"VP8X":
        return _uint24(content, 24) + 1, _uint24(content, 27) + 1
    if kind == b"VP8L":
        (bits,) = struct.unpack_from("<I", content, 21)
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    width, height = struct.unpack_from("<HH", content, 26)
    return (width & 0x3FFF, height & 0x3FFF) if kind == b"VP8 " else None


def _uint24(content: bytes, start: int) -> int:
    return content[start] | content[start + 1] << 8 | content[start + 2] << 16


def _jpeg(content: bytes) -> Size | None:
    """From segment to segment until the one that begins the frame."""
    at = 2
    while content[at] == 0xFF:
        marker = content[at + 1]
        if 0xC0 <= marker <= 0xCF and marker not in _NO_FRAME:
            height, width = struct.unpack_from(">HH", content, at + 5)
            return width, height
        if marker == 0xFF:  # padding
            at += 1
        elif marker in _BARE:
            at += 2
        else:
            (length,) = struct.unpack_from(">H", content, at + 2)
            at += 2 + length
    return None


_BEGINNINGS: dict[str, tuple[bytes, ...]] = {
    "image/png": (_PNG,),
    "image/jpeg": (b"\xff\xd8\xff",),
    "image/gif": (b"GIF87a", b"GIF89a"),
    "image/bmp": (b"BM",),
    "image/x-icon": (b"\0\0\1\0",),
    "image/tiff": (b"II*\0", b"MM\0*"),
}
_SIZES: dict[str, Callable[[bytes], Size | None]] = {
    "image/png": _png,
    "image/jpeg": _jpeg,
    "image/gif": _gif,
    "image/bmp": _bmp,
    "image/webp": _webp,
}
