"""Pictures of a digest: found, or fetched, drawn and uploaded in bounded time. One bad picture harms no card."""

import logging
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from hashlib import sha256
from urllib.parse import urlsplit

import anyio
from anyio.abc import TaskGroup
from anyio.to_thread import run_sync

from bot.domain.digest import Digest
from bot.domain.errors import AppError, DigestError, SendError, TemporaryError
from bot.domain.pictures import FORMULA, Picture, Pictures, sources
from bot.pictures import formula, photo
from bot.pictures.ready import PictureError, ReadyPicture
from bot.ports import PictureFetcher, PictureUploader
from bot.store import pictures
from bot.store.engine import Store, Transaction

log = logging.getLogger(__name__)

MOST = 60
AT_ONCE = 4
IN_ALL_S = 60.0
FETCH_S = 10.0
FRESH = timedelta(hours=24)
LASTING = (FORMULA, "feishu-media:")  # what these names stand for never changes


@dataclass(frozen=True)
class _Round:
    """One go at what is missing of a digest. `desk`: one picture is open at a time, as it may take 200 MB."""

    now: datetime
    tasks: TaskGroup
    found: dict[str, Picture] = field(default_factory=dict)
    slots: anyio.Semaphore = field(default_factory=lambda: anyio.Semaphore(AT_ONCE))
    desk: anyio.CapacityLimiter = field(default_factory=lambda: anyio.CapacityLimiter(1))
    uploads: defaultdict[str, anyio.Lock] = field(default_factory=lambda: defaultdict(anyio.Lock))


class Illustrator:
    """Knows the pictures that the platform holds for the app, and brings it new ones."""

    def __init__(
        self,
        store: Store,
        app_id: str,
        fetcher: PictureFetcher,
        uploader: PictureUploader,
        *,
        in_all_s: float = IN_ALL_S,
    ) -> None:
        self._store = store
        self._app_id = app_id
        self._fetcher = fetcher
        self._uploader = uploader
        self._in_all_s = in_all_s
        self._told: set[tuple[str, str]] = set()

    async def pictures_of(self, digest: Digest, now: datetime) -> Pictures:
        """Pictures by source. What cannot be had within a minute is missing: it is shown as text or as a link."""
        wanted = sources(digest)
        if len(wanted) > MOST:
            log.warning("pictures_left_out", extra={"pictures": len(wanted) - MOST})
        since = {source: None if source.startswith(LASTING) else now - FRESH for source in wanted[:MOST]}
        found = await self._store.read(pictures.find, self._app_id, since)
        missing = [source for source in since if source not in found]
        return {**found, **await self._bring(missing, now)} if missing else found

    def known(self, tx: Transaction, digest: Digest) -> Pictures:
        """Pictures by source that the platform holds already, however old they are."""
        return pictures.find(tx, self._app_id, dict.fromkeys(sources(digest)[:MOST]))

    async def _bring(self, missing: Sequence[str], now: datetime) -> dict[str, Picture]:
        with anyio.move_on_after(self._in_all_s) as deadline:
            async with anyio.create_task_group() as tasks:
                one = _Round(now, tasks)
                for source in missing:
                    tasks.start_soon(self._try, one, source)
        if deadline.cancelled_caught:
            log.warning("pictures_late", extra={"pictures": len(missing) - len(one.found)})
        return one.found

    async def _try(self, one: _Round, source: str) -> None:
        async with one.slots:
            try:
                one.found[source] = await self._new(one, source)
            except (DigestError, PictureError) as exc:
                self._tell(source, exc.code)
            except TimeoutError:
                self._tell(source, "too_slow")
            except SendError as exc:
                if isinstance(exc, AppError) or (isinstance(exc, TemporaryError) and exc.whole_app):
                    _stop(one, exc)
                else:
                    self._tell(source, str(exc.code))

    async def _new(self, one: _Round, source: str) -> Picture:
        ready = await self._ready(one, source)
        async with one.uploads[sha256(ready.content).hexdigest()]:
            key = await self._store.read(pictures.with_content, self._app_id, ready.content)
            key = key or await self._uploader.upload_image(ready.content)
            picture = Picture(key, ready.width, ready.height)
            await self._store.write(pictures.save, self._app_id, source, ready.content, picture, one.now)
        return picture

    async def _ready(self, one: _Round, source: str) -> ReadyPicture:
        if source.startswith(FORMULA):
            return await run_sync(formula.draw, source.removeprefix(FORMULA), limiter=one.desk)
        with anyio.fail_after(FETCH_S):
            data = await self._fetcher.fetch(source)
        return await run_sync(photo.prepare, data, limiter=one.desk)

    def _tell(self, source: str, code: str) -> None:
        """One line for each fault and process. A source is a hash in it: an address may be a secret, TeX is text."""
        told = pictures.hash_of(source)[:12], code
        if told not in self._told:
            self._told.add(told)
            log.warning("picture_missing", extra={"picture": told[0], "host": _host(source), "code": code})


def _stop(one: _Round, error: SendError) -> None:
    """Nothing more for this digest: the next upload would meet the same, and perhaps make it worse."""
    if not one.tasks.cancel_scope.cancel_called:
        log.error("pictures_stopped", extra={"code": error.code, "reason": error.reason, "log_id": error.log_id})
        one.tasks.cancel_scope.cancel()


def _host(source: str) -> str:
    """The host of an address, else the kind of the source."""
    try:
        return urlsplit(source).hostname or source.partition(":")[0][:20]
    except ValueError:
        return ""
