"""An append-only file of JSON lines: what makes the sandbox come back after a SIGKILL with the same world."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

import msgspec


class JournalError(Exception):
    """The file cannot be read. The text names the line and the cure."""


class Journal:
    """One line a change.

    A line is with the operating system when `append` returns: a killed process loses nothing, a machine without power
    may lose the last lines (no fsync: this is a demo's memory, not a ledger). Writing blocks the loop for some 10 µs.
    One process a file: nothing locks it.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file: BinaryIO | None = None

    def append(self, row: msgspec.Struct) -> None:
        assert self._file is not None, "rows are appended after the start"
        self._file.write(msgspec.json.encode(row) + b"\n")
        self._file.flush()

    def replay(self, row_type: Any) -> Iterator[Any]:
        """Rows in the order they were written, without a last line that a kill cut short: it never had its reply.

        Raises JournalError for a file of something else, or of a version that wrote other rows.
        """
        decoder = msgspec.json.Decoder(row_type)
        history = self.path.read_bytes() if self.path.exists() else b""
        for number, line in enumerate(history.split(b"\n")[:-1], 1):
            try:
                yield decoder.decode(line)
            except msgspec.DecodeError as exc:
                raise JournalError(f"{self.path}, line {number}: {exc}; delete the file to start anew") from exc

    def start(self, rows: Iterable[msgspec.Struct]) -> None:
        """Replace the history by the rows that are alive now, in one rename, and open for more."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        fresh = self.path.with_suffix(".compacting")
        fresh.write_bytes(b"".join(msgspec.json.encode(row) + b"\n" for row in rows))
        fresh.replace(self.path)
        self._file = self.path.open("ab")

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
