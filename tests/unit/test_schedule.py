"""Which day's window is open, which digests are due in it, and what is said where none is."""

from datetime import UTC, date, datetime, time, timedelta, tzinfo
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.domain.digest import Digest, Item, Section
from bot.domain.preference import Preference
from bot.domain.schedule import (
    Days,
    Hours,
    Published,
    Verdict,
    due,
    next_push,
    open_day,
    rest,
    slot_at,
    what_is_due,
    window,
)
from bot.workdays import OfficialCalendar

SHANGHAI = ZoneInfo("Asia/Shanghai")
LISBON = ZoneInfo("Europe/Lisbon")
NEW_YORK = ZoneInfo("America/New_York")
NUUK = ZoneInfo("America/Nuuk")
HOURS = Hours(time(8, 37), time(12), SHANGHAI)
OFFICIAL = Hours(time(8, 37), time(12), SHANGHAI, Days.WORKDAYS, OfficialCalendar())


def at(text: str) -> datetime:
    return datetime.fromisoformat(f"2025-03-{text}+08:00")


def digest(day: str, label: str | None = None, day_end: str | None = None) -> Digest:
    end = date.fromisoformat(f"2025-03-{day_end}") if day_end else None
    return Digest(day=date.fromisoformat(f"2025-03-{day}"), day_end=end, label=label)


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        ("10T08:36:59", None),
        ("10T08:37:00", 10),
        ("10T12:00:00", 10),
        ("10T12:00:01", None),
        ("10T23:59:59", None),
    ],
)
def test_the_window_is_open_from_push_at_to_wait_until(now, expected):
    """A restart inside the window catches up; outside it nothing goes without a human."""
    day = open_day(HOURS, at(now))

    assert (day.day if day else None) == expected


def test_a_window_may_pass_midnight():
    """A late series keeps the day on which its window opened."""
    night = Hours(time(23, 50), time(0, 30), SHANGHAI)

    assert open_day(night, at("11T00:10:00")) == date(2025, 3, 10)
    assert open_day(night, at("11T00:31:00")) is None


def test_no_weekend_for_a_workday_series():
    """2025-03-08 is a Saturday."""
    workdays = Hours(time(8, 37), time(12), SHANGHAI, Days.WORKDAYS)

    assert open_day(workdays, at("08T09:00:00")) is None
    assert next_push(workdays, at("07T09:00:00")) == at("10T08:37:00")


def test_the_zone_is_the_series_own():
    """08:37 in Shanghai is 00:37 UTC."""
    assert next_push(HOURS, datetime(2025, 3, 10, tzinfo=UTC)) == datetime(2025, 3, 10, 0, 37, tzinfo=UTC)


def test_a_weekend_digest_is_due_on_monday():
    """A range is news on its last day and for three days after."""
    weekend = digest("08", "学术篇", "09")

    assert due([(weekend, 1)], date(2025, 3, 10), []) == [(weekend, 1)]
    assert due([(weekend, 1)], date(2025, 3, 13), []) == []
    assert due([(weekend, 1)], date(2025, 3, 8), []) == [], "not before its end"


def test_two_labels_of_one_day_are_two_editions():
    """学术篇 and 资讯篇 both go, the published one not again."""
    both = [(digest("10", "资讯篇"), 1), (digest("10", "学术篇"), 2)]

    assert len(due(both, date(2025, 3, 10), [])) == 2
    assert due(both, date(2025, 3, 10), [(date(2025, 3, 10), "资讯篇")]) == [both[1]]


def test_a_full_folder_is_no_flood():
    """The first run takes the newest day only; later runs nothing older than what went out."""
    week = [(digest(f"{day:02}"), day) for day in range(1, 11)]

    assert [n for _, n in due(week, date(2025, 3, 10), [])] == [10]
    assert due(week, date(2025, 3, 10), [(date(2025, 3, 10), "")]) == []
    assert [n for _, n in due([(digest("08"), 8), (digest("08", "学术篇", "09"), 9)], date(2025, 3, 9), [])] == [9]


