"""Rate limits and quota: feishu-platform notes 1.6, 2.6, 15.3."""

import pytest

from bot.sandbox.clock import Clock
from bot.sandbox.limits import Limits
from tests.sandbox.kit import START, running

pytestmark = pytest.mark.anyio


class _Steps:
    """A clock that a test moves by fractions."""

    def __init__(self) -> None:
        self.clock = Clock(lambda: START)
        self.limits = Limits(self.clock)

    def pass_calls(self, calls: int, gap_s: float = 0.0) -> int:
        """How many of so many calls were let through."""
        passed = 0
        for _ in range(calls):
            passed += self.limits.take_call("app", "send") is None
            self.clock.advance(gap_s)
        return passed


def test_fifty_calls_in_a_second_pass_and_the_next_one_does_not():
    """The wait is told in whole seconds, and after it a call passes."""
    steps = _Steps()

    passed = steps.pass_calls(60)
    answer = steps.limits.answers[-1]
    steps.clock.advance(answer.reset_s)

    assert (passed, answer.code, answer.limit, answer.reset_s) == (50, 99991400, 50, 1)
    assert steps.pass_calls(1) == 1


def test_a_thousand_calls_in_a_minute_pass_though_no_second_is_full():
    """The minute binds before the second does: 25 calls a second are too many in the long run."""
    steps = _Steps()

    passed = steps.pass_calls(1500, gap_s=0.04)

    assert passed == 1000
    assert steps.limits.answers[0].limit == 1000
    assert steps.limits.answers[0].reset_s == 20


def test_the_window_slides():
    """25 late in one second and 25 early in the next leave no room for more."""
    steps = _Steps()
    steps.clock.advance(0.9)
    assert steps.pass_calls(25) == 25
    steps.clock.advance(0.5)

    assert steps.pass_calls(30) == 25


def test_other_apis_and_other_apps_have_their_own_windows():
    """The limit is per app and API."""
    steps = _Steps()
    steps.pass_calls(50)

    assert steps.limits.take_call("app", "reply") is None
    assert steps.limits.take_call("other", "send") is None


async def test_an_over_limit_call_is_429_with_both_headers():
    """The body's code is 99991400; the answers given are on record."""
    async with running() as rig:
        codes = [await rig.api.get("/open-apis/bot/v3/info") for _ in range(51)]

        last = codes[-1]
        assert (last.status_code, last.json()["code"]) == (429, 99991400)
        assert (last.headers["x-ogw-ratelimit-limit"], last.headers["x-ogw-ratelimit-reset"]) == ("50", "1")
        assert [answer.target for answer in rig.sandbox.limits.answers] == ["bot_info"]


async def test_a_receiver_gets_five_messages_a_second():
    """HTTP 400 and 230020 without headers, for a person and for a group alike; others are not held up."""
    async with running() as rig:
        reader = rig.sandbox.client.add_user("读者甲").open_id
        chat_id, _ = await rig.group()
        for receiver, id_type in ((reader, "open_id"), (chat_id, "chat_id")):
            answers = [await rig.send(receiver, id_type=id_type) for _ in range(6)]
            assert [one.json()["code"] for one in answers] == [0] * 5 + [230020]
            assert answers[-1].status_code == 400
            assert "x-ogw-ratelimit-reset" not in answers[-1].headers

        rig.sandbox.clock.advance(1)
        assert (await rig.send(reader)).json()["code"] == 0


async def test_limits_can_be_switched_off():
    """For load tests: no call is refused and nothing is recorded."""
    async with running(limits=False) as rig:
        reader = rig.sandbox.client.add_user("读者甲").open_id
        codes = {(await rig.send(reader)).json()["code"] for _ in range(60)}

        assert codes == {0}
        assert not rig.sandbox.limits.answers


async def test_the_monthly_quota_ends_all_calls_until_the_first():
    """HTTP 429 with 99991403; failed calls and tokens do not count."""
    async with running(monthly_calls=2) as rig:
        reader = rig.sandbox.client.add_user("读者甲").open_id
        await rig.send(reader, msg_type="nothing")
        sent = [(await rig.send(reader)) for _ in range(3)]
        rig.sandbox.clock.advance(31 * 86_400)

        assert [one.json()["code"] for one in sent] == [0, 0, 99991403]
        assert sent[-1].status_code == 429
        assert (await rig.send(reader)).json()["code"] == 0
