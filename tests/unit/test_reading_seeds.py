"""The three real digests of the publisher.

They are read where they lie: their text is not copied into the repository, so expectations name lines by number.
"""

import re
from collections import Counter
from datetime import date, datetime
from pathlib import Path

import pytest

from bot.domain.digest import Formula, Item, Reading, links, plain
from bot.reading.json_shape import to_json
from bot.reading.plain_text import read_text

from .test_reading_cases import SHANGHAI, SHARED, added_characters, lost_characters, read

SEEDS = SHARED / "seeds"

pytestmark = pytest.mark.skipif(not SEEDS.is_dir(), reason=f"the seeds are not beside the repository ({SEEDS})")


class Seed:
    """A seed by the number in its file name; lines count from 1."""

    def __init__(self, number: str) -> None:
        (self.path,) = SEEDS.glob(f"{number}_*.txt")
        self.text = self.path.read_text(encoding="utf-8")

    def lines(self, *numbers: int) -> list[str]:
        """The text of these lines."""
        lines = self.text.split("\n")
        return [lines[number - 1] for number in numbers]

    def line(self, number: int) -> str:
        """The text of one line."""
        return self.lines(number)[0]


def items_of(reading: Reading) -> list[tuple[str | None, Item]]:
    """Every item with the name of its section."""
    (digest,) = reading.digests
    return [(section.name, item) for section in digest.sections for item in section.items]


def codes_of(reading: Reading) -> set[str]:
    """Codes of the warnings."""
    return {warning.code for warning in reading.warnings}


def test_seed_000_has_its_title_days_and_label():
    """A range without a year, in a title with a stray blank."""
    # given
    seed = Seed("000")

    # when
    (digest,) = read(seed.text).digests

    # then
    assert digest.title == seed.line(13).replace(" ", "")
    assert (digest.day, digest.day_end, digest.label) == (date(2025, 3, 8), date(2025, 3, 9), "学术篇")


def test_seed_000_keeps_the_standing_introduction_with_its_link():
    """The link of the introduction belongs to no item."""
    # given
    seed = Seed("000")

    # when
    (digest,) = read(seed.text).digests

    # then
    assert plain(digest.intro).split("\n") == seed.lines(1, 3, 5, 7, 9, 11)
    assert [link.url for link in links(digest.intro)] == seed.lines(5)
    assert digest.outro == ()


def test_seed_000_has_four_items_each_with_its_own_link():
    """Titles, links and paragraphs stay together."""
    # given
    seed = Seed("000")

    # when
    items = items_of(read(seed.text))

    # then
    assert [section for section, _ in items] == seed.lines(15) * 4
    assert [item.title for _, item in items] == seed.lines(17, 37, 59, 75)
    assert [item.url for _, item in items] == seed.lines(35, 55, 71, 93)
    assert [len(item.blocks) for _, item in items] == [7, 8, 5, 8]
    assert plain(items[2][1].blocks).split("\n") == seed.lines(61, 63, 65, 67, 69)


def test_seed_000_mends_the_sentence_that_a_blank_line_broke():
    """No blank comes between the halves of a word."""
    # given
    seed = Seed("000")

    # when
    reading = read(seed.text)

    # then
    assert plain(reading.digests[0].items[0].blocks).endswith(seed.line(31) + seed.line(33))
    assert [warning.line for warning in reading.warnings if warning.code == "joined_lines"] == [33]


def test_seed_000_drops_the_strays_and_says_so():
    """They are no title and no section."""
    # given
    seed = Seed("000")

    # when
    reading = read(seed.text)

    # then
    assert [(dropped.line, dropped.text) for dropped in reading.dropped] == [(57, seed.line(57)), (73, seed.line(73))]
    assert all(dropped.reason for dropped in reading.dropped)
    assert [warning.line for warning in reading.warnings if warning.code == "stray_line"] == [57, 73]


def test_a_stray_that_stands_only_once_is_no_section_either():
    """Nothing repeats, but the text already has a section and this is no name."""
    # given
    seed = Seed("000")
    stray = seed.line(73)
    once = seed.text.replace(f"{stray}\n\n{seed.line(75)}", seed.line(75))

    # when
    reading = read(once)

    # then
    assert once.count(stray) == 1
    assert reading.digests == read(seed.text).digests
    assert [dropped.text for dropped in reading.dropped] == [stray]


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("前沿周报｜2025年3月8日-9日 学术篇", "学习"),
        ("港湾一周（3月8-9日学术篇）", "风向"),
        ("灯塔日报 2025.03.08-09 学术篇", "新知"),
    ],
)
def test_other_titles_and_section_names_read_the_same(title, name):
    """It is the shape that is known, not the words."""
    # given
    seed = Seed("000")
    text = seed.text.replace(seed.line(13), title).replace(f"\n{seed.line(15)}\n", f"\n{name}\n")

    # when
    (digest,) = read(text).digests

    # then
    assert digest.title == title
    assert (digest.day, digest.day_end, digest.label) == (date(2025, 3, 8), date(2025, 3, 9), "学术篇")
    assert [(section.name, len(section.items)) for section in digest.sections] == [(name, 4)]


