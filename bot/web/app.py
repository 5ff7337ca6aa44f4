"""The bot's pages and callbacks as one ASGI app."""

from collections.abc import Sequence

from starlette.applications import Starlette
from starlette.routing import BaseRoute, Route

from bot.web.webhook import Webhook


def build_web(webhook: Webhook | None, others: Sequence[BaseRoute] = ()) -> Starlette:
    """Routes. `webhook`: none where nothing can prove a callback. `others`: for people, and for who looks after it."""
    callbacks: list[BaseRoute] = []
    if webhook is not None:
        callbacks = [Route(one, webhook.endpoint, methods=["POST"]) for one in ("/feishu/events", "/feishu/card")]
    return Starlette(routes=[*callbacks, *others])
