"""Other people's pictures: what a card may show, and that no file can do harm."""

import random
import resource
from io import BytesIO

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from bot.pictures.photo import MOST_BYTES, prepare
from bot.pictures.ready import PictureError
from tests.image_builder import make_image, make_moving, make_png

SIDEWAYS = 6  # EXIF: the top of the scene is on the right


def opened(content: bytes) -> Image.Image:
    """What a client would see."""
    return Image.open(BytesIO(content))


def code_of(data: bytes) -> str:
    """The code of a refusal."""
    with pytest.raises(PictureError) as caught:
        prepare(data)
    return caught.value.code


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP", "GIF", "BMP"])
def test_a_picture_of_each_known_kind_is_taken(kind):
    """And says its size on a screen."""
    ready = prepare(make_image(320, 200, kind))

    assert (ready.width, ready.height) == opened(ready.content).size == (320, 200)
    assert opened(ready.content).format in {"PNG", "JPEG"}


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGB", "RGBA", "CMYK"])
def test_a_picture_in_each_mode_is_taken(mode):
    """Grey, colour, a palette, ink: all come out as grey or colour."""
    ready = prepare(make_image(64, 48, "JPEG" if mode == "CMYK" else "PNG", mode=mode))

    assert opened(ready.content).mode in {"L", "RGB"}


def test_sixteen_bits_of_grey_are_not_washed_out():
    """The darkest stays dark, the lightest light, the middle in the middle."""
    grey = Image.frombytes("I;16", (64, 64), b"".join((n * 16).to_bytes(2, "little") for n in range(4096)))
    packed = BytesIO()
    grey.save(packed, "PNG")

    seen = opened(prepare(packed.getvalue()).content)

    assert seen.getextrema() == (0, 255)
    assert 126 <= seen.getpixel((0, 32)) <= 129


@pytest.mark.parametrize(
    ("size", "shown"), [((3000, 1000), (1500, 500)), ((3000, 4500), (1500, 2250)), ((1501, 1501), (1500, 1500))]
)
def test_a_large_picture_is_made_as_large_as_a_card_shows_it(size, shown):
    """Its proportions stay."""
    ready = prepare(make_image(*size))

    assert (ready.width, ready.height) == opened(ready.content).size == shown


def test_a_small_picture_stays_as_it_is():
    """Nothing is blown up."""
    assert (prepare(make_image(16, 20)).width, prepare(make_image(16, 20)).height) == (16, 20)


def test_a_photograph_is_turned_upright_and_says_nothing_about_its_owner():
    """EXIF, comment and colour profile are gone."""
    exif = Image.Exif()
    exif[0x0112], exif[0x010E] = SIDEWAYS, "the owner's kitchen"
    ready = prepare(make_image(320, 200, "JPEG", exif=exif, comment=b"the owner's name", icc_profile=b"profile"))

    seen = opened(ready.content)
    assert (ready.width, ready.height) == seen.size == (200, 320)
    assert not seen.getexif()
    assert b"owner" not in ready.content
    assert b"profile" not in ready.content
    # the gradient runs from dark to light, top to bottom, in the file: upright it runs from right to left
    grey = seen.convert("L")
    assert grey.getpixel((190, 160)) < 40
    assert grey.getpixel((10, 160)) > 200


def test_what_is_partly_clear_stays_so():
    """As a PNG; what only could be clear and is not becomes plain."""
    clear = Image.new("RGBA", (64, 64), (255, 0, 0, 0))
    packed = BytesIO()
    clear.save(packed, "PNG")

    assert opened(prepare(packed.getvalue()).content).getpixel((5, 5))[3] == 0
    assert opened(prepare(make_image(64, 64, mode="RGBA")).content).mode == "RGB"


def test_a_moving_picture_keeps_moving():
    """A GIF of a sane size goes as it is."""
    moving = make_moving(320, 200)

    ready = prepare(moving)

    assert (ready.content, ready.width, ready.height) == (moving, 320, 200)


@pytest.mark.parametrize("moving", [make_moving(2100, 900), make_moving(kind="WEBP"), make_moving(kind="PNG")])
def test_a_moving_picture_that_cannot_go_as_it_is_shows_its_first_frame(moving):
    """Too large for the platform, or of a kind that it does not move."""
    seen = opened(prepare(moving).content)

    assert getattr(seen, "n_frames", 1) == 1
    red, green, blue = seen.convert("RGB").getpixel((5, 5))
    assert red > 240
    assert max(green, blue) < 15


