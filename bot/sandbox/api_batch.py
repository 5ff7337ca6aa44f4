"""Batch send with its progress, read count and recall. Source: feishu-platform notes 3.6, 13 (scopes), 15.12.

Refusals of the send itself are HTTP 200 with a body code (page BATCH); the general table (ERR) says what a code means.
The gateway's own refusals (token, limits, first scope, a body that is no object) keep their HTTP status.
"""

from collections.abc import Sequence
from typing import Any, NoReturn

from starlette.routing import BaseRoute

from bot.sandbox.batch_content import TYPES, FormError, nodes_of, note_dead_controls, read_content, sub_codes
from bot.sandbox.batch_queue import BatchQueue
from bot.sandbox.gateway import Call, Gateway, RefusalError, success
from bot.sandbox.message_content import CARD_BYTES, TEXT_BYTES
from bot.sandbox.state import App, Batch, World

SEND_SCOPES = ("im:message", "im:message:send_as_bot")
USERS_SCOPE, DEPARTMENTS_SCOPE = "im:message:send_multi_users", "im:message:send_multi_depts"
EMPLOYEE_SCOPE = "contact:user.employee_id:readonly"
READ_SCOPES = (*SEND_SCOPES, "im:message:readonly")
RECALL_SCOPES = (*SEND_SCOPES, "im:message:recall")
LISTS = ("department_ids", "open_ids", "user_ids", "union_ids")
MOST_IDS = 200
ROOT_DEPARTMENT = "0"
DAY_S = 86_400
KEPT_S = 30 * DAY_S
CODES = {230001: 10002, 230017: 11227, 230022: 11312, 230028: 11312, 230099: 11246}  # of the message API → of this one


def routes(gateway: Gateway, queue: BatchQueue) -> Sequence[BaseRoute]:
    api = Batches(gateway, queue)
    one = "/open-apis/im/v1/batch_messages/{message_id}"
    return [
        gateway.route("POST", "/open-apis/message/v4/batch_send/", "batch_send", api.send, scopes=SEND_SCOPES),
        gateway.route("GET", one + "/get_progress", "batch_progress", api.progress, scopes=READ_SCOPES),
        gateway.route("GET", one + "/read_user", "batch_read", api.read_user, scopes=READ_SCOPES),
        gateway.route("DELETE", one, "batch_recall", api.recall, scopes=RECALL_SCOPES),
    ]


