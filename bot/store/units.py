"""Units of work on a database that others use too: run again, as a whole, where nothing can have happened.

That is so when a unit lost a race to another one, and when the connection died before COMMIT was sent. A connection
that dies in COMMIT leaves the outcome open; the server remembers it and is asked.
"""

import random
from collections.abc import Callable
from typing import TypeVar

from sqlalchemy import Connection, Engine, bindparam, text
from sqlalchemy.exc import DBAPIError, OperationalError

from bot.domain.errors import BotError

R = TypeVar("R")
Unit = Callable[[Connection], R]

ATTEMPTS = 8  # with the waits below about six seconds: a server's restart
FIRST_WAIT_S, LONGEST_WAIT_S, JITTER_S = 0.05, 2.0, 0.1
# Who lost a race has already waited until the winner was done; several losers shall not collide again.
RACE_WAIT_S = 0.01
# serialisation failure, deadlock, unique key. The last: found missing, then there; run again, the unit finds it.
RACES = frozenset({"40001", "40P01", "23505"})
GONE = ("08", "57P")  # connection exceptions; the server was shut down, has crashed, is starting

NUMBER = text("SELECT CAST(pg_current_xact_id_if_assigned() AS text)")
OUTCOME = text("SELECT pg_xact_status(CAST(:number AS xid8))").bindparams(bindparam("number"))


class LostRace(Exception):  # noqa: N818  nothing is wrong: it asks for another run
    """What the unit had read was changed by another one before it could write."""


class OutcomeUnknownError(BotError):
    """The connection died in COMMIT and the server does not come back to tell."""


class _StillOpenError(Exception):
    """The server has not ended the transaction yet."""


def write(engine: Engine, unit: Unit[R]) -> R:
    """Run a unit that changes rows, until it is committed."""
    return _until_done(lambda: _written(engine, unit))


def read(engine: Engine, unit: Unit[R]) -> R:
    """Run a unit that only reads."""

    def once() -> R:
        with engine.begin() as connection:
            return unit(connection)

    return _until_done(once)


def _until_done(once: Callable[[], R]) -> R:
    import stamina  # commands on a file can do without it

    for attempt in stamina.retry_context(
        on=_again_after_s,
        attempts=ATTEMPTS,
        timeout=None,
        wait_initial=FIRST_WAIT_S,
        wait_max=LONGEST_WAIT_S,
        wait_jitter=JITTER_S,
    ):
        with attempt:
            return once()
    raise AssertionError("the last attempt returns or raises")


def _written(engine: Engine, unit: Unit[R]) -> R:
    with engine.connect() as connection:
        connection.begin()
        result = unit(connection)
        number: str | None = connection.execute(NUMBER).scalar()  # none: nothing was written
        try:
            connection.commit()
        except DBAPIError as exc:
            if number is not None and exc.connection_invalidated and _is_committed(engine, number):
                return result
            raise
    return result


def _is_committed(engine: Engine, number: str) -> bool:
    def ask(connection: Connection) -> str | None:
        status: str | None = connection.execute(OUTCOME, {"number": number}).scalar()
        if status == "in progress":
            raise _StillOpenError
        return status

    try:
        status = read(engine, ask)
    except (DBAPIError, _StillOpenError) as exc:
        raise OutcomeUnknownError(
            "the database went away while it was writing; look what is there, then go on"
        ) from exc
    return status == "committed"


def _again_after_s(exc: Exception) -> bool | float:
    """Whether nothing has happened, so that it may run again: after the usual wait (True), or so many seconds."""
    if isinstance(exc, _StillOpenError):
        return True
    state = getattr(exc.orig, "sqlstate", None) if isinstance(exc, DBAPIError) else None
    if isinstance(exc, LostRace) or state in RACES:
        return random.uniform(0, RACE_WAIT_S)
    if not isinstance(exc, DBAPIError):
        return False
    if state is None:  # no answer at all: not connected, or cut off
        return exc.connection_invalidated or isinstance(exc, OperationalError)
    return bool(state.startswith(GONE))
