"""Whom to trust on the other end of HTTPS: read once, since it takes longer than many calls together."""

import ssl
from functools import lru_cache

import httpx


@lru_cache(maxsize=1)
def trusted() -> ssl.SSLContext:
    """What httpx trusts by itself; `SSL_CERT_FILE` names others. To be shared by all clients of a process."""
    return httpx.create_ssl_context()
