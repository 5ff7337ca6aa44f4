"""HTML pages: bytes → blocks → digests."""

from collections.abc import Sequence
from datetime import datetime, tzinfo

from bot.domain.digest import Block, Reading
from bot.domain.errors import DigestError
from bot.reading.blocks import Document, Placed
from bot.reading.drafts import Notes
from bot.reading.encoding import decoded
from bot.reading.html.page import read_page
from bot.reading.html.tags import declared_encoding
from bot.reading.structure import arrive, read_blocks, without_noise


def read_html(
    data: bytes,
    *,
    name: str | None = None,
    received_at: datetime | None = None,
    zone: tzinfo,
    noise: Sequence[str] = (),
) -> Reading:
    """Read a page as a careful editor would; arguments as for `plain_text.read_text`.

    Raises: DigestError `empty`, `not_text`, `too_long` or `too_deep`.
    """
    page = read_page(decoded(data, name, declared_encoding(data)), name=name)
    if not page.blocks:
        raise DigestError("empty", "the page shows no text; save it again once it is drawn", path=name)
    notes = Notes()
    for text, reason in page.dropped:
        notes.drop(None, text, reason)
    blocks = without_noise((Placed(None, block) for block in page.blocks), noise, notes)
    return read_blocks(Document(blocks, title=page.title), arrive(name, received_at, zone), notes)


def blocks_of(html: str, *, base: str | None = None) -> tuple[Block, ...]:
    """Blocks of a piece of HTML; `base` resolves relative addresses. Raises: DigestError `too_long` or `too_deep`."""
    return read_page(html, base=base).blocks
