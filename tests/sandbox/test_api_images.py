"""Upload and download of pictures: feishu-platform notes 4."""

import io
import struct

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from bot.sandbox.app import Sandbox
from bot.sandbox.faults import Fault
from bot.sandbox.image_format import image_format
from tests.sandbox.kit import SETTINGS, Rig, card_of, running

pytestmark = pytest.mark.anyio
IMAGES = "/open-apis/im/v1/images"
BEGINNINGS = [
    b"\x89PNG\r\n\x1a\n",
    b"\xff\xd8\xff",
    b"GIF89a",
    b"BM",
    b"RIFF????WEBP",
    b"RIFF????WEBPVP8L",
    b"\0\0\1\0",
]


def picture(kind: str = "PNG", size: tuple[int, int] = (3, 2), **options) -> bytes:
    out = io.BytesIO()
    Image.new("RGB", size, "white").save(out, kind, **options)
    return out.getvalue()


def png_header(width: int, height: int) -> bytes:
    """Enough of a PNG to be measured: nobody has to paint 12,001 pixels."""
    return b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sII", 13, b"IHDR", width, height) + b"\x08\x02\0\0\0"


async def upload(rig: Rig, content: bytes, image_type: str = "message") -> httpx.Response:
    return await rig.api.post(IMAGES, data={"image_type": image_type}, files={"image": ("a", content)})


async def key_of(rig: Rig, content: bytes, image_type: str = "message") -> str:
    answer = (await upload(rig, content, image_type)).json()
    assert answer["code"] == 0, answer
    return answer["data"]["image_key"]


async def test_a_picture_comes_back_as_it_was_sent():
    """The key has the platform's form, and each upload makes another one."""
    async with running() as rig:
        content = picture()
        first, second = await key_of(rig, content), await key_of(rig, content)
        answer = await rig.api.get(f"{IMAGES}/{first}")

        assert first.startswith("img_v3_")
        assert first != second
        assert (answer.content, answer.headers["content-type"]) == (content, "image/png")


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"", 234010),
        (picture() + b"\0" * 10_000_000, 234006),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", 234011),
        (b"%PDF-1.7", 234011),
        (b"\x89PNG\r\n\x1a\n", 234011),
        (png_header(0, 5), 234011),
        (png_header(12_001, 1), 234039),
        (picture("GIF", (2001, 1)), 234039),
    ],
)
async def test_what_is_no_picture_of_an_allowed_kind_is_refused(content, code):
    """Empty, over 10 MB, of another format or without a header, of too many pixels: nothing is kept."""
    async with running() as rig:
        answer = await upload(rig, content)

        assert (answer.status_code, answer.json()["code"]) == (400, code)
        assert not rig.sandbox.world.images


async def test_the_largest_allowed_pictures_pass():
    """12,000 pixels a side, 2,000 of a GIF, 4,096 of an avatar."""
    async with running() as rig:
        for content in (png_header(12_000, 12_000), picture("GIF", (2000, 1))):
            assert await key_of(rig, content)
        codes = [(await upload(rig, png_header(side, 1), "avatar")).json()["code"] for side in (4096, 4097)]

        assert codes == [0, 234039]


@pytest.mark.parametrize(
    ("kind", "options", "content_type"),
    [
        ("PNG", {}, "image/png"),
        ("JPEG", {}, "image/jpeg"),
        ("JPEG", {"progressive": True, "exif": b"Exif\0\0" + b"x" * 500}, "image/jpeg"),
        ("GIF", {}, "image/gif"),
        ("BMP", {}, "image/bmp"),
        ("WEBP", {}, "image/webp"),
        ("WEBP", {"lossless": True}, "image/webp"),
        ("WEBP", {"exif": b"Exif\0\0"}, "image/webp"),
    ],
)
def test_format_and_resolution_are_read_from_the_header(kind, options, content_type):
    """As the library that wrote the file says."""
    found = image_format(picture(kind, (321, 123), **options))

    assert found is not None
    assert (found.content_type, found.size) == (content_type, (321, 123))


@pytest.mark.parametrize(("kind", "content_type"), [("TIFF", "image/tiff"), ("ICO", "image/x-icon")])
def test_other_formats_are_known_without_their_size(kind, content_type):
    """TIFF and ICO pass unmeasured, as does HEIC."""
    found = image_format(picture(kind, (32, 32)))
    heic = image_format(b"\0\0\0\x18ftypheic\0\0\0\0mif1heic")

    assert found is not None
    assert (found.content_type, found.size) == (content_type, None)
    assert heic is not None
    assert heic.content_type == "image/heic"


