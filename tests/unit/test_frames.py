"""Frames of the long connection, and messages that come in several of them. Source: lark-oapi notes 5."""

from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bot.feishu.frames import CONTROL, DATA, Frame, FrameError, decode, encode
from bot.feishu.link_parts import KEPT_S, MOST_BYTES, MOST_MESSAGES, MOST_PARTS, Parts

PING = "08001000180720002a0c0a0474797065120470696e67"
EVENT = (
    "08051009180720012a0d0a047479706512056576656e742a0f0a0a6d6573736167655f696412016d2a0d0a0874726163655f69641201742a"
    "080a0373756d1201312a080a0373657112013042027b7d"
)
INT32 = st.integers(-(2**31), 2**31 - 1)
UINT64 = st.integers(0, 2**64 - 1)
TEXT = st.text(max_size=40)
FRAMES = st.builds(
    Frame,
    method=INT32,
    headers=st.dictionaries(TEXT, TEXT, max_size=6),
    payload=st.binary(max_size=500),
    seq_id=UINT64,
    log_id=UINT64,
    service=INT32,
    payload_encoding=TEXT,
    payload_type=TEXT,
    log_id_new=TEXT,
)


def test_the_vectors_of_the_notes_hold():
    """Both were checked byte for byte against the official codec."""
    ping = Frame(CONTROL, {"type": "ping"}, service=7)
    headers = {"type": "event", "message_id": "m", "trace_id": "t", "sum": "1", "seq": "0"}
    event = Frame(DATA, headers, b"{}", seq_id=5, log_id=9, service=7)

    assert (encode(ping).hex(), encode(event).hex()) == (PING, EVENT)
    assert (decode(bytes.fromhex(PING)), decode(bytes.fromhex(EVENT))) == (ping, event)


@given(FRAMES)
@example(Frame(DATA, {"": ""}, b"", 2**64 - 1, 0, -1))
def test_what_was_written_is_read_back(frame):
    """Whatever stands in it."""
    assert decode(encode(frame)) == frame


@given(FRAMES, st.lists(st.tuples(st.integers(0, 2000), st.integers(0, 255)), max_size=8), st.integers(0, 2000))
def test_mutated_bytes_are_a_frame_or_a_clean_error(frame, changes, length):
    """Changed and cut anywhere; what is still read is a frame that can be written again."""
    raw = bytearray(encode(frame))
    for at, byte in changes:
        raw[at % len(raw)] = byte
    read_or_refused(bytes(raw[:length]))


@given(FRAMES, st.integers(1, 21))
def test_a_frame_cut_in_its_last_field_is_refused(frame, missing):
    """Never a shorter payload that looks whole."""
    raw = encode(replace(frame, payload=b"x" * 20, log_id_new=""))

    with pytest.raises(FrameError):
        decode(raw[:-missing])


@given(st.binary(max_size=300))
@example(b"\x08" + b"\xff" * 9 + b"\x7f")
@example(b"\x2a\xff\xff\xff\xff\x0f")
def test_any_bytes_are_a_frame_or_a_clean_error(raw):
    """Nothing else is ever raised."""
    read_or_refused(raw)


def read_or_refused(raw: bytes) -> None:
    try:
        frame = decode(raw)
    except FrameError:
        return
    assert decode(encode(frame)) == frame


@given(FRAMES, st.integers(16, 2**29 - 1), st.binary(max_size=20))
def test_unknown_fields_are_passed_over(frame, number, value):
    """The platform may add some: a number, a text, and both fixed widths."""
    later = b"".join(tagged(number, kind) + body for kind, body in ((0, b"\x05"), (1, b"8" * 8), (5, b"4" * 4)))
    later += tagged(number, 2) + bytes([len(value)]) + value

    assert decode(later + encode(frame)) == frame


