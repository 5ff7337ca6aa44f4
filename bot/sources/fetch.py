"""One safe GET: only the public web, only a bounded time and size, and no secret of ours to anybody else."""

import ipaddress
import socket
import zlib
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

import anyio
import httpx
import stamina

from bot.domain.errors import DigestError
from bot.tls import trusted

MOST_BYTES = 20 * 1024 * 1024
WHOLE_S = 30.0
CONNECT_S = 5.0
TRIES = 3
MOST_REDIRECTS = 5
USER_AGENT = "feishu-digest-bot"
SHOWN_CHARS = 120
HIGHEST_PORT = 65535

REDIRECTS = {301, 302, 303, 307, 308}
_NOT_MODIFIED = 304
# What may go along to another host; anything else could be a key that was meant for the first one.
_HARMLESS = {"accept", "if-none-match", "if-modified-since"}
_ANY_ZLIB = 47  # zlib or gzip, told apart by its header
_NAT64 = ipaddress.ip_network("64:ff9b::/96")

Address = ipaddress.IPv4Address | ipaddress.IPv6Address


@dataclass(frozen=True, slots=True)
class Fetched:
    """An answer. `headers` have lower-case names, `data` is the decoded body, `url` where it came from in the end."""

    status: int
    headers: Mapping[str, str]
    data: bytes
    url: str


class _PassingError(DigestError):
    """May be gone at the next try."""


def new_client() -> httpx.AsyncClient:
    """A client for `fetch`: it takes neither proxies nor passwords from the environment."""
    return httpx.AsyncClient(trust_env=False, verify=trusted(), timeout=httpx.Timeout(WHOLE_S, connect=CONNECT_S))


async def fetch(
    client: httpx.AsyncClient,
    url: str,
    *,
    headers: Mapping[str, str] | None = None,
    allow_private: bool = False,
    whole_s: float = WHOLE_S,
    most_bytes: int = MOST_BYTES,
) -> Fetched:
    """Get an address over http or https; answer 304 has no body.

    Every host, also of a redirect, is resolved and checked first, and the connection goes to the very address that was
    checked. `whole_s` is for everything together, retries too; `most_bytes` is for the body as sent and as decoded.
    Raises: DigestError `forbidden_address`, `bad_redirect`, `unreachable`, `http_status`, `too_large`, `too_slow`.
    """
    limits = FetchLimits(most_bytes, allow_private=allow_private)
    try:
        with anyio.fail_after(whole_s):
            async for attempt in stamina.retry_context(on=_PassingError, attempts=TRIES, timeout=None):
                with attempt:
                    return await _follow(client, web_address(url), dict(headers or {}), limits)
    except TimeoutError as exc:
        raise DigestError(
            "too_slow", f"did not answer within {whole_s:g} s; look whether the site is up", path=shown(url)
        ) from exc
    raise AssertionError("unreachable")


def shown(url: str) -> str:
    """The address without what may be secret: user, password, query, fragment."""
    try:
        split = urlsplit(url)
        return f"{split.scheme}://{split.netloc.rpartition('@')[2]}{split.path}"[:SHOWN_CHARS]
    except ValueError:
        return "the address"


@dataclass(frozen=True, slots=True)
class FetchLimits:
    """How much may come, and whether from addresses that are not public."""

    most_bytes: int
    allow_private: bool


async def _follow(client: httpx.AsyncClient, url: httpx.URL, headers: dict[str, str], limits: FetchLimits) -> Fetched:
    """The answer behind at most five redirects."""
    for _ in range(MOST_REDIRECTS + 1):
        response = await _connected(client, url, headers, limits)
        try:
            if response.status_code not in REDIRECTS:
                return await _answer(response, url, limits)
            target = redirect_target(url, response.headers.get("location"))
        finally:
            await response.aclose()
        if (target.scheme, target.host, target.port) != (url.scheme, url.host, url.port):
            headers = {name: value for name, value in headers.items() if name.lower() in _HARMLESS}
        url = target
    raise DigestError("bad_redirect", f"leads on more than {MOST_REDIRECTS} times; give its end", path=shown(str(url)))


def web_address(url: str, code: str = "forbidden_address") -> httpx.URL:
    """An address that may be asked. Raises DigestError."""
    try:
        parsed = httpx.URL(url)
        host = parsed.host
    except (httpx.InvalidURL, UnicodeError):  # an odd host may be refused where it is encoded
        raise DigestError("bad_address", "is no web address; check how it is written", path=shown(url)) from None
    if parsed.scheme not in {"http", "https"} or not host or (parsed.port or 0) > HIGHEST_PORT:
        raise DigestError(code, "is no web address; write one with http:// or https://", path=shown(url))
    if parsed.userinfo:
        raise DigestError(code, "holds a user name or password; take it out, or send it as a header", path=shown(url))
    return parsed


def redirect_target(url: httpx.URL, location: str | None) -> httpx.URL:
    """Where an answer leads. Raises DigestError."""
    if not location:
        raise DigestError("bad_redirect", "leads on without saying where; give its end", path=shown(str(url)))
    try:
        return web_address(str(url.join(location)), "bad_redirect")
    except (httpx.InvalidURL, UnicodeError):
        raise DigestError("bad_redirect", "leads on to no web address; give its end", path=shown(str(url))) from None


