"""Subscribers at the command line: in and out as CSV, paused, resumed, removed."""

import contextlib
import csv
import io
import json

import pytest
from sqlalchemy import select

from bot.store import webhooks
from bot.store.engine import Store
from bot.store.tables import audit
from tests.integration.bot_process import write_config
from tests.integration.test_cli import DIGEST, answer, bot

TOKEN = "0123abcd-4567-89ab-cdef-0123456789ab"
ADDRESS = f"https://open.feishu.cn/open-apis/bot/v2/hook/{TOKEN}"
SHOWN = "open.feishu.cn…89ab"


@pytest.fixture
def home(tmp_path):
    """A folder with a configuration and a digest."""
    write_config(tmp_path / "config.toml", sandbox_port=9, bot_port=9)
    (tmp_path / "digest.txt").write_text(DIGEST, encoding="utf-8")
    return tmp_path


@contextlib.contextmanager
def store_of(home):
    with contextlib.closing(Store(f"sqlite:///{home}/bot.db")) as store:
        yield store


def write(home, text, name="people.csv"):
    (home / name).write_bytes(text.encode())
    return name


def rows(home):
    return list(csv.DictReader(io.StringIO(bot("subscriber", "export", cwd=home).stdout)))


def listed(home):
    return {row["id"]: row for row in answer("subscriber", "list", cwd=home)["subscribers"]}


def test_what_comes_in_goes_out_again(home):
    """Columns in any order, a mark in front, quotes and line breaks of other systems; an export is an import."""
    write(
        home,
        "\ufeffseries,ID ,kind,slot,density,name,sections,secret\r\n"
        'ai,ou_1,user,08:05,brief,"读者甲, 编辑",学习|论文,\r\n'
        "ai,oc_1,group,,,'=1+1,,\r\n"
        f"ai,{ADDRESS},webhook,,full,二组,,s3cret\r\n"
        "ai,ou_1,user,,,,,\r\n",
    )

    assert answer("subscriber", "import", "people.csv", cwd=home) == {"new": 3, "existing": 1}

    expected = [
        ["user", "ou_1", "ai", "读者甲, 编辑", "学习|论文", "brief", "08:05", ""],
        ["group", "oc_1", "ai", "'=1+1", "", "standard", "", ""],
        ["webhook", ADDRESS, "ai", "二组", "", "full", "", "s3cret"],
    ]
    assert [list(row.values()) for row in rows(home)] == expected
    assert listed(home)["oc_1"]["name"] == "=1+1", "what a spreadsheet would take for a formula is quoted outside only"
    assert json.loads(bot("subscriber", "export", "--json", cwd=home).stdout) == {"subscribers": rows(home)}

    written = answer("subscriber", "export", "all.csv", cwd=home)
    (home / "bot.db").rename(home / "elsewhere.db")
    answer("subscriber", "import", "all.csv", cwd=home)
    assert written == {"file": "all.csv", "subscriptions": 3}
    assert [list(row.values()) for row in rows(home)] == expected
    assert (home / "all.csv").stat().st_mode & 0o077 == 0, "it holds secrets"


def test_an_export_says_what_it_holds_and_replaces_nothing_unasked(home):
    """Who keeps it has to know; who has left is not in it."""
    write(home, f"kind,id,series\nwebhook,{ADDRESS},ai\nuser,ou_1,ai\nuser,ou_2,ai\n")
    bot("subscriber", "import", "people.csv", cwd=home)
    bot("subscriber", "remove", "ou_2", cwd=home)
    bot("subscriber", "pause", "ou_1", cwd=home)

    done = bot("subscriber", "export", "all.csv", cwd=home)
    again = bot("subscriber", "export", "all.csv", cwd=home)

    assert [row["id"] for row in rows(home)] == [ADDRESS, "ou_1"]
    assert ("1 webhooks" in done.stderr, "1 are paused" in done.stderr) == (True, True)
    assert (again.returncode, "--yes" in again.stderr) == (1, True)
    assert bot("subscriber", "export", "all.csv", "--yes", cwd=home).returncode == 0


