"""Pictures of a digest: from the web, from documents and out of TeX, to the platform and into the store."""

import contextlib
import logging
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import anyio
import httpx
import pytest
import stamina
from alembic import command
from alembic.config import Config
from sqlalchemy import insert, select
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

from bot.domain.digest import Digest, Formula, Image, Item, Paragraph, Quote, Section
from bot.domain.pictures import Pictures, sources
from bot.feishu.client import FeishuClient
from bot.ports import PictureFetcher
from bot.sandbox.faults import Fault
from bot.services.illustrate import MOST, Illustrator
from bot.serving import listen, serving
from bot.sources.picture_bytes import PictureBytes
from bot.store import engine, pictures, tables
from bot.store.database import open_engine
from bot.store.engine import Store
from tests.image_builder import make_image, make_png
from tests.integration.conftest import House, free_port, until

pytestmark = pytest.mark.anyio

NOW = datetime(2025, 3, 8, 0, 37, tzinfo=UTC)
TOMORROW = NOW + timedelta(days=1)
GOOD = make_image(320, 200)
OTHER = make_image(400, 300)
TEX = r"\frac{1}{\sqrt{d}}"
FILES = {
    "good": GOOD,
    "copy": GOOD,
    "other": OTHER,
    "wide": make_image(3000, 1000),
    "page": b"<!doctype html><p>404",
    "drawing": b"<svg xmlns='http://www.w3.org/2000/svg'/>",
    "tall": make_image(100, 900),
    "pixel": make_image(1, 1),
    "bomb": make_png(60_000, 60_000),
    "half": GOOD[:300],
    "huge": GOOD + b"\0" * 21 * 1024 * 1024,
}


@dataclass
class Site:
    """Somebody's pictures on loopback, all of them said to be PNG."""

    port: int
    files: dict[str, bytes] = field(default_factory=lambda: dict(FILES))
    asked: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)

    def url(self, name: str) -> str:
        return f"http://127.0.0.1:{self.port}/{name}?key=hidden"

    async def answer(self, request: Request) -> Response:
        name = request.path_params["name"]
        self.asked.append(name)
        match name:
            case "slow":
                return StreamingResponse(self._slowly(), media_type="image/png")
            case "loop":
                return RedirectResponse("/loop")
            case _ if name in self.files:
                return Response(self.files[name], media_type="image/png")
        return Response(status_code=404)

    async def _slowly(self) -> AsyncIterator[bytes]:
        try:
            yield GOOD[:100]
            await anyio.sleep_forever()
        finally:
            self.left.append("slow")


@dataclass
class Studio:
    """A house with a site and a client; `illustrator()` makes what a new process would have."""

    house: House
    site: Site
    client: FeishuClient

    def fetcher(self, *, whole_s: float = 10.0) -> PictureBytes:
        return PictureBytes(self.client.documents(), allow_private=True, whole_s=whole_s)

    def illustrator(
        self, app: str | None = None, fetcher: PictureFetcher | None = None, *, in_all_s: float = 60.0
    ) -> Illustrator:
        app_id = app or self.house.settings.feishu.app_id
        return Illustrator(self.house.store, app_id, fetcher or self.fetcher(), self.client, in_all_s=in_all_s)

    def digest(self, *names: str) -> Digest:
        """A digest that shows pictures of the site; a name with a colon is a source of its own."""
        return digest_of(*(name if ":" in name else self.site.url(name) for name in names))

    @property
    def uploaded(self) -> list[str]:
        """Keys of the pictures that the platform holds, in order."""
        return list(self.house.sandbox.world.images)

    def content(self, key: str) -> bytes:
        return self.house.sandbox.world.images[key].content