def test_a_digest_of_tomorrow_waits():
    """An editor may lay out tomorrow's file today."""
    tomorrow = digest("11")

    assert due([(tomorrow, 1)], date(2025, 3, 10), []) == []
    assert due([(tomorrow, 1)], date(2025, 3, 10) + timedelta(days=1), []) == [(tomorrow, 1)]


def test_two_digests_of_one_weekend_are_both_news():
    """A range is as new as its last day: that the Sunday's own digest went out does not make it history."""
    weekend = digest("08", "学术篇", "09")

    assert due([(weekend, 1)], date(2025, 3, 9), [(date(2025, 3, 9), "资讯篇")]) == [(weekend, 1)]
    assert len(due([(weekend, 1), (digest("09", "资讯篇"), 2)], date(2025, 3, 9), [])) == 2


def test_what_was_published_ahead_hides_nothing():
    """Tomorrow's digest, sent by hand, leaves today's due."""
    today = digest("10")

    assert due([(today, 1)], date(2025, 3, 10), [(date(2025, 3, 11), "")]) == [(today, 1)]


@pytest.mark.parametrize("now", ["10T23:30", "11T04:00", "11T05:00"])
def test_a_window_over_midnight_is_one_window(now):
    """From 22:00 to 05:00 is the day on which it opened, on both sides of midnight."""
    night = Hours(time(22), time(5), SHANGHAI)

    assert open_day(night, at(f"{now}:00")) == date(2025, 3, 10)
    assert window(night, date(2025, 3, 10)) == (at("10T22:00:00"), at("11T05:00:00"))


def test_a_window_that_ends_at_its_start_is_a_whole_day():
    """Looked for until the same hour of the next day."""
    assert window(Hours(time(8), time(8), SHANGHAI), date(2025, 3, 10)) == (at("10T08:00:00"), at("11T08:00:00"))


@pytest.mark.parametrize(
    ("zone", "day", "push_at", "wait_until", "start", "end"),
    [
        pytest.param(NEW_YORK, "2025-03-09", "02:30", "03:00", "07:30", "08:00", id="the clock jumps over push_at"),
        pytest.param(NEW_YORK, "2025-03-09", "01:30", "02:30", "06:30", "07:30", id="the clock jumps over wait_until"),
        pytest.param(NEW_YORK, "2025-03-09", "08:37", "12:00", "12:37", "16:00", id="the day of the jump"),
        pytest.param(NEW_YORK, "2025-11-02", "01:30", "02:30", "05:30", "07:30", id="the hour of push_at comes twice"),
        pytest.param(NEW_YORK, "2025-11-02", "00:30", "01:30", "04:30", "05:30", id="the hour of wait_until does"),
        pytest.param(LISBON, "2025-03-30", "01:30", "01:45", "01:30", "01:45", id="both are jumped over"),
        pytest.param(LISBON, "2025-10-26", "01:15", "01:45", "00:15", "00:45", id="both come twice"),
        pytest.param(NUUK, "2025-03-29", "23:30", "00:30", "01:30", "02:30", id="the clock jumps to midnight"),
        pytest.param(SHANGHAI, "2025-03-30", "01:30", "02:30", "17:30", "18:30", id="a zone that never changes"),
    ],
)
def test_a_clock_change_leaves_one_window_a_day(zone, day, push_at, wait_until, start, end):
    """Start and end in UTC. A time that is left out comes an hour later on the wall; of two, the first counts."""
    hours = Hours(time.fromisoformat(push_at), time.fromisoformat(wait_until), zone)

    opens, closes = window(hours, date.fromisoformat(day))

    assert (f"{opens.astimezone(UTC):%H:%M}", f"{closes.astimezone(UTC):%H:%M}") == (start, end)
    assert next_push(hours, opens - timedelta(seconds=1)) == opens
    assert next_push(hours, opens).astimezone(UTC) - opens.astimezone(UTC) >= timedelta(hours=22)
    assert open_day(hours, opens - timedelta(seconds=1)) is None
    assert open_day(hours, closes + timedelta(seconds=1)) is None


