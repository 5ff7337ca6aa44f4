"""The first push as a reader lives it, in a browser, with the real bot behind the sandbox's page."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
from playwright.async_api import Page, async_playwright, expect

from bot.domain.audience import Kind, Receiver
from bot.sandbox.page import page_routes
from tests.browser.chromium import SWITCHES, installed_chromium
from tests.integration.conftest import House, make_house
from tests.integration.test_scheduler import lay_out

pytestmark = [pytest.mark.anyio, pytest.mark.browser]
PHONE = {"width": 390, "height": 844}


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
async def house(tmp_path: Path):
    async with make_house(tmp_path, page=page_routes) as made, made.bot():
        yield made


@pytest.fixture
async def page(house: House):
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=installed_chromium(), args=SWITCHES)
        shown = await browser.new_page(viewport=PHONE, base_url=house.settings.feishu.base_url)
        yield shown
        await browser.close()


async def enter(page: Page, house: House, name: str) -> None:
    """Become a person and meet the bot."""
    person = house.sandbox.client.add_user(name)
    await page.goto("/")
    await page.get_by_text(person.name).click()
    await page.get_by_role("button", name="打开机器人会话").click()


async def test_a_reader_subscribes_reads_and_leaves(house, page):
    """Welcome → toast → digest with working links → already subscribed → 退订 → silence; and the group has it too."""
    owner = house.sandbox.client.add_user("管理员").open_id
    group = (await house.sandbox.client.create_group("学习群", owner=owner, members=[])).chat_id
    await house.sandbox.client.add_bot(group, operator=owner)
    house.subscribe(Receiver(Kind.GROUP, group))
    await enter(page, house, "读者甲")

    await page.get_by_role("button", name="订阅社区精选").click()
    await expect(page.locator("#toasts")).to_contain_text("订阅成功")
    lay_out(house, datetime.now(UTC).date())
    await house.publisher.publish_due(datetime.now(UTC))

    link = page.get_by_role("link", name="流水线气泡该怎么填")
    await expect(link).to_have_attribute("href", "https://read.example.com/p/1")
    assert any("流水线气泡该怎么填" in card.content for card in house.cards_in(group))

    await page.get_by_role("button", name="订阅社区精选").first.click()
    await expect(page.locator("#toasts")).to_contain_text("已经订阅")
    await page.get_by_role("textbox").fill("退订")
    await page.get_by_role("textbox").press("Enter")
    await expect(page.get_by_role("button", name="重新订阅")).to_be_visible()
