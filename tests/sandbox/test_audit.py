"""The audit of contents: feishu-platform notes 2.7 (230022, 230028)."""

import json

import pytest

from bot.sandbox.app import Sandbox
from tests.sandbox.kit import MESSAGES, SETTINGS, Rig, button, card_json, card_of, markdown, running, text

pytestmark = pytest.mark.anyio
PHONE, MAIL = "请致电13812345678咨询", "写信到 editor@example.com 即可"


async def switch(rig: Rig, **rules: object) -> None:
    answer = await rig.api.post("/sandbox/api/audit", json=rules)
    assert answer.status_code == 200, answer.text


async def code_of(rig: Rig, reader: str, card: object) -> int:
    return (await rig.send(reader, card)).json()["code"]


async def test_nothing_is_audited_until_it_is_switched_on():
    """And nothing any more once it is off again."""
    async with running() as rig:
        reader = rig.sandbox.client.add_user("读者甲").open_id
        card = card_of(markdown(PHONE))
        codes = [await code_of(rig, reader, card)]
        await switch(rig, words=["咨询"])
        codes.append(await code_of(rig, reader, card))
        await switch(rig, leaks=True)
        codes.append(await code_of(rig, reader, card))
        await switch(rig)
        codes.append(await code_of(rig, reader, card))

        assert codes == [0, 230022, 230028, 0]


async def test_sending_replying_and_patching_are_audited():
    """Each leaves everything as it was."""
    async with running() as rig:
        reader = rig.sandbox.client.add_user("读者甲").open_id
        message_id = (await rig.send(reader, card_of(markdown("好")))).json()["data"]["message_id"]
        await switch(rig, words=["违禁"], leaks=True)
        bad = card_of(markdown("有违禁的词"))
        url = f"{MESSAGES}/{message_id}"
        answers = [
            await rig.send(reader, bad),
            await rig.send(reader, **text(MAIL)),
            await rig.api.post(f"{url}/reply", json=text("违禁")),
            await rig.api.patch(url, json={"content": card_json(bad)}),
        ]

        assert [one.json()["code"] for one in answers] == [230022, 230028, 230022, 230022]
        (message,) = rig.sandbox.world.messages.values()
        assert "违禁" not in message.content


@pytest.mark.parametrize(
    ("element", "code"),
    [
        (markdown(PHONE), 230028),
        (markdown(MAIL), 230028),
        (markdown("拨 +86 13812345678"), 230028),
        ({"tag": "markdown", "content": "好", "i18n_content": {"en_us": MAIL}}, 230028),
        (button({"v": 1}, text={"tag": "plain_text", "content": "13812345678"}), 230028),
        ({"tag": "table", "columns": [{"name": "a", "data_type": "text"}], "rows": [{"a": MAIL}]}, 230028),
        (markdown("[看这里](https://example.com/13812345678)"), 0),
        (button({"phone": "13812345678"}), 0),
        (markdown("编号 2138123456780，尺寸 113812345678"), 0),
        (markdown("12812345678"), 0),
        (markdown("arXiv:2511.13812345678"), 0),
        (markdown("a@b"), 0),
    ],
)
async def test_leaks_are_looked_for_in_what_a_reader_sees(element, code):
    """In any language and component, but not in addresses, callback values and longer numbers."""
    async with running(audit_leaks=True) as rig:
        reader = rig.sandbox.client.add_user("读者甲").open_id

        assert await code_of(rig, reader, card_of(element)) == code


async def test_posts_are_audited():
    """Title and nodes, but not where a link leads."""
    async with running(audit_leaks=True, audit_words=("内部",)) as rig:
        reader = rig.sandbox.client.add_user("读者甲").open_id
        link = {"tag": "a", "text": "看", "href": "https://example.com/13812345678"}
        posts = [
            {"title": "内部", "content": [[link]]},
            {"title": "题", "content": [[{"tag": "md", "text": MAIL}]]},
            {"title": "题", "content": [[link]]},
        ]

        sent = [await rig.send(reader, msg_type="post", content=json.dumps({"zh_cn": post})) for post in posts]

        assert [one.json()["code"] for one in sent] == [230022, 230028, 0]


async def test_what_was_switched_last_outlives_the_sandbox(tmp_path):
    """Over what the settings say."""
    journal = tmp_path / "world.jsonl"
    async with running(journal=journal, audit_leaks=True) as rig:
        await switch(rig, words=["违禁", ""])

    again = Sandbox(SETTINGS.__class__(journal=journal, audit_leaks=True))

    (audit,) = again.world.audits.values()
    assert (audit.words, audit.leaks) == (("违禁",), False)
    await again.close()
