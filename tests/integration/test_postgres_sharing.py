"""Several processes on one database: each message once, a receiver's one after the other, a new card to one alone."""

import contextlib
import itertools
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime, timedelta

import pytest
from sqlalchemy import func, select

from bot.app import running
from bot.domain.audience import Kind, Receiver, Selection, SubscriptionStatus
from bot.domain.delivery import LEASE, OPEN, Accepted, Status, next_step
from bot.domain.preference import Preference
from bot.domain.rate import Rate
from bot.store import audit, claiming, editions, inbox, ledger, outbox, pace, pauses, preferences, subscribers
from bot.store.engine import Store
from bot.store.subscribers import NewSubscription
from bot.store.tables import cards, deliveries
from tests.builders import make_digest
from tests.integration.conftest import SERIES, House, on_both, on_postgres, until
from tests.integration.postgres import Postgres

NOW = datetime(2025, 3, 10, tzinfo=UTC)
DAY = NOW.date()
ACTIVE, UNSUBSCRIBED = SubscriptionStatus.ACTIVE, SubscriptionStatus.UNSUBSCRIBED
PEOPLE, PARTS, STORES = 60, 3, 3


@contextlib.contextmanager
def several(url: str) -> Iterator[list[Store]]:
    """Stores as so many processes would have them."""
    stores = [Store(url) for _ in range(STORES)]
    try:
        yield stores
    finally:
        for store in stores:
            store.close()


def at_once(works: Sequence):
    """Run functions side by side; what they return, or the first error."""
    with ThreadPoolExecutor(len(works)) as threads:
        return [future.result(60) for future in [threads.submit(work) for work in works]]


def plan(tx, parts: int = PARTS, day: date = DAY) -> int:
    """A push of one edition to everybody who has subscribed."""
    edition, _ = editions.save(tx, SERIES, make_digest(items=1, day=day), f"{day}", NOW)
    push = editions.start_push(tx, edition, NOW)
    ids = editions.save_cards(tx, edition, Selection(), [f"card {part}" for part in range(parts)], NOW)
    editions.mark_publishing(tx, edition, NOW)
    return outbox.plan(tx, push, SERIES, Selection(), ids, NOW)


def subscribe(store: Store, count: int) -> None:
    rows = [NewSubscription(Receiver(Kind.USER, f"ou_{number}"), SERIES) for number in range(count)]
    store.write_now(subscribers.add, rows, NOW)


def on_their_way(tx) -> list:
    """What is being sent, in one snapshot: receiver, card, whether the card was proven before."""
    columns = (deliveries.c.receiver, deliveries.c.card_id, cards.c.proven_at)
    return list(tx.execute(select(*columns).join(cards).where(deliveries.c.status == Status.SENDING)))


def settle_all(tx, claims) -> None:
    steps = [(one, next_step(one.attempt, Accepted(f"om_{one.id}"), NOW, 0.0)) for one in claims]
    assert claiming.settle(tx, steps, NOW) == len(claims)


def enqueue_and_claim(tx, who: str) -> list:
    """A notice to one person that is on its way."""
    card = editions.save_card(tx, "notice", "hello", NOW)
    outbox.enqueue(tx, f"notice to {who}", Receiver(Kind.USER, who), card, NOW)
    return claiming.claim(tx, 10, NOW)


@on_both
def test_several_senders_share_a_push_and_keep_its_rules(store, store_url):
    """Nothing is claimed twice, nobody gets two parts at once or out of order, a new card goes to one receiver."""
    subscribe(store, PEOPLE)
    assert store.write_now(plan) == PEOPLE * PARTS
    taken: list[int] = []
    broken: list[str] = []

    def send(own: Store) -> None:
        while any(own.read_now(ledger.counts).get(state) for state in OPEN):
            claims = own.write_now(claiming.claim, 5, NOW)
            taken.extend(one.id for one in claims)
            sending = own.read_now(on_their_way)
            receivers = Counter(row.receiver for row in sending)
            unproven = Counter(row.card_id for row in sending if row.proven_at is None)
            broken.extend(f"two at once to {one}" for one, n in receivers.items() if n > 1)
            broken.extend(f"two prove card {one}" for one, n in unproven.items() if n > 1)
            own.write_now(settle_all, claims)

    with several(store_url) as stores:
        at_once([lambda own=own: send(own) for own in stores])

    assert broken == []
    assert Counter(taken) == Counter(range(1, PEOPLE * PARTS + 1)), "each once"
    order = sorted((taken.index(number), number) for number in taken)
    for person in range(PEOPLE):
        own_ids = range(person * PARTS + 1, (person + 1) * PARTS + 1)
        assert [number for _, number in order if number in own_ids] == list(own_ids)


