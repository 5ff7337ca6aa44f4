"""Button values: bot/cards/actions.py."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.cards.actions import SetGroupSubscription, SetSubscription, decode, encode
from bot.domain.errors import ActionError

_ACTIONS = st.one_of(
    st.builds(SetSubscription, series=st.text(min_size=1, max_size=64), on=st.booleans()),
    st.builds(SetGroupSubscription, series=st.text(min_size=1, max_size=64), on=st.booleans()),
)
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)
_GOOD = {"v": 1, "set": "subscription", "series": "daily", "on": True}


@settings(max_examples=60, deadline=None)
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