@given(st.sampled_from(BEGINNINGS), st.binary(max_size=60))
def test_no_bytes_break_the_reader(beginning, rest):
    """Whatever follows a known beginning, the answer is a format or none."""
    found = image_format(beginning + rest)

    assert found is None or found.size is None or min(found.size) > 0


async def test_the_form_must_have_both_fields():
    """Another type, no file, a text instead of a file, no form at all: 234001."""
    async with running() as rig:
        file = {"image": ("a", picture())}
        answers = [
            await rig.api.post(IMAGES, data={"image_type": "message"}),
            await rig.api.post(IMAGES, data={"image_type": "sticker"}, files=file),
            await rig.api.post(IMAGES, files=file),
            await rig.api.post(IMAGES, data={"image_type": "message", "image": "x"}),
            await rig.api.post(IMAGES, json={"image_type": "message"}),
            await rig.api.post(IMAGES, content=b"x", headers={"content-type": "multipart/form-data; boundary=b"}),
        ]

        assert [one.json()["code"] for one in answers] == [234001] * 6


async def test_bot_ability_and_scope_are_needed():
    """A missing scope is named; a download needs none."""
    async with running() as rig:
        key = await key_of(rig, picture())
        rig.sandbox.change_app(scopes=frozenset({"im:message"}))
        scopeless = (await upload(rig, picture())).json()
        read = await rig.api.get(f"{IMAGES}/{key}")
        rig.sandbox.change_app(bot_enabled=False)
        botless = [(await upload(rig, picture())).json()["code"], (await rig.api.get(f"{IMAGES}/{key}")).json()["code"]]

        assert scopeless["code"] == 99991672
        assert {one["subject"] for one in scopeless["error"]["permission_violations"]} == {
            "im:resource",
            "im:resource:upload",
        }
        assert read.status_code == 200
        assert botless == [234007, 234007]


async def test_only_own_pictures_for_messages_are_downloaded():
    """Of another app 234008, unknown 234005, an avatar 234001."""
    async with running() as rig:
        mine, avatar = await key_of(rig, picture()), await key_of(rig, picture(), "avatar")
        world = rig.sandbox.world
        world.change(world.images[mine], app_id="cli_other")

        codes = [(await rig.api.get(f"{IMAGES}/{key}")).json()["code"] for key in (mine, "img_x", avatar)]

        assert codes == [234008, 234005, 234001]


async def test_an_uploaded_picture_can_be_sent_and_an_avatar_cannot():
    """In a card, in a post and by itself; what is not the app's own is 200570 or 230017."""
    async with running(limits=False) as rig:
        reader = rig.sandbox.client.add_user("读者甲").open_id
        key, avatar = await key_of(rig, picture()), await key_of(rig, picture(), "avatar")
        codes = []
        for one in (key, avatar):
            image = card_of({"tag": "img", "img_key": one, "alt": {"tag": "plain_text", "content": ""}})
            post = f'{{"zh_cn": {{"content": [[{{"tag": "img", "image_key": "{one}"}}]]}}}}'
            codes.append((await rig.send(reader, image)).json()["code"])
            codes.append((await rig.send(reader, msg_type="post", content=post)).json()["code"])
            alone = await rig.send(reader, msg_type="image", content=f'{{"image_key": "{one}"}}')
            codes.append(alone.json()["code"])

        assert codes == [0, 0, 0, 230099, 230017, 230017]


async def test_uploads_are_counted_whatever_became_of_their_answers():
    """A lost answer leaves a picture that the app knows nothing of; a refusal and a fault leave none."""
    async with running(monthly_calls=2) as rig:
        rig.sandbox.faults.add(Fault("drop_reply", api="upload_image"), Fault("server_error", api="upload_image"))
        with pytest.raises(httpx.TransportError):
            await upload(rig, picture())
        broken = await upload(rig, picture())
        await upload(rig, b"")
        key = await key_of(rig, picture("JPEG"))
        over = (await upload(rig, picture())).json()["code"]
        uploads = (await rig.api.get("/sandbox/api/state")).json()["uploads"]

        assert broken.status_code == 502
        assert over == 99991403
        assert [one["content_type"] for one in uploads] == ["image/png", "image/jpeg"]
        assert uploads[1]["image_key"] == key
        assert (uploads[1]["bytes"], uploads[1]["content"]) == (len(picture("JPEG")), None)


async def test_pictures_survive_the_sandbox(tmp_path):
    """The journal keeps their bytes."""
    journal = tmp_path / "world.jsonl"
    async with running(journal=journal) as rig:
        key = await key_of(rig, picture())

    again = Sandbox(SETTINGS.__class__(journal=journal))

    assert again.world.images[key].content == picture()
    await again.close()
