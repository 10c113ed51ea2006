"""The bytes of one datagram: the layouts of the protocol packets, the keyed check, the seal.

Owns shapes only (docs/protocol/transport.md). Knows nothing of sessions, order, time, ciphers or
application messages. Integers are big-endian at this layer.
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
