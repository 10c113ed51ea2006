"""A server's trace of its own sessions, and the Wireshark dissector for traces.

Each datagram becomes an enhanced packet block of raw IP with made-up IP and UDP headers. The keys
become a decryption secrets block of this project's own type (`records.EQ2_SECRETS`) with the text
of `keys`; Wireshark skips secrets of unknown types. Every method returns the bytes to append to the
file.

The dissector is one Lua script in several files, which are joined in the order of their names.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address, ip_address
from pathlib import Path

from emu.capture.formats.frames import RAW, UDP
from emu.capture.formats.pcap import (
    BYTE_ORDER_MAGIC,
    ENHANCED_PACKET,
    INTERFACE,
    OPTION_RESOLUTION,
    SECRETS,
    SECTION,
)
from emu.capture.formats.records import EQ2_SECRETS, Address
from emu.capture.keys import key_lines
from emu.errors import FileFormatError

MAX_PAYLOAD = 65535 - 40 - 8
"""Largest datagram that fits an IP packet with either header."""
HOP_LIMIT = 64

_PACKET = struct.Struct("<IIIIIII")


class TraceWriter:
    """Encodes a trace: `header` once at the start of the file, then `key` and `datagram`.

    A file may be continued after a restart: another `header` begins a new section.
    """

    __slots__ = ()

    def header(self) -> bytes:
        """Return the section header and the one interface: raw IP, times in microseconds."""
        section = struct.pack("<IHHq", BYTE_ORDER_MAGIC, 1, 0, -1)
        resolution = struct.pack("<HHB3xHH", OPTION_RESOLUTION, 1, 6, 0, 0)
        interface = struct.pack("<HHI", RAW, 0, 0) + resolution
        return _block(SECTION, section) + _block(INTERFACE, interface)

    def datagram(self, t: float, source: Address, destination: Address, payload: bytes) -> bytes:
        """Return the record of one datagram.

        `t` is seconds since the epoch. An address that is not numeric is written as 0.0.0.0.
        Raises `ValueError` when `payload` fits no UDP datagram.
        """
        packet = ip_packet(source, destination, payload)
        # The format has no negative times.
        ticks = max(0, round(t * 1_000_000))
        size = len(packet)
        padding = -size % 4
        length = 32 + size + padding
        return b"".join(
            (
                _PACKET.pack(
                    ENHANCED_PACKET, length, 0, ticks >> 32 & 0xFFFFFFFF, ticks & 0xFFFFFFFF,
                    size, size,
                ),
                packet,
                bytes(padding),
                struct.pack("<I", length),
            )
        )  # fmt: skip

    def key(
        self, session_id: int, *, check_key: int | None = None, rc4_key: bytes | None = None
    ) -> bytes:
        """Return the record of a session's keys; nothing needs to follow or precede it.

        `check_key` is SessionResponse's Key as a number, `rc4_key` the 8 bytes K of
        docs/protocol/transport.md#keys.
        """
        text = key_lines(session_id, check_key=check_key, rc4_key=rc4_key).encode("ascii")
        return _block(SECRETS, struct.pack("<II", EQ2_SECRETS, len(text)) + text)


def ip_packet(source: Address, destination: Address, payload: bytes) -> bytes:
    """Return an IPv4 or IPv6 packet that contains a UDP datagram, with all checksums.

    Raises `ValueError` when `payload` is too long.
    """
    if len(payload) > MAX_PAYLOAD:
        raise ValueError(f"{len(payload)} bytes fit no UDP datagram")
    origin, target = _packed(source[0]), _packed(destination[0])
    if len(origin) != len(target):
        # One packet has one IP version, so an IPv4 address is written inside IPv6.
        origin, target = _mapped(origin), _mapped(target)
    length = 8 + len(payload)
    pseudo = origin + target + struct.pack(">II", length, UDP)
    ports = struct.pack(">HHH", source[1], destination[1], length)
    # In UDP a checksum of 0 means "none", so a computed 0 is sent as FFFF.
    checksum = _checksum(pseudo + ports + payload) or 0xFFFF
    datagram = ports + checksum.to_bytes(2, "big") + payload
    if len(origin) == 16:
        head = struct.pack(">IHBB", 6 << 28, length, UDP, HOP_LIMIT)
        return head + origin + target + datagram
    first = struct.pack(">BBHHHBB", 0x45, 0, 20 + length, 0, 0x4000, HOP_LIMIT, UDP)
    addresses = origin + target
    return first + _checksum(first + addresses).to_bytes(2, "big") + addresses + datagram


def _checksum(data: bytes) -> int:
    """Return the Internet checksum; the remainder by 65535 is the ones' complement sum."""
    if len(data) % 2:
        data += b"\0"
    return (0xFFFF - int.from_bytes(data, "big") % 0xFFFF) % 0xFFFF


@lru_cache(maxsize=4096)
def _packed(host: str) -> bytes:
    try:
        # An IPv6 zone such as "%eth0" has no place in a packet.
        address: IPv4Address | IPv6Address = ip_address(host.partition("%")[0])
    except ValueError:
        address = IPv4Address(0)
    return address.packed


def _mapped(packed: bytes) -> bytes:
    return packed if len(packed) == 16 else bytes(10) + b"\xff\xff" + packed


def _block(kind: int, body: bytes) -> bytes:
    # Blocks of pcapng are multiples of four bytes, and their length stands at both sides of the
    # body.
    body += bytes(-len(body) % 4)
    length = struct.pack("<I", 12 + len(body))
    return struct.pack("<I", kind) + length + body + length


NAMES_MARK = "local NAMES = {} -- @names@"
RANGES_MARK = "local RANGES = {} -- @ranges@"

_PARTS = Path(__file__).parent / "wireshark"


def make_dissector(ranges: Iterable[tuple[int, int, Mapping[int, str]]]) -> str:
    """Return the whole Lua script.

    `ranges` are (lowest client version, highest, name of each opcode number); when two cover one
    version, the earlier is used. Raises `FileFormatError` when a name is not a plain word, because
    it becomes program text.
    """
    names: dict[str, int] = {}
    rows = []
    for lowest, highest, table in ranges:
        pairs = []
        for number, name in sorted(table.items()):
            # The name becomes part of a Lua script; anything but a plain word could change the
            # program.
            if not (name.isascii() and name.replace("_", "").isalnum()):
                raise FileFormatError(f"{name!r} is not an opcode name")
            pairs.append(f"{int(number)}={names.setdefault(name, len(names) + 1)}")
        rows.append(f'    {{ {int(lowest)}, {int(highest)}, "{" ".join(pairs)}" }},')
    words = "\n".join(f'    "{name}",' for name in names)
    text = "\n".join(part.read_text("utf-8") for part in sorted(_PARTS.glob("*.lua")))
    text = text.replace(NAMES_MARK, f"local NAMES = {{\n{words}\n}}", 1)
    return text.replace(RANGES_MARK, "local RANGES = {\n" + "\n".join(rows) + "\n}", 1)
