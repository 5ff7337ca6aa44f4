"""Cutting text into parts: bot/cards/sentences.py, split.py."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.cards.inlines import paragraph
from bot.cards.leads import lead_length
from bot.cards.pictures import PictureLine
from bot.cards.sentences import Cut, atoms_of, text_of
from bot.cards.split import Passage, Size, split
from bot.cards.writing import markdown
from bot.domain.digest import Formula, Image, Link, Paragraph, Text, plain
from bot.domain.errors import BotError
from bot.domain.pictures import Picture
from tests.builders import make_paragraphs

FRAME = Size(300, 4)
_INLINES = st.one_of(
    st.builds(Text, st.text(alphabet='文字。！？ab. ,，"\\', max_size=400)),
    st.builds(Link, st.just("https://read.example.com/p"), st.text(alphabet="链接a", min_size=1, max_size=20)),
    st.builds(Formula, st.just("x_1"), st.just("$x_1$")),
)
_BLOCKS = st.lists(st.builds(Paragraph, st.lists(_INLINES, max_size=6).map(tuple)), max_size=6)


def passage(*texts: str) -> Passage:
    return Passage(FRAME, FRAME, atoms_of(make_paragraphs(*texts)))


def cost(part, passages) -> int:
    return sum(
        FRAME.bytes + sum(atom.bytes for atom in passages[piece.passage].atoms[piece.start : piece.stop])
        for piece in part
    )


def _elements(atom) -> int:
    return 3 if isinstance(atom.line, PictureLine) else 0


def elements_of(part, passages) -> int:
    return sum(
        FRAME.elements + sum(atom.elements for atom in passages[piece.passage].atoms[piece.start : piece.stop])
        for piece in part
    )


@settings(max_examples=60, deadline=None)
@given(_BLOCKS)
def test_atoms_are_the_text_in_order(blocks):
    """Nothing is lost or moved by cutting into sentences."""
    assert markdown(atoms_of(blocks)) == "\n\n".join(filter(None, (paragraph(block.inlines) for block in blocks)))


_PHOTO = Image("https://img.example.com/a.png", "图")
_PICTURED = st.tuples(_BLOCKS, st.integers(0, 12), _BLOCKS).map(lambda one: [*one[0], *[_PHOTO] * one[1], *one[2]])


@settings(max_examples=60, deadline=None)
@given(st.lists(_PICTURED, max_size=8), st.integers(min_value=2_000, max_value=20_000), st.integers(8, 40))
def test_parts_hold_everything_in_order_and_fit(texts, room, elements):
    """Order kept, none lost, no part above its room, be it bytes or elements."""
    held = {_PHOTO.url: Picture("img_v3_a", 900, 500)}
    passages = [
        Passage(FRAME, FRAME, tuple(replace(atom, elements=_elements(atom)) for atom in atoms_of(blocks, held)))
        for blocks in texts
    ]

    parts = split(passages, Size(room, elements))

    pieces = [piece for part in parts for piece in part]
    assert [(n, atom) for n, one in enumerate(passages) for atom in one.atoms] == [
        (piece.passage, atom) for piece in pieces for atom in passages[piece.passage].atoms[piece.start : piece.stop]
    ]
    assert sorted({piece.passage for piece in pieces}) == list(range(len(passages)))
    assert all(cost(part, passages) <= room for part in parts)
    assert all(elements_of(part, passages) <= elements for part in parts)


def test_passages_that_fit_stay_whole():
    """A split falls between items first."""
    passages = [passage("一句话，不长也不短。" * 20) for _ in range(20)]

    parts = split(passages, Size(3_000, 100))

    assert len(parts) > 1
    assert all(piece.start == 0 and piece.stop == len(passages[0].atoms) for part in parts for piece in part)


def test_a_passage_too_long_is_cut_between_paragraphs():
    """Then between paragraphs."""
    passages = [passage(*["一句话。另一句话。" * 15] * 12)]

    parts = split(passages, Size(3_000, 100))

    starts = [passages[0].atoms[part[0].start].cut for part in parts]
    assert len(parts) > 1
    assert set(starts) == {Cut.PARAGRAPH}


@pytest.mark.parametrize("sentence", ["一句话，有点长。", "One sentence, rather long. ", "真的吗？", "好；"])
def test_a_paragraph_too_long_is_cut_between_sentences(sentence):
    """Then between sentences, Chinese or English."""
    passages = [passage(sentence * 1_000)]

    parts = split(passages, Size(5_000, 100))

    assert len(parts) > 1
    assert {passages[0].atoms[part[0].start].cut for part in parts[1:]} == {Cut.SENTENCE}


def test_a_sentence_too_long_is_cut_somewhere():
    """As the last resort anywhere, and the parts are still full."""
    passages = [passage("字" * 20_000)]

    parts = split(passages, Size(20_000, 100))

    assert all(cost(part, passages) > 19_000 for part in parts[:-1])


def test_links_and_formulas_are_never_cut():
    """Each stays one piece, whatever the room."""
    link, formula = Link("https://read.example.com/" + "p" * 900, "这里"), Formula(r"\frac{a}{b}" * 30, "…")
    blocks = (Paragraph((Text("前文"), link, formula) * 40),)

    atoms = atoms_of(blocks)

    assert [run.leaf for atom in atoms for run in atom.line.runs if run.leaf in {link, formula}] == [link, formula] * 40


@pytest.mark.parametrize(
    "inline",
    [
        Link("https://read.example.com/p", "字" * 9_000),
        Link("https://read.example.com/" + "p" * 9_000, "这里"),
        Formula("x_1+" * 3_000, "$" + "x_1+" * 3_000 + "$"),
    ],
)
def test_what_is_too_long_to_stay_whole_becomes_text(inline):
    """A monster does not block the digest, and its text is there."""
    block = Paragraph((inline,))

    atoms = atoms_of((block,))

    assert max(atom.bytes for atom in atoms) < 5_000
    assert plain((block,)) in text_of(atoms)


@pytest.mark.parametrize(
    ("text", "lead"),
    [
        ("短文。", "短文。"),
        ("第一句有一点长，" * 6 + "完。" + "第二句更长，" * 15 + "完。" + "尾" * 90, "第一句有一点长，" * 6 + "完。"),
        ("开头。" + "第二句，" * 20 + "完。" + "尾" * 200, "开头。" + "第二句，" * 20 + "完。"),
        ("字" * 119 + "，" + "尾" * 300, "字" * 119 + "，"),
        ("字" * 500, "字" * 120),
    ],
)
def test_a_lead_ends_where_a_sentence_does(text, lead):
    """About 120 characters; a sentence too long ends at a comma, or where it must."""
    atoms = atoms_of(make_paragraphs(text))

    assert text_of(atoms[: lead_length(atoms)]) == lead


def test_characters_that_belong_together_are_not_parted():
    """An accent or a joined emoji is one character to a reader."""
    atoms = atoms_of(make_paragraphs("e\u0301" * 300, "👩\u200d🔬" * 300))

    assert not [atom for atom in atoms if atom.line.runs[0].leaf.text[0] in "\u0301\u200d🔬"]


def test_parts_are_hardly_more_than_the_fewest():
    """Passages just over half a part are cut rather than each sent alone."""
    passages = [passage(*["一句话，不长也不短。" * 6] * 10) for _ in range(12)]
    size = cost([type("P", (), {"passage": 0, "start": 0, "stop": None})()], passages)

    parts = split(passages, Size(int(size / 0.55), 100))

    assert len(parts) <= 12 * 0.55 * 1.3


def test_a_room_too_small_is_an_error_and_not_an_endless_loop():
    """Nothing sensible can be done."""
    with pytest.raises(BotError, match="no room"):
        split([passage("字" * 50)], Size(310, 100))


def test_cutting_takes_time_in_proportion_to_the_text():
    """Planning is arithmetic: ten times the text makes ten times the parts, each cut once."""
    short, long = (split([passage("一句话。" * n)], Size(5_000, 100)) for n in (4_000, 40_000))

    assert 9 < len(long) / len(short) < 11
