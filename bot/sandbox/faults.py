"""Things that go wrong on purpose: scripted, or by chance from a seed. Off until a test or the operator adds one.

Source: feishu-platform notes 15.7 (failure injection).
"""

import random
from typing import Literal

import httpx
import msgspec
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

Kind = Literal["drop_reply", "reset", "server_error", "slow", "rate_limited", "code", "revoke_token"]

CODES_WITH_429 = {99991400, 99991403}
DEFAULT_RESET_S = 1


class Fault(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One thing that goes wrong. Without `receiver` for every receiver, with `times` None until it is cleared.

    drop_reply    the call has its effect, then the connection is cut
    reset         the connection is cut before anything happens
    server_error  HTTP `status` (502) with an HTML page, nothing happens; status 429: the gateway's limit without a code
    slow          `seconds` pass; a send is in progress meanwhile (230049 for the same uuid)
    rate_limited  HTTP 429, 99991400, both headers, to wait `seconds`
    code          body code `code`: HTTP 429 for 99991403, else `status` (400)
    revoke_token  the app's tokens die just before the call

    `api`: token, link, send, reply, get_message, list_messages, patch, recall, read_users, update_card, upload_image,
    image, bot_info, chats, chat, members, is_in_chat, batch_send, batch_progress, batch_read, batch_recall, hook,
    get_node, nodes, document, document_blocks, media, search_records, or `*`.
    `receiver`: the id that the call addresses: receive_id, else the message, chat or hook (its token) of its path.
    `after`: so many matching calls pass unharmed first. `probability`: of each matching call.
    """

    kind: Kind
    api: str = "*"
    receiver: str | None = None
    after: int = 0
    times: int | None = 1
    probability: float = 1.0
    code: int = 0
    msg: str = "injected by the sandbox"
    status: int | None = None
    seconds: float = 0.0


class Faults:
    """The script. The first fault that matches a call is the one it meets."""

    def __init__(self, seed: str = "sandbox") -> None:
        self.met: list[tuple[str, Fault]] = []
        """What was done to whom: (API, fault), in order."""
        self._seed = seed
        self._script: list[_Entry] = []
        self._random = random.Random(seed)

    @property
    def scripted(self) -> bool:
        return bool(self._script)

    def add(self, *faults: Fault) -> None:
        self._script.extend(_Entry(fault) for fault in faults)

    def clear(self) -> None:
        """No more faults; chance starts again from the seed."""
        self._script.clear()
        self._random.seed(self._seed)

    def pick(self, api: str, receiver: str | None) -> Fault | None:
        for entry in self._script:
            if entry.takes(api, receiver, self._random):
                self.met.append((api, entry.fault))
                return entry.fault
        return None


class _Entry:
    def __init__(self, fault: Fault) -> None:
        self.fault = fault
        self.seen = 0
        self.done = 0

    def takes(self, api: str, receiver: str | None, chance: random.Random) -> bool:
        fault = self.fault
        if fault.api not in ("*", api) or fault.receiver not in (None, receiver):
            return False
        if fault.times is not None and self.done >= fault.times:
            return False
        self.seen += 1
        if self.seen <= fault.after or (fault.probability < 1 and chance.random() >= fault.probability):
            return False
        self.done += 1
        return True


class HangUp(Response):
    """Cuts the connection instead of answering.

    Reaches uvicorn's transport through its `receive`, the one callable that Starlette passes on unwrapped; in process
    (httpx.ASGITransport) there is no connection, so the client gets the error that a cut one would give it.
    """

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002
        transport = getattr(getattr(receive, "__self__", None), "transport", None)
        if transport is None:
            raise httpx.ReadError("the sandbox cut the connection")
        transport.abort()
        while (await receive())["type"] != "http.disconnect":
            pass
