"""What goes by the clock and what a human is told, on a clock that the test sets."""

import asyncio
import contextlib
import json
from collections import defaultdict
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from bot.cards.actions import Decision, Review
from bot.parts import all_series, build_publisher, build_renderer, build_sources
from bot.services import editing
from bot.services import status as status_service
from bot.store import editions
from bot.store.engine import Store
from bot.store.tables import cards, deliveries, pushes
from bot.store.tables import editions as table
from tests.builders import make_digest
from tests.integration.conftest import SERIES, House, make_house, on_both
from tests.integration.office import make_office

pytestmark = pytest.mark.anyio
ADMINS = ["ou_admin", "ou_other"]
MONDAY = date(2025, 3, 10)
TEXT = """灯塔日报

学习

流水线气泡该怎么填

多机训练时，前一级还没算完，后一级只能等着，这段空转就叫气泡。

https://read.example.com/p/1
"""
EMPTY = json.dumps({"digests": [{"title": "灯塔日报", "sections": []}]})


def hours(first: int, last: int, *more: str) -> list[str]:
    """Every ten minutes from one hour to another, and some more times of the day."""
    return sorted({f"{hour:02}:{ten}0" for hour in range(first, last) for ten in range(6)} | {*more})


def on(*days: str, at: Sequence[str]) -> tuple[str, ...]:
    """Moments of 2025, in UTC: `MM-DD HH:MM`."""
    return tuple(f"{day} {time_}" for day in days for time_ in at)


MORNING = hours(8, 9, "08:36", "08:37", "08:38", "09:20", "10:10", "11:30", "12:00", "12:01", "12:20", "12:50")
TO_PUSH_LATE_AND_OVER = ("08:37", "08:50", "12:10")


@dataclass(frozen=True)
class Story:
    """What comes of looks at the clock, and nothing else does.

    `happens`: what is sent and told, by the look that brings it about. `laid`: when the digests of which days come
    into the folder. At `restarts` the processes are new. `before`: the day of the last edition. `series`, `calendar`:
    settings, where they differ from a push at 08:37 UTC and a wait until 12:00.
    """

    happens: Mapping[str, str]
    laid: Mapping[str, str] = field(default_factory=lambda: {"03-10": "03-10 08:00"})
    looks: Sequence[str] = on("03-10", at=MORNING)
    restarts: Sequence[str] = ()
    before: str = "03-09"
    text: str = TEXT
    series: Mapping[str, str] = field(default_factory=dict)
    calendar: Mapping[str, list[date]] = field(default_factory=dict)


def started(at: str, happens: Mapping[str, str]) -> Story:
    """Until that time nothing ran."""
    return Story(happens, looks=on("03-10", at=[one for one in (at, *MORNING) if one >= at]))


def of_workdays(*days: str, before: str, happens: Mapping[str, str], **more: Any) -> Story:
    """A series of workdays whose editor writes on all of these days."""
    looks, laid = on(*days, at=TO_PUSH_LATE_AND_OVER), {day: f"{day} 08:00" for day in days}
    return Story(happens, looks=looks, before=before, series={"days": "workdays"}, **({"laid": laid} | more))


