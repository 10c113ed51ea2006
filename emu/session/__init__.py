"""The EQ2 session layer without input or output: order, loss, cipher, messages.

`Session` is one side of one session, either role. `Endpoint` finds the session of a datagram on a
server's socket. `FollowingSession` decodes one direction of a recorded session. `SessionConfig` and
`EndpointConfig` are the settings, the events report what happened. `CipherPair` and
`key_from_block` are the cipher alone, for programs that have a session's bytes but no session.
"""

from __future__ import annotations

from emu.session.codec import CipherPair, key_from_block
from emu.session.configuration import (
    AddressChanges,
    EndpointConfig,
    Role,
    SessionConfig,
    StreamType,
)
from emu.session.endpoint import Endpoint
from emu.session.events import (
    AddressChanged,
    CloseReason,
    DatagramDropped,
    DropReason,
    Event,
    KeyEstablished,
    LateMessage,
    Message,
    SessionClosed,
    SessionEstablished,
    SessionStatistics,
    StatisticsReceived,
    Writable,
)
from emu.session.follow import FollowingSession
from emu.session.lifecycle import ConnectionState
from emu.session.metrics import EndpointMeasures
from emu.session.session import Session

__all__ = [
    "AddressChanged",
    "AddressChanges",
    "CipherPair",
    "CloseReason",
    "ConnectionState",
    "DatagramDropped",
    "DropReason",
    "Endpoint",
    "EndpointConfig",
    "EndpointMeasures",
    "Event",
    "FollowingSession",
    "KeyEstablished",
    "LateMessage",
    "Message",
    "Role",
    "Session",
    "SessionClosed",
    "SessionConfig",
    "SessionEstablished",
    "SessionStatistics",
    "StatisticsReceived",
    "StreamType",
    "Writable",
    "key_from_block",
]
