"""Markdown files: bytes → blocks → digests."""

import re
from collections.abc import Sequence
from datetime import datetime, tzinfo

from bot.domain.digest import Reading
from bot.domain.errors import DigestError
from bot.reading.blocks import Document, Placed
from bot.reading.drafts import Notes
from bot.reading.encoding import decoded
from bot.reading.front_matter import split_front_matter
from bot.reading.markdown.blocks import parse
from bot.reading.structure import arrive, read_blocks, without_noise

# markdown-it takes a second for such a text; ten times as much would be beyond what a reader waits for
MOST_CHARS = 512 * 1024
MOST_LINES = 10_000
MOST_BRACKETS = 12_000  # an open bracket costs some 100 µs, that of a picture twice as much
MOST_MARKS = 80_000  # stars, underlines, tags: some 20 µs each

_LINE_END = re.compile("\r\n|[\r\n\v\f\x85\u2028\u2029]")


def read_markdown(
    data: bytes,
    *,
    name: str | None = None,
    received_at: datetime | None = None,
    zone: tzinfo,
    noise: Sequence[str] = (),
) -> Reading:
    """Read a Markdown digest as a careful editor would; arguments and errors as for `plain_text.read_text`."""
    text = _LINE_END.sub("\n", decoded(data, name))
    _check_size(text, name)
    notes = Notes()
    front = split_front_matter(text, notes)
    parsed = parse(front.body, front.first_line)
    notes.dropped += parsed.lost
    document = Document(without_noise(parsed.blocks, noise, notes), front.title, front.day_text)
    return read_blocks(document, arrive(name, received_at, zone), notes)


def blocks_of(text: str) -> tuple[Placed, ...]:
    """CommonMark with tables, `$…$` and `$$…$$` as blocks, with 1-based source lines."""
    return tuple(parse(_LINE_END.sub("\n", text)).blocks)


def _check_size(text: str, name: str | None) -> None:
    """Refuse what is no digest by its size, before it costs time and memory."""
    if len(text) > MOST_CHARS:
        message = f"{len(text)} characters of Markdown are no digest; give one day, at most {MOST_CHARS}"
        raise DigestError("too_long", message, path=name)
    lines = text.count("\n")
    if lines > MOST_LINES:
        raise DigestError("too_long", f"{lines} lines are no digest; give one day, at most {MOST_LINES}", path=name)
    brackets = text.count("[") + text.count("![")
    marks = sum(map(text.count, "*_~<"))
    if brackets > MOST_BRACKETS or marks > MOST_MARKS:
        message = f"{brackets} brackets and {marks} other marks are no digest; give one day alone"
        raise DigestError("too_long", message, path=name)
