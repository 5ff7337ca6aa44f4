"""Cards as HTML: what the client shows is shown, and nothing a card holds becomes live."""

import re
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.sandbox.draw import decoded, draw_card, draw_message, draw_post, page_of, preview_of
from bot.sandbox.draw_elements import _DRAWERS
from bot.sandbox.draw_html import Viewer
from bot.sandbox.draw_inline import draw_inline
from bot.sandbox.draw_markdown import draw_markdown
from bot.sandbox.press import NotOnCardError, Press, read_press
from tests.effort import calls_of

NOBODY = Viewer()
LIVE_TAGS = {"script", "iframe", "object", "embed", "style", "link", "meta", "base", "svg", "math", "template"}


class _Seen(HTMLParser):
    """Every element of a document with its attributes, and the text a reader sees."""

    def __init__(self, html):
        super().__init__(convert_charrefs=True)
        self.elements, self.text, self.open = [], "", []
        self.feed(html)
        self.close()

    def handle_starttag(self, name, attributes):
        self.elements.append((name, dict(attributes)))
        if name not in {"br", "hr", "img", "input"}:
            self.open.append(name)

    def handle_endtag(self, name):
        assert self.open.pop() == name

    def handle_data(self, data):
        self.text += data


def look(html):
    """Parse, and demand of every drawing what must always hold."""
    seen = _Seen(str(html))
    assert not seen.open
    for name, attributes in seen.elements:
        assert name not in LIVE_TAGS
        assert not [key for key in attributes if key.startswith("on") or key == "style"]
        for key in ("href", "src", "action", "formaction"):
            assert re.match(r"https?://|click$", attributes.get(key) or "click", re.IGNORECASE)
    return seen


def card_of(*elements, **header):
    return {"schema": "2.0", "header": header, "body": {"elements": list(elements)}}


def markdown(content):
    return {"tag": "markdown", "content": content}


def button(text, **fields):
    return {"tag": "button", "text": {"tag": "plain_text", "content": text}, **fields}


def links(html):
    return [attributes["href"] for name, attributes in look(html).elements if name == "a"]


_TEXT = st.text(max_size=20) | st.sampled_from(
    [
        "<at id=all></at>",
        "**",
        "[a](https://b.c)",
        "](x)",
        "<font color='red'>",
        "```",
        "| a |",
        "\ud800",
        "blue",
        "99px",
    ]
)
_SCALAR = st.none() | st.booleans() | st.integers() | st.floats() | _TEXT
_NAMES = (
    "tag content text elements columns rows options behaviors confirm header title body width padding i18n_content "
    "zh_cn value url multi_url action template text_tag_list disabled format data_type name initial_index"
)
_KEYS = st.sampled_from(_NAMES.split())
_JSON = st.recursive(
    _SCALAR,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_KEYS | _TEXT, inner, max_size=5),
    max_leaves=25,
)
_ELEMENT = st.fixed_dictionaries({"tag": st.sampled_from(sorted(_DRAWERS))}).flatmap(
    lambda tag: st.dictionaries(_KEYS, _JSON, max_size=8).map(lambda fields: {**fields, **tag})
)


@settings(max_examples=120, deadline=None)
@given(_JSON, st.none() | st.just("om_1"))
def test_any_json_at_all_is_drawn_and_stays_dead(value, message_id):
    """No JSON raises, and none becomes a script, a handler, a style or a foreign address."""
    look(draw_card({"header": value, "body": {"elements": value}, "config": value}, message_id=message_id))
    look(draw_card(value, message_id=message_id))
    look(draw_message("post", value, message_id="om_1"))
    preview_of("interactive", value).encode()


@settings(max_examples=200, deadline=None)
@given(st.lists(_ELEMENT, max_size=3))
def test_every_component_survives_fields_of_every_type(elements):
    """Each drawer takes whatever stands in the fields it reads."""
    look(draw_card(card_of(*elements), message_id="om_1")).text.encode()


@settings(max_examples=200, deadline=None)
@given(st.text(st.sampled_from("ab *_~`[]()<>!#|-\n&;:/h1.\\"), max_size=80) | _TEXT)
def test_any_markdown_is_drawn_balanced(text):
    """Marks that never find their partner leave no element open."""
    look(draw_markdown(text, NOBODY))


