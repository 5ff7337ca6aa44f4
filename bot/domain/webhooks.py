"""Addresses of custom bots: their form, and how they are told without giving them away.

An address writes to its group for whoever knows it. Source: custom bot guide, 2025-03; feishu-platform notes 12.
"""

import re

from bot.domain.audience import Kind, Receiver

# Longer tokens are shown by their end; of a shorter one that would be too much.
SHORTEST_TOKEN = 12
SHOWN = 4
_ADDRESS = re.compile(
    r"(?P<origin>(?P<scheme>https?)://(?P<host>[a-z0-9.-]+|\[[0-9a-f:]+\])(?P<port>:\d{1,5})?)"
    r"/open-apis/bot/v2/hook/(?P<token>[A-Za-z0-9_-]{1,128})"
)
_LOOPBACK = re.compile(r"localhost|127(?:\.\d{1,3}){3}|\[::1\]")
_ORIGIN = re.compile(r"https?://[^/]+")


def checked_address(text: str, base_url: str) -> str:
    """The address in the one spelling that it is kept in. `base_url`: the platform's, which may be a sandbox.

    Raises ValueError, whose text names the cure and not the address.
    """
    origin, slash, path = text.strip().partition("/open-apis/")
    match = _ADDRESS.fullmatch(origin.lower() + slash + path)
    if match is None:
        raise ValueError(
            "is no webhook address; copy it from the custom bot: https://open.feishu.cn/open-apis/bot/v2/hook/…"
        )
    platform = _ORIGIN.match(base_url.lower())
    if platform and match["origin"] == platform[0]:
        return match[0]
    if match["scheme"] == "http" and not _LOOPBACK.fullmatch(match["host"]):
        raise ValueError("is a webhook address with http, which others can read on its way; write https")
    if match["scheme"] == "https" and match["port"] not in {None, ":443"}:
        raise ValueError("is a webhook address with a port, which the platform does not have; copy it again")
    return match[0].replace(":443/", "/", 1) if match["scheme"] == "https" else match[0]


def platform_prefix(base_url: str) -> str:
    """What the addresses of the configured platform's own custom bots begin with."""
    origin = _ORIGIN.match(base_url.lower())
    return f"{origin[0].removesuffix(':443') if origin else ''}/open-apis/bot/v2/hook/"


def platform_address(text: str, base_url: str) -> str:
    """`checked_address` for whoever is not trusted to name a host: only the configured platform's own will do."""
    address = checked_address(text, base_url)
    if not address.startswith(platform_prefix(base_url)):
        raise ValueError("is a webhook address of another host than the platform's")
    return address


def shown(receiver: Receiver) -> str:
    """What lists and records call a receiver: its id; of a webhook the host, and the end of its token."""
    if receiver.kind is not Kind.WEBHOOK:
        return receiver.id
    host, _, token = receiver.id.partition("://")[2].partition("/open-apis/bot/v2/hook/")
    return f"{host}…{token[-SHOWN:]}" if len(token) >= SHORTEST_TOKEN else f"{host}…"
