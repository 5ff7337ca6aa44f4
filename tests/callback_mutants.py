"""Requests that the platform would not send, or not any more, made from a seed, and what must come back for each.

A family is what may follow: which statuses, and which tables may change. Nothing is ever answered with a 5xx.
"""

import base64
import hashlib
import json
import random
import string
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from bot.cards.actions import (
    Decision,
    Missed,
    Resend,
    Review,
    SetGroupSubscription,
    SetPause,
    SetPreferences,
    SetSubscription,
    ShowEdition,
    ShowHistory,
    ShowResults,
    ShowSettings,
    UndoLeave,
    encode,
)
from bot.feishu import signature
from tests.callbacks import PATHS, Callbacks, Headers

HOLE = "-- here --"
SERIES = "ai"
READER = "ou_" + "b" * 32  # has subscribed
KNOWN_CHAT = "oc_" + "c" * 32  # a group that has subscribed
REFUSED = b'{"msg":"refused"}'
LONGEST_BODY = 64 * 1024
IDS = {"union_id": "on_1", "open_id": "ou_stranger"}

# Whatever JSON can hold but what is expected: of each type, huge, deep, and text that is hard to keep.
NUMBERS = ("-1", "0.5", "1e400", "-0", "9" * 400, "1" + "0" * 19, "true", "false")
DEEP = ("[" * 4_000 + "]" * 4_000, '{"a":' * 4_000 + "1" + "}" * 4_000)
TEXTS = (
    '""',
    '"x"',
    json.dumps("长" * 9_000),
    json.dumps("".join(random.Random(0).choices(string.ascii_letters, k=12_000))),
    r'"\u0000"',
    r'"a\u0000b\u0008"',
    r'"\ud800"',
    r'"\udc00\ud800"',
    json.dumps("\u202e\u2066\ufeff", ensure_ascii=False),
    json.dumps("\U0001f469\u200d\U0001f467" * 200, ensure_ascii=False),
    json.dumps("z\u0335\u0341\u0348" * 300),
    json.dumps("{{ 7*7 }}'; DROP TABLE inbox;--"),
    json.dumps("<at id=all></at>"),
)
ODD = ("null", "[]", "{}", '[[],{"a":null}]', '{"a":{"b":[1]}}', *NUMBERS, *DEEP)

WHOLE = [
    encode(action)
    for action in (
        SetSubscription(SERIES, on=True),
        SetGroupSubscription(SERIES, on=True),
        SetPreferences(SERIES),
        SetPause(SERIES, date(2099, 1, 1)),
        UndoLeave(SERIES, group=True),
        ShowSettings(SERIES, group=True),
        ShowEdition(SERIES, "2025-03-08"),
        ShowHistory(SERIES, "2025-03-08.1"),
        ShowResults("词", 1),
        Review("ai/2025-03-08", 1, Decision.APPROVE),
        Resend("ai/2025-03-08", 1, Missed.FAILED),
    )
]
# What must be there for an event to mean anything: (event, paths to it). Source: feishu-platform notes 6.1, 8.
SHAPES: dict[str, tuple[dict[str, Any], tuple[str, ...]]] = {
    "im.message.receive_v1": (
        {
            "sender": {"sender_id": IDS, "sender_type": "user"},
            "message": {"message_id": "om_1", "chat_id": "oc_1", "chat_type": "p2p", "message_type": "text"},
        },
        (
            "sender", "sender.sender_id", "sender.sender_id.open_id",
            "message", "message.message_id", "message.chat_id", "message.chat_type", "message.message_type",
        ),
    ),
    "im.chat.member.bot.added_v1": ({"chat_id": "oc_new", "operator_id": IDS, "name": "群"}, ("chat_id",)),
    "im.chat.member.bot.deleted_v1": ({"chat_id": KNOWN_CHAT, "operator_id": IDS}, ("chat_id",)),
    "im.chat.disbanded_v1": ({"chat_id": KNOWN_CHAT, "operator_id": IDS}, ("chat_id",)),
    "im.chat.updated_v1": (
        {"chat_id": KNOWN_CHAT, "after_change": {"moderation_permission": "moderator_list"}},
        ("chat_id",),
    ),
    "im.chat.member.user.deleted_v1": ({"chat_id": KNOWN_CHAT, "users": [{"user_id": IDS}]}, ("chat_id", "users")),
    "contact.user.deleted_v3": ({"object": IDS}, ("object", "object.open_id")),
    "im.message.message_read_v1": (
        {"reader": {"reader_id": IDS}, "message_id_list": ["om_1"]},
        ("reader", "reader.reader_id", "reader.reader_id.open_id", "message_id_list"),
    ),
    "application.bot.menu_v6": (
        {"operator": {"operator_id": IDS}, "event_key": "subscribe"},
        ("operator", "operator.operator_id", "operator.operator_id.open_id", "event_key"),
    ),
    "card.action.trigger": (
        {"operator": IDS, "action": {"value": WHOLE[0]}, "context": {"open_chat_id": "oc_1"}},
        ("operator", "operator.open_id", "action"),
    ),
}  # fmt: skip