LATE, EMPTY_YET, MISSED, GONE = "的还没有来", "的是空的", "的没有发", "没有日报"
EAST, WEST = {"timezone": "Asia/Shanghai"}, {"timezone": "America/New_York"}
JUMPED_OVER = {"push_at": "02:30", "wait_until": "03:30"}  # on 9 March 2025 in New York
TWICE = {"push_at": "01:30", "wait_until": "01:50"}  # on 2 November
STORIES = {
    "on time": Story({"03-10 08:37": "sent 2025-03-10"}),
    "a little late": Story({"03-10 08:40": "sent 2025-03-10"}, {"03-10": "03-10 08:40"}),
    "late": Story(
        {"03-10 08:50": f"told 3月10日{LATE}", "03-10 10:10": "sent 2025-03-10"},
        {"03-10": "03-10 10:05"},
        restarts=["03-10 09:20"],
    ),
    "in the last minute": Story(
        {"03-10 08:50": f"told 3月10日{LATE}", "03-10 12:00": "sent 2025-03-10"},
        {"03-10": "03-10 12:00"},
    ),
    "too late": Story(
        {"03-10 08:50": f"told 3月10日{LATE}", "03-10 12:01": f"told 3月10日{MISSED}"},
        {"03-10": "03-10 12:01"},
        restarts=["03-10 12:20"],
    ),
    "empty": Story(
        {"03-10 08:37": f"told 3月10日{EMPTY_YET}", "03-10 12:01": f"told 3月10日{GONE}"},
        text=EMPTY,
        restarts=["03-10 10:10", "03-10 12:20"],
    ),
    "a missing day": Story(
        {
            "03-10 08:50": f"told 3月10日{LATE}",
            "03-10 12:01": f"told 3月10日{GONE}",
            "03-11 08:37": "sent 2025-03-11",
        },
        {"03-11": "03-10 23:00"},
        on("03-10", "03-11", at=MORNING),
        restarts=["03-10 12:20"],
    ),
    "a restart at 08:36": started("08:36", {"03-10 08:37": "sent 2025-03-10"}),
    "a restart at 08:38": started("08:38", {"03-10 08:38": "sent 2025-03-10"}),
    "a restart at 12:30": started("12:30", {"03-10 12:30": f"told 3月10日{MISSED}"}),
    "restarts around the hour": Story(
        {"03-10 08:37": "sent 2025-03-10"}, restarts=["03-10 08:36", "03-10 08:38", "03-10 12:20"]
    ),
    # 1 to 8 October 2025 are free; Saturday the 11th is worked instead.
    "a holiday": of_workdays(
        *("09-30", "10-01", "10-02", "10-03", "10-09", "10-10"),
        before="09-29",
        happens={f"{day} 08:37": f"sent 2025-{day}" for day in ("09-30", "10-09", "10-10")},
    ),
    "a Saturday that is worked": of_workdays(
        *("10-10", "10-11"),
        before="10-09",
        happens={f"{day} 08:37": f"sent 2025-{day}" for day in ("10-10", "10-11")},
    ),
    "a Saturday that is worked, without its digest": of_workdays(
        *("10-11", "10-12"),
        before="10-10",
        happens={"10-11 08:50": f"told 10月11日{LATE}", "10-11 12:10": f"told 10月11日{GONE}"},
        laid={},
    ),
    "a Saturday": of_workdays("10-17", "10-18", before="10-16", happens={"10-17 08:37": "sent 2025-10-17"}),
    "a free day of the operator's own": of_workdays(
        *("03-10", "03-11"),
        before="03-07",
        happens={"03-11 08:37": "sent 2025-03-10; sent 2025-03-11"},
        calendar={"holidays": [MONDAY]},
    ),
    "the clock jumps over the hour": Story(
        {"03-09 07:30": "sent 2025-03-09"},
        {"03-09": "03-09 00:00"},
        on("03-09", at=hours(5, 10)),
        before="03-08",
        series=JUMPED_OVER | WEST,
    ),
    "the clock jumps, and there is nothing": Story(
        {"03-09 07:40": f"told 3月9日{LATE}", "03-09 08:40": f"told 3月9日{GONE}"},
        {},
        on("03-09", at=hours(5, 10)),
        before="03-08",
        series=JUMPED_OVER | WEST,
    ),
    "the hour comes twice": Story(
        {"11-02 05:30": "sent 2025-11-02"},
        {"11-02": "11-02 00:00"},
        on("11-02", at=hours(5, 9)),
        before="11-01",
        series=TWICE | WEST,
    ),
    "the hour comes twice, and the digest for the second": Story(
        {"11-02 05:40": f"told 11月2日{LATE}", "11-02 06:00": f"told 11月2日{GONE}"},
        {"11-02": "11-02 06:20"},
        on("11-02", at=hours(5, 9)),
        before="11-01",
        series=TWICE | WEST,
    ),
    "no change of the clock, that spring": Story(
        {"03-08 18:30": "sent 2025-03-09"},
        {"03-09": "03-08 12:00"},
        on("03-08", at=hours(17, 21)),
        before="03-08",
        series=JUMPED_OVER | EAST,
    ),
    "no change of the clock, that autumn": Story(
        {"11-01 17:30": "sent 2025-11-02"},
        {"11-02": "11-01 12:00"},
        on("11-01", at=hours(16, 20)),
        before="11-01",
        series=TWICE | EAST,
    ),
}


