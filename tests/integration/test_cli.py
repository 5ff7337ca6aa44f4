"""The command line as an operator types it: answers on stdout, one line with the cure on stderr."""

import contextlib
import io
import json
import logging
import os
import subprocess
import sys
from pathlib import Path
from unittest import mock

import pytest

from bot.cli import main
from bot.serving import listen
from tests.integration.bot_process import ROOT, clean_environ, write_config

DIGEST = """灯塔日报（3月8-9日学术篇）

学习

流水线气泡该怎么填

多机训练时，前一级还没算完，后一级只能等着，这段空转就叫气泡。

https://read.example.com/p/1

三步看懂采样温度

这篇短文用掷骰子的比方解释温度的作用。

https://read.example.com/p/2
"""


def bot(
    *words: str, cwd: Path, config: str = "config.toml", stdin: str = "", **environ: str
) -> subprocess.CompletedProcess[str]:
    """One command, run here: a process of its own would spend its time on imports."""
    said, told = io.StringIO(), io.StringIO()
    root, typed = logging.getLogger(), io.StringIO(stdin)
    handlers, level = root.handlers[:], root.level
    with (
        contextlib.chdir(cwd),
        mock.patch.dict(os.environ, {**clean_environ(), **environ}, clear=True),
        mock.patch.object(sys, "argv", ["digest-bot", "-c", config, *words]),
        mock.patch.object(sys, "stdin", typed),
        contextlib.redirect_stdout(said),
        contextlib.redirect_stderr(told),
    ):
        code = 0
        try:
            main()
        except SystemExit as exc:
            code = int(exc.code or 0)
        finally:
            root.handlers[:], root.level = handlers, level
    return subprocess.CompletedProcess(words, code, said.getvalue(), told.getvalue())


def answer(*words: str, cwd: Path) -> dict:
    done = bot(*words, "--json", cwd=cwd)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture
