"""Feeds and JSON documents over real HTTP, as the scheduler sees them."""

import json
import logging
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from bot.ports import Found
from bot.serving import listen, serving
from bot.sources.feed_url import FeedSource
from bot.sources.http_json import HttpJsonSource

pytestmark = pytest.mark.anyio

MORNING = datetime(2025, 3, 8, 8, 40, tzinfo=UTC)
DAY = timedelta(days=1)


@dataclass
class Site:
    """One page that a test may change; it answers 304 to whoever knows it."""

    url: str = ""
    text: str = ""
    status: int = 200
    headers: list[dict[str, str]] = field(default_factory=list)

    @property
    def asked(self) -> int:
        return len(self.headers)

    async def answer(self, request: Request) -> Response:
        self.headers.append(dict(request.headers))
        tag = f'"{hash(self.text)}"'
        if self.status == 200 and request.headers.get("if-none-match") == tag:
            return Response(status_code=304)
        return Response(self.text, status_code=self.status, headers={"ETag": tag})

    def show(self, *entries: tuple[str, datetime | None], start: str = "entry") -> None:
        """A feed of entries, each with its number and its time."""
        items = [
            {"id": f"{start}-{number}", "url": f"https://a.example.com/{start}/{number}", "title": f"消息 {number}"}
            | ({"date_published": at.isoformat()} if at else {})
            for number, at in entries
        ]
        self.text = json.dumps({"version": "https://jsonfeed.org/version/1.1", "title": "灯塔日报", "items": items})


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    listener = listen("127.0.0.1", 0)
    made = Site(f"http://127.0.0.1:{listener.getsockname()[1]}/feed?key=secret")
    async with serving(Starlette(routes=[Route("/feed", made.answer)]), listener):
        yield made


def feed_of(site: Site, **how: Any) -> FeedSource:
    """The source of a site on this machine."""
    return FeedSource(site.url, UTC, (), allow_private=True, **how)


async def load(source: FeedSource | HttpJsonSource, now: datetime = MORNING) -> list[Found]:
    """What a source holds; no errors."""
    found, errors = await source.load(now)
    assert errors == []
    return found


def titles(found: list[Found]) -> dict[date | None, list[str | None]]:
    """Titles of the items by day."""
    return {one.digest.day: [item.title for item in one.digest.items] for one in found}


async def test_the_entries_of_a_local_day_are_one_digest(site):
    """In the order of the feed, oldest day first, under the title of the feed."""
    site.show(("3", MORNING), ("2", MORNING - DAY), ("1", MORNING - DAY))

    found = await load(feed_of(site))

    assert titles(found) == {date(2025, 3, 7): ["消息 2", "消息 1"], date(2025, 3, 8): ["消息 3"]}
    assert {one.digest.title for one in found} == {"灯塔日报"}
    assert len({one.source_hash for one in found}) == 2


async def test_rss_is_read_too(site):
    """Whatever the address ends with."""
    site.text = (
        '<?xml version="1.0"?><rss version="2.0"><channel><title>灯塔日报</title><item><title>渡轮恢复夜航</title>'
        "<link>https://a.example.com/1</link><pubDate>Sat, 08 Mar 2025 07:00:00 GMT</pubDate></item></channel></rss>"
    )

    assert titles(await load(feed_of(site))) == {date(2025, 3, 8): ["渡轮恢复夜航"]}


async def test_an_unchanged_feed_is_not_sent_again(site):
    """The second request names what we know, and the answer 304 gives the same digests."""
    site.show(("1", MORNING))
    source = feed_of(site)

    first, second = await load(source), await load(source)

    assert first == second
    assert "if-none-match" not in site.headers[0]
    assert "if-none-match" in site.headers[1]


async def test_what_has_gone_out_stays_as_it_was(site):
    """An entry that falls off the feed is still in its digest; a corrected one is corrected."""
    site.show(("1", MORNING), ("2", MORNING))
    source = feed_of(site)
    (before,) = await load(source)

    site.show(("2", MORNING))
    (same,) = await load(source)
    site.text = site.text.replace("\\u6d88\\u606f 2", "changed")
    (corrected,) = await load(source)

    assert same == before
    assert [item.title for item in corrected.digest.items] == ["消息 1", "changed"]
    assert corrected.source_hash != before.source_hash


