"""The error tree: one class for each reaction, not for each cause.

BotError
├── ConfigError        exit 2, the key and the cure
├── UsageError         exit 1: what was asked for cannot be done, and what to do instead
├── StoreError         stop; what is committed waits
├── DigestError        no edition; the file, the line, the reason
├── SignatureError     answer 401 or 400, count, go on
├── ActionError        an old or foreign button value: a kind toast
└── SendError
    ├── TemporaryError   this delivery, later
    ├── ReceiverError    this receiver never, until it returns
    ├── CardError        this card in another form, or never
    └── AppError         nobody, until a human acts
"""

from datetime import datetime

from bot.domain.ladder import Rung


class BotError(Exception):
    """Anything we raise on purpose; its text is one line for a human and ends with the cure."""


class ConfigError(BotError):
    """The configuration cannot be used."""

    def __init__(self, key: str, reason: str) -> None:
        super().__init__(f"{key}: {reason}" if key else reason)
        self.key = key


class UsageError(BotError):
    """A command or request that cannot be carried out."""


class StoreError(BotError):
    """The database takes no more writes. What was committed is there; what was not never happened."""


class DigestError(BotError):
    """An input that is not a digest. `code` is for programs, the message for people."""

    def __init__(self, code: str, message: str, *, path: str | None = None, line: int | None = None) -> None:
        place = path or ""
        if path and line is not None:
            place = f"{path}:{line}"
        super().__init__(f"{place}: {message}" if place else message)
        self.code = code
        self.message = message
        self.path = path
        self.line = line


class SignatureError(BotError):
    """A callback that is not provably the platform's. `status` is the HTTP answer; the text never leaves the log."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status


class ActionError(BotError):
    """A button value that this version does not know."""


class SendError(BotError):
    """The platform did not accept a message. `code` is the body code, or the HTTP status where the body had none."""

    def __init__(self, code: int, reason: str, *, log_id: str = "") -> None:
        super().__init__(f"{code} {reason}")
        self.code = code
        self.reason = reason
        self.log_id = log_id


class TemporaryError(SendError):
    """Try again later. `maybe_sent`: the message may have arrived although the answer did not."""

    def __init__(
        self,
        code: int,
        reason: str,
        *,
        log_id: str = "",
        retry_after_s: float | None = None,
        maybe_sent: bool = False,
        whole_app: bool = False,
    ) -> None:
        super().__init__(code, reason, log_id=log_id)
        self.retry_after_s = retry_after_s
        self.maybe_sent = maybe_sent
        self.whole_app = whole_app


class ReceiverError(SendError):
    """A receiver that cannot be written to."""


class CardError(SendError):
    """The platform refuses this content in this form. `least`: the first other form that may pass, None if none may.

    `for_all`: the content is the cause, so nobody will get it so; otherwise it may be this receiver's alone.
    """

    def __init__(
        self, code: int, reason: str, *, log_id: str = "", least: Rung | None = None, for_all: bool = True
    ) -> None:
        super().__init__(code, reason, log_id=log_id)
        self.least = least
        self.for_all = for_all


class AppError(SendError):
    """The app itself may not send. `until`: when the platform lifts it, where that is known."""

    def __init__(self, code: int, reason: str, *, log_id: str = "", until: datetime | None = None) -> None:
        super().__init__(code, reason, log_id=log_id)
        self.until = until
