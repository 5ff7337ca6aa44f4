"""After it was sent: made right in place, or taken back, as far as the platform lets us; the rest is told."""

from dataclasses import replace

import pytest

from bot.domain.delivery import Status
from bot.sandbox.faults import Fault
from bot.services import editing
from bot.store import editions, ledger, pauses
from bot.store.editions import State
from bot.store.resends import Only
from tests.builders import make_digest
from tests.integration.conftest import make_house, on_both
from tests.integration.office import ADMIN, ADMINS, DAY, Office, make_office

pytestmark = pytest.mark.anyio
FORTNIGHT_S = 14 * 86_400


@pytest.fixture
async def office(tmp_path, store_url):
    async with make_house(tmp_path, store={"url": store_url}, **ADMINS) as house, make_office(house) as made:
        yield made


def digest_of(items: int, changed: str = ""):
    digest = make_digest(items=items, day=DAY)
    if not changed:
        return digest
    first = replace(digest.items[0], title=changed)
    return make_digest([first, *digest.items[1:]], day=DAY)


def texts(office: Office, open_id: str) -> list[str]:
    return [one.content for one in office.cards_to(open_id)]


@on_both
async def test_every_delivered_card_is_changed_in_place_and_says_so(office):
    """No second message; what has not gone out goes out right, without a word of it."""
    people = office.house.people(3)
    name = await office.publish(digest_of(3))
    async with office.at_work():
        await office.quiet()
        late = office.house.people(1)
        office.house.store.write_now(pauses.begin, pauses.QUEUE, 1, "停一下", office.now)
        office.resend(name, Only.UNSENT)
        await office.take_in(digest_of(3, "改好的标题"))
        summary = await office.desk.corrector.correct(name, office.now, "cli")
        office.house.store.write_now(pauses.lift, pauses.QUEUE)
        again = await office.desk.corrector.correct(name, office.now, "cli")
        await office.quiet()
        third = await office.desk.corrector.correct(name, office.now, "cli")

    assert summary.difference.changed == ("改好的标题",)
    assert (summary.changed, summary.turned) == (3, 1)
    assert (third.changed, third.turned, again.turned) == (0, 0, 0)
    for one in people:
        (content,) = texts(office, one.id)
        assert "改好的标题" in content
        assert "已更正" in content
    (content,) = texts(office, late[0].id)
    assert "改好的标题" in content
    assert "已更正" not in content


async def test_more_parts_follow_as_messages_and_fewer_leave_a_word(office):
    """One, three, then one again: nothing is lost, and no part stands there twice."""
    (person,) = office.house.people(1)
    name = await office.publish(digest_of(3))
    async with office.at_work():
        await office.quiet()
        await office.take_in(digest_of(120))
        summary = await office.desk.corrector.correct(name, office.now, "cli")
        await office.quiet()
        long = texts(office, person.id)
        office.house.clock.advance(61)
        await office.take_in(digest_of(3, "又短了"))
        await office.desk.corrector.correct(name, office.now, "cli")
        await office.quiet()
        short = texts(office, person.id)

    assert len(long) == 1 + summary.followed > 2
    assert f"1/{len(long)}" in long[0]
    assert "后面新增" in long[0]
    assert f"{len(long)}/{len(long)}" in long[-1]
    assert "又短了" in short[0]
    assert all("已并入前面的卡片" in one for one in short[1:])


async def test_what_cannot_be_changed_is_told_by_its_cause(office):
    """A recalled message, a group that the bot has left, a text, and everything that is too old."""
    people = office.house.people(2)
    text = office.house.people(1)
    office.house.sandbox.faults.add(Fault("code", "send", code=230054, times=1))
    name = await office.publish(digest_of(2))
    async with office.at_work():
        await office.quiet()
        await office.client.recall(office.cards_to(people[1].id)[0].message_id)
        await office.take_in(digest_of(2, "改过"))
        summary = await office.desk.corrector.correct(name, office.now, "cli")
        await office.quiet()
        await office.desk.tick(office.now)
        await office.quiet()
        office.house.clock.advance(FORTNIGHT_S)
        await office.take_in(digest_of(2, "又改"))
        old = await office.desk.corrector.correct(name, office.now, "cli", dry_run=True)

    assert summary.misses == {"发的不是卡片": 1}
    assert old.misses == {"发的不是卡片": 1, "发出超过 14 天": 2}
    assert any("消息已经撤回" in one for one in texts(office, ADMIN))
    assert len(text) == 1


