"""One message to many in one call: the sender, the client's token and pool, real HTTP, and the sandbox's queue."""

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.cards.fallback import fallback
from bot.cards.render import Limits
from bot.domain.audience import Kind
from bot.domain.errors import AppError, CardError, ReceiverError, SendError, TemporaryError
from bot.domain.ladder import Rung
from bot.feishu.batch import MOST_BYTES, BatchAccepted, BatchProgress, BatchSender, room_for
from bot.feishu.batch_codes import ROWS
from bot.feishu.client import FeishuClient
from bot.feishu.codes import Reaction
from bot.feishu.object_body import object_body
from bot.sandbox.app import Sandbox, SandboxSettings
from bot.sandbox.clock import Clock
from bot.sandbox.faults import Fault
from bot.serving import listen, serving
from tests.builders import make_cards, make_digest, make_rich_digest
from tests.sandbox.kit import START

pytestmark = pytest.mark.anyio
TEXT = '{"text":"今日日报"}'
DAY_S = 86_400
REASONS = {Reaction.APP: AppError, Reaction.RECEIVER_PAUSED: ReceiverError, Reaction.QUOTA: TemporaryError}


@dataclass
class Rig:
    """A sandbox, and what sends batches to its people."""

    sandbox: Sandbox
    sender: BatchSender

    def people(self, count: int) -> list[str]:
        return [self.sandbox.client.add_user(f"读者{number}").open_id for number in range(count)]

    async def send(self, people: list[str], content: str = TEXT, rung: Rung = Rung.TEXT) -> BatchAccepted:
        return await self.sender.send(people, content, rung)

    async def refusal(self, people: list[str], content: str = TEXT, rung: Rung = Rung.TEXT) -> SendError:
        with pytest.raises(SendError) as caught:
            await self.send(people, content, rung)
        return caught.value

    def received(self, open_id: str) -> list[tuple[str, Any]]:
        world = self.sandbox.world
        chat_id = world.p2p_chat_id(self.sandbox.settings.app_id, open_id)
        messages = world.messages_in(chat_id) if chat_id in world.chats else []
        return [(one.msg_type, json.loads(one.content)) for one in messages if not one.recalled]


@pytest.fixture
async def rig(request) -> AsyncIterator[Rig]:
    """Time stands still until a test moves it. A test's parameter changes the sandbox's settings."""
    settings = SandboxSettings(**getattr(request, "param", {}))
    sandbox = Sandbox(settings, clock=Clock(lambda: START))
    listener = listen("127.0.0.1", 0)
    url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    async with serving(sandbox.app, listener), FeishuClient(url, settings.app_id, settings.app_secret) as client:
        yield Rig(sandbox, batches_of(client, sandbox))


def batches_of(client: FeishuClient, sandbox: Sandbox) -> BatchSender:
    return BatchSender(client._authorised, client.tokens, lambda: datetime.fromtimestamp(sandbox.clock.now(), UTC))


@pytest.mark.parametrize(
    ("rung", "kind"),
    [(Rung.CARD, "interactive"), (Rung.LIGHT, "interactive"), (Rung.POST, "post"), (Rung.TEXT, "text")],
)
async def test_a_digest_reaches_everybody_in_every_form(rig, rung, kind):
    """In one call; its cards have links for buttons, and ids that nobody has come back."""
    people = rig.people(3)
    content = fallback(make_cards(make_rich_digest(), audience=Kind.WEBHOOK)[0].body, rung)

    accepted = await rig.send([*people, "ou_nobody"], content, rung)
    rig.sandbox.clock.advance(2)
    progress = await rig.sender.progress(accepted.message_id)

    assert accepted == BatchAccepted(accepted.message_id, ("ou_nobody",))
    assert accepted.message_id.startswith("bm-")
    assert [rig.received(one) for one in people] == [[(kind, json.loads(content))]] * 3
    assert progress == BatchProgress(3, 3, 0)
    assert rig.sandbox.world.violations == []
    assert list(rig.sandbox.limits.calls_by_month.values()) == [2]


async def test_progress_tells_how_many_have_it_and_have_read_it(rig):
    """People out of reach stay valid and never succeed."""
    reader, other, outside = rig.people(3)
    await rig.sandbox.client.set_available(outside, False)
    batch = (await rig.send([reader, other, outside])).message_id

    told = [await rig.sender.progress(batch)]
    rig.sandbox.clock.advance(2)
    told.append(await rig.sender.progress(batch))
    await rig.sandbox.client.read_chat(reader, rig.sandbox.world.p2p_chat_id(rig.sandbox.settings.app_id, reader))
    told.append(await rig.sender.progress(batch))

    assert told == [BatchProgress(3, 0, 0), BatchProgress(3, 2, 0), BatchProgress(3, 2, 1)]


