"""Any order of what editors do and what befalls them: one copy for each generation, and a ledger that is true."""

import asyncio
import contextlib
import json
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from sqlalchemy import select

from bot.assembly import Parts, assemble
from bot.domain.audience import Receiver
from bot.domain.delivery import OPEN, Status
from bot.domain.errors import UsageError
from bot.feishu.hooks import HookSender
from bot.sandbox.faults import Fault
from bot.services import editing, manage
from bot.store import changes, claiming, editions, ledger, outbox, pauses, subscribers
from bot.store.changes import ChangeKind
from bot.store.editor_tables import changes as changes_table
from bot.store.engine import Transaction
from bot.store.resends import Only
from bot.store.tables import deliveries
from bot.store.tables import pauses as pauses_table
from tests.builders import make_digest
from tests.integration.conftest import SERIES, make_house, on_both, until
from tests.integration.office import DAY, Office, make_office

pytestmark = pytest.mark.anyio

Step = tuple[str, int]
DAYS = (DAY, DAY + timedelta(days=1))
EDITS = ["publish", "failed", "unsent", "all", "to", "correct", "recall", "hold", "release"]  # of one of two editions
FATES = ["newcomer", "stop", "back", "lose", "slow", "die", "quiet"]
# What may have arrived before its edition was held is not known until it goes on.
AFTERWARDS: list[Step] = [("release", 0), ("release", 1), ("quiet", 0)]
STEPS = st.tuples(st.sampled_from(EDITS + FATES), st.sampled_from(range(len(DAYS))))


@dataclass
class Life:
    """Two editions, and whoever has subscribed. `again`: pushes for people who have it already: all, or the one."""

    office: Office
    hooks: HookSender
    people: list[Receiver]
    again: dict[int, Receiver | None] = field(default_factory=dict)
    taken: int = 0

    @property
    def someone(self) -> Receiver:
        """Each in turn."""
        return self.people[self.taken % len(self.people)]

    def generation(self, push: int, person: Receiver) -> int:
        """How often it was meant, up to that push, for somebody who had it."""
        return sum(one <= push and to in {None, person} for one, to in self.again.items())

    async def edit(self, step: str, day: date) -> None:
        """What an editor does with an edition."""
        office, name = self.office, (SERIES, day.isoformat())
        match step:
            case "publish":
                await office.desk.publisher.publish(*name, office.now, "cli")
            case "failed" | "unsent":
                office.resend(name, Only(step))
            case "all" | "to":
                to = self.someone if step == "to" else None
                push = office.resend(name, Only(step), to=to)
                self.again |= {push.id: to} if push.id else {}
            case "correct":
                office.house.clock.advance(1)
                digest = make_digest(items=2 if self.taken % 2 else 70, day=day)
                first = replace(digest.items[0], title=f"第 {self.taken} 次改过的标题")
                await office.take_in(make_digest([first, *digest.items[1:]], day=day))
                await office.desk.corrector.correct(name, office.now, "cli")
            case "recall":
                office.house.clock.advance(1)
                await office.desk.corrector.recall(name, office.now, "cli")
            case "hold":
                editing.hold(office.house.store, "/".join(name), office.now, "cli")
            case "release":
                editing.release(office.house.store, "/".join(name), office.now, "cli")

    async def befall(self, step: str) -> None:
        """What happens to readers and to calls."""
        house = self.office.house
        match step:
            case "newcomer":
                self.people += house.people(1)
            case "stop":
                await house.sandbox.client.stop_messages(self.someone.id)
            case "back":
                await house.sandbox.client.stop_messages(self.someone.id, stopped=False)
                house.store.write_now(subscribers.resume, self.someone, self.office.now)
            case "lose":  # the answers to the next send and to the next change
                house.sandbox.faults.add(Fault("drop_reply", "send"), Fault("drop_reply", "patch"))
            case "slow":  # long enough to die meanwhile
                house.sandbox.faults.add(Fault("slow", "send", seconds=0.1))


async def live(life: Life, steps: Sequence[Step]) -> None:
    """Take the steps while the bot is at work; to die is to be cut off and to start again. What is refused is."""
    left = iter(steps)
    while True:
        async with at_work(life) as parts:
            for step, which in left:
                life.taken += 1
                if step == "die":
                    break
                if step == "quiet":
                    await settled(life.office, parts)
                with contextlib.suppress(UsageError):
                    await (life.edit(step, DAYS[which]) if step in EDITS else life.befall(step))
                parts.deliverer.wake()
            else:
                return


