"""The app's long connections: tickets for them, who may connect, and which one gets an event.

Source: feishu-platform notes 7.6 (at most 50; each event to one at random), lark-oapi notes 5 (parameters, refusals).
"""

import asyncio
import contextlib
import random
import secrets
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from bot.sandbox.clock import Clock
from bot.sandbox.link_faults import LinkFaults
from bot.sandbox.link_wire import GONE, PART_BYTES, Answer, Wire
from bot.sandbox.settings import SandboxSettings
from bot.sandbox.state import Setting, World

MOST_LINKS = 50
TICKET_S = 60.0  # not documented
KNOWN = "link_known"
TOO_MANY, INTERNAL, FORBIDDEN, AUTH_FAILED = 1000040350, 1000040343, 403, 514


@dataclass(frozen=True, slots=True)
class Ticket:
    """Good for one connection. Its values are the parameters of the address."""

    device_id: str
    service_id: int
    access_key: str
    ticket: str
    ends_at: float

    def query(self) -> dict[str, str]:
        names = ("device_id", "service_id", "access_key", "ticket")
        return {name: str(getattr(self, name)) for name in names}

    def __repr__(self) -> str:
        return f"Ticket({self.device_id})"


class UpgradeRefusedError(Exception):
    """The headers of the refusal: `handshake-status`, and for 514 `handshake-autherrcode`."""

    def __init__(self, status: int, message: str, auth_code: int | None = None) -> None:
        super().__init__(message)
        self.headers = {"handshake-status": str(status), "handshake-msg": message}
        if auth_code is not None:
            self.headers["handshake-autherrcode"] = str(auth_code)


class Hub:
    """`wires` are the open connections by device. The app that has once connected is remembered in the world."""

    def __init__(self, settings: SandboxSettings, world: World, clock: Clock) -> None:
        self.wires: dict[str, Wire] = {}
        self.faults = LinkFaults()
        self._settings = settings
        self._world = world
        self._clock = clock
        self._chance = random.Random(settings.seed)
        self._tickets: dict[str, Ticket] = {}

    @property
    def is_open(self) -> bool:
        """Whether events go over a connection now."""
        return bool(self.wires) and self._settings.transport == "websocket"

    @property
    def is_known(self) -> bool:
        """Whether the app has ever connected: events without a connection are then events that failed."""
        return KNOWN in self._world.settings

    @property
    def is_full(self) -> bool:
        return len(self.wires) >= MOST_LINKS

    @contextlib.contextmanager
    def open(self, wire: Wire) -> Iterator[None]:
        """The connection gets events inside the block."""
        self.wires[wire.device_id] = wire
        if not self.is_known:
            self._world.put(Setting(KNOWN, 1))
        try:
            yield
        finally:
            del self.wires[wire.device_id]

    def issue(self) -> Ticket:
        """A new ticket; those that nobody used in time are forgotten."""
        now = self._clock.now()
        self._tickets = {key: one for key, one in self._tickets.items() if one.ends_at > now}
        names = secrets.token_hex(8), secrets.randbelow(2**31), secrets.token_hex(16), secrets.token_hex(16)
        ticket = Ticket(*names, now + TICKET_S)
        self._tickets[ticket.device_id] = ticket
        return ticket

    def admit(self, query: Mapping[str, str]) -> Ticket:
        """The ticket of these parameters, used up. Raises UpgradeRefusedError."""
        if not query.get("device_id") or not query.get("service_id", "").isdigit():
            raise UpgradeRefusedError(FORBIDDEN, "device_id and service_id are needed")
        ticket = self._tickets.pop(query["device_id"], None)
        if ticket is None or ticket.ends_at <= self._clock.now() or dict(query) != ticket.query():
            raise UpgradeRefusedError(AUTH_FAILED, "the ticket is not valid", INTERNAL)
        if self.is_full:
            raise UpgradeRefusedError(AUTH_FAILED, "too many connections", TOO_MANY)
        return ticket

    async def deliver(self, payload: bytes) -> Answer:
        """Push an event over one of the connections and wait for its answer."""
        wires = list(self.wires.values())
        if not wires:
            return GONE
        split = self.faults.strikes("split")
        size = split.size if split else PART_BYTES
        copies = 2 if self.faults.strikes("twice") else 1
        answers = await asyncio.gather(*(self._chance.choice(wires).push(payload, size) for _ in range(copies)))
        return answers[0]

    def cut_all(self) -> None:
        for wire in list(self.wires.values()):
            wire.cut()
