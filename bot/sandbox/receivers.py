"""Who a message goes to, and whether the bot may write there. Source: feishu-platform notes 2.7, order of 2.9."""

from collections.abc import Callable
from dataclasses import dataclass

from bot.sandbox.gateway import RefusalError
from bot.sandbox.state import App, Chat, User, World


@dataclass(frozen=True, slots=True)
class Receiver:
    """A person, whose chat with the bot may not exist yet, or a chat."""

    user: User | None = None
    chat: Chat | None = None

    @property
    def person(self) -> User:
        assert self.user is not None, "a receiver without a chat is a person"
        return self.user

    def chat_id(self, world: World, app: App) -> str:
        return self.chat.chat_id if self.chat else world.p2p_chat_id(app.app_id, self.person.open_id)


def find_receiver(world: World, app: App, id_type: str, receive_id: str) -> Receiver:
    """230001 for an unknown id type, 230034 for an id of another shape, 9999235x for one that nobody has."""
    if id_type == "email":
        raise RefusalError(
            99992402, "field validation failed"
        )  # seen whenever the app cannot see e-mail addresses (16.10)
    prefix, find, code = _KINDS.get(id_type, ("", None, 0))
    if find is None:
        raise RefusalError(230001, "Your request contains an invalid request parameter, ext=invalid receive_id_type")
    if not receive_id.startswith(prefix):
        raise RefusalError(230034, "The receive_id is invalid.")
    receiver = find(world, receive_id)
    if receiver is None:
        raise RefusalError(code, f"id not exist, ext={id_type}")
    if receiver.user is not None:
        existing = world.chats.get(world.p2p_chat_id(app.app_id, receiver.user.open_id))
        return Receiver(receiver.user, existing)
    return receiver


def check_may_write(world: World, app: App, receiver: Receiver) -> None:
    """State of the chat, membership and range, opt-out, mute: the first that forbids it is raised."""
    check_reaches(world, app, receiver)
    chat = receiver.chat
    if chat is not None and chat.mode == "group":
        if chat.muted:
            raise RefusalError(230035, "Send Message Permission deny.")
    elif _person(world, receiver).stopped:
        raise RefusalError(230053, "The user has stopped receiving messages of the bot.")


def check_reaches(world: World, app: App, receiver: Receiver, *, resigned: int = 230029) -> None:
    """State of the chat, membership and range. `resigned`: the code for a person who left (16.8: both are listed)."""
    chat = receiver.chat
    if chat is not None and chat.status != "normal":
        raise RefusalError(232009, "Your request specifies a chat which has already been dissolved.")
    in_person = chat is None or chat.mode == "p2p"
    if in_person and _person(world, receiver).resigned:
        raise RefusalError(resigned, "The user has resigned.")
    if chat is not None and app.app_id not in chat.bots:
        raise RefusalError(230002, "Bot/User can NOT be out of the chat.")
    if in_person and not _person(world, receiver).available:
        raise RefusalError(230013, "Bot has NO availability to this user.")


def _person(world: World, receiver: Receiver) -> User:
    return receiver.user or world.users[receiver.chat.members[0] if receiver.chat else ""]


def _by_open_id(world: World, open_id: str) -> Receiver | None:
    user = world.users.get(open_id)
    return Receiver(user=user) if user else None


def _by_union_id(world: World, union_id: str) -> Receiver | None:
    found = (user for user in world.users.values() if user.union_id == union_id)
    user = next(found, None)
    return Receiver(user=user) if user else None


def _by_chat_id(world: World, chat_id: str) -> Receiver | None:
    chat = world.chats.get(chat_id)
    return Receiver(chat=chat) if chat else None


def _nobody(_world: World, _user_id: str) -> Receiver | None:
    return None


# user_id: nobody has one here, as reading it needs a scope of its own (8)
_KINDS: dict[str, tuple[str, Callable[[World, str], Receiver | None] | None, int]] = {
    "open_id": ("ou_", _by_open_id, 99992351),
    "union_id": ("on_", _by_union_id, 99992363),
    "user_id": ("", _nobody, 99992359),
    "chat_id": ("oc_", _by_chat_id, 99992355),
}
