"""The product's own JSON, read back."""

import json
from dataclasses import replace
from datetime import UTC, date, datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.domain.digest import (
    Digest,
    Dropped,
    Image,
    Item,
    Link,
    Listing,
    Paragraph,
    Quote,
    Reading,
    ReadingWarning,
    Rule,
    Section,
    Text,
    images,
    plain,
)
from bot.domain.errors import DigestError
from bot.reading.json_shape import read_json, to_json

from .test_commonmark import BLOCKS

SHANGHAI = ZoneInfo("Asia/Shanghai")
quick = settings(deadline=None, max_examples=50, derandomize=True)

WORDS = st.text(alphabet="ab中文*[_ ]", min_size=1, max_size=8).map(str.strip).filter(bool)
MAYBE = st.none() | WORDS
MAYBE_URL = st.sampled_from((None, "https://a.example.com/1", "http://b.example.com/2?x=1"))
PICTURES = st.lists(st.builds(Image, st.just("https://a.example.com/p.png"), st.text("ab中", max_size=3)), max_size=2)
BODIES = st.lists(
    BLOCKS.filter(lambda block: not isinstance(block, Image | Rule) and not list(images([block]))), max_size=3
)
TIMES = st.none() | st.datetimes(datetime(2000, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001
ITEMS = st.builds(
    lambda title, url, body, pictures, tags, source, at: Item(
        "", title, url, (*body, *pictures), tuple(tags), source, at
    ),
    MAYBE, MAYBE_URL, BODIES, PICTURES, st.lists(WORDS, max_size=2), MAYBE, TIMES,
).filter(lambda item: item.title or item.url or item.blocks)  # fmt: skip
SECTIONS = st.lists(st.builds(Section, MAYBE, st.lists(ITEMS, min_size=1, max_size=2).map(tuple)), max_size=2)


@st.composite
def digests(draw: st.DrawFn) -> Digest:
    """A digest as our readers make it: keys are unique, a range has a start."""
    day = draw(st.none() | st.dates(date(2000, 1, 1), date(2100, 1, 1)))
    day_end = draw(st.none() | st.dates(day, date(2100, 1, 2))) if day else None
    sections = []
    for place, section in enumerate(draw(SECTIONS)):
        items = (replace(item, key=f"k{place}-{number}") for number, item in enumerate(section.items))
        sections.append(replace(section, items=tuple(items)))
    intro, outro = draw(BODIES), draw(BODIES)
    return Digest(draw(MAYBE), day, day_end, draw(MAYBE), tuple(intro), tuple(outro), tuple(sections))


def read(document: Any, **how: Any) -> Reading:
    """Read a document, parsed or as text."""
    given = {"zone": SHANGHAI, **how}
    return read_json(document.encode() if isinstance(document, str) else document, **given)


def document(*items: dict[str, Any], **digest: Any) -> dict[str, Any]:
    """A document of one digest with one section."""
    return {"digests": [{"day": "2025-03-08", "sections": [{"name": None, "items": list(items)}], **digest}]}


def refusal(document: Any) -> DigestError:
    """The error of a reading."""
    with pytest.raises(DigestError) as caught:
        read(document)
    return caught.value


@quick
@given(st.lists(digests(), min_size=1, max_size=2))
def test_what_was_written_reads_back_the_same(written):
    """Every block, every name, every link."""
    text = json.dumps(to_json(Reading(tuple(written))), ensure_ascii=False)

    assert read(text).digests == tuple(written)


def test_warnings_and_dropped_text_are_kept():
    """Whoever reads the document sees what the first reader saw."""
    reading = Reading(
        (Digest(day=date(2025, 3, 8), sections=(Section(None, (Item("k", "题", None),)),)),),
        (ReadingWarning("w", "看", 3),),
        (Dropped(None, "字", "因"),),
    )

    assert read(to_json(reading)) == reading


def test_pictures_stand_at_the_end_of_their_item_and_rules_are_gone():
    """A picture inside a list stays there and is not doubled."""
    picture, other = Image("https://a.b/中.png", "甲"), Image("https://a.b/2.png", "")
    listing = Listing(((Paragraph((Text("a"),)), other),))
    only_pictures = Quote((Image("https://a.b/3.png", "丙"),))
    item = Item("k", None, None, (picture, Rule(), listing, only_pictures, Paragraph((Text("b"),))))

    written = to_json(Reading((Digest(day=date(2025, 3, 8), sections=(Section(None, (item,)),)),)))

    (found,) = read(written).digests[0].items
    assert written["digests"][0]["sections"][0]["items"][0]["paragraphs"] == ["- a\n\n  ![](https://a.b/2.png)", "b"]
    assert found.blocks == (listing, Paragraph((Text("b"),)), picture, Image("https://a.b/3.png", "丙"))


def test_a_missing_key_takes_its_default():
    """Whatever may be null or empty may be left out."""
    (item,) = read(document({"title": "题"}, day=None)).digests[0].items

    assert replace(item, key="") == Item("", "题", None)
    assert item.key


def test_keys_are_given_where_they_are_missing_or_stand_twice():
    """No two stories share one, and a key that is given stays."""
    same = {"title": "题", "url": "https://a.b/1"}

    reading = read(document({**same, "key": "k"}, {**same, "key": "k"}, same, same, {**same, "key": "z"}))

    keys = [item.key for item in reading.digests[0].items]
    assert (keys[0], keys[4]) == ("k", "z")
    assert len(set(keys)) == 5


def test_nothing_that_the_paragraphs_do_not_show_is_lost():
    """Text without paragraphs, links and pictures beside them."""
    links = [{"text": "甲", "url": "https://a.b/1"}, {"text": "", "url": "https://a.b/2"}]
    item = {"text": "一*\n\n二", "links": links, "images": [{"url": "https://a.b/p"}]}

    (found,) = read(document(item)).digests[0].items

    assert found.blocks == (
        Paragraph((Text("一*"),)),
        Paragraph((Text("二"),)),
        Paragraph((Link("https://a.b/1", "甲"),)),
        Paragraph((Link("https://a.b/2", "https://a.b/2"),)),
        Image("https://a.b/p", ""),
    )


def test_comments_and_noise_are_dropped_and_told():
    """As in every format."""
    reading = read(document({"title": "题", "paragraphs": ["甲 <!-- 乙 -->", "点我"]}), noise=("点我",))

    assert plain(reading.digests[0].items[0].blocks).strip() == "甲"
    assert "点我" in [each.text for each in reading.dropped]
    assert any("乙" in each.text for each in reading.dropped)


def test_an_empty_section_is_dropped_and_told():
    """Its name is not lost."""
    found = read({"digests": [{"day": "2025-03-08", "sections": [{"name": "空", "items": []}]}]})

    assert found.digests[0].sections == ()
    assert [each.text for each in found.dropped] == ["空"]


@pytest.mark.parametrize(
    ("how", "title", "day", "warned"),
    [
        ({}, None, None, "no_day"),
        ({"name": "2025-03-07.json"}, None, date(2025, 3, 7), "day_assumed"),
        ({"received_at": datetime(2025, 3, 9, 23, tzinfo=UTC)}, None, date(2025, 3, 10), "day_assumed"),
        ({"received_at": datetime(2025, 3, 9, tzinfo=UTC)}, "日报 3月8日", date(2025, 3, 8), None),
    ],
    ids=["nothing", "name", "arrival", "title"],
)
def test_a_day_that_is_missing_is_looked_for_as_everywhere(how, title, day, warned):
    """In the title, the file name, the arrival; said where it is a guess."""
    found = read(document({"title": "题"}, day=None, title=title), **how)

    assert found.digests[0].day == day
    assert [warning.code for warning in found.warnings] == ([warned] if warned else [])


def test_a_time_without_an_offset_is_local():
    """In the zone of the series."""
    (item,) = read(document({"title": "题", "published_at": "2025-03-08T08:00:00"})).digests[0].items

    assert item.published_at == datetime(2025, 3, 8, tzinfo=UTC)


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        (document({"url": 3}), "digests[0].sections[0].items[0].url: expected str | null, got int; write an http"),
        (document({"url": "javascript:x"}), "digests[0].sections[0].items[0].url: is no web address; write an http"),
        (
            document({"links": [{"text": "a", "url": "https://"}]}),
            "digests[0].sections[0].items[0].links[0].url: is no web address; write",
        ),
        (
            document({"images": [{"url": "data:image/png,"}]}),
            "digests[0].sections[0].items[0].images[0].url: is no web address; write",
        ),
        (document({"ulr": "x"}), "digests[0].sections[0].items[0]: unknown key 'ulr', did you mean url?; the shape is"),
        (document({}), "digests[0].sections[0].items[0]: says nothing, give it a title, a url or paragraphs; the"),
        (document(day="8.3."), "digests[0].day: is no day; write YYYY-MM-DD or null"),
        (document(day_end="2025-03-07"), "digests[0].day_end: is before the day, or there is no day; write YYYY-MM-DD"),
        (document({"title": "a", "published_at": "heute"}), "digests[0].sections[0].items[0].published_at: is no time"),
        (document({"title": "a", "tags": [None]}), "digests[0].sections[0].items[0].tags[0]: expected str, got null;"),
        ({"digests": []}, "digests: expected array of length >= 1; the shape is that of `digest-bot digest check"),
        ({"digests": [{}]}, "digests[0]: object missing required field sections; the shape is that of"),
        (
            {**document({"title": "a"}), "zzzz": 1},
            "unknown key 'zzzz', known are digests, warnings, dropped; the shape is that of",
        ),
        ([], "expected object, got array; the shape is that of `digest-bot digest check --json`"),
    ],
    ids=lambda value: value[:50] if isinstance(value, str) else "",
)
def test_a_fault_is_named_with_its_path_and_its_cure(broken, message):
    """An editor of the document finds it at once."""
    error = refusal(broken)

    assert error.code == "schema"
    assert error.message.startswith(message)
    assert "\n" not in str(error)


@pytest.mark.parametrize(
    ("data", "code"),
    [("", "empty"), ("{", "bad_json"), ('{"a":NaN}', "bad_json"), ("[" * 100_000, "bad_json"),
     ("[" + "[]," * 600_000 + "0]", "too_long")],
    ids=["empty", "cut", "nan", "deep", "many"],
)  # fmt: skip
def test_what_is_no_json_is_refused(data, code):
    """With a line for a human."""
    assert refusal(data).code == code
