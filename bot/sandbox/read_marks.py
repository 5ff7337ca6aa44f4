"""Which messages of the bot a person sees for the first time on opening a chat. Source: feishu-platform notes 3.5."""

from bot.sandbox.state import Chat, Message, Read, User, World


def mark_as_read(world: World, user: User, chat: Chat, at: float) -> list[Message]:
    """Mark all that an app sent since this person last looked, and return them, oldest first."""
    fresh: list[Message] = []
    for message in reversed(world.messages_in(chat.chat_id)):
        if message.sender_type == "user" or message.recalled or message.deleted:
            continue
        if _key(message, user) in world.reads:
            break  # opening reads the whole chat, so all before was read as well
        fresh.append(message)
    fresh.reverse()
    for message in fresh:
        world.put(Read(_key(message, user), message.message_id, user.open_id, at))
    return fresh


def _key(message: Message, user: User) -> str:
    return f"{message.message_id}/{user.open_id}"
