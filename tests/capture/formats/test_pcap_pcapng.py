"""Pcapng blocks, built by hand in both byte orders."""

from __future__ import annotations

import struct

import pytest

from emu.capture.formats.pcap import MAX_BLOCK, MAX_INTERFACES, CaptureReader
from emu.capture.formats.records import Datagram, Secrets
from emu.errors import FileFormatError
from tests.support.files.captures import (
    HELLO,
    IPV4_HELLO,
    block,
    datagrams,
    enhanced,
    interface,
    option,
    read_all,
    section,
)


@pytest.mark.parametrize("order", ["<", ">"])
def test_enhanced_packets_in_both_byte_orders(order):
    data = section(order) + interface(order=order) + enhanced(IPV4_HELLO, order=order)
    assert read_all(data) == [Datagram(1.5, *HELLO)]


@pytest.mark.parametrize(
    ("options", "ticks", "t"),
    [
        (b"", 2_500_000, 2.5),
        (option(9, b"\x06"), 2_500_000, 2.5),
        (option(9, b"\x09"), 2_500_000_000, 2.5),
        (option(9, b"\x03"), 2500, 2.5),
        (option(9, b"\x81"), 5, 2.5),
        (option(9, b"\x8a"), 2560, 2.5),
        (option(14, struct.pack("<q", 1000)), 2_500_000, 1002.5),
        (option(14, struct.pack("<q", -10)), 2_500_000, -7.5),
        (option(2, b"eth0") + option(9, b"\x09") + option(0, b""), 2_500_000_000, 2.5),
        (option(0, b"") + option(9, b"\x09"), 2_500_000, 2.5),
        (option(9, b"\x7f"), 1, 1e-127),
        (option(9, b"\xff"), 1 << 63, 2.0**-64),
    ],
)
def test_time_resolution_and_offset(options, ticks, t):
    data = section() + interface(options=options) + enhanced(IPV4_HELLO, ticks)
    (record,) = read_all(data)
    assert record.t == t


def test_simple_and_old_packets():
    simple = block(3, struct.pack("<I", len(IPV4_HELLO)) + IPV4_HELLO)
    old = block(
        2, struct.pack("<HHIIII", 0, 65535, 0, 3_000_000, len(IPV4_HELLO), 900) + IPV4_HELLO
    )
    records = read_all(section() + interface() + old + simple)
    # A simple packet has no time of its own: it takes the last one.
    assert records == [Datagram(3.0, *HELLO)] * 2


def test_simple_packet_is_cut_at_the_snap_length():
    frame = IPV4_HELLO + bytes(20)
    simple = block(3, struct.pack("<I", 5000) + frame[: len(IPV4_HELLO)])
    data = section() + interface(snap=len(IPV4_HELLO)) + simple
    assert datagrams(data) == [HELLO]


def test_several_interfaces_and_sections():
    ethernet = bytes(12) + b"\x08\x00" + IPV4_HELLO
    one = section() + interface() + interface(1) + enhanced(ethernet, number=1)
    two = section(">") + interface(order=">") + enhanced(IPV4_HELLO, order=">")
    assert datagrams(one + two) == [HELLO, HELLO]


def test_a_new_section_forgets_the_interfaces():
    with pytest.raises(FileFormatError, match="no interface 0"):
        read_all(section() + interface() + section() + enhanced(IPV4_HELLO))


def test_other_blocks_are_skipped_and_secrets_are_read():
    others = block(4, b"names") + block(5, bytes(40)) + block(0xBAD, b"\1\2\3\4custom")
    secrets = block(10, struct.pack("<II", 0x544C534B, 5) + b"CLIEN")
    data = section() + interface() + others + secrets + enhanced(IPV4_HELLO) + others
    assert read_all(data) == [Secrets(0x544C534B, b"CLIEN"), Datagram(1.5, *HELLO)]


def test_a_huge_unknown_block_is_skipped_without_being_held():
    reader = CaptureReader()
    size = 400_000_000
    head = section() + interface() + struct.pack("<II", 0x1234, size)
    assert list(reader.receive_data(head)) == []
    left = size - 8
    piece = bytes(1_000_000)
    while left:
        part = piece[:left]
        assert list(reader.receive_data(part)) == []
        left -= len(part)
    assert list(reader.receive_data(enhanced(IPV4_HELLO))) == [Datagram(1.5, *HELLO)]
    reader.close()


def test_a_file_that_ends_inside_a_skipped_block_is_cut_off():
    with pytest.raises(FileFormatError, match="cut off"):
        read_all(section() + struct.pack("<III", 0x1234, 100, 0))


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (struct.pack("<IIIHHqI", 0x0A0D0D0A, 28, 0x11111111, 1, 0, -1, 28), "no byte order"),
        (section() + struct.pack("<III", 6, 4, 0), "block of 4 bytes"),
        (section() + struct.pack("<III", 6, 0xFFFFFFFF, 0), "block of 4294967295 bytes"),
        (section() + struct.pack("<III", 6, MAX_BLOCK + 4, 0), "packet block of"),
        (section() + interface() + enhanced(IPV4_HELLO)[:-4] + bytes(4), "lengths differ"),
        (section() + block(6, bytes(8)), "too short for its type"),
        (section() + block(1, b""), "too short for its type"),
        (section() + interface() + block(6, struct.pack("<IIIII", 0, 0, 0, 9, 9)), "too short"),
        (section() + block(10, struct.pack("<II", 1, 900)), "too short"),
        (section() + block(3, struct.pack("<I", 4) + bytes(4)), "no interface 0"),
        (section() + interface() + enhanced(IPV4_HELLO, number=7), "no interface 7"),
        (section() + interface() * (MAX_INTERFACES + 1), "more than"),
        (section()[:20], "cut off"),
        (struct.pack("<IIIHHqI", 0x0A0D0D0A, 28, 0x1A2B3C4D, 9, 1, -1, 28), "version 9.1 is not"),
        (struct.pack("<IIII", 0x0A0D0D0A, 16, 0x1A2B3C4D, 16), "too short for its type"),
        (section() + struct.pack("<III", 5, 0, 0), "block of 0 bytes"),
        (section() + struct.pack("<III", 5, 13, 0), "block of 13 bytes"),
        (section() + block(10, b"abc"), "too short for its type"),
        (section() + interface() + struct.pack("<IIII", 1, 20, 1, 0) + bytes(4), "lengths differ"),
        ((section() + interface() + enhanced(IPV4_HELLO))[:-2], "cut off"),
    ],
)
def test_damage_is_one_clear_error(data, text):
    with pytest.raises(FileFormatError, match=text):
        read_all(data)
