"""Who is there and sees what: the looks that every client action takes first. Source: feishu-platform notes 10."""

from bot.sandbox.state import Chat, Message, User, World


class ActionRefusedError(Exception):
    """The client would not let this person do this. The text says why, in one line."""


def person(world: World, open_id: str) -> User:
    user = world.users.get(open_id)
    if user is None or user.resigned:
        raise ActionRefusedError("there is no such person")
    return user


def chat_of(world: World, open_id: str, chat_id: str) -> Chat:
    """A living chat that the person is in."""
    chat = world.chats.get(chat_id)
    if chat is None or open_id not in chat.members:
        raise ActionRefusedError("this person is not in such a chat")
    if chat.status != "normal":
        raise ActionRefusedError("the group is dissolved")
    return chat


def group(world: World, chat_id: str, operator: str | None = None) -> Chat:
    """A living group; with `operator` one that this person is in."""
    chat = world.chats.get(chat_id)
    if chat is None or chat.mode != "group" or chat.status != "normal":
        raise ActionRefusedError("there is no such group")
    return chat if operator is None else chat_of(world, operator, chat_id)


def visible_message(world: World, open_id: str, message_id: str) -> Message:
    """A message in one of the person's chats that was neither recalled nor deleted."""
    message = world.messages.get(message_id)
    if message is None or message.recalled or message.deleted:
        raise ActionRefusedError("there is no such message, or it was recalled")
    chat_of(world, open_id, message.chat_id)
    return message
