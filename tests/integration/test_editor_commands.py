"""The editor's commands as they are typed: what they print, what they ask, and what they change."""

import json

import pytest

from tests.integration.conftest import SERIES
from tests.integration.test_cli import DIGEST, answer, bot, home

__all__ = ["home"]


@pytest.fixture
def published(home):
    """An edition that went out to three people; nothing has been sent yet, as no bot runs."""
    series = SERIES
    rows = "".join(f"user,ou_{number},{series}\n" for number in range(3))
    (home / "people.csv").write_text("kind,id,series\n" + rows, encoding="utf-8")
    assert bot("subscriber", "import", "people.csv", cwd=home).returncode == 0
    name = imported(home, series, DIGEST)
    assert answer("edition", "publish", name, "--yes", cwd=home)["receivers"] == 3
    return home, series, name


def imported(home, series: str, text: str) -> str:
    (home / "digest.txt").write_text(text, encoding="utf-8")
    words = ("digest", "import", "digest.txt", "--series", series, "--received-at", "2025-03-10")
    return answer(*words, cwd=home)["editions"][0]["edition"]


def test_resend_says_whom_it_leaves_out_and_asks_before_many(published):
    """The shape of the contract; without a terminal it wants `--yes`; a dry run changes nothing."""
    home, series, name = published
    (home / "more.csv").write_text(f"kind,id,series\nuser,ou_8,{series}\nuser,ou_9,{series}\n", encoding="utf-8")
    bot("subscriber", "import", "more.csv", cwd=home)

    dry = answer("edition", "resend", name, "--only", "unsent", "--dry-run", cwd=home)
    unasked = bot("edition", "resend", name, "--only", "unsent", cwd=home)
    done = answer("edition", "resend", name, "--only", "unsent", "--yes", cwd=home)
    again = answer("edition", "resend", name, "--only", "unsent", "--yes", cwd=home)

    assert set(dry) == {"edition", "push", "receivers", "parts", "skipped", "estimate_s"}
    assert (dry["push"], dry["receivers"], dry["skipped"]) == (None, 2, {"on_its_way": 3})
    assert unasked.returncode == 1
    assert "--yes" in unasked.stderr
    assert (done["receivers"], again["receivers"]) == (2, 0)
    assert bot("edition", "resend", name, cwd=home).returncode == 2
    assert "no id" in bot("edition", "resend", name, "--to", "someone", cwd=home).stderr


def test_correct_shows_what_changed_and_turns_what_waits(published):
    """Nothing was delivered yet, so that no message has to be changed."""
    home, series, name = published
    imported(home, series, DIGEST.replace("三步看懂采样温度", "四步看懂采样温度"))

    seen = bot("edition", "correct", name, "--dry-run", cwd=home)
    done = answer("edition", "correct", name, "--yes", cwd=home)

    assert "~ 四步看懂采样温度" in seen.stdout
    assert (done["messages"], done["unsent"], done["revision"]) == (0, 3, 2)
    assert answer("edition", "correct", name, "--yes", cwd=home)["unsent"] == 0


def test_recall_holds_and_release_lets_it_go_on(published):
    """What waited is not sent; the edition says so."""
    home, _, name = published

    assert answer("edition", "recall", name, "--yes", cwd=home)["unsent"] == 3
    shown = answer("edition", "show", name, cwd=home)
    assert shown["state"] == "held"
    assert [push["messages"] for push in shown["pushes"]] == [{"cancelled": 3}]
    assert "held" in bot("edition", "resend", name, "--only", "failed", cwd=home).stderr
    assert "is publishing" in bot("edition", "release", name, cwd=home).stdout
    assert "is held" in bot("edition", "hold", name, cwd=home).stdout
    assert "was held already" in bot("edition", "hold", name, cwd=home).stdout


def test_preview_writes_the_cards_and_sends_them_to_one_person(published):
    """At each density; a look counts as no delivery of the edition."""
    home, _, name = published

    brief = answer("edition", "preview", name, "--density", "brief", "--out", "cards", cwd=home)
    bot("edition", "preview", name, "--to", "ou_77", cwd=home)
    rows = answer("delivery", "list", cwd=home)["deliveries"]

    assert json.loads((home / "cards" / "part-1.json").read_text(encoding="utf-8")) == brief["cards"][0]
    assert "流水线" in (home / "cards" / "part-1.html").read_text(encoding="utf-8")
    assert [row["edition"] for row in rows if row["receiver"] == "ou_77"] == [None]
