"""What people do in their Feishu client: called by tests, by the page and by the control API.

Sources: feishu-platform notes 6 (clicks), 8 (events and payloads), 10 (groups).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from bot.sandbox import card_elements, payloads
from bot.sandbox.card_answers import Answer
from bot.sandbox.card_clicks import call_back, pressable_card
from bot.sandbox.events import Pusher
from bot.sandbox.read_marks import mark_as_read
from bot.sandbox.settings import SandboxSettings
from bot.sandbox.state import Chat, Message, Toast, User, World
from bot.sandbox.visibility import ActionRefusedError, chat_of, group, person, visible_message

__all__ = ["ActionRefusedError", "ClientActions", "Shown"]

MENU_KEY_CHARS = 30  # application.bot.menu_v6


@dataclass(frozen=True, slots=True)
class Shown:
    """What the person sees afterwards. `code` is 0, or the client's error code (6.3) with its text as an error toast.

    `answered`: the app took the event at the first push (None: no event was due, or the app has no address for it).
    """

    code: int = 0
    toast_type: str | None = None
    toast_text: str | None = None
    card_changed: bool = False
    answered: bool | None = None
    chat_id: str | None = None
    message_id: str | None = None


class ClientActions:
    """One method an action; ids in, `Shown` out. Raises ActionRefusedError when the client would not offer the action.

    An action returns after the app's first answer to its event, so that a test needs no waiting.
    """

    def __init__(self, settings: SandboxSettings, world: World, pusher: Pusher) -> None:
        self._app_id = settings.app_id
        self._world = world
        self._pusher = pusher
        self._clock = pusher.clock

    def add_user(self, name: str, *, available: bool = True, open_id: str | None = None) -> User:
        """A new person of the tenant. The id comes from the name, so that a demo stays the same."""
        open_id = open_id or self._world.free_id("ou_", name, self._world.users)
        user = User(open_id, name, self._world.name_id("on_", open_id), available)
        self._world.put(user)
        return user

    async def open_bot_chat(self, open_id: str) -> Shown:
        """Open the chat with the bot; the first time creates it. The app hears of every opening (no throttle, 8.3)."""
        user = person(self._world, open_id)
        if not user.available:
            raise ActionRefusedError("this person is outside the app's availability range: the bot cannot be opened")
        chat = payloads.ensure_p2p_chat(self._world, self._app_id, user)
        messages = self._world.messages_in(chat.chat_id)
        await self.read_chat(open_id, chat.chat_id)
        event = payloads.chat_entered(user, chat, messages[-1] if messages else None)
        answered = await self._pusher.publish("im.chat.access_event.bot_p2p_chat_entered_v1", event)
        return Shown(answered=answered, chat_id=chat.chat_id)

    async def read_chat(self, open_id: str, chat_id: str) -> Shown:
        """See all messages of a chat. The app hears of it only in its chat with the person (8.3)."""
        user, chat = person(self._world, open_id), chat_of(self._world, open_id, chat_id)
        now = self._clock.now()
        fresh = mark_as_read(self._world, user, chat, now)
        if not fresh or chat.mode == "group":
            return Shown(chat_id=chat_id)
        event = payloads.messages_read(user, fresh, now)
        return Shown(answered=await self._pusher.publish("im.message.message_read_v1", event), chat_id=chat_id)

    async def delete_message(self, message_id: str) -> Shown:
        """The tenant deletes a message for everybody, as retention rules do: it is gone from every chat (230110)."""
        message = self._world.messages.get(message_id)
        if message is None:
            raise ActionRefusedError("there is no such message, or it was recalled")
        self._world.change(message, deleted=True, updated_at=self._clock.now())
        return Shown(chat_id=message.chat_id, message_id=message_id)

    async def say(
        self, open_id: str, chat_id: str, text: str, mention_bot: bool = False, reply_to: str | None = None
    ) -> Shown:
        """Write a text. In a group the bot hears only what mentions it (im:message.group_at_msg:readonly, 8.1)."""
        user, chat = person(self._world, open_id), chat_of(self._world, open_id, chat_id)
        self._require_voice(user, chat)
        parent = visible_message(self._world, open_id, reply_to) if reply_to else None
        message = self._write(user, chat, text, parent, mention_bot=mention_bot)
        shown = Shown(chat_id=chat_id, message_id=message.message_id)
        if self._app_id not in chat.bots or (chat.mode == "group" and not mention_bot):
            return shown
        event = payloads.message_received(self._world, user, chat, message)
        answered = await self._pusher.publish("im.message.receive_v1", event)
        return Shown(answered=answered, chat_id=chat_id, message_id=message.message_id)

    async def click(
        self,
        open_id: str,
        message_id: str,
        element: Any,
        *,
        form_value: Mapping[str, Any] | None = None,
        chosen: Any = None,
    ) -> Shown:
        """Press the element of a card whose callback value, or whose name, is `element`.

        `form_value`: what was filled into the form around a submit button, by component name.
        `chosen`: what was picked or typed in a select, menu, picker, tick or input outside a form.
        """
        user, message = person(self._world, open_id), visible_message(self._world, open_id, message_id)
        card = pressable_card(message, self._clock.now())
        try:
            action = card_elements.press(card, element, form_value, chosen)
        except card_elements.NoSuchElementError as exc:
            raise ActionRefusedError(str(exc)) from exc
        event = payloads.card_action(user, message, action)
        answer = await call_back(self._world, self._pusher, self._app_id, event)
        return self._show(user, message, answer)

    async def choose_menu(self, open_id: str, event_key: str) -> Shown:
        """Tap an entry of the bot's menu; menus exist only in the chat of a person and the bot (8.3)."""
        user = person(self._world, open_id)
        if self._world.p2p_chat_id(self._app_id, open_id) not in self._world.chats or not user.available:
            raise ActionRefusedError("this person has no chat with the bot")
        if not 0 < len(event_key) <= MENU_KEY_CHARS:
            raise ActionRefusedError(f"a menu key has 1 to {MENU_KEY_CHARS} characters")
        event = payloads.menu_chosen(user, event_key, self._clock.now())
        return Shown(answered=await self._pusher.publish("application.bot.menu_v6", event))

    async def create_group(self, name: str, owner: str, members: Sequence[str], managers: Sequence[str] = ()) -> Shown:
        """A group without bots. The owner is a member; `members` need not repeat the owner."""
        people = tuple(dict.fromkeys([owner, *members]))
        for open_id in people:
            person(self._world, open_id)
        if not set(managers) <= set(people):
            raise ActionRefusedError("a manager must be a member")
        chat_id = self._world.free_id("oc_", name, self._world.chats)
        self._world.put(Chat(chat_id, "group", name, people, owner_id=owner, managers=tuple(managers)))
        return Shown(chat_id=chat_id)

    async def add_bot(self, chat_id: str, operator: str) -> Shown:
        """Bring the bot into a group."""
        chat = group(self._world, chat_id, operator)
        if self._app_id in chat.bots:
            raise ActionRefusedError("the bot is in this group already")
        chat = self._world.change(chat, bots=(*chat.bots, self._app_id))
        return await self._tell("im.chat.member.bot.added_v1", chat, operator)

    async def remove_bot(self, chat_id: str, operator: str) -> Shown:
        """Put the bot out of a group; it is told, though it is no longer inside (8.2)."""
        chat = group(self._world, chat_id, operator)
        if self._app_id not in chat.bots:
            raise ActionRefusedError("the bot is not in this group")
        chat = self._world.change(chat, bots=tuple(bot for bot in chat.bots if bot != self._app_id))
        return await self._tell("im.chat.member.bot.deleted_v1", chat, operator)

    async def dissolve(self, chat_id: str, keep_history: bool = False) -> Shown:
        """The owner dissolves the group. With `keep_history` no event is sent at all (8.2: the gap to reconcile)."""
        chat = group(self._world, chat_id)
        chat = self._world.change(chat, status="dissolved_save" if keep_history else "dissolved")
        if keep_history or self._app_id not in chat.bots:
            return Shown(chat_id=chat_id)
        return await self._tell("im.chat.disbanded_v1", chat, chat.owner_id or chat.members[0])

    async def set_muted(self, chat_id: str, muted: bool = True) -> Shown:
        """The owner lets only owner and managers speak, or everybody again."""
        chat = group(self._world, chat_id)
        changed = self._world.change(chat, muted=muted)
        if self._app_id not in chat.bots or chat.muted == muted:
            return Shown(chat_id=chat_id)
        event = payloads.moderation_changed(self._world, chat, changed)
        return Shown(answered=await self._pusher.publish("im.chat.updated_v1", event), chat_id=chat_id)

    async def resign(self, open_id: str) -> Shown:
        """The person leaves the company: out of every group, unreachable for good."""
        user = person(self._world, open_id)
        self._world.change(user, resigned=True)
        for chat in [chat for chat in self._world.chats.values() if chat.mode == "group" and open_id in chat.members]:
            self._world.change(chat, members=tuple(one for one in chat.members if one != open_id))
        return Shown(answered=await self._pusher.publish("contact.user.deleted_v3", payloads.user_deleted(user)))

    async def stop_messages(self, open_id: str, stopped: bool = True) -> Shown:
        """The person switches the bot's messages off, or on again. The app is not told: it meets 230053."""
        self._world.change(person(self._world, open_id), stopped=stopped)
        return Shown()

    async def set_available(self, open_id: str, available: bool) -> Shown:
        """The tenant's admin moves the person into or out of the app's range. The app is not told: it meets 230013."""
        self._world.change(person(self._world, open_id), available=available)
        return Shown()

    def _require_voice(self, user: User, chat: Chat) -> None:
        if chat.muted and user.open_id not in (chat.owner_id, *chat.managers):
            raise ActionRefusedError("the group is muted")
        if chat.mode == "p2p" and not user.available:
            raise ActionRefusedError("this person is outside the app's availability range")

    def _write(self, user: User, chat: Chat, text: str, parent: Message | None, *, mention_bot: bool) -> Message:
        if not text.strip():
            raise ActionRefusedError("an empty text cannot be sent")
        now = self._clock.now()
        message = Message(
            self._world.next_message_id(),
            chat.chat_id,
            user.open_id,
            "user",
            "text",
            msgspec.json.encode({"text": f"@_user_1 {text}" if mention_bot else text}).decode(),
            now,
            now,
            parent_id=parent.message_id if parent else None,
            root_id=(parent.root_id or parent.message_id) if parent else None,
            mentions=(self._world.apps[self._app_id].bot_open_id,) if mention_bot else (),
        )
        self._world.put(message)
        return message

    def _show(self, user: User, message: Message, answer: Answer) -> Shown:
        """Keep the toast; let a card in the answer replace the shown one, for everybody (6.2)."""
        now = self._clock.now()
        if answer.card is not None:
            self._world.change(
                self._world.messages[message.message_id], content=answer.card, updated=True, updated_at=now
            )
        if answer.toast_text:
            number = str(len(self._world.toasts) + 1)
            self._world.put(
                Toast(number, user.open_id, message.message_id, answer.code, answer.toast_type, answer.toast_text, now)
            )
        return Shown(
            answer.code,
            answer.toast_type if answer.toast_text else None,
            answer.toast_text or None,
            answer.card is not None,
            chat_id=message.chat_id,
            message_id=message.message_id,
        )

    async def _tell(self, event_type: str, chat: Chat, operator: str) -> Shown:
        event = payloads.group_event(self._world, chat, operator)
        return Shown(answered=await self._pusher.publish(event_type, event), chat_id=chat.chat_id)
