"""Templates and what they render to: bot/cards/templates.py, render.py."""

import json
from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jinja2 import FunctionLoader

from bot.cards.render import ENVELOPE_BYTES, Card, Limits
from bot.cards.templates import environment, rendered
from bot.domain.errors import BotError

HOSTILE = [
    'quotes " and \\ back slashes',
    "line\nbreak\r\n\ttab",
    "<at id=all></at>",
    "\u2028\u2029",
    "\x00\x1b",
    "{{ 7*7 }} {% raw %}",
    "&amp; <b> ' `",
    "😀 中文",
]


@dataclass(frozen=True)
class View:
    value: object


def make(source: str, value: object) -> Card:
    """The card that a template of this text makes of a value."""
    return rendered(
        environment(FunctionLoader({"one.json.j2": (source, "one.json.j2", None)}.get)).get_template("one.json.j2"),
        View(value),
    )


def echo(value: object) -> Card:
    return make('{"tag": "div", "text": {{ view.value }}, "more": [{{ view.value }}]}', value)


@pytest.mark.parametrize("value", HOSTILE)
def test_a_printed_value_reads_back_equal(value):
    """JSON by construction: no value leaves its string."""
    assert json.loads(echo(value).body)["text"] == value


@settings(max_examples=60, deadline=None)
@given(st.text() | st.integers() | st.booleans() | st.none() | st.dictionaries(st.text(), st.text()))
def test_any_value_reads_back_equal(value):
    """Any text and any JSON value, keys included."""
    assert json.loads(echo(value).body)["more"] == [value]


def test_half_a_surrogate_pair_is_replaced_and_a_whole_one_becomes_its_character():
    """A card always has a UTF-8 form."""
    card = echo("a\ud800b \ud83d\ude00")

    assert json.loads(card.body)["text"] == "a\ufffdb 😀"
    assert card.body.encode()


def test_the_size_is_that_of_the_request_that_will_be_sent():
    """Measured after both JSON encodings, in UTF-8 bytes."""
    card = echo('中文 " \\ \n')
    request = {"receive_id": "o" * 35, "msg_type": "interactive", "content": card.body, "uuid": "u" * 50}
    sent = len(json.dumps(request, ensure_ascii=False, separators=(",", ":")).encode())

    assert sent <= card.bytes <= sent + 60
    assert card.bytes == ENVELOPE_BYTES + len(json.dumps(card.body, ensure_ascii=False).encode())


def test_every_object_with_a_tag_is_an_element():
    """The platform counts texts as well as components."""
    nested = [{"tag": "a", "x": {"tag": "b"}}, {"no": {"tag": "c"}}]

    assert echo(nested).elements == 7


def test_a_card_knows_whether_it_fits():
    """Both limits count."""
    card = echo("x")

    assert card.fits(Limits())
    assert not card.fits(Limits(body_bytes=card.bytes - 1))
    assert not card.fits(Limits(elements=0))


@pytest.mark.parametrize(
    "source",
    [
        "{",
        "[]",
        '"text"',
        '{"a": {{ view.missing }}}',
        '{"a": {{ missing }}}',
        '{"a": {{ view }}}',
        '{"a": NaN}',
        '{"a": {{ view.__class__ }}}',
        '{"a": {% include "nowhere.j2" %}}',
        '{"a": "{{ view.value }}"}',
    ],
)
def test_a_broken_template_is_named(source):
    """The developer learns which file to correct."""
    with pytest.raises(BotError, match=r"one\.json\.j2.*correct or remove it"):
        make(source, '"')
