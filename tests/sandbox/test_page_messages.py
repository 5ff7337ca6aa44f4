"""Pictures, recalls, deletions, reading and the audit on the sandbox's page, without a script."""

import re

import pytest

from bot.sandbox.state import Image
from tests.sandbox.kit import SETTINGS, START, card_of, markdown
from tests.sandbox.test_page import toasts, visiting

pytestmark = pytest.mark.anyio
PICTURE = {"tag": "img", "img_key": "img_1", "alt": {"tag": "plain_text", "content": "公式"}}


async def test_a_card_shows_the_picture_that_was_uploaded():
    """The page serves its bytes as what they are; an unknown key is a labelled box, and nothing behind it."""
    async with visiting() as visit:
        visit.sandbox.world.put(Image("img_1", SETTINGS.app_id, b"GIF89a", "image/gif"))
        visit.sandbox.world.put(Image("img_2", SETTINGS.app_id))
        visit.receive(await visit.meet_the_bot(), card_of(PICTURE, {**PICTURE, "img_key": "img_2"}))

        page = await visit.see(visit.url(visit.bot_chat))
        (source,) = re.findall(r'<img [^>]*src="([^"]+)"', page)
        answer = await visit.web.get(source)

        assert page.count("placeholder") - page.count('placeholder="') == 1
        assert (answer.content, answer.headers["content-type"]) == (b"GIF89a", "image/gif")
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert "default-src 'none'" in answer.headers["content-security-policy"]
        await visit.see("/images/img_2", 404)
        await visit.see("/images/img_3", 404)


async def test_an_updated_card_looks_like_any_other():
    """The client does not say that a card was updated."""
    async with visiting() as visit:
        visit.receive(await visit.meet_the_bot(), card_of(markdown("正文")), updated=True)
        page = await visit.see(visit.url(visit.bot_chat))
        assert "正文" in page
        assert "更新" not in page


async def test_a_deleted_message_leaves_no_trace():
    """Neither in the chat nor in its preview; a recalled one still says that it was recalled."""
    async with visiting() as visit:
        chat_id = await visit.meet_the_bot()
        recalled = visit.receive(chat_id, card_of(markdown("收回的")))
        deleted = visit.receive(chat_id, card_of(markdown("删掉的")))
        visit.sandbox.world.change(visit.sandbox.world.messages[recalled], recalled=True)
        await visit.sandbox.client.delete_message(deleted)

        page = await visit.see(visit.url(chat_id))

        assert "删掉的" not in page
        assert "收回的" not in page
        assert f"{visit.sandbox.world.apps[SETTINGS.app_id].name}撤回了一条消息" in page


async def test_opening_a_chat_reads_it_and_looking_does_not():
    """A form opens the bot's chat and the page's script posts `read`; a plain look stays without effect."""
    async with visiting() as visit:
        chat_id = await visit.meet_the_bot()
        first = visit.receive(chat_id, card_of(markdown("一")))
        await visit.see(visit.url(chat_id))
        looked = len(visit.sandbox.world.reads)
        await visit.post(f"{visit.home}open")
        second = visit.receive(chat_id, card_of(markdown("二")))
        assert await visit.ask(f"{visit.url(chat_id)}read") == {"toast": None, "goto": None}

        events = visit.bot.of_type("im.message.message_read_v1")
        assert looked == 0
        assert [event["message_id_list"] for event in events] == [[first], [second]]
        assert {read.at for read in visit.sandbox.world.reads.values()} == {START}


async def test_the_operator_switches_the_audit():
    """Words apart by spaces or commas, and a tick; the form shows what is on."""
    async with visiting() as visit:
        answer = await visit.post(f"{visit.home}audit", words="违禁，内部 机密", leaks="1")
        page = await visit.see(answer.headers["location"])
        (audit,) = visit.sandbox.world.audits.values()

        assert (audit.words, audit.leaks) == (("违禁", "内部", "机密"), True)
        assert toasts(page) == [["内容审核已开启"]]
        assert 'value="违禁 内部 机密"' in page
        assert 'name="leaks" value="1" checked' in page
        await visit.post(f"{visit.home}audit", words=" ")
        (audit,) = visit.sandbox.world.audits.values()
        assert (audit.words, audit.leaks) == ((), False)
