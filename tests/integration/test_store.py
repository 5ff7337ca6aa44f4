"""The schema and its promises."""

import subprocess
import sys
from datetime import UTC, datetime

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bot.domain.audience import Kind, Receiver
from bot.domain.errors import ConfigError, UsageError
from bot.domain.rate import Rate
from bot.store import inbox, pace, subscribers
from bot.store.digest_json import dump, load
from bot.store.engine import Store, newest_revision
from bot.store.subscribers import NewSubscription
from bot.store.tables import metadata
from tests.builders import make_digest

NOW = datetime(2025, 3, 10, tzinfo=UTC)


@pytest.fixture
def store(tmp_path):
    made = Store(f"sqlite:///{tmp_path}/bot.db")
    made.migrate()
    yield made
    made.close()


def test_the_migrations_make_the_schema_that_the_code_means(store):
    """No drift between scripts and tables."""
    assert store.read_now(lambda tx: compare_metadata(MigrationContext.configure(tx), metadata)) == []


def test_the_newest_file_is_the_head_of_the_migrations(store):
    """Commands look at the file names to see that nothing is to be done."""
    assert store.read_now(lambda tx: MigrationContext.configure(tx).get_current_revision()) == newest_revision()


def test_processes_that_start_at_once_migrate_once(tmp_path):
    """Whoever comes second finds it done."""
    script = "import sys; from bot.store.engine import Store; s = Store(sys.argv[1]); s.migrate()"
    command = [sys.executable, "-c", script, f"sqlite:///{tmp_path}/bot.db"]

    started = [subprocess.Popen(command) for _ in range(3)]

    assert [process.wait(60) for process in started] == [0, 0, 0]


def test_a_file_that_is_no_database_is_refused_with_the_key(tmp_path):
    """One line that names store.url."""
    (tmp_path / "bot.db").write_bytes(b"not a database, but a letter" * 100)

    with pytest.raises(ConfigError, match=r"store\.url"):
        Store(f"sqlite:///{tmp_path}/bot.db").migrate()


def test_only_one_bot_runs_on_a_database(store):
    """Two would both think that the other's sends are orphans."""
    with store.held_by_one(), pytest.raises(UsageError, match="another digest-bot"), store.held_by_one():
        pass


def test_subscribing_twice_is_subscribing_once(store):
    """And an import may be repeated."""
    rows = [NewSubscription(Receiver(Kind.USER, "ou_1"), "ai"), NewSubscription(Receiver(Kind.GROUP, "oc_1"), "ai")]

    assert store.write_now(subscribers.add, rows, NOW) == (2, 0)
    assert store.write_now(subscribers.add, rows, NOW) == (0, 2)


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


def test_a_hold_is_lifted_by_the_clock_alone(store):
    """Another request's success must not reopen the gate."""
    rate = Rate.within(46, 990)
    store.write_now(pace.hold, pace.APP, 52.0, NOW)

    store.write_now(pace.hold, pace.APP, 1.0, NOW)

    assert store.read_now(pace.wait_s, pace.APP, NOW) == pytest.approx(52)
    assert store.write_now(pace.reserve, [pace.APP], 1, rate, NOW) == [pytest.approx(52)]
