"""What goes by the clock and what a human is told, on a clock that the test sets."""

import asyncio
import json
from datetime import UTC, date, datetime, time, timedelta

import pytest
from sqlalchemy import select

from bot.parts import all_series, build_publisher, build_renderer, build_sources
from bot.services import editing
from bot.services import status as status_service
from bot.store import editions
from bot.store.tables import alerts, cards, deliveries, pushes
from bot.store.tables import editions as table
from tests.builders import make_digest
from tests.integration.conftest import SERIES, House, make_house, on_both
from tests.integration.office import ADMINS

pytestmark = pytest.mark.anyio
MONDAY = date(2025, 3, 10)
TEXT = """灯塔日报

学习

流水线气泡该怎么填

多机训练时，前一级还没算完，后一级只能等着，这段空转就叫气泡。

https://read.example.com/p/1
"""


def series(**changes: str) -> dict:
    given = {"id": SERIES, "name": "灯塔日报", "source": {"kind": "folder", "path": "digests"}, "timezone": "UTC"}
    return {**given, "push_at": "08:37", "wait_until": "12:00", **changes}


@pytest.fixture
async def house(tmp_path, store_url, request):
    changes = getattr(request, "param", {})
    tables = {"store": {"url": store_url}, **ADMINS, "series": [series(**changes)]}
    async with make_house(tmp_path, **tables) as made:
        made.people(1)
        yield made


def at(clock: str, day: date = MONDAY) -> datetime:
    return datetime.combine(day, time.fromisoformat(clock), UTC)


def lay_out(house: House, day: date, text: str = TEXT) -> None:
    (house.digests / f"{day}.txt").write_text(text, encoding="utf-8")


def told(house: House) -> list[str]:
    """Keys of what admins were told, without what was told of other things."""
    keys = house.store.read_now(lambda tx: list(tx.execute(select(alerts.c.key).order_by(alerts.c.at)).scalars()))
    return [key.removeprefix(f"due:{SERIES}:") for key in keys if key.startswith("due:")]


async def runs(house: House, *clocks: str, day: date = MONDAY) -> list[int]:
    """How many pushes each run of the job plans."""
    return [len(await house.publisher.publish_due(at(clock, day))) for clock in clocks]


@pytest.mark.parametrize(
    ("clocks", "pushes"),
    [
        (("08:36", "08:37", "08:38"), [0, 1, 0]),
        (("08:38", "12:30"), [1, 0]),  # a restart inside the window catches up
        (("12:00",), [1]),
        (("12:30", "23:59"), [0, 0]),  # afterwards it needs a human
    ],
)
async def test_a_digest_goes_once_inside_its_window(house, clocks, pushes):
    """Whatever the hour of a restart."""
    lay_out(house, MONDAY)

    assert await runs(house, *clocks) == pushes


async def test_a_late_digest_is_told_after_a_while_and_then_goes(house):
    """Once, to every admin, with the cure; and `status` says late meanwhile."""
    house.store.write_now(_went_out, house, MONDAY - timedelta(days=1))
    assert await runs(house, "08:37", "08:45") == [0, 0]
    assert told(house) == []
    assert await runs(house, "08:48", "09:30", "10:00") == [0, 0, 0]
    assert told(house) == ["late:2025-03-10"]
    assert _is_late(house, at("10:00"))

    lay_out(house, MONDAY)

    assert await runs(house, "10:01") == [1]
    assert not _is_late(house, at("10:02"))
    assert told(house) == ["late:2025-03-10"]
    assert "还没有来" in _cards_to_admins(house)[0]


async def test_a_missing_day_is_told_when_its_window_closes(house):
    """It was late, and then it was over; the next day begins anew."""
    house.store.write_now(_went_out, house, MONDAY - timedelta(days=1))

    await runs(house, "09:00", "12:01", "15:00", "23:00")

    assert told(house) == ["late:2025-03-10", "over:2025-03-10"]
    assert _is_late(house, at("15:00"))
    lay_out(house, MONDAY + timedelta(days=1))
    assert await runs(house, "08:37", day=MONDAY + timedelta(days=1)) == [1]


