"""What tells how the bot is: `/healthz`, `/readyz` and `/metrics`, in all the ways in which it may not be well."""

import asyncio
import contextlib
import json
import sqlite3
from collections import Counter
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import msgspec
import pytest
from prometheus_client import Metric
from prometheus_client.parser import text_string_to_metric_families
from sqlalchemy import make_url, text

from bot.app import Role, running
from bot.assembly import assemble, web_of
from bot.domain.delivery import Status
from bot.domain.inbound import Answer, BotRemoved, Inbound, Unknown
from bot.feishu import signature
from bot.feishu.client import FeishuClient
from bot.feishu.hooks import HookSender
from bot.feishu.link import Link
from bot.leader import Leader
from bot.sandbox.link_faults import LinkFault
from bot.services.arrivals import MOST_NAMES, Arrivals
from bot.serving import listen, serving
from bot.store import lease, ledger, pauses, quota
from bot.store.engine import Store
from tests.campaign import stage
from tests.integration.conftest import House, free_port, make_house, on_both, on_postgres, until
from tests.integration.test_link import Service, clock_of

pytestmark = pytest.mark.anyio
Samples = dict[tuple[str, ...], float]
MINUTE_S = 60


@contextlib.asynccontextmanager
async def process(
    house: House, *, port: int = 0, link: Link | None = None, clock: Callable[[], datetime] | None = None
) -> AsyncIterator[httpx.AsyncClient]:
    """A process that serves the web and runs no loop. `port`: the house's own if not said."""
    feishu, port = house.settings.feishu, port or house.bot_port

    async def no_secret(_: str) -> None:
        return None

    async with (
        FeishuClient(feishu.base_url, feishu.app_id, feishu.app_secret) as client,
        HookSender(feishu.base_url, no_secret) as hooks,
    ):
        with contextlib.closing(Store(house.settings.store.url)) as store:
            parts = assemble(house.settings, store, client, hooks, clock or house.clock)
            async with serving(web_of(replace(parts, link=link)), listen("127.0.0.1", port)), web(port) as http:
                yield http


def web(port: int) -> httpx.AsyncClient:
    return httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", trust_env=False, timeout=60)


async def readiness(http: httpx.AsyncClient) -> tuple[int, dict[str, Any], dict[str, Any]]:
    """Status, the checks, the facts."""
    answer = await http.get("/readyz")
    checks = answer.json()
    return answer.status_code, checks, checks.pop("facts")


async def until_it_is(http: httpx.AsyncClient, check: str) -> None:
    """Ask until a check is true; fails loudly if it never is."""
    async with asyncio.timeout(60):
        while not (await readiness(http))[1][check]:
            pass


async def families(http: httpx.AsyncClient) -> list[Metric]:
    """What is exposed: every sample of a family that is declared once, with its type, under our own prefix."""
    answer = await http.get("/metrics")
    assert (answer.status_code, answer.headers["content-type"]) == (200, "text/plain; version=0.0.4; charset=utf-8")
    found = list(text_string_to_metric_families(answer.text))
    assert [name for name, n in Counter(one.name for one in found).items() if n > 1] == []
    assert [one.name for one in found if one.type in {"untyped", "unknown"}] == []
    assert [one.name for one in found if not one.name.startswith("digest_bot_")] == []
    return found


async def scrape(http: httpx.AsyncClient) -> Samples:
    """Values by name, without the prefix, and the values of the labels."""
    samples = [sample for family in await families(http) for sample in family.samples]
    return {(one.name.removeprefix("digest_bot_"), *one.labels.values()): one.value for one in samples}