Lines = Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Mutant:
    """One request. `said`: the answer's body, where it is always the same. `counted`: as whose unexpected shape."""

    what: str
    path: str
    headers: Lines
    body: bytes
    statuses: frozenset[int] = frozenset({401})
    said: bytes | None = REFUSED
    counted: str = ""
    raw: bytes | None = None
    """The whole of what is sent, where it is no request at all: then it may go unanswered too."""


class Nature:
    """Makes mutants. The same seed makes the same ones, but for keys of encryption and the time of day."""

    def __init__(self, callbacks: Callbacks, seed: int) -> None:
        self.callbacks = callbacks
        self.chance = random.Random(seed)
        self._made = 0

    def mutant(self, family: str) -> Mutant:
        """The next one of a family."""
        self._made += 1
        return FAMILIES[family].make(self)

    def path(self) -> str:
        return self.chance.choice(PATHS)

    def id(self) -> str:
        return f"event-{self._made}-{self.chance.getrandbits(32):08x}"

    def effective(self) -> bytes:
        """What would be seen in the tables if it were believed."""
        made, known = self.callbacks, self.id()
        stranger = f"ou_{known}"
        return self.chance.choice(
            [
                made.click(WHOLE[0], known, person=stranger),
                made.click({**WHOLE[0], "on": False}, known, person=READER),
                made.message("订阅", f"om_{known}", known, person=stranger),
                made.message("退订", f"om_{known}", known, person=READER),
                made.envelope("im.chat.member.bot.deleted_v1", {"chat_id": KNOWN_CHAT, "operator_id": IDS}, known),
                made.envelope("contact.user.deleted_v3", {"object": {"open_id": READER}}, known),
            ]
        )

    def inert(self) -> bytes:
        """What is believed, and changes nothing."""
        read = {"reader": {"reader_id": IDS}, "message_id_list": [f"om_{self.id()}"]}
        return self.callbacks.envelope("im.message.message_read_v1", read, self.id())

    def sealed(self, plain: bytes, **how: Any) -> tuple[bytes, Headers]:
        body = self.callbacks.sealed(plain)
        return body, self.callbacks.headers(body, nonce=self.nonce(), **how)

    def nonce(self) -> str:
        return "".join(self.chance.choices(string.ascii_letters + string.digits, k=self.chance.randrange(1, 20)))

    def odd(self, *more: str) -> str:
        """JSON of something that should not be there."""
        return self.chance.choice((*ODD, *more))


TIMESTAMP, NONCE, SIGNATURE = "X-Lark-Request-Timestamp", "X-Lark-Request-Nonce", "X-Lark-Signature"
Forge = Callable[[Nature, bytes, Headers], tuple[bytes, Lines]]


def _flipped(nature: Nature, data: bytes) -> bytes:
    at = nature.chance.randrange(len(data))
    return data[:at] + bytes([data[at] ^ 1 << nature.chance.randrange(8)]) + data[at + 1 :]