async def test_a_digest_that_came_too_late_waits_for_a_human(house):
    """It is told that it is there."""
    house.store.write_now(_went_out, house, MONDAY - timedelta(days=1))
    lay_out(house, MONDAY)

    await runs(house, "12:30", "12:31")

    assert told(house) == ["over:2025-03-10"]
    assert "edition publish ai/latest" in _cards_to_admins(house)[0]


async def test_an_empty_digest_is_told_and_does_not_go(house):
    """Nobody gets a card without anything in it."""
    house.store.write_now(_went_out, house, MONDAY - timedelta(days=1))
    empty = {"digests": [{"title": "灯塔日报", "day": f"{MONDAY}", "sections": []}]}
    (house.digests / f"{MONDAY}.json").write_text(json.dumps(empty), encoding="utf-8")

    assert await runs(house, "08:37", "08:38", "09:00") == [0, 0, 0]

    assert told(house) == ["empty:2025-03-10"]


@pytest.mark.parametrize("house", [{"days": "workdays"}], indirect=True)
async def test_a_holiday_passes_in_silence_and_the_next_workday_says_so(house):
    """国庆 2025: 1 to 8 October, and Saturday the 11th is worked."""
    before, first, back, made_up = (date(2025, 9, 30), date(2025, 10, 1), date(2025, 10, 9), date(2025, 10, 11))
    for day in (before, first, back, made_up):
        lay_out(house, day)

    pushes = [await runs(house, "08:37", "12:30", day=day) for day in (before, first, back, made_up)]

    assert pushes == [[1, 0], [0, 0], [1, 0], [1, 0]]
    assert told(house) == []
    notes = {slug: "国庆、中秋假期（10月1日–8日）休刊" in body for slug, body in _bodies(house)}
    assert notes == {"2025-09-30": False, "2025-10-09": True, "2025-10-11": False}


async def test_days_of_the_operators_own_come_before_the_official_ones(tmp_path):
    """A company's own holiday."""
    calendar = {"holidays": [MONDAY]}
    async with make_house(tmp_path, calendar=calendar, series=[series(days="workdays")]) as house:
        house.people(1)
        lay_out(house, MONDAY)

        assert await runs(house, "08:37") == [0]


@on_both
async def test_two_schedulers_at_once_plan_one_push(house):
    """Both see a digest that nobody has published."""
    lay_out(house, MONDAY)
    renderer = build_renderer(house.settings, house.store)
    other = build_publisher(house.settings, house.store, renderer, build_sources(house.settings, None))

    await asyncio.gather(house.publisher.publish_due(at("08:37")), other.publish_due(at("08:37")))

    assert house.store.read_now(lambda tx: tx.execute(select(deliveries.c.part)).scalars().all()) == [1]


async def test_a_held_edition_does_not_go_by_itself(house):
    """Nor is its day told as missed."""
    lay_out(house, MONDAY)
    await house.publisher.import_digest(SERIES, make_digest(day=MONDAY), "h", at("08:00"), "cli")
    editing.hold(house.store, f"{SERIES}/{MONDAY}", at("08:10"), "cli")

    assert await runs(house, "08:37", "09:00", "12:30") == [0, 0, 0]
    assert told(house) == []


def _went_out(tx, house: House, day: date) -> None:
    """An earlier edition, so that the series is known to be running."""
    edition, _ = editions.save(tx, SERIES, make_digest(day=day), f"hash of {day}", at("08:00", day))
    editions.mark_publishing(tx, edition, at("08:37", day))


def _is_late(house: House, now: datetime) -> bool:
    return status_service.status(house.store, all_series(house.settings), 0, now)["series"][0]["late"]


def _cards_to_admins(house: House) -> list[str]:
    query = select(cards.c.body).join(deliveries).where(deliveries.c.key.startswith("alert:")).order_by(deliveries.c.id)
    return house.store.read_now(lambda tx: list(tx.execute(query).scalars()))


def _bodies(house: House) -> list[tuple[str, str]]:
    query = select(table.c.slug, cards.c.body).select_from(
        deliveries.join(cards).join(pushes, pushes.c.id == deliveries.c.push_id).join(table)
    )
    return house.store.read_now(lambda tx: [tuple(row) for row in tx.execute(query)])
