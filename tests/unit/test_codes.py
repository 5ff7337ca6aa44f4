"""The code table."""

from bot.domain.ladder import Rung
from bot.feishu.codes import _ROWS, CODES, Reaction, lookup


def test_no_code_stands_twice():
    """Two rows for a code would make the reaction depend on their order."""
    assert len(CODES) == len(_ROWS)


def test_limits_are_limits():
    """The SDK files these as a revoked target and a permission error; the platform's pages say limit."""
    assert lookup(230020).reaction is Reaction.LATER
    assert lookup(99991400).reaction is Reaction.WAIT_APP
    assert lookup(99991403).reaction is Reaction.QUOTA


def test_an_unknown_code_is_never_retried_blindly():
    """It refuses this form for this receiver: another form may be tried, the same one never again."""
    assert (lookup(123456).reaction, lookup(123456).least) == (Reaction.FORM, Rung.LIGHT)


def test_what_an_audit_refuses_has_no_other_form():
    """The words are the cause, and a post would carry the same ones."""
    assert [lookup(code).least for code in (230022, 230028)] == [None, None]


def test_every_row_names_its_page_and_speaks_chinese():
    """Admins read the reason, developers the page."""
    assert all(row.page and any("一" <= char <= "鿿" for char in row.reason) for row in _ROWS)
