"""The schema and its promises."""

import contextlib
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bot.domain.audience import Kind, Receiver
from bot.domain.errors import ConfigError, UsageError
from bot.domain.rate import Rate
from bot.store import archive, audit, editor_tables, inbox, lease, pace, pauses, subscribers
from bot.store.digest_json import dump, load
from bot.store.engine import Store, newest_revision
from bot.store.subscribers import NewSubscription
from bot.store.tables import metadata
from tests.builders import make_digest
from tests.integration.conftest import on_both, on_postgres

NOW = datetime(2025, 3, 10, tzinfo=UTC)


@on_both
def test_the_migrations_make_the_schema_that_the_code_means(store):
    """No drift between scripts and tables, but for two keys that a server would check row by row."""
    assert archive.deliveries_archive.metadata is metadata is editor_tables.changes.metadata
    drift = store.read_now(lambda tx: compare_metadata(MigrationContext.configure(tx), metadata))

    not_checked = [change[1].name for change in drift if store.is_shared and change[0] == "add_fk"]
    assert sorted(not_checked) == (["fk_deliveries_card_id", "fk_deliveries_push_id"] if store.is_shared else [])
    assert [change for change in drift if change[0] != "add_fk"] == []


@on_both
def test_the_newest_file_is_the_head_of_the_migrations(store):
    """Commands look at the file names to see that nothing is to be done."""
    assert store.read_now(lambda tx: MigrationContext.configure(tx).get_current_revision()) == newest_revision()


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_processes_that_start_at_once_migrate_once(kind, request, tmp_path):
    """Whoever comes second finds it done."""
    with contextlib.ExitStack() as stack:
        url = f"sqlite:///{tmp_path}/bot.db"
        if kind == "postgresql":
            url = stack.enter_context(request.getfixturevalue("postgres").database(template="template1"))
        script = "import sys; from bot.store.engine import Store; s = Store(sys.argv[1]); s.migrate()"
        command = [sys.executable, "-c", script, url]

        started = [subprocess.Popen(command) for _ in range(3)]

        assert [process.wait(60) for process in started] == [0, 0, 0]


def test_a_file_that_is_no_database_is_refused_with_the_key(tmp_path):
    """One line that names store.url."""
    (tmp_path / "bot.db").write_bytes(b"not a database, but a letter" * 100)

    with pytest.raises(ConfigError, match=r"store\.url"):
        Store(f"sqlite:///{tmp_path}/bot.db").migrate()


def test_only_one_bot_runs_on_a_file(store):
    """Two would both think that the other's sends are orphans."""
    with store.held_by_one(), pytest.raises(UsageError, match="another digest-bot"), store.held_by_one():
        pass


@on_postgres
def test_any_number_of_bots_run_on_a_server(store):
    """They share the work, row by row."""
    with store.held_by_one(), store.held_by_one():
        assert store.is_shared


@on_both
def test_subscribing_twice_is_subscribing_once(store):
    """And an import may be repeated."""
    rows = [NewSubscription(Receiver(Kind.USER, "ou_1"), "ai"), NewSubscription(Receiver(Kind.GROUP, "oc_1"), "ai")]

    assert store.write_now(subscribers.add, rows, NOW) == (2, 0)
    assert store.write_now(subscribers.add, rows, NOW) == (0, 2)


@on_both
def test_a_failed_unit_of_work_leaves_nothing(store):
    """One transaction, all or nothing."""

    def work(tx):
        inbox.remember(tx, "event", {}, NOW)
        raise RuntimeError

    with pytest.raises(RuntimeError):
        store.write_now(work)
    assert store.read_now(inbox.answer_of, "event") is None


def test_a_digest_comes_back_from_the_store_as_it_was():
    """Blocks, links, formulas, days: nothing is lost in JSON."""
    digest = make_digest(items=3)

    assert load(dump(digest)) == digest


@on_both
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(1, 200), st.integers(1, 40), st.lists(st.integers(1, 16), min_size=1, max_size=60), st.data())
def test_no_window_lets_more_through_than_the_rate(store, steady, burst, batches, data):
    """The generic cell rate: any window of W seconds holds at most burst + W × rate sends, and one at its edge."""
    rate = Rate(1 / steady, burst)
    key = data.draw(st.uuids()).hex
    sends = []
    for batch in batches:
        (first,) = store.write_now(pace.reserve, [key], batch, rate, NOW)
        sends += [max(0.0, first + n * rate.interval_s) for n in range(batch)]

    for window_s in (1.0, 5.0):
        for start in sends:
            inside = sum(1 for at in sends if start <= at < start + window_s)
            assert inside <= burst + window_s * steady + 1


