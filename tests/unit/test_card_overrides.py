"""An operator's own card templates: bot/cards/overrides.py, templates.py."""

import json
import logging
from pathlib import Path

import pytest

from bot.cards.notice_cards import help_card
from bot.cards.templates import CardTemplates, template_folder
from tests.builders import card_templates, make_series
from tests.unit.card_reader import tree

BUILT_IN = template_folder() / "cards"
HELP, PARTS = ((BUILT_IN / name).read_text(encoding="utf-8") for name in ("help.json.j2", "_parts.json.j2"))
SERIES = make_series()


@pytest.fixture
def problems(caplog):
    """What was logged: event, and where it names one the file, the line and the reason."""
    caplog.set_level(logging.WARNING)

    def told() -> list[tuple[str, str, int | None, str]]:
        seen = [vars(one) for one in caplog.records]
        return [
            (one["message"], Path(one.get("file", "")).name, one.get("line"), one.get("reason") or one.get("nearest"))
            for one in seen
        ]

    return told


def title_of(templates: CardTemplates) -> str:
    return tree(help_card(templates, series=[SERIES]))["header"]["title"]["content"]


def line_of(source: str, part: str) -> int:
    return 1 + source.count("\n", 0, source.index(part))


@pytest.mark.parametrize("place", [".", "cards"])
def test_a_sound_override_is_used_and_the_others_stay(tmp_path, problems, place):
    """Of one template, in the folder or in its `cards/`."""
    (tmp_path / "cards").mkdir()
    (tmp_path / place / "help.json.j2").write_text(HELP.replace("使用帮助", "怎么用"), encoding="utf-8")

    assert title_of(CardTemplates(tmp_path)) == "怎么用"
    assert problems() == []


def test_a_shared_part_can_be_overridden(tmp_path, problems):
    """Then every card is made with it, those whose own template is built in too."""
    (tmp_path / "_parts.json.j2").write_text(
        PARTS.replace('"template": {{ colour }}', '"template": "purple"'), encoding="utf-8"
    )
    card = tree(help_card(CardTemplates(tmp_path), series=[SERIES]))

    assert card["header"]["template"] == "purple"
    assert problems() == []


def test_a_part_of_their_own_may_be_asked_for(tmp_path, problems):
    """It overrides nothing, and is no mistake."""
    (tmp_path / "_mine.json.j2").write_text('"怎么用"', encoding="utf-8")
    mine = HELP.replace('"content": "使用帮助"', '"content": {% include "_mine.json.j2" %}')
    (tmp_path / "help.json.j2").write_text(mine, encoding="utf-8")

    assert tree(help_card(CardTemplates(tmp_path), series=[]))["config"]["summary"]["content"] == "怎么用"
    assert problems() == []


@pytest.mark.parametrize(
    ("good", "bad", "line", "reason"),
    [
        ("{% endif %}", "{% endif", "{% if view.rows %}", "expected token"),
        ("view.colour", "view.color", "view.color", "no attribute 'color'"),
        ("view.colour", "colour", '"Help", colour', "'colour' is undefined"),
        ("view.colour", "view.colour | upperr", "upperr", "No filter named 'upperr'"),
        ('"2.0",', '"2.0"', ' "config"', "not JSON"),
        ('"body": {"vertical', '"body": "vertical', ' "body"', "not JSON"),
        ('"8px", "elements"', '"8px" "elements"', ' "body"', "not JSON"),
        ("使用帮助", "{% for i in range(9999999) %}{% endfor %}", "{% for i", "a loop of 9,999,999 rounds"),
        ("使用帮助", "{% for i in range(200) %}{% for j in range(200) %}没完没了的长{% endfor %}{% endfor %}" * 3,
         None, "it writes"),
        ("使用帮助", "长" * 9_000, None, "a card may have 28,000"),
        ('"schema": "2.0",', "", None, 'schema "2.0"'),
        (" ]}}", " ]}} ]", " ]}} ]", "Extra data"),
    ],
)  # fmt: skip
def test_a_broken_override_is_told_once_with_its_place_and_ours_is_used(tmp_path, problems, good, bad, line, reason):
    """At the start, not at 08:37: file, line and reason."""
    source = HELP.replace(good, bad, 1)
    (tmp_path / "help.json.j2").write_text(source, encoding="utf-8")

    templates = CardTemplates(tmp_path)

    ((event, file, at, why),) = problems()
    assert (event, file) == ("template_broken", "help.json.j2")
    assert at == (None if line is None else line_of(source, line))
    assert reason in why
    assert title_of(templates) == "使用帮助"


def test_a_broken_shared_part_spoils_no_card(tmp_path, problems):
    """It is dropped as a whole, and a sound override beside it is still used."""
    (tmp_path / "_parts.json.j2").write_text(PARTS.replace('"tag": "button"', '"tag" "button"'), encoding="utf-8")
    (tmp_path / "help.json.j2").write_text(HELP.replace("使用帮助", "怎么用"), encoding="utf-8")

    assert title_of(CardTemplates(tmp_path)) == "怎么用"
    ((event, file, _, reason),) = problems()
    assert (event, file) == ("template_broken", "_parts.json.j2")
    assert '"tag" "button"' in reason


def test_a_file_that_is_no_text_is_named_with_its_line(tmp_path, problems):
    """An editor saved it in another encoding."""
    (tmp_path / "help.json.j2").write_bytes(b"{\n" + "帮助".encode("gb18030"))

    assert title_of(CardTemplates(tmp_path)) == "使用帮助"
    assert problems() == [("template_broken", "help.json.j2", 2, "not UTF-8")]


def test_a_file_that_overrides_nothing_gets_one_warning(tmp_path, problems):
    """With the name that was probably meant."""
    (tmp_path / "helps.json.j2").write_text(HELP, encoding="utf-8")
    CardTemplates(tmp_path)

    assert problems() == [("template_unknown", "helps.json.j2", None, "help.json.j2")]


def test_a_folder_that_is_not_there_is_told(tmp_path, problems):
    """A typing error in the configuration is no silent loss of a design."""
    assert title_of(CardTemplates(tmp_path / "nowhere")) == "使用帮助"
    assert [event for event, *_ in problems()] == ["template_folder_missing"]


def test_an_override_that_fails_only_on_a_real_view_gives_way_and_says_so_once(tmp_path, problems):
    """Its readers get the built-in card instead of none."""
    name = "(view.rows | map(attribute='name') | first | default(''))"
    source = HELP.replace("view.colour", f"view.missing if {name} == '午报' else view.colour")
    (tmp_path / "help.json.j2").write_text(source.replace("使用帮助", "怎么用"), encoding="utf-8")
    templates = CardTemplates(tmp_path)
    assert problems() == []

    cards = [help_card(templates, series=[make_series("午报")]) for _ in range(2)]

    assert [tree(card)["header"]["title"]["content"] for card in cards] == ["使用帮助"] * 2
    assert title_of(templates) == "怎么用"
    ((event, file, line, _),) = problems()
    assert (event, file, line) == ("template_broken", "help.json.j2", line_of(source, "view.missing"))


def test_overrides_stay_in_the_sandbox(tmp_path, problems):
    """A template is data: it reaches nothing of the program."""
    (tmp_path / "help.json.j2").write_text(HELP.replace("使用帮助", "{{ view.__class__.__mro__ }}"), encoding="utf-8")

    assert json.loads(help_card(CardTemplates(tmp_path), series=[]).body) == json.loads(
        help_card(card_templates(), series=[]).body
    )
    assert [event for event, *_ in problems()] == ["template_broken"]