def test_an_hour_that_comes_twice_is_told_apart():
    """01:35 on the wall, first inside the window, an hour later outside, also for a now of the series' own zone."""
    hours, first = Hours(time(1, 30), time(1, 45), NEW_YORK), datetime(2025, 11, 2, 1, 35, tzinfo=NEW_YORK)

    assert open_day(hours, first) == date(2025, 11, 2)
    assert open_day(hours, first.replace(fold=1)) is None
    assert next_push(hours, first.replace(fold=1)) == datetime(2025, 11, 3, 1, 30, tzinfo=NEW_YORK)


def written(day: date, label: str | None = None, day_end: date | None = None, *, items: int = 1) -> Digest:
    section = Section(None, tuple(Item(str(n), f"第 {n} 条", None) for n in range(items)))
    return Digest(day=day, day_end=day_end, label=label, sections=(section,))


def of_march(day: int, label: str | None = None, end: int | None = None, *, items: int = 1) -> Digest:
    return written(date(2025, 3, day), label, date(2025, 3, end) if end else None, items=items)


def gone(day: int, end: int | None = None, label: str = "", at_: datetime | None = None) -> Published:
    return Published(date(2025, 3, day), date(2025, 3, end or day), label, at_)


TODAY, YESTERDAY, FRIDAY = gone(10), gone(9), gone(7)
WEEKEND = of_march(8, "学术篇", 9)


@pytest.mark.parametrize(
    ("now", "found", "published", "verdict", "digests"),
    [
        pytest.param("10T08:36:00", [of_march(10)], [YESTERDAY], "wait", [], id="a restart before the hour"),
        pytest.param("10T08:38:00", [of_march(10)], [YESTERDAY], "publish", [of_march(10)], id="a restart after it"),
        pytest.param("10T12:30:00", [of_march(10)], [YESTERDAY], "over", [of_march(10)], id="a restart too late"),
        pytest.param("10T12:30:00", [of_march(10)], [TODAY], "wait", [], id="a restart too late to matter"),
        pytest.param("10T08:37:00", [], [YESTERDAY], "late", [], id="no digest at the hour"),
        pytest.param("10T12:00:01", [], [YESTERDAY], "over", [], id="no digest at all"),
        pytest.param("11T08:36:00", [], [YESTERDAY], "over", [], id="no digest, still true before the next hour"),
        pytest.param("10T09:00:00", [of_march(10)], [TODAY], "wait", [], id="the digest is out"),
        pytest.param("10T09:00:00", [], [TODAY], "wait", [], id="the digest is out and gone from the source"),
        pytest.param("10T09:00:00", [of_march(9)], [FRIDAY], "late", [], id="yesterday's is not today's"),
        pytest.param("10T09:00:00", [of_march(11)], [YESTERDAY], "late", [], id="nor is tomorrow's"),
        pytest.param("10T09:00:00", [Digest(title="灯塔日报")], [YESTERDAY], "late", [], id="a digest without a day"),
        pytest.param(
            "10T09:00:00", [of_march(10, items=0)], [YESTERDAY], "empty", [of_march(10, items=0)], id="an empty digest"
        ),
        pytest.param(
            "10T09:00:00",
            [of_march(10, "学术篇", items=0), of_march(10, "资讯篇")],
            [YESTERDAY],
            "publish",
            [of_march(10, "资讯篇")],
            id="an empty one holds the other not up",
        ),
        pytest.param("09T09:00:00", [WEEKEND], [FRIDAY], "publish", [WEEKEND], id="a range on its last day"),
        pytest.param("10T09:00:00", [WEEKEND], [FRIDAY], "publish", [WEEKEND], id="a range written when it was over"),
        pytest.param("11T09:00:00", [WEEKEND], [FRIDAY], "late", [], id="a range two days later"),
        pytest.param("08T09:00:00", [WEEKEND], [FRIDAY], "wait", [], id="a range that has only begun"),
        pytest.param("09T13:00:00", [WEEKEND], [FRIDAY], "wait", [], id="a range that goes tomorrow by itself"),
        pytest.param(
            "10T09:00:00", [], [gone(8, 9, "学术篇", at("10T08:37:01"))], "wait", [], id="the range was today's push"
        ),
        pytest.param(
            "10T09:00:00", [], [gone(8, 9, "学术篇", at("09T08:37:01"))], "late", [], id="it was yesterday's push"
        ),
        pytest.param("10T13:00:00", [], [], "wait", [], id="nobody has written anything yet"),
    ],
)
def test_what_is_due(now, found, published, verdict, digests):
    """In March 2025 the 8th and 9th are a weekend; the series is daily, from 08:37 to 12:00."""
    answer = what_is_due(HOURS, at(now), [(one, None) for one in found], published)

    assert (answer.verdict, [one for one, _ in answer.digests]) == (verdict, digests)