@given(st.text(st.characters(exclude_characters="\\", exclude_categories=["Cs"]), max_size=60))
def test_text_written_as_entities_reads_back_equal(text):
    """What a bot escapes is shown exactly, with no mark of it taking effect."""
    escaped = "".join(f"&#{ord(one)};" if not one.isalnum() else one for one in text)
    shown = _Seen(str(draw_inline(escaped, NOBODY)))
    import html

    expected = html.unescape(escaped).split("\n")
    assert "\n".join(expected).replace("\n", "") == shown.text
    assert {name for name, _ in shown.elements} <= {"br"}


@pytest.mark.parametrize(
    ("written", "drawn"),
    [
        (
            "**粗** *斜* ***都*** ~~删~~ `码`",
            "<strong>粗</strong> <em>斜</em> <strong><em>都</em></strong> <s>删</s> <code>码</code>",
        ),
        ("snake_case_name 2 * 3 * 4", "snake_case_name 2 * 3 * 4"),
        ("<font color='red'>红 **粗**</font>", '<span class="font hue-red">红 <strong>粗</strong></span>'),
        ("<text_tag color='green'>新</text_tag>", '<span class="tag hue-green">新</span>'),
        ("<at id=all></at>", '<span class="at">@所有人</span>'),
        ("<think>想</think>", "&lt;think&gt;想&lt;/think&gt;"),
        ("**没关", "**没关"),
        ("一\n二<br>三", "一<br>二<br>三"),
        ("&#42;星&#42; &lt;b&gt;", "*星* &lt;b&gt;"),
    ],
)
def test_inline_marks_are_drawn_as_documented(written, drawn):
    """Section 5.3 of the platform notes, mark by mark."""
    assert draw_inline(written, NOBODY) == drawn


@pytest.mark.parametrize(
    ("written", "drawn"),
    [
        ("## 标题", "<h2>标题</h2>"),
        ("> 引用\n> 两行", "<blockquote><p>引用<br>两行</p></blockquote>"),
        (
            "- 甲\n    - 乙\n    - 丙\n- 丁",
            "<ul><li><p>甲</p><ul><li><p>乙</p></li><li><p>丙</p></li></ul></li><li><p>丁</p></li></ul>",
        ),
        ("3. 三\n4. 四", '<ol start="3"><li><p>三</p></li><li><p>四</p></li></ol>'),
        ("甲\n---\n乙", "<p>甲</p><hr><p>乙</p>"),
        ("<hr>", "<hr>"),
    ],
)
def test_blocks_are_drawn_as_documented(written, drawn):
    """Headings, quotes, nested lists and rules."""
    assert draw_markdown(written, NOBODY) == drawn


def test_a_code_block_is_literal():
    """Nothing inside a fence is a mark or an entity."""
    drawn = draw_markdown("```python\nif a < b: **x** &lt;\n```", NOBODY)
    assert "if a < b: **x** &lt;" in look(drawn).text
    assert "<strong>" not in drawn


def test_a_table_keeps_every_row_and_says_where_the_client_turns_the_page():
    """Nothing is hidden, though the client shows five rows at a time."""
    rows = "\n".join(f"| {n} | **{n}** |" for n in range(8))
    drawn = look(draw_markdown(f"| 甲 | 乙 |\n|---|:-:|\n{rows}", NOBODY))
    assert [name for name, _ in drawn.elements].count("tr") == 9
    assert "共 8 行，客户端每页显示 5 行" in drawn.text


@pytest.mark.parametrize(
    "address",
    [
        "javascript:alert(1)", "JaVaScRiPt:alert(1)", "data:text/html,x", "//evil.example", "/admin", "file:///etc/passwd",
        "vbscript:x", "https://", "https://a b.c", "https://[::1", "javascript&#58;alert(1)", "https://例.com/",
    ],
)  # fmt: skip
def test_no_address_but_http_becomes_a_link(address):
    """A link that the client would not open is text."""
    card = card_of(
        markdown(f"[a]({address}) <a href='{address}'>b</a> <link url='{address}'>c</link>"),
        button("开", behaviors=[{"type": "open_url", "default_url": address}]),
        {"tag": "column_set", "columns": [], "action": {"multi_url": {"url": address}}},
    )
    assert links(draw_card({**card, "card_link": {"url": address}})) == []


