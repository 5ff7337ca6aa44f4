"""Bytes of somebody else's picture to one for a card: checked, turned upright, made smaller, and nothing else in it.

Synchronous and heavy: callers run it in a thread, one at a time. Limits: feishu-platform notes 4; a card advises at
most 1500 x 3000 pixels and 16:9 upright. Colour profiles go with the other metadata, so wide colours may look paler.
"""

import warnings
from functools import cache
from io import BytesIO
from types import ModuleType
from typing import TYPE_CHECKING

from bot.pictures.ready import PictureError, ReadyPicture

if TYPE_CHECKING:
    from PIL.Image import Image

MOST_PIXELS = 40_000_000  # of the source: 160 MB while it is open
MOST_WIDTH, MOST_HEIGHT = 1500, 3000
LEAST_SIDE = 16  # below: a tracking pixel, a spacer, a rule
MOST_BYTES = 8_000_000  # of the result; the platform takes 10 MB
SHARP_BYTES = 2_000_000  # above, what needs no alpha becomes a JPEG
MOST_GIF_SIDE, MOST_GIF_BYTES = 2000, 5_000_000
MOST_SCANS = 64  # of a JPEG; a usual progressive one has ten, and each costs a pass over all pixels
QUALITY = 88
ORIENTATION = 0x0112  # the EXIF tag; 5 to 8 lie on their side

_MAGIC = {b"\x89PNG\r\n\x1a\n": "PNG", b"\xff\xd8\xff": "JPEG", b"GIF87a": "GIF", b"GIF89a": "GIF", b"BM": "BMP"}


def prepare(data: bytes) -> ReadyPicture:
    """The picture for a card. Only the first bytes say what it is, never a name or a content type.

    Raises: PictureError `picture_type`, `picture_size`, `picture_tiny`, `picture_long`, `picture_broken`.
    """
    kind = _kind(data)
    try:
        with _pillow().open(BytesIO(data), formats=(kind,)) as picture:
            return _prepared(picture, data, kind)
    except PictureError:
        raise
    except (_pillow().DecompressionBombError, _pillow().DecompressionBombWarning) as exc:
        raise PictureError("picture_size", "has too many pixels") from exc
    except Exception as exc:  # hostile bytes reach every corner of five decoders
        raise PictureError("picture_broken", f"cannot be read as {kind} ({type(exc).__name__})") from exc


def _kind(data: bytes) -> str:
    webp = "WEBP" if data[:4] == b"RIFF" and data[8:12] == b"WEBP" else None
    kind = next((kind for magic, kind in _MAGIC.items() if data.startswith(magic)), webp)
    if kind is None:
        raise PictureError("picture_type", "is no PNG, JPEG, WEBP, GIF or BMP")
    if kind == "JPEG" and data.count(b"\xff\xda") > MOST_SCANS:
        raise PictureError("picture_size", "has too many scans")
    return kind


def _prepared(picture: "Image", data: bytes, kind: str) -> ReadyPicture:
    if picture.width * picture.height > MOST_PIXELS:  # before anything else: to look for EXIF may read the pixels
        raise PictureError("picture_size", f"is {picture.width} x {picture.height} pixels")
    lies = picture.getexif().get(ORIENTATION, 1) in range(5, 9)
    width, height = _turned(picture.size) if lies else picture.size
    fitted = _fitted(width, height)
    if kind == "GIF" and _may_move(picture, data):
        picture.load()  # a first frame that cannot be read is no picture
        return ReadyPicture(data, width, height)
    upright = _upright(picture, _turned(fitted) if lies else fitted)
    return ReadyPicture(_packed(upright, kind), *upright.size)


def _turned(size: tuple[int, int]) -> tuple[int, int]:
    return size[1], size[0]


def _fitted(width: int, height: int) -> tuple[int, int]:
    """The size on a card. Raises PictureError for what no card should show."""
    shrink = min(1.0, MOST_WIDTH / max(width, 1), MOST_HEIGHT / max(height, 1))
    fitted = round(width * shrink), round(height * shrink)
    if min(fitted) < LEAST_SIDE:
        raise PictureError("picture_tiny", f"is {width} x {height} pixels")
    if height * 9 > width * 16:
        raise PictureError("picture_long", f"is {width} x {height} pixels, longer than 16:9")
    return fitted


def _may_move(picture: "Image", data: bytes) -> bool:
    """Whether to keep a GIF with all its frames."""
    return getattr(picture, "is_animated", False) and max(picture.size) <= MOST_GIF_SIDE and len(data) <= MOST_GIF_BYTES


def _upright(picture: "Image", size: tuple[int, int]) -> "Image":
    """The first frame in this size, as grey, colour, or colour with alpha, turned as EXIF says, without metadata."""
    from PIL import ImageOps

    picture.draft("RGB", size)  # lets a large JPEG be read smaller
    is_clear = picture.has_transparency_data
    if picture.mode not in {"L", "RGB", "RGBA"}:
        picture = _plain(picture, "RGBA" if is_clear else "RGB")
    elif is_clear:
        picture = picture.convert("RGBA")  # a PNG may name one colour that is not there
    if picture.size != size:
        picture = picture.resize(size, reducing_gap=2.0)
    picture = ImageOps.exif_transpose(picture)
    if picture.mode == "RGBA" and picture.getchannel("A").getextrema() == (255, 255):
        picture = picture.convert("RGB")
    picture.info.clear()
    return picture


def _plain(picture: "Image", mode: str) -> "Image":
    """From any other mode; 16 bits of grey are cut to 8 here, as `convert` would clip them."""
    if picture.mode.startswith("I"):
        return picture.convert("I").point(lambda value: value / 256).convert("L")
    return picture.convert(mode)


def _packed(picture: "Image", kind: str) -> bytes:
    """PNG for drawings and for what is partly clear, JPEG for photographs and for what would be too large."""
    if kind not in {"JPEG", "WEBP"} or picture.mode == "RGBA":
        packed = BytesIO()
        picture.save(packed, "PNG")
        if packed.tell() <= (MOST_BYTES if picture.mode == "RGBA" else SHARP_BYTES):
            return packed.getvalue()
    if picture.mode == "RGBA":
        ground = _pillow().new("RGB", picture.size, "white")
        ground.paste(picture, mask=picture.getchannel("A"))
        picture = ground
    packed = BytesIO()
    picture.save(packed, "JPEG", quality=QUALITY, optimize=True, progressive=True)
    return packed.getvalue()


@cache
def _pillow() -> ModuleType:
    """Pillow's main module, loaded by the first picture."""
    from PIL import Image

    warnings.simplefilter("error", Image.DecompressionBombWarning)
    return Image
