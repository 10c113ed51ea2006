"""The thirteen protocol packets as values, with one pull_ and one push_ function each.

Owns docs/protocol/transport.md#datagrams byte by byte: a packet here is `00 op` and body, without
check, compression or encoding. Whether a packet may come now, and from whom, is the session's
business. Field names are those of the session seed.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from typing import Final

from emu.errors import LocalProtocolError, MalformedDatagram
from emu.wire.parts import PART_LIMIT, pull_parts, push_parts


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


UNSEALED: Final = frozenset(
    (
        ProtocolOpcode.SESSION_REQUEST,
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
    """A client asks for a session; `unknown_a` is 2 from real clients (bytes of check).

    Other clients of this protocol family append a name, which is kept in `tail`.
    """

    session: int
    max_length: int = 512
    unknown_a: int = 2
    tail: bytes = b""


@dataclass(frozen=True, slots=True)
class SessionResponse:
    """The server's answer: check key, size of the check in bytes, and format flags."""

    session: int
    key: int
    max_length: int = 512
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
    """One side ends the session; reason 6 is "by the application"."""

    session: int
    reason: int = 6


@dataclass(frozen=True, slots=True)
class KeepAlive:
    """Nothing but a sign of life."""


@dataclass(frozen=True, slots=True)
class ServerKeyRequest:
    """The client's session statistics, and its wish for the key request. Round trips in ms."""

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
class Packet:
    """A reliable payload on channel 0."""

    sequence: int
    payload: bytes


@dataclass(frozen=True, slots=True)
class Fragment:
    """A piece of a reliable payload.

    In the first of a run `chunk` begins with the u32 total length; which one is first only the
    order tells.
    """

    sequence: int
    chunk: bytes


@dataclass(frozen=True, slots=True)
class OutOfOrderAck:
    """This one sequence number was received, others before it were not."""

    sequence: int


@dataclass(frozen=True, slots=True)
class Ack:
    """Everything up to and including this sequence number was received."""

    sequence: int


@dataclass(frozen=True, slots=True)
class AppCombined:
    """Several application messages in one reliable payload."""

    messages: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class OutOfSession:
    """Tells a sender that its session is not known here."""


ProtocolPacket = (
    SessionRequest
    | SessionResponse
    | Combined
    | SessionDisconnect
    | KeepAlive
    | ServerKeyRequest
    | SessionStatResponse
    | Packet
    | Fragment
    | OutOfOrderAck
    | Ack
    | AppCombined
    | OutOfSession
)

_SESSION_REQUEST = struct.Struct(">HIII")
_SESSION_RESPONSE = struct.Struct(">HIIBBBII")
_SESSION_DISCONNECT = struct.Struct(">HIH")
_EMPTY = struct.Struct(">H")
_SERVER_KEY_REQUEST = struct.Struct(">HHIIIIIQQ")
_SESSION_STAT_RESPONSE = struct.Struct(">HHIQQQQ")
_SEQUENCED = struct.Struct(">HH")
_COMBINED = ProtocolOpcode.COMBINED.to_bytes(2, "big")
_APP_COMBINED = ProtocolOpcode.APP_COMBINED.to_bytes(2, "big")


def _unpack(shape: struct.Struct, data: bytes) -> tuple[int, ...]:
    if len(data) != shape.size:
        raise MalformedDatagram("wrong packet length")
    return shape.unpack(data)[1:]


def _pack(shape: struct.Struct, opcode: ProtocolOpcode, *values: int) -> bytes:
    try:
        return shape.pack(opcode, *values)
    except struct.error as error:
        raise LocalProtocolError(f"{opcode.name}: {error}") from error


def pull_session_request(data: bytes) -> SessionRequest:
    """Read 14 bytes; what follows them is kept as `tail`."""
    if len(data) < _SESSION_REQUEST.size:
        raise MalformedDatagram("wrong packet length")
    _, unknown_a, session, max_length = _SESSION_REQUEST.unpack_from(data)
    return SessionRequest(session, max_length, unknown_a, data[_SESSION_REQUEST.size :])


def push_session_request(packet: SessionRequest) -> bytes:
    """Write 14 bytes and the tail."""
    head = _pack(
        _SESSION_REQUEST,
        ProtocolOpcode.SESSION_REQUEST,
        packet.unknown_a,
        packet.session,
        packet.max_length,
    )
    return head + packet.tail