def test_links_open_apart_and_tell_nothing():
    """Every link has its rel and its own window."""
    drawn = look(draw_card(card_of(markdown("[甲](https://a.example/x_(y)?q=1&amp;r=2) https://b.example/。"))))
    found = [attributes for name, attributes in drawn.elements if name == "a"]
    assert [one["href"] for one in found] == ["https://a.example/x_(y)?q=1&r=2", "https://b.example/"]
    assert {one["rel"] for one in found} == {"noopener noreferrer nofollow"}


def test_an_unknown_component_is_a_visible_marker():
    """The page goes on, and names what the client would not know."""
    assert "不认识的组件 hologram" in look(draw_card(card_of({"tag": "hologram"}, markdown("后面")))).text


def test_chinese_is_chosen_among_translations():
    """A Chinese client looks at the page."""
    title = {"tag": "plain_text", "content": "Daily", "i18n_content": {"zh_cn": "日报", "en_us": "Daily"}}
    assert "日报" in look(draw_card(card_of(title=title))).text


def test_names_and_pictures_come_from_the_viewer():
    """Who looks knows names and pictures; without them there is the id and a labelled box."""
    viewer = Viewer({"ou_1": "小明"}, lambda key: f"https://pictures.example/{key}")
    image = {"tag": "img", "img_key": "img_1", "alt": {"tag": "plain_text", "content": "公式"}}
    card = card_of(markdown("<at id=ou_1></at>"), image)
    known, unknown = look(draw_card(card, viewer=viewer)), look(draw_card(card))
    assert "@小明" in known.text
    assert ("img", "https://pictures.example/img_1") in [(name, a.get("src")) for name, a in known.elements]
    assert "@ou_1" in unknown.text
    assert "公式" in unknown.text


def test_a_preview_can_send_nothing():
    """Without a message id there is no form and no submit button."""
    card = card_of(button("订阅"), {"tag": "form", "name": "f", "elements": [button("存", form_action_type="submit")]})
    drawn = look(draw_card(card)).elements
    assert "form" not in [name for name, _ in drawn]
    assert {attributes["type"] for name, attributes in drawn if name == "button"} == {"button"}


FORM = card_of(
    button("普通", behaviors=[{"type": "callback", "value": {"a": 1}}]),
    {
        "tag": "form",
        "name": "prefs",
        "elements": [
            {"tag": "input", "name": "topic"},
            {"tag": "multi_select_static", "name": "sections", "options": [{"text": "论文", "value": "papers"}]},
            {"tag": "checker", "name": "workdays"},
            {"tag": "picker_time", "name": "slot"},
            button("保存", name="save", form_action_type="submit"),
        ],
    },
    {"tag": "select_static", "behaviors": [{"type": "callback", "value": {"k": 1}}], "options": [{"value": "x"}]},
    {"tag": "overflow", "name": "more", "options": [{"text": "一", "value": "1"}, {"text": "二", "value": "2"}]},
)


@pytest.mark.parametrize(
    ("pressed", "fields", "press"),
    [
        ("body.elements.0", {}, Press({"a": 1})),
        (
            "body.elements.1.elements.4",
            {
                "field.body.elements.1.elements.0": ["代理"],
                "field.body.elements.1.elements.1": ["papers"],
                "field.body.elements.1.elements.3": ["08:30"],
            },
            Press("save", {"topic": "代理", "sections": ["papers"], "workdays": False, "slot": "08:30 +0800"}),
        ),
        ("body.elements.2", {"field.body.elements.2": ["x"]}, Press({"k": 1}, None, "x")),
        ("body.elements.3@1", {}, Press("more", None, "2")),
    ],
)
def test_a_press_is_read_from_the_stored_card(pressed, fields, press):
    """The page sends a path and what was filled in; names and values come from the card."""
    assert read_press(FORM, pressed, fields) == press