@on_postgres
def test_who_decides_for_a_card_decides_alone(store, store_url):
    """One has chosen the second receiver, since the first was busy. It no longer is: another one must not choose it."""
    subscribe(store, 2)
    busy = store.write_now(enqueue_and_claim, "ou_0")
    store.write_now(plan, 1)

    with contextlib.closing(Store(store_url)) as other:

        def choose(tx):
            chosen = claiming.claim(tx, 10, NOW)
            other.write_now(settle_all, busy)
            return chosen, other.write_now(claiming.claim, 10, NOW)

        chosen, others = store.write_now(choose)

    assert ([one.receiver.id for one in chosen], others) == (["ou_1"], [])


@on_both
def test_slots_of_several_processes_never_overlap(store, store_url):
    """The rate row is locked while it is read and written: its slots are given out once."""
    rate = Rate.within(46, 990)

    def reserve(own: Store) -> list[float]:
        firsts = [own.write_now(pace.reserve, [pace.APP, "user:ou_1"], 3, rate, NOW)[0] for _ in range(30)]
        return [first + n * rate.interval_s for first in firsts for n in range(3)]

    with several(store_url) as stores:
        slots = sorted(slot for own in at_once([lambda own=own: reserve(own) for own in stores]) for slot in own)

    gaps = [later - earlier for earlier, later in itertools.pairwise(slots)]
    assert len(slots) == STORES * 90
    assert min(gaps) == pytest.approx(rate.interval_s, abs=0.002)
    assert max(gaps) == pytest.approx(rate.interval_s, abs=0.002)


@on_postgres
def test_two_copies_of_an_event_have_one_effect_and_one_answer(store, store_url):
    """Both find it new; the second one fails on its key, runs again and finds the answer of the first."""
    both_looked = threading.Barrier(2)
    runs: list[str] = []

    def handle(tx, name: str):
        stored = inbox.answer_of(tx, "event")
        runs.append(name)
        if runs.count(name) == 1:
            both_looked.wait(60)
        if stored is not None:
            return stored
        audit.append(tx, NOW, name, "act", "event")
        inbox.remember(tx, "event", {"text": name}, NOW)
        return {"text": name}

    with contextlib.closing(Store(store_url)) as other:
        answers = at_once([lambda: store.write_now(handle, "a"), lambda: other.write_now(handle, "b")])

    assert answers[0] == answers[1]
    assert len(runs) == 3
    assert store.read_now(lambda tx: tx.exec_driver_sql("SELECT count(*) FROM audit").scalar()) == 1


def become(tx, person: Receiver, wanted: SubscriptionStatus) -> SubscriptionStatus | None:
    """A wish for an end state. Returns what it was."""
    before = preferences.present(tx, person, SERIES)
    preferences.put(tx, person, SERIES, before, wanted, Preference(), NOW)
    return before and before.status


@on_postgres
@pytest.mark.parametrize("known", [False, True], ids=["new", "known"])
def test_of_two_clicks_at_once_the_second_finds_the_first(store, store_url, known):
    """Both saw the same state; whoever writes second looks again, and is not told that it changed something."""
    person = Receiver(Kind.USER, "ou_1")
    if known:
        store.write_now(become, person, UNSUBSCRIBED)
    both_looked = threading.Barrier(2)
    runs: list[str] = []

    def click(tx, name: str):
        before = preferences.present(tx, person, SERIES)
        runs.append(name)
        if runs.count(name) == 1:
            both_looked.wait(60)
        if before is None or before.status is not ACTIVE:
            preferences.put(tx, person, SERIES, before, ACTIVE, Preference(), NOW)
        return before and before.status

    with contextlib.closing(Store(store_url)) as other:
        found = at_once([lambda: store.write_now(click, "a"), lambda: other.write_now(click, "b")])

    assert set(found) == {UNSUBSCRIBED if known else None, ACTIVE}


