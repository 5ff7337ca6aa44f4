"""Things that go wrong on purpose: feishu-platform notes 15.7."""

from contextlib import nullcontext

import httpx
import pytest
import uvicorn
from anyio import create_task_group, sleep

from bot.sandbox.app import Sandbox
from bot.sandbox.faults import Fault, Faults
from tests.sandbox.kit import MESSAGES, SETTINGS, running, text

pytestmark = pytest.mark.anyio


async def test_a_lost_reply_leaves_the_message_sent():
    """The caller sees a broken connection; the same uuid then returns the message that exists."""
    async with running() as rig:
        reader = rig.sandbox.client.add_user("读者甲").open_id
        rig.sandbox.faults.add(Fault("drop_reply", api="send"))

        with pytest.raises(httpx.TransportError):
            await rig.send(reader, uuid="k")
        stored = list(rig.sandbox.world.messages)
        again = (await rig.send(reader, uuid="k")).json()["data"]["message_id"]

        assert stored == [again]


async def test_a_reset_and_a_server_error_leave_nothing():
    """The connection is cut, or an HTML page comes back, before anything happened."""
    async with running() as rig:
        reader = rig.sandbox.client.add_user("读者甲").open_id
        rig.sandbox.faults.add(Fault("reset", api="send"), Fault("server_error", api="send"))

        with pytest.raises(httpx.TransportError):
            await rig.send(reader)
        broken = await rig.send(reader)

        assert (broken.status_code, broken.headers["content-type"].split(";")[0]) == (502, "text/html")
        assert not rig.sandbox.world.messages


@pytest.mark.parametrize(
    ("fault", "status", "code"),
    [
        (Fault("rate_limited", api="send", seconds=7), 429, 99991400),
        (Fault("code", api="send", code=11232), 400, 11232),
        (Fault("code", api="send", code=99991403), 429, 99991403),
        (Fault("code", api="send", code=2200, status=200), 200, 2200),
        (Fault("revoke_token", api="send"), 400, 99991663),
    ],
)
async def test_a_scripted_code_is_answered_once(fault, status, code):
    """Then the call works again, with a new token where the old one was revoked."""
    async with running() as rig:
        reader = rig.sandbox.client.add_user("读者甲").open_id
        rig.sandbox.faults.add(fault)

        first, second = await rig.send(reader), await rig.send(reader)

        assert (first.status_code, first.json()["code"], second.json()["code"]) == (status, code, 0)
        if code == 99991400:
            assert first.headers["x-ogw-ratelimit-reset"] == "7"


async def test_a_code_for_one_receiver_leaves_the_others_alone():
    """As long as it is not cleared, and after the number of calls that it lets pass."""
    async with running() as rig:
        one, other = (rig.sandbox.client.add_user(name).open_id for name in ("读者甲", "读者乙"))
        rig.sandbox.faults.add(Fault("code", api="send", code=230022, receiver=one, after=1, times=None))

        codes = [(await rig.send(who)).json()["code"] for who in (one, one, other, one)]
        rig.sandbox.faults.clear()

        assert codes == [0, 230022, 0, 230022]
        assert (await rig.send(one)).json()["code"] == 0


async def test_the_token_api_can_fail_too():
    """Its faults need no token."""
    async with running() as rig:
        rig.sandbox.faults.add(Fault("code", api="token", code=2200))
        body = {"app_id": SETTINGS.app_id, "app_secret": SETTINGS.app_secret}

        answer = await rig.api.post("/open-apis/auth/v3/tenant_access_token/internal", json=body)

        assert answer.json()["code"] == 2200


def test_chance_is_the_same_for_the_same_seed():
    """Random faults hit the same calls in every run."""
    runs = []
    for _ in range(2):
        faults = Faults("seed")
        faults.add(Fault("reset", probability=0.3, times=None))
        runs.append([faults.pick("send", None) is not None for _ in range(100)])

    assert runs[0] == runs[1]
    assert 15 < sum(runs[0]) < 45


async def test_over_a_real_connection_a_cut_is_seen_as_a_cut():
    """Uvicorn's connection is aborted without a byte of an answer, and the next call works."""
    sandbox = Sandbox(SETTINGS)
    reader = sandbox.client.add_user("读者甲").open_id
    server = uvicorn.Server(uvicorn.Config(sandbox.app, port=0, log_level="critical"))
    server.capture_signals = nullcontext
    async with create_task_group() as tasks:
        tasks.start_soon(server.serve)
        while not server.started:  # noqa: ASYNC110 (uvicorn offers nothing to wait for)
            await sleep(0.005)
        port = server.servers[0].sockets[0].getsockname()[1]
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", trust_env=False) as api:
            body = {"app_id": SETTINGS.app_id, "app_secret": SETTINGS.app_secret}
            token = (await api.post("/open-apis/auth/v3/tenant_access_token/internal", json=body)).json()
            headers = {"authorization": f"Bearer {token['tenant_access_token']}"}
            sandbox.faults.add(Fault("drop_reply", api="send"), Fault("reset", api="send"))
            send = {"params": {"receive_id_type": "open_id"}, "json": {"receive_id": reader, **text("hi")}}
            for _ in range(2):
                with pytest.raises(httpx.TransportError):
                    await api.post(MESSAGES, headers=headers, **send)
            third = await api.post(MESSAGES, headers=headers, **send)
        server.should_exit = True

    assert third.json()["code"] == 0
    assert len(sandbox.world.messages) == 2
