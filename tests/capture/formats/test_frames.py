"""Link layers, IP, fragments and UDP, from bytes written by hand."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emu.capture.formats.frames import MAX_FRAGMENT_PIECES, MAX_FRAGMENTED, DatagramReader
from tests.support.examples import tries
from tests.support.files.captures import CLIENT, HELLO, IPV4_HELLO, SERVER, UDP_HELLO, ipv6

IPV6_HELLO = ipv6(17, UDP_HELLO)
IPV6_ENDS = (("2001:db8::1", 40001), ("2001:db8::2", 9100))
MAC = bytes.fromhex("020000000001 020000000002")


def read(link, *frames):
    reader = DatagramReader()
    results = [reader.read_frame(1.0, link, frame) for frame in frames]
    return results[-1], reader.left_out


@pytest.mark.parametrize(
    ("link", "frame"),
    [
        (1, MAC + b"\x08\x00" + IPV4_HELLO),
        (1, MAC + b"\x08\x00" + IPV4_HELLO + bytes(13)),  # Ethernet padding
        (1, MAC + b"\x81\x00\x00\x05\x08\x00" + IPV4_HELLO),
        (1, MAC + b"\x88\xa8\x00\x05\x81\x00\x00\x07\x08\x00" + IPV4_HELLO),
        (101, IPV4_HELLO),
        (12, IPV4_HELLO),
        (228, IPV4_HELLO),
        (0, b"\x02\0\0\0" + IPV4_HELLO),
        (0, b"\0\0\0\x02" + IPV4_HELLO),
        (108, b"\0\0\0\x02" + IPV4_HELLO),
        (113, bytes(14) + b"\x08\x00" + IPV4_HELLO),
        (276, b"\x08\x00" + bytes(18) + IPV4_HELLO),
        (101, b"\x46" + IPV4_HELLO[1:2] + b"\0\x25" + IPV4_HELLO[4:20] + b"\1\1\1\0" + UDP_HELLO),
        (101, IPV4_HELLO[:2] + b"\0\0" + IPV4_HELLO[4:]),  # length 0: segmentation offload
    ],
)
def test_every_link_type_gives_the_datagram(link, frame):
    datagram, left_out = read(link, frame)
    assert (datagram.source, datagram.destination, datagram.payload) == HELLO
    assert datagram.t == 1.0
    assert not left_out


@pytest.mark.parametrize(
    ("link", "frame"),
    [
        (1, MAC + b"\x86\xdd" + IPV6_HELLO),
        (101, IPV6_HELLO),
        (229, IPV6_HELLO),
        (0, b"\x1e\0\0\0" + IPV6_HELLO),
        (276, b"\x86\xdd" + bytes(18) + IPV6_HELLO),
        (101, ipv6(0, b"\x11\x00" + bytes(6) + UDP_HELLO)),  # hop-by-hop options
        (101, ipv6(0, b"\x3c\x01" + bytes(14) + b"\x11\x00" + bytes(6) + UDP_HELLO)),
        (101, ipv6(51, b"\x11\x04" + bytes(22) + UDP_HELLO)),  # authentication header
        (101, ipv6(44, b"\x11\x00\x00\x00" + b"\0\0\0\1" + UDP_HELLO)),  # atomic fragment
    ],
)
def test_ipv6_and_its_extension_headers(link, frame):
    datagram, left_out = read(link, frame)
    assert (datagram.source, datagram.destination) == IPV6_ENDS
    assert datagram.payload == b"hello"
    assert not left_out


def test_an_ipv4_address_in_ipv6_is_shown_as_ipv4():
    mapped = bytes(10) + b"\xff\xff"
    frame = struct.pack(">IHBB", 6 << 28, len(UDP_HELLO), 17, 64)
    frame += mapped + b"\x0a\0\0\1" + mapped + b"\x0a\0\0\2" + UDP_HELLO
    datagram, _ = read(101, frame)
    assert (datagram.source, datagram.destination) == (CLIENT, SERVER)


@pytest.mark.parametrize(
    ("link", "frame", "reason"),
    [
        (1, MAC + b"\x08\x06" + bytes(28), "frames that are not IP"),
        (1, b"", "frames that are not IP"),
        (113, bytes(16), "frames that are not IP"),
        (101, b"\x15" + bytes(40), "frames that are not IP"),
        (195, bytes(40), "frames of a link type that is not read"),
        (101, b"", "frames cut short"),
        (0, b"\2\0\0\0", "frames cut short"),
        (101, IPV4_HELLO[:19], "IP headers cut short or garbled"),
        (101, b"\x44" + IPV4_HELLO[1:], "IP headers cut short or garbled"),
        (101, IPV4_HELLO[:3] + b"\x05" + IPV4_HELLO[4:], "IP headers cut short or garbled"),
        (101, IPV4_HELLO[:9] + b"\x06" + IPV4_HELLO[10:], "IP packets that are not UDP"),
        (101, IPV4_HELLO[:-1], "packets cut short by the capture"),
        (101, IPV6_HELLO[:-1], "packets cut short by the capture"),
        (101, IPV6_HELLO[:30], "IP headers cut short or garbled"),
        (101, ipv6(6, bytes(20)), "IP packets that are not UDP"),
        (101, ipv6(0, (b"\0\0" + bytes(6)) * 40), "IP packets that are not UDP"),
        (101, ipv6(17, b"\0\1\0\2\0"), "UDP headers cut short"),
        (101, ipv6(17, b"\0\1\0\2\0\7\0\0"), "packets cut short by the capture"),
        (101, ipv6(17, b"\0\1\0\2\0\x09\0\0"), "packets cut short by the capture"),
    ],
)
def test_what_is_no_datagram_is_counted(link, frame, reason):
    datagram, left_out = read(link, frame)
    assert datagram is None
    assert dict(left_out) == {reason: 1}


def fragment(offset, more, body, identity=7):
    place = offset // 8 | (0x2000 if more else 0)
    head = struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(body), identity, place, 64, 17, 0)
    return head + bytes([10, 0, 0, 1, 10, 0, 0, 2]) + body


def test_ipv4_fragments_in_any_order_and_twice():
    payload = bytes(range(200)) * 10
    udp = struct.pack(">HHHH", 40001, 9100, 8 + len(payload), 0) + payload
    parts = [fragment(at, at + 800 < len(udp), udp[at : at + 800]) for at in range(0, 2008, 800)]
    for order in ([0, 1, 2], [2, 0, 1], [1, 1, 2, 0], [2, 1, 0]):
        datagram, left_out = read(101, *[parts[n] for n in order])
        assert (datagram.source, datagram.destination) == (CLIENT, SERVER)
        assert datagram.payload == payload
        assert not left_out


def test_ipv6_fragments():
    def part(offset, more, body):
        return ipv6(44, struct.pack(">BBHI", 17, 0, offset | more, 99) + body)

    datagram, left_out = read(101, part(0, 1, UDP_HELLO[:8]), part(8, 0, UDP_HELLO[8:]))
    assert datagram.payload == b"hello"
    assert not left_out


def test_fragments_are_bounded_and_counted():
    reader = DatagramReader()
    for identity in range(MAX_FRAGMENTED + 3):
        assert reader.read_frame(0.0, 101, fragment(0, True, bytes(8), identity)) is None
    assert reader.fragments_waiting() == MAX_FRAGMENTED
    assert reader.left_out == {"fragmented packets never completed": 3}


def test_fragments_past_the_end_or_without_end_are_garbled():
    reader = DatagramReader()
    assert reader.read_frame(0.0, 101, fragment(65528, True, bytes(16))) is None
    for number in range(MAX_FRAGMENT_PIECES + 1):
        assert reader.read_frame(0.0, 101, fragment(number * 8, True, bytes(8))) is None
    assert reader.left_out == {"fragmented packets that are garbled": 2}
    assert reader.fragments_waiting() == 0


@given(st.sampled_from([0, 1, 101, 113, 276, 999]), st.binary(max_size=120), st.booleans())
@tries(150)
def test_no_bytes_raise_and_each_frame_is_a_datagram_or_counted(link, garbage, ip_first):
    frame = IPV4_HELLO[:10] + garbage if ip_first and link == 101 else garbage
    reader = DatagramReader()
    datagram = reader.read_frame(0.0, link, frame)
    held = reader.fragments_waiting()
    assert (datagram is not None) + sum(reader.left_out.values()) + held == 1
