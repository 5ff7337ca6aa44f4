"""The browser that is installed here; none is ever downloaded."""

import os
from pathlib import Path

import pytest

BROWSERS = (
    "/usr/bin/chromium",
    "/usr/bin/google-chrome",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
)
SWITCHES = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


def installed_chromium() -> str:
    """Its path. Skips the test where there is none, but fails in CI: a skip there would hide a broken page."""
    found = [path for path in (os.environ.get("CHROMIUM", ""), *BROWSERS) if path and Path(path).exists()]
    if not found and os.environ.get("CI") == "true":
        pytest.fail("no Chromium is installed; CI must have one (set $CHROMIUM)")
    if not found:
        pytest.skip("no Chromium is installed; set $CHROMIUM or install chromium")
    return found[0]