def home(tmp_path):
    """A folder with a digest and a configuration whose port is taken."""
    with contextlib.closing(listen("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        write_config(tmp_path / "config.toml", sandbox_port=port, bot_port=port)
        (tmp_path / "digest.txt").write_text(DIGEST, encoding="utf-8")
        yield tmp_path


def test_help_is_quick_because_it_loads_nothing_heavy():
    """No SDK, no database, no template engine for a page of help."""
    script = (
        "import sys; sys.argv = ['digest-bot', '--help']\n"
        "try:\n    from bot.cli import main; main()\nexcept SystemExit: pass\n"
        "heavy = {'lark_oapi', 'sqlalchemy', 'alembic', 'jinja2', 'httpx', 'starlette', 'uvicorn', 'msgspec',"
        " 'prometheus_client'}\n"
        "sys.exit(repr(heavy & set(sys.modules)) if heavy & set(sys.modules) else 0)"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=False)

    assert (done.returncode, done.stderr) == (0, "")
    assert "publish" not in done.stdout or "edition" in done.stdout


def test_check_tells_how_a_digest_was_understood(home):
    """The contract's shape, without any configuration."""
    found = answer("digest", "check", "digest.txt", "--received-at", "2025-03-10T08:00:00+08:00", cwd=home)

    (digest,) = found["digests"]
    assert (digest["day"], digest["day_end"], digest["label"]) == ("2025-03-08", "2025-03-09", "学术篇")
    assert [item["url"] for item in digest["sections"][0]["items"]] == [
        "https://read.example.com/p/1",
        "https://read.example.com/p/2",
    ]


def test_check_for_people_is_an_outline(home):
    """Numbered titles with the host of each link."""
    done = bot("digest", "check", "digest.txt", "--received-at", "2025-03-10", cwd=home)

    assert "1. 流水线气泡该怎么填  [read.example.com]" in done.stdout


def test_cards_are_rendered_and_written(home):
    """JSON to send and a page to look at, per part."""
    found = answer("card", "render", "digest.txt", "--out", "out", cwd=home)

    assert found["cards"][0]["schema"] == "2.0"
    assert found["bytes"][0] < 28_000
    assert json.loads((home / "out/part-1.json").read_text(encoding="utf-8")) == found["cards"][0]
    assert "流水线气泡该怎么填" in (home / "out/part-1.html").read_text(encoding="utf-8")


def test_from_a_file_to_the_ledger(home):
    """Import, subscribe, publish, look: each answer in the contract's shape."""
    (home / "people.csv").write_text("﻿kind,id,series,name\nuser,ou_1,ai,读者甲\ngroup,oc_1,ai,\n", encoding="utf-8")
    bot("digest", "import", "digest.txt", "--series", "ai", "--received-at", "2025-03-10", cwd=home)

    assert answer("subscriber", "import", "people.csv", cwd=home) == {"new": 2, "existing": 0}
    assert answer("subscriber", "import", "people.csv", cwd=home) == {"new": 0, "existing": 2}
    added = answer("subscriber", "add", "--kind", "user", "--id", "ou_2", "--series", "ai", cwd=home)
    assert added == {"new": 1, "existing": 0}
    name = "ai/2025-03-08-学术篇"
    assert [row["edition"] for row in answer("edition", "list", cwd=home)["editions"]] == [name]
    assert answer("edition", "publish", "ai/latest", "--dry-run", cwd=home)["push"] is None
    pushed = answer("edition", "publish", "ai/latest", "--yes", cwd=home)
    assert (pushed["edition"], pushed["receivers"], pushed["parts"], pushed["skipped"]) == (name, 3, 3, {})
    assert answer("edition", "publish", "ai/latest", cwd=home)["push"] == pushed["push"], "again changes nothing"
    rows = answer("delivery", "list", "--status", "pending", cwd=home)["deliveries"]
    assert {(row["receiver_kind"], row["receiver"]) for row in rows} == {
        ("user", "ou_1"),
        ("group", "oc_1"),
        ("user", "ou_2"),
    }
    status = answer("status", cwd=home)
    assert status["outbox"] == {"pending": 3}
    assert status["subscribers"] == {"user": {"active": 2}, "group": {"active": 1}, "webhook": {}}


def test_lists_have_pages(home):
    """`--limit` and `--after` walk through everything once."""
    (home / "people.csv").write_text(
        "kind,id,series\n" + "".join(f"user,ou_{n},ai\n" for n in range(5)), encoding="utf-8"
    )
    bot("subscriber", "import", "people.csv", cwd=home)

    seen, after = [], 0
    while after is not None:
        page = answer("subscriber", "list", "--limit", "2", "--after", str(after), cwd=home)
        seen += [row["id"] for row in page["subscribers"]]
        after = page["next"]

    assert seen == [f"ou_{n}" for n in range(5)]


def test_publishing_to_many_asks_first(home):
    """Without a terminal there is nobody to ask: it refuses and says how."""
    for person in ("ou_1", "ou_2"):
        bot("subscriber", "add", "--kind", "user", "--id", person, "--series", "ai", cwd=home)
    bot("digest", "import", "digest.txt", "--series", "ai", "--received-at", "2025-03-10", cwd=home)

    done = bot("edition", "publish", "ai/latest", cwd=home)

    assert done.returncode == 1
    assert "--yes" in done.stderr
    assert answer("delivery", "list", cwd=home)["deliveries"] == []


@pytest.mark.parametrize(
    ("words", "code", "hint"),
    [
        (["digest", "check", "missing.txt"], 1, "does not exist"),
        (["digest", "check", "."], 1, "is a folder"),
        (["digest", "check", "binary.txt"], 1, "text"),
        (["digest", "check", "empty.txt"], 1, "empty"),
        (["digest", "check", "digest.txt", "--timezone", "Moon"], 2, "time zone"),
        (["digest", "check", "digest.txt", "--received-at", "gestern"], 2, "ISO"),
        (["card", "render", "missing.txt"], 1, "does not exist"),
        (["card", "render", "digest.txt", "--density", "huge"], 2, "brief"),
        (["digest", "import", "digest.txt", "--series", "nope"], 2, "known: ai"),
        (["digest", "import", "undated.txt", "--series", "ai"], 1, "no day"),
        (["edition", "publish", "ai/2099-01-01"], 1, "edition list"),
        (["edition", "publish", "nonsense"], 1, "SERIES/SLUG"),
        (["edition", "publish", "nope/latest"], 2, "known: ai"),
        (["subscriber", "import", "missing.csv"], 1, "cannot be read"),
        (["subscriber", "import", "bad.csv"], 1, "bad.csv:3"),
        (["subscriber", "add", "--kind", "user", "--id", "oc_1", "--series", "ai"], 1, "ou_"),
        (["delivery", "list", "--edition", "ai/none"], 1, "edition list"),
        (["frobnicate"], 2, "frobnicate"),
        (["run"], 2, "cannot be opened"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_bad_input_gets_one_line_with_the_cure(home, words, code, hint):
    """Exit 1 or 2, one line on stderr, never a traceback."""
    (home / "binary.txt").write_bytes(bytes(range(256)) * 20)
    (home / "empty.txt").write_bytes(b"")
    (home / "undated.txt").write_text(DIGEST.replace("（3月8-9日学术篇）", ""), encoding="utf-8")
    (home / "bad.csv").write_text("kind,id,series\nuser,ou_1,ai\nuser,1,ai\n", encoding="utf-8")

    done = bot(*words, cwd=home)

    assert done.returncode == code, done.stderr
    assert hint in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert done.stdout == ""


@pytest.mark.parametrize(
    ("text", "hint"),
    [("[feishu", "not valid TOML"), ("[feishu]\napp_idd = 1", "did you mean app_id"), (None, "does not exist")],
)
def test_a_bad_configuration_is_named(tmp_path, text, hint):
    """Exit 2 with the key."""
    if text is not None:
        (tmp_path / "config.toml").write_text(text, encoding="utf-8")

    done = bot("status", cwd=tmp_path)

    assert done.returncode == 2
    assert hint in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_a_refused_digest_is_an_error_object_in_json(home):
    """Never `digests: []`."""
    (home / "empty.txt").write_bytes(b"\xef\xbb\xbf \n")

    done = bot("digest", "check", "empty.txt", "--json", cwd=home)

    assert done.returncode == 1
    assert set(json.loads(done.stdout)["error"]) == {"code", "message", "line"}
