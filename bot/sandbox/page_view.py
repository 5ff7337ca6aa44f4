"""What one person sees of the world: chats with their previews, and one conversation. Reads only."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from hashlib import blake2b

from markupsafe import Markup

from bot.sandbox.app import Sandbox
from bot.sandbox.draw import decoded, draw_message, preview_of
from bot.sandbox.draw_html import Viewer, join, tag
from bot.sandbox.local_time import CLIENT_ZONE
from bot.sandbox.loose import mapping, text_of
from bot.sandbox.page_images import image_addresses
from bot.sandbox.state import Chat, Message, User

_AVATAR_HUES = ("wathet", "turquoise", "green", "orange", "carmine", "purple", "indigo", "violet")
SeenCount = Callable[[str], int]


@dataclass(frozen=True, slots=True)
class Face:
    """A name with the letter and colour of its picture; the colour is the bot's own for a bot."""

    name: str
    letter: str
    hue: str


@dataclass(frozen=True, slots=True)
class ChatRow:
    chat_id: str
    face: Face
    is_group: bool
    preview: str
    time: str
    unread: int
    current: bool


@dataclass(frozen=True, slots=True)
class MessageRow:
    """One message. `version` changes whenever it has to be drawn anew; `day` is set on the first message of a day."""

    message_id: str
    version: str
    face: Face
    mine: bool
    time: str
    day: str
    body: Markup
    recalled: bool
    answers: str


@dataclass(frozen=True, slots=True)
class Member:
    face: Face
    role: str


