"""Upload and download of pictures. Source: feishu-platform notes 4 (pages IM/image/create, IM/image/get).

An upload has no idempotency: the same file twice is two keys. TIFF and HEIC are kept as they came, not made JPEG.
"""

import uuid
from collections.abc import Sequence
from typing import Any, Literal

import msgspec
from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import BaseRoute

from bot.sandbox.gateway import Call, Gateway, RefusalError, success
from bot.sandbox.image_format import ImageFormat, image_format
from bot.sandbox.state import App, Image

UPLOAD_SCOPES = ("im:resource", "im:resource:upload")
ImageType = Literal["message", "avatar"]
MOST_BYTES = 10_000_000  # 10 MB; 1,000 or 1,024 is not documented: the smaller one
MOST_PIXELS = {"image/gif": 2000}  # a side
MOST_PIXELS_ELSE = 12_000
MOST_AVATAR_PIXELS = 4096


def routes(gateway: Gateway) -> Sequence[BaseRoute]:
    api = Images(gateway)
    path = "/open-apis/im/v1/images"
    return [
        gateway.route("POST", path, "upload_image", api.upload, scopes=UPLOAD_SCOPES),
        gateway.route("GET", path + "/{image_key}", "image", api.download),
    ]


class Images:
    """One method an API."""

    def __init__(self, gateway: Gateway) -> None:
        self._world, self._clock = gateway.world, gateway.clock

    async def upload(self, call: Call) -> dict[str, Any]:
        image_type, content = await _parts(call)
        _require_bot(call.app)
        found = _checked(content, image_type)
        await call.pause()
        image_key = f"img_v3_{uuid.uuid4()}g"
        now = self._clock.now()
        self._world.put(Image(image_key, call.app.app_id, content, found.content_type, image_type, now))
        return success({"image_key": image_key})

    async def download(self, call: Call) -> Response:
        """Own pictures for messages only. An unknown key counts as a deleted picture (assumption)."""
        _require_bot(call.app)
        image = self._world.images.get(call.request.path_params["image_key"])
        if image is None or (image.app_id == call.app.app_id and not image.content):
            raise RefusalError(234005, "Image has been deleted.")
        if image.app_id != call.app.app_id:
            raise RefusalError(234008, "The app is not the resource sender.")
        if image.image_type != "message":
            raise RefusalError(234001, "Invalid request param.")
        return Response(image.content, media_type=image.content_type)


async def _parts(call: Call) -> tuple[ImageType, bytes]:
    """The two fields of the form; 234001 for every other body."""
    try:
        async with call.request.form() as form:
            image_type, image = msgspec.convert(form.get("image_type"), ImageType), form.get("image")
            content = await image.read() if isinstance(image, UploadFile) else None
    except (HTTPException, msgspec.ValidationError):
        content = None
    if content is None:
        raise RefusalError(234001, "Invalid request param.")
    return image_type, content


def _checked(content: bytes, image_type: ImageType) -> ImageFormat:
    if not content:
        raise RefusalError(234010, "File's size can't be 0.")
    if len(content) > MOST_BYTES:
        raise RefusalError(234006, "The file size exceed the max value.")
    found = image_format(content)
    if found is None:
        raise RefusalError(234011, "Can't recognize the image format.")
    most = MOST_PIXELS.get(found.content_type, MOST_PIXELS_ELSE)
    most = min(most, MOST_AVATAR_PIXELS) if image_type == "avatar" else most
    if found.size and max(found.size) > most:
        raise RefusalError(234039, "The image resolution exceeds the limit.")
    return found


def _require_bot(app: App) -> None:
    if not app.bot_enabled:
        raise RefusalError(234007, "App does not enable bot feature.")