@on_both
@pytest.mark.parametrize("story", [pytest.param(story, id=name) for name, story in STORIES.items()])
async def test_each_look_at_the_clock_does_what_it_should_and_once(tmp_path, store_url, story):
    """Two schedulers look at the same time: on SQLite in one process, on PostgreSQL each with a store, as two have."""
    async with house_of(tmp_path, store_url, story.calendar, **story.series) as house:
        house.store.write_now(_went_out, day_of(story.before))
        with contextlib.closing(Store(store_url)) as other:
            stores = (house.store, other if house.store.is_shared else house.store)
            happened = {look: news async for look, news in live(house, stores, story)}

    assert happened == story.happens


async def live(house: House, stores: Sequence[Store], story: Story) -> AsyncIterator[tuple[str, str]]:
    """Yields the looks that bring something, and what."""
    assert {*story.restarts} <= {*story.looks}
    schedulers = [scheduler(house, one) for one in stores]
    seen = len(house.store.read_now(_rows))
    for look in sorted(story.looks):
        for day in (day for day, at in story.laid.items() if at <= look):
            lay_out(house, day_of(day), story.text)
        if look in story.restarts:
            schedulers = [scheduler(house, one) for one in stores]
        now = datetime.fromisoformat(f"2025-{look}+00:00")
        await asyncio.gather(*(one.publish_due(now) for one in schedulers))
        rows = house.store.read_now(_rows)
        if rows[seen:]:
            yield look, news(house, rows[seen:])
        seen = len(rows)


def news(house: House, rows: Sequence[Any]) -> str:
    """What is on its way: an edition to every reader, and what is told to every admin, each once."""
    receivers = defaultdict(list)
    for row in rows:
        title = json.loads(row.body)["header"]["title"]["content"].removeprefix("灯塔日报：")
        receivers[f"sent {row.slug}" if row.slug else f"told {title}"].append(row.receiver)
    readers = sorted(house.sandbox.world.users)
    assert {what: sorted(who) for what, who in receivers.items()} == {
        what: readers if what.startswith("sent") else ADMINS for what in receivers
    }
    return "; ".join(sorted(receivers))


@pytest.fixture
async def house(tmp_path, store_url):
    async with house_of(tmp_path, store_url) as made:
        yield made


@contextlib.asynccontextmanager
async def house_of(folder: Path, url: str, calendar: Any = None, **changes: str) -> AsyncIterator[House]:
    """Two readers and two admins of a series that is pushed at 08:37 UTC, if nothing else is said."""
    source = {"kind": "folder", "path": "digests"}
    series = {"id": SERIES, "name": "灯塔日报", "timezone": "UTC", "push_at": "08:37", "wait_until": "12:00"}
    tables = {"admin": {"open_ids": ADMINS}, "calendar": calendar or {}, "store": {"url": url}}
    async with make_house(folder, series=[series | {"source": source} | changes], **tables) as made:
        made.people(2)
        yield made


def scheduler(house: House, store: Store):
    """What a process that has just started looks with."""
    renderer = build_renderer(house.settings, store)
    return build_publisher(house.settings, store, renderer, build_sources(house.settings, None))


def day_of(text: str) -> date:
    return date.fromisoformat(f"2025-{text}")


def at(clock: str, day: date = MONDAY) -> datetime:
    return datetime.combine(day, time.fromisoformat(clock), UTC)


def lay_out(house: House, day: date, text: str = TEXT) -> None:
    (house.digests / f"{day}.{'json' if text is EMPTY else 'txt'}").write_text(text, encoding="utf-8")


async def test_status_says_late_until_it_is_there(house):
    """From the hour on, also when the window has closed."""
    house.store.write_now(_went_out, MONDAY - timedelta(days=1))
    assert [_is_late(house, at(clock)) for clock in ("08:36", "08:37", "10:00", "15:00")] == [False, True, True, True]

    lay_out(house, MONDAY)
    await house.publisher.publish_due(at("10:01"))

    assert not _is_late(house, at("10:02"))


