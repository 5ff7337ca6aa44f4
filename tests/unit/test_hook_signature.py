"""The signature of a custom bot's messages, against the vectors of the notes and a second implementation."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.feishu.hooks import signature
from bot.sandbox.api_hook import sign


@pytest.mark.parametrize(
    ("timestamp", "secret", "expected"),
    [
        (1_700_000_000, "mysecret", "Jp33/xXhCipDEpjyHvEyc7mRSyXWHbNz6J8+C3qQKNo="),
        (1_600_000_000, "demo", "HQV03+so/amIWQSXS50Llvl9vzTATYaRg+mJZ+EZzjY="),
    ],
)
def test_the_vectors_hold(timestamp, secret, expected):
    """Source: feishu-platform notes 12."""
    assert signature(timestamp, secret) == {"timestamp": str(timestamp), "sign": expected}


@given(st.integers(0, 2**33), st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=60))
def test_the_sandbox_signs_alike(timestamp, secret):
    """Any second and any secret, of more than one byte a letter too."""
    assert signature(timestamp, secret)["sign"] == sign(str(timestamp), secret)