def test_the_default_rate_keeps_both_limits():
    """46 in a second and 990 in a minute, of 50 and 1000."""
    rate = Rate.within(46, 990)

    assert rate.burst + 1 / rate.interval_s == pytest.approx(46)
    assert rate.burst + 60 / rate.interval_s == pytest.approx(990)


@on_both
def test_a_hold_is_lifted_by_the_clock_alone(store):
    """Another request's success must not reopen the gate."""
    rate = Rate.within(46, 990)
    store.write_now(pace.hold, pace.APP, 52.0, NOW)

    store.write_now(pace.hold, pace.APP, 1.0, NOW)

    assert store.read_now(pace.wait_s, pace.APP, NOW) == pytest.approx(52)
    assert store.write_now(pace.reserve, [pace.APP], 1, rate, NOW) == [pytest.approx(52)]


@on_both
def test_nobody_is_told_of_a_pause_twice_but_of_the_next_one(store):
    """One that is over by itself does not stand in the way of a new one."""
    until = NOW + timedelta(hours=1)
    begun = [store.write_now(pauses.begin, pauses.QUEUE, 99991403, "quota", NOW, until) for _ in range(2)]

    again = store.write_now(pauses.begin, pauses.QUEUE, 99991672, "scope", until + timedelta(seconds=1))

    assert ([*begun, again], store.read_now(pauses.of_queue, until).code) == ([True, False, True], 99991672)


@on_both
def test_an_import_may_name_somebody_twice(store):
    """Two series, one person; a name that is given wins over none."""
    person = Receiver(Kind.USER, "ou_1")
    rows = [NewSubscription(person, "ai", "读者甲"), NewSubscription(person, "law")]

    assert store.write_now(subscribers.add, [*rows, *rows], NOW) == (2, 2)
    assert [row.name for row in store.read_now(subscribers.page, None, 9, 0)] == ["读者甲", "读者甲"]


@on_both
def test_a_lease_has_one_owner_until_it_lapses(store):
    """Renewed it stays; lapsed it goes to whoever looks, with a new epoch."""
    late = NOW + lease.LASTS
    steps = [("a", NOW), ("b", NOW), ("a", NOW + timedelta(seconds=3)), ("b", late), ("b", late + timedelta(seconds=3))]

    assert [store.write_now(lease.take, "scheduler", who, at) for who, at in steps] == [1, None, 1, None, 2]
    assert store.write_now(lease.take, "chores", "a", NOW) == 1


@on_both
def test_an_owner_of_an_old_epoch_writes_nothing(store):
    """It slept through its lease, another took over: what it does then is fenced by the number it holds."""

    def write(tx, epoch, at):
        if not lease.holds(tx, "scheduler", epoch, at):
            return False
        audit.append(tx, at, "scheduler", "act", f"epoch {epoch}")
        return True

    old = store.write_now(lease.take, "scheduler", "a", NOW)
    lapsed = NOW + lease.LASTS
    assert [store.write_now(write, old, at) for at in (NOW, lapsed)] == [True, False]

    new = store.write_now(lease.take, "scheduler", "b", lapsed)

    assert [store.write_now(write, epoch, lapsed) for epoch in (old, new)] == [False, True]


@on_both
def test_a_lease_that_is_given_back_is_free_at_once(store):
    """A clean stop makes nobody wait; giving back what another has by now changes nothing."""
    old = store.write_now(lease.take, "scheduler", "a", NOW)
    store.write_now(lease.give_back, "scheduler", old, NOW)

    new = store.write_now(lease.take, "scheduler", "b", NOW)
    store.write_now(lease.give_back, "scheduler", old, NOW)

    assert store.write_now(lease.holds, "scheduler", new, NOW)


@on_postgres
def test_nobody_takes_over_while_a_fenced_write_is_open(store, store_url):
    """The check and the write are one: the lease cannot change hands between them, however long it lasts."""
    epoch = store.write_now(lease.take, "scheduler", "a", NOW)
    much_later = NOW + timedelta(hours=1)

    with contextlib.closing(Store(store_url)) as other, ThreadPoolExecutor(1) as threads:

        def write(tx):
            assert lease.holds(tx, "scheduler", epoch, NOW)
            taking = threads.submit(other.write_now, lease.take, "scheduler", "b", much_later)
            while not tx.exec_driver_sql("SELECT 1 FROM pg_locks WHERE NOT granted").first():
                assert not taking.done()
            return taking

        assert store.write_now(write).result(60) == epoch + 1