class Batches:
    """One method an API."""

    def __init__(self, gateway: Gateway, queue: BatchQueue) -> None:
        self._world, self._clock, self._queue = gateway.world, gateway.clock, queue
        self._gateway, self._settings = gateway, gateway.settings

    async def send(self, call: Call) -> dict[str, Any]:
        """A batch id and the ids that nobody has; the rest is sent, even if that is nobody."""
        body = call.json()
        if not call.app.bot_enabled:
            _refuse(11205, "app do not have bot")
        lists = _lists(body)
        _check_scopes(call.app, lists)
        named, invalid = _people(self._world, lists)
        people = list(dict.fromkeys(named))
        content = self._content(call, body)
        if self._queue.messages_today(call.app.app_id) + len(people) > self._settings.batch_messages_a_day:
            _refuse(11247, "internal send message trigger rate limit")
        await call.pause()
        batch = self._queue.add(call.app, body["msg_type"], content, people)
        self._note_misuse(batch, body, twice=len(named) > len(people))
        return success({"message_id": batch.batch_id, **{f"invalid_{name}": ids for name, ids in invalid.items()}})

    async def progress(self, call: Call) -> dict[str, Any]:
        """`valid` counts people whom the bot does not reach, too. Numbers, where `read_user` has strings."""
        batch = self._batch(call)
        arrived = self._queue.messages_of(batch)
        sent = {
            "valid_user_ids_count": len(batch.people),
            "success_user_ids_count": len(arrived),
            "read_user_ids_count": len(self._queue.readers_of(batch)),
        }
        recalled = {"recall": batch.recalled, "recall_count": sum(message.recalled for message in arrived)}
        return success({"batch_message_send_progress": sent, "batch_message_recall_progress": recalled})

    async def read_user(self, call: Call) -> dict[str, Any]:
        batch = self._batch(call)
        total = len(self._queue.messages_of(batch))
        return success(
            {"read_user": {"read_count": str(len(self._queue.readers_of(batch))), "total_count": str(total)}}
        )

    async def recall(self, call: Call) -> dict[str, Any]:
        """All of it at once, also what has not arrived yet. A second recall changes nothing."""
        batch = self._batch(call)
        if self._clock.now() - batch.created_at > self._settings.recall_window_s:
            raise RefusalError(230009, "This message can NOT be withdrawn within one days.")
        await call.pause()
        self._queue.recall(batch)
        return success()

    def _batch(self, call: Call) -> Batch:
        """230030 for an id that is none, or whose batch is older than 30 days (assumption)."""
        self._queue.settle()
        batch = self._world.batches.get(call.request.path_params["message_id"])
        if batch is None or batch.app_id != call.app.app_id or self._clock.now() - batch.created_at > KEPT_S:
            raise RefusalError(230030, "The message id is invalid, record not found.")
        return batch

    def _content(self, call: Call, body: dict[str, Any]) -> str:
        """10003: fields; 10002: shape or size of the content; 11246: card; 11227: image; 11231: group; 11312: audit."""
        msg_type = body.get("msg_type")
        if msg_type not in TYPES:
            _refuse(10003, "Invalid parameter: msg_type")
        if len(call.body) > (TEXT_BYTES if msg_type == "text" else CARD_BYTES):
            _refuse(10002, "Create or send message fail: the content is too long")
        try:
            content = read_content(
                self._gateway, call.app, None, body, may_share=lambda chat_id: self._is_inside(call.app, chat_id)
            )
        except FormError as exc:
            _refuse(10003, f"Invalid parameter: {exc}")
        except RefusalError as refusal:
            _refuse(CODES.get(refusal.code, refusal.code), sub_codes(refusal))
        if msg_type == "post" and any(node["tag"] == "md" for node in nodes_of(body["content"])):
            _refuse(10002, "Create or send message fail: unknown tag md")
        return content

    def _is_inside(self, app: App, chat_id: str) -> bool:
        chat = self._world.chats.get(chat_id)
        return chat is not None and chat.mode == "group" and app.app_id in chat.bots

    def _note_misuse(self, batch: Batch, body: dict[str, Any], *, twice: bool) -> None:
        """What the platform takes without a word. A person named twice gets one message (assumption)."""
        violations = self._world.violations
        if "uuid" in body:
            violations.append(f"{batch.batch_id}: batch sends know no uuid, so that a repetition sends twice")
        if twice:
            violations.append(f"{batch.batch_id}: somebody is named twice")
        note_dead_controls(self._world, batch.batch_id, body)


def _lists(body: dict[str, Any]) -> dict[str, list[str]]:
    """The four lists; 10003 for none at all, for other values, more than 200 entries, and the root department."""
    lists = {name: body.get(name) or [] for name in LISTS}
    for name, ids in lists.items():
        if not isinstance(ids, list) or not all(isinstance(one, str) for one in ids) or len(ids) > MOST_IDS:
            _refuse(10003, f"Invalid parameter: {name}")
    if not any(lists.values()):
        _refuse(10003, "Invalid parameter: at least one list of receivers is required")
    if ROOT_DEPARTMENT in lists["department_ids"]:
        _refuse(10003, "Invalid parameter: department_ids must not be the root department")
    return lists


def _check_scopes(app: App, lists: dict[str, list[str]]) -> None:
    """The second scope is the service's own matter, with its own codes (that it is 11223 is an assumption)."""
    if app.scopes is None:
        return
    if lists["department_ids"] and DEPARTMENTS_SCOPE not in app.scopes:
        _refuse(11223, f"do not have im write permission: {DEPARTMENTS_SCOPE}")
    if any(lists[name] for name in LISTS[1:]) and USERS_SCOPE not in app.scopes:
        _refuse(11223, f"do not have im write permission: {USERS_SCOPE}")
    if lists["user_ids"] and EMPLOYEE_SCOPE not in app.scopes:
        _refuse(11203, "send employee ids permission denied")


def _people(world: World, lists: dict[str, list[str]]) -> tuple[list[str], dict[str, list[str]]]:
    """Open_ids of the people who exist, as often as they are named, and what is invalid by list.

    Nobody has a user_id here, as reading it needs a scope of its own (8), and there are no departments.
    """
    by_union = {user.union_id: user.open_id for user in world.users.values()} if lists["union_ids"] else {}
    found = {
        "department_ids": {},
        "open_ids": {one: one for one in lists["open_ids"] if one in world.users},
        "user_ids": {},
        "union_ids": {one: by_union[one] for one in lists["union_ids"] if one in by_union},
    }
    named = [found[name][one] for name, ids in lists.items() for one in ids if one in found[name]]
    return named, {name: [one for one in ids if one not in found[name]] for name, ids in lists.items()}


def _refuse(code: int, msg: str) -> NoReturn:
    raise RefusalError(code, msg, status=200)
