"""Button values: bot/cards/actions.py."""

import json
from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.cards.actions import (
    Decision,
    Missed,
    Resend,
    Review,
    SetGroupSubscription,
    SetPause,
    SetPreferences,
    SetSubscription,
    ShowEdition,
    ShowHistory,
    ShowResults,
    ShowSettings,
    UndoLeave,
    decode,
    encode,
)
from bot.domain.errors import ActionError

_ID, _NAME = st.text(min_size=1, max_size=64), st.text(min_size=1, max_size=300)
_NUMBER = st.integers(1, 2**53 - 1)
_ACTIONS = st.one_of(
    st.builds(SetSubscription, series=_ID, on=st.booleans()),
    st.builds(SetGroupSubscription, series=_ID, on=st.booleans()),
    st.builds(SetPreferences, series=_ID, group=st.booleans()),
    st.builds(SetPause, series=_ID, until=st.none() | st.dates(), group=st.booleans()),
    st.builds(UndoLeave, series=_ID, group=st.booleans()),
    st.builds(ShowSettings, series=_ID, group=st.booleans()),
    st.builds(ShowEdition, series=_ID, slug=_NAME),
    st.builds(ShowHistory, series=_ID, cursor=st.none() | _NAME),
    st.builds(ShowResults, query=st.text(min_size=1, max_size=100), page=st.integers(1, 1_000)),
    st.builds(Review, edition=_NAME, revision=_NUMBER, decision=st.sampled_from(Decision)),
    st.builds(Resend, edition=_NAME, push=_NUMBER, only=st.sampled_from(Missed)),
)
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)
_GOOD = {"v": 1, "set": "subscription", "series": "daily", "on": True}


@settings(max_examples=300, deadline=None)
@given(_ACTIONS)
def test_a_button_value_comes_back_as_the_action_it_was(action):
    """A click means what the button said, also after a trip through JSON."""
    value = json.loads(json.dumps(encode(action)))

    assert decode(value) == action


@settings(max_examples=60, deadline=None)
@given(_JSON)
def test_any_other_value_is_refused_kindly(value):
    """Old, foreign and forged values raise ActionError and nothing else."""
    with pytest.raises(ActionError):
        decode(value)


@settings(max_examples=300, deadline=None)
@given(_ACTIONS.map(encode), st.data())
def test_a_value_with_one_field_changed_means_what_it_says_or_nothing(value, data):
    """Whatever is put into a field, decoding refuses it kindly or gives back exactly what is written there."""
    field = data.draw(st.sampled_from(sorted(value)))
    forged = {**value, field: data.draw(_JSON)}

    try:
        action = decode(forged)
    except ActionError:
        return
    assert encode(action) == forged


@pytest.mark.parametrize(
    ("name", "fields"),
    [
        ("pause", {"series": "daily", "group": False, "until": "20250312"}),
        ("pause", {"series": "daily", "group": False, "until": "2025-02-30"}),
        ("pause", {"series": "daily", "group": False}),
        ("results_shown", {"query": "推理", "page": 0}),
        ("results_shown", {"query": "推理", "page": True}),
        ("results_shown", {"query": "推" * 101, "page": 1}),
        ("review", {"edition": "daily/x", "revision": 1, "decision": "publish"}),
        ("review", {"edition": "daily/x", "revision": 1.0, "decision": "approve"}),
        ("resend", {"edition": "daily/x", "push": 1, "only": "all"}),
        ("history_shown", {"series": "daily", "cursor": ""}),
    ],
)
def test_a_field_out_of_its_range_is_refused(name, fields):
    """What nobody could have been offered is not done."""
    with pytest.raises(ActionError):
        decode({"v": 1, "set": name, **fields})


def test_the_buttons_of_earlier_cards_still_work():
    """Cards live for 14 days, and releases come in between."""
    assert decode({"v": 1, "set": "subscription", "series": "daily", "on": True}) == SetSubscription("daily", on=True)
    group = {"v": 1, "set": "group_subscription", "series": "daily", "on": False}
    assert decode(group) == SetGroupSubscription("daily", on=False)


def test_a_day_is_written_as_a_day():
    """The end of a pause, as JSON can say it."""
    assert encode(SetPause("daily", date(2025, 3, 12)))["until"] == "2025-03-12"


@pytest.mark.parametrize(
    "value",
    [
        "subscription",
        None,
        {},
        [],
        [_GOOD],
        {**_GOOD, "v": 2},
        {**_GOOD, "v": True},
        {**_GOOD, "v": "1"},
        {**_GOOD, "set": "admin"},
        {**_GOOD, "set": ["subscription"]},
        {**_GOOD, "series": ""},
        {**_GOOD, "series": 7},
        {**_GOOD, "series": "x" * 65},
        {**_GOOD, "on": 1},
        {**_GOOD, "on": None},
        {**_GOOD, "operator": "ou_1"},
        {key: value for key, value in _GOOD.items() if key != "on"},
    ],
)
def test_a_value_that_is_nearly_right_is_refused(value):
    """Nothing is guessed: wrong version, name, type, length or number of fields."""
    with pytest.raises(ActionError, match="请使用最新一期"):
        decode(value)


def test_a_value_is_a_small_object_with_the_wanted_end_state():
    """The platform's SDKs take only objects; a double click must be harmless."""
    value = encode(SetSubscription("daily", on=False))

    assert value == {"v": 1, "set": "subscription", "series": "daily", "on": False}
