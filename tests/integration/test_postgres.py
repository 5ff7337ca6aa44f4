"""What PostgreSQL asks of us beyond SQL: servers that go away, outcomes that stay open, words that must not leak."""

from datetime import UTC, datetime

import pytest

from bot.domain.audience import Kind, Receiver
from bot.domain.errors import ConfigError
from bot.store import audit, subscribers
from bot.store.engine import Store
from tests.integration.conftest import on_postgres
from tests.integration.postgres import Postgres
from tests.integration.postgres_wire import BreakingWire

NOW = datetime(2025, 3, 10, tzinfo=UTC)


def lines(store: Store) -> int:
    """How many lines the audit has."""
    return int(store.read_now(lambda tx: tx.exec_driver_sql("SELECT count(*) FROM audit").scalar()))


def hang_up(postgres: Postgres, store_url: str) -> None:
    """End every connection of a database, as a restart of the server does."""
    name = store_url.partition("@/")[2].partition("?")[0]
    with postgres.admin() as admin:
        admin.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", (name,))


@on_postgres
def test_a_restarted_server_is_not_noticed(store, store_url, postgres):
    """Connections that died in the pool are replaced, for reading and for writing."""
    store.write_now(audit.append, NOW, "cli", "before", "x")
    hang_up(postgres, store_url)
    assert lines(store) == 1
    hang_up(postgres, store_url)

    store.write_now(audit.append, NOW, "cli", "after", "x")

    assert lines(store) == 2


@on_postgres
def test_a_unit_that_is_cut_off_is_run_again_as_a_whole(store, store_url, postgres):
    """Nothing of the first run is left."""
    runs = 0

    def work(tx) -> int:
        nonlocal runs
        runs += 1
        audit.append(tx, NOW, "cli", f"run {runs}", "x")
        if runs == 1:
            hang_up(postgres, store_url)
        audit.append(tx, NOW, "cli", f"run {runs}", "x")
        return runs

    assert store.write_now(work) == 2
    assert lines(store) == 2


@on_postgres
@pytest.mark.parametrize("arrives", [True, False], ids=["committed", "not committed"])
def test_a_commit_whose_answer_is_lost_happened_once(store, store_url, postgres, tmp_path, arrives):
    """The server is asked what became of it: what it has committed is not run again, what it has not is."""
    store.write_now(audit.append, NOW, "cli", "before", "x")
    runs: list[str] = []

    def work(tx) -> str:
        runs.append("run")
        audit.append(tx, NOW, "cli", "act", "x")
        return "done"

    with BreakingWire(postgres.socket, tmp_path, commit_arrives=arrives) as wire:
        far = Store(store_url.replace(str(postgres.socket.parent), str(tmp_path)))
        answer = far.write_now(work)
        far.close()

    assert (answer, wire.breaks, lines(store)) == ("done", 1, 2)
    assert len(runs) == (1 if arrives else 2)


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://bot:s3cret@127.0.0.1:1/digest",
        "postgres://bot:s3cret@127.0.0.1:1/digest",
        "postgresql://bot:with@s3cret@nowhere.invalid/digest",
        "postgresql://bot:s3cret:x@127.0.0.1:s3cret/digest",
        "postgresql://bot@127.0.0.1:1/digest?password=s3cret",
        "postgresql://bot@127.0.0.1:1/digest?s3cret=1",
    ],
)
def test_a_server_that_cannot_be_reached_is_one_line_without_the_password(url):
    """The line names the key and the cure; no cause hangs on it that a traceback would print."""
    pytest.importorskip("psycopg")

    with pytest.raises(ConfigError, match=r"^store\.url: ") as caught:
        Store(url)

    assert "s3cret" not in str(caught.value)
    assert "\n" not in str(caught.value)
    assert caught.value.__suppress_context__
    assert caught.value.__cause__ is None


@on_postgres
def test_an_error_of_the_server_shows_no_row(store):
    """Its details quote names and text, and errors are logged."""

    def work(tx) -> None:
        subscribers.ensure(tx, Receiver(Kind.USER, "ou_1"), NOW, name="读者甲")
        tx.exec_driver_sql("UPDATE subscribers SET created_at = NULL")

    with pytest.raises(Exception, match="created_at") as caught:
        store.write_now(work)

    assert "读者甲" not in f"{caught.value!r} {caught.value.__cause__!r} {caught.value}"
