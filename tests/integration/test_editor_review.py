"""Nothing goes before somebody has looked: the card that asks, the decisions, and what they lead to."""

from datetime import UTC, date, datetime, time, timedelta

import pytest

from bot.cards.actions import Decision, Review
from bot.ports import LinkAnswer, LinkState
from bot.store import editions
from bot.store.editions import State
from tests.builders import make_digest, make_item
from tests.integration.conftest import SERIES, make_house, on_both, until
from tests.integration.office import ADMIN, Office, make_office

pytestmark = pytest.mark.anyio
OTHER = "ou_other"


@pytest.fixture
async def office(tmp_path, store_url):
    """A series that is pushed in two hours, with two admins."""
    now = datetime.now(UTC)
    hours = {"push_at": f"{now + timedelta(hours=2):%H:%M}", "wait_until": f"{now + timedelta(hours=5):%H:%M}"}
    source = {"kind": "folder", "path": "digests"}
    series = {"id": SERIES, "name": "灯塔日报", "source": source, "timezone": "UTC", "review": "approve", **hours}
    tables = {"store": {"url": store_url}, "admin": {"open_ids": [ADMIN, OTHER]}, "series": [series]}
    async with make_house(tmp_path, **tables) as house, make_office(house) as made:
        yield made


def push_at(office: Office) -> datetime:
    hours = office.house.settings.series[0].push_at
    at = datetime.combine(office.now.date(), time.fromisoformat(hours), UTC)
    return at if at > office.now else at + timedelta(days=1)


def lay_out(office: Office, day: date, text: str = "第一篇") -> None:
    body = (
        f"灯塔日报\n\n学习\n\n{text}\n\n多机训练时，前一级还没算完，后一级只能等着。\n\nhttps://read.example.com/p/1\n"
    )
    (office.house.digests / f"{day}.txt").write_text(body, encoding="utf-8")


def decide(office: Office, decision: Decision, admin: str = ADMIN, revision: int = 1) -> str:
    edition = office.house.store.read_now(editions.find, SERIES, "latest")
    action = Review(edition.name, revision, decision)
    answer = office.house.store.write_now(office.desk.reviewer.decide, action, admin, office.now)
    return answer.toast


def state(office: Office) -> State:
    return office.house.store.read_now(editions.find, SERIES, "latest").state


async def ask(office: Office) -> date:
    """The day's digest is found ahead of its hour, and asked about."""
    day = push_at(office).date()
    lay_out(office, day)
    assert await office.desk.publisher.publish_due(office.now) == []
    await office.desk.tick(office.now)
    return day


def at_push(office: Office) -> None:
    office.house.clock.advance((push_at(office) - office.now).total_seconds() + 5)


@on_both
async def test_approved_before_its_hour_it_goes_at_its_hour(office):
    """Every admin is asked; the cards say who approved it."""
    (person,) = office.house.people(1)
    await ask(office)
    assert state(office) is State.DRAFT
    async with office.at_work():
        await office.quiet()
        assert "已通过" in decide(office, Decision.APPROVE)
        assert state(office) is State.READY
        assert await office.desk.publisher.publish_due(office.now) == []
        await office.desk.tick(office.now)
        await office.quiet()
        asked = [office.cards_to(admin)[0].content for admin in (ADMIN, OTHER)]
        at_push(office)
        await office.desk.publisher.publish_due(office.now)
        await office.quiet()

    assert all("已通过" in content and "管理员" in content for content in asked)
    assert len(office.cards_to(person.id)) == 1


async def test_approved_after_its_hour_it_goes_at_once(office):
    """Nobody waits for the next look."""
    (person,) = office.house.people(1)
    await ask(office)
    at_push(office)
    assert await office.desk.publisher.publish_due(office.now) == []
    async with office.at_work():
        await office.desk.tick(office.now)
        assert "马上发出" in decide(office, Decision.APPROVE)
        await office.desk.tick(office.now)
        await until(lambda: len(office.cards_to(person.id)) == 1, passing=office.house.clock)


async def test_two_admins_at_once_have_one_effect_and_both_are_told(office):
    """The second one learns who was first."""
    await ask(office)

    answers = [decide(office, Decision.APPROVE), decide(office, Decision.APPROVE, OTHER)]

    assert ["已通过" in answers[0], "已经通过了" in answers[1]] == [True, True]
    assert decide(office, Decision.SKIP, OTHER) == "好，今天不发"
    assert state(office) is State.HELD
    assert "跳过" in decide(office, Decision.APPROVE)


async def test_a_later_revision_needs_a_decision_of_its_own(office):
    """What was approved is not what would go."""
    day = await ask(office)
    decide(office, Decision.APPROVE)
    lay_out(office, day, "改过的第一篇")
    office.house.clock.advance(700)

    await office.desk.publisher.publish_due(office.now)
    await office.desk.tick(office.now)

    assert state(office) is State.DRAFT
    assert "已经更新" in decide(office, Decision.APPROVE, revision=1)
    assert "已通过" in decide(office, Decision.APPROVE, revision=2)


async def test_later_asks_again_and_preview_sends_it_to_who_pressed(office):
    """And neither is a decision."""
    await ask(office)
    async with office.at_work():
        await office.quiet()
        decide(office, Decision.LATER)
        assert decide(office, Decision.PREVIEW) == "发到你的私聊了"
        assert "已经发给你了" in decide(office, Decision.PREVIEW)
        office.house.clock.advance(1801)
        await office.desk.tick(office.now)
        await office.quiet()

    assert state(office) is State.DRAFT
    assert [len(office.cards_to(one)) for one in (ADMIN, OTHER)] == [3, 2]


async def test_the_card_tells_what_an_editor_would_look_at(office):
    """A dead link, an item without text, and what it costs."""
    office.house.people(3)
    url = "https://read.example.com/gone"
    office.links[url] = LinkAnswer(LinkState.DEAD, "页面不存在（404）")
    digest = make_digest([make_item(1, url=url), make_item(2, text=())], day=push_at(office).date())
    await office.take_in(digest)
    await office.desk.tick(office.now)  # before the bot's own desk, which would ask the web
    async with office.at_work():
        await office.quiet()

    content = office.cards_to(ADMIN)[0].content
    assert "页面不存在" in content
    assert "没有正文" in content
    assert "2 处留意" in content


async def test_nobody_approves_and_the_window_closes(office):
    """It does not go, and that is told."""
    office.house.people(1)
    await ask(office)
    await office.desk.publisher.import_digest(
        SERIES, make_digest(day=push_at(office).date() - timedelta(days=1)), "h", office.now, "cli"
    )
    office.house.store.write_now(_publish_yesterday, push_at(office).date() - timedelta(days=1), office.now)
    at_push(office)
    assert await office.desk.publisher.publish_due(office.now) == []
    office.house.clock.advance(4 * 3600)

    assert await office.desk.publisher.publish_due(office.now) == []
    async with office.at_work():
        await office.quiet()
    assert any("没有发" in one.content for one in office.cards_to(ADMIN))


def _publish_yesterday(tx, day: date, now: datetime) -> None:
    edition = editions.find(tx, SERIES, f"{day}")
    editions.mark_publishing(tx, edition, now - timedelta(days=1))
