"""The first push as a reader lives it, in a browser, with the real bot behind the sandbox's page."""

import os
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
SHOTS = Path(os.environ["SCREENSHOTS"]) if os.environ.get("SCREENSHOTS") else None  # where to keep pictures to look at
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
    await expect(page.get_by_role("button", name="撤销退订")).to_be_visible()


async def test_a_reader_chooses_pauses_leaves_and_takes_it_back_without_typing(house, page):
    """The digest's own button opens the form; what is saved is shown; leaving can be taken back with all of it."""
    lay_out(house, datetime.now(UTC).date())
    await house.publisher.publish_due(datetime.now(UTC))
    await enter(page, house, "读者甲")
    await page.get_by_role("button", name="订阅社区精选").click()
    await expect(page.get_by_role("link", name="流水线气泡该怎么填")).to_be_visible()

    await page.get_by_role("button", name="设置", exact=True).last.click()
    await page.get_by_role("button", name="保存").wait_for()
    await page.locator("select").filter(has_text="只看标题").last.select_option(label="只看标题")
    await page.get_by_role("button", name="保存").last.click()
    await expect(page.locator("#toasts")).to_contain_text("已保存")
    await expect(page.get_by_text("全部栏目 · 只看标题")).to_be_visible()
    await page.screenshot(path=SHOTS / "settings.png", full_page=True) if SHOTS else None

    await page.get_by_role("button", name="暂停 3 天").last.click()
    await expect(page.locator("#toasts")).to_contain_text("暂停到")
    await page.get_by_role("button", name="现在恢复").last.click()
    await expect(page.locator("#toasts")).to_contain_text("已恢复")
    await page.get_by_role("button", name="退订").last.click()
    await page.get_by_role("button", name="撤销退订").last.click()
    await expect(page.locator("#toasts")).to_contain_text("已撤销退订")