async def test_a_recall_takes_back_all_of_it(rig):
    """Also what has not arrived; twice changes nothing. Past the tenant's window it is refused for good."""
    people = rig.people(60)
    batch = (await rig.send(people)).message_id
    rig.sandbox.clock.advance(2)
    arrived = (await rig.sender.progress(batch)).success

    await rig.sender.recall(batch)
    await rig.sender.recall(batch)
    rig.sandbox.clock.advance(DAY_S)

    assert arrived == 50
    assert [rig.received(one) for one in people] == [[]] * 60
    with pytest.raises(CardError, match="230009 已过企业允许撤回的时间") as late:
        await rig.sender.recall(batch)
    assert late.value.least is None


async def test_a_batch_that_nobody_knows_is_told_as_one(rig):
    """A wrong id, or one of more than thirty days ago."""
    for call in (rig.sender.progress, rig.sender.recall):
        with pytest.raises(CardError, match="230030 没有这批消息"):
            await call("bm-nothing")


async def test_two_hundred_different_people_are_the_most(rig):
    """More, none, or one of them twice is a mistake of ours, and nothing leaves."""
    rig.sandbox.faults.add(Fault("server_error", "batch_send", times=None))
    for people in (["ou_1"] * 2, [], [f"ou_{number}" for number in range(201)]):
        with pytest.raises(AssertionError):
            await rig.send(people)
    assert rig.sandbox.faults.met == []

    rig.sandbox.faults.clear()
    assert len((await rig.send([f"ou_{number}" for number in range(200)])).invalid_open_ids) == 200


async def test_as_many_as_there_is_room_for_pass(rig):
    """Beside the longest card of a digest there is not room for 200."""
    cards = make_cards(make_digest(items=120), audience=Kind.WEBHOOK, limits=Limits())
    card = max(cards, key=lambda one: one.bytes).body
    room = room_for(card, Rung.CARD)

    accepted = await rig.send(rig.people(room), card, Rung.CARD)

    assert 50 < room < 200
    assert accepted.invalid_open_ids == ()


@given(st.integers(0, 160_000), st.sampled_from([Rung.POST, Rung.TEXT]))
def test_there_is_never_more_room_than_the_platform_gives(length, rung):
    """Ids count towards the size of a body; of a content that leaves none for one, nothing is sent."""
    content = json.dumps({"text": "x" * length})
    people = [f"ou_{number:032}" for number in range(room_for(content, rung))]

    assert len(people) <= 200
    assert not people or len(object_body(content, rung, open_ids=people)) <= MOST_BYTES[rung]


async def test_what_is_too_long_never_leaves(rig):
    """It may be shorter in another form."""
    rig.sandbox.faults.add(Fault("server_error", "batch_send", times=None))

    error = await rig.refusal(["ou_1"], json.dumps({"zh_cn": {"title": "x" * 30_000, "content": []}}), Rung.POST)

    assert isinstance(error, CardError)
    assert (error.code, error.least) == (230025, Rung.LIGHT)
    assert rig.sandbox.faults.met == []


async def test_every_code_of_the_table_does_what_its_row_says(rig):
    """Although the table of messages says another thing of some."""
    people = rig.people(1)
    for row in ROWS:
        rig.sandbox.faults.add(Fault("code", "batch_send", code=row.code, status=200))
        error = await rig.refusal(people)

        assert type(error) is REASONS.get(row.reaction, CardError)
        assert (error.code, error.reason) == (row.code, row.reason)
        assert getattr(error, "least", None) == row.least
        assert not getattr(error, "maybe_sent", False)
        assert error.log_id
        assert any("一" <= char <= "鿿" for char in row.reason)
        assert row.page


def test_no_code_stands_twice():
    """Two rows for a code would make the reaction depend on their order."""
    assert len({row.code for row in ROWS}) == len(ROWS)


async def test_refused_credentials_are_not_taken_for_a_refused_content(rig):
    """Both are 10003, and only one of them is mended by another form."""
    base_url = rig.sender._call.__self__._base_url
    async with FeishuClient(base_url, "", "") as client:
        with pytest.raises(AppError) as of_token:
            await batches_of(client, rig.sandbox).send(["ou_1"], TEXT, Rung.TEXT)
    of_batch = await rig.refusal(["ou_1"], '{"words":"x"}')

    assert of_token.value.code == 10003
    assert isinstance(of_batch, CardError)


