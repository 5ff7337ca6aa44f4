"""The shared text and Markdown cases, each with what a sensible editor expects of it."""

import json
import re
import unicodedata
from collections import Counter
from datetime import datetime, tzinfo
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from bot.domain.digest import Digest, Image, Item, Reading, Rule, links, plain
from bot.domain.errors import DigestError
from bot.reading.json_shape import to_json
from bot.reading.markdown.reader import read_markdown
from bot.reading.plain_text import read_text

SHARED = Path(__file__).parents[3] / "shared"
CASES = sorted(path for ending in ("txt", "md") for path in (SHARED / "cases" / "digests").glob(f"[0-9]*.{ending}"))
READERS = {".txt": read_text, ".md": read_markdown}
SHANGHAI = ZoneInfo("Asia/Shanghai")
INVISIBLE = re.compile("[\x00-\x08\x0e-\x1f\u200b-\u200f\u2060\ufeff\xad]")

# comments, what sending and rendering promise, and what would be nice
NOT_OURS = {
    *("note", "pushes", "soft_absent", "rendered_must_not_match"),
    *("rendered_max_bytes_per_card", "rendered_max_tables_per_card", "rendered_all_urls_present"),
}


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
    if "days" in expect:
        for digest, wanted in zip(reading.digests, expect["days"], strict=True):
            check_expectation(wanted, Reading((digest,)))
        return
    (digest,) = reading.digests
    for key, wanted in expect.items():
        if key not in NOT_OURS:
            DIGEST_CHECKS[key](wanted, digest, reading)


def check_item(expect: dict[str, Any], digest: Digest, item: Item) -> None:
    """Assert each key of the expectation of one item."""
    section = next(section for section in digest.sections if item in section.items)
    text = dense(plain(item.blocks))
    found = {link.url for link in links(item.blocks)}
    checks: dict[str, Any] = {
        "section": lambda wanted: section.name == wanted,
        "section_any": lambda wanted: any(
            name in (section.name or "") if name else not section.name for name in wanted
        ),
        "title": lambda wanted: norm(item.title) == norm(wanted),
        "title_any": lambda wanted: norm(item.title) in [norm(title) for title in wanted],
        "url": lambda wanted: item.url == wanted,
        "paragraphs": lambda wanted: _paragraphs(item) == wanted,
        "text_has": lambda wanted: [part for part in wanted if dense(part) not in text] == [],
        "body_lacks": lambda wanted: [part for part in wanted if dense(part) in text] == [],
        "links_has": lambda wanted: set(wanted) <= found,
        "links_lack": lambda wanted: not set(wanted) & found,
    }
    for key, wanted in expect.items():
        assert checks[key](wanted), (key, wanted)


def _paragraphs(item: Item) -> int:
    """Pictures and rules do not count."""
    return len([block for block in item.blocks if not isinstance(block, Image | Rule)])


def _check_items(wanted: list[dict[str, Any]], digest: Digest, _reading: Reading) -> None:
    for expect, item in zip(wanted, digest.items, strict=False):
        check_item(expect, digest, item)


def _check_items_match(wanted: list[dict[str, Any]], digest: Digest, _reading: Reading) -> None:
    for expect in wanted:
        (item,) = [item for item in digest.items if norm(item.title) == expect["title"]]
        check_item(expect, digest, item)


def _check_not_assigned(wanted: list[list[str]], digest: Digest, _reading: Reading) -> None:
    assert [pair for pair in wanted if tuple(pair) in {(item.title, item.url) for item in digest.items}] == []


def _check_absent(wanted: list[str], digest: Digest, _reading: Reading) -> None:
    everything = dense("".join(texts_of(Reading((digest,)))))
    assert [part for part in wanted if dense(part) in everything] == []


def _check_sections_contain(wanted: list[str], digest: Digest, _reading: Reading) -> None:
    assert [part for part in wanted if not any(part in (section.name or "") for section in digest.sections)] == []


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


def _check_exact(wanted: list[str], digest: Digest, _reading: Reading) -> None:
    assert [part for part in wanted if part not in "".join(texts_of(Reading((digest,))))] == []


DIGEST_CHECKS: dict[str, Any] = {
    "title": _equal(lambda digest: norm(digest.title)),
    "title_any": _one_of(lambda digest: norm(digest.title)),
    "date_any": _one_of(lambda digest: _iso(digest.day)),
    "date": _equal(lambda digest: _iso(digest.day)),
    "date_end": _equal(lambda digest: _iso(digest.day_end)),
    "date_end_any": _one_of(lambda digest: _iso(digest.day_end)),
    "edition": _equal(lambda digest: digest.label),
    "intro_has": lambda wanted, digest, _: [plain(digest.intro).index(part) for part in wanted],
    "sections": _equal(lambda digest: [section.name for section in digest.sections]),
    "sections_any": _check_sections_any,
    "sections_contain": _check_sections_contain,
    "not_sections": _none_in(lambda digest: [section.name for section in digest.sections]),
    "item_count": _equal(lambda digest: len(digest.items)),
    "item_count_any": _one_of(lambda digest: len(digest.items)),
    "items": _check_items,
    "items_match": _check_items_match,
    "first_item": lambda wanted, digest, _: check_item(wanted, digest, digest.items[0]),
    "last_item": lambda wanted, digest, _: check_item(wanted, digest, digest.items[-1]),
    "url_not_assigned": _check_not_assigned,
    "must_not_appear": _check_absent,
    "has_titles": _all_in(lambda digest: [norm(item.title) for item in digest.items]),
    "has_urls": _all_in(lambda digest: [item.url for item in digest.items]),
    "not_item_titles": _none_in(lambda digest: [norm(item.title) for item in digest.items]),
    "not_item_urls": _none_in(lambda digest: [item.url for item in digest.items]),
    "text_anywhere": _text_anywhere,
    "text_exact_anywhere": _check_exact,
}


def read_case(path: Path, given: dict[str, str]) -> Reading:
    """Read a case as it reached us. Its file name is not given: no case may lean on it."""
    zone: tzinfo = ZoneInfo(given.get("timezone", "Asia/Shanghai"))
    received_at = datetime.fromisoformat(given["received_at"]) if "received_at" in given else None
    return READERS[path.suffix](path.read_bytes(), received_at=received_at, zone=zone)


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
    parsed = "split_by_day" if reading and len(reading.digests) > 1 else "parsed"
    assert (parsed if reading else "rejected") in accepted
    if reading:
        check_expectation(expect, reading)


@pytest.mark.parametrize("path", [path for path in CASES if path.suffix == ".txt"], ids=lambda path: path.stem)
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
