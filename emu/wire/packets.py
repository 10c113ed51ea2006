"""The thirteen protocol packets as values, and the layout of each.

A packet here is `00 op` and body, without check, compression or encoding
(docs/protocol/transport.md#datagrams, docs/protocol/transport.md#payloads). Field names are those
of EQ2Emulator. The session decides which packet is allowed when.

A `PacketLayout` reads and writes values. Packets, Fragments and their acks also have functions that
make no object, because nearly every datagram is one of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Final, Generic, TypeVar

from emu.binary import BIG, U8, U16, U32, U64, RecordLayout
from emu.errors import LimitExceeded, LocalProtocolError, MalformedDatagram, StructValueError

PART_LIMIT: Final = 4096
"""The default for the most parts of a combined packet."""
_ESCAPE: Final = 0xFF
_SHORT: Final = tuple(bytes((length,)) for length in range(_ESCAPE))
"""Lengths in one byte; nearly all parts have one."""
_U16_MAXIMUM: Final = 0xFFFF
_U32_MAXIMUM: Final = 0xFFFFFFFF


def length_bytes(length: int) -> bytes:
    """Return a length (big-endian) in its shortest form: u8, FF and u16, or FF FF FF and u32."""
    if 0 <= length < _ESCAPE:
        return _SHORT[length]
    # FFFF itself is excluded: as a u16 it marks the length with four bytes.
    if 0 <= length < _U16_MAXIMUM:
        return b"\xff" + length.to_bytes(2, "big")
    if 0 <= length <= _U32_MAXIMUM:
        return b"\xff\xff\xff" + length.to_bytes(4, "big")
    raise LocalProtocolError(f"{length} is not a length")


def _pull_long(data: bytes, start: int) -> tuple[int, int]:
    """Return the escaped length at `start`, and the position of the part behind it.

    Raises `MalformedDatagram` for a truncated length.
    """
    begin = start + 3
    length = int.from_bytes(data[start + 1 : begin], "big")
    if length == _U16_MAXIMUM:
        begin = start + 7
        length = int.from_bytes(data[start + 3 : begin], "big")
    # A slice past the end is shorter, so the length above may be wrong; it is used only after this.
    if begin > len(data):
        raise MalformedDatagram("truncated packet")
    return length, begin


def pull_parts(data: bytes, limit: int = PART_LIMIT, start: int = 0) -> tuple[bytes, ...]:
    """Return the parts of `data` from `start` on, each behind its length.

    Raises `MalformedDatagram` for an empty part or a length past the end, `LimitExceeded` for more
    than `limit` parts.
    """
    # Empty parts are refused: each costs its sender one byte, and the receiver far more work.
    parts: list[bytes] = []
    position, size = start, len(data)
    while position < size:
        length, begin = data[position], position + 1
        if length == _ESCAPE:
            length, begin = _pull_long(data, position)
        if not length:
            raise MalformedDatagram("empty part")
        # Checked before the part is copied: a flood pays nothing for what is refused.
        if len(parts) == limit:
            raise LimitExceeded("too many parts")
        position = begin + length
        if position > size:
            raise MalformedDatagram("truncated packet")
        parts.append(data[begin:position])
    return tuple(parts)


def push_parts(parts: Iterable[bytes]) -> bytes:
    """Write each part behind its length; raises `LocalProtocolError` for an empty one."""
    pieces: list[bytes] = []
    for part in parts:
        if not part:
            # A receiver of this program refuses empty parts, so sending one is a fault here.
            raise LocalProtocolError("a part may not be empty")
        size = len(part)
        pieces += (_SHORT[size] if size < _ESCAPE else length_bytes(size), part)
    return b"".join(pieces)


class ProtocolOpcode(IntEnum):
    """Second byte of a protocol packet; the first is 00."""

    SESSION_REQUEST = 0x01
    SESSION_RESPONSE = 0x02
    COMBINED = 0x03
    SESSION_DISCONNECT = 0x05
    KEEP_ALIVE = 0x06
    SERVER_KEY_REQUEST = 0x07
    SESSION_STAT_RESPONSE = 0x08
    PACKET = 0x09
    FRAGMENT = 0x0D
    OUT_OF_ORDER_ACK = 0x11
    ACK = 0x15
    APP_COMBINED = 0x19
    OUT_OF_SESSION = 0x1D


MAX_LENGTH: Final = 512
"""Bytes of a datagram that real clients request."""
BY_APPLICATION: Final = 6
"""The usual reason of a SessionDisconnect."""

UNSEALED: Final = frozenset(
    (
        ProtocolOpcode.SESSION_REQUEST,
        # The first two come before the key of the check is known, and the sender of OutOfSession
        # has no session with a key.
        ProtocolOpcode.SESSION_RESPONSE,
        ProtocolOpcode.OUT_OF_SESSION,
    )
)
"""Packets that carry no check and are never compressed or encoded."""

OTHER_CHANNELS: Final = frozenset(
    first + channel for first in (0x09, 0x0D, 0x11, 0x15) for channel in (1, 2, 3)
)
"""Packet, Fragment and their acks for channels 1-3, which EQ2 does not use."""


@dataclass(frozen=True, slots=True)
class SessionRequest:
    """A client requests a session. `unknown_a` is 2 from real clients (bytes of the check).

    Other clients of this protocol family append a name, which is kept in `tail`.
    """

    session: int
    max_length: int = MAX_LENGTH
    unknown_a: int = 2
    tail: bytes = b""


@dataclass(frozen=True, slots=True)
class SessionResponse:
    """The server's answer: check key, size of the check in bytes, and format flags."""

    session: int
    key: int
    max_length: int = MAX_LENGTH
    format: int = 0
    unknown_a: int = 2
    unknown_b: int = 0
    unknown_d: int = 0


