"""Invented pictures for tests."""

import struct
import zlib
from io import BytesIO
from typing import Any

from PIL import Image


def make_image(width: int = 320, height: int = 200, kind: str = "PNG", *, mode: str = "RGB", **how: Any) -> bytes:
    """A gradient, so that size and orientation can be seen."""
    picture = Image.linear_gradient("L").resize((width, height)).convert(mode)
    packed = BytesIO()
    picture.save(packed, kind, **how)
    return packed.getvalue()


def make_moving(width: int = 320, height: int = 200, kind: str = "GIF") -> bytes:
    """Three frames of three colours."""
    first, *others = (Image.new("RGB", (width, height), colour) for colour in ("red", "green", "blue"))
    packed = BytesIO()
    first.save(packed, kind, save_all=True, append_images=others)
    return packed.getvalue()


def make_png(width: int, height: int, pixels: bytes = b"") -> bytes:
    """A PNG whose header says what it likes."""
    header = struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(pixels)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data)) for name, data in chunks
    )