@on_both
async def test_a_bot_at_work_is_ready_and_says_what_it_did(house):
    """Every check, the facts beside them, and the figures of a push."""
    people = house.people(3)
    await stage.plan(house)
    async with house.bot(), web(house.bot_port) as http:
        await until(lambda: stage.is_final(house))
        status, checks, facts = await readiness(http)
        said = await scrape(http)
        alive = await http.get("/healthz")

    sent_at = house.store.read_now(ledger.last_sent)
    assert (alive.status_code, alive.json()) == (200, {"ok": True})
    assert (status, checks) == (200, {"database": True, "queue": True, "sender": True, "scheduler": True})
    assert facts["last_success_at"] == sent_at.isoformat(timespec="seconds")
    assert (facts["leads"], facts["paused"], facts["oldest_due_s"]) == (True, None, 0)
    assert said["last_success_timestamp_seconds",] == pytest.approx(sent_at.timestamp())
    assert said["schema_version",] == int(facts["revision"]) > 0
    assert {key[1]: n for key, n in said.items() if key[0] == "deliveries" and n} == {"sent": len(people)}
    assert {key[1:]: n for key, n in said.items() if key[0] == "subscriptions" and n} == {("user", "active"): 3}
    assert (said["database_up",], said["queue_paused",], said["leads",]) == (1, 0, 1)


async def test_a_scrape_during_a_push_is_whole(house):
    """Whatever the sender does meanwhile: every delivery stands in one state, and nobody is named."""
    people = house.people(300)
    await stage.plan(house)
    seen = []
    async with house.bot(), web(house.bot_port) as http:
        while not stage.is_final(house):
            house.clock.advance(15)  # counts are as old as that at most
            said = await scrape(http)
            seen.append({key[1]: n for key, n in said.items() if key[0] == "deliveries" and n})
        told = (await http.get("/metrics")).text + (await http.get("/readyz")).text

    assert any(set(one) > {"sent"} for one in seen), "some were still to come"
    assert {sum(one.values()) for one in seen} == {len(people)}
    assert not [one for one in people if one.id in told]
    assert "读者" not in told


async def test_what_waits_and_why_is_shown(house):
    """A paused queue is not ready, and the longest wait grows; going on makes it ready again."""
    house.people(1)
    await stage.plan(house)
    house.store.write_now(pauses.begin, pauses.QUEUE, 99991401, "这台机器的地址不在白名单里", datetime.now(UTC))
    house.clock.advance(90)
    async with process(house) as http:
        status, checks, facts = await readiness(http)
        said = await scrape(http)
        house.store.write_now(pauses.lift, pauses.QUEUE)
        after = await readiness(http)

    assert (status, checks["database"], checks["queue"]) == (503, True, False)
    assert facts["paused"] == "这台机器的地址不在白名单里"
    assert 90 <= facts["oldest_due_s"] <= said["oldest_due_seconds",] + 1
    assert (said["queue_paused",], said["deliveries", "pending"]) == (1, 1)
    assert after[0] == 200


async def test_the_months_calls_are_shown_with_what_they_may_become(tmp_path):
    """Used, the cap, and the forecast; without a cap there is none to divide by."""
    async with make_house(tmp_path, delivery={"monthly_calls": 10_000}) as house:
        now = house.clock()
        house.store.write_now(quota.add, {"send": 400, "token": 2}, now)
        async with process(house) as http:
            said = await scrape(http)
        delivery = msgspec.structs.replace(house.settings.delivery, monthly_calls=0)
        house.settings = msgspec.structs.replace(house.settings, delivery=delivery)
        async with process(house) as http:
            uncapped = await scrape(http)

    assert (said["calls_used",], said["calls_limit",]) == (402, 10_000)
    assert said["calls_forecast",] >= 402
    assert ("calls_limit",) not in uncapped


async def test_a_series_that_is_late_says_so(house):
    """Its hour has come and its edition has not; what comes next is tomorrow's."""
    house.clock.advance(5 * MINUTE_S)
    async with process(house) as http:
        said = await scrape(http)

    until_next_s = said["next_push_timestamp_seconds", "ai"] - house.clock().timestamp()
    assert said["series_late", "ai"] == 1
    assert 23 * 3600 < until_next_s < 24 * 3600


