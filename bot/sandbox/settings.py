"""How one sandbox is set up. Everything here is fixed for its lifetime; what can change lives in `World`."""

from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True)
class SandboxSettings:
    """The app that the sandbox knows, where its events go, and which rules are on.

    `event_url`, `card_url`: the app's addresses; None: not configured (no events are pushed, clicks show 200340).
    `journal`: file that makes the world survive a kill; None keeps it in memory.
    `limits`: rate limits; off for load tests. `strict_uuid`: note a uuid that is used for something else.
    `redelivery_scale`: factor on the waits before an event is pushed again (15 s, 5 min, 1 h, 6 h).
    `monthly_calls`: quota of the free edition (10,000), None for no cap.
    `bot_shares_clock`: the app takes its time from `Sandbox.clock`; else signatures carry the unmoved time.
    """

    app_id: str = "cli_sandbox0000000000"
    app_secret: str = field(default="sandbox-secret", repr=False)
    encrypt_key: str = field(default="sandbox-encrypt-key", repr=False)
    verification_token: str = field(default="sandbox-verification-token", repr=False)
    bot_name: str = "日报机器人"
    event_url: str | None = None
    card_url: str | None = None
    journal: Path | None = None
    limits: bool = True
    strict_uuid: bool = True
    redelivery_scale: float = 1.0
    monthly_calls: int | None = None
    bot_shares_clock: bool = False
    seed: str = "sandbox"
