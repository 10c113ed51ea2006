"""Opcodes, frames and fixed-size messages of the login-world link.

The byte stream is cut into frames of one opcode and one payload. The numbers are little-endian.
Text is UTF-8; worlds store any bytes they receive, so text that is not UTF-8 is read as
latin-1.

A frame is u32 size (header included), u8 flags, u16 opcode and the payload. Flag bit 0 puts a u32
with the inflated size before a payload that is one zlib stream. Flag bit 1 puts a u32 relay
destination there. No known server sends either flag, but a receiver must understand both.

Source: docs/protocol/link.md#opcodes, docs/protocol/link.md#frame, and the recorded link for plain
frames.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
from typing import ClassVar, Self

from emu.binary import LITTLE, U8, U16, U32, RecordLayout, layout_of
from emu.errors import LimitExceeded, LocalProtocolError, MalformedMessage


class LinkOpcode(IntEnum):
    """The kind of a frame; u16 at offset 5 of the frame."""

    RELAY = 0x0000
    """Keep-alive of the connection layer; the payload, if any, is old relay control."""
    KeepAlive = 0x0001
    EmoteMessage = 0x0009
    LSInfo = 0x1000
    LSStatus = 0x1001
    LSFatalError = 0x1003
    SystemwideMessage = 0x1005
    ListWorlds = 0x1006
    EncapPacket = 0x2007
    WorldListUpdate = 0x2008
    WorldListRemove = 0x2009
    TriggerWorldListRefresh = 0x200A
    CharTimeStamp = 0x200F
    BasicCharUpdate = 0x2012
    CharacterCreate = 0x2013
    NameCharUpdate = 0x2014
    GetTableData = 0x2015
    GetTableQuery = 0x2016
    GetLatestTables = 0x2017
    RaceUpdate = 0x2018
    ZoneUpdate = 0x2019
    BugReport = 0x201A
    ResetDatabase = 0x201B
    ZoneUpdates = 0x201C
    LoginEquipment = 0x201D
    CharacterPicture = 0x201E
    UsertoWorldReq = 0xAB00
    UsertoWorldResp = 0xAB01


MESH_OPCODES = frozenset({
    LinkOpcode.EncapPacket,
    LinkOpcode.WorldListUpdate,
    LinkOpcode.WorldListRemove,
    LinkOpcode.TriggerWorldListRefresh,
})  # fmt: skip
"""Sent only between login servers of the old mesh; a peer that sends one is not a world."""

TABLE_OPCODES = frozenset({
    LinkOpcode.GetTableData,
    LinkOpcode.GetTableQuery,
    LinkOpcode.GetLatestTables,
})  # fmt: skip
"""Database updates that login servers once provided; refused."""


class FixedMessage:
    """Base of messages of fixed size: dataclasses whose fields are in wire order."""

    __slots__ = ()

    OPCODE: ClassVar[LinkOpcode]
    LAYOUT: ClassVar[RecordLayout]

    def __init_subclass__(cls) -> None:
        cls.LAYOUT = layout_of(cls, cls.OPCODE.name, LITTLE)

    def encode(self) -> bytes:
        """Return the payload; raises `StructValueError` when a value does not fit."""
        return self.LAYOUT.pack_from(self)

    @classmethod
    def decode(cls, payload: bytes) -> Self:
        """Read a payload; raises `MalformedMessage` unless its size is exact."""
        return cls(*cls.LAYOUT.unpack_whole(payload))


HEADER_SIZE = 7
MAX_FRAME_SIZE = 512 * 1024
"""Bytes, header included; EQ2Emulator refuses frames of this size or more."""
COMPRESSED = 0x01
DESTINATION = 0x02

_SIZE = RecordLayout("LinkFrame.size", LITTLE, size=U32)
_HEADER = RecordLayout("LinkFrame", LITTLE, size=U32, flags=U8, opcode=U16)
_INFLATED = RecordLayout("LinkFrame.inflated", LITTLE, inflated=U32)
_DESTINATION = RecordLayout("LinkFrame.destination", LITTLE, destination=U32)


@dataclass(frozen=True, slots=True)
class LinkFrame:
    """One frame; `payload` is already inflated."""

    opcode: int
    payload: bytes = b""
    destination: int | None = None
    """Relay destination, when the sender named one."""
    inflated: int = 0
    """Size of the inflated payload in bytes; 0 for a frame that was not compressed."""


def encode_frame(opcode: int, payload: bytes = b"") -> bytes:
    """Return a plain frame.

    Raises `LocalProtocolError` when the payload is too long for any peer.
    """
    size = HEADER_SIZE + len(payload)
    # The peer would end the whole link for such a frame; refusing it here loses one message only.
    if size >= MAX_FRAME_SIZE:
        raise LocalProtocolError(f"a link frame of {size} bytes is above the limit")
    # Header and payload in one piece, so that they leave in one write: EQ2Emulator closes a link
    # when a read begins with fewer than 7 bytes.
    return _HEADER.pack(size, 0, opcode) + payload


KEEP_ALIVE = encode_frame(0)


class LinkFrameReader:
    """Splits received bytes into frames; holds at most one unfinished frame.

    `max_size` bounds a whole frame on the wire and, for a compressed one, its inflated payload. It
    may be changed at any time.
    """

    __slots__ = ("_buffer", "max_size")

    def __init__(self, max_size: int = MAX_FRAME_SIZE) -> None:
        self._buffer = bytearray()
        self.max_size = max_size

    @property
    def unfinished(self) -> bool:
        """Whether a frame has begun that is not complete."""
        return bool(self._buffer)

    def receive(self, data: bytes) -> Iterator[LinkFrame]:
        """Add received bytes and yield the complete frames.

        Raises `MalformedMessage` or `LimitExceeded`; the stream cannot be read any further then.
        """
        buffer = self._buffer
        buffer += data
        start = 0
        try:
            # The size of a frame is checked as soon as its first four bytes are there, not when it
            # is complete.
            while (end := self._frame_end(start)) <= len(buffer):
                yield self._open(start, end)
                start = end
        finally:
            # Once for each call, not for each frame: deleting a beginning moves the whole rest.
            del buffer[:start]

    def _frame_end(self, start: int) -> int:
        """Return where the frame at `start` ends.

        Past the buffer when its size is not known yet.
        """
        held = len(self._buffer) - start
        if held < _SIZE.size:
            # One more than the buffer holds means "not complete" to `receive`.
            return len(self._buffer) + 1
        (size,) = _SIZE.unpack(self._buffer, start)
        # A size of 0 would never move the position: the loop would not end.
        if size < HEADER_SIZE:
            raise MalformedMessage("frame size below header size")
        if size >= self.max_size:
            raise LimitExceeded("frame too large")
        return start + int(size)

    def _open(self, start: int, end: int) -> LinkFrame:
        _, flags, opcode = _HEADER.unpack(self._buffer, start)
        place = start + HEADER_SIZE
        # The usual frame; the sizes below are read only for flags that no known server sends.
        if not flags:
            return LinkFrame(opcode, bytes(self._buffer[place:end]))
        # An unknown flag may add bytes of unknown length before the payload.
        if flags & ~(COMPRESSED | DESTINATION):
            raise MalformedMessage("unknown frame flags")
        inflated, destination = None, None
        # Both numbers are checked at once, so that reading them cannot run past the frame.
        asked = _INFLATED.size * bool(flags & COMPRESSED)
        if end - place < asked + _DESTINATION.size * bool(flags & DESTINATION):
            raise MalformedMessage("frame shorter than its flags ask for")
        if flags & COMPRESSED:
            (inflated,) = _INFLATED.unpack(self._buffer, place)
            place += _INFLATED.size
        if flags & DESTINATION:
            (destination,) = _DESTINATION.unpack(self._buffer, place)
            place += _DESTINATION.size
        payload = bytes(self._buffer[place:end])
        if inflated is not None:
            payload = self._inflate(payload, inflated)
        return LinkFrame(opcode, payload, destination, inflated or 0)

    def _inflate(self, data: bytes, size: int) -> bytes:
        # The announced size is refused before any memory is used for it.
        if size >= self.max_size:
            raise LimitExceeded("inflated frame too large")
        stream = zlib.decompressobj()
        try:
            # One byte more than announced, so that a longer stream shows without being inflated
            # completely.
            payload = stream.decompress(data, size + 1)
        except zlib.error:
            raise MalformedMessage("bad zlib stream in frame") from None
        if len(payload) != size or not stream.eof or stream.unused_data:
            raise MalformedMessage("inflated size is not the announced one")
        return payload