async def test_counts_are_taken_anew_after_some_seconds_only(house):
    """They look at every row: who asks without end must not keep the database busy."""
    house.people(1)
    async with process(house) as http:
        first = await scrape(http)
        house.people(1)
        soon = await scrape(http)
        house.clock.advance(15)
        later = await scrape(http)

    assert [one["subscriptions", "user", "active"] for one in (first, soon, later)] == [1, 1, 2]


async def test_a_sender_that_hangs_is_seen(house):
    """The process lives and answers; its loop does not turn. It goes on: so does the readiness."""
    path = house.settings.store.url.removeprefix("sqlite:///")
    async with house.bot(), web(house.bot_port) as http:
        with contextlib.closing(sqlite3.connect(path)) as other, other:
            other.execute("BEGIN IMMEDIATE")  # nobody else can write
            async with asyncio.timeout(60):
                while (seen := await readiness(http))[1]["sender"] or seen[1]["scheduler"]:
                    house.clock.advance(61)
            late_s = (await scrape(http))["sender_late_seconds",]
            other.execute("ROLLBACK")
        await until_it_is(http, "sender")

    assert (seen[0], seen[1]["database"]) == (503, True)
    assert late_s > 60


@on_postgres
async def test_one_process_leads_for_all_and_a_gap_is_seen(tmp_path, store_url):
    """A process that only serves the web is ready as long as the clock's work is done somewhere."""
    async with (
        make_house(tmp_path, store={"url": store_url}) as house,
        running(house.settings, house.clock, Role.WEB) as app,
        httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://bot") as http,
    ):
        before = await readiness(http)
        assert await Leader(house.store, house.clock).leads()  # another process
        during = await readiness(http)
        house.clock.advance(lease.LASTS.total_seconds() + 9)
        lapsed = await readiness(http)
        house.clock.advance(2)
        gone = await readiness(http)

    assert (before[0], before[1]["scheduler"]) == (503, False)
    assert (during[0], during[1]) == (200, {"database": True, "queue": True, "scheduler": True})
    assert (during[2]["leads"], during[2]["sender_late_s"]) == (False, None)
    assert lapsed[1]["scheduler"], "another one has ten seconds to take over"
    assert (gone[0], gone[1]["scheduler"]) == (503, False)


@on_both
async def test_processes_say_the_same_of_the_database_and_their_own_of_themselves(house):
    """Whichever of them is asked."""
    house.people(2)
    async with process(house) as one, process(house, port=free_port()) as other:
        await house.sandbox.pusher.publish("new.one_v9", {})
        first, second = await scrape(one), await scrape(other)

    own = [key for key in first if first[key] != second.get(key)]
    answers = {f"answer_seconds_{part}" for part in ("bucket", "count", "sum")}
    assert {key[0] for key in own} == {"inbound_total", *answers}
    assert first["inbound_total", "new.one_v9", "unknown_type"] == 1


async def test_what_came_in_is_counted_by_kind_and_outcome(house):
    """Events that nobody knows, known ones of another shape, forged ones, and what is signed but no event."""
    feishu = house.settings.feishu
    person = house.sandbox.client.add_user("读者甲").open_id

    def sealed(plain: bytes, key: str) -> tuple[bytes, dict[str, str]]:
        body = json.dumps({"encrypt": signature.encrypt(feishu.encrypt_key, plain)}).encode()
        stamp = f"{house.clock().timestamp():.0f}"
        signed = {"X-Lark-Signature": signature.sign(stamp, "n", key, body)}
        return body, {**signed, "X-Lark-Request-Timestamp": stamp, "X-Lark-Request-Nonce": "n"}

    async with process(house) as http:
        await house.sandbox.client.open_bot_chat(person)
        for event_type in ("new.one_v9", "new.one_v9", "im.message.receive_v1"):
            assert await house.sandbox.pusher.publish(event_type, {"odd": []})
        own = {"sender": {"sender_id": {"open_id": "ou_bot"}, "sender_type": "app"}, "message": {}}
        own["message"] = {"message_id": "om_1", "chat_id": "oc_1", "chat_type": "group", "message_type": "text"}
        await house.sandbox.pusher.publish("im.message.receive_v1", own)
        answers = [
            (await http.post("/feishu/events", content=body, headers=headers)).status_code
            for body, headers in (
                (b"{}", {}),
                sealed(b"{}", "another key"),
                sealed(b'{"uuid":"1","event":{},"type":"event_callback"}', feishu.encrypt_key),
            )
        ]
        said = await scrape(http)

    assert answers == [401, 401, 200]
    assert {key[1:]: n for key, n in said.items() if key[0] == "inbound_total"} == {
        ("ChatEntered", "known"): 1,
        ("new.one_v9", "unknown_type"): 2,
        ("im.message.receive_v1", "unexpected_shape"): 1,
        ("im.message.receive_v1", "other_bot"): 1,
        ("callback", "refused"): 2,
        ("unreadable", "unexpected_shape"): 1,
    }
    assert said["answer_seconds_count",] == said["answer_seconds_bucket", "+Inf"] == 5