@pytest.mark.parametrize("mode", ["RGB", "RGBA"])
def test_even_noise_is_small_enough_for_the_platform(mode):
    """The worst that a picture can be to a packer."""
    noise = Image.frombytes(mode, (1500, 2600), random.Random(1).randbytes(1500 * 2600 * len(mode)))
    packed = BytesIO()
    noise.save(packed, "PNG", compress_level=0)

    assert len(prepare(packed.getvalue()).content) < MOST_BYTES


@pytest.mark.parametrize(
    "data",
    [b"", b"\x89PNG", b"<svg xmlns='http://www.w3.org/2000/svg'/>", b"<!doctype html><p>404", b"%PDF-1.7", b"\0\0\1\0",
     b"II*\0", b"RIFF\0\0\0\0WAVE", b"GIF86a"],
)  # fmt: skip
def test_what_is_no_picture_is_refused(data):
    """By its first bytes alone."""
    assert code_of(data) == "picture_type"


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (make_image(100, 178), "picture_long"),
        (make_image(100, 3000), "picture_long"),
        (make_image(320, 15), "picture_tiny"),
        (make_image(1, 1, "GIF"), "picture_tiny"),
        (make_image(50_000, 40), "picture_tiny"),
        (make_png(100_000, 100_000), "picture_size"),
        (make_png(9_000, 9_000), "picture_size"),
        (make_png(2**31 - 1, 2**31 - 1), "picture_size"),
        (make_png(0, 100), "picture_broken"),
        (make_png(320, 200), "picture_broken"),
        (make_image(kind="JPEG")[:2000], "picture_broken"),
        (make_image(kind="PNG")[:-40], "picture_broken"),
        (b"\xff\xd8\xff" + b"\xff\xda\0\2" * 100, "picture_size"),
    ],
    ids=[
        *("tall", "strip", "line", "pixel", "wide", "bomb", "large", "huge"),
        *("no width", "no pixels", "half", "end", "scans"),
    ],
)
def test_a_picture_that_no_card_should_show_is_refused_with_a_reason(data, code):
    """16:9 upright at most, no side under 16 pixels, no bomb, nothing broken."""
    assert code_of(data) == code


def test_a_tall_photograph_on_its_side_is_tall():
    """Orientation is looked at before the proportions are."""
    exif = Image.Exif()
    exif[0x0112] = SIDEWAYS

    assert code_of(make_image(400, 200, "JPEG", exif=exif)) == "picture_long"
    assert prepare(make_image(200, 400, "JPEG", exif=exif)).width == 400


def test_a_bomb_costs_no_memory():
    """Pixels are counted in the header; what the header of a WEBP or GIF claims is not taken for true either."""
    gif = bytearray(make_image(kind="GIF"))
    gif[6:10] = b"\xff" * 4
    webp = bytearray(make_image(kind="WEBP"))
    webp[26:30] = b"\xff\x3f" * 2
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    assert [code_of(bytes(data)) for data in (make_png(65_000, 65_000), gif, webp)] == ["picture_size"] * 3
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50_000  # KB; the pixels would be gigabytes


SAMPLES = [
    make_image(60, 40),
    make_image(60, 40, mode="P"),
    make_image(60, 40, "JPEG"),
    make_image(60, 40, "JPEG", progressive=True),
    make_image(60, 40, "WEBP"),
    make_image(60, 40, "BMP"),
    make_moving(60, 40),
    make_moving(60, 40, "WEBP"),
]


@settings(deadline=None)
@given(st.sampled_from(SAMPLES), st.lists(st.tuples(st.floats(0, 1), st.binary(max_size=4)), min_size=1, max_size=8))
def test_whatever_is_changed_in_a_file_it_is_a_picture_or_refused(sample, changes):
    """Never another error, and never a picture that the platform would refuse."""
    data = bytearray(sample)
    for place, put in changes:
        at = int(place * place * len(data))  # rather in the header
        data[at : at + max(1, len(put))] = put
    try:
        ready = prepare(bytes(data))
    except PictureError:
        return
    assert 16 <= ready.width <= 2000
    assert 16 <= ready.height <= 3000
    assert len(ready.content) < MOST_BYTES
