"""Callbacks over HTTP: forged, stale, cut, oversized and plain ones change nothing; repeated ones have one effect."""

import asyncio
import json
import time
from typing import Any

import httpx
import pytest

from bot.cards.actions import SetPreferences, SetSubscription, encode
from bot.domain.audience import Kind, Receiver
from bot.feishu import signature
from bot.services import manage
from bot.store import ledger, subscribers
from tests.callback_mutants import WHOLE
from tests.callbacks import PATHS, PERSON, Callbacks, Headers
from tests.campaign import mutants
from tests.integration.conftest import SERIES, House, on_both

pytestmark = pytest.mark.anyio
SUBSCRIBE = encode(SetSubscription(SERIES, on=True))
SEED, MUTANTS = 20250314, 600


class Platform(Callbacks):
    """Signs and encrypts as the platform does, or not quite."""

    def __init__(self, house: House, http: httpx.AsyncClient) -> None:
        super().__init__(house.settings.feishu)
        self.house, self.http = house, http

    def click(self, value: Any = SUBSCRIBE, event_id: str = "event-1", **more: Any) -> bytes:
        return super().click(value, event_id, **more)

    async def post(self, body: bytes, headers: Headers, path: str = "/feishu/card") -> httpx.Response:
        return await self.http.post(path, content=body, headers=headers)

    async def deliver(self, plain: bytes, path: str = "/feishu/card") -> httpx.Response:
        body = self.sealed(plain)
        return await self.post(body, self.headers(body), path)

    def status(self) -> str | None:
        return self.house.store.read_now(subscribers.status, Receiver(Kind.USER, PERSON), SERIES)


@pytest.fixture
async def platform(house: House):
    house.sandbox.client.add_user("读者甲", open_id=PERSON)
    async with house.bot(), httpx.AsyncClient(base_url=f"http://127.0.0.1:{house.bot_port}", trust_env=False) as http:
        yield Platform(house, http)


@pytest.mark.parametrize("path", PATHS)
async def test_a_click_subscribes_and_is_answered_with_a_toast(platform, path):
    """Either address takes both kinds."""
    answer = await platform.deliver(platform.click(), path)

    assert answer.status_code == 200
    assert answer.json()["toast"]["type"] == "success"
    assert platform.status() == "active"


async def test_a_second_click_says_so_and_changes_nothing(platform):
    """Values carry the wanted end state: a double click is harmless."""
    await platform.deliver(platform.click())

    answer = await platform.deliver(platform.click(event_id="event-2"))

    assert "已经订阅过" in answer.json()["toast"]["content"]
    assert sum(platform.house.store.read_now(ledger.counts).values()) == 1


async def test_an_event_delivered_again_has_one_effect_and_the_same_answer(platform):
    """Also two copies at once."""
    first, second = await asyncio.gather(platform.deliver(platform.click()), platform.deliver(platform.click()))
    third = await platform.deliver(platform.click())

    assert first.json() == second.json() == third.json()
    assert sum(platform.house.store.read_now(ledger.counts).values()) == 1


async def test_a_message_is_known_by_its_message_id(platform):
    """The platform may repeat a message under a new event id."""
    await platform.deliver(platform.message("订阅"), "/feishu/events")
    await platform.deliver(platform.message("订阅", event_id="event-2"), "/feishu/events")

    assert sum(platform.house.store.read_now(ledger.counts).values()) == 1


@pytest.mark.parametrize(
    "text", ["订阅", "/订阅", " 订阅！", "SUBSCRIBE", "ｓｕｂｓｃｒｉｂｅ", "订阅 灯塔大模型日报", "订阅社区精选"]
)
async def test_a_typed_word_subscribes(platform, text):
    """With or without a slash, any width, any case."""
    await platform.deliver(platform.message(text), "/feishu/events")

    assert platform.status() == "active"


@pytest.mark.parametrize("text", ["退订", "TD", "unsubscribe", "取消订阅。"])
async def test_a_typed_word_ends_the_subscription(platform, text):
    """Leaving is immediate: what was still to come is cancelled."""
    await platform.deliver(platform.click())
    await platform.deliver(platform.message(text, event_id="event-2"), "/feishu/events")

    assert platform.status() == "unsubscribed"


@pytest.mark.parametrize("text", ["", "不要订阅", "你好", "x" * 5000, "订阅" * 2000, "\u0000\u202e", "{{ 7*7 }}"])
async def test_unknown_words_get_help_not_silence(platform, text):
    """And change nothing."""
    answer = await platform.deliver(platform.message(text), "/feishu/events")

    assert answer.status_code == 200
    assert platform.status() is None
    assert sum(platform.house.store.read_now(ledger.counts).values()) == 1


@pytest.mark.parametrize(
    "value", ["subscribe", {}, None, [], {"v": 1}, {**SUBSCRIBE, "series": "gone"}, {**SUBSCRIBE, "v": 9}]
)
async def test_an_old_or_strange_button_gets_a_kind_answer(platform, value):
    """Always a JSON object, never a crash."""
    answer = await platform.deliver(platform.click(value))

    assert answer.status_code == 200
    assert "已过期" in answer.json()["toast"]["content"]
    assert platform.status() is None


STRANGE = [None, True, -1, 1e300, "x" * 5000, "\0", [], {"a": {}}]


def mutated(odd: Any) -> list[tuple[Any, Any]]:
    """Every field of every action replaced or left out, and forms that no client makes: (value, form value)."""
    replaced = [({**value, key: odd}, None) for value in WHOLE for key in value if odd != value[key]]
    shortened = [({k: v for k, v in value.items() if k != key}, None) for value in WHOLE[:3] for key in value]
    save = encode(SetPreferences(SERIES))
    return [*replaced, *shortened, (save, odd), (save, {"density": odd, "sections": odd, "pause": odd})]