async def test_an_entry_that_comes_late_goes_with_the_next_day(site):
    """It is neither lost nor a digest of its own, and nothing comes twice."""
    site.show(("1", MORNING))
    source = feed_of(site)
    await load(source)

    late = ("2", MORNING + timedelta(hours=1))
    site.show(late, ("1", MORNING))
    assert titles(await load(source)) == {date(2025, 3, 8): ["消息 1"]}
    assert titles(await load(source, MORNING + DAY)) == {date(2025, 3, 8): ["消息 1"]}
    site.show(("3", MORNING + DAY), late, ("1", MORNING))

    found = await load(source, MORNING + DAY)

    assert titles(found) == {date(2025, 3, 8): ["消息 1"], date(2025, 3, 9): ["消息 3", "消息 2"]}


async def test_an_entry_without_a_time_is_news_once(site):
    """On the day on which it is first seen, for as long as it stands in the feed."""
    site.show(("1", None))
    source = feed_of(site)

    days = []
    for later in (0, 1, 30):
        site.text += " "
        days.append(titles(await load(source, MORNING + later * DAY)))

    assert days == [{date(2025, 3, 8): ["消息 1"]}, {date(2025, 3, 8): ["消息 1"]}, {}]


async def test_a_feed_whose_every_entry_is_new_is_capped(site, caplog):
    """The newest count, the others never come; the log says so."""
    times = [("old", MORNING - timedelta(hours=3)), ("new", MORNING), ("mid", MORNING - timedelta(hours=1))]
    site.show(*times)
    source = feed_of(site, most_new=2)

    with caplog.at_level(logging.WARNING):
        found = await load(source)
    site.show(("next", MORNING + DAY), *times)
    later = await load(source, MORNING + DAY)

    assert titles(found) == {date(2025, 3, 8): ["消息 new", "消息 mid"]}
    assert titles(later)[date(2025, 3, 9)] == ["消息 next"]
    assert [record.message for record in caplog.records if record.name.startswith("bot")] == ["feed_all_new"]


async def test_old_entries_are_history(site):
    """A feed may go back for years."""
    site.show(("1", MORNING), ("0", MORNING - 30 * DAY))

    assert titles(await load(feed_of(site))) == {date(2025, 3, 8): ["消息 1"]}


@pytest.mark.parametrize(
    ("text", "code"),
    [("<!doctype html><title>login</title><p>请登录", "no_feed"), ('{"items": []}', "no_feed"), ("", "no_feed"),
     ("{", "bad_json")],
)  # fmt: skip
async def test_what_is_no_feed_is_refused(site, text, code):
    """A page to log in is no digest; the address stands in the error without its query."""
    site.text = text

    found, (error,) = await feed_of(site).load(MORNING)

    assert (found, error.code) == ([], code)
    assert "/feed: " in str(error)
    assert "secret" not in str(error)


async def test_a_failing_feed_keeps_what_it_gave(site):
    """And says what is wrong."""
    site.show(("1", MORNING))
    source = feed_of(site)
    before = await load(source)
    site.status = 404

    found, (error,) = await source.load(MORNING)

    assert (found, error.code) == (before, "http_status")


async def test_this_machine_is_refused_unless_it_is_allowed(site):
    """Both sources."""
    for source in (FeedSource(site.url, UTC, ()), HttpJsonSource(site.url, UTC, ())):
        found, (error,) = await source.load(MORNING)
        assert (found, error.code) == ([], "forbidden_address")
    assert site.asked == 0


def digest_document(**digest: Any) -> str:
    return json.dumps({"digests": [{"sections": [{"items": [{"title": "题"}]}], **digest}]})


async def test_a_document_is_read_with_its_headers_and_its_tag(site):
    """A key goes along; an unchanged document is not sent again."""
    site.text = digest_document(day="2025-03-08")
    source = HttpJsonSource(site.url, UTC, (), {"Authorization": "Bearer k"}, allow_private=True)

    first, second = await load(source), await load(source)

    assert titles(first) == {date(2025, 3, 8): ["题"]}
    assert first == second
    assert site.headers[1]["authorization"] == "Bearer k"
    assert "if-none-match" in site.headers[1]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            digest_document(day="2025-03-08", sections=[{"items": [{"url": 1}]}]),
            "digests[0].sections[0].items[0].url: ",
        ),
        (digest_document(), "digests[0].day: is missing"),
        ("<html>", "cannot be read as JSON"),
    ],
)
async def test_a_faulty_document_is_refused_with_its_path(site, text, message):
    """The address, the path, the cure. A document without a day would be news every day."""
    site.text = text

    found, (error,) = await HttpJsonSource(site.url, UTC, (), allow_private=True).load(MORNING)

    assert found == []
    assert message in str(error)
    assert "/feed: " in str(error)
    assert "secret" not in str(error)
