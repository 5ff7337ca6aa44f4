"""One browser for the tests of a file; for each of them a bot behind the sandbox's page, and people who come to it."""

import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from playwright.async_api import Browser, async_playwright

from bot.domain.audience import Kind, Receiver
from bot.sandbox.page import page_routes
from tests.browser.chromium import SWITCHES, Person, installed_chromium
from tests.integration.conftest import House, make_house

PHONE = {"width": 390, "height": 844}


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
async def browser() -> AsyncIterator[Browser]:
    async with async_playwright() as playwright:
        launched = await playwright.chromium.launch(executable_path=installed_chromium(), args=SWITCHES)
        yield launched
        await launched.close()


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    async with make_house(tmp_path, page=page_routes) as made, made.bot():
        yield made


@pytest.fixture
async def newcomer(house: House, browser: Browser) -> AsyncIterator[Callable[[str], Awaitable[Person]]]:
    """Lets somebody new come to the page with a phone. An error in a script of the page fails the test."""
    errors: list[str] = []
    async with contextlib.AsyncExitStack() as pages:

        async def come(name: str) -> Person:
            page = await browser.new_page(viewport=PHONE, base_url=house.settings.feishu.base_url, locale="zh-CN")
            pages.push_async_callback(page.close)
            page.on("pageerror", lambda error: errors.append(str(error)))
            await page.goto("/")
            await page.get_by_label("新同事的名字").fill(name)
            await page.get_by_role("button", name="添加并进入").click()
            await page.wait_for_url("**/as/*/")
            open_id = unquote(urlsplit(page.url).path.split("/")[2])
            return Person(page, house, Receiver(Kind.USER, open_id))

        yield come
    assert errors == []
