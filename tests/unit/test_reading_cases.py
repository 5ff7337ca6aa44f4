"""The shared plain text cases, each with what a sensible editor expects of it."""

import json
import re
import unicodedata
from collections import Counter
from datetime import datetime, tzinfo
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from bot.domain.digest import Digest, Item, Reading, plain
from bot.domain.errors import DigestError
from bot.reading.json_shape import to_json
from bot.reading.plain_text import read_text

SHARED = Path(__file__).parents[3] / "shared"
CASES = sorted((SHARED / "cases" / "digests").glob("*.txt"))
SHANGHAI = ZoneInfo("Asia/Shanghai")
INVISIBLE = re.compile("[\x00-\x08\x0e-\x1f\u200b-\u200f\u2060\ufeff\xad]")

NOT_OURS = {"note", "pushes"}  # comments, and what sending promises


def read(text: str, **changes: Any) -> Reading:
    """Read UTF-8 text that reached us on 10 March 2025."""
    given = {"received_at": datetime(2025, 3, 10, 8, tzinfo=SHANGHAI), "zone": SHANGHAI}
    return read_text(text.encode(), **{**given, **changes})


def texts_of(reading: Reading) -> list[str]:
    """All text that a reading holds, dropped text included; the links of items are not text."""
    found = [dropped.text for dropped in reading.dropped]
    for digest in reading.digests:
        found += [digest.title or "", plain(digest.intro), plain(digest.outro)]
        found += [section.name or "" for section in digest.sections]
        found += [part for item in digest.items for part in (item.title or "", plain(item.blocks))]
    return found


def lost_characters(text: str, reading: Reading) -> Counter[str]:
    """Characters of the text that the reading does not hold; blanks and invisible ones do not count."""
    urls = [item.url or "" for digest in reading.digests for item in digest.items]
    return _characters(text) - _characters("".join([*texts_of(reading), *urls]))


def added_characters(text: str, reading: Reading) -> Counter[str]:
    """Characters of the reading that the text does not hold."""
    return _characters("".join(texts_of(reading))) - _characters(text)


def _characters(text: str) -> Counter[str]:
    return Counter("".join(INVISIBLE.sub("", text).split()))


def norm(text: str | None) -> str | None:
    """As the cases compare: NFC, no invisible characters, blanks collapsed."""
    return None if text is None else " ".join(INVISIBLE.sub("", unicodedata.normalize("NFC", text)).split())


def dense(text: str) -> str:
    """Without any blank."""
    return (norm(text) or "").replace(" ", "")


def check_expectation(expect: dict[str, Any], reading: Reading) -> None:
    """Assert each key of an expectation; an unknown key fails, so that none is passed over."""
    (digest,) = reading.digests
    for key, wanted in expect.items():
        if key not in NOT_OURS:
            DIGEST_CHECKS[key](wanted, digest, reading)


def check_item(expect: dict[str, Any], digest: Digest, item: Item) -> None:
    """Assert each key of the expectation of one item."""
    section = next(section for section in digest.sections if item in section.items)
    for key, wanted in expect.items():
        if key == "section":
            assert section.name == wanted
        elif key == "title":
            assert norm(item.title) == norm(wanted)
        elif key == "title_any":
            assert norm(item.title) in [norm(title) for title in wanted]
        elif key == "url":
            assert item.url == wanted
        elif key == "paragraphs":
            assert len(item.blocks) == wanted
        elif key == "text_has":
            assert [part for part in wanted if dense(part) not in dense(plain(item.blocks))] == []
        else:
            pytest.fail(f"unknown key in the expectation of an item: {key}")


def _check_items(wanted: list[dict[str, Any]], digest: Digest, _reading: Reading) -> None:
    for expect, item in zip(wanted, digest.items, strict=False):
        check_item(expect, digest, item)


def _check_sections_any(wanted: list[list[str]], digest: Digest, _reading: Reading) -> None:
    assert len(digest.sections) == len(wanted)
    assert all(section.name in names for section, names in zip(digest.sections, wanted, strict=True))


def _iso(day: Any) -> str | None:
    return day and day.isoformat()


def _equal(value: Any) -> Any:
    def check(wanted: Any, digest: Digest, _reading: Reading) -> None:
        assert value(digest) == wanted

    return check


def _one_of(value: Any) -> Any:
    def check(wanted: list[Any], digest: Digest, _reading: Reading) -> None:
        assert value(digest) in wanted

    return check