def pull_session_response(data: bytes) -> SessionResponse:
    """Read 21 bytes; the last u32 may be missing, as some servers leave it out."""
    if len(data) == _SESSION_RESPONSE.size - 4:
        data += bytes(4)
    session, key, unknown_a, form, unknown_b, max_length, unknown_d = _unpack(
        _SESSION_RESPONSE, data
    )
    return SessionResponse(session, key, max_length, form, unknown_a, unknown_b, unknown_d)


def push_session_response(packet: SessionResponse) -> bytes:
    """Write 21 bytes."""
    return _pack(
        _SESSION_RESPONSE,
        ProtocolOpcode.SESSION_RESPONSE,
        packet.session,
        packet.key,
        packet.unknown_a,
        packet.format,
        packet.unknown_b,
        packet.max_length,
        packet.unknown_d,
    )


def pull_combined(data: bytes, limit: int = PART_LIMIT) -> Combined:
    """Read lengths and packets up to the end; a length of 0 or past the end spoils the whole.

    Raises `LimitExceeded` for more than `limit` packets.
    """
    return Combined(pull_parts(data, limit))


def push_combined(packet: Combined) -> bytes:
    """Write each packet behind its length."""
    return _COMBINED + push_parts(packet.packets)


def pull_session_disconnect(data: bytes) -> SessionDisconnect:
    """Read session and reason."""
    return SessionDisconnect(*_unpack(_SESSION_DISCONNECT, data))


def push_session_disconnect(packet: SessionDisconnect) -> bytes:
    """Write session and reason."""
    return _pack(
        _SESSION_DISCONNECT, ProtocolOpcode.SESSION_DISCONNECT, packet.session, packet.reason
    )


def pull_keep_alive(data: bytes) -> KeepAlive:
    """Read nothing; bytes behind the opcode are refused."""
    _unpack(_EMPTY, data)
    return KeepAlive()


def push_keep_alive(_packet: KeepAlive) -> bytes:
    """Write the opcode alone."""
    return _pack(_EMPTY, ProtocolOpcode.KEEP_ALIVE)


def pull_server_key_request(data: bytes) -> ServerKeyRequest:
    """Read 40 bytes."""
    return ServerKeyRequest(*_unpack(_SERVER_KEY_REQUEST, data))


def push_server_key_request(packet: ServerKeyRequest) -> bytes:
    """Write 40 bytes."""
    return _pack(
        _SERVER_KEY_REQUEST,
        ProtocolOpcode.SERVER_KEY_REQUEST,
        packet.request_id,
        packet.last,
        packet.average,
        packet.low,
        packet.high,
        packet.last_server,
        packet.packets_sent,
        packet.packets_received,
    )


def pull_session_stat_response(data: bytes) -> SessionStatResponse:
    """Read 40 bytes."""
    return SessionStatResponse(*_unpack(_SESSION_STAT_RESPONSE, data))


def push_session_stat_response(packet: SessionStatResponse) -> bytes:
    """Write 40 bytes."""
    return _pack(
        _SESSION_STAT_RESPONSE,
        ProtocolOpcode.SESSION_STAT_RESPONSE,
        packet.request_id,
        packet.server_time,
        packet.client_sent,
        packet.client_received,
        packet.server_sent,
        packet.server_received,
    )


def pull_sequenced(data: bytes) -> tuple[int, bytes]:
    """Read the sequence number of a Packet or Fragment, and what is behind it."""
    if len(data) < _SEQUENCED.size:
        raise MalformedDatagram("wrong packet length")
    return _SEQUENCED.unpack_from(data)[1], data[_SEQUENCED.size :]


def pull_data_packet(data: bytes) -> Packet:
    """Read sequence and payload; the payload may not be missing."""
    sequence, payload = pull_sequenced(data)
    if not payload:
        raise MalformedDatagram("empty payload")
    return Packet(sequence, payload)


def push_data_packet(packet: Packet) -> bytes:
    """Write sequence and payload."""
    return _pack(_SEQUENCED, ProtocolOpcode.PACKET, packet.sequence) + packet.payload


def pull_fragment(data: bytes) -> Fragment:
    """Read sequence and chunk; the chunk may not be missing."""
    sequence, chunk = pull_sequenced(data)
    if not chunk:
        raise MalformedDatagram("empty payload")
    return Fragment(sequence, chunk)


