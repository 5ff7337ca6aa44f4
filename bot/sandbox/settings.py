"""How one sandbox is set up. Everything here is fixed for its lifetime; what can change lives in `World`."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal


@dataclass(frozen=True, slots=True)
class SandboxSettings:
    """The app that the sandbox knows, where its events go, and which rules are on.

    `event_url`, `card_url`: the app's addresses; None: not configured (no events are pushed, clicks show 200340).
    `transport`: `websocket` uses the app's long connections while there is one, `webhook` only its addresses.
    `ping_s`, `reconnect_nonce_s`, `reconnect_interval_s`: what long connections are asked to do.
    `journal`: file that makes the world survive a kill; None keeps it in memory.
    `limits`: rate limits; off for load tests. `strict_uuid`: note a uuid that is used for something else.
    `redelivery_scale`: factor on the waits before an event is pushed again (15 s, 5 min, 1 h, 6 h).
    `monthly_calls`: quota of the free edition (10,000), None for no cap.
    `batch_delay_s`: how long after its call a batch send begins to arrive; 0: all of it at once, before the answer.
    `batch_messages_a_day`: what batch sends of one app may make.
    `bot_shares_clock`: the app takes its time from `Sandbox.clock`; else signatures carry the unmoved time.
    `recall_window_s`: how long a message can be recalled: each tenant's admin chooses it, a day is often seen.
    `audit_words`, `audit_leaks`: the content audit at the start (230022, 230028); off unless given, see `audit`.
    """

    app_id: str = "cli_5a9db0c000000000"  # 16 hex digits: one of the official SDKs refuses others
    app_secret: str = field(default="sandbox-secret", repr=False)
    encrypt_key: str = field(default="sandbox-encrypt-key", repr=False)
    verification_token: str = field(default="sandbox-verification-token", repr=False)
    bot_name: str = "日报机器人"
    event_url: str | None = None
    card_url: str | None = None
    transport: Literal["websocket", "webhook"] = "websocket"
    ping_s: int = 120
    reconnect_nonce_s: int = 30
    reconnect_interval_s: int = 120
    journal: Path | None = None
    limits: bool = True
    strict_uuid: bool = True
    redelivery_scale: float = 1.0
    monthly_calls: int | None = None
    batch_delay_s: float = 2.0
    batch_messages_a_day: int = 500_000
    bot_shares_clock: bool = False
    recall_window_s: float = 86_400.0
    audit_words: tuple[str, ...] = ()
    audit_leaks: bool = False
    seed: str = "sandbox"
