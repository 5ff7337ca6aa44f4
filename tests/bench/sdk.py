"""The platform's own SDK sending the same cards: its asynchronous call, as its examples show it.

In a process of its own: ours loads only a part of it.
"""

import asyncio
import json
import sys
import time
from typing import Any

from tests.integration.bot_process import ROOT

WORKERS = 16


async def sdk_loop(url: str, app_id: str, app_secret: str, people: list[str], card: str) -> float:
    """Messages a second."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.bench.sdk"),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        cwd=ROOT,
    )
    said, _ = await process.communicate(json.dumps([url, app_id, app_secret, people, card]).encode())
    return float(said)


async def _sent(url: str, app_id: str, app_secret: str, people: list[str], card: str) -> float:
    import lark_oapi  # takes seconds

    client = lark_oapi.Client.builder().app_id(app_id).app_secret(app_secret).domain(url).build()
    queue = iter(people)

    async def worker() -> None:
        for one in queue:
            answer = await client.im.v1.message.acreate(_request(one, card))
            assert answer.success(), answer.msg

    start = time.perf_counter()
    async with asyncio.TaskGroup() as tasks:
        for _ in range(WORKERS):
            tasks.create_task(worker())
    return len(people) / (time.perf_counter() - start)


def _request(receiver: str, card: str) -> Any:
    from lark_oapi.api.im.v1 import CreateMessageRequest, CreateMessageRequestBody

    body = CreateMessageRequestBody.builder().receive_id(receiver).msg_type("interactive").content(card).build()
    return CreateMessageRequest.builder().receive_id_type("open_id").request_body(body).build()


if __name__ == "__main__":
    sys.stdout.write(str(asyncio.run(_sent(*json.load(sys.stdin)))))
