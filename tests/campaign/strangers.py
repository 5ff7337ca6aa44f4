"""The official SDKs as strangers: apps made with them hear our platform's events, clicks and challenge, and answer."""

import asyncio
import contextlib
import json
import os
import shutil
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click
import httpx
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from bot.domain.audience import Kind, Receiver
from bot.feishu.client import FeishuClient
from bot.feishu.sdk import load
from bot.sandbox.client_actions import Shown
from bot.serving import listen, serving
from bot.settings import FeishuSettings
from tests.callbacks import Callbacks
from tests.campaign import stage
from tests.integration.conftest import House, until
from tests.sandbox.kit import button, card_json, card_of

PACKAGE = "@larksuiteoapi/node-sdk"
SCRIPT = Path(__file__).with_name("stranger.cjs")
CLICK = "card.action.trigger"
KINDS = (
    "im.chat.access_event.bot_p2p_chat_entered_v1",
    "im.message.receive_v1",
    "im.message.message_read_v1",
    "application.bot.menu_v6",
    "im.chat.member.bot.added_v1",
    "im.chat.updated_v1",
    "im.chat.member.bot.deleted_v1",
    "im.chat.disbanded_v1",
    "contact.user.deleted_v3",
)
VALUE = {"v": 1, "wanted": "收到", "nested": {"a": [1, None]}}
FORM = {"words": "长" * 500, "day": ""}
CARD = card_json(
    card_of(
        button(VALUE),
        {
            "tag": "form",
            "name": "form",
            "elements": [
                {"tag": "input", "name": "words"},
                {"tag": "date_picker", "name": "day"},
                button(VALUE, name="save", form_action_type="submit"),
            ],
        },
    )
)


@dataclass
class Stranger:
    """Somebody's app. `heard`: kinds of events with what the app says of them."""

    heard: list[tuple[str, Any]] = field(default_factory=list)

    def kinds(self) -> set[str]:
        return {kind for kind, _ in self.heard}


@dataclass
class Found:
    """What a stranger accepted, by name; each should be True."""

    who: str
    accepted: dict[str, bool]

    def __str__(self) -> str:
        missed = [what for what, good in self.accepted.items() if not good]
        return f"{self.who}: accepted {len(self.accepted) - len(missed)} of {len(self.accepted)}" + (
            f", not: {', '.join(missed)}" if missed else f" ({', '.join(self.accepted)})"
        )


async def doings(house: House) -> dict[str, Shown]:
    """People do whatever makes the platform tell the app."""
    client, feishu = house.sandbox.client, house.settings.feishu
    reader, owner, gone = (client.add_user(name).open_id for name in ("读者甲", "群主", "读者乙"))
    shown = {"open the chat": await client.open_bot_chat(reader)}
    chat = shown["open the chat"].chat_id
    group, other = [(await client.create_group(name, owner, [reader])).chat_id for name in ("学习群", "读书群")]
    assert chat
    assert group
    assert other
    shown["message"] = await client.say(reader, chat, '订阅 \u2028 <at>" 👩\u200d👧 ' + "长" * 2_000)
    async with FeishuClient(feishu.base_url, feishu.app_id, feishu.app_secret) as api:
        card = await api.send(Receiver(Kind.USER, reader), CARD, "uuid")
    shown["read"] = await client.read_chat(reader, chat)
    shown["menu"] = await client.choose_menu(reader, "subscribe")
    shown["bot added"] = await client.add_bot(group, owner)
    await client.add_bot(other, owner)
    shown["message in a group"] = await client.say(reader, group, "帮助", mention_bot=True)
    shown["muted"] = await client.set_muted(group)
    shown["bot removed"] = await client.remove_bot(group, owner)
    shown["group dissolved"] = await client.dissolve(other)
    shown["somebody resigned"] = await client.resign(gone)
    shown["click"] = await client.click(reader, card, VALUE)
    shown["form"] = await client.click(reader, card, "save", form_value=FORM)
    return shown


