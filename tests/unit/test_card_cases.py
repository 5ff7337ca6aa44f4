"""Real digests and the shared cases on cards: the platform takes all of them, and no letter is missing."""

import json
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from bot.cards.picture_holes import without_holes
from bot.cards.render import Limits
from bot.domain.audience import Density, Kind
from bot.domain.digest import Digest
from bot.domain.errors import DigestError
from bot.sandbox.validator import check_card
from bot.sources.folder import read_file
from tests.builders import make_cards
from tests.unit.card_reader import assert_legal, contents, shown, story
from tests.unit.test_card_trees import seen

SHARED = Path(__file__).parents[3] / "shared"
SHANGHAI = ZoneInfo("Asia/Shanghai")
SOURCES = [
    *sorted(
        path
        for path in (SHARED / "cases" / "digests").glob("[0-9]*.*")
        if ".expected" not in path.name and "docx" not in path.name
    ),
    *sorted((SHARED / "seeds").glob("*.txt")),
]

pytestmark = pytest.mark.skipif(not SOURCES, reason=f"the shared cases are not beside the repository ({SHARED})")


def digests_of(path: Path) -> tuple[Digest, ...]:
    """What a file holds that can be shown; nothing if it is refused or has no items."""
    expected = path.with_suffix(".expected.json")
    given = json.loads(expected.read_text(encoding="utf-8")).get("given", {}) if expected.exists() else {}
    received_at = datetime.fromisoformat(given["received_at"]) if "received_at" in given else None
    try:
        reading, _ = read_file(path, received_at=received_at, zone=ZoneInfo(given.get("timezone", SHANGHAI.key)))
    except DigestError:
        return ()
    return tuple(digest for digest in reading.digests if digest.items)


def letters(text: str) -> str:
    return "".join(filter(str.isalpha, text))


def words_of(item) -> str:
    """The text of an item as a card has it: what is lost in its source is said in words."""
    return letters(seen(without_holes(item.blocks, item.url)))


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem[:12])
@pytest.mark.parametrize("density", Density)
def test_every_card_of_a_real_digest_passes(path, density):
    """No refusal, no warning, within the limits, for everybody who may get it."""
    for digest in digests_of(path):
        for audience in Kind:
            for card in make_cards(digest, density, audience):
                assert_legal(card)
                assert (check_card(card.body).error, check_card(card.body).warnings) == (None, ())
                assert card.bytes <= (18_000 if audience is Kind.WEBHOOK else Limits().body_bytes)


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem[:12])
def test_at_full_density_every_letter_of_every_item_is_there_in_order(path):
    """Titles as headings, texts below them; what is cut into parts goes on where it stopped."""
    for digest in digests_of(path):
        cards = make_cards(digest, Density.FULL)

        headings = letters("".join(shown(one) for card in cards for one in contents(card, "heading")))
        at = 0
        for item in digest.items:
            at = headings.index(letters(item.title or ""), at)
        assert "".join(map(words_of, digest.items)) in letters(story(cards))


def test_most_of_the_cases_can_be_shown():
    """Those that cannot are the empty and the refused ones."""
    assert len([path for path in SOURCES if digests_of(path)]) > len(SOURCES) * 0.8
