import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.admin.ssq.packets import (
    DATAGRAM_BYTES,
    MOST_PACKETS,
    SsqJoiner,
    SsqPacket,
    body_bytes,
    pull_packet,
    push_packet,
    split,
)
from emu.errors import MalformedDatagram
from emu.times import Monotonic

NOW = Monotonic(10.0)


@given(st.integers(0, 255), st.integers(1, 16), st.data(), st.binary(min_size=1))
def test_a_packet_is_read_as_it_was_written(
    number: int, count: int, data: st.DataObject, body: bytes
) -> None:
    packet = SsqPacket(number, count, data.draw(st.integers(0, count - 1)), body)
    assert pull_packet(push_packet(packet)) == packet


def test_the_second_of_three() -> None:
    assert push_packet(SsqPacket(0x5F, 3, 1, b"x")) == bytes.fromhex("5f2178")


@pytest.mark.parametrize("data", [b"", b"\x5d", b"\x5d\x00", b"\x5d\x01x", b"\x5d\x23x"])
def test_what_is_no_packet(data: bytes) -> None:
    with pytest.raises(MalformedDatagram):
        pull_packet(data)


@given(st.binary(min_size=1, max_size=MOST_PACKETS * body_bytes(DATAGRAM_BYTES)), st.randoms())
def test_a_body_is_joined_whatever_the_order(body: bytes, random: object) -> None:
    packets = [pull_packet(data) for data in split(9, body)]
    random.shuffle(packets)  # type: ignore[attr-defined]
    joiner = SsqJoiner(most_bytes=len(body))
    answers = [joiner.join("a", packet, NOW) for packet in packets]
    assert answers == [None] * (len(packets) - 1) + [body]


def test_the_largest_body_fills_all_packets() -> None:
    datagrams = split(1, bytes(MOST_PACKETS * body_bytes(DATAGRAM_BYTES)))
    assert [len(data) for data in datagrams] == [1400] * 16
    assert datagrams[15][1] == 0xFF


def test_senders_are_kept_apart() -> None:
    joiner = SsqJoiner()
    assert joiner.join("a", SsqPacket(1, 2, 0, b"x"), NOW) is None
    assert joiner.join("b", SsqPacket(1, 2, 1, b"y"), NOW) is None
    assert joiner.join("a", SsqPacket(1, 2, 1, b"z"), NOW) == b"xz"


def test_what_is_late_or_too_long_is_forgotten() -> None:
    joiner = SsqJoiner(most_bytes=3)
    joiner.join("a", SsqPacket(1, 2, 0, b"x"), NOW)
    assert joiner.join("a", SsqPacket(1, 2, 1, b"y"), Monotonic(NOW + 2.1)) is None
    joiner.join("b", SsqPacket(1, 2, 0, b"xx"), NOW)
    assert joiner.join("b", SsqPacket(1, 2, 1, b"yy"), NOW) is None
    assert joiner.join("b", SsqPacket(1, 2, 0, b"x"), NOW) is None


def test_a_flood_of_halves_pushes_the_oldest_out() -> None:
    joiner = SsqJoiner(most_pending=4)
    for sender in range(100):
        joiner.join(sender, SsqPacket(1, 2, 0, b"x"), NOW)
    assert joiner.join(95, SsqPacket(1, 2, 1, b"y"), NOW) is None
    assert joiner.join(99, SsqPacket(1, 2, 1, b"y"), NOW) == b"xy"