@on_postgres
@pytest.mark.parametrize("leaves", [False, True], ids=["comes", "leaves"])
def test_who_comes_or_leaves_during_a_fan_out_is_not_forgotten(store, store_url, postgres: Postgres, leaves):
    """The change waits until the plan is committed and then sees it: to join it, or to cancel what it planned."""
    subscribe(store, 2)
    person = Receiver(Kind.USER, "ou_1" if leaves else "ou_new")

    def change(tx):
        become(tx, person, UNSUBSCRIBED if leaves else ACTIVE)
        if leaves:
            return outbox.cancel(tx, person, "left", series=SERIES)
        return len(editions.published_since(tx, SERIES, NOW))

    def waits_for_a_lock() -> bool:
        with postgres.admin() as admin:
            return bool(admin.execute("SELECT 1 FROM pg_locks WHERE NOT granted").fetchone())

    with contextlib.closing(Store(store_url)) as other, ThreadPoolExecutor(1) as threads:

        def fan_out(tx):
            subscribers.sizes(tx, SERIES)
            changing = threads.submit(other.write_now, change)
            while not waits_for_a_lock():
                assert not changing.done()
            plan(tx, 1)
            return changing

        assert store.write_now(fan_out).result(60) == 1


@on_postgres
def test_what_another_process_sends_is_not_orphaned(store, store_url):
    """A process that starts takes over what has lapsed, and nothing that a living one may be sending."""
    subscribe(store, 1)
    store.write_now(plan, 1)
    (claim,) = store.write_now(claiming.claim, 10, NOW)

    with contextlib.closing(Store(store_url)) as starting:
        at_once_revived = starting.write_now(claiming.revive, NOW, orphaned=True)
        later = starting.write_now(claiming.revive, NOW + LEASE + timedelta(seconds=1))

    assert (at_once_revived, later) == (0, 1)
    (again,) = store.write_now(claiming.claim, 10, NOW + LEASE + timedelta(seconds=1))
    assert (again.uuid, again.attempt.maybe_sent_at) == (claim.uuid, NOW)


@on_both
@pytest.mark.parametrize("proven", [False, True], ids=["new card", "proven card"])
def test_a_push_that_is_stopped_is_passed_over(store, proven):
    """Nothing of it is sent, and whoever is to get the same card or another by another push does not wait for it."""
    subscribe(store, 3)
    store.write_now(plan, 1)
    if proven:
        store.write_now(settle_all, store.write_now(claiming.claim, 1, NOW))
    store.write_now(pauses.begin, f"{pauses.PUSH}1", 230099, "no", NOW)
    store.write_now(plan, 1, DAY + timedelta(days=1))
    store.write_now(outbox.enqueue, "again", Receiver(Kind.USER, "ou_late"), 1, NOW, push=2)

    claims = store.write_now(claiming.claim, 10, NOW)

    assert [one.receiver.id for one in claims] == ["ou_0", "ou_late"], "the new card goes to one at first"
    assert {one.push_id for one in claims} == {2}


@pytest.mark.anyio
@on_postgres
async def test_two_bots_on_one_server_send_a_push_once(house: House):
    """Both run at once, limits off; every receiver has each part once, whoever sent it."""
    people = house.people(80)
    now = datetime.now(UTC)
    edition = await house.publisher.import_digest(SERIES, make_digest(items=120, day=DAY), "h", now, "cli")

    async with house.bot(), running(house.settings, house.clock):
        pushes = [await house.publisher.publish(SERIES, edition.slug, now, "cli") for _ in range(2)]
        await until(lambda: set(house.store.read_now(ledger.counts)) == {Status.SENT})

    parts = pushes[0].parts // len(people)
    assert parts > 1
    assert pushes[0].id == pushes[1].id
    assert {len(house.cards_to(person.id)) for person in people} == {parts}
    assert house.store.read_now(lambda tx: tx.execute(select(func.max(deliveries.c.attempts))).scalar()) == 1