@pytest.mark.parametrize(
    ("store_url", "odd"),
    [("sqlite", odd) for odd in STRANGE] + [("postgresql", "\0")],
    indirect=["store_url"],
    ids=repr,
)
async def test_a_mutated_click_is_answered_and_changes_no_subscription(platform, odd):
    """Always 200 with something to see: an error page helps nobody, and an accident must not subscribe."""
    for number, (value, form) in enumerate(mutated(odd)):
        event = json.loads(platform.click(value, f"event-{number}"))
        event["event"]["operator"]["open_id"] = f"ou_{number // 8}"  # within what one person may press in a minute
        event["event"]["action"]["form_value"] = form

        answer = await platform.deliver(json.dumps(event).encode())

        assert answer.status_code == 200, (value, form)
        assert "toast" in answer.json() or "card" in answer.json()
    assert manage.list_subscriptions(platform.house.store, None, 50, 0)["subscribers"] == []


@on_both
async def test_what_the_platform_would_not_send_breaks_nothing_and_changes_nothing(house):
    """Forged, stale, broken, strange and replayed requests of every family, as the campaign sends them by thousands."""
    outcome = await mutants.run(house, MUTANTS, SEED)

    assert outcome.wrong == []
    assert outcome.answers.total() > MUTANTS * 0.95


async def test_a_forged_signature_is_refused(platform):
    """Signed with another key."""
    body = platform.sealed(platform.click())
    headers = {**platform.headers(body), "X-Lark-Signature": signature.sign("1", "nonce", "other key", body)}

    assert (await platform.post(body, headers)).status_code == 401
    assert platform.status() is None


async def test_a_changed_body_is_refused(platform):
    """The signature covers the raw bytes."""
    body = platform.sealed(platform.click())

    assert (await platform.post(body + b" ", platform.headers(body))).status_code == 401
    assert platform.status() is None


@pytest.mark.parametrize("age_s", [301, 86_400, -360])
async def test_a_stale_click_is_refused(platform, age_s):
    """A click is never delivered again, so an old one is a replay."""
    body = platform.sealed(platform.click())

    assert (await platform.post(body, platform.headers(body, time.time() - age_s))).status_code == 401
    assert platform.status() is None


async def test_an_event_may_come_again_for_hours_but_not_for_ever(platform):
    """Redelivery lasts about seven hours, and whether it is signed anew is not documented."""
    late = platform.sealed(platform.message("订阅"))
    stale = platform.sealed(platform.message("退订", message_id="om_2", event_id="event-2"))

    assert (await platform.post(late, platform.headers(late, time.time() - 7 * 3600))).status_code == 200
    assert (await platform.post(stale, platform.headers(stale, time.time() - 9 * 3600))).status_code == 401
    assert platform.status() == "active"


async def test_an_unencrypted_callback_is_refused(platform):
    """Signed or not: with an encrypt key set, nothing plain is ours."""
    body = platform.click()

    assert (await platform.post(body, platform.headers(body))).status_code == 401
    assert (await platform.post(body, {})).status_code == 401
    assert platform.status() is None


async def test_an_oversized_callback_is_refused(platform):
    """More than 64 KiB."""
    body = platform.sealed(b" " * 70_000)

    assert (await platform.post(body, platform.headers(body))).status_code == 400


async def test_a_truncated_callback_is_refused(platform):
    """Cut in the ciphertext, signed all the same."""
    body = json.loads(platform.sealed(platform.click()))
    cut = json.dumps({"encrypt": body["encrypt"][:-20]}).encode()

    assert (await platform.post(cut, platform.headers(cut))).status_code == 401
    assert (await platform.post(cut[:-5], platform.headers(cut[:-5]))).status_code == 401
    assert platform.status() is None


async def test_a_wrong_verification_token_is_refused(platform):
    """Somebody else's app."""
    plain = platform.envelope("im.message.receive_v1", {}, token="other")

    assert (await platform.deliver(plain)).status_code == 401


async def test_who_cannot_sign_learns_nothing_about_the_padding(platform):
    """No padding oracle: every unsigned body is refused alike."""
    good = platform.sealed(platform.click())
    raw = json.loads(good)["encrypt"]
    bodies = [good, platform.sealed(b"{}"), platform.sealed(b"\xff")]
    bodies += [json.dumps({"encrypt": raw[:n]}).encode() for n in range(0, len(raw), 7)]

    answers = {(r.status_code, r.content) for r in [await platform.post(body, {}) for body in bodies]}

    assert len(answers) == 1


async def test_the_url_check_echoes_the_challenge(platform):
    """Unsigned, encrypted, with the token: the console's check when the address is saved."""
    answer = await platform.post(platform.sealed(platform.challenge('a"b')), {})

    assert (answer.status_code, answer.json()) == (200, {"challenge": 'a"b'})
    assert await platform.house.sandbox.verify_url()


@pytest.mark.parametrize("event", [{}, [], "x", None, {"sender": 1}, {"message": {"content": "{"}}])
@pytest.mark.parametrize(
    "event_type", ["im.message.receive_v1", "im.chat.member.bot.added_v1", "card.action.trigger", "new.one_v9"]
)
async def test_events_of_an_unexpected_shape_are_taken_and_ignored(platform, event_type, event):
    """200, so that the platform does not send them for seven hours."""
    answer = await platform.deliver(platform.envelope(event_type, event))

    assert (answer.status_code, answer.json()) == (200, {})
    assert manage.list_subscriptions(platform.house.store, None, 50, 0)["subscribers"] == []
