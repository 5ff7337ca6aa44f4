"""Logs: the standard library's, one line an event, to stderr. Values are fields, never part of the text."""

import contextlib
import json
import logging
import sys
from collections.abc import Iterator
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any, Literal

_bound: ContextVar[dict[str, Any]] = ContextVar("bound", default={})  # noqa: B039  never mutated: always replaced
_PLAIN = frozenset(logging.makeLogRecord({}).__dict__) | {"message", "asctime", "taskName"}


@contextlib.contextmanager
def bind(**fields: object) -> Iterator[None]:
    """Add fields to every line logged inside the block, in this task and the tasks it starts."""
    token = _bound.set({**_bound.get(), **fields})
    try:
        yield
    finally:
        _bound.reset(token)


def fields_of(record: logging.LogRecord) -> dict[str, Any]:
    """Fields of a line: those bound around it and those given with `extra`."""
    own = {key: value for key, value in record.__dict__.items() if key not in _PLAIN}
    return {**_bound.get(), **own}


class JsonLines(logging.Formatter):
    """One JSON object a line, event first."""

    def format(self, record: logging.LogRecord) -> str:
        line = {
            "event": record.getMessage(),
            "level": record.levelname,
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "logger": record.name,
            **fields_of(record),
        }
        if record.exc_info:
            line["error"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False, default=str)


class ConsoleLines(logging.Formatter):
    """The same for eyes: time, level, event, then key=value."""

    def format(self, record: logging.LogRecord) -> str:
        at = datetime.fromtimestamp(record.created).astimezone().strftime("%H:%M:%S")
        pairs = "".join(f" {key}={value}" for key, value in fields_of(record).items())
        text = f"{at} {record.levelname:<7} {record.getMessage()}{pairs}"
        return f"{text}\n{self.formatException(record.exc_info)}" if record.exc_info else text


def set_up(level: str, form: Literal["console", "json"]) -> None:
    """Send all logging to stderr in one form. Libraries that print whole addresses are silenced: some are secrets."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines() if form == "json" else ConsoleLines())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level)
    for noisy in ("httpx", "httpcore", "uvicorn.access", "uvicorn.error", "apscheduler", "Lark", "alembic"):
        logging.getLogger(noisy).setLevel(logging.WARNING)
