"""Pictures that the platform holds for an app, by where they come from and by what is in them."""

from collections.abc import Mapping
from datetime import datetime
from hashlib import sha256

from sqlalchemy import and_, select

from bot.domain.pictures import Picture
from bot.store.database import insert
from bot.store.engine import Transaction
from bot.store.tables import pictures


def hash_of(source: str) -> str:
    """What stands for a source in the table and in logs."""
    return sha256(source.encode(errors="surrogatepass")).hexdigest()


def find(tx: Transaction, app_id: str, sources: Mapping[str, datetime | None]) -> dict[str, Picture]:
    """Pictures by source; with an instant, only one that was fetched since then. In the order of `sources`."""
    wanted = {hash_of(source): since for source, since in sources.items()}
    rows = tx.execute(select(pictures).where(pictures.c.app_id == app_id, pictures.c.source_hash.in_(wanted)))
    found = {}
    for row in rows:
        since = wanted[row.source_hash]
        if since is None or row.fetched_at >= since:
            found[row.source_hash] = Picture(row.image_key, row.width, row.height)
    return {source: found[key] for source, key in zip(sources, wanted, strict=True) if key in found}


def with_content(tx: Transaction, app_id: str, content: bytes) -> str | None:
    """The image_key under which the platform holds these bytes."""
    same = and_(pictures.c.app_id == app_id, pictures.c.content_hash == sha256(content).hexdigest())
    key: str | None = tx.execute(select(pictures.c.image_key).where(same).limit(1)).scalar()
    return key


def save(tx: Transaction, app_id: str, source: str, content: bytes, picture: Picture, now: datetime) -> None:
    """Note what a source shows now."""
    values = {
        "content_hash": sha256(content).hexdigest(),
        "image_key": picture.key,
        "width": picture.width,
        "height": picture.height,
        "fetched_at": now,
    }
    upsert = insert(tx, pictures).values(app_id=app_id, source_hash=hash_of(source), **values)
    tx.execute(upsert.on_conflict_do_update(index_elements=[pictures.c.app_id, pictures.c.source_hash], set_=values))
