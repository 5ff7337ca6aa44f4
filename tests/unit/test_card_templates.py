"""Templates and what they render to: bot/cards/templates.py, render.py."""

import json
from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.cards.render import ENVELOPE_BYTES, Limits
from bot.cards.templates import CardTemplates
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


@pytest.fixture(scope="module")
def echo(tmp_path_factory):
    folder = tmp_path_factory.mktemp("override")
    (folder / "echo.json.j2").write_text('{"tag": "div", "text": {{ view.value }}, "more": [{{ view.value }}]}')
    return CardTemplates(folder)


@pytest.mark.parametrize("value", HOSTILE)
def test_a_printed_value_reads_back_equal(echo, value):
    """JSON by construction: no value leaves its string."""
    assert json.loads(echo.render("echo.json.j2", View(value)).body)["text"] == value


@settings(max_examples=60, deadline=None)
@given(st.text() | st.integers() | st.booleans() | st.none() | st.dictionaries(st.text(), st.text()))
def test_any_value_reads_back_equal(echo, value):
    """Any text and any JSON value, keys included."""
    assert json.loads(echo.render("echo.json.j2", View(value)).body)["more"] == [value]


def test_half_a_surrogate_pair_is_replaced_and_a_whole_one_becomes_its_character(echo):
    """A card always has a UTF-8 form."""
    card = echo.render("echo.json.j2", View("a\ud800b \ud83d\ude00"))

    assert json.loads(card.body)["text"] == "a\ufffdb 😀"
    assert card.body.encode()


def test_the_size_is_that_of_the_request_that_will_be_sent(echo):
    """Measured after both JSON encodings, in UTF-8 bytes."""
    card = echo.render("echo.json.j2", View('中文 " \\ \n'))
    request = {"receive_id": "o" * 35, "msg_type": "interactive", "content": card.body, "uuid": "u" * 50}
    sent = len(json.dumps(request, ensure_ascii=False, separators=(",", ":")).encode())

    assert sent <= card.bytes <= sent + 60
    assert card.bytes == ENVELOPE_BYTES + len(json.dumps(card.body, ensure_ascii=False).encode())


def test_every_object_with_a_tag_is_an_element(echo):
    """The platform counts texts as well as components."""
    nested = [{"tag": "a", "x": {"tag": "b"}}, {"no": {"tag": "c"}}]

    assert echo.render("echo.json.j2", View(nested)).elements == 7


def test_a_card_knows_whether_it_fits(echo):
    """Both limits count."""
    card = echo.render("echo.json.j2", View("x"))

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
        '{"a": {% if %}}',
        '{"a": {% include "nowhere.j2" %}}',
        '{"a": "{{ view.value }}"}',
    ],
)
def test_a_broken_template_is_named(tmp_path, source):
    """The operator learns which file to correct."""
    (tmp_path / "broken.json.j2").write_text(source)

    with pytest.raises(BotError, match=r"broken\.json\.j2.*correct or remove it"):
        CardTemplates(tmp_path).render("broken.json.j2", View('"'))


@pytest.mark.parametrize("place", ["help.json.j2", "cards/help.json.j2"])
def test_an_operators_file_of_the_same_name_comes_first(tmp_path, place):
    """Overriding one template leaves the others."""
    (tmp_path / "cards").mkdir()
    (tmp_path / place).write_text('{"mine": true}')

    assert CardTemplates(tmp_path).render("help.json.j2", View("")).body == '{"mine":true}'


def test_a_broken_override_is_found_at_the_start(tmp_path):
    """Not at 08:37."""
    (tmp_path / "digest.json.j2").write_text("{% if %}")

    with pytest.raises(BotError, match=r"digest\.json\.j2"):
        CardTemplates(tmp_path)