async def test_names_that_nobody_knows_do_not_multiply():
    """Whatever an event calls itself: a few names are counted, the rest together."""

    async def ignore(_: Inbound, __: datetime) -> Answer:
        return Answer()

    arrivals = Arrivals(ignore)
    for name in ["某人说的话", 'a"b\n', "x" * 500, *(f"new.type_v{n}" for n in range(100))]:
        await arrivals.handle(Unknown("e1", name), datetime.now(UTC))

    assert {kind for kind, _ in arrivals.counts} == {"other", *(f"new.type_v{n}" for n in range(MOST_NAMES))}
    assert arrivals.counts["other", "unknown_type"] == 3 + 100 - MOST_NAMES


async def test_an_answer_that_failed_is_counted_and_still_fails():
    """The platform must hear of it, and so must whoever looks."""

    async def fail(_: Inbound, __: datetime) -> Answer:
        raise RuntimeError("broken on purpose")

    arrivals = Arrivals(fail)
    with pytest.raises(RuntimeError):
        await arrivals.handle(BotRemoved("e1", "oc_1", dissolved=True), datetime.now(UTC))

    assert arrivals.counts == {("BotRemoved", "failed"): 1}
    assert sum(arrivals.answers.counts) == 1


async def test_a_long_connection_shows_when_it_last_heard_what(house):
    """Pongs and events; a silent one is red before it is given up, and a new one is counted."""
    service = Service(house, patience_s=10.0)

    def clock() -> datetime:
        return clock_of(service.clock)

    async with service.linked() as link, process(house, link=link, clock=clock) as http:
        up = await readiness(http)
        service.clock.advance(40)
        await house.sandbox.pusher.publish("new.one_v9", {})
        await house.sandbox.pusher.publish("im.message.receive_v1", {})
        service.clock.advance(2)
        heard, said = await readiness(http), await scrape(http)
        house.sandbox.links.faults.add(LinkFault("swallow_pong", times=None))
        wires = set(house.sandbox.links.wires)
        service.clock.advance(100)
        red = link.health(clock() + timedelta(seconds=60))
        service.clock.advance(60)
        await until(lambda: not wires & set(house.sandbox.links.wires))
        house.sandbox.links.faults.clear()
        await until(lambda: service.is_up(link))
        again = await scrape(http)

    assert (up[1]["link"], up[2]["link"]["since_event_s"], up[2]["link"]["reconnects"]) == (True, None, 0)
    facts = heard[2]["link"]
    assert facts["since_pong_s"] >= 42 > facts["since_event_s"] >= 2
    assert (facts["reconnects"], facts["trouble"], said["link_up",], said["link_reconnects_total",]) == (0, "", 1, 0)
    assert said["link_last_event_timestamp_seconds",] - said["link_last_pong_timestamp_seconds",] >= 40
    assert not red.is_up
    assert (again["link_up",], again["link_reconnects_total",]) == (1, 1)


