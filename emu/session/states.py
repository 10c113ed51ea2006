"""The connection states and what may come when, as tables. Everything about state is here.

This module does not know how anything is done. States and ways between them are the seed's:
CLOSED > SessionRequest > ESTABLISHED > SessionDisconnect > CLOSING > CLOSED.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Final

from emu.session.configuration import Role
from emu.wire import ProtocolOpcode as Op


class ConnectionState(Enum):
    """Where a session stands. A session that has been CLOSED again is not used a second time."""

    CLOSED = "closed"
    ESTABLISHED = "established"
    CLOSING = "closing"


class Step(Enum):
    """What moves a session from one state to another."""

    AGREED = "SessionRequest and SessionResponse have been exchanged"
    CLOSE = "our side closes"
    ENDED = "disconnected, timed out, failed or replaced"


TRANSITIONS: Final[Mapping[tuple[ConnectionState, Step], ConnectionState]] = {
    (ConnectionState.CLOSED, Step.AGREED): ConnectionState.ESTABLISHED,
    (ConnectionState.CLOSED, Step.ENDED): ConnectionState.CLOSED,
    (ConnectionState.ESTABLISHED, Step.CLOSE): ConnectionState.CLOSING,
    (ConnectionState.ESTABLISHED, Step.ENDED): ConnectionState.CLOSED,
    (ConnectionState.CLOSING, Step.ENDED): ConnectionState.CLOSED,
}

_EITHER: Final = frozenset(
    (
        Op.COMBINED,
        Op.SESSION_DISCONNECT,
        Op.KEEP_ALIVE,
        Op.PACKET,
        Op.FRAGMENT,
        Op.OUT_OF_ORDER_ACK,
        Op.ACK,
    )
)
_TO_SERVER: Final = _EITHER | {Op.SESSION_REQUEST, Op.SERVER_KEY_REQUEST}
_TO_CLIENT: Final = _EITHER | {Op.SESSION_STAT_RESPONSE, Op.OUT_OF_SESSION}

ALLOWED: Final[Mapping[tuple[Role, ConnectionState], frozenset[int]]] = {
    (Role.SERVER, ConnectionState.CLOSED): frozenset({Op.SESSION_REQUEST}),
    (Role.SERVER, ConnectionState.ESTABLISHED): frozenset(_TO_SERVER),
    (Role.SERVER, ConnectionState.CLOSING): frozenset(_TO_SERVER),
    (Role.CLIENT, ConnectionState.CLOSED): frozenset({Op.SESSION_RESPONSE}),
    (Role.CLIENT, ConnectionState.ESTABLISHED): frozenset(_TO_CLIENT),
    (Role.CLIENT, ConnectionState.CLOSING): frozenset(_TO_CLIENT),
}
"""Which protocol opcodes a session takes, by its own role and state."""