@pytest.mark.parametrize(("number", "first"), [("000", 17), ("002", 17)])
def test_without_title_and_section_the_items_are_the_same(number, first):
    """The introduction ends where the first title stands, whatever is missing between."""
    # given
    seed = Seed(number)
    expected = [item for _, item in items_of(read(seed.text))]
    intro = seed.text[: seed.text.index(seed.line(first))].replace(f"{seed.line(15)}\n\n", "")
    intro = intro.replace(f"{seed.line(13)}\n\n", "") if number == "000" else intro

    # when
    (digest,) = read(intro + seed.text[seed.text.index(seed.line(first)) :]).digests

    # then
    assert [section.name for section in digest.sections] == [None]
    assert list(digest.items) == expected
    assert len(digest.intro) >= 6


@pytest.mark.parametrize("number", ["000", "002", "003"])
@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda text: re.sub("\n\n+", "\n", text), id="no blank lines"),
        pytest.param(lambda text: text.replace("\n", "\r\n"), id="CRLF"),
        pytest.param(lambda text: text.replace("，", "\u200b，"), id="zero-width"),
        pytest.param(lambda text: re.sub("(?m)^(?=.)", "\u3000\u3000", text), id="indented"),
    ],
)
def test_blanks_and_line_ends_change_nothing(number, change):
    """The same digest however it was copied."""
    # given
    seed = Seed(number)

    # when
    changed = read(change(seed.text))

    # then
    assert changed.digests == read(seed.text).digests


def test_seed_002_has_no_title_and_only_an_assumed_day():
    """Null, not an invented title; the day of arrival comes with a warning."""
    # when
    reading = read(Seed("002").text)

    # then
    (digest,) = reading.digests
    assert (digest.title, digest.day, digest.day_end, digest.label) == (None, date(2025, 3, 10), None, None)
    assert "day_assumed" in codes_of(reading)


def test_seed_002_without_arrival_has_no_day():
    """A day is never invented; a file name may give it."""
    # given
    seed = Seed("002")

    # when
    unknown = read(seed.text, received_at=None)
    named = read(seed.text, received_at=None, name="日报_20250103.txt")

    # then
    assert unknown.digests[0].day is None
    assert "no_day" in codes_of(unknown)
    assert named.digests[0].day == date(2025, 1, 3)
    assert "day_assumed" in codes_of(named)


def test_seed_002_keeps_the_item_that_was_cut_off():
    """Four items with titles; the last has text and no link, and takes none of its neighbours'."""
    # given
    seed = Seed("002")

    # when
    reading = read(seed.text)

    # then
    items = items_of(reading)
    assert plain(reading.digests[0].intro).endswith(seed.line(13))
    assert [section for section, _ in items] == seed.lines(15) * 4
    assert [item.title for _, item in items] == seed.lines(17, 31, 45, 63)
    assert [item.url for _, item in items] == [*seed.lines(29, 43, 61), None]
    assert plain(items[3][1].blocks).split("\n") == seed.lines(65, 67, 69)
    assert [warning.line for warning in reading.warnings if warning.code == "item_without_link"] == [63]


def test_seed_002_joins_nothing_over_a_link():
    """A paragraph without a full stop before its link is complete."""
    # given
    seed = Seed("002")

    # when
    reading = read(seed.text)

    # then
    assert plain(reading.digests[0].items[1].blocks).endswith(seed.line(41))
    assert "joined_lines" not in codes_of(reading)


def test_seed_003_is_a_list_of_untitled_excerpts():
    """The banner is introduction; eight items without title and link."""
    # given
    seed = Seed("003")

    # when
    reading = read(seed.text)

    # then
    (digest,) = reading.digests
    assert (digest.title, plain(digest.intro)) == (None, seed.line(1))
    assert [(item.title, item.url) for item in digest.items] == [(None, None)] * 8
    assert [plain(item.blocks) for item in digest.items] == seed.lines(*range(3, 18, 2))
    assert "cut_off" in codes_of(reading)


def test_seed_003_keeps_formulas_and_holes():
    """TeX becomes formulas, and the holes that an export left stay visible."""
    # when
    (digest,) = read(Seed("003").text).digests

    # then
    blocks = [block for item in digest.items for block in item.blocks]
    formulas = [inline for block in blocks for inline in block.inlines if isinstance(inline, Formula)]
    assert len(formulas) > 12
    assert Formula(r"\frac{1}{\sqrt{D}}", r"\(\frac{1}{\sqrt{D}}\)") in formulas
    assert {formula.display for formula in formulas} == {True, False}
    text = plain(tuple(blocks))
    assert text.count("[Math]") > 5
    assert text.count("[公式]") > 2
    assert all(plain(item.blocks).endswith("...") for item in digest.items)


@pytest.mark.parametrize("number", ["000", "002", "003"])
def test_no_seed_loses_a_character(number):
    """What is not in the digest is in the dropped list."""
    # given
    seed = Seed(number)

    # when
    reading = read(seed.text)

    # then
    assert lost_characters(seed.text, reading) == Counter()
    assert added_characters(seed.text, reading) == Counter()


@pytest.mark.parametrize("path", sorted(SEEDS.glob("*.txt")), ids=lambda path: path.stem[:3])
def test_the_hash_in_a_file_name_is_no_date(path: Path):
    """Bytes and name as a folder gives them."""
    # given
    received_at = datetime(2025, 3, 10, tzinfo=SHANGHAI)

    # when
    reading = read_text(path.read_bytes(), name=path.name, received_at=received_at, zone=SHANGHAI)

    # then
    assert to_json(reading)["digests"][0]["day"] in {"2025-03-08", "2025-03-10"}
