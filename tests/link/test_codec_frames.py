from __future__ import annotations

import struct
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.errors import LimitExceeded, LocalProtocolError, MalformedMessage, PeerError
from emu.link.codec import KEEP_ALIVE, MAX_FRAME_SIZE, LinkFrame, LinkFrameReader, encode_frame
from tests.support.examples import tries


def compressed(payload: bytes, announced: int, opcode: int = 0x1234) -> bytes:
    body = struct.pack("<I", announced) + zlib.compress(payload)
    return struct.pack("<IBH", 7 + len(body), 1, opcode) + body


def read(data: bytes, reader: LinkFrameReader | None = None) -> list[LinkFrame]:
    return list((reader or LinkFrameReader()).receive(data))


def test_recorded_frames_are_read() -> None:
    # docs/protocol/link.md#frame (keep-alive) and a recorded LSStatus frame
    assert bytes.fromhex("07000000000000") == KEEP_ALIVE
    stream = KEEP_ALIVE + bytes.fromhex("1400000000011001000000000000000000000032")
    status = LinkFrame(0x1001, bytes.fromhex("01000000000000000000000032"))
    assert read(stream) == [LinkFrame(0), status]


@given(
    st.lists(st.tuples(st.integers(0, 0xFFFF), st.binary(max_size=60)), max_size=8), st.randoms()
)
@tries(50)
def test_any_cut_of_the_stream_gives_the_same_frames(frames: list, random: object) -> None:
    stream = b"".join(encode_frame(opcode, payload) for opcode, payload in frames)
    reader, out, rest = LinkFrameReader(), [], stream
    while rest:
        cut = random.randint(1, len(rest))  # type: ignore[attr-defined]
        out += read(rest[:cut], reader)
        rest = rest[cut:]
    assert out == [LinkFrame(opcode, payload) for opcode, payload in frames]
    assert not reader.unfinished


@given(st.binary(max_size=300), st.booleans())
@tries(200)
def test_garbage_gives_frames_or_a_peer_error(data: bytes, plausible: bool) -> None:
    if plausible:
        data = struct.pack("<IB", len(data) + 5, data[0] & 3 if data else 0) + data
    try:
        frames = read(data)
    except PeerError:
        return
    assert all(len(frame.payload) < MAX_FRAME_SIZE for frame in frames)


@pytest.mark.parametrize("size", [0, 1, 6])
def test_a_size_below_the_header_is_refused(size: int) -> None:
    with pytest.raises(MalformedMessage, match="below header"):
        read(struct.pack("<I", size))


def test_a_frame_at_the_limit_is_refused_from_its_first_four_bytes_and_one_below_read() -> None:
    with pytest.raises(LimitExceeded, match="frame too large"):
        read(struct.pack("<I", MAX_FRAME_SIZE))
    largest = encode_frame(5, bytes(MAX_FRAME_SIZE - 8))
    assert read(largest) == [LinkFrame(5, bytes(MAX_FRAME_SIZE - 8))]
    with pytest.raises(LocalProtocolError):
        encode_frame(5, bytes(MAX_FRAME_SIZE - 7))


def test_compressed_and_destination_frames_are_opened() -> None:
    payload = b"text " * 100
    packed = zlib.compress(payload)
    frame = struct.pack("<IBHII", 15 + len(packed), 3, 9, len(payload), 77) + packed
    assert read(frame) == [LinkFrame(9, payload, 77, inflated=500)]
    assert read(compressed(payload, len(payload))) == [LinkFrame(0x1234, payload, inflated=500)]
    only = struct.pack("<IBHI", 14, 2, 9, 77) + b"abc"
    assert read(only) == [LinkFrame(9, b"abc", 77)]


@pytest.mark.parametrize("announced", [0, 99, 101])
def test_an_inflated_size_that_is_not_the_announced_one_is_refused(announced: int) -> None:
    with pytest.raises(MalformedMessage, match="announced"):
        read(compressed(bytes(100), announced))


@pytest.mark.slow
def test_a_bomb_is_never_inflated_past_what_it_announced() -> None:
    bomb = compressed(bytes(50_000_000), 1000)
    assert len(bomb) < 100_000
    with pytest.raises(MalformedMessage, match="announced"):
        read(bomb)
    with pytest.raises(LimitExceeded, match="inflated"):
        read(compressed(bytes(50_000_000), 50_000_000))


@pytest.mark.parametrize(
    ("frame", "text"),
    [
        (struct.pack("<IBHI", 11, 1, 9, 4), "announced"),
        (struct.pack("<IBHI", 11, 3, 9, 4), "flags ask for"),
        (struct.pack("<IBH", 7, 2, 9), "flags ask for"),
        (struct.pack("<IBH", 7, 4, 9), "unknown frame flags"),
        (struct.pack("<IBHI", 15, 1, 9, 4) + b"junk", "bad zlib"),
        (struct.pack("<IBHI", 19, 1, 9, 4) + zlib.compress(b"abcd")[:8], "announced"),
    ],
)
def test_frames_that_do_not_fit_their_flags_are_refused(frame: bytes, text: str) -> None:
    with pytest.raises(MalformedMessage, match=text):
        read(frame)


def test_data_after_the_zlib_stream_is_refused() -> None:
    body = struct.pack("<I", 4) + zlib.compress(b"abcd") + b"x"
    with pytest.raises(MalformedMessage):
        read(struct.pack("<IBH", 7 + len(body), 1, 3) + body)


def test_a_reader_holds_no_more_than_one_unfinished_frame() -> None:
    reader = LinkFrameReader()
    for _ in range(50):
        assert len(read(encode_frame(1, bytes(1000)) + b"\x20\0\0", reader)) == 1
        assert reader.unfinished
        assert len(reader._buffer) == 3
        assert read(b"\0" + bytes(28), reader) == [LinkFrame(0, bytes(25))]
    assert not reader.unfinished