@pytest.mark.parametrize(
    ("now", "found", "verdict"),
    [
        pytest.param("2025-09-28T09:00", "2025-09-28", "publish", id="a Sunday that is made up for"),
        pytest.param("2025-10-01T09:00", "2025-10-01", "wait", id="a holiday on a Wednesday"),
        pytest.param("2025-10-09T09:00", "2025-10-09", "publish", id="the day after the holiday"),
        pytest.param("2025-10-09T09:00", "2025-10-08", "publish", id="the holiday's last digest"),
        pytest.param("2025-10-11T09:00", "2025-10-11", "publish", id="a Saturday that is made up for"),
        pytest.param("2025-10-12T09:00", "2025-10-12", "wait", id="a Sunday"),
        pytest.param("2025-10-13T09:00", "2025-10-12", "publish", id="the Sunday's digest on Monday"),
    ],
)
def test_a_workday_series_keeps_the_official_calendar(now, found, verdict):
    """On a free day nothing goes; what was written for it goes with the next push."""
    day = date.fromisoformat(found)
    before = Published(day - timedelta(days=1), day - timedelta(days=1))

    answer = what_is_due(OFFICIAL, datetime.fromisoformat(f"{now}+08:00"), [(written(day), None)], [before])

    assert answer.verdict == verdict


def test_a_weekend_sent_by_hand_is_not_waited_for_on_monday():
    """What Monday's push was for is out already; a digest of Monday's own would still go."""
    sent = gone(8, 9, "学术篇", at("09T20:00:00"))

    assert what_is_due(OFFICIAL, at("10T09:00:00"), [], [sent]).verdict is Verdict.WAIT
    assert what_is_due(OFFICIAL, at("10T09:00:00"), [(of_march(10), 1)], [sent]).verdict is Verdict.PUBLISH


def test_the_day_after_a_holiday_tells_of_it():
    """Only a series that has no issue on free days has something to tell, and only on the day after them."""
    after = date(2025, 10, 9)

    told = rest(OFFICIAL, after)

    assert told is not None
    assert (told.first, told.last) == (date(2025, 10, 1), date(2025, 10, 8))
    assert rest(OFFICIAL, date(2025, 10, 10)) is None
    assert rest(HOURS, after) is None


def test_a_human_is_told_once():
    """Late, empty and over are one notice a day each; a digest that comes after them still goes out."""
    told: set[str] = set()
    heard = []
    for now, found in [
        ("10T08:37:00", []),
        ("10T08:37:30", []),
        ("10T09:00:00", [(of_march(10, items=0), None)]),
        ("10T09:00:30", [(of_march(10, items=0), None)]),
        ("10T12:00:30", [(of_march(10, items=0), None)]),
        ("10T12:01:00", []),
        ("11T08:37:00", []),
        ("11T08:38:00", [(of_march(11), None)]),
    ]:
        answer = what_is_due(HOURS, at(now), found, [YESTERDAY], told)
        told |= {answer.notice} if answer.notice else set()
        heard.append(answer.verdict)

    assert heard == ["late", "wait", "empty", "wait", "over", "wait", "late", "publish"]
    assert told == {"late:2025-03-10", "empty:2025-03-10", "over:2025-03-10", "late:2025-03-11"}