@pytest.fixture
async def studio(house: House) -> AsyncIterator[Studio]:
    """Retries do not wait."""
    listener = listen("127.0.0.1", 0)
    site = Site(listener.getsockname()[1])
    feishu = house.settings.feishu
    with stamina.set_testing(True, attempts=3, cap=True):
        async with (
            serving(Starlette(routes=[Route("/{name}", site.answer)]), listener),
            FeishuClient(feishu.base_url, feishu.app_id, feishu.app_secret) as client,
        ):
            yield Studio(house, site, client)


def digest_of(*names: str) -> Digest:
    """One item whose blocks are pictures, by their sources."""
    blocks = (
        Paragraph((Formula(name.removeprefix("tex:"), name, display=True),))
        if name.startswith("tex:")
        else Image(name, "")
        for name in names
    )
    return Digest(sections=(Section(None, (Item("a", "条目", None, (Quote(tuple(blocks)),)),)),))


def names_of(found: Pictures) -> list[str]:
    """The last part of each source."""
    return [source.partition("?")[0].rpartition("/")[2] for source in found]


async def test_pictures_of_every_origin_are_shown_to_the_platform_once_and_found_again(studio):
    """An address, a file of a document, a formula: each with a key of this app and its size on a screen."""
    token = studio.house.sandbox.library.add_media("photo", OTHER)
    digest = studio.digest("wide", f"feishu-media:{token}", f"tex:{TEX}")

    found = await studio.illustrator().pictures_of(digest, NOW)

    assert set(found) == set(sources(digest))
    wide, photo, formula = (found[source] for source in sources(digest))
    assert (wide.width, wide.height) == (1500, 500)
    assert (photo.width, photo.height) == (400, 300)
    assert 20 < formula.width < 100
    assert sorted(studio.uploaded) == sorted(one.key for one in found.values())
    image = studio.house.sandbox.world.images[formula.key]
    assert (image.content_type, image.image_type) == ("image/png", "message")
    assert studio.house.store.read_now(studio.illustrator().known, digest) == found


async def test_a_picture_that_is_shown_again_is_uploaded_once(studio):
    """At one address twice, at two addresses, and at the same address tomorrow, when it is only looked at again."""
    illustrator = studio.illustrator()

    today = await illustrator.pictures_of(studio.digest("good", "copy", "good"), NOW)
    later = await illustrator.pictures_of(studio.digest("good"), NOW + timedelta(hours=23))
    tomorrow = await illustrator.pictures_of(studio.digest("good"), TOMORROW + timedelta(minutes=1))

    assert len(studio.uploaded) == 1
    assert {one.key for found in (today, later, tomorrow) for one in found.values()} == set(studio.uploaded)
    assert sorted(studio.site.asked) == ["copy", "good", "good"]


async def test_another_picture_at_an_old_address_is_shown_tomorrow(studio):
    """What an address shows may change; a day is the longest that it is believed."""
    digest = studio.digest("good")
    await studio.illustrator().pictures_of(digest, NOW)
    studio.site.files["good"] = OTHER

    found = await studio.illustrator().pictures_of(digest, TOMORROW + timedelta(minutes=1))

    assert [one.width for one in found.values()] == [400]
    assert len(studio.uploaded) == 2
    assert studio.house.store.read_now(studio.illustrator().known, digest) == found


async def test_a_formula_and_a_file_are_never_asked_for_again(studio):
    """A year later their names still mean the same."""
    token = studio.house.sandbox.library.add_media("photo", OTHER)
    digest = studio.digest(f"feishu-media:{token}", f"tex:{TEX}")
    found = await studio.illustrator().pictures_of(digest, NOW)
    studio.house.sandbox.library.forbid(token)

    assert await studio.illustrator().pictures_of(digest, NOW + timedelta(days=365)) == found


async def test_after_a_restart_nothing_is_uploaded_or_fetched_again(studio):
    """Another connection to the database, another illustrator."""
    digest = studio.digest("good", f"tex:{TEX}")
    found = await studio.illustrator().pictures_of(digest, NOW)

    with contextlib.closing(Store(studio.house.settings.store.url)) as store:
        again = Illustrator(store, studio.house.settings.feishu.app_id, studio.fetcher(), studio.client)
        assert await again.pictures_of(digest, NOW + timedelta(hours=1)) == found

    assert len(studio.uploaded) == 2
    assert studio.site.asked == ["good"]