@dataclass(frozen=True, slots=True)
class Combined:
    """Several protocol packets (each with its own `00 op`) in one datagram."""

    packets: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class SessionDisconnect:
    """One side ends the session."""

    session: int
    reason: int = BY_APPLICATION


@dataclass(frozen=True, slots=True)
class KeepAlive:
    """A packet without content: the sender is alive."""


@dataclass(frozen=True, slots=True)
class ServerKeyRequest:
    """The client's session statistics; it also asks for the key request. Round trips in ms."""

    request_id: int
    last: int = 0
    average: int = 0
    low: int = 0
    high: int = 0
    last_server: int = 0
    packets_sent: int = 0
    packets_received: int = 0


@dataclass(frozen=True, slots=True)
class SessionStatResponse:
    """The server's statistics; `server_time` is its clock in ms, the counts are packets."""

    request_id: int
    server_time: int = 0
    client_sent: int = 0
    client_received: int = 0
    server_sent: int = 0
    server_received: int = 0


@dataclass(frozen=True, slots=True)
class ReliablePacket:
    """A reliable payload on channel 0."""

    sequence: int
    payload: bytes


@dataclass(frozen=True, slots=True)
class Fragment:
    """A chunk of a reliable payload.

    The first `chunk` of a run begins with the u32 total length. Only the order shows which one is
    first.
    """

    sequence: int
    chunk: bytes


@dataclass(frozen=True, slots=True)
class OutOfOrderAck:
    """The packet with this number was received; earlier ones are missing."""

    sequence: int


@dataclass(frozen=True, slots=True)
class Ack:
    """All packets up to this number were received."""

    sequence: int


@dataclass(frozen=True, slots=True)
class AppCombined:
    """Several application messages in one reliable payload."""

    messages: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class OutOfSession:
    """The receiver's session is unknown to the sender of this packet."""


ProtocolPacket = (
    SessionRequest
    | SessionResponse
    | Combined
    | SessionDisconnect
    | KeepAlive
    | ServerKeyRequest
    | SessionStatResponse
    | ReliablePacket
    | Fragment
    | OutOfOrderAck
    | Ack
    | AppCombined
    | OutOfSession
)

Value = TypeVar("Value")

OPCODE_SIZE: Final = 2


def marker_of(opcode: int) -> bytes:
    """Return the first two bytes of a packet."""
    return opcode.to_bytes(OPCODE_SIZE, "big")


def _nothing(rest: bytes) -> bytes:
    if rest:
        raise MalformedDatagram("wrong packet length")
    return rest