def _one_header(nature: Nature, body: bytes, headers: Headers) -> tuple[bytes, Lines]:
    """One of the three says something else."""
    name = nature.chance.choice([TIMESTAMP, NONCE, SIGNATURE])
    old, size = headers[name], nature.chance.choice([0, 1, 64, 200, 20_000])
    other = nature.chance.choice([
        old + "0", old[:-1], f"x{old}", old.swapcase() + "-", "长" * (size // 8), "\xff\x80", "0" * 64,
        "".join(nature.chance.choices(string.printable[:94], k=size)),
    ])  # fmt: skip
    return body, list({**headers, name: other if other != old else f"{old}x"}.items())


def _moved_boundary(nature: Nature, body: bytes, headers: Headers) -> tuple[bytes, Lines]:
    """The signature covers time and nonce without a sign between them: it holds for another time too."""
    both, at = headers[TIMESTAMP] + headers[NONCE], len(headers[TIMESTAMP])
    at = nature.chance.choice([n for n in range(len(both) + 1) if n != at])
    return body, list({**headers, TIMESTAMP: both[:at], NONCE: both[at:]}.items())


def _extended(nature: Nature, body: bytes, headers: Headers) -> tuple[bytes, Lines]:
    """What somebody without the key can sign: a seen body, SHA-256's own padding, and more."""
    size = len(headers[TIMESTAMP]) + len(headers[NONCE]) + len(nature.callbacks.key) + len(body)
    glue = b"\x80" + bytes((55 - size) % 64) + (8 * size).to_bytes(8, "big")
    longer = body + glue + nature.chance.choice([b"", body, b'","x":"'])
    return longer, list(nature.callbacks.headers(longer, headers[TIMESTAMP], headers[NONCE]).items())


def _doubled(nature: Nature, body: bytes, headers: Headers) -> tuple[bytes, Lines]:
    """The first of two counts."""
    name = nature.chance.choice(list(headers))
    return body, [(name, "0"), *headers.items()]


def _dropped(nature: Nature, body: bytes, headers: Headers) -> tuple[bytes, Lines]:
    gone = nature.chance.choice([{TIMESTAMP}, {NONCE}, {TIMESTAMP, NONCE}])
    return body, [(name, value) for name, value in headers.items() if name not in gone]


def _exchanged(_: Nature, body: bytes, headers: Headers) -> tuple[bytes, Lines]:
    return body, [(TIMESTAMP, headers[NONCE]), (NONCE, headers[TIMESTAMP]), (SIGNATURE, headers[SIGNATURE])]


def _other_body(nature: Nature, body: bytes, headers: Headers) -> tuple[bytes, Lines]:
    """Flipped, cut, longer, or another one altogether."""
    other = nature.chance.choice([
        _flipped(nature, body), body[: nature.chance.randrange(len(body))], body + b" ", body.swapcase(), b"",
        body[::-1], nature.callbacks.sealed(nature.effective()), nature.chance.randbytes(300),
    ])  # fmt: skip
    return other, list(headers.items())


def _other_key(nature: Nature, body: bytes, headers: Headers) -> tuple[bytes, Lines]:
    """A signature, but not by this key, over other bytes, or of another kind."""
    at, nonce, key = headers[TIMESTAMP], headers[NONCE], nature.callbacks.key
    old_way = hashlib.sha1(f"{at}{nonce}{nature.callbacks.token}".encode() + body).hexdigest()
    unkeyed = hashlib.sha256(f"{at}{nonce}".encode() + body).hexdigest()
    other = [signature.sign(at, nonce, key[::-1], body), signature.sign(at, nonce, key, b""), old_way, unkeyed]
    return body, list({**headers, SIGNATURE: nature.chance.choice(other)}.items())


FORGERIES: tuple[Forge, ...] = (
    _one_header, _moved_boundary, _extended, _doubled, _dropped, _exchanged, _other_body, _other_key,
)  # fmt: skip


def forged(nature: Nature) -> Mutant:
    """Something seen or made that the key does not vouch for as it is."""
    forge = nature.chance.choice(FORGERIES)
    body, headers = forge(nature, *nature.sealed(nature.effective()))
    return Mutant(forge.__name__, nature.path(), headers, body)


def unsigned(nature: Nature) -> Mutant:
    """All of them are answered alike, whatever is inside."""
    made, token = nature.callbacks, nature.callbacks.token
    sealed = made.sealed(nature.chance.choice([nature.effective(), made.challenge("c", "other"), b"{}", b"\xff"]))
    body = nature.chance.choice([
        sealed, _flipped(nature, sealed), sealed[: nature.chance.randrange(len(sealed))], nature.effective(), b"",
        made.challenge("c", token), json.dumps({"encrypt": 5}).encode(), nature.chance.randbytes(64),
        f'{{"encrypt":{nature.odd(*TEXTS)}}}'.encode(), f'{{"x":{nature.odd(*TEXTS)},"encrypt":""}}'.encode(),
    ])  # fmt: skip
    kept = nature.chance.choice([{}, {TIMESTAMP: "1"}, {NONCE: "n"}, {"X-Lark-Signatur": "0" * 64}])
    return Mutant("unsigned", nature.path(), list(kept.items()), body)


def stale(nature: Nature) -> Mutant:
    """Signed, at a time that is not now: a click holds for minutes, an event for hours."""
    known, ahead = nature.id(), nature.chance.choice([-1, 1])
    if nature.chance.random() < 0.5:
        plain = nature.callbacks.click(WHOLE[0], known, person=f"ou_{known}")
        off_s = nature.chance.choice([400, 3_600, 86_400, 10**9, 10**18])
    else:
        plain = nature.callbacks.message("订阅", f"om_{known}", known, person=f"ou_{known}")
        off_s = nature.chance.choice([9 * 3_600, 86_400, 10**9, 10**18])
    at = str(int(time.time()) + ahead * off_s)
    at = nature.chance.choice([at, at, at, "", "nan", "inf", "-inf", "1e400", "9" * 5_000, "x", "0x10", "१२"])
    body = nature.callbacks.sealed(plain)
    return Mutant(f"stale {at[:20]}", nature.path(), list(nature.callbacks.headers(body, at).items()), body)


def cipher(nature: Nature) -> Mutant:
    """Broken inside, and signed all the same: what still reads as an event is one that changes nothing."""
    what, sealed = _broken(nature, nature.inert())
    body = json.dumps({"encrypt": sealed}).encode()
    # Without its own check a block cipher cannot tell every change; who signs could have written it anyway.
    headers = nature.callbacks.headers(body)
    return Mutant(what, nature.path(), list(headers.items()), body, frozenset({200, 401}), None)


def _broken(nature: Nature, plain: bytes) -> tuple[str, Any]:
    chance = nature.chance
    raw = base64.b64decode(json.loads(nature.callbacks.sealed(plain))["encrypt"])
    blocks = [raw[n : n + 16] for n in range(0, len(raw), 16)]
    kind = chance.choice(["cut", "flipped", "shuffled", "doubled", "dropped", "text", "padding"])
    match kind:
        case "cut":
            raw = raw[: chance.randrange(len(raw))]
        case "flipped":
            for _ in range(chance.choice([1, 1, 2, 20])):
                raw = _flipped(nature, raw)
        case "shuffled":
            raw = b"".join(chance.sample(blocks, len(blocks)))
        case "doubled":
            raw += chance.choice(blocks)
        case "dropped":
            raw = b"".join(chance.sample(blocks, len(blocks) - 1))
        case "text":
            text = base64.b64encode(raw).decode()
            whole = [
                text.rstrip("="),
                text + "=",
                text.replace("/", "_"),
                f" {text}",
                text[::-1],
                "",
                "A" * 43,
                5,
                None,
                [text],
            ]
            return kind, chance.choice(whole)
        case "padding":
            return broken_padding(nature.callbacks.key, plain, chance.randrange(17), chance)
    return kind, base64.b64encode(raw).decode()


def broken_padding(key: str, plain: bytes, place: int, chance: random.Random) -> tuple[str, str]:
    """The ciphertext of a text whose padding is wrong at one of its places, counted from its end, or in all of them."""
    size = 16 - len(plain) % 16
    padding = bytearray([size]) * size
    if place < size:
        padding[-1 - place] ^= chance.randrange(1, 256)
    else:
        padding = bytearray([chance.choice([0, 17, 128, 255])]) * size
    if padding[-1] == 1:  # that is one, whatever stands before it
        padding[-1] = 0
    whole = base64.b64decode(signature.encrypt(key, plain + padding))
    return f"padding {place}", base64.b64encode(whole[:-16]).decode()  # without the sound block behind it


def wrong_token(nature: Nature) -> Mutant:
    """Another app's, signed with this one's key."""
    plain = json.loads(nature.effective())
    plain["header"]["token"] = nature.chance.choice(["", "other", nature.callbacks.token + "x", "长"])
    body, headers = nature.sealed(json.dumps(plain).encode())
    return Mutant("token", nature.path(), list(headers.items()), body)


def _with(tree: Any, where: str, odd: str | None) -> str:
    """JSON of a tree in which something else stands at a path of names, or nothing."""
    tree = json.loads(json.dumps(tree))
    *above, last = where.split(".")
    inside = tree
    for name in above:
        inside = inside[name]
    if odd is None:
        inside.pop(last, None)
        return json.dumps(tree)
    inside[last] = HOLE
    return json.dumps(tree).replace(f'"{HOLE}"', odd)


def _event(nature: Nature, kind: str, event: str, **header: str) -> bytes:
    """An envelope around JSON of an event; the header's fields are JSON too."""
    plain = json.loads(nature.callbacks.envelope(kind, HOLE, nature.id()))
    fields = {name: f"{HOLE} {name}" for name in header}
    text = json.dumps({**plain, "header": {**plain["header"], **fields}}).replace(f'"{HOLE}"', event)
    for name, value in header.items():
        text = text.replace(f'"{HOLE} {name}"', value)
    return text.encode(errors="surrogatepass")


def _believed(nature: Nature, what: str, plain: bytes, **expected: Any) -> Mutant:
    body, headers = nature.sealed(plain)
    if len(body) > LONGEST_BODY:
        # An answer that comes before all was read may be lost with the connection.
        return Mutant(f"{what}, too long", nature.path(), list(headers.items()), body, frozenset({0, 400}))
    wanted = {"statuses": frozenset({200}), "said": b"{}", **expected}
    return Mutant(what, nature.path(), list(headers.items()), body, **wanted)


def misshapen(nature: Nature) -> Mutant:
    """A kind that we know, without something that it must have, or with something else in its place."""
    kind = nature.chance.choice(list(SHAPES))
    event, paths = SHAPES[kind]
    where = nature.chance.choice(["", *paths])
    possible = [one for one in ODD if not (where == "action" and one.startswith("{"))]
    possible = [one for one in possible if not (where in {"users", "message_id_list"} and one == "[]")]
    odd = nature.chance.choice(possible)
    text = odd if not where else _with(event, where, odd if nature.chance.random() < 0.7 else None)
    counted = "unreadable" if any(deep in text for deep in DEEP) else kind  # that not even its envelope can be read
    return _believed(nature, f"{kind} {where}", _event(nature, kind, text), counted=counted)


def unheard(nature: Nature) -> Mutant:
    """A kind that nobody knows, whatever is in it."""
    kind = nature.chance.choice(["new.one_v9", "im.message.receive_v2", "card.action.trigger_v1", "", "x" * 300, "长"])
    return _believed(nature, "unheard", _event(nature, kind, nature.odd(*TEXTS)))


def no_event(nature: Nature) -> Mutant:
    """JSON that is not even an envelope, as a platform of tomorrow or of yesterday may send it."""
    plain = json.loads(nature.inert())
    old = {"ts": "1", "uuid": nature.id(), "token": nature.callbacks.token, "type": "event_callback", "event": {}}
    field = nature.chance.choice(["event_id", "event_type"])
    text = nature.chance.choice([
        json.dumps(old), nature.odd(*TEXTS), _with(plain, "header", nature.odd()), _with(plain, "header", None),
        _with(plain, f"header.{field}", None), _with(plain, f"header.{field}", nature.odd()),
        _with(plain, "header.token", nature.odd()),
    ])  # fmt: skip
    return _believed(nature, "no event", text.encode(), said=None)


def odd_click(nature: Nature) -> Mutant:
    """A button or a form that no card of ours has. Whoever clicks sees something."""
    value = nature.chance.choice(WHOLE)
    name = nature.chance.choice(list(value))
    odd = nature.odd(*TEXTS)
    if name in {"on", "group"} and odd in {"true", "false"}:
        odd = "null"
    click = {"operator": {"open_id": f"ou_{nature.id()}"}, "action": {"value": value, "form_value": {}}}
    click["context"] = {"open_chat_id": nature.chance.choice(["oc_1", KNOWN_CHAT, ""])}
    form = nature.chance.choice(["density", "sections", "slot", "zone", "days", "pause", "other"])
    save = {**click, "action": {"value": encode(SetPreferences(SERIES)), "form_value": {form: 1}}}
    text = nature.chance.choice([
        _with(click, f"action.value.{name}", odd), _with(click, f"action.value.{name}", None),
        _with(click, "action.value.more", odd), _with(click, "action.value", odd),
        _with(save, "action.form_value", odd), _with(save, f"action.form_value.{form}", odd),
    ])  # fmt: skip
    return _believed(nature, f"click {text[:80]}", _event(nature, "card.action.trigger", text), said=None)


def odd_message(nature: Nature) -> Mutant:
    """Text that people do not type, or content that is none."""
    event = json.loads(json.dumps(SHAPES["im.message.receive_v1"][0]))
    event["sender"]["sender_id"]["open_id"] = f"ou_{nature.id()}"
    event["message"] |= {"message_id": f"om_{nature.id()}", "content": "", "mentions": [], "chat_id": "oc_1"}
    event["message"]["message_type"] = nature.chance.choice(["text", "text", "post", "image", "new", ""])
    inner = nature.chance.choice(
        [f'{{"text":{nature.odd(*TEXTS)}}}', nature.odd(*TEXTS), '{"content":[[{"tag":"text"}]]}']
    )
    text = _with(event, *nature.chance.choice([
        ("message.content", json.dumps(inner)), ("message.content", nature.odd(*TEXTS)),
        ("message.mentions", nature.odd(*TEXTS)), ("sender.more", nature.odd(*TEXTS)),
    ]))  # fmt: skip
    return _believed(nature, "message", _event(nature, "im.message.receive_v1", text))


def noise(nature: Nature) -> Mutant:
    """Events about people and groups that nobody knows, with strange names, and fields that nobody asked for."""
    kind, where = nature.chance.choice([
        ("im.chat.member.bot.deleted_v1", "chat_id"), ("im.chat.disbanded_v1", "chat_id"),
        ("im.chat.updated_v1", "chat_id"), ("contact.user.deleted_v3", "object.open_id"),
    ])  # fmt: skip
    event = _with(SHAPES[kind][0], where, nature.chance.choice(TEXTS))
    event = f'{event[:-1]},"more":{nature.odd(*TEXTS)}}}'
    strange = {"event_id": json.dumps(nature.id())[:-1] + nature.chance.choice(TEXTS)[1:]}
    header = nature.chance.choice([{}, {}, strange, {"tenant_key": nature.odd(*TEXTS)}])
    return _believed(nature, f"noise {kind}", _event(nature, kind, event, **header))


def framed(nature: Nature) -> Mutant:
    """What is no HTTP request, or one that nobody should send."""
    body, headers = nature.sealed(nature.effective())
    chance, path = nature.chance, nature.path()
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    start = f"POST {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
    length = f"Content-Length: {len(body)}\r\n"
    sound = f"{start}{lines}{length}\r\n".encode() + body
    few = "X: y\r\n"
    big = nature.callbacks.sealed(b" " * chance.randrange(LONGEST_BODY, 3 * LONGEST_BODY))
    raw = chance.choice([
        sound[: chance.randrange(len(sound))],
        f"{start}{lines}Content-Length: {len(body) + 1}\r\n\r\n".encode() + body,
        f"{start}{lines}Content-Length: -1\r\n\r\n".encode() + body,
        f"{start}{lines}{length}Content-Length: 1\r\n\r\n".encode() + body,
        f"{start}{lines}{length}Transfer-Encoding: chunked\r\n\r\n".encode() + body,
        f"{start}{lines}Transfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n".encode() + body,
        f"{start}{lines}Transfer-Encoding: chunked\r\n\r\nzz\r\n".encode() + body,
        f"{start}{lines}Content-Length: {len(big)}\r\n\r\n".encode() + big,
        f"{start}{'X: y' * 20_000}\r\n{lines}Content-Length: 1\r\n\r\n0".encode(),
        f"{start}{few * 2_000}Content-Length: 1\r\n\r\n0".encode(),
        sound.replace(b"POST", chance.choice([b"GET", b"PUT", b"HEAD", b"OPTIONS", b"DELETE", b"XX", b"post"])),
        sound.replace(path.encode(), chance.choice([b"/feishu", b"/feishu/x", b"//feishu/card", b"/feishu/../card"])),
        sound.replace(b"HTTP/1.1", chance.choice([b"HTTP/9.9", b"HTTP/1.1 ", b"", b"SMTP/1.1"])),
        sound.replace(b"\r\nHost", b"\r\nX\x00: \x01\r\n : x\r\nHost"),
        sound.replace(b"X-Lark-Signature", b"X-Lark-Signature\x00"),
        chance.randbytes(200),
    ])  # fmt: skip
    statuses = frozenset({0, 400, 401, 404, 405, 411, 413, 431})
    return Mutant("framed", path, (), b"", statuses, None, raw=raw)


@dataclass(frozen=True)
class Family:
    """How often there is one of it, and the tables that its members may change."""

    make: Callable[[Nature], Mutant]
    share: int
    may_change: frozenset[str] = frozenset()


HEARD = frozenset({"inbox"})
ANSWERED = HEARD | {"pace", "cards", "deliveries"}
FAMILIES = {
    "forged": Family(forged, 5),
    "unsigned": Family(unsigned, 2),
    "stale": Family(stale, 2),
    "token": Family(wrong_token, 1),
    "cipher": Family(cipher, 4),
    "misshapen": Family(misshapen, 3),
    "unheard": Family(unheard, 1),
    "no event": Family(no_event, 2),
    "click": Family(odd_click, 3, ANSWERED),
    "message": Family(odd_message, 2, ANSWERED),
    "noise": Family(noise, 1, HEARD),
    "framed": Family(framed, 2),
}
