"""The pcapng file format: sections, interfaces, packets of three kinds, decryption secrets.

Owns the block layouts (the "PCAP Next Generation" Internet draft). Must not know frames' insides
nor EQ2. A block of any other type is skipped without being held, however long it claims to be.
Why no library does this is said in `pcap`.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

from emu.capture.formats.records import Secrets
from emu.capture.formats.stream import MAX_FRAME, ByteQueue, Frame
from emu.errors import FileFormatError

SECTION, INTERFACE, OLD_PACKET, SIMPLE_PACKET, ENHANCED_PACKET, SECRETS = (
    0x0A0D0D0A, 1, 2, 3, 6, 10,
)  # fmt: skip
READ = frozenset({SECTION, INTERFACE, OLD_PACKET, SIMPLE_PACKET, ENHANCED_PACKET, SECRETS})
BYTE_ORDER_MAGIC = 0x1A2B3C4D
OPTION_RESOLUTION, OPTION_OFFSET = 9, 14

MAX_BLOCK = 4 * MAX_FRAME
"""Largest block that is held in memory, options included."""
MAX_INTERFACES = 1024


@dataclass(slots=True)
class _Interface:
    link: int
    snap: int
    units: int = 1_000_000
    """Ticks per second."""
    offset: int = 0
    """Seconds to add to every time."""


class PcapngFormat:
    """Reads blocks off a queue; one object a file, as interfaces are declared before packets."""

    __slots__ = ("_interfaces", "_last", "_order", "_skipping")

    def __init__(self) -> None:
        self._order = "<"
        self._interfaces: list[_Interface] = []
        self._skipping = 0
        self._last = 0.0

    def read(self, queue: ByteQueue) -> Iterator[Frame | Secrets]:
        """Yield the frames and secrets of every complete block."""
        while True:
            if self._skipping:
                self._skipping = queue.skip(self._skipping)
                if self._skipping:
                    return
            head = queue.peek(12)
            if len(head) < 12:
                return
            kind = struct.unpack_from(self._order + "I", head)[0]
            if kind == SECTION:
                self._order = _byte_order(head, queue.offset)
            length = struct.unpack_from(self._order + "I", head, 4)[0]
            if length < 12 or length % 4:
                raise _damage(queue.offset, f"a block of {length} bytes is claimed")
            if kind not in READ:
                self._skipping = length
                continue
            if length > MAX_BLOCK:
                raise _damage(queue.offset, f"a packet block of {length} bytes is claimed")
            if len(queue) < length:
                return
            place = queue.offset
            block = queue.take(length)
            if block[-4:] != block[4:8]:
                raise _damage(place, "a block's two lengths differ")
            try:
                record = self._read_block(kind, block[8:-4])
            except struct.error:
                raise _damage(place, "a block is too short for its type") from None
            if record is not None:
                yield record

    def incomplete(self) -> bool:
        """Return True while a skipped block's end has not come."""
        return self._skipping > 0

    def _read_block(self, kind: int, body: bytes) -> Frame | Secrets | None:
        order = self._order
        if kind == SECTION:
            _magic, major, minor, _length = struct.unpack_from(order + "IHHq", body)
            if major != 1:
                raise FileFormatError(f"pcapng of version {major}.{minor} is not read, only 1.x")
            self._interfaces = []
            return None
        if kind == INTERFACE:
            self._add_interface(body)
            return None
        if kind == SECRETS:
            secrets_kind, size = struct.unpack_from(order + "II", body)
            if size > len(body) - 8:
                raise struct.error
            return Secrets(secrets_kind, body[8 : 8 + size])
        if kind == ENHANCED_PACKET:
            number, high, low, captured = struct.unpack_from(order + "IIII", body)
            return self._frame(number, high << 32 | low, captured, body[20:])
        if kind == OLD_PACKET:
            number, _drops, high, low, captured = struct.unpack_from(order + "HHIII", body)
            return self._frame(number, high << 32 | low, captured, body[20:])
        return self._simple_frame(body)

    def _add_interface(self, body: bytes) -> None:
        if len(self._interfaces) >= MAX_INTERFACES:
            raise FileFormatError(f"more than {MAX_INTERFACES} interfaces in one capture")
        link, _reserved, snap = struct.unpack_from(self._order + "HHI", body)
        interface = _Interface(link, snap)
        at = 8
        while at + 4 <= len(body):
            code, size = struct.unpack_from(self._order + "HH", body, at)
            value = body[at + 4 : at + 4 + size]
            if code == 0:
                break
            if code == OPTION_RESOLUTION and size == 1:
                interface.units = (2 if value[0] & 0x80 else 10) ** (value[0] & 0x7F)
            elif code == OPTION_OFFSET and size == 8:
                interface.offset = struct.unpack(self._order + "q", value)[0]
            at += 4 + (size + 3 & ~3)
        self._interfaces.append(interface)

    def _frame(self, number: int, ticks: int, captured: int, data: bytes) -> Frame | None:
        if number >= len(self._interfaces):
            raise FileFormatError(f"the capture is damaged: there is no interface {number}")
        if captured > len(data) or captured > MAX_FRAME:
            raise struct.error
        interface = self._interfaces[number]
        self._last = interface.offset + ticks / interface.units
        return Frame(self._last, interface.link, data[:captured])

    def _simple_frame(self, body: bytes) -> Frame:
        """Read a packet without time or length of its own: it takes those of its neighbours."""
        original = struct.unpack_from(self._order + "I", body)[0]
        if not self._interfaces:
            raise FileFormatError("the capture is damaged: there is no interface 0")
        interface = self._interfaces[0]
        captured = min(original, interface.snap or original, len(body) - 4)
        return Frame(self._last, interface.link, body[4 : 4 + captured])


def _byte_order(head: bytes, offset: int) -> str:
    for order in "<>":
        if struct.unpack_from(order + "I", head, 8)[0] == BYTE_ORDER_MAGIC:
            return order
    raise _damage(offset, "a section has no byte order")


def _damage(offset: int, what: str) -> FileFormatError:
    return FileFormatError(f"the capture is damaged: {what}", place=f"byte {offset}")