def tagged(number: int, kind: int) -> bytes:
    tag, out = number << 3 | kind, bytearray()
    while tag > 0x7F:
        out.append(tag & 0x7F | 0x80)
        tag >>= 7
    return bytes([*out, tag])


@pytest.mark.parametrize("missing", [b"\x08\x00", b"\x10\x00", b"\x18\x07", b"\x20\x00"])
def test_a_frame_without_a_required_field_is_refused(missing):
    """Proto2: SeqID, LogID, service and method are always written, zeros too."""
    raw = bytes.fromhex(PING)
    assert missing in raw

    with pytest.raises(FrameError):
        decode(raw.replace(missing, b"", 1))


def part(message: str, number: int, count: int, payload: bytes = b"x") -> tuple[dict[str, str], bytes]:
    return {"message_id": message, "sum": str(count), "seq": str(number)}, payload


@given(st.lists(st.binary(max_size=30), min_size=1, max_size=12), st.randoms())
def test_parts_in_any_order_and_repeated_make_the_message(pieces, chance):
    """The message is there with its last part, once, and nothing stays behind."""
    parts = Parts()
    order = [*range(len(pieces))]
    chance.shuffle(order)
    *before, last = order
    early = [
        parts.add(*part("m", n, len(pieces), pieces[n]), now=0.0) for n in before for _ in range(chance.choice([1, 2]))
    ]

    assert parts.add(*part("m", last, len(pieces), pieces[last]), now=0.0) == b"".join(pieces)
    assert set(early) <= {None}
    assert parts.held_bytes == 0


def test_messages_do_not_mix():
    """Two at a time, one of them twice with another number of parts."""
    parts = Parts()
    parts.add(*part("a", 0, 2, b"a0"), now=0.0)
    parts.add(*part("b", 1, 2, b"b1"), now=0.0)
    parts.add(*part("a", 0, 3, b"other"), now=0.0)

    assert parts.add(*part("b", 0, 2, b"b0"), now=0.0) == b"b0b1"
    assert parts.add(*part("a", 1, 2, b"a1"), now=0.0) == b"a0a1"


def test_parts_are_forgotten_after_a_while():
    """The platform sends the message again; its old parts must not complete it much later."""
    parts = Parts()
    parts.add(*part("m", 0, 2), now=0.0)

    assert parts.add(*part("m", 1, 2), now=KEPT_S + 0.1) is None
    assert parts.held_bytes == 1


@given(
    st.lists(
        st.tuples(st.integers(0, 500), st.integers(0, MOST_PARTS - 1), st.integers(1, MOST_BYTES // 2)),
        min_size=1,
        max_size=60,
    )
)
def test_endless_parts_stay_within_bounds(flood):
    """Neither many messages that never end nor a few huge ones fill the memory."""
    parts = Parts()
    block = bytes(MOST_BYTES // 2)
    for message, number, size in flood:
        parts.add(*part(str(message), number, MOST_PARTS, block[:size]), now=0.0)

        assert parts.held_bytes <= MOST_BYTES


def test_many_begun_messages_push_out_the_oldest():
    """So that a flood cannot keep real messages out either."""
    parts = Parts()
    for number in range(MOST_MESSAGES + 1):
        parts.add(*part(str(number), 0, 2), now=0.0)

    assert parts.held_bytes == MOST_MESSAGES
    assert parts.add(*part("0", 1, 2), now=0.0) is None
    assert parts.add(*part(str(MOST_MESSAGES), 1, 2), now=0.0) == b"xx"


@pytest.mark.parametrize(
    ("count", "number"),
    [("2", "2"), ("2", "-1"), (str(MOST_PARTS + 1), "0"), ("two", "0"), ("2", ""), ("9" * 5000, "0")],
)
def test_a_part_without_a_place_is_refused(count, number):
    """Counts and numbers come from outside."""
    with pytest.raises(FrameError):
        Parts().add({"message_id": "m", "sum": count, "seq": number}, b"x", 0.0)
