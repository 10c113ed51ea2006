from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.errors import MalformedMessage, StructValueError
from emu.structs.packed import (
    DeltaBase,
    pack,
    pack_before,
    pack_counted,
    pack_stream,
    read_oversized,
    reverses_literals,
    unpack,
    unpack_counted,
    unpack_stream,
    xor,
)

RUNS = st.lists(
    st.binary(min_size=1, max_size=20) | st.integers(1, 400).map(bytes), max_size=12
).map(b"".join)
"""Bytes as structs have them: literals between long runs of zeros."""

EXAMPLES = [
    # docs/protocol/structs.md#packed
    (546, "0000000500000709 000000000000000000 0a0b", "09000000 03 99 090705 07 83 0b0a"),
    (374, "0000000500000709 000000000000000000 0a0b", "09000000 03 99 050709 07 83 0a0b"),
    # docs/protocol/structs.md#packed
    (546, "00000011002233000000440000000000", "07000000 03 8d 332211 81 44"),
    (2, "00000011002233000000440000000000", "07000000 03 8d 112233 81 44"),
    (1, "00000011002233000000440000000000", "07000000 03 8d 332211 81 44"),
]
MOVE = "10 b5 012c4040 27 81 03 83 0340 0c"
"""The change of a position of 88 bytes (docs/protocol/world/movement.md#updates)."""
MOVED = {16: 0x40, 18: 0x40, 20: 0x2C, 21: 0x01, 62: 0x03, 69: 0x40, 70: 0x03}
GHOST = [
    # docs/protocol/world/recorded.md#update-ghost: nothing; hit points and power; the sitting; the
    # standing up
    (88, "58", {}), (1089, "91 4f4e 7f7f7f7f7f7f7f7f 42", {0: 0x4E, 4: 0x4F}),
    (1089, "7f7f7f7f7f7f7f7f 41 83 021a 01", {1081: 0x1A, 1082: 0x02}),
    (1089, "7f7f7f7f7f7f7f7f 41 81 01 01", {1081: 0x01}),
]  # fmt: skip


def reference(data: bytes, *, reverse: bool) -> bytes:
    """Pack as docs/protocol/structs.md#packed describes it, byte after byte."""
    out = bytearray()
    zeros = at = 0
    while at < len(data):
        if data[at] == 0:
            zeros, at = zeros + 1, at + 1
            if zeros == 127:
                out.append(127)
                zeros = 0
            continue
        if zeros:
            out.append(zeros)
            zeros = 0
        group = data[at : at + 7]
        literals = [byte for byte in group if byte]
        out.append(0x80 | sum(1 << place for place, byte in enumerate(group) if byte))
        out += bytes(reversed(literals) if reverse else literals)
        at += len(group)
    if zeros:
        out.append(zeros)
    return bytes(out)


def bytes_with(size: int, values: dict[int, int]) -> bytes:
    """Return zeros with some values in them."""
    made = bytearray(size)
    for place, value in values.items():
        made[place] = value
    return bytes(made)


@pytest.mark.parametrize(("version", "raw", "packed"), EXAMPLES)
def test_the_worked_examples_byte_for_byte(version: int, raw: str, packed: str) -> None:
    data, stream = bytes.fromhex(raw), bytes.fromhex(packed)
    assert pack(data, version) == stream
    assert unpack(stream, len(data), version) == (data, len(stream))


def test_the_worked_example_of_a_move() -> None:
    stream = bytes.fromhex(MOVE)
    delta = bytes_with(88, MOVED)
    assert pack_stream(delta, reverse=True) == stream
    assert unpack_stream(b"zz" + stream + b"zz", 88, reverse=True, offset=2) == (
        delta, 2 + len(stream),
    )  # fmt: skip


@pytest.mark.parametrize(("size", "stream", "values"), GHOST)
def test_recorded_changes_of_ghosts(size: int, stream: str, values: dict[int, int]) -> None:
    delta = bytes_with(size, values)
    assert pack_stream(delta, reverse=True) == bytes.fromhex(stream)
    assert unpack_stream(bytes.fromhex(stream), size, reverse=True)[0] == delta


def test_a_group_at_the_end_reaches_beyond_what_is_wanted() -> None:
    # docs/protocol/structs.md#packed
    assert unpack_stream(bytes.fromhex("81 05"), 3, reverse=True) == (b"\x05\0\0", 2)
    assert unpack_stream(bytes.fromhex("ff 07060504030201"), 3, reverse=True) == (
        b"\x01\x02\x03",
        8,
    )
    assert unpack_stream(bytes.fromhex("7f"), 3, reverse=True) == (bytes(3), 1)


@given(data=RUNS, reverse=st.booleans())
def test_packing_is_what_the_rules_say_and_unpacks(data: bytes, reverse: bool) -> None:
    stream = pack_stream(data, reverse=reverse)
    assert stream == reference(data, reverse=reverse)
    assert unpack_stream(stream + b"\xff", len(data), reverse=reverse) == (data, len(stream))


@given(data=st.binary(max_size=60), after=st.binary(min_size=6, max_size=60), reverse=st.booleans())
def test_a_stream_can_be_packed_in_two_parts(data: bytes, after: bytes, *, reverse: bool) -> None:
    first, taken = pack_before(data, after, reverse=reverse)
    whole = first + pack_stream(after[taken:], reverse=reverse)
    assert 0 <= taken < 7
    assert unpack_stream(whole, len(data + after), reverse=reverse) == (data + after, len(whole))


