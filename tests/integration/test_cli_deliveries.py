"""The ledger at the command line: rows of one receiver, and a second try of what failed."""

import contextlib

import pytest

from bot.domain.delivery import Status
from bot.store.engine import Store
from tests.integration.bot_process import write_config
from tests.integration.test_cli import answer, bot
from tests.integration.test_manage_retry import ended, published

PLAN = {"deliveries": 2, "receivers": 2, "waiting": 0, "skipped": {}}


@pytest.fixture
def home(tmp_path):
    """A folder where a push to three people has ended: two times failed, once unknown."""
    write_config(tmp_path / "config.toml", sandbox_port=9, bot_port=9)
    with contextlib.closing(Store(f"sqlite:///{tmp_path}/bot.db")) as store:
        store.migrate()
        published(store, 3)
        ended(store, Status.FAILED, Status.FAILED, Status.UNKNOWN)
    return tmp_path


def states(home):
    return [row["status"] for row in answer("delivery", "list", cwd=home)["deliveries"]]


def test_a_second_try_is_looked_at_asked_about_and_made(home):
    """Without a terminal there is nobody to ask: it refuses and says how."""
    assert answer("delivery", "retry", "--dry-run", cwd=home) == PLAN
    refused = bot("delivery", "retry", cwd=home)
    assert (refused.returncode, "--yes" in refused.stderr) == (1, True)
    assert states(home) == ["failed", "failed", "unknown"]

    assert answer("delivery", "retry", "--edition", "ai/latest", "--yes", cwd=home) == PLAN
    assert states(home) == ["pending", "pending", "unknown"]
    assert bot("delivery", "retry", cwd=home).stdout == "0 messages go out again, to 0 receivers\n"


def test_one_failed_goes_unasked_but_one_unknown_does_not(home):
    """Who may have it already could get it twice."""
    rows = {row["receiver"]: str(row["id"]) for row in answer("delivery", "list", cwd=home)["deliveries"]}

    assert answer("delivery", "retry", rows["ou_0"], cwd=home)["deliveries"] == 1
    skipped = bot("delivery", "retry", rows["ou_2"], cwd=home)
    refused = bot("delivery", "retry", rows["ou_2"], "--status", "unknown", cwd=home)

    assert (skipped.returncode, "see --status" in skipped.stdout) == (0, True)
    assert (refused.returncode, "--yes" in refused.stderr) == (1, True)
    assert states(home) == ["pending", "failed", "unknown"]
    assert answer("delivery", "retry", rows["ou_2"], "--status", "unknown", "--yes", cwd=home)["deliveries"] == 1


def test_the_rows_of_one_receiver(home):
    """Alone, in the shape of the list."""
    (row,) = answer("delivery", "list", "--receiver", "ou_1", "--edition", "ai/latest", cwd=home)["deliveries"]

    assert (row["receiver"], row["receiver_kind"], row["status"]) == ("ou_1", "user", "failed")


def test_an_edition_that_is_not_there_is_said(home):
    """With where to look."""
    done = bot("delivery", "retry", "--edition", "ai/none", cwd=home)

    assert (done.returncode, "edition list" in done.stderr) == (1, True)
