"""Capture files built by hand, so that the readers are tested on bytes that they did not write."""

from __future__ import annotations

import struct

from emu.capture.formats.pcap import CaptureReader
from emu.capture.formats.records import Datagram, Record

CLIENT = ("10.0.0.1", 40001)
SERVER = ("10.0.0.2", 9100)

# A whole IPv4/UDP packet, 10.0.0.1:40001 > 10.0.0.2:9100, payload "hello"; checksums left zero.
UDP_HELLO = bytes.fromhex("9c41 238c 000d 0000") + b"hello"
IPV4_HELLO = bytes.fromhex("4500 0021 0001 0000 4011 0000 0a000001 0a000002") + UDP_HELLO
IPV6_SOURCE = bytes.fromhex("20010db8000000000000000000000001")
IPV6_TARGET = bytes.fromhex("20010db8000000000000000000000002")
HELLO = (CLIENT, SERVER, b"hello")


def ipv6(next_header: int, body: bytes) -> bytes:
    """Return an IPv6 packet from 2001:db8::1 to 2001:db8::2."""
    head = struct.pack(">IHBB", 6 << 28, len(body), next_header, 64)
    return head + IPV6_SOURCE + IPV6_TARGET + body


def classic(frames: list[bytes], *, magic: int = 0xA1B2C3D4, order: str = "<", link: int = 101,
            fraction: int = 500_000) -> bytes:  # fmt: skip
    """Return a classic pcap file; frame i has the time i seconds and `fraction` ticks."""
    out = struct.pack(order + "IHHiIII", magic, 2, 4, 0, 0, 65535, link)
    for second, frame in enumerate(frames):
        out += struct.pack(order + "IIII", second, fraction, len(frame), len(frame)) + frame
    return out


def block(kind: int, body: bytes, order: str = "<") -> bytes:
    """Return one pcapng block around `body`."""
    body += bytes(-len(body) % 4)
    length = struct.pack(order + "I", len(body) + 12)
    return struct.pack(order + "I", kind) + length + body + length


def section(order: str = "<") -> bytes:
    """Return a section header block of unknown section length."""
    return block(0x0A0D0D0A, struct.pack(order + "IHHq", 0x1A2B3C4D, 1, 0, -1), order)


def interface(link: int = 101, order: str = "<", snap: int = 0, options: bytes = b"") -> bytes:
    """Return an interface description block."""
    return block(1, struct.pack(order + "HHI", link, 0, snap) + options, order)


def option(code: int, value: bytes, order: str = "<") -> bytes:
    """Return one option with its padding."""
    return struct.pack(order + "HH", code, len(value)) + value + bytes(-len(value) % 4)


def enhanced(frame: bytes, ticks: int = 1_500_000, order: str = "<", number: int = 0) -> bytes:
    """Return an enhanced packet block."""
    head = struct.pack(
        order + "IIIII", number, ticks >> 32, ticks & 0xFFFFFFFF, len(frame), len(frame)
    )
    return block(6, head + frame, order)


def read_all(data: bytes, step: int = 1 << 20) -> list[Record]:
    """Return every record of a whole file that arrives in pieces of `step` bytes."""
    reader = CaptureReader()
    records: list[Record] = []
    for at in range(0, len(data), step):
        records += reader.receive_data(data[at : at + step])
    reader.close()
    return records


def datagrams(data: bytes) -> list[tuple[tuple[str, int], tuple[str, int], bytes]]:
    """Return (source, destination, payload) of every datagram of a whole file."""
    return [
        (record.source, record.destination, record.payload)
        for record in read_all(data)
        if isinstance(record, Datagram)
    ]