def test_a_webhook_is_shown_but_not_given_away(home):
    """Its address writes to a group for whoever reads it: no list, no record, no message has it, nor the secret."""
    done = bot(
        *("subscriber", "add", "--kind", "webhook", "--series", "ai", "--id", ADDRESS, "--secret", "-"),
        cwd=home,
        stdin="s3cret\n",
    )
    told = [
        done,
        bot("subscriber", "add", "--kind", "webhook", "--series", "ai", "--id", f"{ADDRESS}?x=1", cwd=home),
        bot("subscriber", "list", cwd=home),
        bot("subscriber", "list", "--json", cwd=home),
        bot("subscriber", "pause", SHOWN, cwd=home),
        bot("subscriber", "resume", ADDRESS, "--json", cwd=home),
        bot("digest", "import", "digest.txt", "--series", "ai", "--received-at", "2025-03-10", cwd=home),
        bot("edition", "publish", "ai/latest", cwd=home),
        bot("delivery", "list", "--json", cwd=home),
        bot("delivery", "list", "--receiver", SHOWN, cwd=home),
    ]

    assert [one.returncode for one in told] == [0, 1, 0, 0, 0, 0, 0, 0, 0, 0], [one.stderr for one in told]
    assert all(SHOWN in one.stdout for one in (*told[2:6], *told[8:]))
    with store_of(home) as store:
        records = str(store.read_now(lambda tx: tx.execute(select(audit)).all()))
        assert store.read_now(webhooks.secret_of, ADDRESS) == "s3cret"
    everything = records + "".join(one.stdout + one.stderr for one in told)
    assert [word for word in (TOKEN, "s3cret") if word in everything] == []


def test_an_operator_pauses_resumes_and_removes(home):
    """Twice is once; what waits is cancelled; an import brings nobody back, a resume does."""
    write(home, "kind,id,series\nuser,ou_1,ai\nuser,ou_2,ai\n")
    bot("subscriber", "import", "people.csv", cwd=home)
    bot("digest", "import", "digest.txt", "--series", "ai", "--received-at", "2025-03-10", cwd=home)
    bot("edition", "publish", "ai/latest", "--yes", cwd=home)

    def word(action, one):
        return answer("subscriber", action, one, "--series", "ai", cwd=home)["changed"]

    assert [word("pause", "ou_1"), word("pause", "ou_1"), word("remove", "ou_2")] == [["ai"], [], ["ai"]]
    states = {one["id"]: (one["status"], one["reason"]) for one in listed(home).values()}
    assert states == {"ou_1": ("paused", "管理员暂停"), "ou_2": ("unsubscribed", "管理员移除")}
    waiting = answer("delivery", "list", cwd=home)["deliveries"]
    assert {(one["status"], one["reason"]) for one in waiting} == {
        ("cancelled", reason) for _, reason in states.values()
    }
    assert answer("subscriber", "import", "people.csv", cwd=home) == {"new": 0, "existing": 2}
    assert [word("resume", "ou_1"), word("resume", "ou_2")] == [["ai"], ["ai"]]
    assert {one["status"] for one in listed(home).values()} == {"active"}
    with store_of(home) as store:
        done = store.read_now(lambda tx: tx.execute(select(audit.c.action, audit.c.target)).all())
    assert done[-4:] == [
        ("pause", "ai:user:ou_1"),
        ("remove", "ai:user:ou_2"),
        ("resume", "ai:user:ou_1"),
        ("resume", "ai:user:ou_2"),
    ]


def test_a_bad_row_is_named_and_what_stands_before_it_is_in(home):
    """The line, the cure, and how to go on; mended, the file is imported again as a whole."""
    good = "kind,id,series\nuser,ou_1,ai\nuser,ou_2,ai\n"
    write(home, f"{good}webhook,{ADDRESS.replace('https', 'http')},ai\nuser,ou_4,ai\n")

    done = bot("subscriber", "import", "people.csv", cwd=home)

    assert (done.returncode, done.stdout) == (1, "")
    (line,) = done.stderr.strip().splitlines()
    assert all(part in line for part in ("people.csv:4:", "https", "2 rows before it are in", "import the file again"))
    assert TOKEN not in line
    assert set(listed(home)) == {"ou_1", "ou_2"}
    write(home, f"{good}user,ou_4,ai\n")
    assert answer("subscriber", "import", "people.csv", cwd=home) == {"new": 1, "existing": 2}


def test_long_work_tells_how_far_it_is(home):
    """A line for each tenth on stderr, and one document on stdout; a column that is not used is said."""
    people = "".join(f"user,ou_{number},ai,-\n" for number in range(12_000))
    write(home, f"kind,id,series,birthday\n{people}")

    done = bot("subscriber", "import", "people.csv", "--json", cwd=home)

    assert json.loads(done.stdout) == {"new": 12_000, "existing": 0}
    first, *steps = done.stderr.splitlines()
    assert "birthday" in first
    assert steps
    assert all(step.startswith("imported ") and step.endswith("0 %") for step in steps)


def test_an_unknown_receiver_is_said(home):
    """With where to look."""
    done = [bot("subscriber", "pause", one, cwd=home) for one in ("ou_9", "somebody", ADDRESS)]

    assert [(one.returncode, "subscriber list" in one.stderr) for one in done] == [(1, True)] * 3
