"""Draw the README's two pictures of a card, on a phone and on a desk, from a sample digest: `make pictures`.

A real browser shows the page that `card render --out` writes. A palette keeps both pictures small.
"""

import io
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

from PIL import Image
from playwright.sync_api import Browser, sync_playwright

from tests.browser.chromium import SWITCHES, installed_chromium

DOCS = Path(__file__).parent
SAMPLE = DOCS.parent / "bot" / "samples" / "1.txt"
COLOURS = 96


@dataclass(frozen=True, slots=True)
class Shot:
    """One picture. Sizes are in pixels of a screen; `scale` makes them sharp."""

    name: str
    width: int
    height: int
    scale: float
    density: str
    scheme: Literal["light", "dark"]


SHOTS = (
    Shot("card-phone.png", 390, 780, 2, "standard", "light"),
    Shot("card-desktop.png", 720, 780, 1.5, "standard", "dark"),
)


def main() -> None:
    """Write the pictures beside this file and tell their sizes."""
    with TemporaryDirectory() as folder, sync_playwright() as play:
        digest = Path(folder) / "digest.txt"
        digest.write_text(SAMPLE.read_text(encoding="utf-8").replace("{day}", "3月8日"), encoding="utf-8")
        browser = play.chromium.launch(executable_path=installed_chromium(), args=list(SWITCHES))
        for one in SHOTS:
            page = _page(digest, one.density, Path(folder) / one.name)
            (DOCS / one.name).write_bytes(_reduced(_taken(browser, page, one)))
            sys.stdout.write(f"{one.name}  {(DOCS / one.name).stat().st_size // 1000} KB\n")


def _page(digest: Path, density: str, out: Path) -> Path:
    """The first part, drawn by the command that everybody has."""
    command = (sys.executable, "-m", "bot", "card", "render", digest, "--density", density, "--out", out)
    subprocess.run([*map(str, command), "--received-at", "2025-03-08"], check=True, stdout=subprocess.DEVNULL)
    return out / "part-1.html"


def _taken(browser: Browser, page: Path, shot: Shot) -> bytes:
    size = {"width": shot.width, "height": shot.height}
    tab = browser.new_page(viewport=size, device_scale_factor=shot.scale, color_scheme=shot.scheme)
    tab.goto(page.as_uri())
    return tab.screenshot()


def _reduced(picture: bytes) -> bytes:
    small = io.BytesIO()
    Image.open(io.BytesIO(picture)).convert("RGB").quantize(COLOURS).save(small, "PNG", optimize=True)
    return small.getvalue()


if __name__ == "__main__":
    main()