def test_every_button_drawn_can_be_read_back():
    """The paths on the page are the paths of the card."""
    drawn = look(draw_card(FORM, message_id="om_1")).elements
    paths = [attributes["value"] for _, attributes in drawn if attributes.get("name") == "press"]
    assert paths == [
        "body.elements.0",
        "body.elements.1.elements.4",
        "body.elements.2",
        "body.elements.3@0",
        "body.elements.3@1",
    ]
    for path in paths:
        read_press(FORM, path, {})


@pytest.mark.parametrize(
    "path", ["", "body", "body.elements.9", "body.elements.-1", "body.elements.²", "x" * 9999, "@", "body.elements.3@7"]
)
def test_a_path_that_is_not_on_the_card_is_refused(path):
    """A card that was replaced meanwhile, or a made-up path."""
    with pytest.raises(NotOnCardError):
        read_press(FORM, path, {})


@settings(max_examples=60, deadline=None)
@given(_JSON, _TEXT, st.dictionaries(_TEXT, st.lists(_TEXT, max_size=2), max_size=3))
def test_a_press_on_any_json_is_read_or_refused(card, path, fields):
    """Nothing but a refusal comes out of a wrong press."""
    for pressed in (path, "body.elements.0", "0", "elements.0@0"):
        try:
            read_press(card, pressed, fields)
        except NotOnCardError:
            continue


def test_a_page_needs_nothing_else():
    """`card render --out` writes one file: no script, nothing fetched, the style inside."""
    page = page_of(card_of(markdown("正文"), title={"content": "<日报>"}))
    assert "<title>&lt;日报&gt;</title>" in page
    assert "正文" in page
    assert ".card-header" in page
    assert not re.search(r"<script|<link|@import|url\((?!\"data:)|src=", page)


@pytest.mark.parametrize(
    ("kind", "content", "preview"),
    [
        ("interactive", {"config": {"summary": {"content": "摘 要"}}, "header": {"title": {"content": "题"}}}, "摘 要"),
        ("interactive", {"header": {"title": {"content": "日报"}}}, "日报"),
        ("interactive", {}, "[卡片]"),
        ("text", {"text": '你好 <at user_id="ou_1">小明</at>\n再见'}, "你好 @小明 再见"),
        ("post", {"zh_cn": {"title": "标题", "content": []}}, "标题"),
        ("image", {"image_key": "img_1"}, "[图片]"),
    ],
)  # fmt: skip
def test_the_chat_list_shows_one_line(kind, content, preview):
    """Summary before title, and never a line break."""
    assert preview_of(kind, content) == preview


def test_a_post_is_drawn_with_and_without_locale_keys():
    """Sent posts have locale keys, received ones have none."""
    nodes = [
        [{"tag": "text", "text": "甲", "style": ["bold"]}, {"tag": "a", "text": "乙", "href": "https://a.example/"}]
    ]
    sent = draw_post({"zh_cn": {"title": "题", "content": nodes}})
    assert sent == draw_post({"title": "题", "content": nodes})
    assert look(sent).text == "题甲乙"


def test_content_that_is_no_json_is_an_empty_message():
    """A broken content cannot break the page."""
    assert decoded("{") == {}


def test_a_card_nested_beyond_every_limit_ends_in_a_marker():
    """Depth is bounded, so that no card can exhaust the stack."""
    element = markdown("底")
    for _ in range(200):
        element = {"tag": "interactive_container", "elements": [element]}
    assert "嵌套太深" in look(draw_card(card_of(element))).text


_HOSTILE = (
    "*a " * 9000,
    "[" * 28000,
    "<font color='red'>" * 1600,
    "`a ``b " * 4000,
    "](" * 14000,
    "<at" + " " * 28000,
    "- a\n" * 7000,
    "> " * 14000,
    "|" * 14000 + "\n" + "|-" * 7000,
)


@pytest.mark.parametrize("text", _HOSTILE, ids=[text[:6] for text in _HOSTILE])
def test_hostile_text_of_a_full_card_is_drawn(text):
    """30 KB of any text, the platform's limit of a card: no pattern goes back and forth over it."""
    assert calls_of(lambda: look(draw_card(card_of(markdown(text))))) < 300 * len(text)
