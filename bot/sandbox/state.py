"""The world behind the local Feishu: people, chats, messages, and what the platform remembers about calls.

Every change is `World.put` or `World.change` of a frozen row, so nothing changes without its journal line.
"""

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from bot.sandbox.journal import Journal
from bot.sandbox.rows import (
    AnyRow,
    App,
    Audit,
    Batch,
    CardToken,
    Chat,
    Document,
    Gone,
    Hook,
    Image,
    Media,
    Message,
    Node,
    Push,
    Read,
    Row,
    Setting,
    Space,
    Table,
    Toast,
    Token,
    User,
    UuidUse,
)

__all__ = [
    "App", "Audit", "Batch", "CardToken", "Chat", "Document", "Hook", "Image", "Media", "Message", "Node", "Push",
    "Read", "Setting", "Space", "Table", "Toast", "Token", "User", "UuidUse", "World",
]  # fmt: skip

R = TypeVar("R", bound=Row)


class World:
    """All rows, by class and key. With a journal, a row is on its way to the disk before `put` returns."""

    def __init__(self, journal: Path | None = None, seed: str = "sandbox") -> None:
        self.seed = seed
        self.apps: dict[str, App] = {}
        self.users: dict[str, User] = {}
        self.chats: dict[str, Chat] = {}
        self.messages: dict[str, Message] = {}
        self.batches: dict[str, Batch] = {}
        self.hooks: dict[str, Hook] = {}
        self.reads: dict[str, Read] = {}
        self.card_tokens: dict[str, CardToken] = {}
        self.audits: dict[str, Audit] = {}
        self.uuid_uses: dict[str, UuidUse] = {}
        self.tokens: dict[str, Token] = {}
        self.images: dict[str, Image] = {}
        self.toasts: dict[str, Toast] = {}
        self.pushes: dict[str, Push] = {}
        self.settings: dict[str, Setting] = {}
        self.spaces: dict[str, Space] = {}
        self.nodes: dict[str, Node] = {}
        self.documents: dict[str, Document] = {}
        self.tables: dict[str, Table] = {}
        self.media: dict[str, Media] = {}
        self.violations: list[str] = []
        """Misuse that the real platform would swallow silently: a test should end with none."""
        self.warnings: list[str] = []
        """What the platform accepts and shows badly: see `validator`."""
        self.in_interaction: list[str] = []
        """Ids of messages whose card waits for the answer to a click; one entry a click."""
        self._tables: dict[str, dict[str, Any]] = {
            "User": self.users,
            "Chat": self.chats,
            "Message": self.messages,
            "Batch": self.batches,
            "Hook": self.hooks,
            "Read": self.reads,
            "CardToken": self.card_tokens,
            "Audit": self.audits,
            "UuidUse": self.uuid_uses,
            "Token": self.tokens,
            "Image": self.images,
            "Toast": self.toasts,
            "Push": self.pushes,
            "Setting": self.settings,
            "Space": self.spaces,
            "Node": self.nodes,
            "Document": self.documents,
            "Table": self.tables,
            "Media": self.media,
        }
        self._messages_by_chat: dict[str, list[str]] = {}
        self._contents: dict[str, str] = {}
        self._journal: Journal | None = None
        if journal is not None:
            self._journal = Journal(journal)
            for row in self._journal.replay(AnyRow):
                self._apply(row)
            self._journal.start(self.rows())

    def put(self, row: Row) -> None:
        """Insert the row, or replace the one with its key."""
        if self._journal is not None:
            self._journal.append(row)
        self._apply(row)

    def change(self, row: R, **fields: object) -> R:
        """Put a copy of the row with other values; the copy is returned."""
        changed = msgspec.structs.replace(row, **fields)
        self.put(changed)
        return changed

    def drop(self, row: Row) -> None:
        self.put(Gone(type(row).__name__, row.key))

    def rows(self) -> Iterable[Row]:
        for table in self._tables.values():
            yield from table.values()

    def close(self) -> None:
        if self._journal is not None:
            self._journal.close()

    def messages_in(self, chat_id: str) -> list[Message]:
        """All messages of a chat, oldest first, recalled ones included."""
        return [self.messages[key] for key in self._messages_by_chat.get(chat_id, ())]

    def chats_of(self, open_id: str) -> list[Chat]:
        """Chats that a person sees, the one with the latest message first; chats without a message last."""
        mine = [chat for chat in self.chats.values() if open_id in chat.members and chat.status != "dissolved"]
        return sorted(mine, key=self._last_message_at, reverse=True)

    def p2p_chat_id(self, app_id: str, open_id: str) -> str:
        """The id of the chat of a person and a bot: always the same, whether or not the chat exists yet."""
        return self.name_id("oc_", f"p2p/{app_id}/{open_id}")

    def name_id(self, prefix: str, name: str) -> str:
        """A stable id from a name: prefix and 32 hex digits."""
        return prefix + hashlib.sha256(f"{self.seed}/{prefix}/{name}".encode()).hexdigest()[:32]

    def free_id(self, prefix: str, name: str, taken: Iterable[str]) -> str:
        """`name_id`, or that of `name#2`, `name#3` … when it is taken."""
        number, free = 1, self.name_id(prefix, name)
        while free in taken:
            number += 1
            free = self.name_id(prefix, f"{name}#{number}")
        return free

    def next_message_id(self) -> str:
        return self.free_id("om_", str(len(self.messages)), self.messages)

    def shared(self, content: str) -> str:
        """One copy of a content that goes to thousands of receivers."""
        return self._contents.setdefault(content, content)

    def _apply(self, row: Row) -> None:
        if isinstance(row, Gone):
            self._tables[row.kind].pop(row.of, None)
            return
        if isinstance(row, Message) and row.message_id not in self.messages:
            self._messages_by_chat.setdefault(row.chat_id, []).append(row.message_id)
        self._tables[type(row).__name__][row.key] = row

    def _last_message_at(self, chat: Chat) -> float:
        keys = self._messages_by_chat.get(chat.chat_id)
        return self.messages[keys[-1]].created_at if keys else 0.0
