"""The bytes of one datagram: the layouts of the protocol packets, the check, the seal.

Sessions, order, time, ciphers and application messages are elsewhere (docs/protocol/transport.md).
Integers are big-endian at this layer.
"""

from __future__ import annotations

from emu.wire.packets import (
    Ack,
    AppCombined,
    Combined,
    Fragment,
    KeepAlive,
    OutOfOrderAck,
    OutOfSession,
    ProtocolOpcode,
    ProtocolPacket,
    ReliablePacket,
    ServerKeyRequest,
    SessionDisconnect,
    SessionRequest,
    SessionResponse,
    SessionStatResponse,
    pull_packet,
    push_packet,
)
from emu.wire.seal import Format, Seal, check_of, check_start

__all__ = [
    "Ack",
    "AppCombined",
    "Combined",
    "Format",
    "Fragment",
    "KeepAlive",
    "OutOfOrderAck",
    "OutOfSession",
    "ProtocolOpcode",
    "ProtocolPacket",
    "ReliablePacket",
    "Seal",
    "ServerKeyRequest",
    "SessionDisconnect",
    "SessionRequest",
    "SessionResponse",
    "SessionStatResponse",
    "check_of",
    "check_start",
    "pull_packet",
    "push_packet",
]
