"""Download of media. Source: feishu-platform notes 9.3; the body codes are those of the drive (assumption)."""

from collections.abc import Sequence

from starlette.responses import Response
from starlette.routing import BaseRoute

from bot.sandbox.gateway import Call, Gateway, RefusalError

SCOPES = ("docs:document.media:download", "drive:drive", "drive:drive:readonly", "docs:doc", "docs:doc:readonly")


def routes(gateway: Gateway) -> Sequence[BaseRoute]:
    """The whole file: `Range` is not honoured here."""

    async def download(call: Call) -> Response:
        media = gateway.world.media.get(call.request.path_params["file_token"])
        if media is None:
            raise RefusalError(1061003, "not found.", status=404)
        if media.forbidden:
            raise RefusalError(1061004, "forbidden.", status=403)
        return Response(media.content, media_type=media.content_type)

    return [gateway.route("GET", "/open-apis/drive/v1/medias/{file_token}/download", "media", download, scopes=SCOPES)]