@contextlib.asynccontextmanager
async def at_work(life: Life) -> AsyncIterator[Parts]:
    """The loops of a process that has just started, without the rest of it, which takes longer than many steps.

    In the end they are cut off, whatever they are at; only a unit of work that has begun comes to its end.
    """
    house = life.office.house
    parts = assemble(house.settings, house.store, life.office.client, life.hooks, house.clock)
    house.store.write_now(_take_over, house.clock())
    loops = [asyncio.create_task(one.run()) for one in (parts.deliverer, parts.changes)]
    try:
        yield parts
    finally:
        # In Python 3.11 `wait_for` forgets a cancellation that comes together with what it waits for.
        await until(lambda: not parts.deliverer._news.is_set())
        while left := [one for one in loops if not one.done()]:
            for one in left:
                one.cancel()
            await asyncio.wait(left, timeout=1)
        await until(lambda: not any(one.borrowed_tokens for one in (house.store._threads, house.store._writers)))
        for one in loops:
            assert one.cancelled() or one.result() is None


def _take_over(tx: Transaction, now: datetime) -> None:
    claiming.revive(tx, now, orphaned=True)
    changes.revive(tx, now, orphaned=True)


async def settled(office: Office, parts: Parts) -> None:
    """Nothing moves any more; what is held may be left."""

    def is_still() -> bool:
        if moves := office.house.store.read_now(_moves):
            parts.deliverer.wake()
        return not moves

    await until(is_still, passing=office.house.clock)


def _moves(tx: Transaction) -> bool:
    """Whether there is anything on its way, or that would go without somebody's doing: what is held waits."""
    names = tx.execute(select(pauses_table.c.name)).scalars()
    stopped = {int(name.removeprefix(pauses.PUSH)) for name in names}
    columns = (deliveries.c.id, deliveries.c.status, deliveries.c.push_id)
    rows = tx.execute(select(*columns).where(deliveries.c.status.in_(OPEN))).all()
    held = {row.id for row in rows if row.status == Status.PENDING and row.push_id in stopped}
    kinds = select(changes_table.c.delivery_id, changes_table.c.kind).where(changes_table.c.status.in_(OPEN))
    changing = dict(tuple(row) for row in tx.execute(kinds).all())
    return len(rows) > len(held) or not held.issuperset(changing) or ChangeKind.RECALL in changing.values()


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest) -> Callable[[Path], AbstractContextManager[str]]:
    """Makes the address of a new database, for each life."""
    if request.param == "sqlite":
        return lambda folder: contextlib.nullcontext(f"sqlite:///{folder}/bot.db")
    server = request.getfixturevalue("postgres")
    return lambda _: server.database()


@settings(max_examples=6, deadline=None, suppress_health_check=list(HealthCheck))
@given(steps=st.lists(STEPS, min_size=4, max_size=16))
@example(steps=[("stop", 0), ("publish", 0), ("quiet", 0), ("back", 0), ("failed", 0), ("all", 0), ("to", 0)])
@example(steps=[("publish", 0), ("hold", 0), ("publish", 1), ("quiet", 1), ("release", 0)])
@example(steps=[("slow", 0), ("publish", 1), ("die", 0), ("quiet", 0), ("failed", 0), ("failed", 1), ("unsent", 1)])
@example(steps=[("lose", 0), ("publish", 0), ("die", 0), ("recall", 0), ("publish", 1)])
async def test_nobody_has_two_copies_and_the_ledger_is_what_is_there(tmp_path_factory, database, steps):
    """One message for each part of an edition, and the ledger names exactly the messages that can be seen."""
    folder = tmp_path_factory.mktemp("life")
    with database(folder) as url:
        async with (
            make_house(folder, store={"url": url}) as house,
            make_office(house) as office,
            HookSender(house.settings.feishu.base_url, lambda _: None) as hooks,
        ):
            life = Life(office, hooks, house.people(3))
            for day in DAYS:
                await office.take_in(make_digest(items=2, day=day), day=day)

            await live(life, [("publish", 0), *steps, *AFTERWARDS])

            rows = manage.list_deliveries(house.store, 1000, 0)["deliveries"]
            for person in life.people:
                check(life, person, [row for row in rows if row["receiver"] == person.id])
            assert house.sandbox.world.violations == []


