"""The world, its journal and its clock: what a killed demo comes back with."""

import json
import os
import signal
import subprocess
import sys

import anyio.lowlevel
import pytest
from starlette.responses import Response

from bot.sandbox.clock import Clock
from bot.sandbox.journal import JournalError
from bot.sandbox.state import Chat, User, World
from tests.sandbox.kit import START, running

pytestmark = pytest.mark.anyio


async def test_after_a_stop_chats_messages_and_uuids_are_the_same(tmp_path):
    """A send repeated under its uuid returns the message of before; tokens stay valid, the clock stays moved."""
    journal = tmp_path / "world.jsonl"
    async with running(journal=journal) as rig:
        chat_id, _ = await rig.group()
        rig.sandbox.clock.advance(100)
        first = (await rig.send(chat_id, id_type="chat_id", uuid="k")).json()["data"]["message_id"]
        before = dict(rig.sandbox.world.messages), dict(rig.sandbox.world.chats), dict(rig.sandbox.world.users)
    async with running(journal=journal) as rig:
        after = rig.sandbox.world.messages, rig.sandbox.world.chats, rig.sandbox.world.users
        again = (await rig.send(chat_id, id_type="chat_id", uuid="k")).json()["data"]["message_id"]

        assert after == before
        assert again == first
        assert rig.sandbox.clock.now() == START + 100
        assert [one.message_id for one in rig.sandbox.world.messages_in(chat_id)] == [first]


async def test_an_event_that_was_not_answered_outlives_the_sandbox(tmp_path):
    """It is pushed again after the restart, with the same id."""
    journal = tmp_path / "world.jsonl"

    async def failing(_body: dict) -> Response:
        return Response(status_code=500)

    async with running(journal=journal) as rig:
        rig.bot.answer = failing
        await rig.sandbox.client.open_bot_chat(rig.sandbox.client.add_user("读者甲").open_id)
        event_id = rig.bot.heard[0]["header"]["event_id"]
    async with running(journal=journal) as rig:
        rig.sandbox.clock.advance(15)
        for _ in range(20):
            await anyio.lowlevel.checkpoint()

        assert [one["header"]["event_id"] for one in rig.bot.heard] == [event_id]
        assert not rig.sandbox.world.pushes


SENDER = """
import asyncio, sys
import httpx
from pathlib import Path
from bot.sandbox.app import Sandbox, SandboxSettings

async def main():
    sandbox = Sandbox(SandboxSettings(journal=Path(sys.argv[1]), limits=False))
    reader = sandbox.client.add_user("读者甲").open_id
    transport = httpx.ASGITransport(sandbox.app)
    async with httpx.AsyncClient(transport=transport, base_url="http://x") as api:
        body = {"app_id": sandbox.settings.app_id, "app_secret": sandbox.settings.app_secret}
        token = (await api.post("/open-apis/auth/v3/tenant_access_token/internal", json=body)).json()
        headers = {"authorization": "Bearer " + token["tenant_access_token"]}
        for n in range(1_000_000):
            body = {"receive_id": reader, "msg_type": "text", "content": '{"text":"x"}', "uuid": str(n)}
            answer = await api.post("/open-apis/im/v1/messages?receive_id_type=open_id", headers=headers, json=body)
            print(n, answer.json()["data"]["message_id"], flush=True)

asyncio.run(main())
"""


def test_a_kill_at_any_moment_loses_no_message_that_was_answered(tmp_path):
    """SIGKILL in the middle of sending: every reply that came out is in the world again, under its uuid."""
    journal = tmp_path / "world.jsonl"
    with subprocess.Popen([sys.executable, "-c", SENDER, str(journal)], stdout=subprocess.PIPE, text=True) as sender:
        assert sender.stdout is not None
        answered = [sender.stdout.readline().split() for _ in range(200)]
        os.kill(sender.pid, signal.SIGKILL)
        answered += [line.split() for line in sender.stdout.read().splitlines() if len(line.split()) == 2]

    world = World(journal)
    world.close()

    uses = {use.use.split("/")[1]: use.message_id for use in world.uuid_uses.values()}
    assert {number: uses.get(number) for number, _ in answered} == dict(answered)
    assert {message_id for _, message_id in answered} <= world.messages.keys()


