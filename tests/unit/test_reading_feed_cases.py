"""The shared cases of feeds and pages, each with what a sensible editor expects of it."""

import json
from collections import Counter
from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from bot.domain.digest import links
from bot.domain.errors import DigestError
from bot.reading.feed.reader import read_feed, read_json_feed
from bot.reading.html.reader import read_html
from tests.unit import test_reading_cases as helpers

FOLDER = helpers.SHARED / "cases" / "digests"
SHANGHAI = ZoneInfo("Asia/Shanghai")
CASES = sorted([*FOLDER.glob("*.xml"), *FOLDER.glob("*-jsonfeed.json"), *FOLDER.glob("*.html")])
ACCEPTANCE = {"max_seconds", "max_title_chars", "urls_exact", "must_not_appear", "rendered_must_not_match"}


def read_case(path, given):
    """Read a case as it reached us; its file name is not given."""
    received_at = datetime.fromisoformat(given["received_at"]) if "received_at" in given else None
    how = {"received_at": received_at, "zone": ZoneInfo(given.get("timezone", "Asia/Shanghai"))}
    if path.suffix == ".json":
        return read_json_feed(json.loads(path.read_text(encoding="utf-8")), **how)
    return (read_html if path.suffix == ".html" else read_feed)(path.read_bytes(), **how)


def moment(written):
    """The moment that an expectation writes."""
    return written and datetime.fromisoformat(written)


def check_entry(expect, digest, item):
    """The keys that only feeds have; the others by the shared checks."""
    rest = dict(expect)
    if "published" in rest:
        assert item.published_at == moment(rest.pop("published"))
    if "published_any" in rest:
        assert item.published_at in map(moment, rest.pop("published_any"))
    if "url_any" in rest:
        assert item.url in [url or None for url in rest.pop("url_any")]
    if rest.pop("title_nonempty", False):
        assert item.title
    assert set(rest.pop("tags_has", ())) <= set(item.tags)
    helpers.check_item(rest, digest, item)


def check(expect, reading):
    """Assert every key of an expectation."""
    (digest,) = reading.digests
    rest = {key: wanted for key, wanted in expect.items() if key not in ACCEPTANCE}
    entries = [*rest.pop("items", ()), *rest.pop("items_match", ())]
    for expected, item in zip(entries, digest.items, strict=False):
        check_entry(expected, digest, item)
    assert len(entries) <= len(digest.items)
    # an address counts wherever it can be clicked
    urls = {item.url for item in digest.items} | {link.url for item in digest.items for link in links(item.blocks)}
    assert set(rest.pop("has_urls", ())) <= urls
    helpers.check_expectation(rest, reading)
    shown = repr(reading.digests)
    assert [each for each in expect.get("must_not_appear", ()) if each in shown] == []


@pytest.mark.skipif(not CASES, reason=f"the shared cases are not beside the repository ({helpers.SHARED})")
def test_the_cases_are_there_or_the_run_says_so():
    """A skip is visible; an empty folder would be silent."""
    assert len(CASES) >= 9


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_every_case_is_read_as_an_editor_would(path):
    """Only what the case writes is asserted."""
    # given
    case = helpers.expectation_of(path)
    expect = dict(case["expect"])
    accepted = expect.pop("accept", ["parsed"])

    # when
    try:
        reading = read_case(path, case.get("given", {}))
    except DigestError:
        reading = None

    # then
    assert ("parsed" if reading else "rejected") in accepted
    if reading:
        check(expect, reading)


@pytest.mark.parametrize("path", [path for path in CASES if path.suffix == ".html"], ids=lambda path: path.stem)
def test_no_page_loses_a_letter_that_is_shown(path):
    """What is in no item is in the list of what was left out."""
    # given
    from selectolax.lexbor import LexborHTMLParser

    tree = LexborHTMLParser(path.read_text(encoding="utf-8"))
    for silent in tree.css("script, style, iframe"):
        silent.decompose()

    # when
    reading = read_case(path, {})

    # then
    kept = Counter("".join(helpers.texts_of(reading)) + "".join(item.url or "" for item in reading.digests[0].items))
    shown = Counter(char for char in tree.body.text() if char.isalnum())
    assert shown - kept == Counter()