def _something(rest: bytes) -> bytes:
    if not rest:
        raise MalformedDatagram("empty payload")
    return rest


def _anything(rest: bytes) -> bytes:
    return rest


class PacketLayout(Generic[Value]):
    """The layout of one kind of packet; every number is big-endian.

    `fields` are the numbers after `00 op` in wire order. `rest` names the field that holds the
    bytes after them, and `read` and `write` convert it. Without a name `read` only checks these
    bytes. Some peers omit the last `optional` bytes; these count as zeros.
    """

    __slots__ = (
        "_numbers", "_optional", "_read", "_rest", "_write", "kind", "opcode",
    )  # fmt: skip

    def __init__(
        self,
        kind: type[Value],
        opcode: ProtocolOpcode,
        *,
        rest: str = "",
        read: Callable[[bytes], Any] = _nothing,
        write: Callable[[Any], bytes] = _anything,
        optional: int = 0,
        **fields: Any,
    ) -> None:
        self.kind = kind
        self.opcode = opcode
        self._numbers = RecordLayout(opcode.name, BIG, opcode=U16, **fields)
        self._rest = rest
        self._read = read
        self._write = write
        self._optional = optional

    def pull(self, data: bytes) -> Value:
        """Return the packet in `data`; its two opcode bytes are not checked.

        Raises `MalformedDatagram`, or `LimitExceeded` for more than `PART_LIMIT` parts.
        """
        size = self._numbers.size
        if len(data) < size:
            if size - len(data) != self._optional:
                raise MalformedDatagram("wrong packet length")
            # Only exactly the optional bytes may be missing: any other length is a truncated
            # packet.
            data += bytes(self._optional)
        fields: dict[str, Any] = dict(
            zip(self._numbers.names, self._numbers.unpack(data), strict=True)
        )
        del fields["opcode"]
        # `read` also runs without a `rest` field: then it refuses bytes behind the numbers.
        rest = self._read(data[size:])
        if self._rest:
            fields[self._rest] = rest
        return self.kind(**fields)

    def push(self, packet: Value) -> bytes:
        """Return the bytes of a packet. Raises `LocalProtocolError` for a value that does not fit.

        An empty part of a combined packet raises it too.
        """
        numbers = [getattr(packet, name) for name in self._numbers.names[1:]]
        try:
            head = self._numbers.pack(self.opcode, *numbers)
        except StructValueError as error:
            raise LocalProtocolError(str(error)) from error
        return head + self._write(getattr(packet, self._rest)) if self._rest else head


SESSION_REQUEST: Final = PacketLayout(
    SessionRequest, ProtocolOpcode.SESSION_REQUEST,
    unknown_a=U32, session=U32, max_length=U32, rest="tail", read=_anything,
)  # fmt: skip
SESSION_RESPONSE: Final = PacketLayout(
    SessionResponse, ProtocolOpcode.SESSION_RESPONSE,
    session=U32, key=U32, unknown_a=U8, format=U8, unknown_b=U8, max_length=U32, unknown_d=U32,
    optional=4,  # some servers omit unknown_d
)  # fmt: skip
COMBINED: Final = PacketLayout(
    Combined, ProtocolOpcode.COMBINED, rest="packets", read=pull_parts, write=push_parts
)
SESSION_DISCONNECT: Final = PacketLayout(
    SessionDisconnect, ProtocolOpcode.SESSION_DISCONNECT, session=U32, reason=U16
)
KEEP_ALIVE: Final = PacketLayout(KeepAlive, ProtocolOpcode.KEEP_ALIVE)
SERVER_KEY_REQUEST: Final = PacketLayout(
    ServerKeyRequest, ProtocolOpcode.SERVER_KEY_REQUEST,
    request_id=U16, last=U32, average=U32, low=U32, high=U32, last_server=U32,
    packets_sent=U64, packets_received=U64,
)  # fmt: skip
SESSION_STAT_RESPONSE: Final = PacketLayout(
    SessionStatResponse, ProtocolOpcode.SESSION_STAT_RESPONSE,
    request_id=U16, server_time=U32,
    client_sent=U64, client_received=U64, server_sent=U64, server_received=U64,
)  # fmt: skip
PACKET: Final = PacketLayout(
    ReliablePacket, ProtocolOpcode.PACKET, sequence=U16, rest="payload", read=_anything
)
FRAGMENT: Final = PacketLayout(
    Fragment, ProtocolOpcode.FRAGMENT, sequence=U16, rest="chunk", read=_something
)
OUT_OF_ORDER_ACK: Final = PacketLayout(OutOfOrderAck, ProtocolOpcode.OUT_OF_ORDER_ACK, sequence=U16)
ACK: Final = PacketLayout(Ack, ProtocolOpcode.ACK, sequence=U16)
APP_COMBINED: Final = PacketLayout(
    AppCombined, ProtocolOpcode.APP_COMBINED, rest="messages", read=pull_parts, write=push_parts
)
OUT_OF_SESSION: Final = PacketLayout(
    OutOfSession, ProtocolOpcode.OUT_OF_SESSION,
    read=_anything,  # some peers append bytes without a meaning
)  # fmt: skip