async def test_a_kill_between_key_and_message_leaves_the_key_free(tmp_path):
    """The reply never went out, so the repeated send must go through, once."""
    journal = tmp_path / "world.jsonl"
    async with running(journal=journal) as rig:
        reader = rig.sandbox.client.add_user("读者甲").open_id
        await rig.send(reader, uuid="k")
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join(lines[:-1]))

    async with running(journal=journal) as rig:
        assert (list(rig.sandbox.world.messages), len(rig.sandbox.world.uuid_uses)) == ([], 1)
        ids = {(await rig.send(reader, uuid="k")).json()["data"]["message_id"] for _ in range(2)}

        assert set(rig.sandbox.world.messages) == ids


def test_a_line_that_a_kill_cut_short_is_left_out(tmp_path):
    """Its reply never went out; the file is whole again after the start."""
    journal = tmp_path / "world.jsonl"
    world = World(journal)
    world.put(User("ou_1", "读者甲", "on_1"))
    world.close()
    with journal.open("ab") as file:
        file.write(b'{"row":"user","open_id":"ou_2","na')

    again = World(journal)
    again.put(User("ou_3", "读者乙", "on_3"))
    again.close()

    assert [json.loads(line)["open_id"] for line in journal.read_text().splitlines()] == ["ou_1", "ou_3"]


def test_a_file_of_something_else_is_refused_with_its_line(tmp_path):
    """It is not overwritten, and the message says what to do."""
    journal = tmp_path / "world.jsonl"
    journal.write_text('{"row":"unicorn"}\n')

    with pytest.raises(JournalError, match=r"line 1.*delete the file"):
        World(journal)

    assert journal.read_text() == '{"row":"unicorn"}\n'


def test_the_journal_is_compacted_at_the_start(tmp_path):
    """One line a living row, however often it changed; the secret is never written."""
    journal = tmp_path / "world.jsonl"
    world = World(journal)
    chat = Chat("oc_1", "group", "读者群", ("ou_1",))
    for muted in (True, False) * 50:
        world.change(chat, muted=muted)
    world.put(User("ou_1", "读者甲", "on_1"))
    world.drop(world.users["ou_1"])
    world.close()

    World(journal).close()

    assert len(journal.read_text().splitlines()) == 1
    assert "secret" not in journal.read_text()


def test_two_people_of_one_name_are_two():
    """Ids come from names, with a number where a name is taken; another seed gives other ids."""
    world = World()
    first = world.free_id("ou_", "读者甲", world.users)
    world.put(User(first, "读者甲", "on_1"))

    assert world.free_id("ou_", "读者甲", world.users) != first
    assert World(seed="other").free_id("ou_", "读者甲", ()) != first
    assert (len(first), first[:3]) == (35, "ou_")


async def test_waiting_ends_when_the_clock_is_moved():
    """Also when it takes several moves, and not before."""
    clock, woken = Clock(lambda: START), []

    async def wait() -> None:
        await clock.sleep(60)
        woken.append(clock.now())

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(wait)
        for _ in range(3):
            await anyio.sleep(0.001)
            assert woken == []
            clock.advance(20)

    assert woken == [START + 60]


async def test_a_running_clock_needs_no_move():
    """The real time passes by itself."""
    clock = Clock()
    started = clock.now()
    await clock.sleep(0.01)

    assert clock.now() > started


@pytest.mark.parametrize("seconds", [-1, float("nan"), float("inf")])
def test_the_clock_only_moves_forward(seconds):
    """Anything else is refused."""
    with pytest.raises(ValueError, match="forward"):
        Clock().advance(seconds)
