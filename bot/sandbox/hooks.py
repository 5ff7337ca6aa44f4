"""Custom bots of groups: added and removed in the client by a member, without the app or its admin.

Source: feishu-platform notes 12 (page HOOK).
"""

import hashlib
import uuid
from collections.abc import Sequence

from bot.sandbox.state import Hook, Message, World
from bot.sandbox.visibility import ActionRefusedError, group

MOST_KEYWORDS = 10
MOST_IPS = 10


class Hooks:
    """Ids and tokens come from the order of adding, so that a demo stays the same."""

    def __init__(self, world: World) -> None:
        self._world = world

    def add(
        self,
        chat_id: str,
        name: str = "自定义机器人",
        secret: str = "",
        keywords: Sequence[str] = (),
        ips: Sequence[str] = (),
    ) -> Hook:
        """A custom bot of this group. Its address ends in `token`."""
        chat = group(self._world, chat_id)
        if len(keywords) > MOST_KEYWORDS or len(ips) > MOST_IPS:
            raise ActionRefusedError(f"a custom bot takes {MOST_KEYWORDS} keywords and {MOST_IPS} addresses at most")
        number = len(self._world.hooks)
        token = hashlib.sha256(f"{self._world.seed}/hook/{number}".encode()).hexdigest()
        sender_id = self._world.name_id("cli_", f"hook/{number}")
        hook = Hook(str(uuid.UUID(token[:32])), chat.chat_id, name, sender_id, secret, tuple(keywords), tuple(ips))
        self._world.put(hook)
        return hook

    def remove(self, token: str) -> None:
        """Its address is dead from now on (19001); what it wrote stays."""
        self._world.change(self.get(token), removed=True)

    def get(self, token: str) -> Hook:
        hook = self._world.hooks.get(token)
        if hook is None:
            raise ActionRefusedError("there is no such custom bot")
        return hook

    def messages_of(self, hook: Hook) -> list[Message]:
        """What it wrote, oldest first."""
        return [one for one in self._world.messages_in(hook.chat_id) if one.sender_id == hook.sender_id]
