"""The strict validator of card JSON 2.0: feishu-platform notes 2.8, 5.2-5.6, 15.6."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.sandbox.validator import CardError, CardReport, check_card, check_references
from tests.sandbox.kit import button, card_json, card_of, markdown

PLAIN = {"tag": "plain_text", "content": "x"}
LINK = {"type": "open_url", "default_url": "https://example.com/a?b=1"}
SUBMIT = button({"a": 1}, name="send", form_action_type="submit")
TABLE = {"tag": "table", "columns": [{"name": "a", "data_type": "text"}], "rows": [{"a": "1"}]}
PIPES = "| a | b |\n|---|---|\n| 1 | 2 |\n\n"

KEY_NAMES = ["tag", "content", "elements", "text", "columns", "rows", "behaviors", "type", "name", "options", "value"]
KEYS = st.sampled_from(KEY_NAMES) | st.text(max_size=4)
LEAVES = st.none() | st.booleans() | st.integers() | st.text(max_size=8)
ANYTHING = st.recursive(LEAVES, lambda one: st.lists(one, max_size=4) | st.dictionaries(KEYS, one, max_size=4))
TAGS = ["markdown", "form", "table", "button", "img", "column_set", "person_list", "select_static", "checker", "audio"]


def report(card: object) -> CardReport:
    return check_card(card if isinstance(card, str) else card_json(card))


def error_code(card: object) -> int:
    found = report(card).error
    return found.err_code if found else 0


def nested(levels: int) -> dict:
    inner: dict = markdown("x")
    for _ in range(levels):
        inner = {"tag": "collapsible_panel", "header": {"title": PLAIN}, "elements": [inner]}
    return inner


FULL_CARD = card_of(
    {"tag": "div", "text": {"tag": "lark_md", "content": "**x** [t](https://e.com)"}, "icon": {"tag": "standard_icon"}},
    {
        **markdown("# 题\n<font color='red'>x</font> [t](https://e.com/a_(b)) `<x>`"),
        "element_id": "m1",
        "margin": "-4px 0px",
    },
    {"tag": "hr"},
    {"tag": "img", "img_key": "img_1", "alt": PLAIN, "scale_type": "crop_top", "corner_radius": "8px"},
    {"tag": "img", "img_key": "img_1", "alt": PLAIN, "scale_type": "crop_center", "size": "240px 48px"},
    {"tag": "img", "img_key": "img_1", "alt": PLAIN, "size": "stretch", "corner_radius": "100%", "transparent": True},
    {"tag": "img_combination", "combination_mode": "double", "img_list": [{"img_key": "img_1"}, {"img_key": "img_2"}]},
    {"tag": "person", "user_id": "ou_1", "style": "capsule"},
    {"tag": "person_list", "persons": [{"id": "ou_1"}]},
    {**TABLE, "page_size": 5, "header_style": {"bold": True}},
    {"tag": "chart", "chart_spec": {"type": "bar", "tag": "anything"}},
    {
        "tag": "column_set",
        "flex_mode": "none",
        "columns": [{"tag": "column", "width": "weighted", "weight": 2, "elements": [markdown("x")]}],
    },
    nested(5),
    {"tag": "interactive_container", "behaviors": [LINK], "elements": [markdown("x")]},
    {
        "tag": "form",
        "name": "f",
        "elements": [
            {"tag": "input", "name": "i", "required": True, "placeholder": PLAIN, "max_length": 100},
            {"tag": "select_static", "name": "s", "options": [{"text": PLAIN, "value": "1"}], "initial_index": 1},
            {"tag": "multi_select_static", "name": "ms", "options": [{"text": PLAIN, "value": "1"}]},
            {"tag": "date_picker", "name": "d", "initial_date": "2026-03-08"},
            {"tag": "picker_time", "name": "t", "initial_time": "08:37"},
            {"tag": "checker", "name": "c", "text": PLAIN, "checked": True},
            SUBMIT,
            button({"a": 2}, name="clear", form_action_type="reset"),
        ],
    },
    button({"a": 3}, type="primary", size="small", width="fill", confirm={"title": PLAIN, "text": PLAIN}),
    {"tag": "button", "text": PLAIN, "behaviors": [LINK, {"type": "callback", "value": {"b": 1}}]},
    {
        "tag": "overflow",
        "options": [{"text": PLAIN, "value": "1"}, {"text": PLAIN, "multi_url": {"url": "https://e.com"}}],
    },
    config={
        "summary": {"content": "x", "i18n_content": {"en_us": "y"}},
        "update_multi": True,
        "width_mode": "fill",
        "style": {"text_size": {"cus-0": {"default": "normal"}}, "color": {"cus-0": {"light_mode": "rgba(1,2,3,1)"}}},
    },
    card_link={"url": "https://e.com", "pc_url": "lark://msgcard/unsupported_action"},
    header={"title": PLAIN, "template": "blue", "text_tag_list": [{"tag": "text_tag", "text": PLAIN, "color": "red"}]},
)


def test_a_card_with_every_component_passes():
    """What the pages document is accepted, and what it names is handed on for the comparison with the world."""
    found = report(FULL_CARD)

    assert (found.error, found.warnings) == (None, ())
    assert set(found.images or ()) == {"img_1", "img_2"}
    assert set(found.users or ()) == {"ou_1"}


@pytest.mark.parametrize("card", ["{}", '{"schema": "2.0"}', '{"schema": "2.0", "body": {}}'])
def test_a_blank_card_is_legal(card):
    """Every field at the top is optional."""
    assert error_code(card) == 0


@pytest.mark.parametrize(
    ("card", "code"),
    [
        ("nonsense", 200621),
        ("[]", 200621),
        ("[" * 5000, 200621),
        ('{"schema": "3.0"}', 200621),
        ({"schema": "2.0", "elements": []}, 200621),
        (card_of(markdown("x"), extra=1), 200621),
        (card_of({"tag": "nothing"}), 200621),
        (card_of({"no": "tag"}), 200621),
        (card_of({"tag": ["list"]}), 200621),
        (card_of("text"), 200621),
        (card_of({"tag": "markdown"}), 200621),
        (card_of({"tag": "markdown", "content": 5}), 200621),
        (card_of({**markdown("x"), "colour": "red"}), 200621),
        (card_of({**markdown("x"), "text_align": "middle"}), 200621),
        (card_of({**markdown("x"), "margin": "100px"}), 200621),
        (card_of({**markdown("x"), "margin": "1px 2px 3px"}), 200621),
        *[
            (card_of({"tag": "img", "img_key": "img_1", "alt": PLAIN, **wrong}), 200621)
            for wrong in (
                {"size": "stretch_without_padding"},
                {"size": "240px"},
                {"size": "240 48"},
                {"size": "1000px 48px"},
                {"size": "0px 48px"},
                {"corner_radius": "101%"},
                {"scale_type": "fill"},
            )
        ],
        (card_of(header={"template": "blue"}), 200621),
        (card_of(header={"title": PLAIN, "template": "pink"}), 200621),
        (card_of(config={"wide_screen_mode": True}), 200621),
        (card_of(config={"update_multi": False}), 300302),
        (card_of(config={"summary": {"content": "x", "i18n_content": {"zh": "x"}}}), 200621),
        (card_of({"tag": "action", "actions": []}), 200861),
        (card_of({"tag": "note", "elements": []}), 200861),
        (card_of({**markdown("x"), "element_id": "1a"}), 300301),
        (card_of({**markdown("x"), "element_id": "a" * 21}), 300301),
        (card_of({**markdown("x"), "element_id": "a"}, {**markdown("y"), "element_id": "a"}), 300301),
        (card_of(*[TABLE] * 6), 11310),
        (card_of(*[markdown(PIPES * 2)] * 3), 11310),
        (card_of(markdown(PIPES * 5)), 11310),
        (card_of(*[markdown("x")] * 201), 11310),
        (card_of(nested(6)), 200621),
        (card_of({"tag": "column_set", "columns": [{"tag": "column", "elements": [TABLE]}]}), 200621),
        (card_of({"tag": "collapsible_panel", "header": {"title": PLAIN}, "elements": [{"tag": "form"}]}), 200621),
        (card_of({"tag": "form", "name": "f", "elements": [markdown("x")]}), 200621),
        (card_of({"tag": "form", "elements": [SUBMIT]}), 200621),
        (card_of({"tag": "form", "name": "f", "elements": [SUBMIT, {"tag": "input"}]}), 200621),
        (card_of({"tag": "form", "name": "f", "elements": [SUBMIT, {"tag": "input", "name": "send"}]}), 200621),
        (card_of({"tag": "multi_select_static", "options": []}), 200621),
        (card_of({"tag": "select_img", "multi_select": True, "options": [{"img_key": "i", "value": "1"}]}), 200621),
        (card_of(button({"a": 1}, text={"tag": "plain_text", "content": "x" * 101})), 200621),
        (card_of(button({"a": 1}, value={"a": 1})), 200621),
        (card_of(button({"a": 1}, confirm={"text": PLAIN})), 200621),
        (card_of({"tag": "button", "behaviors": [{"type": "open_url", "default_url": "lark://x"}]}), 200621),
        (card_of({"tag": "button", "behaviors": [{"type": "open_url", "default_url": "https://e.com/空"}]}), 200621),
        (card_of({"tag": "button", "behaviors": [{"type": "open_url", "default_url": "https://"}]}), 200621),
        (card_of({"tag": "button", "behaviors": [{"type": "mail"}]}), 200621),
        (card_of(card_link={"pc_url": "https://e.com"}), 200621),
        (card_of(markdown("[t](javascript:alert(1))")), 200621),
        (card_of(markdown("[t](mailto:a)")), 200621),
        (card_of(markdown("[t](/relative)")), 200621),
        (card_of(markdown("[t](https://e.com/a b)")), 200621),
        (card_of(markdown("<a href='ftp://e.com'>x</a>")), 200621),
        (card_of(markdown("<link icon='x'>t</link>")), 200621),
        (card_of({"tag": "div", "text": {"tag": "lark_md", "content": "[t](file:///x)"}}), 200621),
        (card_of(markdown("<at user_id='ou_1'></at>")), 100290),
        (card_of({**TABLE, "rows": ["x"]}), 200914),
        (card_of({**TABLE, "rows": [{"a": 1}]}), 200914),
        (card_of({**TABLE, "rows": [{"b": "1"}]}), 200915),
        (card_of({**TABLE, "page_size": 11}), 200621),
        (card_of({"tag": "audio", "file_key": "f"}), 300220),
        ({"type": "template", "data": {"template_id": "AAq"}}, 200380),
    ],
)
def test_a_card_that_the_platform_would_refuse_is_refused_with_its_sub_code(card, code):
    """Unknown, missing, misplaced, too many, malformed: each with the code of the pages."""
    assert error_code(card) == code


def test_an_error_names_its_place():
    """The path goes from the root to the element with its tag."""
    found = report(card_of(markdown("x"), {"tag": "column_set", "columns": [{"tag": "column", "width": "wide"}]})).error

    path = "ROOT -> body -> elements -> [1](tag: column_set) -> columns -> [0](tag: column) -> width"
    assert found == CardError(200621, path, "parse card json err, not [16,600]px", "wide")


@pytest.mark.parametrize(
    "text",
    [
        "`[t](javascript:x)` and ``<at id=all></at> ` ``",
        "```\n[t](javascript:x)\n<at id=all></at>\n```",
        "~~~\n[t](x)\n" + PIPES * 5 + "~~~",
        "```python\nlist[int](x)",
        "call &#91;t&#93;(x), 5 * 3, a_b",
        "[电话](tel://123)",
        "---\n\n- a\n- b",
    ],
)
def test_code_and_escaped_text_hold_no_links_mentions_or_tables(text):
    """Fences, spans and entities are text."""
    assert (error_code(card_of(markdown(text))), report(card_of(markdown(text))).mention_all) == (0, None)


@pytest.mark.parametrize(
    ("card", "word"),
    [
        (card_of(markdown("cost $O(n)$ here")), "formulas"),
        (card_of(markdown("<think>x</think>")), "<think>"),
        (card_of(markdown("[t](https://e.com/?a=1&copy=2)")), "entity"),
        (card_of(markdown("见https://e.com/a，详情")), "bare address"),
        (card_of({**markdown("x"), "text_size": "huge"}), "text_size"),
        (card_of(*[TABLE] * 4), "tables"),
        (card_of(button("text")), "200671"),
        (card_of({"tag": "input", "required": True}), "required"),
        (card_of(header={"title": PLAIN, "text_tag_list": [{"tag": "text_tag", "text": PLAIN}] * 4}), "3 tags"),
        ({"elements": []}, "1.0"),
    ],
)
def test_what_only_looks_bad_is_a_warning(card, word):
    """The platform accepts it, so the sandbox does, and says what a reader would see."""
    found = report(card)

    assert found.error is None
    assert word in " ".join(found.warnings)


def test_people_images_and_mentions_are_compared_with_the_world():
    """Unknown people are 100290, images of another app 200570; a list may drop whom it does not know."""
    people = card_of(markdown("<at id=ou_1></at><at ids=ou_1,ou_2></at>"))
    lists = card_of({"tag": "person_list", "persons": [{"id": "ou_9"}], "drop_invalid_user_id": True})
    image, everybody = card_of(markdown("![alt](img_1)")), card_of(markdown("<at id=all></at>"))

    def code(card: object, users: str = "", images: str = "", *, may_mention_all: bool = False) -> int:
        found = check_references(
            report(card),
            has_user=users.split().__contains__,
            owns_image=images.split().__contains__,
            may_mention_all=may_mention_all,
        )
        return found.err_code if found else 0

    assert [code(people), code(people, "ou_1"), code(people, "ou_1 ou_2")] == [100290, 100290, 0]
    assert code(lists) == 0
    assert [code(image), code(image, images="img_1")] == [200570, 0]
    assert [code(everybody), code(everybody, may_mention_all=True)] == [100290, 0]


def test_exactly_200_tagged_objects_and_5_tables_pass():
    """The limits themselves are allowed; texts inside components count, callback values do not."""
    assert error_code(card_of(*[{"tag": "div", "text": PLAIN}] * 100)) == 0
    assert error_code(card_of(*[{"tag": "div", "text": PLAIN}] * 100, markdown("x"))) == 11310
    assert error_code(card_of(*[markdown("x")] * 198, button({"tag": "mine"}))) == 0
    assert error_code(card_of(*[TABLE] * 3, markdown(PIPES * 2))) == 0


@given(ANYTHING, st.sampled_from(TAGS))
def test_any_json_is_judged_and_never_raises(value, tag):
    """Whatever stands where, the answer is a report."""
    fields = value if isinstance(value, dict) else {"content": value}
    for card in (
        value,
        card_of({**fields, "tag": tag}),
        card_of(value),
        {"schema": "2.0", "header": value, "config": value},
    ):
        assert isinstance(check_card(json.dumps(card)), CardReport)


@pytest.mark.parametrize(
    "unit", ["![](", "[a](", "[[[", "<a ", "`` ` ", "~~~", "<at id=", "http://a", "a=", "| - ", "|-|-\n"]
)
def test_hostile_text_is_judged(unit):
    """30 KB of any pattern come to an end: no pattern backtracks."""
    card = card_json(card_of(markdown((unit * 10_000)[:29_000])))

    assert isinstance(check_card(card), CardReport)