async def test_cards_of_a_batch_and_of_custom_bots_stay_as_they_are(tmp_path):
    """And that is said beforehand."""
    async with make_house(tmp_path, delivery={"personal": "batch"}, **ADMINS) as house, make_office(house) as office:
        people = house.people(3)
        name = await office.publish(digest_of(2))
        async with office.at_work():
            await office.quiet()
            house.sandbox.clock.advance(60)
            await office.take_in(digest_of(2, "改过"))
            summary = await office.desk.corrector.correct(name, office.now, "cli")
            recalled = await office.desk.corrector.recall(name, office.now, "cli")
            await office.quiet()

        assert summary.misses == {"批量发送的卡片": 3}
        assert recalled.changed == 3
        assert [len(office.cards_to(one.id)) for one in people] == [0, 0, 0]


@on_both
async def test_a_recall_takes_back_what_is_there_and_what_waits(office):
    """Afterwards the edition is held; released, it can be sent again to everybody."""
    people = office.house.people(3)
    name = await office.publish(digest_of(2))
    async with office.at_work():
        await office.quiet()
        people += office.house.people(1)
        office.house.store.write_now(pauses.begin, pauses.QUEUE, 1, "停一下", office.now)
        office.resend(name, Only.UNSENT)
        summary = await office.desk.corrector.recall(name, office.now, "cli")
        office.house.store.write_now(pauses.lift, pauses.QUEUE)
        await office.quiet()
        gone = [len(office.cards_to(one.id)) for one in people]
        assert office.house.store.read_now(editions.find, *name).state is State.HELD
        editing.release(office.house.store, "/".join(name), office.now, "cli")
        push = office.resend(name, Only.UNSENT)
        await office.quiet()

    assert (summary.changed, summary.turned, push.receivers) == (3, 1, 4)
    assert gone == [0, 0, 0, 0]
    assert [len(office.cards_to(one.id)) for one in people] == [1, 1, 1, 1]


async def test_the_source_is_read_again_unless_something_newer_was_imported(office):
    """A wiki page that was mended; and a file that an editor brought comes before it."""
    file = office.house.digests / f"{DAY}.txt"
    text = "灯塔日报\n\n学习\n\n旧标题\n\n多机训练时，前一级还没算完。\n\nhttps://read.example.com/p/1\n"
    file.write_text(text, encoding="utf-8")
    office.house.people(1)
    (found, *_), _ = await office.desk.corrector._sources["ai"].load(office.now)
    name = await office.publish(found.digest)
    async with office.at_work():
        await office.quiet()
        assert not await office.desk.corrector.reread(name, office.now, "cli")
        file.write_text(text.replace("旧标题", "新标题"), encoding="utf-8")
        assert await office.desk.corrector.reread(name, office.now, "cli")
        assert not await office.desk.corrector.reread(name, office.now, "cli")

    assert office.house.store.read_now(editions.find, *name).digest.items[0].title == "新标题"


async def test_a_lost_answer_to_a_change_is_made_again(office):
    """A repeat does no harm."""
    (person,) = office.house.people(1)
    name = await office.publish(digest_of(2))
    async with office.at_work():
        await office.quiet()
        office.house.sandbox.faults.add(Fault("drop_reply", "patch", times=2))
        await office.take_in(digest_of(2, "改过"))
        await office.desk.corrector.correct(name, office.now, "cli")
        await office.quiet()

    assert "改过" in texts(office, person.id)[0]
    assert set(office.house.store.read_now(ledger.counts)) == {Status.SENT}
