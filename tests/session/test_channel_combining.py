"""Joining small messages and packets."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from emu.session.channel import join_messages, join_packets
from emu.wire.packets import APP_COMBINED, COMBINED

MESSAGES = st.lists(st.binary(min_size=1, max_size=300).map(lambda data: b"\x01" + data))


@given(MESSAGES, st.integers(20, 600), st.sampled_from((10, 253, 1000)), st.integers(2, 20))
def test_joined_messages_are_the_messages_in_order(messages, capacity, part_limit, count_limit):
    out = []
    for payload in join_messages(messages, capacity, part_limit, count_limit):
        if payload[:2] == b"\x00\x19":
            parts = APP_COMBINED.pull(payload).messages
            assert 2 <= len(parts) <= count_limit
            assert len(payload) <= capacity
            assert max(map(len, parts)) <= part_limit
            out += parts
        else:
            out.append(payload)
    assert out == messages


@given(st.lists(st.binary(min_size=2, max_size=300).map(lambda body: b"\x00\x09" + body)))
def test_joined_packets_are_the_packets_in_order(packets):
    out = []
    for packet in join_packets(packets, 510, 254, 300):
        if packet[1] == 3:
            assert len(packet) <= 510
            out += COMBINED.pull(packet).packets
        else:
            out.append(packet)
    assert out == packets


def test_one_alone_is_not_wrapped():
    assert join_messages([b"one"], 500, 253, 300) == [b"one"]
    assert join_packets([b"\x00\x06"], 500, 254, 300) == [b"\x00\x06"]


def test_small_ones_share_and_a_long_one_stands_alone():
    assert join_messages([b"a", b"b", bytes(254), b"c", b"d"], 500, 253, 300) == [
        b"\x00\x19\x01a\x01b",
        bytes(254),
        b"\x00\x19\x01c\x01d",
    ]


def test_a_part_of_255_bytes_and_more_has_a_long_length():
    (joined,) = join_packets([b"\x00\x15\x00\x00", bytes(255)], 500, 400, 300)
    assert joined == b"\x00\x03\x04\x00\x15\x00\x00\xff\x00\xff" + bytes(255)


def test_the_capacity_is_used_to_the_last_byte():
    parts = [b"x" * 100] * 3
    assert len(join_messages(parts, 2 + 3 * 101, 253, 300)) == 1
    assert len(join_messages(parts, 2 + 3 * 101 - 1, 253, 300)) == 2
