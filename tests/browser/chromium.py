"""The browser that is installed here, none is ever downloaded; and somebody who uses the sandbox's page by hand."""

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.async_api import Locator, Page, Response, expect

from bot.domain.audience import Receiver
from bot.domain.delivery import Status
from bot.store import followups, ledger
from tests.integration.conftest import House, until

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


@dataclass(frozen=True)
class Person:
    """Somebody at the page, in a browser profile of their own."""

    page: Page
    house: House
    receiver: Receiver

    @property
    def messages(self) -> Locator:
        """What stands in the open chat."""
        return self.page.locator("#messages")

    @property
    def cards(self) -> Locator:
        """The cards among it, oldest first."""
        return self.messages.locator(".card")

    async def open_bot_chat(self) -> None:
        """Go back to the list, and from there into the chat with the bot."""
        await self._open(lambda chats: chats.get_by_role("button", name="机器人"))

    async def open_group(self, name: str) -> None:
        """Go back to the list, and from there into a group."""
        await self._open(lambda chats: chats.get_by_role("link", name=name))

    async def _open(self, row: Callable[[Locator], Locator]) -> None:
        await self.page.goto(f"/as/{self.receiver.id}/")
        await row(self.page.locator("#chats")).click()
        await self.page.wait_for_url("**/chats/*/")
        await self.look()

    async def press(self, button: str) -> None:
        """Press the latest button of that name on a card, and see all that follows."""
        await self.submit(self.messages.get_by_role("button", name=button, exact=True).last)

    async def operate(self, button: str) -> None:
        """Press a button in the drawer of the chat."""
        await self.page.get_by_text("成员与操作").click()
        await self.submit(self.page.locator("#drawer").get_by_role("button", name=button))

    async def say(self, text: str) -> None:
        """Write a line to the chat."""
        await self.page.get_by_label("消息", exact=True).fill(text)
        await self.submit(self.page.get_by_role("button", name="发送"))

    async def choose(self, line: str, option: str) -> None:
        """Fill one line of the latest form: pick from its list, or tick a choice of many."""
        field = self.messages.locator("form .columns").filter(has_text=re.compile(rf"^\s*{line}")).last
        await field.wait_for()
        if await field.locator("select").count():
            await field.locator("select").select_option(label=option)
        else:
            await field.get_by_text(option, exact=True).click()

    async def submit(self, button: Locator) -> None:
        """Press something that is posted, and wait for all that the bot makes of it."""
        async with self.page.expect_response(_is_answer):
            await button.click()
        await self.look()

    async def look(self) -> None:
        """Once the bot has done its work: what coming back to the tab does, see what is new without the next tick."""
        await until(lambda: is_quiet(self.house))
        await self.page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")

    async def told(self, text: str) -> None:
        """A toast says so."""
        await expect(self.page.locator(".toast").last).to_contain_text(text)


def _is_answer(response: Response) -> bool:
    """To something that was pressed; that a chat was read the page tells by itself."""
    return response.request.method == "POST" and not response.url.endswith("/read")


def is_quiet(house: House) -> bool:
    """Nothing waits to be sent, and nothing that was promised is still to be looked up."""
    counts, promises = house.store.read_now(ledger.counts), house.store.read_now(followups.open_, 1)
    return not promises and not counts.keys() & {Status.PENDING, Status.SENDING}