async def test_what_a_link_brings_and_nobody_can_read_is_counted(house):
    """A frame that is none, and an event without a head: acknowledged, passed over, and not forgotten."""
    service = Service(house, patience_s=10.0)
    async with service.linked() as link, process(house, link=link) as http:
        (wire,) = house.sandbox.links.wires.values()
        code, _ = await house.sandbox.links.deliver(b"{}")
        await wire._send({"type": "websocket.send", "bytes": b"\xff"})
        await until(lambda: link.health(clock_of(service.clock)).unreadable == 2)
        said = await scrape(http)

    assert code == 200
    assert said["inbound_total", "unreadable", "unexpected_shape"] == 2


async def test_a_link_that_is_down_is_not_ready(house):
    """Nobody who writes to the bot gets an answer."""
    async with process(house, link=Service(house).link()) as http:
        status, checks, facts = await readiness(http)
        said = await scrape(http)

    assert (status, checks["link"]) == (503, False)
    assert (facts["link"]["since_pong_s"], said["link_up",]) == (None, 0)
    assert ("link_last_pong_timestamp_seconds",) not in said


@on_both
async def test_a_database_that_says_no_is_told_from_a_process_that_is_gone(house):
    """503 with what is wrong and nothing else; the process's own figures are there all the same."""
    async with process(house) as http:
        await house.sandbox.pusher.publish("new.one_v9", {})
        house.store.write_now(lambda tx: tx.execute(text("ALTER TABLE pauses RENAME TO elsewhere")))
        status, checks, facts = await readiness(http)
        said = await scrape(http)
        house.store.write_now(lambda tx: tx.execute(text("ALTER TABLE elsewhere RENAME TO pauses")))
        back = await readiness(http)

    assert (status, checks["database"], checks["queue"]) == (503, False, False)
    assert "pauses" not in json.dumps(facts)
    assert (said["database_up",], said["inbound_total", "new.one_v9", "unknown_type"]) == (0, 1)
    assert not [key for key in said if key[0] in {"deliveries", "queue_paused", "calls_used"}]
    assert back[1]["database"]


@on_postgres
async def test_a_database_that_hangs_is_not_waited_for(house, postgres):
    """No answer comes from it, and ours comes all the same; once it goes on, so do we."""
    async with process(house) as http:
        with hanging(house, postgres):
            seen, said = await asyncio.gather(readiness(http), scrape(http))
            answered = await house.sandbox.pusher.publish("new.one_v9", {})
        await until_it_is(http, "database")

    assert (seen[0], seen[1]["database"]) == (503, False)
    assert said["database_up",] == 0
    assert answered, "what needs no database is answered"


@contextlib.contextmanager
def hanging(house: House, postgres: Any) -> Any:
    """Nobody can read the pauses."""
    import psycopg

    with psycopg.connect(house.settings.store.url.replace("+psycopg", "")) as other:
        other.execute("LOCK TABLE pauses IN ACCESS EXCLUSIVE MODE")
        yield
        other.rollback()


@on_postgres
async def test_a_database_that_takes_no_connection_is_seen(house, postgres):
    """As while a server restarts."""
    name = make_url(house.settings.store.url).database
    async with process(house) as http:
        ready = await readiness(http)
        with postgres.admin() as admin:
            admin.execute(f"ALTER DATABASE {name} WITH ALLOW_CONNECTIONS false")
            admin.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", [name])
            seen, said = await asyncio.gather(readiness(http), scrape(http))
            admin.execute(f"ALTER DATABASE {name} WITH ALLOW_CONNECTIONS true")
        await until_it_is(http, "database")

    assert ready[1]["database"]
    assert (seen[0], seen[1]["database"], said["database_up",]) == (503, False, 0)


async def test_statuses_that_no_delivery_has_are_there_as_zero(house):
    """A rule on failures must not wait for the first one to know the name."""
    async with process(house) as http:
        said = await scrape(http)

    assert {key[1]: n for key, n in said.items() if key[0] == "deliveries"} == dict.fromkeys(Status, 0)