def test_a_notice_that_was_not_given_is_asked_for_again():
    """The decision itself remembers nothing: who crashes before telling tells later."""
    first, second = (what_is_due(HOURS, at("10T09:00:00"), [], [YESTERDAY]) for _ in range(2))

    assert first == second
    assert first.notice == "late:2025-03-10"


def test_the_day_is_the_digest_s_not_the_server_s():
    """Pushed at 23:50 in Shanghai, looked at on a server in UTC at 00:10 local time: still the 8th."""
    night = Hours(time(23, 50), time(0, 30), SHANGHAI)
    found = [(of_march(8), "8"), (of_march(9), "9")]

    answer = what_is_due(night, datetime(2025, 3, 8, 16, 10, tzinfo=UTC), found, [FRIDAY])

    assert (answer.day, answer.digests) == (date(2025, 3, 8), (found[0],))


ZONES = st.sampled_from([SHANGHAI, LISBON, NEW_YORK, UTC])
MINUTES = st.integers(0, 1439).map(lambda n: time(n // 60, n % 60))
FIRST = date(2025, 3, 1)  # with the clock changes of both zones in spring; autumn's begin at 240
SPANS = st.sampled_from([0, 20, 238])


@st.composite
def readings(draw: st.DrawFn, start: date, zone: tzinfo) -> list[datetime]:
    """When somebody looks at the clock during ten days: in any zone, seldom or often, also backwards."""
    seconds = draw(st.lists(st.integers(0, 10 * 86_400), max_size=60))
    midnight = datetime.combine(start, time(), UTC)
    return [(midnight + timedelta(seconds=n)).astimezone(draw(st.sampled_from([UTC, zone]))) for n in seconds]


@given(zone=ZONES, push_at=MINUTES, wait_until=MINUTES, days=st.sampled_from(Days), offset=SPANS, data=st.data())
def test_each_day_goes_out_once_in_its_own_window_however_the_clock_is_read(
    zone, push_at, wait_until, days, offset, data
):
    """All digests lie ready; restarts, double looks and clocks that go back change nothing, and each notice is one."""
    hours, start = Hours(push_at, wait_until, zone, days), FIRST + timedelta(days=offset)
    found = [(written(start + timedelta(days=n)), n) for n in range(-3, 14)]
    published = [Published(start - timedelta(days=30), start - timedelta(days=30))]
    told: list[str] = []
    went: dict[date, datetime] = {}
    looks = data.draw(readings(start, zone))
    for now in looks:
        answer = what_is_due(hours, now, found, published, told)
        told += [answer.notice] if answer.notice else []
        if answer.verdict is not Verdict.PUBLISH:
            continue
        assert open_day(hours, now) == answer.day
        for one, _ in answer.digests:
            assert one.day is not None
            assert one.day not in went
            assert one.day == answer.day or (days is Days.WORKDAYS and one.day.weekday() >= 5)
            went[one.day] = now
            published.append(Published(one.day, one.day, "", now))

    assert len(told) == len(set(told))
    assert {open_day(hours, now) for now in looks} - {None} <= set(went), "a day whose window was seen is missing"


@given(zone=ZONES, push_at=MINUTES, wait_until=MINUTES, offset=SPANS)
def test_whoever_looks_every_minute_pushes_every_day(zone, push_at, wait_until, offset):
    """Over a clock change too, each day has exactly one unbroken window, and each push is later than the last."""
    hours, start = Hours(push_at, wait_until, zone), FIRST + timedelta(days=offset)
    now = datetime.combine(start, time(12), UTC)
    days = []
    for _ in range(24):
        upcoming = next_push(hours, now)
        assert upcoming.astimezone(UTC) > now
        now = upcoming.astimezone(UTC)
        days.append(open_day(hours, now))
        assert open_day(hours, window(hours, days[-1])[1]) in {days[-1], days[-1] + timedelta(days=1)}

    assert days == [days[0] + timedelta(days=n) for n in range(24)]


@pytest.mark.parametrize(
    ("zone", "slot", "expected"),
    [
        pytest.param("Asia/Shanghai", None, "2025-03-10T08:37+08:00", id="no slot"),
        pytest.param("Asia/Shanghai", "21:00", "2025-03-10T21:00+08:00", id="later in the day"),
        pytest.param("Asia/Shanghai", "07:00", "2025-03-10T08:37+08:00", id="before the push: with it"),
        pytest.param("Europe/Lisbon", "18:00", "2025-03-10T18:00+00:00", id="the evening of that day, far away"),
        pytest.param("America/New_York", "09:00", "2025-03-10T09:00-04:00", id="the push is on the eve there"),
        pytest.param("America/New_York", "21:00", "2025-03-09T21:00-04:00", id="and the slot soon after it"),
        pytest.param("Pacific/Auckland", "09:00", "2025-03-10T08:37+08:00", id="the push is past it there"),
    ],
)
def test_a_slot_is_that_day_s_on_the_subscriber_s_wall(zone, slot, expected):
    """The edition of 10 March is pushed at 08:37 in Shanghai."""
    own = Preference(slot=time.fromisoformat(slot) if slot else None)

    moment = slot_at(own, ZoneInfo(zone), HOURS, date(2025, 3, 10), at("10T08:37:00"))

    assert moment == datetime.fromisoformat(expected)


def test_a_late_edition_does_not_wait_for_tomorrow_s_slot():
    """The slot has passed when the digest comes: at once."""
    assert slot_at(Preference(slot=time(9)), SHANGHAI, HOURS, date(2025, 3, 10), at("10T11:30:00")) == at("10T11:30:00")


def test_what_is_pushed_at_night_comes_at_the_morning_s_slot():
    """A window over midnight belongs to the morning after, for those who have chosen one."""
    night = Hours(time(22), time(5), SHANGHAI)

    assert slot_at(Preference(slot=time(7)), SHANGHAI, night, date(2025, 3, 10), at("10T22:00:00")) == at("11T07:00:00")
    assert slot_at(Preference(slot=time(23)), SHANGHAI, night, date(2025, 3, 10), at("10T22:00:00")) == at(
        "10T23:00:00"
    )


def test_who_wants_workdays_only_gets_no_weekend_of_a_daily_series():
    """Nothing on a Saturday, also without a slot; a Saturday that is made up for is a workday."""
    daily, own = Hours(time(8, 37), time(12), SHANGHAI, Days.DAILY, OfficialCalendar()), Preference(workdays=True)
    pushed = datetime(2025, 10, 11, 1, tzinfo=UTC)

    assert slot_at(own, SHANGHAI, daily, date(2025, 3, 8), pushed) is None
    assert slot_at(own, SHANGHAI, daily, date(2025, 10, 11), pushed) == pushed


@given(
    series=ZONES,
    own=st.sampled_from([SHANGHAI, LISBON, NEW_YORK, ZoneInfo("Pacific/Auckland"), ZoneInfo("Pacific/Honolulu")]),
    push_at=MINUTES,
    wait_until=MINUTES,
    slot=MINUTES,
    offset=st.integers(0, 364),
    late=st.integers(0, 6 * 3600),
)
def test_a_slot_is_never_before_the_push_and_never_a_day_after_it(series, own, push_at, wait_until, slot, offset, late):
    """Clock changes or not, no edition waits until the next one is there, and none comes before it is out."""
    hours, day = Hours(push_at, wait_until, series), FIRST + timedelta(days=offset)
    pushed = window(hours, day)[0].astimezone(UTC) + timedelta(seconds=late)

    moment = slot_at(Preference(slot=slot), own, hours, day, pushed)

    assert moment is not None
    assert pushed <= moment <= max(pushed, window(hours, day)[0].astimezone(UTC) + timedelta(days=1))
    if moment != pushed:
        wall = moment.astimezone(own)
        skipped = datetime.combine(wall.date(), slot, own).astimezone(UTC).astimezone(own).time() != slot
        assert skipped or wall.time() == slot
