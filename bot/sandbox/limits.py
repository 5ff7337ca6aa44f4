"""The platform's rate limits and monthly quota, on sliding windows: the harshest reading of "50 in a second".

Sources: feishu-platform notes 2.6 and 15.3 (limits), 1.6 (quota). Refused calls take no place in a window (assumption).
"""

import math
from collections import Counter, deque
from dataclasses import dataclass
from datetime import UTC, datetime

from bot.sandbox.clock import Clock

CALLS_PER_S = 50  # tier 4, per app and API
CALLS_PER_MINUTE = 1000
TARGET_PER_S = 5  # per user; per group over all its bots; patches per message
HOOK_RULES = ((5, 1.0), (100, 60.0))  # per custom bot (12)
FEW_WINDOWS = 10_000
# APIs with limits of their own (9): wiki per minute, documents, media and tables per second.
TIERS = {
    **dict.fromkeys(("get_node", "nodes"), ((100, 60.0),)),
    **dict.fromkeys(("document", "document_blocks", "media"), ((5, 1.0),)),
    "search_records": ((20, 1.0),),
}
# over the limit: HTTP 400 (9.2); batch send is of the old generation too (assumption)
OLD_STYLE = {"document", "document_blocks", "batch_send"}


@dataclass(frozen=True, slots=True)
class LimitAnswer:
    """A refusal that was given. `target`: the API or the chat. `reset_s`: whole seconds until a call is free again."""

    code: int
    target: str
    limit: int
    reset_s: int
    at: float


class Limits:
    """Asks are also takes: a call that is let through occupies its place in every window."""

    def __init__(self, clock: Clock, *, enabled: bool = True, monthly_calls: int | None = None) -> None:
        self.enabled = enabled
        self.monthly_calls = monthly_calls
        self.answers: list[LimitAnswer] = []
        self.calls_by_month: Counter[str] = Counter()
        self._clock = clock
        self._windows: dict[tuple[str, float], deque[float]] = {}

    def take_call(self, app_id: str, api: str) -> LimitAnswer | None:
        """99991400 when the app called this API 50 times in the last second or 1,000 in the last minute; see TIERS."""
        rules = TIERS.get(api, ((CALLS_PER_S, 1.0), (CALLS_PER_MINUTE, 60.0)))
        return self._take(99991400, f"{app_id}/{api}", rules, api)

    def take_target(self, target: str) -> LimitAnswer | None:
        """230020 when a chat got 5 messages in the last second from whichever bot, or a message 5 patches."""
        return self._take(230020, target, ((TARGET_PER_S, 1.0),), target)

    def take_hook(self, sender_id: str, chat_id: str) -> LimitAnswer | None:
        """11232 for a custom bot's 6th message in a second or 101st in a minute; all bots share their group's 5/s."""
        return self._take(11232, sender_id, HOOK_RULES, sender_id) or self.take_target(chat_id)

    def over_quota(self) -> bool:
        """Whether this month's calls are used up; they count anew on the first of the month."""
        return self.monthly_calls is not None and self.calls_by_month[self._month()] >= self.monthly_calls

    def count_call(self) -> None:
        """A call that succeeded: failed ones do not count (notice on the quota)."""
        self.calls_by_month[self._month()] += 1

    def _take(self, code: int, key: str, rules: tuple[tuple[int, float], ...], target: str) -> LimitAnswer | None:
        if not self.enabled:
            return None
        now = self._clock.now()
        for limit, seconds in rules:
            hits = self._window(key, seconds, now)
            if len(hits) >= limit:
                reset_s = max(1, math.ceil(hits[0] + seconds - now))
                self.answers.append(LimitAnswer(code, target, limit, reset_s, now))
                return self.answers[-1]
        for _, seconds in rules:
            self._windows[key, seconds].append(now)
        return None

    def _window(self, key: str, seconds: float, now: float) -> deque[float]:
        if len(self._windows) > FEW_WINDOWS:
            self._forget_quiet(now)
        hits = self._windows.setdefault((key, seconds), deque())
        while hits and hits[0] <= now - seconds:
            hits.popleft()
        return hits

    def _forget_quiet(self, now: float) -> None:
        quiet = [key for key, hits in self._windows.items() if not hits or hits[-1] <= now - key[1]]
        for key in quiet:
            del self._windows[key]

    def _month(self) -> str:
        return datetime.fromtimestamp(self._clock.now(), UTC).strftime("%Y-%m")
