"""Is the process there, and is it at work: for supervisors, balancers, and whoever looks after the bot."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from bot.feishu.link_health import LinkHealth
from bot.leader import Leader
from bot.services.arrivals import Arrivals
from bot.services.deliver import Deliverer
from bot.services.vitals import Standing, Vitals
from bot.web.webhook import Webhook

HANGS_S = 60.0  # so much later than it meant to, a loop has not turned: longer than a server's restart may hold it up
TAKEOVER = timedelta(seconds=10)  # the work of a process that died is another's by then


@dataclass(frozen=True, slots=True)
class Process:
    """What only this process knows. `link`: none where events come over HTTP; `webhook`: none where they cannot."""

    deliverer: Deliverer
    leader: Leader
    arrivals: Arrivals
    webhook: Webhook | None
    link: Callable[[datetime], LinkHealth] | None

    def sender_late_s(self, now: datetime) -> float | None:
        """By how much the sender's loop is late for its next turn; None if this process does not send."""
        turns_at = self.deliverer.turns_at
        return None if turns_at is None else max(0.0, (now - turns_at).total_seconds())

    def is_scheduled(self, standing: Standing | None, now: datetime) -> bool:
        """Whether what is to be done by the clock is done: here, or by another process that leads."""
        if self.leader.is_here:
            return (now - self.leader.asked_at).total_seconds() <= HANGS_S
        led_until = standing.led_until if standing else None
        return led_until is not None and now <= led_until + TAKEOVER


class Health:
    """`/healthz` and `/readyz`."""

    def __init__(self, vitals: Vitals, process: Process, clock: Callable[[], datetime]) -> None:
        self._vitals = vitals
        self._process = process
        self._clock = clock

    def routes(self) -> list[Route]:
        """What to hang into the app."""
        return [Route("/healthz", self.healthz), Route("/readyz", self.readyz)]

    async def healthz(self, _: Request) -> Response:
        """The process answers."""
        return JSONResponse({"ok": True})

    async def readyz(self, _: Request) -> Response:
        """Each thing that must work, true or false, and beside them what is known of it. 503 unless all are true."""
        now = self._clock()
        standing = await self._vitals.standing(now)
        totals = await self._vitals.totals(now) if standing else None
        checks = self._checks(standing, now)
        facts = self._facts(standing, now)
        facts["last_success_at"] = _iso(totals.last_success) if totals else None
        return JSONResponse({**checks, "facts": facts}, status_code=200 if all(checks.values()) else 503)

    def _checks(self, standing: Standing | None, now: datetime) -> dict[str, bool]:
        process = self._process
        checks = {"database": standing is not None, "queue": standing is not None and standing.paused is None}
        late_s = process.sender_late_s(now)
        if late_s is not None:
            checks["sender"] = late_s <= HANGS_S
        checks["scheduler"] = process.is_scheduled(standing, now)
        if process.link is not None:
            checks["link"] = process.link(now).is_up
        return checks

    def _facts(self, standing: Standing | None, now: datetime) -> dict[str, Any]:
        process = self._process
        facts: dict[str, Any] = {"sender_late_s": process.sender_late_s(now), "leads": process.leader.is_here}
        if standing is not None:
            facts |= {
                "revision": standing.revision,
                "paused": standing.paused,
                "oldest_due_s": round(standing.oldest_due_s),
            }
        if process.link is not None:
            facts["link"] = _link_facts(process.link(now), now)
        return facts


def _link_facts(health: LinkHealth, now: datetime) -> Mapping[str, Any]:
    return {
        "since_pong_s": _age_s(health.last_pong, now),
        "since_event_s": _age_s(health.last_event, now),
        "reconnects": health.reconnects,
        "trouble": health.trouble,
    }


def _age_s(at: datetime | None, now: datetime) -> float | None:
    return None if at is None else round((now - at).total_seconds(), 1)


def _iso(at: datetime | None) -> str | None:
    return at.isoformat(timespec="seconds") if at else None
