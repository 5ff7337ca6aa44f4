"""Finding a word in what was published: titles, texts and names of sections, latest first.

Looks at the newest 400 editions that hold the words at all and stops at 60 stories: enough for some years of a daily,
and never long. A word that its editor cut in two by markup is not found.
"""

import json
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from bot.cards.results_card import HITS, Hit
from bot.domain.digest import Item, plain
from bot.domain.series import Series
from bot.store import past
from bot.store.editions import Edition
from bot.store.engine import Transaction

MOST_EDITIONS = 400
MOST_HITS = 10 * HITS
MOST_WORDS = 5
_BEFORE = 20  # characters of a snippet before what was sought


@dataclass(frozen=True, slots=True)
class Found:
    """One page of hits and how many there are on all pages."""

    query: str
    page: int
    hits: tuple[Hit, ...]
    total: int


def search(tx: Transaction, series: Mapping[str, Series], query: str, page: int) -> Found:
    """Stories in which every word of the query stands. A page behind the last one is the last."""
    words = _folded(query).split()[:MOST_WORDS]
    hits: list[Hit] = []
    if words:
        in_json = [json.dumps(word, ensure_ascii=False)[1:-1] for word in query.split()[:MOST_WORDS]]
        for edition in past.holding(tx, list(series), in_json, MOST_EDITIONS):
            hits += _hits(edition, series[edition.series], words)
            if len(hits) >= MOST_HITS:
                break
    hits = hits[:MOST_HITS]
    page = max(1, min(page, -(-len(hits) // HITS)))
    return Found(query, page, tuple(hits[(page - 1) * HITS : page * HITS]), len(hits))


def _hits(edition: Edition, series: Series, words: Sequence[str]) -> Iterator[Hit]:
    assert edition.digest.day is not None
    for section in edition.digest.sections:
        for item in section.items:
            text = plain(item.blocks)
            if _holds(f"{section.name or ''}\n{item.title or ''}\n{text}", words):
                title = item.title or text[:40]
                yield Hit(title, series, edition.slug, edition.digest.day, _snippet(text, words), _address(item))


def _holds(text: str, words: Sequence[str]) -> bool:
    folded = _folded(text)
    return all(word in folded for word in words)


def _snippet(text: str, words: Sequence[str]) -> str:
    """Text around the first word that stands in it, on one line."""
    line = " ".join(text.split())
    folded = line.casefold()
    at = min((found for word in words if (found := folded.find(word)) >= 0), default=0)
    start = max(0, at - _BEFORE)
    return ("…" if start else "") + line[start:]


def _address(item: Item) -> str:
    return item.url or ""


def _folded(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()
