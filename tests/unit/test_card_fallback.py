"""A refused card in another form: the same text, nothing live, and lighter in kind on each rung."""

import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.cards.fallback import fallback
from bot.cards.notice_cards import goodbye_card, welcome_card
from bot.cards.render import Card
from bot.domain.audience import Density, Kind
from bot.domain.ladder import Rung, below
from bot.sandbox.validator import check_card
from tests.builders import card_templates, make_cards, make_digest, make_item, make_rich_digest, make_series
from tests.unit.card_reader import shown, tagged, tree
from tests.unit.test_card_text import HOSTILE

LOWER = [Rung.LIGHT, Rung.POST, Rung.TEXT]


def letters(text: str) -> str:
    """Text without signs, blanks and numbers of lists."""
    return "".join(character for character in text if character.isalpha())


def words_of(elements) -> str:
    """What a reader sees of a card's text."""
    found = []
    for one in elements:
        if one["tag"] == "markdown":
            found.append(shown(one["content"]))
        elif one["tag"] == "div":
            found.append(one["text"]["content"])
        else:
            found.append(words_of([*one.get("elements", ()), *one.get("columns", ())]))
    return "".join(found)


def words_on(card: Card) -> str:
    header, body = tree(card)["header"], tree(card)["body"]
    return header["title"]["content"] + header.get("subtitle", {}).get("content", "") + words_of(body["elements"])


def read(content: str, rung: Rung) -> str:
    """The text of a message on one of the lower rungs."""
    value = json.loads(content)
    if rung is Rung.LIGHT:
        return value["header"]["title"]["content"] + words_of(value["body"]["elements"])
    if rung is Rung.POST:
        post = value["zh_cn"]
        return post["title"] + "".join(node["text"] for line in post["content"] for node in line)
    return re.sub(r" https://(?:read|img)\.example\.com/\S* ", "", value["text"])  # the addresses of our links


@pytest.mark.parametrize("rung", LOWER)
@pytest.mark.parametrize("density", Density)
def test_every_word_of_a_card_is_in_its_fallback(density, rung):
    """Tables, code, lists, quotes and panels become words; only their look is lost."""
    for card in make_cards(make_rich_digest(), density):
        content = fallback(card.body, rung)

        assert content is not None
        assert letters(read(content, rung)) == letters(words_on(card))


@settings(max_examples=80, deadline=None)
@given(st.lists(HOSTILE, min_size=1, max_size=3), HOSTILE)
def test_hostile_text_stays_text_on_every_rung(texts, title):
    """No form has a live tag, mention or link that the card did not have."""
    digest = make_digest([make_item(title=title or "标题", text=tuple(texts))])
    (card,) = make_cards(digest, Density.FULL, Kind.GROUP)

    light, post, text = (fallback(card.body, rung) for rung in LOWER)

    assert (check_card(light).error, check_card(light).warnings) == (None, ())
    nodes = [node for line in json.loads(post)["zh_cn"]["content"] for node in line]
    assert {node["tag"] for node in nodes} <= {"text", "a"}
    assert {node["href"] for node in nodes if node["tag"] == "a"} <= {"https://read.example.com/p/1"}
    assert not re.search(r"<(?=/?[A-Za-z])|\]\(", json.loads(text)["text"])
    for rung, content in zip(LOWER, (light, post, text), strict=True):
        assert letters(read(content, rung)) == letters(words_on(card))


def test_a_light_card_keeps_the_buttons_that_act_and_nothing_else_that_may_be_refused():
    """Whoever gets it can still subscribe and leave."""
    (card,) = make_cards(make_rich_digest(), Density.STANDARD, Kind.GROUP)

    light = json.loads(fallback(card.body, Rung.LIGHT))

    assert {one["tag"] for one in tagged(light)} == {"markdown", "plain_text", "button"}
    actions = [one for one in tagged(light) if one["tag"] == "button"]
    assert [one["behaviors"][0]["value"]["set"] for one in actions] == ["subscription"]


@pytest.mark.parametrize("rung", LOWER)
def test_links_survive_on_every_rung(rung):
    """A title still leads to its source, also as a bare address in a text message."""
    (card,) = make_cards(make_digest(1), Density.BRIEF)

    assert "https://read.example.com/p/1" in fallback(card.body, rung)


@pytest.mark.parametrize("rung", LOWER)
def test_a_notice_has_a_fallback_too(rung):
    """The ladder knows no kinds of cards."""
    series = make_series(community_url="https://club.example.com")
    for card in (
        welcome_card(card_templates(), series=[series], bot_name="灯塔", audience=Kind.GROUP),
        goodbye_card(card_templates(), series=series, audience=Kind.USER),
    ):
        content = fallback(card.body, rung)

        assert series.name in content


def test_a_form_that_would_be_too_long_is_left_out():
    """A post may have no more than a card; a text message has room for all of it."""
    digest = make_digest([make_item(text=tuple("读" * 30 for _ in range(120)))])
    card = make_cards(digest, Density.FULL)[0]
    tree_of = json.loads(card.body)
    tree_of["body"]["elements"] *= 3

    whole = json.dumps(tree_of, ensure_ascii=False)

    assert [fallback(whole, rung) is None for rung in LOWER] == [True, True, False]


def test_the_next_forms_are_lower_and_have_a_chance():
    """A refusal of all cards skips the light one; a refusal of the content itself has no next form."""
    assert below(Rung.CARD, Rung.LIGHT) == (Rung.LIGHT, Rung.POST, Rung.TEXT)
    assert below(Rung.LIGHT, Rung.LIGHT) == (Rung.POST, Rung.TEXT)
    assert below(Rung.CARD, Rung.POST) == (Rung.POST, Rung.TEXT)
    assert below(Rung.TEXT, Rung.LIGHT) == ()
    assert below(Rung.CARD, None) == ()
