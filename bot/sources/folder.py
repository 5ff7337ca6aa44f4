"""Digests from files: one for a command, or the recent ones of a folder for the scheduler."""

import hashlib
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta, tzinfo
from pathlib import Path

from anyio.to_thread import run_sync

from bot.domain.digest import Reading
from bot.domain.errors import DigestError
from bot.ports import Found
from bot.reading.formats import EXTENSIONS, read

LONGEST_FILE = 20 * 1024 * 1024
RECENT = timedelta(days=7)
EVERY = "*"


def read_file(
    path: Path, *, received_at: datetime | None, zone: tzinfo, noise: Sequence[str] = ()
) -> tuple[Reading, str]:
    """Read one file. Returns what it says and the hash of its bytes. Raises DigestError with the cure."""
    data = _bytes_of(path)
    try:
        reading = read(data, name=path.name, received_at=received_at, zone=zone, noise=noise)
    except DigestError as exc:
        raise DigestError(exc.code, exc.message, path=str(path), line=exc.line) from exc
    return reading, hashlib.sha256(data).hexdigest()


class FolderSource:
    """The files of a folder that match a pattern; a file's time says when its digest reached us.

    The pattern `*` means every file whose extension names a format that is read.
    """

    def __init__(self, path: Path, glob: str, zone: tzinfo, noise: Sequence[str]) -> None:
        self._path = path
        self._glob = glob
        self._zone = zone
        self._noise = noise

    async def load(self, now: datetime) -> tuple[list[Found], list[DigestError]]:
        """Digests of the files changed in the last days, and the files that are none."""
        return await run_sync(self._load, now)

    def _load(self, now: datetime) -> tuple[list[Found], list[DigestError]]:
        if not self._path.is_dir():
            return [], [
                DigestError("no_folder", "is not a folder; create it or mend source.path", path=str(self._path))
            ]
        found: list[Found] = []
        errors: list[DigestError] = []
        for path in sorted(filter(self._is_meant, self._path.glob(self._glob))):
            try:
                changed = datetime.fromtimestamp(path.stat().st_mtime, UTC)
                if now - RECENT <= changed:
                    reading, source_hash = read_file(path, received_at=changed, zone=self._zone, noise=self._noise)
                    found += [Found(digest, source_hash) for digest in reading.digests]
            except OSError:
                errors.append(DigestError("unreadable", "cannot be read; check its rights", path=str(path)))
            except DigestError as exc:
                errors.append(exc)
        return found, errors

    def _is_meant(self, path: Path) -> bool:
        return self._glob != EVERY or path.suffix.lower() in EXTENSIONS


def _bytes_of(path: Path) -> bytes:
    """At most 20 MiB of a regular file: a device or a pipe has no end."""
    if path.is_dir():
        raise DigestError("is_folder", "is a folder; name a file in it", path=str(path))
    try:
        if not path.is_file():
            raise DigestError("not_found", "does not exist or is no ordinary file; check the path", path=str(path))
        with path.open("rb") as file:
            data = file.read(LONGEST_FILE + 1)
    except OSError as exc:
        raise DigestError("unreadable", f"cannot be read ({exc.strerror}); check its rights", path=str(path)) from exc
    if len(data) > LONGEST_FILE:
        raise DigestError("too_large", "is larger than 20 MiB; a digest is a page of text", path=str(path))
    return data