async def test_another_app_uploads_its_own(studio):
    """A key is good for the app that has uploaded it."""
    digest = studio.digest("good")
    first = await studio.illustrator().pictures_of(digest, NOW)

    second = await studio.illustrator("cli_other").pictures_of(digest, NOW)

    assert len(studio.uploaded) == 2
    assert list(first.values()) != list(second.values())


async def test_what_cannot_be_shown_is_missing_and_harms_nobody(studio, caplog):
    """Wrong kinds, bombs, dead hosts, unknown formulas: one warning each, without what they hold."""
    bad = ["page", "drawing", "tall", "pixel", "bomb", "half", "huge", "gone", "loop"]
    bad += [
        f"http://127.0.0.1:{free_port()}/dead",
        "ftp://a.example/x",
        "http://xn--/",
        "http://[::1",
        "feishu-media:no",
    ]
    bad += [r"tex:\secret{x}", "tex:损失"]
    digest = studio.digest("good", *bad, f"tex:{TEX}")
    illustrator = studio.illustrator()

    for _ in range(2):
        found = await illustrator.pictures_of(digest, NOW)

    assert sorted(names_of(found)) == ["good", f"tex:{TEX}"]
    assert len(studio.uploaded) == 2
    told = [record for record in caplog.records if record.message == "picture_missing"]
    assert [record.levelno for record in told] == [logging.WARNING] * len(bad)
    assert {record.code for record in told} == {
        *("picture_type", "picture_long", "picture_tiny", "picture_size", "picture_broken"),
        *("too_large", "http_status", "bad_redirect", "unreachable", "forbidden_address", "bad_address"),
        "not_found",
        *("formula_unknown", "formula_glyph"),
    }
    assert not [word for word in ("hidden", "secret", "损失") if word in str([vars(record) for record in told])]


async def test_a_slow_host_is_not_waited_for(studio, caplog):
    """The time of one picture is bounded too."""
    fetcher = studio.fetcher(whole_s=0.3)

    found = await studio.illustrator(fetcher=fetcher).pictures_of(studio.digest("slow", f"tex:{TEX}"), NOW)

    assert names_of(found) == [f"tex:{TEX}"]
    assert [record.code for record in caplog.records if record.message == "picture_missing"] == ["too_slow"]


async def test_a_private_address_is_not_asked_not_even_behind_a_public_one(studio):
    """Unless the source is allowed to."""
    fetcher = PictureBytes(studio.client.documents())
    goal = studio.site.url("good")
    leads_home = httpx.MockTransport(lambda _: httpx.Response(302, headers={"Location": goal}))
    fetcher._http = httpx.AsyncClient(transport=leads_home)

    found = await studio.illustrator(fetcher=fetcher).pictures_of(
        digest_of(goal, "http://93.184.216.34/good.png", f"tex:{TEX}"), NOW
    )

    assert names_of(found) == [f"tex:{TEX}"]
    assert studio.site.asked == []


@pytest.mark.parametrize(
    "fault",
    [
        Fault("server_error", api="upload_image"),
        Fault("reset", api="upload_image"),
        Fault("code", api="upload_image", code=232096),
        Fault("revoke_token", api="upload_image"),
    ],
    ids=lambda fault: fault.kind,
)
async def test_an_upload_that_fails_in_passing_is_repeated(studio, fault):
    """A second copy at the platform would harm nobody."""
    studio.house.sandbox.faults.add(fault)

    found = await studio.illustrator().pictures_of(studio.digest("good"), NOW)

    assert [studio.content(one.key)[:4] for one in found.values()] == [b"\x89PNG"]
    assert len(studio.house.sandbox.faults.met) == 1


