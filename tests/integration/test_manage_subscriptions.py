"""What an operator does with subscriptions, on both databases."""

import io
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.cli.roster_file import rows_of, write_csv
from bot.domain.audience import Density, Kind, Receiver, Selection, SubscriptionStatus
from bot.domain.errors import UsageError
from bot.domain.webhooks import checked_address, shown
from bot.services import manage, subscriptions
from bot.services.roster import read_row, write_row
from bot.store import subscribers, webhooks
from bot.store.subscribers import NewSubscription, Subscription
from tests.integration.conftest import SERIES, on_both
from tests.integration.test_manage_retry import leave

NOW = datetime(2025, 3, 10, tzinfo=UTC)
PLATFORM = "https://open.feishu.cn"
TOKEN = "0123abcd-4567-89ab-cdef-0123456789ab"
ADDRESS = f"{PLATFORM}/open-apis/bot/v2/hook/{TOKEN}"
HEAD = "kind,id,series,name,sections,density,slot,secret\n"


def read(store, text):
    content = text if isinstance(text, bytes) else text.encode()
    rows = rows_of(Path("people.csv"), io.BufferedReader(io.BytesIO(content)), [SERIES], PLATFORM)
    return manage.import_subscriptions(store, rows, NOW)


def standings(store):
    return {row.receiver.id: row.status for row in store.read_now(subscribers.page, None, 9, 0)}


@pytest.mark.parametrize(
    ("row", "hint"),
    [
        ("user,ou_3,nope,,,,,", "known: ai"),
        ("fax,ou_3,ai,,,,,", "user, group, webhook"),
        ("user,oc_3,ai,,,,,", "ou_"),
        ("user,ou_3;DROP,ai,,,,,", "ou_"),
        ("user,ou_3,ai,,,huge,,", "brief, standard, full"),
        ("user,ou_3,ai,,,,8:05,", "HH:MM"),
        ("user,ou_3,ai,,,,24:00,", "HH:MM"),
        ("user,ou_3,ai,,,,,s3cret", "only a webhook"),
        ("user,ou_3,ai,甲,乙,,,,,", "quote"),
        (f"webhook,{ADDRESS}/x,ai,,,,,", "copy it"),
        (f"webhook,{ADDRESS.replace('.cn', '.cn:8443')},ai,,,,,", "port"),
        ("webhook,https://me@open.feishu.cn/open-apis/bot/v2/hook/x,ai,,,,,", "copy it"),
        ("webhook,oc_3,ai,,,,,", "copy it"),
    ],
)
def test_a_row_is_refused_with_its_line_and_the_cure(store, row, hint):
    """What stands before it is in."""
    with pytest.raises(UsageError) as refusal:
        read(store, f"{HEAD}user,ou_1,ai,,,,,\n{row}\n")

    assert all(part in str(refusal.value) for part in ("people.csv:3:", hint, "1 rows before it are in"))
    assert set(standings(store)) == {"ou_1"}


@pytest.mark.parametrize(
    ("content", "hint"),
    [
        (b"kind;id;series\nuser;ou_1;ai\n", "column kind, id, series is missing"),
        (b"", "column kind, id, series is missing"),
        ("kind,id,series,name\nuser,ou_1,ai,读者甲\n".encode("gbk"), "UTF-8"),
        (b"kind,id,series,name\nuser,ou_1,ai," + b"x" * 200_000, "export it again"),
    ],
)
def test_a_file_that_is_no_such_csv_is_refused(store, content, hint):
    """Whatever the bytes."""
    with pytest.raises(UsageError, match=hint):
        read(store, content)


@on_both
def test_a_name_and_a_secret_that_are_given_replace_the_old_ones(store):
    """And what is not given stays; twice in one file the last one that says something counts."""
    kept = []
    for name, secret in (("一组", "old"), ("", ""), ("二组", "new")):
        read(store, f"{HEAD}webhook,{ADDRESS},ai,{name},,,,{secret}\nwebhook,{ADDRESS},ai,,,,,\n")
        (row,) = store.read_now(subscribers.page, None, 9, 0)
        kept.append((row.name, store.read_now(webhooks.secret_of, ADDRESS)))

    assert kept == [("一组", "old"), ("一组", "old"), ("二组", "new")]


