"""The delayed update of a pressed card: feishu-platform notes 3.7, 15.8."""

import json
from typing import Any

import httpx
import pytest
from starlette.responses import JSONResponse, Response

from bot.sandbox.faults import Fault
from tests.sandbox.kit import Rig, button, card_of, markdown, running

pytestmark = pytest.mark.anyio
UPDATE = "/open-apis/interactive/v1/card/update"
AFTER = card_of(markdown("之后"))


async def pressed(rig: Rig, card: Any = None) -> tuple[str, str]:
    """The id of a card that was pressed, and the token of its callback."""
    reader = rig.sandbox.client.add_user("读者甲").open_id
    card = card or card_of(button({"v": 1}))
    message_id = (await rig.send(reader, card)).json()["data"]["message_id"]
    await rig.sandbox.client.click(reader, message_id, {"v": 1})
    return message_id, rig.bot.of_type("card.action.trigger")[-1]["token"]


async def update(rig: Rig, token: Any, card: Any = AFTER) -> int:
    return (await rig.api.post(UPDATE, json={"token": token, "card": card})).json()["code"]


async def test_a_pressed_card_is_updated_twice_at_most():
    """Everybody sees the new card; the third use is refused."""
    async with running() as rig:
        message_id, token = await pressed(rig)

        codes = [await update(rig, token, card_of(markdown(str(number)))) for number in range(3)]

        assert codes == [0, 0, 300040]
        message = rig.sandbox.world.messages[message_id]
        assert (json.loads(message.content), message.updated) == (card_of(markdown("1")), True)


async def test_a_token_lives_half_an_hour():
    """To the second."""
    async with running() as rig:
        _, token = await pressed(rig)
        rig.sandbox.clock.advance(1800)
        last = await update(rig, token)
        rig.sandbox.clock.advance(1)

        assert (last, await update(rig, token)) == (0, 300030)


async def test_a_card_is_updated_only_after_its_callback_was_answered():
    """Not while the bot still thinks, and never after an answer that the client could not use."""
    async with running() as rig:
        codes = []

        async def update_first(body: dict) -> Response:
            if body["header"]["event_type"] == "card.action.trigger":
                codes.append(await update(rig, body["event"]["token"]))
            return JSONResponse({})

        rig.bot.answer = update_first
        _, token = await pressed(rig)
        codes.append(await update(rig, token))

        async def fail(_body: dict) -> Response:
            return Response(status_code=500)

        rig.bot.answer = fail
        _, unanswered = await pressed(rig)
        codes.append(await update(rig, unanswered))

        assert codes == [11311, 0, 11311]


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({}, 10002),
        ({"token": 5, "card": AFTER}, 10002),
        ({"card": AFTER}, 10002),
        ({"token": "c-x", "card": json.dumps(AFTER)}, 10002),
        ({"token": "c-x", "card": AFTER}, 300020),
    ],
)
async def test_token_and_card_must_have_their_form(body, code):
    """The card is an object here, never a string."""
    async with running() as rig:
        answer = await rig.api.post(UPDATE, json=body)

        assert (answer.status_code, answer.json()["code"]) == (400, code)


async def test_what_may_not_be_shown_leaves_card_and_token_alone():
    """A card that is too large, invalid, of JSON 1.0, or of another app; a recalled message."""
    async with running() as rig:
        message_id, token = await pressed(rig)
        world = rig.sandbox.world
        before = world.messages[message_id].content
        cards = (card_of(markdown("x" * 30_000)), card_of({"tag": "nothing"}), {"elements": []})
        codes = [await update(rig, token, card) for card in cards]
        world.change(world.card_tokens[token], app_id="cli_other")
        codes.append(await update(rig, token))
        world.change(world.card_tokens[token], app_id=rig.sandbox.settings.app_id)
        world.change(world.messages[message_id], recalled=True)
        codes.append(await update(rig, token))

        assert codes == [100000, 100030, 100030, 200310, 200000]
        assert (world.messages[message_id].content, world.card_tokens[token].uses) == (before, 0)


async def test_a_card_that_is_not_shared_names_its_viewers():
    """Only JSON 1.0 has such cards."""
    old = {"elements": [button({"v": 1})]}
    async with running() as rig:
        _, token = await pressed(rig, old)

        assert [await update(rig, token, card) for card in (old, {**old, "open_ids": ["ou_x"]})] == [300090, 0]


async def test_a_lost_answer_uses_the_token():
    """The effect is there, and so is its price."""
    async with running() as rig:
        message_id, token = await pressed(rig)
        rig.sandbox.faults.add(Fault("drop_reply", api="update_card"))
        with pytest.raises(httpx.TransportError):
            await update(rig, token)

        assert json.loads(rig.sandbox.world.messages[message_id].content) == AFTER
        assert [await update(rig, token), await update(rig, token)] == [0, 300040]