async def test_a_platform_that_stays_down_is_asked_three_times(studio, caplog):
    """Then the picture is missing, and the next one is tried."""
    studio.house.sandbox.faults.add(Fault("server_error", api="upload_image", times=3))

    assert await studio.illustrator().pictures_of(studio.digest("good"), NOW) == {}
    assert len(studio.house.sandbox.faults.met) == 3
    assert [record.code for record in caplog.records if record.message == "picture_missing"] == ["502"]
    assert len(await studio.illustrator().pictures_of(studio.digest("good"), NOW)) == 1


async def test_a_picture_that_the_platform_refuses_is_missing_alone(studio):
    """The others are not its fault."""
    studio.house.sandbox.faults.add(Fault("code", api="upload_image", code=234011))

    found = await studio.illustrator().pictures_of(studio.digest("good", "other"), NOW)

    assert len(found) == len(studio.uploaded) == 1


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        (Fault("code", api="upload_image", code=99991672, times=None), 99991672),
        (Fault("code", api="upload_image", code=234007, times=None), 234007),
        (Fault("code", api="upload_image", code=99991403, times=None), 99991403),
        (Fault("code", api="token", code=10014, times=None), 10014),
        (Fault("rate_limited", api="upload_image", seconds=120, times=None), 99991400),
    ],
    ids=["scope", "bot", "quota", "secret", "wait"],
)
async def test_an_app_that_may_not_upload_stops_at_once_and_says_so_once(studio, caplog, fault, code):
    """Twenty pictures would meet the same."""
    studio.house.sandbox.faults.add(fault)
    digest = digest_of(*(f"tex:x_{{{number}}}" for number in range(20)))

    assert await studio.illustrator().pictures_of(digest, NOW) == {}
    assert len(studio.house.sandbox.faults.met) <= 4
    stopped = [record for record in caplog.records if record.message == "pictures_stopped"]
    assert [(record.code, record.levelno) for record in stopped] == [(code, logging.ERROR)]
    assert not [record for record in caplog.records if record.message == "picture_missing"]


async def test_a_digest_does_not_wait_for_long_and_leaves_nothing_running(studio, caplog):
    """What is not there in time is missing; its connection is closed."""
    found = await studio.illustrator(in_all_s=1.5).pictures_of(studio.digest("slow"), NOW)

    assert found == {}
    assert [record.pictures for record in caplog.records if record.message == "pictures_late"] == [1]
    await until(lambda: studio.site.left == ["slow"])


async def test_only_so_many_pictures_of_a_digest_are_taken(studio, caplog):
    """The first ones."""
    digest = digest_of(*(f"tex:{number}" for number in range(MOST + 5)))

    found = await studio.illustrator().pictures_of(digest, NOW)

    assert set(found) == set(sources(digest)[:MOST])
    assert [record.pictures for record in caplog.records if record.message == "pictures_left_out"] == [5]


async def test_a_digest_without_pictures_needs_nobody(studio):
    """Neither the site nor the platform."""
    assert await studio.illustrator().pictures_of(digest_of(), NOW) == {}
    assert studio.house.sandbox.world.tokens == {}


def test_a_database_of_the_first_version_is_brought_up_with_its_rows(tmp_path: Path):
    """The table of pictures comes; everything else stays."""
    url = f"sqlite:///{tmp_path}/bot.db"
    old = open_engine(url)
    with old.begin() as connection:
        config = Config()
        config.set_main_option("script_location", str(Path(engine.__file__).with_name("migrations")))
        config.attributes["connection"] = connection
        command.upgrade(config, "0001")
        connection.execute(insert(tables.subscribers).values(kind="user", receiver="ou_1", created_at=NOW))
    old.dispose()

    with contextlib.closing(Store(url)) as store:
        store.migrate()

        assert store.read_now(lambda tx: tx.execute(select(tables.subscribers.c.receiver)).scalars().all()) == ["ou_1"]
        assert store.read_now(pictures.find, "cli", {"tex:x": None}) == {}
