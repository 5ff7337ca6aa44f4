"""Pictures to the platform, and what its refusals of one mean: the picture half of codes.py.

Source: im-v1/image/create; feishu-platform notes 4. An upload has no idempotency key: a repeated one may leave a second
copy there, which harms nobody.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

import httpx
import stamina

from bot.domain.errors import AppError, CardError, SendError, TemporaryError
from bot.feishu.pace import Pace

if TYPE_CHECKING:
    from bot.feishu.client import Reply

PATH = "/open-apis/im/v1/images"
RATE = (15, 1.0)  # of 1,000 a minute and 50 a second
ATTEMPTS = 3
IN_ALL_S = 40.0
LONGEST_TOLD_WAIT_S = 10.0

APP = {
    234002: "应用没有权限上传图片",
    234007: "应用没有开启机器人能力",
    234041: "企业密钥已删除",
    234042: "企业的存储不可用，请联系企业管理员",
}
PASSING = {232096: "平台暂停写入"}
CONTENT = {
    234001: "上传的参数不正确",
    234006: "图片太大",
    234010: "图片是空的",
    234011: "图片格式不支持",
    234039: "图片分辨率超出上限",
}

Post = Callable[[str, str, bytes, str], Awaitable["Reply"]]  # method, path, body, type of the body


class Images:
    """Uploads through `post`, the client's authorised call."""

    def __init__(self, post: Post) -> None:
        self._post = post
        self._pace = Pace(*RATE, time.monotonic, asyncio.sleep)

    async def upload(self, content: bytes) -> str:
        """Return the image_key. Raises SendError: CardError says that this picture is refused."""
        form = httpx.Request("POST", "http://form", data={"image_type": "message"}, files={"image": ("image", content)})
        body = form.read()
        async for attempt in stamina.retry_context(_may_pass, attempts=ATTEMPTS, timeout=IN_ALL_S):
            with attempt:
                return await self._once(body, form.headers["Content-Type"])
        raise AssertionError("unreachable")

    async def _once(self, body: bytes, body_type: str) -> str:
        await self._pace.turn()
        try:
            reply = await self._post("POST", PATH, body, body_type)
            return str(reply.body["data"]["image_key"])
        except TemporaryError as exc:
            self._pace.hold(exc.retry_after_s or 0.0)
            raise
        except CardError as exc:
            raise _meaning(exc) from exc
        except (KeyError, TypeError):
            raise TemporaryError(0, "回答里没有图片编号", log_id=reply.log_id) from None


def _meaning(error: CardError) -> SendError:
    """The client takes codes that are no sender's for a refused content: here they are told apart."""
    code, log_id = error.code, error.log_id
    if code in APP:
        return AppError(code, APP[code], log_id=log_id)
    if code in PASSING:
        return TemporaryError(code, PASSING[code], log_id=log_id)
    return CardError(code, CONTENT.get(code, error.reason), log_id=log_id)


def _may_pass(error: Exception) -> bool:
    """Whether to repeat. A told wait is kept by the pace, which holds everybody back."""
    return isinstance(error, TemporaryError) and (error.retry_after_s or 0.0) <= LONGEST_TOLD_WAIT_S
