from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.admin.rcon import LONGEST_TEXT, PacketReader, RconPacket, divide
from emu.errors import LimitExceeded, MalformedMessage, PeerError

IDS = st.integers(-(2**31), 2**31 - 1)
BODIES = st.binary(max_size=300).map(lambda body: body.replace(b"\0", b""))
PACKETS = st.builds(RconPacket, IDS, IDS, BODIES)


@given(st.lists(PACKETS, max_size=6), st.lists(st.integers(1, 50), min_size=1))
def test_packets_come_out_as_they_went_in_however_they_are_cut(
    packets: list[RconPacket], cuts: list[int]
) -> None:
    data = b"".join(packet.encode() for packet in packets)
    reader, found, turn = PacketReader(4096), [], 0
    while data:
        size = cuts[turn % len(cuts)]
        found += reader.receive(data[:size])
        data, turn = data[size:], turn + 1
    assert found == packets
    assert not reader.unfinished


@given(st.lists(st.binary(max_size=200)))
def test_garbage_raises_what_it_may_and_is_not_hoarded(chunks: list[bytes]) -> None:
    reader = PacketReader(512)
    for chunk in chunks:
        try:
            list(reader.receive(chunk))
        except PeerError:
            break
        assert len(reader._data) < 520


def test_one_nul_is_enough_and_a_second_text_is_left_out() -> None:
    short = struct.pack("<iii", 12, 5, 2) + b"abc\0"
    two = struct.pack("<iii", 16, 6, 2) + b"abc\0def\0"
    empty = struct.pack("<iii", 9, 7, 2) + b"\0"
    found = list(PacketReader(4110).receive(short + two + empty))
    assert found == [RconPacket(5, 2, b"abc"), RconPacket(6, 2, b"abc"), RconPacket(7, 2, b"")]


@pytest.mark.parametrize("size", [-(2**31), -1, 0, 8])
def test_impossible_sizes(size: int) -> None:
    with pytest.raises(MalformedMessage):
        list(PacketReader(4110).receive(struct.pack("<i", size)))


@pytest.mark.parametrize("size", [4111, 1 << 20, 2**31 - 1])
def test_large_sizes_are_refused_before_anything_more_is_read(size: int) -> None:
    with pytest.raises(LimitExceeded):
        list(PacketReader(4110).receive(struct.pack("<i", size)))


def test_the_largest_is_taken() -> None:
    packet = RconPacket(1, 2, b"x" * 4100)
    assert list(PacketReader(4110).receive(packet.encode())) == [packet]


@given(st.text(max_size=40), st.integers(0, 400))
def test_an_answer_divided_is_the_answer(text: str, times: int) -> None:
    whole = (text * times).encode("utf-8", "replace").replace(b"\0", b"")
    bodies = divide(whole)
    assert all(len(body) == LONGEST_TEXT for body in bodies[:-1])
    assert len(bodies[-1]) <= LONGEST_TEXT
    for body in bodies:
        body.decode()
    assert b"".join(bodies).replace(b" ", b"") == whole.replace(b" ", b"")


def test_blanks_go_in_front_of_the_last_line_end() -> None:
    bodies = divide(b"line\n" + b"x" * 4090 + "é".encode() * 2)
    assert bodies[0] == b"line \n" + b"x" * 4090
    assert bodies[1] == "éé".encode()
    assert divide(b"x" * 4095 + "é".encode()) == [b"x" * 4095 + b" ", "é".encode()]


def test_an_empty_answer_is_one_body() -> None:
    assert divide(b"") == [b""]
    assert divide(b"\0") == [b""]
    assert [len(body) for body in divide(b"y" * 4096)] == [4096]
