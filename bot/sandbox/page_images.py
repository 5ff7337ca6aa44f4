"""Uploaded pictures as the sandbox's page shows them: an address for each, and the route behind it."""

from collections.abc import Awaitable, Callable
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import Response

from bot.sandbox.state import World

PATH = "/images/{image_key}"
# a key never gets another content
_HEADERS = {"Cache-Control": "private, max-age=86400, immutable"}


def image_addresses(world: World) -> Callable[[str], str | None]:
    """For a `Viewer`: None for a key that nobody uploaded."""

    def address(image_key: str) -> str | None:
        image = world.images.get(image_key)
        return f"/images/{quote(image_key, safe='')}" if image and image.content else None

    return address


def image_endpoint(world: World) -> Callable[[Request], Awaitable[Response]]:
    async def show(request: Request) -> Response:
        image = world.images.get(request.path_params["image_key"])
        if image is None or not image.content:
            return Response(status_code=404)
        return Response(image.content, media_type=image.content_type, headers=_HEADERS)

    return show
