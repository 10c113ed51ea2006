"""Frames: how the byte stream of the link is cut into (opcode, payload).

A frame is u32 size (header included), u8 flags, u16 opcode, then the payload; all little-endian.
Flag bit 0 puts a u32 with the inflated size before a payload that is one zlib stream, bit 1 a u32
relay destination. Nobody sends either flag today, but a receiver must understand both.
Source: docs/protocol/link.md#frame, and the recorded link for plain frames.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass

from emu.errors import LimitExceeded, LocalProtocolError, MalformedMessage

HEADER_SIZE = 7
MAX_FRAME_SIZE = 512 * 1024
"""Bytes, header included; a frame of this size or more is refused by EQ2Emulator."""
COMPRESSED = 0x01
DESTINATION = 0x02

_HEADER = struct.Struct("<IBH")
_U32 = struct.Struct("<I")


@dataclass(frozen=True, slots=True)
class Frame:
    """One frame; `payload` is already inflated."""

    opcode: int
    payload: bytes = b""
    destination: int | None = None
    """Relay destination, when the sender named one."""
    inflated: int = 0
    """Bytes that inflating made of the payload; 0 for a frame that was not compressed."""


def encode_frame(opcode: int, payload: bytes = b"") -> bytes:
    """Return a plain frame.

    Raises `LocalProtocolError` when the payload is too long for any peer to take.
    """
    size = HEADER_SIZE + len(payload)
    if size >= MAX_FRAME_SIZE:
        raise LocalProtocolError(f"a link frame of {size} bytes is above the limit")
    return _HEADER.pack(size, 0, opcode) + payload


KEEP_ALIVE = encode_frame(0)


class FrameReader:
    """Cuts received bytes into frames; holds at most one unfinished frame.

    `max_size` bounds a whole frame as it travels and, for a compressed one, its inflated payload;
    it may be changed at any time.
    """

    __slots__ = ("_buffer", "max_size")

    def __init__(self, max_size: int = MAX_FRAME_SIZE) -> None:
        self._buffer = bytearray()
        self.max_size = max_size

    @property
    def unfinished(self) -> bool:
        """True while a frame has begun and its end has not come."""
        return bool(self._buffer)

    def receive(self, data: bytes) -> Iterator[Frame]:
        """Take received bytes and yield the frames that are whole now.

        Raises `MalformedMessage` or `LimitExceeded`; the stream cannot be read on after that.
        """
        buffer = self._buffer
        buffer += data
        start = 0
        try:
            while (end := self._frame_end(start)) <= len(buffer):
                yield self._open(start, end)
                start = end
        finally:
            del buffer[:start]

    def _frame_end(self, start: int) -> int:
        """Return where the frame at `start` ends; past the buffer when that is not known yet."""
        held = len(self._buffer) - start
        if held < _U32.size:
            return len(self._buffer) + 1
        (size,) = _U32.unpack_from(self._buffer, start)
        if size < HEADER_SIZE:
            raise MalformedMessage("frame size below header size")
        if size >= self.max_size:
            raise LimitExceeded("frame too large")
        return start + int(size)

    def _open(self, start: int, end: int) -> Frame:
        _, flags, opcode = _HEADER.unpack_from(self._buffer, start)
        place = start + HEADER_SIZE
        if not flags:
            return Frame(opcode, bytes(self._buffer[place:end]))
        if flags & ~(COMPRESSED | DESTINATION):
            raise MalformedMessage("unknown frame flags")
        inflated, destination = None, None
        if end - place < _U32.size * flags.bit_count():
            raise MalformedMessage("frame shorter than its flags ask for")
        if flags & COMPRESSED:
            (inflated,) = _U32.unpack_from(self._buffer, place)
            place += _U32.size
        if flags & DESTINATION:
            (destination,) = _U32.unpack_from(self._buffer, place)
            place += _U32.size
        payload = bytes(self._buffer[place:end])
        if inflated is not None:
            payload = self._inflate(payload, inflated)
        return Frame(opcode, payload, destination, inflated or 0)

    def _inflate(self, data: bytes, size: int) -> bytes:
        if size >= self.max_size:
            raise LimitExceeded("inflated frame too large")
        stream = zlib.decompressobj()
        try:
            payload = stream.decompress(data, size + 1)
        except zlib.error:
            raise MalformedMessage("bad zlib stream in frame") from None
        if len(payload) != size or not stream.eof or stream.unused_data:
            raise MalformedMessage("inflated size is not the announced one")
        return payload