@on_both
def test_who_has_left_comes_back_only_by_themselves(store):
    """No operator subscribes them again; whom an operator removed, an operator may."""
    left, removed = (Receiver(Kind.USER, name) for name in ("ou_1", "ou_2"))
    read(store, f"{HEAD}user,ou_1,ai,,,,,\nuser,ou_2,ai,,,,,\n")
    store.write_now(leave, left)
    subscriptions.remove(store, removed, None, NOW, "cli")

    assert subscriptions.resume(store, removed, None, NOW, "cli")["changed"] == [SERIES]
    with pytest.raises(UsageError, match="only they can come back"):
        subscriptions.resume(store, left, None, NOW, "cli")
    assert standings(store) == {"ou_1": SubscriptionStatus.UNSUBSCRIBED, "ou_2": SubscriptionStatus.ACTIVE}


@on_both
def test_a_pause_of_an_operator_takes_the_place_of_another_one(store):
    """What a refusal had paused is the operator's from then on, and is lifted by a resume."""
    person = Receiver(Kind.USER, "ou_1")
    read(store, f"{HEAD}user,ou_1,ai,,,,,\n")
    store.write_now(subscribers.pause, person, "用户停用了机器人", NOW)

    subscriptions.pause(store, person, SERIES, NOW, "cli")
    (paused,) = store.read_now(subscribers.page, None, 9, 0)
    subscriptions.resume(store, person, SERIES, NOW, "cli")
    (resumed,) = store.read_now(subscribers.page, None, 9, 0)

    assert (paused.status, paused.reason) == (SubscriptionStatus.PAUSED, "管理员暂停")
    assert (resumed.status, resumed.reason) == (SubscriptionStatus.ACTIVE, None)


def test_two_webhooks_that_look_alike_are_not_confused(store):
    """What is shown has to mean one; else the whole address is asked for."""
    other = ADDRESS.replace("0123abcd", "ffffffff")
    read(store, f"{HEAD}webhook,{ADDRESS},ai,,,,,\nwebhook,{other},ai,,,,,\n")

    with pytest.raises(UsageError, match="2 webhooks"):
        subscriptions.find(store, "open.feishu.cn…89ab", PLATFORM)
    assert subscriptions.find(store, other, PLATFORM) == Receiver(Kind.WEBHOOK, other)


@pytest.mark.parametrize(
    ("text", "platform", "kept"),
    [
        (f" {ADDRESS} ", PLATFORM, ADDRESS),
        (ADDRESS.replace("https://open", "HTTPS://Open").replace(".cn/", ".cn:443/"), PLATFORM, ADDRESS),
        ("https://open.larksuite.com/open-apis/bot/v2/hook/aB_1", PLATFORM, None),
        ("http://127.0.0.1:9/open-apis/bot/v2/hook/aB_1", PLATFORM, None),
        ("http://[::1]:9/open-apis/bot/v2/hook/aB_1", PLATFORM, None),
        ("http://feishu.test:8001/open-apis/bot/v2/hook/aB_1", "http://feishu.test:8001", None),
    ],
)
def test_an_address_is_kept_in_one_spelling(text, platform, kept):
    """Without TLS only on this machine and beside the platform's own API; the token stays as it is."""
    assert checked_address(text, platform) == (kept or text)


def test_a_short_token_is_not_shown_by_its_end():
    """Four of six characters would give it away."""
    assert shown(Receiver(Kind.WEBHOOK, "https://h.cn/open-apis/bot/v2/hook/abcdef")) == "h.cn…"


words = st.text(st.characters(blacklist_categories=("Cs", "Cc")), max_size=20).map(lambda text: " ".join(text.split()))
section_names = words.map(lambda text: text.replace("|", "").strip()).filter(bool)


@given(words, st.frozensets(section_names, max_size=3), st.sampled_from(Density), st.sampled_from([None, "00:00"]))
def test_what_is_written_is_read_back_the_same(name, sections, density, slot):
    """Commas, quotes, formulas, emoji: a file carries them all."""
    receiver = Receiver(Kind.WEBHOOK, ADDRESS)
    kept = Subscription(
        1,
        receiver,
        name,
        SERIES,
        SubscriptionStatus.ACTIVE,
        None,
        Selection(sections, density, Kind.WEBHOOK),
        slot,
        NOW,
    )
    out = io.StringIO(newline="")
    write_csv(out, [write_row(kept, "s3cret")])

    back = rows_of(Path("x"), io.BufferedReader(io.BytesIO(out.getvalue().encode())), [SERIES], PLATFORM)

    assert list(back) == [NewSubscription(receiver, SERIES, name, sections, density, slot, "s3cret")]


def test_a_row_may_be_short():
    """Only the first three columns are needed."""
    row = read_row({"kind": "group", "id": "oc_1", "series": SERIES}, [SERIES], PLATFORM)

    assert row == NewSubscription(Receiver(Kind.GROUP, "oc_1"), SERIES)