class Sight:
    """The world through one person's eyes. `seen` tells how many messages of a chat were shown before."""

    def __init__(self, sandbox: Sandbox, me: User, seen: SeenCount) -> None:
        self.sandbox = sandbox
        self.world = sandbox.world
        self.me = me
        self.seen = seen
        self.app = self.world.apps[sandbox.settings.app_id]
        names = _Names(self.world.users, self.app.bot_open_id, self.app.name)
        self.viewer = Viewer(names, image_addresses(self.world))
        self.bot_chat_id = self.world.p2p_chat_id(self.app.app_id, me.open_id)

    def bot_face(self) -> Face:
        return Face(self.app.name, self.app.name[:1], "bot")

    def chat(self, chat_id: str) -> Chat | None:
        chat = self.world.chats.get(chat_id)
        return chat if chat and self.me.open_id in chat.members and chat.status != "dissolved" else None

    def chats(self, current: str | None) -> list[ChatRow]:
        return [self._chat_row(chat, current) for chat in self.world.chats_of(self.me.open_id)]

    def _chat_row(self, chat: Chat, current: str | None) -> ChatRow:
        messages = self._messages_in(chat.chat_id)
        last = messages[-1] if messages else None
        is_current = chat.chat_id == current
        return ChatRow(
            chat.chat_id,
            self.bot_face() if chat.mode == "p2p" else face(chat.name, chat.chat_id),
            chat.mode == "group",
            self._preview(chat, last) if last else "还没有消息",
            self._time(last.created_at, short=True) if last else "",
            0 if is_current else self._unread(chat.chat_id, messages),
            is_current,
        )

    def _unread(self, chat_id: str, messages: list[Message]) -> int:
        return sum(message.sender_id != self.me.open_id for message in messages[self.seen(chat_id) :])

    def _preview(self, chat: Chat, message: Message) -> str:
        who = "" if chat.mode == "p2p" else f"{self._sender(message).name}："
        if message.recalled:
            return f"{who}撤回了一条消息"
        return who + preview_of(message.msg_type, self._content(message), self.viewer)

    def messages(self, chat: Chat, most: int) -> list[MessageRow]:
        """The last `most` messages, oldest first."""
        rows, day = [], ""
        for message in self._messages_in(chat.chat_id)[-most:]:
            today = self._day(message.created_at)
            rows.append(self._message_row(message, "" if today == day else today))
            day = today
        return rows

    def _messages_in(self, chat_id: str) -> list[Message]:
        """What is left to see; a recalled message still shows that it was."""
        return [message for message in self.world.messages_in(chat_id) if not message.deleted]

    def _message_row(self, message: Message, day: str) -> MessageRow:
        parent = self.world.messages.get(message.parent_id or "")
        return MessageRow(
            message.message_id,
            self._version(message),
            self._sender(message),
            message.sender_id == self.me.open_id,
            self._time(message.created_at),
            day,
            Markup("") if message.recalled else self._body(message),
            message.recalled,
            preview_of(parent.msg_type, self._content(parent), self.viewer) if parent else "",
        )

    def _body(self, message: Message) -> Markup:
        if message.sender_type == "user":  # what people type is text, whatever it looks like
            text = text_of(mapping(self._content(message)).get("text"))
            return tag("div", join([Markup("<br>").join(text.split("\n"))]), class_="bubble")
        content = self._content(message)
        return draw_message(message.msg_type, content, message_id=message.message_id, viewer=self.viewer)

    def _content(self, message: Message) -> object:
        """The decoded content, with names where a mention has its place-holder."""
        content = decoded(message.content)
        if not message.mentions:
            return content
        text = text_of(mapping(content).get("text"))
        for number, open_id in enumerate(message.mentions, 1):
            text = text.replace(f"@_user_{number}", f"@{self.viewer.name_of(open_id)}")
        return {"text": text}

    def _sender(self, message: Message) -> Face:
        if message.sender_type == "app":
            hook = next((one for one in self.world.hooks.values() if one.sender_id == message.sender_id), None)
            return face(hook.name, hook.sender_id) if hook else self.bot_face()
        user = self.world.users.get(message.sender_id)
        return face(user.name if user else "已离职", message.sender_id)

    def members(self, chat: Chat) -> list[Member]:
        people = [self.world.users[one] for one in chat.members if one in self.world.users]
        bots = [Member(self.bot_face(), "机器人")] if self.app.app_id in chat.bots else []
        return bots + [Member(face(one.name, one.open_id), _role(chat, one.open_id)) for one in people]

    def has_bot(self, chat: Chat) -> bool:
        return self.app.app_id in chat.bots

    def version(self, chat_id: str | None, most: int) -> str:
        """Changes when anything on the page has to be drawn anew."""
        digest = blake2b(str(self.me).encode(), digest_size=9)
        for one in self.world.chats_of(self.me.open_id):
            messages = self._messages_in(one.chat_id)
            digest.update(f"{one}{len(messages)}{self._version(messages[-1]) if messages else ''}".encode())
            digest.update(b"%d" % (0 if one.chat_id == chat_id else self.seen(one.chat_id)))
        for message in self._messages_in(chat_id)[-most:] if chat_id else ():
            digest.update(f"{message.message_id}{self._version(message)}".encode())
        return digest.hexdigest()

    def _version(self, message: Message) -> str:
        return f"{message.updated_at:.3f}-{message.recalled:d}-{message.updated:d}"

    def _time(self, at: float, *, short: bool = False) -> str:
        moment = datetime.fromtimestamp(at, CLIENT_ZONE)
        if short and self._day(at) != "今天":
            return f"{moment.month}月{moment.day}日"
        return f"{moment:%H:%M}"

    def _day(self, at: float) -> str:
        moment, now = (datetime.fromtimestamp(one, CLIENT_ZONE) for one in (at, self.sandbox.clock.now()))
        if moment.date() == now.date():
            return "今天"
        year = "" if moment.year == now.year else f"{moment.year}年"
        return f"{year}{moment.month}月{moment.day}日"


class _Names(Mapping[str, str]):
    """Names by open_id, of everybody and of the bot, read when they are needed: there may be a million people."""

    def __init__(self, users: Mapping[str, User], bot_open_id: str, bot_name: str) -> None:
        self._users = users
        self._bot = (bot_open_id, bot_name)

    def __getitem__(self, open_id: str) -> str:
        return self._bot[1] if open_id == self._bot[0] else self._users[open_id].name

    def __iter__(self) -> Iterator[str]:
        return iter(self._users)

    def __len__(self) -> int:
        return len(self._users)


def face(name: str, seed: str) -> Face:
    shade = _AVATAR_HUES[sum(seed.encode()) % len(_AVATAR_HUES)]
    return Face(name, name[:1] or "？", f"hue-{shade}")


def _role(chat: Chat, open_id: str) -> str:
    if open_id == chat.owner_id:
        return "群主"
    return "管理员" if open_id in chat.managers else ""
