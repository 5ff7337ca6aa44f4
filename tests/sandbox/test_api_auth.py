"""Tokens and the gate before every API: feishu-platform notes 1.1, 1.4, 1.5, 15.2, 15.13."""

import pytest

from tests.sandbox.kit import SETTINGS, running

pytestmark = pytest.mark.anyio
TOKEN = "/open-apis/auth/v3/tenant_access_token/internal"
INFO = "/open-apis/bot/v3/info"
CREDENTIALS = {"app_id": SETTINGS.app_id, "app_secret": SETTINGS.app_secret}


async def test_the_same_token_comes_again_while_30_minutes_remain_and_a_new_one_below():
    """Old and new are both valid until the old one expires, and `expire` counts down."""
    async with running() as rig:
        first = (await rig.api.post(TOKEN, json=CREDENTIALS)).json()
        rig.sandbox.clock.advance(5400)
        second = (await rig.api.post(TOKEN, json=CREDENTIALS)).json()
        rig.sandbox.clock.advance(1)
        third = (await rig.api.post(TOKEN, json=CREDENTIALS)).json()

        assert first == {"code": 0, "msg": "ok", "tenant_access_token": first["tenant_access_token"], "expire": 7200}
        assert (second["tenant_access_token"], second["expire"]) == (first["tenant_access_token"], 1800)
        assert third["tenant_access_token"] != first["tenant_access_token"]
        for token in (first, third):
            headers = {"authorization": f"Bearer {token['tenant_access_token']}"}
            assert (await rig.api.get(INFO, headers=headers)).json()["code"] == 0
        rig.sandbox.clock.advance(1799)
        dead = await rig.api.get(INFO, headers={"authorization": f"Bearer {first['tenant_access_token']}"})
        assert (dead.status_code, dead.json()["code"]) == (400, 99991663)


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"app_id": "", "app_secret": "x"}, 10003),
        ({"app_id": "nonsense", "app_secret": "x"}, 10003),
        ({"app_id": "cli_unknown", "app_secret": "x"}, 10014),
        ({"app_id": SETTINGS.app_id, "app_secret": "wrong"}, 10014),
    ],
)
async def test_wrong_credentials_are_refused_with_their_code_in_a_200(body, code):
    """The status of these errors is unconfirmed: a client must read the body's code."""
    async with running() as rig:
        answer = await rig.api.post(TOKEN, json=body)

        assert (answer.status_code, answer.json()["code"]) == (200, code)


@pytest.mark.parametrize(
    ("authorization", "code"),
    [
        ("", 99991661),
        ("Basic x", 99991661),
        ("Bearer x-1", 99991671),
        ("Bearer u-1", 99991668),
        ("Bearer t-1", 99991663),
    ],
)
async def test_every_api_wants_a_valid_token(authorization, code):
    """Each fault of the header has its own code, HTTP 400, a log id in the body and the same one in the header."""
    async with running() as rig:
        answer = await rig.api.get(INFO, headers={"authorization": authorization})

        assert (answer.status_code, answer.json()["code"]) == (400, code)
        assert answer.json()["error"]["log_id"] == answer.headers["x-tt-logid"]


async def test_the_token_is_given_on_post_only():
    """GET is no longer accepted; a path that nobody knows has another code."""
    async with running() as rig:
        wrong_method = await rig.api.get(TOKEN, headers={"authorization": "-"})
        wrong_path = await rig.api.get("/open-apis/nothing", headers={"authorization": "-"})

        assert (wrong_method.json()["code"], wrong_path.json()["code"]) == (99991301, 99991201)


async def test_switches_of_the_developer_console_refuse_with_their_codes():
    """A disabled app, a foreign address, a missing scope, a bot that is not switched on."""
    async with running() as rig:
        reader = rig.sandbox.client.add_user("读者甲").open_id
        cases = [
            ({"enabled": False}, 99991662),
            ({"allowed_ips": frozenset({"192.0.2.1"})}, 99991401),
            ({"scopes": frozenset({"im:chat"})}, 99991672),
            ({"bot_enabled": False}, 230006),
        ]
        for switches, code in cases:
            rig.sandbox.change_app(**switches)
            answer = (await rig.send(reader)).json()
            assert answer["code"] == code
        rig.sandbox.change_app(scopes=frozenset({"im:chat"}))
        missing = (await rig.send(reader)).json()["error"]["permission_violations"]

        assert {one["subject"] for one in missing} >= {"im:message:send_as_bot"}


async def test_bot_info_stands_at_the_top_level():
    """No `data`, and msg is "ok"."""
    async with running() as rig:
        answer = (await rig.api.get(INFO)).json()

        assert (answer["msg"], answer["bot"]["app_name"]) == ("ok", SETTINGS.bot_name)
        assert answer["bot"]["open_id"].startswith("ou_")


async def test_secrets_stay_out_of_the_settings_text():
    """Printing the settings or the app shows neither secret nor keys."""
    async with running() as rig:
        shown = repr(rig.sandbox.settings) + repr(rig.sandbox.world.apps)

        assert SETTINGS.app_secret not in shown
        assert SETTINGS.encrypt_key not in shown