async def met(house: House, who: str, stranger: Stranger, more: dict[str, bool] | None = None) -> Found:
    """Let people do things, and compare what the app heard with what was done."""
    shown = await doings(house)
    clicks = [action for kind, action in stranger.heard if kind == CLICK]
    accepted = {
        **(more or {}),
        **{what: one.answered is True for what, one in shown.items() if one.answered is not None},
    }
    accepted |= {
        "every kind heard": stranger.kinds() == {*KINDS, CLICK},
        "click's toast": (shown["click"].code, shown["click"].toast_text) == (0, "收到"),
        "click's value": any(one.get("value") == VALUE for one in clicks),
        "form's card": (shown["form"].code, shown["form"].card_changed) == (0, True),
        "form's values": any(one.get("form_value") == FORM for one in clicks),
        "nothing misused": not house.sandbox.world.violations,
    }
    return Found(who, accepted)


async def challenges(house: House) -> dict[str, bool]:
    """Whether the app at the two addresses passes the check of the developer console."""
    settings = house.sandbox.settings
    addresses = {"challenge for events": settings.event_url, "challenge for cards": settings.card_url}
    return {what: await house.sandbox.verify_url(url) for what, url in addresses.items()}


async def answer_to_a_challenge(house: House) -> tuple[int, Any]:
    """Status and JSON of whoever is at the address now."""
    callbacks = Callbacks(house.settings.feishu)
    async with httpx.AsyncClient(trust_env=False) as http:
        body = callbacks.sealed(callbacks.challenge("a-challenge"))
        answer = await http.post(house.sandbox.settings.event_url or "", content=body)
    return answer.status_code, answer.json()


def sdk_app(feishu: FeishuSettings, stranger: Stranger) -> Starlette:
    """An app around the dispatchers of lark-oapi."""
    load()  # narrowly: the whole SDK takes seconds
    from lark_oapi.card.action_handler import CardActionHandler
    from lark_oapi.core.model import RawRequest
    from lark_oapi.event.dispatcher_handler import EventDispatcherHandler

    def clicked(callback: Any) -> Any:
        action = callback.event.action
        stranger.heard.append((CLICK, {"value": action.value, "form_value": action.form_value}))
        answer: dict[str, Any] = {"toast": {"type": "success", "content": "收到"}}
        if action.form_value:
            card = {"schema": "2.0", "body": {"elements": [{"tag": "markdown", "content": "收到"}]}}
            answer["card"] = {"type": "raw", "data": card}
        return answer

    def hearing(kind: str) -> Callable[[Any], None]:
        return lambda _: stranger.heard.append((kind, None))

    secrets = str.__str__(feishu.encrypt_key), str.__str__(feishu.verification_token)
    events = EventDispatcherHandler.builder(*secrets).register_p2_card_action_trigger(clicked)
    for kind in KINDS:
        getattr(events, f"register_p2_{kind.replace('access_event.', 'access_event_').replace('.', '_')}")(
            hearing(kind)
        )
    dispatcher, old = events.build(), CardActionHandler.builder(*secrets).build()

    def at(handler: Any) -> Callable[[Request], Awaitable[Response]]:
        async def take(request: Request) -> Response:
            raw = RawRequest()
            raw.uri, raw.headers, raw.body = request.url.path, request.headers, await request.body()
            answer = handler.do(raw)
            return Response(answer.content, answer.status_code, dict(answer.headers))

        return take

    paths = {"/feishu/events": dispatcher, "/feishu/card": dispatcher, "/old": old}
    return Starlette(routes=[Route(path, at(handler), methods=["POST"]) for path, handler in paths.items()])


async def python_sdk(house: House) -> tuple[Found, tuple[int, Any]]:
    """lark-oapi's dispatcher over HTTP; its old handler of cards knows no encrypted callback, but the challenge."""
    stranger = Stranger()
    async with serving(sdk_app(house.settings.feishu, stranger), listen("127.0.0.1", house.bot_port)):
        checked = await challenges(house)
        old = f"http://127.0.0.1:{house.bot_port}/old"
        checked["challenge to the old card handler"] = await house.sandbox.verify_url(old)
        answer = await answer_to_a_challenge(house)
        return await met(house, "lark-oapi over HTTP", stranger, checked), answer