def push_fragment(packet: Fragment) -> bytes:
    """Write sequence and chunk."""
    return _pack(_SEQUENCED, ProtocolOpcode.FRAGMENT, packet.sequence) + packet.chunk


def pull_out_of_order_ack(data: bytes) -> OutOfOrderAck:
    """Read the sequence number."""
    return OutOfOrderAck(*_unpack(_SEQUENCED, data))


def push_out_of_order_ack(packet: OutOfOrderAck) -> bytes:
    """Write the sequence number."""
    return _pack(_SEQUENCED, ProtocolOpcode.OUT_OF_ORDER_ACK, packet.sequence)


def pull_ack(data: bytes) -> Ack:
    """Read the sequence number."""
    return Ack(*_unpack(_SEQUENCED, data))


def push_ack(packet: Ack) -> bytes:
    """Write the sequence number."""
    return _pack(_SEQUENCED, ProtocolOpcode.ACK, packet.sequence)


def pull_app_combined(data: bytes, limit: int = PART_LIMIT) -> AppCombined:
    """Read lengths and messages up to the end; a length of 0 or past the end spoils the whole.

    Raises `LimitExceeded` for more than `limit` messages.
    """
    return AppCombined(pull_parts(data, limit))


def push_app_combined(packet: AppCombined) -> bytes:
    """Write each message behind its length."""
    return _APP_COMBINED + push_parts(packet.messages)


def pull_out_of_session(data: bytes) -> OutOfSession:
    """Read the opcode; some peers append bytes, which mean nothing to us."""
    if len(data) < _EMPTY.size:
        raise MalformedDatagram("wrong packet length")
    return OutOfSession()


def push_out_of_session(_packet: OutOfSession) -> bytes:
    """Write the opcode alone."""
    return _pack(_EMPTY, ProtocolOpcode.OUT_OF_SESSION)


_PULL: Final[dict[int, Callable[[bytes], ProtocolPacket]]] = {
    ProtocolOpcode.SESSION_REQUEST: pull_session_request,
    ProtocolOpcode.SESSION_RESPONSE: pull_session_response,
    ProtocolOpcode.COMBINED: pull_combined,
    ProtocolOpcode.SESSION_DISCONNECT: pull_session_disconnect,
    ProtocolOpcode.KEEP_ALIVE: pull_keep_alive,
    ProtocolOpcode.SERVER_KEY_REQUEST: pull_server_key_request,
    ProtocolOpcode.SESSION_STAT_RESPONSE: pull_session_stat_response,
    ProtocolOpcode.PACKET: pull_data_packet,
    ProtocolOpcode.FRAGMENT: pull_fragment,
    ProtocolOpcode.OUT_OF_ORDER_ACK: pull_out_of_order_ack,
    ProtocolOpcode.ACK: pull_ack,
    ProtocolOpcode.APP_COMBINED: pull_app_combined,
    ProtocolOpcode.OUT_OF_SESSION: pull_out_of_session,
}

_PUSH: Final[dict[type, Callable[..., bytes]]] = {
    SessionRequest: push_session_request,
    SessionResponse: push_session_response,
    Combined: push_combined,
    SessionDisconnect: push_session_disconnect,
    KeepAlive: push_keep_alive,
    ServerKeyRequest: push_server_key_request,
    SessionStatResponse: push_session_stat_response,
    Packet: push_data_packet,
    Fragment: push_fragment,
    OutOfOrderAck: push_out_of_order_ack,
    Ack: push_ack,
    AppCombined: push_app_combined,
    OutOfSession: push_out_of_session,
}


def pull_packet(data: bytes) -> ProtocolPacket:
    """Read any protocol packet (unsealed: without check).

    Raises `MalformedDatagram`, or `LimitExceeded` for more than `PART_LIMIT` parts.
    """
    if len(data) < 2:
        raise MalformedDatagram("short datagram")
    if data[0]:
        raise MalformedDatagram("not a protocol packet")
    pull = _PULL.get(data[1])
    if pull is None:
        other = data[1] in OTHER_CHANNELS
        raise MalformedDatagram("unused channel" if other else "unknown protocol opcode")
    return pull(data)


def push_packet(packet: ProtocolPacket) -> bytes:
    """Write any protocol packet, without check. Raises `LocalProtocolError` for a bad value."""
    return _PUSH[type(packet)](packet)