def check(life: Life, person: Receiver, rows: Sequence[dict[str, Any]]) -> None:
    """The ledger's rows of somebody against what they can see of the bot."""
    seen = life.office.cards_to(person.id)
    sent, doubtful = ([row for row in rows if row["status"] == one] for one in (Status.SENT, Status.UNKNOWN))
    unaccounted = {one.message_id for one in seen} - {row["message_id"] for row in sent}
    assert len(seen) - len(sent) == len(unaccounted) <= len(doubtful)
    copies = Counter((row["edition"], row["part"], life.generation(row["push"], person)) for row in sent + doubtful)
    assert set(copies.values()) <= {1}
    assert all(json.loads(one.content)["schema"] == "2.0" for one in seen)


@pytest.fixture
async def office(tmp_path, store_url):
    async with make_house(tmp_path, store={"url": store_url}) as house, make_office(house) as made:
        yield made


@on_both
@pytest.mark.parametrize("stop", ["hold", "pause"])
async def test_what_waits_behind_a_stop_holds_nobody_up(office, stop):
    """Who would have got a held edition gets answers and the next edition; and answers, while all pushes are paused."""
    house = office.house
    (person,) = house.people(1)
    held = await office.publish()
    if stop == "hold":
        editing.hold(house.store, "/".join(held), office.now, "cli")
    else:
        house.store.write_now(pauses.begin, pauses.QUEUE, pauses.BY_HAND, "停一下", office.now)
    await office.publish(day=DAYS[1])
    house.store.write_now(_answer, person, office.now)

    async with office.at_work():
        await until(lambda: len(office.cards_to(person.id)) == (2 if stop == "hold" else 1), passing=house.clock)

        editing.release(house.store, "/".join(held), office.now, "cli") if stop == "hold" else None
        house.store.write_now(pauses.lift, pauses.QUEUE)
        await office.quiet()

    assert len(office.cards_to(person.id)) == 3


@on_both
async def test_what_may_have_arrived_is_not_given_up_as_if_it_had_not(office):
    """Two answers are lost, then the reader stops the bot for a while: neither edition may come a second time."""
    house, again = office.house, [Only.FAILED, Only.UNSENT]
    (person,) = house.people(1)
    house.sandbox.faults.add(Fault("drop_reply", "send", times=2))
    names = [await office.publish(day=day) for day in DAYS]
    async with office.at_work():
        for number in (1, 2):
            await until(lambda n=number: len(house.sandbox.faults.met) == n)
            await until(lambda: house.store.read_now(ledger.counts) == {Status.PENDING: 2})
            house.clock.advance(2)
        await house.sandbox.client.stop_messages(person.id)
        await office.quiet()
        await house.sandbox.client.stop_messages(person.id, stopped=False)
        house.store.write_now(subscribers.resume, person, office.now)
        plans = [office.resend(name, only).receivers for name in names for only in again]
        await office.quiet()

    assert house.store.read_now(ledger.counts) == {Status.UNKNOWN: 2}
    assert plans == [0, 0, 0, 0]
    assert len(office.cards_to(person.id)) == 2


@on_both
async def test_a_recall_reaches_what_may_have_arrived(office):
    """The answer is lost, the edition is held by the recall: it is asked for once more, and taken back."""
    house = office.house
    (person,) = house.people(1)
    house.sandbox.faults.add(Fault("drop_reply", "send"))
    name = await office.publish()
    async with office.at_work():
        await until(lambda: len(house.sandbox.faults.met) == 1)
        await until(lambda: house.store.read_now(ledger.counts) == {Status.PENDING: 1})
        summary = await office.desk.corrector.recall(name, office.now, "cli")
        await office.quiet()

    assert summary.changed == 1
    assert office.cards_to(person.id) == []
    assert house.store.read_now(changes.finished, office.now) != []


def _answer(tx: Transaction, person: Receiver, now: datetime) -> None:
    card = editions.save_notice(tx, json.dumps({"schema": "2.0", "body": {"elements": []}}), now)
    outbox.enqueue(tx, "an answer", person, card, now)
