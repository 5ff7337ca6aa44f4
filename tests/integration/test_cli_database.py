"""The database at the command line: its schema, a backup while the bot writes, a restore."""

import contextlib
import json
import sqlite3
import threading
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import select

from bot.domain.audience import Kind, Receiver
from bot.domain.errors import UsageError
from bot.store import claiming, copies, editions, outbox, revisions, subscribers
from bot.store.engine import Store, newest_revision
from bot.store.subscribers import NewSubscription
from bot.store.tables import deliveries
from tests.integration.bot_process import write_config
from tests.integration.test_cli import answer, bot

NOW = datetime(2025, 3, 10, tzinfo=UTC)
PERSON = Receiver(Kind.USER, "ou_1")


@pytest.fixture
def home(tmp_path):
    """A folder with a configuration."""
    write_config(tmp_path / "config.toml", sandbox_port=9, bot_port=9)
    return tmp_path


@pytest.fixture
def filled(store):
    """A store with one subscriber, one delivery that is sent and one that is open."""

    def work(tx):
        subscribers.add(tx, [NewSubscription(PERSON, "ai")], NOW)
        card = editions.save_card(tx, "notice", "{}", NOW)
        for key in ("sent", "open"):
            outbox.enqueue(tx, key, PERSON, card, NOW)
        (first,) = claiming.claim(tx, 1, NOW)
        tx.execute(deliveries.update().where(deliveries.c.id == first.id).values(status="sent", message_id="om_1"))

    store.write_now(work)
    return store


def told(done, total):
    """Nobody looks."""


def back_up(tmp_path, name="copy.db"):
    copies.back_up(tmp_path / "bot.db", tmp_path / name, told)
    return tmp_path / name


def statuses(path):
    with contextlib.closing(Store(f"sqlite:///{path}")) as store:
        return store.read_now(lambda tx: dict(tx.execute(select(deliveries.c.key, deliveries.c.status)).all()))


def test_an_operator_goes_from_nothing_to_a_backup_and_back(home):
    """Each step in one answer: what is pending, what was applied, where the copy is, where the old store is."""
    newest = newest_revision()
    before = answer("db", "status", cwd=home)
    assert not (home / "bot.db").exists(), "to look is not to make"
    applied = answer("db", "upgrade", cwd=home)
    saved = answer("backup", "copy.db", cwd=home)
    twice = bot("backup", "copy.db", cwd=home)
    back = answer("restore", "copy.db", cwd=home)

    assert (before["current"], before["newest"]) == (None, newest)
    assert (before["pending"][0], before["pending"][-1][:4]) == ("0001_first_tables", newest)
    assert applied == {"from": None, "to": newest, "applied": before["pending"]}
    assert (saved["file"], saved["revision"]) == ("copy.db", newest)
    assert saved["bytes"] == (home / "copy.db").stat().st_size
    assert (twice.returncode, "--yes" in twice.stderr) == (1, True)
    assert (back["unknown"], back["revision"]) == (0, newest)
    assert ".replaced-" in back["replaced"]
    assert answer("db", "status", cwd=home) == {"current": newest, "newest": newest, "pending": []}


def test_a_server_has_its_own_tools(home):
    """The command to type, whole but for the password."""
    url = {"DIGEST_BOT_STORE__URL": "postgresql://bot:geheim@db.example.com:5433/digests"}

    done = [bot(*words, cwd=home, **url) for words in (("backup", "a b.dump"), ("restore", "x.dump"))]

    where = "--host=db.example.com --port=5433 --username=bot --dbname=digests"
    assert [one.returncode for one in done] == [1, 1]
    assert f"pg_dump --format=custom '--file=a b.dump' {where}" in done[0].stderr
    assert f"pg_restore --clean --if-exists x.dump {where}" in done[1].stderr
    assert "geheim" not in done[0].stderr + done[1].stderr


def test_a_database_of_a_newer_version_is_left_alone(home):
    """Its schema is not ours to change."""
    bot("db", "upgrade", cwd=home)
    with contextlib.closing(sqlite3.connect(home / "bot.db", isolation_level=None)) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")

    done = bot("db", "upgrade", cwd=home)

    assert (done.returncode, "9999" in done.stderr, len(done.stderr.strip().splitlines())) == (1, True, 1)
    assert json.loads(bot("db", "status", "--json", cwd=home).stdout)["pending"] == []


