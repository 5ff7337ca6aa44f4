"""HTTP by hand: requests that no client library would send, and connections that cost next to nothing to drive."""

import asyncio
import time
from collections.abc import Iterable


def request_of(path: str, headers: Iterable[tuple[str, str]], body: bytes, *, close: bool = False) -> bytes:
    """The bytes of a POST."""
    lines = [f"POST {path} HTTP/1.1", "Host: bot", f"Content-Length: {len(body)}", *(["Connection: close"] * close)]
    lines += [f"{name}: {value}" for name, value in headers]
    return "\r\n".join([*lines, "", ""]).encode() + body


class Line:
    """A connection that is kept. One request at a time."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer

    @classmethod
    async def to(cls, port: int) -> "Line":
        """A new one to this machine."""
        return cls(*await asyncio.open_connection("127.0.0.1", port))

    async def ask(self, request: bytes) -> tuple[float, bytes, bytes]:
        """Seconds until the answer began, its head but for the date, and its body. Raises OSError or EOFError."""
        started = time.perf_counter()
        self._writer.write(request)
        head = await self._reader.readuntil(b"\r\n\r\n")
        took_s = time.perf_counter() - started
        lines = [line for line in head.split(b"\r\n") if not line.lower().startswith(b"date:")]
        length = next(int(line.split(b":")[1]) for line in lines if line.lower().startswith(b"content-length:"))
        return took_s, b"\r\n".join(lines), await self._reader.readexactly(length)

    def close(self) -> None:
        self._writer.close()


def status_of(head: bytes) -> int:
    """Of an answer; 0 where there is none."""
    return int(head.split(b" ", 2)[1]) if head else 0
