"""What the world consists of: frozen rows. Sources: feishu-platform notes 15.1 (state), 2.2 (message), 10 (chat)."""

from typing import Any, Literal

import msgspec


class Row(msgspec.Struct, frozen=True, tag_field="row", tag=str.lower):
    """One thing in the world. `key` is unique within its class."""

    @property
    def key(self) -> str:
        return str(getattr(self, self.__struct_fields__[0]))


class User(Row, frozen=True):
    """A person. `available`: inside the app's availability range. `stopped`: receives no bot messages, by own wish."""

    open_id: str
    name: str
    union_id: str
    available: bool = True
    resigned: bool = False
    stopped: bool = False


class Chat(Row, frozen=True):
    """A p2p chat of one person and one bot, or a group. `bots` are app ids; `dissolved_save`: members keep the history.

    `muted`: only owner and managers may speak. `mention_all`: the owner lets bots mention everybody.
    """

    chat_id: str
    mode: Literal["p2p", "group"]
    name: str
    members: tuple[str, ...]
    bots: tuple[str, ...] = ()
    owner_id: str | None = None
    managers: tuple[str, ...] = ()
    status: Literal["normal", "dissolved", "dissolved_save"] = "normal"
    muted: bool = False
    mention_all: bool = False
    external: bool = False


class Message(Row, frozen=True):
    """`content` is the JSON string that was sent (of a card: the card now shown). Instants are epoch seconds.

    `sender_id` is an app id, that of a custom bot (`Hook.sender_id`), or an open_id. `batch_id`: of a batch send.
    `mentions` are the open_ids behind `@_user_1`, `@_user_2` …
    `recalled` by its sender: the chat says so. `deleted` by the tenant, for all: nothing is left to see.
    """

    message_id: str
    chat_id: str
    sender_id: str
    sender_type: Literal["app", "user"]
    msg_type: str
    content: str
    created_at: float
    updated_at: float
    parent_id: str | None = None
    root_id: str | None = None
    mentions: tuple[str, ...] = ()
    recalled: bool = False
    updated: bool = False
    batch_id: str | None = None
    deleted: bool = False


class Read(Row, frozen=True):
    """That a person has seen a message of the bot; `read` is MESSAGE_ID/OPEN_ID."""

    read: str
    message_id: str
    open_id: str
    at: float


class CardToken(Row, frozen=True):
    """What a card callback carried for a later update of its card. `answered`: the app took the callback in time."""

    token: str
    app_id: str
    message_id: str
    at: float
    answered: bool = False
    uses: int = 0


class Audit(Row, frozen=True):
    """The tenant's audit of contents: `words` are sensitive, `leaks`: plain phone numbers and addresses are stopped."""

    name: str
    words: tuple[str, ...] = ()
    leaks: bool = False


class UuidUse(Row, frozen=True):
    """A successful send under a uuid: `digest` is of its content, to notice a reuse with another one."""

    use: str
    message_id: str
    receiver: str
    digest: str
    at: float


class Token(Row, frozen=True):
    token: str
    app_id: str
    expires_at: float
    revoked: bool = False


class Image(Row, frozen=True):
    """`content` is empty for a key that was only made known, not uploaded."""

    image_key: str
    app_id: str
    content: bytes = b""
    content_type: str = ""
    image_type: Literal["message", "avatar"] = "message"
    uploaded_at: float = 0.0


class Toast(Row, frozen=True):
    """What one person saw after one click: a toast of the app (code 0), or the client's own error code."""

    toast_id: str
    open_id: str
    message_id: str
    code: int
    toast_type: str
    text: str
    at: float


class Push(Row, frozen=True):
    """An event that the app has not yet answered with 200. `attempts` were made, the next one is due at `due_at`."""

    event_id: str
    event_type: str
    created_at: float
    event: msgspec.Raw
    attempts: int
    due_at: float


class Batch(Row, frozen=True):
    """A batch send. `people` are open_ids in the order of the call; the first `handled` of them had their turn.

    `starts_at`: when the first of them is due. Who had a turn and got nothing was out of reach at that moment.
    """

    batch_id: str
    app_id: str
    msg_type: str
    content: str
    people: tuple[str, ...]
    created_at: float
    starts_at: float
    handled: int = 0
    recalled: bool = False


class Hook(Row, frozen=True):
    """A custom bot of one group: whoever knows `token` may write there. Its messages stand under `sender_id`.

    `secret` empty: no signature. `ips` are addresses, networks or patterns like 123.12.1.*; empty: from everywhere.
    """

    token: str
    chat_id: str
    name: str
    sender_id: str
    secret: str = ""
    keywords: tuple[str, ...] = ()
    ips: tuple[str, ...] = ()
    removed: bool = False

    def __repr__(self) -> str:
        return f"Hook({self.sender_id})"


class Setting(Row, frozen=True):
    name: str
    value: float


class Space(Row, frozen=True):
    """A wiki."""

    space_id: str
    name: str


class Node(Row, frozen=True):
    """A place in a wiki's tree. `origin`: of a shortcut, the node it leads to. `parent` is empty at the top."""

    node_token: str
    space_id: str
    title: str
    obj_type: str
    obj_token: str
    created_at: float
    edited_at: float
    parent: str = ""
    origin: str = ""
    forbidden: bool = False


class Document(Row, frozen=True):
    """A docx: its blocks as the API gives them. `forbidden`: the app is no app of the document."""

    document_id: str
    title: str
    blocks: tuple[dict[str, Any], ...]
    revision: int = 1
    forbidden: bool = False


class Table(Row, frozen=True):
    """A bitable table: `table` is APP_TOKEN/TABLE_ID. `views`: ids of the records that each view shows."""

    table: str
    fields: tuple[str, ...]
    records: tuple[dict[str, Any], ...]
    views: dict[str, tuple[str, ...]] = {}
    forbidden: bool = False


class Media(Row, frozen=True):
    """A picture or file inside a document."""

    file_token: str
    content: bytes
    content_type: str = "image/png"
    forbidden: bool = False


class Gone(Row, frozen=True):
    """Journal line of a row that was dropped."""

    kind: str
    of: str


Shared = Node | Document | Table | Media
Kept = User | Chat | Message | Batch | Hook | Read | CardToken | Audit
AnyRow = Kept | UuidUse | Token | Image | Toast | Push | Setting | Space | Shared | Gone


class App(msgspec.Struct, frozen=True):
    """The app under test. It comes from the settings at every start and is never written: it holds the secret.

    `scopes` None: all are granted. `allowed_ips` None: any address may call.
    """

    app_id: str
    secret: str
    name: str
    bot_open_id: str
    scopes: frozenset[str] | None = None
    allowed_ips: frozenset[str] | None = None
    enabled: bool = True
    bot_enabled: bool = True

    def __repr__(self) -> str:
        return f"App({self.app_id})"