def test_a_copy_is_of_one_moment_while_the_bot_writes(filled, tmp_path, monkeypatch):
    """Writers go on between its steps; what they write is in it as a whole or not at all."""
    monkeypatch.setattr(copies, "PAGES", 1)
    stop, wrote, written = threading.Event(), threading.Event(), []

    def subscribe():
        while not stop.is_set():
            pair = [NewSubscription(Receiver(Kind.USER, f"ou_w{len(written)}"), series) for series in ("ai", "law")]
            filled.write_now(subscribers.add, pair, NOW)
            written.append(len(pair))
            wrote.set()

    steps = []

    def step(done: int, total: int) -> None:
        wrote.clear()
        steps.append((done, wrote.wait(30)))

    writing = threading.Thread(target=subscribe)
    writing.start()
    try:
        copies.back_up(tmp_path / "bot.db", tmp_path / "copy.db", step)
    finally:
        stop.set()
        writing.join()

    assert [done for done, _ in steps] == list(range(1, len(steps) + 1)), "it never started again"
    assert all(went_on for _, went_on in steps), "nobody waited for it"
    with contextlib.closing(Store(f"sqlite:///{tmp_path}/copy.db")) as copy:
        rows = copy.read_now(subscribers.page, None, 100_000, 0)
    assert len(rows) % 2 == 1, "the first subscriber, and pairs"


def test_what_was_open_in_a_copy_is_in_doubt_when_it_comes_back(filled, tmp_path):
    """It may have been sent since: nobody gets it twice by machine."""
    copy = back_up(tmp_path)

    done = copies.restore(copy, tmp_path / "bot.db", NOW, told)

    assert (done.unknown, statuses(tmp_path / "bot.db")) == (1, {"sent": "sent", "open": "unknown"})
    assert statuses(copy) == {"sent": "sent", "open": "pending"}, "the copy stays as it is"


def test_the_old_store_stays_whole_beside_the_new_one(filled, tmp_path):
    """With what was written after the copy was made."""
    copy = back_up(tmp_path)
    filled.write_now(outbox.enqueue, "later", PERSON, 1, NOW)

    done = copies.restore(copy, tmp_path / "bot.db", NOW, told)

    assert "later" not in statuses(tmp_path / "bot.db")
    assert "later" in statuses(done.replaced)


def test_a_broken_store_can_be_replaced(filled, tmp_path):
    """That is what copies are for."""
    copy = back_up(tmp_path)
    filled.close()
    (tmp_path / "bot.db").write_bytes(b"not a database" * 1_000)

    done = copies.restore(copy, tmp_path / "bot.db", NOW + timedelta(hours=1), told)

    assert statuses(tmp_path / "bot.db") == {"sent": "sent", "open": "unknown"}
    assert done.replaced.read_bytes().startswith(b"not a database")


def test_a_running_bot_is_not_pulled_its_store_away(filled, tmp_path):
    """Nothing is touched."""
    copy = back_up(tmp_path)

    with filled.held_by_one(), pytest.raises(UsageError, match="stop it first"):
        copies.restore(copy, tmp_path / "bot.db", NOW, told)
    assert statuses(tmp_path / "bot.db") == {"sent": "sent", "open": "pending"}


def test_a_damaged_or_foreign_file_is_not_put_back(filled, tmp_path):
    """Each is named with what is wrong; the store stays."""
    damaged = back_up(tmp_path)
    content = bytearray(damaged.read_bytes())
    content[8_192:40_960] = b"\xff" * 32_768
    damaged.write_bytes(content)
    with contextlib.closing(sqlite3.connect(tmp_path / "other.db")) as other:
        other.execute("CREATE TABLE letters (text)")
    (tmp_path / "letter.txt").write_text("Dear editor, " * 1_000)

    for name, reason in (
        ("copy.db", "damaged"),
        ("other.db", "not one of digest-bot"),
        ("letter.txt", "no database"),
        ("nothing.db", "not there"),
        ("bot.db", "itself"),
    ):
        with pytest.raises(UsageError, match=reason):
            copies.restore(tmp_path / name, tmp_path / "bot.db", NOW, told)
    assert statuses(tmp_path / "bot.db") == {"sent": "sent", "open": "pending"}
    assert list(tmp_path.glob("*.partial*")) == []


def test_a_copy_that_cannot_be_written_leaves_nothing(filled, tmp_path):
    """And says where."""
    with pytest.raises(UsageError, match="cannot be written"):
        copies.back_up(tmp_path / "bot.db", tmp_path / "nowhere" / "copy.db", told)

    assert not (tmp_path / "nowhere").exists()


def test_only_its_owner_reads_a_copy(filled, tmp_path):
    """It holds addresses and secrets, and is one file, whole by itself."""
    copy = back_up(tmp_path)

    assert copy.stat().st_mode & 0o077 == 0
    assert sorted(path.name for path in tmp_path.glob("copy*")) == ["copy.db"]


def test_to_look_at_revisions_changes_nothing(tmp_path):
    """Not even a file is made."""
    found = revisions.look(f"sqlite:///{tmp_path}/new/bot.db")

    assert (found.current, found.newest, list(tmp_path.iterdir())) == (None, newest_revision(), [])