async def _connected(
    client: httpx.AsyncClient, url: httpx.URL, headers: Mapping[str, str], limits: FetchLimits
) -> httpx.Response:
    """The answer of the first address of the host that takes the connection; its body is not read yet."""
    failed: Exception | None = None
    for address in await addresses_of(url, limits):
        try:
            return await client.send(request_to(url, address, headers), stream=True, auth=None, follow_redirects=False)
        except (httpx.ConnectError, httpx.ConnectTimeout) as exc:
            failed = exc
        except httpx.HTTPError as exc:
            failed = exc
            break
    raise _PassingError("unreachable", f"cannot be reached ({_why(failed)}); try it in a browser", path=shown(str(url)))


def request_to(url: httpx.URL, address: Address, headers: Mapping[str, str], method: str = "GET") -> httpx.Request:
    """A request to a number, in the name of its host. Built by hand: nothing that the client remembers goes along."""
    own = {
        "Host": url.netloc.decode("ascii"),
        "User-Agent": USER_AGENT,
        "Accept-Encoding": "gzip",
        # A connection is for one host alone: two hosts on one address must not share what one of them has proven.
        "Connection": "close",
    }
    merged = httpx.Headers({"Accept": "*/*"})
    merged.update(headers)
    merged.update(own)
    extensions = {"sni_hostname": url.raw_host.decode("ascii")}
    return httpx.Request(method, url.copy_with(host=str(address)), headers=merged, extensions=extensions)


async def addresses_of(url: httpx.URL, limits: FetchLimits) -> list[Address]:
    """The addresses of a host, every one of them allowed. A host that mixes them is not to be trusted at all."""
    host, port = url.raw_host.decode("ascii"), url.port or 0
    try:
        found = await anyio.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as exc:
        raise _PassingError("unreachable", "has no known host; check the spelling", path=shown(str(url))) from exc
    addresses = list(dict.fromkeys(ipaddress.ip_address(entry[4][0]) for entry in found))
    if not limits.allow_private and any(map(_is_forbidden, addresses)):
        raise DigestError(
            "forbidden_address", "is not on the public web; set allow_private if that is meant", path=shown(str(url))
        )
    return addresses


def _is_forbidden(address: Address) -> bool:
    """Anything but a public host, also where an IPv6 address only wraps an IPv4 one."""
    if isinstance(address, ipaddress.IPv6Address):
        inner = address.ipv4_mapped or address.sixtofour or (address.teredo and address.teredo[1])
        if address in _NAT64:
            inner = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
        if inner:
            return _is_forbidden(inner)
        if address.is_site_local:
            return True
    return not address.is_global or address.is_multicast or address.is_reserved or address.is_unspecified


async def _answer(response: httpx.Response, url: httpx.URL, limits: FetchLimits) -> Fetched:
    status = response.status_code
    headers = {name.lower(): value for name, value in response.headers.items()}
    if status == _NOT_MODIFIED:
        return Fetched(status, headers, b"", str(url))
    if not response.is_success:
        kind = _PassingError if response.is_server_error else DigestError
        raise kind("http_status", f"answers {status}; try it in a browser", path=shown(str(url)))
    try:
        data = await _body(response, url, limits)
    except httpx.HTTPError as exc:
        raise _PassingError("unreachable", f"breaks off ({_why(exc)}); try again", path=shown(str(url))) from exc
    return Fetched(status, headers, data, str(url))


async def _body(response: httpx.Response, url: httpx.URL, limits: FetchLimits) -> bytes:
    """The decoded body. Not httpx's decoder: it unpacks 64 MiB at once before anybody can say stop."""
    encoding = response.headers.get("content-encoding", "").strip().lower()
    if encoding in {"", "identity"}:
        chunks = response.aiter_raw()
    elif encoding in {"gzip", "x-gzip", "deflate"}:
        chunks = _unpacked(response.aiter_raw(), url, limits)
    else:
        raise DigestError("unreachable", f"is packed as {encoding[:20]}, which nobody asked for", path=shown(str(url)))
    data = bytearray()
    async for chunk in chunks:
        data += chunk
        if len(data) > limits.most_bytes:
            raise _too_large(url, limits)
    return bytes(data)


async def _unpacked(packed: AsyncIterator[bytes], url: httpx.URL, limits: FetchLimits) -> AsyncIterator[bytes]:
    """Never more than one byte over the limit at a time."""
    unpacker = zlib.decompressobj(_ANY_ZLIB)
    raw_bytes = 0
    try:
        async for chunk in packed:
            raw_bytes += len(chunk)
            if raw_bytes > limits.most_bytes:
                raise _too_large(url, limits)
            yield unpacker.decompress(chunk, limits.most_bytes + 1)
    except zlib.error:
        raise DigestError("unreachable", "is packed wrongly; tell the site", path=shown(str(url))) from None
    if not unpacker.eof or unpacker.unused_data:
        raise _PassingError("unreachable", "breaks off inside its packing; try again", path=shown(str(url)))


def _too_large(url: httpx.URL, limits: FetchLimits) -> DigestError:
    size = f"{limits.most_bytes / 1024 / 1024:g} MiB"
    return DigestError("too_large", f"is larger than {size}; a digest is a page of text", path=shown(str(url)))


def _why(error: Exception | None) -> str:
    """The kind alone: the text of an error may hold the address."""
    return type(error).__name__ if error else "no address"