@given(
    data=RUNS,
    version=st.sampled_from([0, 1, 2, 374, 375, 546, 64753]),
    before=st.binary(max_size=5),
)
def test_the_length_in_front(data: bytes, version: int, before: bytes) -> None:
    packed = pack(data, version)
    assert int.from_bytes(packed[:4], "little") == len(packed) - 4
    assert unpack(before + packed + b"z", len(data), version, len(before)) == (
        data, len(before) + len(packed),
    )  # fmt: skip


def test_literals_are_reversed_but_from_2_to_374() -> None:
    assert [reverses_literals(version) for version in (0, 1, 2, 374, 375, 546)] == [
        True, True, False, False, True, True,
    ]  # fmt: skip


@given(data=st.binary(max_size=60), size=st.integers(0, 300))
def test_garbage_unpacks_to_the_wanted_size_or_is_malformed(data: bytes, size: int) -> None:
    try:
        made, end = unpack_stream(data, size, reverse=True)
    except MalformedMessage:
        return
    assert len(made) == size
    assert end <= len(data)


@pytest.mark.parametrize(
    ("packed", "size"),
    [("", 0), ("010000", 1), ("02000000 01", 1), ("01000000 02", 3), ("01000000 81", 1),
     ("02000000 83 01", 2), ("02000000 0105", 1), ("ffffffff 01", 1), ("00000000", 1)],
)  # fmt: skip
def test_streams_that_do_not_fit_are_malformed(packed: str, size: int) -> None:
    with pytest.raises(MalformedMessage):
        unpack(bytes.fromhex(packed), size, 546)


def test_codes_of_no_zeros_cannot_hang_a_reader() -> None:
    with pytest.raises(MalformedMessage):
        unpack_stream(bytes(100_000), 1, reverse=True)


@given(pair=st.integers(0, 40).flatmap(
    lambda size: st.tuples(*[st.binary(min_size=size, max_size=size)] * 2)))  # fmt: skip
def test_xor_is_its_own_inverse(pair: tuple[bytes, bytes]) -> None:
    one, other = pair
    assert xor(one, other) == bytes(a ^ b for a, b in zip(one, other, strict=True))
    assert xor(xor(one, other), other) == one


def test_xor_wants_the_same_length() -> None:
    with pytest.raises(StructValueError):
        xor(b"a", b"ab")


@given(states=st.lists(st.binary(min_size=12, max_size=12), min_size=1, max_size=6))
def test_deltas_lead_the_other_end_through_every_state(states: list[bytes]) -> None:
    sender, receiver = DeltaBase(12), DeltaBase(12)
    first = sender.encode(states[0])
    assert first == states[0]
    assert receiver.decode(first) == states[0]
    for state in states[1:]:
        assert receiver.decode(sender.encode(state)) == state
        assert sender.last == receiver.last == state
    assert sender.encode(states[-1]) == bytes(12)


def test_a_base_can_begin_again() -> None:
    base = DeltaBase(2)
    base.encode(b"ab")
    base.reset()
    assert base.last == bytes(2)
    base.reset(b"xy")
    assert base.encode(b"xy") == bytes(2)


def test_a_delta_must_have_the_length_of_its_base() -> None:
    base = DeltaBase(2)
    with pytest.raises(MalformedMessage):
        base.decode(b"abc")
    with pytest.raises(StructValueError):
        base.encode(b"abc")
    with pytest.raises(StructValueError):
        base.reset(b"abc")
    assert base.last == bytes(2)


@given(
    records=st.lists(st.binary(min_size=21, max_size=21), max_size=5), tail=st.binary(max_size=2)
)
def test_count_packets_both_ways(records: list[bytes], tail: bytes) -> None:
    raw = b"".join(records)
    packet = pack_counted(len(records), raw, tail, 546)
    assert packet[:2] == len(records).to_bytes(2, "little")
    assert unpack_counted(packet, 21, len(tail), 546) == (len(records), raw, tail)


def test_an_empty_spell_book_is_the_recorded_one() -> None:
    # docs/protocol/world/recorded.md#examples
    assert pack_counted(0, b"", b"", 546) == bytes(6)


@pytest.mark.parametrize(
    "packet", ["0000", "0100 00000000", "0000 00000000 00", "ffff 01000000 7f"]
)
def test_count_packets_that_do_not_fit_are_malformed(packet: str) -> None:
    with pytest.raises(MalformedMessage):
        unpack_counted(bytes.fromhex(packet), 21, 0, 546)


def test_count_packets_are_bounded() -> None:
    with pytest.raises(MalformedMessage, match="limit"):
        unpack_counted(b"\xff\xff" + bytes(4), 110, 0, 546, limit=100_000)
    with pytest.raises(StructValueError):
        pack_counted(65_536, b"", b"", 546)


@pytest.mark.parametrize(
    ("data", "at", "found"),
    [("05", 0, (5, 1)), ("00fe", 1, (254, 2)), ("ff0001", 0, (256, 3)), ("ffff0007", 0, (255, 3))],
)
def test_an_oversized_number_ends_where_its_bytes_end(
    data: str, at: int, found: tuple[int, int]
) -> None:
    """docs/protocol/structs.md#oversized: below 255 one byte, else FF and a u16."""
    assert read_oversized(bytes.fromhex(data), at) == found


@pytest.mark.parametrize("data", ["", "ff", "ff00"])
def test_an_oversized_number_that_is_cut_is_malformed(data: str) -> None:
    with pytest.raises(MalformedMessage):
        read_oversized(bytes.fromhex(data), 0)