@pytest.mark.parametrize("rig", [{"batch_messages_a_day": 3}], indirect=True)
async def test_a_day_that_is_used_up_waits_for_the_next_one(rig):
    """Until midnight in China, and only batches do: messages one by one still go."""
    people = rig.people(2)
    await rig.send(people)

    error = await rig.refusal(people)

    assert isinstance(error, TemporaryError)
    assert (error.code, error.whole_app, error.maybe_sent) == (11247, False, False)
    assert error.retry_after_s == (-START - 8 * 3600) % DAY_S
    rig.sandbox.clock.advance(error.retry_after_s)
    await rig.send(people)


@pytest.mark.parametrize(
    ("scopes", "code", "word"),
    [(set(), 99991672, "权限"), ({"im:message"}, 11223, "批量发消息")],
)
async def test_a_missing_scope_is_the_apps_trouble(rig, scopes, code, word):
    """One to send, one to send to many; the reason says what to do."""
    rig.sandbox.change_app(scopes=frozenset(scopes))

    error = await rig.refusal(rig.people(1))

    assert isinstance(error, AppError)
    assert error.code == code
    assert word in error.reason


async def test_a_bot_that_is_switched_off_is_the_apps_trouble(rig):
    """The batch's own code of it."""
    rig.sandbox.change_app(bot_enabled=False)

    error = await rig.refusal(rig.people(1))

    assert isinstance(error, AppError)
    assert error.code == 11205


@pytest.mark.parametrize("rig", [{"audit_words": ("今日",)}], indirect=True)
async def test_what_the_audit_stops_is_tried_in_no_other_form(rig):
    """The same words would be stopped again."""
    error = await rig.refusal(rig.people(1))

    assert isinstance(error, CardError)
    assert (error.code, error.least) == (11312, None)


@pytest.mark.parametrize("rig", [{"batch_delay_s": 0.0}], indirect=True)
async def test_a_lost_answer_leaves_a_batch_in_doubt(rig):
    """It went out, or it did not, and no second call could tell: the sender does not make one."""
    lost, cut, broken = rig.people(3)
    rig.sandbox.faults.add(*(Fault(kind, "batch_send") for kind in ("drop_reply", "reset", "server_error")))

    errors = [await rig.refusal([one]) for one in (lost, cut, broken)]

    assert [(type(error), error.maybe_sent) for error in errors] == [(TemporaryError, True)] * 3
    assert [len(rig.received(one)) for one in (lost, cut, broken)] == [1, 0, 0]


async def test_the_gateways_limit_makes_the_app_wait(rig):
    """Nothing was sent, and the header says for how long."""
    rig.sandbox.faults.add(Fault("rate_limited", "batch_send", seconds=7))

    error = await rig.refusal(rig.people(1))

    assert isinstance(error, TemporaryError)
    assert (error.whole_app, error.retry_after_s, error.maybe_sent) == (True, 7.0, False)


@pytest.mark.parametrize("rig", [{"monthly_calls": 1}], indirect=True)
async def test_a_month_that_is_used_up_stops_the_app(rig):
    """Until the first of the next one."""
    people = rig.people(1)
    await rig.send(people)

    error = await rig.refusal(people)

    assert isinstance(error, AppError)
    assert (error.code, error.until is not None) == (99991403, True)


@pytest.mark.parametrize("rig", [{"batch_delay_s": 0.0}], indirect=True)
async def test_a_token_that_died_is_replaced_and_the_batch_goes_out_once(rig):
    """The refused call had no effect, so that repeating it is safe."""
    [reader] = rig.people(1)
    await rig.send([reader])
    rig.sandbox.faults.add(Fault("revoke_token", "batch_send"))

    await rig.send([reader])

    assert len(rig.received(reader)) == 2


async def test_a_progress_that_cannot_be_read_is_asked_again_later(rig):
    """It is no refusal, and says nothing about the messages."""
    batch = (await rig.send(rig.people(1))).message_id
    rig.sandbox.faults.add(Fault("server_error", "batch_progress"), Fault("rate_limited", "batch_recall", seconds=3))

    with pytest.raises(TemporaryError):
        await rig.sender.progress(batch)
    with pytest.raises(TemporaryError):
        await rig.sender.recall(batch)

    assert await rig.sender.progress(batch) == BatchProgress(1, 0, 0)
