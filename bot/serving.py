"""Web servers inside our own loop, stopped by our own signals."""

import asyncio
import contextlib
import signal
import socket
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from typing import Any

import uvicorn
from starlette.types import ASGIApp

from bot.domain.errors import ConfigError


class _Server(uvicorn.Server):
    ended: asyncio.Event

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Not uvicorn's: it raises the signal again once it has stopped, and what comes after would never run."""
        yield

    async def main_loop(self) -> None:
        """Uvicorn's ticks, but a stop does not wait for the next one."""
        ticks = 0
        while not await self.on_tick(ticks):
            ticks += 1
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self.ended.wait(), 0.1)


def listen(host: str, port: int) -> socket.socket:
    """A listening socket. Raises ConfigError if the address cannot be had (uvicorn itself would exit the process)."""
    # The event loop switches Nagle off only on sockets that name their protocol; else every answer waits 40 ms.
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except (OSError, OverflowError) as exc:
        listener.close()
        raise ConfigError("port", f"{host}:{port} cannot be opened ({exc}); choose another") from exc
    listener.listen(2048)
    return listener


@contextlib.asynccontextmanager
async def serving(app: ASGIApp, listener: socket.socket) -> AsyncIterator[None]:
    """Serve an app on a socket inside the block; open requests end first on the way out."""
    config = uvicorn.Config(app, log_config=None, access_log=False, timeout_graceful_shutdown=3, lifespan="on")
    server = _Server(config)
    server.ended = asyncio.Event()
    async with asyncio.TaskGroup() as tasks:
        serve = tasks.create_task(server.serve(sockets=[listener]))
        while not server.started and not serve.done():  # noqa: ASYNC110  uvicorn offers no event to wait for
            await asyncio.sleep(0.01)
        try:
            yield
        finally:
            server.should_exit = True
            server.ended.set()


def run(main: Coroutine[Any, Any, None]) -> None:
    """Run a service, on uvloop where there is one."""
    with asyncio.Runner(loop_factory=_fastest_loop()) as runner:
        runner.run(main)


def _fastest_loop() -> Callable[[], asyncio.AbstractEventLoop]:
    try:
        import uvloop
    except ImportError:
        return asyncio.new_event_loop
    return uvloop.new_event_loop


async def until_signal() -> None:
    """Wait for SIGINT or SIGTERM."""
    loop = asyncio.get_running_loop()
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    try:
        await stop.wait()
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)
