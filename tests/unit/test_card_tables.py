"""Tables on cards: bot/cards/lines.py, writing.py."""

import pytest

from bot.cards.sentences import atoms_of
from bot.cards.writing import Tables, markdown
from bot.domain.audience import Density
from bot.domain.digest import Code, Strong, Table, Text
from tests.builders import make_cards, make_digest, make_item, make_paragraphs, make_table
from tests.unit.card_reader import contents, squeezed, story, tables


def written(*blocks) -> str:
    return markdown(atoms_of(blocks))


def test_a_table_is_a_table():
    """Bars, dashes and line breaks in cells stay text, and code with a bar stays its letters."""
    table = Table(
        (
            ((Text("名|字"),), (Text("值"),)),
            ((Code("a|b"),), (Text("-"),)),
            ((Text("甲\n乙"),), (Strong((Text("1.5"),)),)),
        )
    )

    assert written(table) == "| 名&#124;字 | 值 |\n| --- | --- |\n| a&#124;b | &#45; |\n| 甲 乙 | **1.5** |"


def test_a_fourth_table_is_a_list():
    """Cards with more were refused; nothing of it is lost."""
    table = make_table(("列", "值"), ("甲", "1"), ("乙", ""))

    (card,) = make_cards(make_digest([make_item(n, blocks=(table,)) for n in range(1, 5)]), Density.FULL)

    assert tables(card) == 3
    assert contents(card, "normal")[-1] == "- **列**：甲<br>**值**：1\n- **列**：乙"


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        (
            make_table(tuple("一二三四五六"), tuple("123456")),
            "- **一**：1<br>**二**：2<br>**三**：3<br>**四**：4<br>**五**：5<br>**六**：6",
        ),
        (make_table(("只有", "表头")), "- 只有<br>表头"),
        (make_table(("", ""), (" ", "")), ""),
    ],
)
def test_a_table_that_a_phone_cannot_show_is_a_list(table, expected):
    """Wide ones, and those without rows."""
    assert written(table) == expected


def test_an_endless_name_of_a_column_is_told_once():
    """And repeated in short."""
    text = written(make_table(("很长" * 60, "值"), ("甲", "1"), ("乙", "2")))

    assert text.count("很长" * 60) == 1
    assert text.count("很长" * 10 + "…**：") == 2


def test_a_table_over_parts_has_its_head_in_each():
    """Rows are never cut, and every part of a long table is full."""
    rows = [(f"模型 {number}", f"{number}.5", "一句说明") for number in range(1_500)]

    parts = make_cards(make_digest([make_item(blocks=(make_table(("模型", "分数", "说明"), *rows),))]), Density.FULL)

    assert len(parts) > 1
    assert all(contents(part, "normal")[0].startswith("| 模型 | 分数 | 说明 |\n| --- |") for part in parts)
    assert all(part.bytes > 0.85 * 28_000 for part in parts[:-1])
    assert squeezed(story(parts)).replace("模型分数说明", "") == squeezed("".join(map("".join, rows)))


def test_a_short_table_is_open_and_a_long_one_is_folded():
    """A lead has no table; what is worth a tap waits for it."""
    long = (*make_paragraphs("看表。"), make_table(("列", "值"), *((f"第 {n} 行", "一句说明") for n in range(40))))

    (card,) = make_cards(
        make_digest([make_item(1, blocks=(make_table(("列", "值"), ("甲", "1")),)), make_item(2, blocks=long)])
    )

    first, lead, rest = contents(card, "normal")
    assert (first, lead) == ("| 列 | 值 |\n| --- | --- |\n| 甲 | 1 |", "看表。")
    assert rest.startswith("| 列 | 值 |\n")
    assert card.body.count("collapsible_panel") == 1


def test_tables_may_be_forbidden():
    """As where only a beginning is shown."""
    assert markdown(atoms_of([make_table(("列",), ("甲",))]), Tables(0)) == "- **列**：甲"