async def test_what_is_told_of_a_digest_that_came_too_late_helps(house):
    """The command that the alert names sends this very digest, which nobody has imported."""
    house.store.write_now(_went_out, MONDAY - timedelta(days=1))
    lay_out(house, MONDAY)
    await house.publisher.publish_due(at("12:30"))
    (told,) = {row.body for row in house.store.read_now(_rows) if row.receiver in ADMINS}
    assert f"edition publish {SERIES}/latest" in told

    push = await house.publisher.publish(SERIES, "latest", at("12:40"), "cli")

    assert (push.edition, push.receivers) == (f"{SERIES}/{MONDAY}", 2)


async def test_the_next_workday_says_that_there_was_a_holiday(tmp_path, store_url):
    """On its card, and on no other."""
    async with house_of(tmp_path, store_url, days="workdays") as house:
        for day in map(day_of, ("09-30", "10-09", "10-10", "10-11")):
            lay_out(house, day)
            await house.publisher.publish_due(at("08:37", day))

        rows = house.store.read_now(_rows)
        assert {row.slug for row in rows if "国庆、中秋假期（10月1日–8日）休刊" in row.body} == {"2025-10-09"}
        assert len({row.slug for row in rows}) == 4


async def test_a_held_edition_does_not_go_by_itself(house):
    """Nor is its day told as missed."""
    lay_out(house, MONDAY)
    await house.publisher.import_digest(SERIES, make_digest(day=MONDAY), "h", at("08:00"), "cli")
    editing.hold(house.store, f"{SERIES}/{MONDAY}", at("08:10"), "cli")

    for clock in ("08:37", "09:00", "12:30"):
        await house.publisher.publish_due(at(clock))

    assert house.store.read_now(_rows) == []


@pytest.mark.parametrize(
    ("approved_at", "answer", "goes_at"),
    [
        (at("20:00", MONDAY - timedelta(days=1)), "明天 08:37 准时发出", at("08:37")),
        (at("10:00", MONDAY - timedelta(days=1)), "明天 08:37 准时发出", at("08:37")),
        (at("08:00"), "今天 08:37 准时发出", at("08:37")),
        (at("09:00"), "马上发出", at("09:00")),
        (at("12:30"), f"digest-bot edition publish {SERIES}/{MONDAY}", None),
    ],
)
async def test_an_approval_promises_what_the_clock_keeps(tmp_path, store_url, approved_at, answer, goes_at):
    """Whoever approves is told when it goes, or that it does not go by itself any more."""
    async with house_of(tmp_path, store_url, review="approve") as house, make_office(house) as office:
        house.store.write_now(_went_out, MONDAY - timedelta(days=1))
        lay_out(house, MONDAY)
        ((found,), _) = await build_sources(house.settings, None)[SERIES].load(approved_at)
        await house.publisher.import_digest(SERIES, found.digest, found.source_hash, approved_at, "cli")
        await office.desk.tick(approved_at)
        action = Review(f"{SERIES}/{MONDAY}", 1, Decision.APPROVE)
        toast = house.store.write_now(office.desk.reviewer.decide, action, ADMINS[0], approved_at).toast
        looks = [approved_at + timedelta(minutes=n) for n in (0, *range(37, 2 * 24 * 60, 60))]
        pushed = [now for now in looks if await house.publisher.publish_due(now)]

    assert answer in toast
    assert pushed == ([goes_at] if goes_at else [])


def _went_out(tx, day: date) -> None:
    """An earlier edition, so that the series is known to be running."""
    edition, _ = editions.save(tx, SERIES, make_digest(day=day), f"hash of {day}", at("08:00", day))
    editions.mark_publishing(tx, edition, at("08:37", day))


def _is_late(house: House, now: datetime) -> bool:
    return status_service.status(house.store, all_series(house.settings), 0, now)["series"][0]["late"]


def _rows(tx) -> list[Any]:
    """Everything that is planned, with the slug of its edition, or None for what is told."""
    query = select(deliveries.c.receiver, cards.c.body, table.c.slug).order_by(deliveries.c.id)
    source = deliveries.join(cards).outerjoin(pushes, pushes.c.id == deliveries.c.push_id).outerjoin(table)
    return list(tx.execute(query.select_from(source)).all())
