"""A wire to a PostgreSQL server that breaks at the worst moment."""

import contextlib
import selectors
import socket
import threading
from pathlib import Path
from typing import Self


class BreakingWire:
    """A socket in `folder` that leads to the server. It breaks once, at the first COMMIT of what has written.

    `commit_arrives`: behind the server, so that it commits and nobody hears of it; otherwise in front of it.
    """

    def __init__(self, server: Path, folder: Path, *, commit_arrives: bool) -> None:
        self.breaks = 0
        self._server = server
        self._commit_arrives = commit_arrives
        self._ends = threading.Event()
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(folder / ".s.PGSQL.5432"))
        self._listener.listen()
        self._threads = [threading.Thread(target=self._accept)]

    def __enter__(self) -> Self:
        self._threads[0].start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ends.set()
        self._listener.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join(60)
        self._listener.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):  # shut down
            while True:
                client, _ = self._listener.accept()
                self._threads.append(threading.Thread(target=self._carry, args=(client,)))
                self._threads[-1].start()

    def _carry(self, client: socket.socket) -> None:
        has_written = False
        with client, socket.socket(socket.AF_UNIX) as server, selectors.DefaultSelector() as ready:
            server.connect(str(self._server))
            ready.register(client, selectors.EVENT_READ, server)
            ready.register(server, selectors.EVENT_READ, client)
            while not self._ends.is_set():
                for key, _ in ready.select(0.05):
                    data = key.fileobj.recv(65536)
                    has_written |= b"INSERT" in data
                    if not data or (has_written and b"COMMIT" in data and self._break(server, data)):
                        return
                    key.data.sendall(data)

    def _break(self, server: socket.socket, commit: bytes) -> bool:
        if self.breaks:
            return False
        self.breaks += 1
        if self._commit_arrives:
            server.sendall(commit)
            server.recv(65536)
        return True
