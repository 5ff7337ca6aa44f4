"""Pictures as the client shows them: feishu-platform notes 5.4."""

import io
from base64 import b64decode

import pytest
from PIL import Image

from bot.sandbox.draw import draw_card, draw_message, page_of
from bot.sandbox.draw_html import Viewer
from tests.sandbox.test_draw import card_of, look, markdown

SEES = Viewer(image_url=lambda key: f"https://pictures.example/{key}")


def image(**fields):
    return {"tag": "img", "img_key": "img_1", "alt": {"tag": "plain_text", "content": "说明"}, **fields}


def drawn(element, viewer=SEES):
    """The `<img>` of a card with one picture, by its attributes."""
    (found,) = [found for name, found in look(draw_card(card_of(element), viewer=viewer)).elements if name == "img"]
    return found


def png():
    out = io.BytesIO()
    Image.new("RGB", (3, 2)).save(out, "PNG")
    return out.getvalue()


@pytest.mark.parametrize(
    ("fields", "class_", "width", "height"),
    [
        ({}, "image image-wide", None, None),
        ({"scale_type": "fit_horizontal"}, "image image-wide", None, None),
        ({"scale_type": "fit_horizontal", "size": "240px 48px"}, "image image-wide", None, None),
        ({"scale_type": "crop_center", "size": "240px 48px"}, "image image-crop", "240", "48"),
        ({"scale_type": "crop_top", "size": "240px 48px"}, "image image-crop image-top", "240", "48"),
        ({"size": "large"}, "image image-crop", "160", "160"),
        ({"size": "medium"}, "image image-crop", "80", "80"),
        ({"size": "small"}, "image image-crop", "40", "40"),
        ({"size": "tiny"}, "image image-crop", "16", "16"),
        ({"scale_type": "crop_center", "size": "stretch"}, "image image-stretch image-crop", None, None),
        ({"scale_type": "crop_top"}, "image image-stretch image-crop image-top", None, None),
        ({"mode": "tiny"}, "image image-crop", "16", "16"),
        ({"mode": "fit_horizontal"}, "image image-wide", None, None),
        ({"custom_width": 300}, "image", "300", None),
        ({"compact_width": True}, "image", "278", None),
        ({"corner_radius": "9px", "transparent": True}, "image image-wide round-8 image-clear", None, None),
        ({"corner_radius": "100%"}, "image image-wide oval-50", None, None),
    ],
)
def test_a_picture_has_the_size_that_it_asks_for(fields, class_, width, height):
    """As wide as its container unless it is cropped to a box; the old properties mean what they meant."""
    found = drawn(image(**fields))

    assert (found["class"], found.get("width"), found.get("height")) == (class_, width, height)


def test_alt_shows_at_the_mouse_and_title_above():
    """Without an alt the title stands in for those who cannot see."""
    title = {"tag": "plain_text", "content": "图一"}
    both, bare = image(title=title), image(title=title, alt={"tag": "plain_text", "content": ""})

    assert (drawn(both)["alt"], drawn(both)["title"], drawn(bare)["alt"]) == ("说明", "说明", "图一")
    html = str(draw_card(card_of(both), viewer=SEES))
    assert html.index("<figcaption>图一</figcaption>") < html.index("<img")


def test_a_picture_opens_large_unless_it_may_not():
    """A link to itself; the picture inside a page has no address to open."""

    def links(element, viewer=SEES):
        elements = look(draw_card(card_of(element), viewer=viewer)).elements
        return [found["href"] for name, found in elements if name == "a"]

    assert links(image()) == ["https://pictures.example/img_1"]
    assert links(image(preview=False)) == []
    assert "<a " not in str(draw_card(card_of(image()), viewer=Viewer(image_url=lambda _key: "data:image/png;base64,")))


def test_a_chinese_picture_is_chosen():
    """`i18n_img_key` by language."""
    assert drawn(image(i18n_img_key={"zh_cn": "img_zh", "en_us": "img_en"}))["src"].endswith("/img_zh")


@pytest.mark.parametrize(("mode", "shown"), [("double", 2), ("triple", 3), ("bisect", 6), ("trisect", 9)])
def test_a_combination_shows_as_many_as_it_holds(mode, shown):
    """The rest is left out, as in the client."""
    pictures = [{"img_key": f"img_{number}"} for number in range(12)]
    card = card_of({"tag": "img_combination", "combination_mode": mode, "img_list": pictures})

    found = [found for name, found in look(draw_card(card, viewer=SEES)).elements if name == "img"]

    assert [one["src"][-5:] for one in found] == [f"img_{number}" for number in range(shown)]


def test_pictures_in_text_and_messages_are_shown_too():
    """In markdown with its words at the mouse, in a post, and as a message of its own."""
    inline = drawn(markdown("看 ![公式](img_2) 这里"))
    post = {"zh_cn": {"content": [[{"tag": "img", "image_key": "img_3"}]]}}
    sent = draw_message("post", post, message_id="om_1", viewer=SEES)
    alone = draw_message("image", {"image_key": "img_4"}, message_id="om_1", viewer=SEES)

    assert (inline["src"][-5:], inline["title"], inline["class"]) == ("img_2", "公式", "picture")
    for html, key in ((sent, "img_3"), (alone, "img_4")):
        assert [found["src"][-5:] for name, found in look(html).elements if name == "img"] == [key]


def test_a_page_of_a_card_holds_its_pictures():
    """As data; what is missing, or no picture, stays a labelled box."""
    card = card_of(image(), image(img_key="img_none"), image(img_key="img_svg"))

    html = page_of(card, {"img_1": png(), "img_svg": b"<svg/>"})

    (source,) = [part.split('"')[0] for part in html.split('src="')[1:]]
    assert b64decode(source.removeprefix("data:image/png;base64,")) == png()
    assert html.count("placeholder") - page_of({}).count("placeholder") == 2