_LAYOUTS: Final[tuple[PacketLayout[Any], ...]] = (
    SESSION_REQUEST, SESSION_RESPONSE, COMBINED, SESSION_DISCONNECT, KEEP_ALIVE,
    SERVER_KEY_REQUEST, SESSION_STAT_RESPONSE, PACKET, FRAGMENT, OUT_OF_ORDER_ACK, ACK,
    APP_COMBINED, OUT_OF_SESSION,
)  # fmt: skip
_BY_OPCODE: Final[dict[int, PacketLayout[Any]]] = {layout.opcode: layout for layout in _LAYOUTS}
_BY_KIND: Final[dict[type, PacketLayout[Any]]] = {layout.kind: layout for layout in _LAYOUTS}


def pull_packet(data: bytes) -> ProtocolPacket:
    """Read any protocol packet (unsealed: without check).

    Raises `MalformedDatagram`, or `LimitExceeded` for more than `PART_LIMIT` parts.
    """
    if len(data) < OPCODE_SIZE:
        raise MalformedDatagram("short datagram")
    if data[0]:
        raise MalformedDatagram("not a protocol packet")
    layout = _BY_OPCODE.get(data[1])
    if layout is None:
        # Counted apart: the protocol has these channels, but this game does not use them.
        other = data[1] in OTHER_CHANNELS
        raise MalformedDatagram("unused channel" if other else "unknown protocol opcode")
    packet: ProtocolPacket = layout.pull(data)
    return packet


def push_packet(packet: ProtocolPacket) -> bytes:
    """Write any protocol packet, without check. Raises `LocalProtocolError` for a bad value."""
    return _BY_KIND[type(packet)].push(packet)


# Nearly every datagram is a Packet, a Fragment or an Ack. These functions read and write them
# without making an object, because the session needs only the number and the bytes: an object of a
# frozen dataclass costs more than the rest of the work on a small datagram.

_SEQUENCED: Final = RecordLayout("sequenced packet", BIG, opcode=U16, sequence=U16)
SEQUENCED_SIZE: Final = _SEQUENCED.size


def pull_sequenced(data: bytes) -> tuple[int, bytes]:
    """Return the sequence number of a Packet or Fragment, and the bytes behind it."""
    if len(data) < SEQUENCED_SIZE:
        raise MalformedDatagram("wrong packet length")
    return data[2] << 8 | data[3], data[SEQUENCED_SIZE:]


def pull_acknowledged(data: bytes) -> int:
    """Return the sequence number of an Ack or OutOfOrderAck."""
    if len(data) != SEQUENCED_SIZE:
        raise MalformedDatagram("wrong packet length")
    return data[2] << 8 | data[3]


push_sequenced: Final[Callable[[int, int], bytes]] = _SEQUENCED.codec.pack
"""Return an Ack or OutOfOrderAck, or the header of a Packet or Fragment: opcode, sequence."""

pull_head: Final[Callable[[bytes], tuple[int, ...]]] = _SEQUENCED.codec.unpack_from
"""Return both numbers of the first `SEQUENCED_SIZE` bytes of a datagram; the first has the `00`."""