@contextlib.asynccontextmanager
async def node_app(house: House, folder: Path, *more: str) -> AsyncIterator[Stranger]:
    """An app of the Node SDK, which is installed in a folder, as a process of its own."""
    feishu, stranger = house.settings.feishu, Stranger()
    secrets = {
        "APP_ID": feishu.app_id,
        "APP_SECRET": str.__str__(feishu.app_secret),
        "ENCRYPT_KEY": str.__str__(feishu.encrypt_key),
        "TOKEN": str.__str__(feishu.verification_token),
    }
    environ = {name: value for name, value in os.environ.items() if "proxy" not in name.lower()}
    process = await asyncio.create_subprocess_exec(
        "node", str(folder / SCRIPT.name), json.dumps(KINDS), str(house.bot_port), *more,
        env=environ | secrets, stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    listening = asyncio.create_task(_listen(process, stranger))
    try:
        yield stranger
    finally:
        process.kill()
        await listening
        await process.wait()


async def _listen(process: asyncio.subprocess.Process, stranger: Stranger) -> None:
    assert process.stdout is not None
    async for line in process.stdout:
        if line.startswith(b'{"kind"'):
            said = json.loads(line)
            stranger.heard.append((said["kind"], said.get("what")))


async def node_over_http(house: House, folder: Path) -> tuple[Found, tuple[int, Any]]:
    """Its dispatcher and its handler of cards, by `adaptDefault`."""
    async with node_app(house, folder) as stranger:
        await until(lambda: bool(stranger.heard))
        stranger.heard.clear()
        checked, answer = await challenges(house), await answer_to_a_challenge(house)
        return await met(house, "the Node SDK over HTTP", stranger, checked), answer


async def node_over_link(house: House, folder: Path) -> Found:
    """Its WSClient, led to our address."""
    async with node_app(house, folder, house.settings.feishu.base_url) as stranger:
        await until(lambda: bool(house.sandbox.links.wires))
        return await met(house, "the Node SDK's WSClient", stranger)


async def installed(folder: Path) -> bool:
    """Whether npm could install the Node SDK there, from the registry that this machine uses."""
    command = ["npm", "install", "--prefix", str(folder), "--no-audit", "--no-fund", "--ignore-scripts", PACKAGE]
    process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.DEVNULL)
    shutil.copy(SCRIPT, folder)
    return await process.wait() == 0


async def campaign() -> bool:
    """Print what was accepted; returns whether everything was that could be tried."""
    answers, all_well = [], True

    async def meet(meeting: Callable[[House], Awaitable[Any]]) -> None:
        nonlocal all_well
        with stage.database("sqlite") as store:
            async with stage.stage(store) as (house, _):
                met_with = await meeting(house)
        found, *said = met_with if isinstance(met_with, tuple) else (met_with,)
        answers.extend(said)
        all_well &= all(found.accepted.values())
        click.echo(f"strangers: {found}")

    await meet(python_sdk)
    if shutil.which("npm") and shutil.which("node"):
        with tempfile.TemporaryDirectory() as name:
            if await installed(Path(name)):
                await meet(lambda house: node_over_http(house, Path(name)))
                await meet(lambda house: node_over_link(house, Path(name)))
            else:
                all_well = False
                click.echo(f"strangers: npm could not install {PACKAGE}: the Node SDK was not met")
    else:
        click.echo("strangers: there is no npm here: the Node SDK was skipped, over HTTP and over the long connection")
    await meet(our_own)
    same = all(answer == answers[0] for answer in answers)
    click.echo(f"  to the same challenge {len(answers)} apps, ours among them, say {answers[0] if same else answers}")
    return all_well and same


async def our_own(house: House) -> tuple[Found, tuple[int, Any]]:
    """Our bot gets the same challenges."""
    async with house.bot():
        return Found("our bot", await challenges(house)), await answer_to_a_challenge(house)
