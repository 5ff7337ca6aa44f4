"""The life of one delivery, as a pure decision."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.domain.delivery import (
    MAX_ATTEMPTS,
    OPEN,
    SAME_UUID_HOLDS,
    Accepted,
    Attempt,
    Status,
    backoff_s,
    lapsed,
    next_step,
)
from bot.domain.errors import AppError, CardError, ReceiverError, TemporaryError

NOW = datetime(2025, 3, 10, 0, 37, tzinfo=UTC)


def attempt(attempts: int = 1, maybe_sent_at: datetime | None = None) -> Attempt:
    return Attempt(attempts, maybe_sent_at, NOW)


def test_a_yes_is_final_and_keeps_the_message_id():
    """`sent` needs the platform's own message id: corrections and recalls hang on it."""
    step = next_step(attempt(), Accepted("om_1"), NOW, 0.0)

    assert (step.status, step.message_id) == (Status.SENT, "om_1")


@pytest.mark.parametrize("error", [ReceiverError(230013, "x"), CardError(230099, "x"), CardError(4242, "unknown")])
def test_a_refusal_is_final(error):
    """What the platform has refused is not asked again."""
    assert next_step(attempt(), error, NOW, 0.0).status is Status.FAILED


def test_the_platforms_own_waiting_time_is_obeyed():
    """The header's seconds win over our back-off."""
    step = next_step(attempt(), TemporaryError(99991400, "x", retry_after_s=52, whole_app=True), NOW, 0.9)

    assert step.not_before == NOW + timedelta(seconds=52)


def test_an_app_error_leaves_the_delivery_as_it_was():
    """A bad secret is nobody's delivery failing: the row waits, and the attempt is not held against it."""
    step = next_step(attempt(MAX_ATTEMPTS), AppError(99991672, "x"), NOW, 0.0)

    assert (step.status, step.counts) == (Status.PENDING, False)


def test_a_delivery_that_may_have_arrived_is_repeated_only_while_its_uuid_protects_it():
    """After 50 minutes a repeat could double the message: then it is `unknown`, for a human."""
    lost = TemporaryError(0, "x", maybe_sent=True)
    long_ago = NOW - SAME_UUID_HOLDS

    assert next_step(attempt(), lost, NOW, 0.0).maybe_sent_at == NOW
    assert next_step(attempt(2, long_ago), lost, NOW, 0.0).status is Status.UNKNOWN
    assert lapsed(attempt(2, long_ago), NOW).status is Status.UNKNOWN
    assert lapsed(attempt(), NOW).status is Status.PENDING


@pytest.mark.parametrize("error", [ReceiverError(230013, "x"), CardError(230099, "x")])
def test_a_refusal_after_a_doubtful_attempt_is_not_called_failed(error):
    """`failed` invites a resend; who may have the message must not be invited."""
    assert next_step(attempt(2, NOW), error, NOW, 0.0).status is Status.UNKNOWN


@given(st.integers(1, 200), st.floats(0, 1, exclude_max=True))
def test_waits_are_bounded_and_grow(attempts, jitter):
    """Back-off never shrinks before its jitter and never passes 15 minutes."""
    wait = backoff_s(attempts, jitter)

    assert backoff_s(attempts, 0) <= wait <= 900
    assert backoff_s(attempts, 0) <= backoff_s(attempts + 1, 0)


OUTCOMES = st.one_of(
    st.builds(Accepted, st.just("om_1")),
    st.builds(
        TemporaryError,
        st.just(0),
        st.just("x"),
        retry_after_s=st.none() | st.floats(0, 50_000),
        maybe_sent=st.booleans(),
    ),
    st.just(ReceiverError(230002, "x")),
    st.just(CardError(230099, "x")),
    st.just(AppError(99991403, "x")),
    st.just("killed"),
    st.just("put back"),
)


@settings(max_examples=300)
@given(st.lists(OUTCOMES, min_size=1, max_size=40), st.floats(0, 1, exclude_max=True))
def test_every_history_ends_or_waits_and_nothing_follows_an_end(outcomes, jitter):
    """Whatever happens in whatever order: bounded attempts, and no retry after the uuid has lost its force."""
    now, attempts, maybe_sent_at, first_maybe = NOW, 0, None, None
    for outcome in outcomes:
        attempts += 1
        current = Attempt(attempts, maybe_sent_at, now)
        if outcome == "killed":
            now += timedelta(minutes=2)
            step = lapsed(current, now)
        elif outcome == "put back":
            step = next_step(current, None, now, 0.0)
        else:
            step = next_step(current, outcome, now, jitter)
        attempts -= 0 if step.counts else 1
        if step.status not in OPEN:
            return
        assert step.status is Status.PENDING
        assert step.not_before is not None
        assert step.not_before >= now
        first_maybe = first_maybe or step.maybe_sent_at
        assert step.maybe_sent_at == first_maybe, "the first doubtful attempt starts the clock, for good"
        if first_maybe:
            assert step.not_before - first_maybe < SAME_UUID_HOLDS
        now, maybe_sent_at = step.not_before, step.maybe_sent_at