def _all_in(values: Any) -> Any:
    def check(wanted: list[str], digest: Digest, _reading: Reading) -> None:
        assert [each for each in wanted if each not in values(digest)] == []

    return check


def _none_in(values: Any) -> Any:
    def check(wanted: list[str], digest: Digest, _reading: Reading) -> None:
        assert [each for each in wanted if norm(each) in values(digest)] == []

    return check


def _text_anywhere(wanted: list[str], _digest: Digest, reading: Reading) -> None:
    everything = dense("".join(texts_of(reading)))
    assert [part for part in wanted if dense(part) not in everything] == []


DIGEST_CHECKS: dict[str, Any] = {
    "title": _equal(lambda digest: norm(digest.title)),
    "title_any": _one_of(lambda digest: norm(digest.title)),
    "date": _equal(lambda digest: _iso(digest.day)),
    "date_end": _equal(lambda digest: _iso(digest.day_end)),
    "date_end_any": _one_of(lambda digest: _iso(digest.day_end)),
    "edition": _equal(lambda digest: digest.label),
    "intro_has": lambda wanted, digest, _: [plain(digest.intro).index(part) for part in wanted],
    "sections": _equal(lambda digest: [section.name for section in digest.sections]),
    "sections_any": _check_sections_any,
    "item_count": _equal(lambda digest: len(digest.items)),
    "item_count_any": _one_of(lambda digest: len(digest.items)),
    "items": _check_items,
    "has_titles": _all_in(lambda digest: [norm(item.title) for item in digest.items]),
    "has_urls": _all_in(lambda digest: [item.url for item in digest.items]),
    "not_item_titles": _none_in(lambda digest: [norm(item.title) for item in digest.items]),
    "not_item_urls": _none_in(lambda digest: [item.url for item in digest.items]),
    "text_anywhere": _text_anywhere,
}


def read_case(path: Path, given: dict[str, str]) -> Reading:
    """Read a case as it reached us. Its file name is not given: no case may lean on it."""
    zone: tzinfo = ZoneInfo(given.get("timezone", "Asia/Shanghai"))
    received_at = datetime.fromisoformat(given["received_at"]) if "received_at" in given else None
    return read_text(path.read_bytes(), received_at=received_at, zone=zone)


def expectation_of(path: Path) -> dict[str, Any]:
    """The expectation beside a case."""
    return json.loads(path.with_suffix(".expected.json").read_text(encoding="utf-8"))


@pytest.mark.skipif(not CASES, reason=f"the shared cases are not beside the repository ({SHARED})")
def test_cases_are_there_or_the_run_says_so():
    """A skip is visible; an empty folder would be silent."""
    assert len(CASES) >= 10


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_every_case_reads_as_an_editor_would(path):
    """Only what the case writes is asserted."""
    # given
    case = expectation_of(path)
    expect = dict(case["expect"])
    accepted = expect.pop("accept", ["parsed"])
    expect |= expect.pop("if_parsed", {})

    # when
    try:
        reading = read_case(path, case.get("given", {}))
    except DigestError:
        reading = None

    # then
    assert ("parsed" if reading else "rejected") in accepted
    if reading:
        check_expectation(expect, reading)


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_no_case_loses_or_invents_a_character(path):
    """What is not in the digest is in the dropped list."""
    # given
    text = path.read_text(encoding="utf-8-sig")
    if not INVISIBLE.sub("", text).strip():
        pytest.skip("an empty case has nothing to lose")

    # when
    reading = read(text)

    # then
    assert lost_characters(text, reading) == Counter()
    assert added_characters(text, reading) == Counter()


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_every_case_has_the_shape_of_the_contract(path):
    """`digest check --json` has every key for every item, and no empty text where null is meant."""
    # given
    try:
        reading = read_case(path, {})
    except DigestError:
        pytest.skip("a refused case has no document")

    # when
    document = json.loads(json.dumps(to_json(reading)))

    # then
    assert set(document) == {"digests", "warnings", "dropped"}
    for digest in document["digests"]:
        assert set(digest) == {"title", "day", "day_end", "label", "intro", "outro", "sections"}
        for section in digest["sections"]:
            assert section["name"] != ""
            for item in section["items"]:
                assert set(item) == {
                    "key", "title", "url", "paragraphs", "text", "links", "images", "tags", "source", "published_at"
                }  # fmt: skip
                assert "" not in {item["key"], item["title"], item["url"], item["source"]}
