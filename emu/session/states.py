"""Where a session stands and what may come when: everything about state, as tables.

This module does not know how anything is done. CLOSED > ESTABLISHED > CLOSING > CLOSED are the
seed's states, which owners see; a `SessionPhase` says more exactly where in them a session is, so
that what was asked, validated, agreed and said goodbye to is one value that can only go forward.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, IntEnum
from typing import Final

from emu.errors import LocalProtocolError
from emu.session.configuration import Role
from emu.wire import ProtocolOpcode as Op


class ConnectionState(Enum):
    """Where a session stands. A session that has been CLOSED again is not used a second time."""

    CLOSED = "closed"
    ESTABLISHED = "established"
    CLOSING = "closing"


class SessionPhase(IntEnum):
    """Where exactly a session stands; numbered in the order of its life, so that < means before."""

    NEW = 0
    """Nothing was asked or answered."""
    ASKED = 1
    """A client has asked for the session."""
    ANSWERED = 2
    """A server has answered, and nothing shows yet that the answer arrived."""
    VALIDATED = 3
    """The peer has shown that it got our datagrams; there is no key."""
    KEYED = 4
    """Messages go both ways."""
    CLOSING = 5
    """Our side closes: what is queued still has to arrive."""
    PARTING = 6
    """Our SessionDisconnect is on its way."""
    PARTED = 7
    """It was sent again."""
    ENDED = 8
    """Over."""


class SessionStep(Enum):
    """What moves a session from one stage to another."""

    ASK = "a SessionRequest is sent"
    ANSWER = "a server answers the SessionRequest"
    AGREE = "a client has the SessionResponse"
    VALIDATE = "a datagram with a valid check has come"
    KEY = "the RC4 key is known"
    CLOSE = "our side closes"
    PART = "our SessionDisconnect is sent"
    END = "disconnected, timed out, failed or replaced"


STATES: Final[Mapping[SessionPhase, ConnectionState]] = {
    SessionPhase.NEW: ConnectionState.CLOSED,
    SessionPhase.ASKED: ConnectionState.CLOSED,
    SessionPhase.ANSWERED: ConnectionState.ESTABLISHED,
    SessionPhase.VALIDATED: ConnectionState.ESTABLISHED,
    SessionPhase.KEYED: ConnectionState.ESTABLISHED,
    SessionPhase.CLOSING: ConnectionState.CLOSING,
    SessionPhase.PARTING: ConnectionState.CLOSING,
    SessionPhase.PARTED: ConnectionState.CLOSING,
    SessionPhase.ENDED: ConnectionState.CLOSED,
}
"""What of its stage an owner sees."""

TRANSITIONS: Final[Mapping[tuple[SessionPhase, SessionStep], SessionPhase]] = {
    (SessionPhase.NEW, SessionStep.ASK): SessionPhase.ASKED,
    (SessionPhase.NEW, SessionStep.ANSWER): SessionPhase.ANSWERED,
    (SessionPhase.NEW, SessionStep.END): SessionPhase.ENDED,
    (SessionPhase.ASKED, SessionStep.ASK): SessionPhase.ASKED,
    (SessionPhase.ASKED, SessionStep.AGREE): SessionPhase.VALIDATED,
    (SessionPhase.ASKED, SessionStep.END): SessionPhase.ENDED,
    (SessionPhase.ANSWERED, SessionStep.VALIDATE): SessionPhase.VALIDATED,
    (SessionPhase.ANSWERED, SessionStep.END): SessionPhase.ENDED,
    (SessionPhase.VALIDATED, SessionStep.KEY): SessionPhase.KEYED,
    (SessionPhase.VALIDATED, SessionStep.CLOSE): SessionPhase.CLOSING,
    (SessionPhase.VALIDATED, SessionStep.END): SessionPhase.ENDED,
    (SessionPhase.KEYED, SessionStep.CLOSE): SessionPhase.CLOSING,
    (SessionPhase.KEYED, SessionStep.END): SessionPhase.ENDED,
    # A key that comes while we close lets the other side's last messages be acknowledged; it does
    # not open the session again.
    (SessionPhase.CLOSING, SessionStep.KEY): SessionPhase.CLOSING,
    (SessionPhase.CLOSING, SessionStep.PART): SessionPhase.PARTING,
    (SessionPhase.CLOSING, SessionStep.END): SessionPhase.ENDED,
    (SessionPhase.PARTING, SessionStep.KEY): SessionPhase.PARTING,
    (SessionPhase.PARTING, SessionStep.PART): SessionPhase.PARTED,
    (SessionPhase.PARTING, SessionStep.END): SessionPhase.ENDED,
    (SessionPhase.PARTED, SessionStep.KEY): SessionPhase.PARTED,
    (SessionPhase.PARTED, SessionStep.END): SessionPhase.ENDED,
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
_IN_SESSION: Final[Mapping[Role, frozenset[int]]] = {
    Role.SERVER: _EITHER | {Op.SESSION_REQUEST, Op.SERVER_KEY_REQUEST},
    Role.CLIENT: _EITHER | {Op.SESSION_STAT_RESPONSE, Op.OUT_OF_SESSION},
}
_BEFORE: Final[Mapping[Role, frozenset[int]]] = {
    Role.SERVER: frozenset((Op.SESSION_REQUEST,)),
    Role.CLIENT: frozenset((Op.SESSION_RESPONSE,)),
}
_NOTHING: Final[frozenset[int]] = frozenset()

ALLOWED: Final[Mapping[tuple[Role, SessionPhase], frozenset[int]]] = {
    **{(role, stage): _IN_SESSION[role] for role in Role for stage in SessionPhase},
    **{
        (role, stage): _BEFORE[role]
        for role in Role
        for stage in (SessionPhase.NEW, SessionPhase.ASKED)
    },
    **{(role, SessionPhase.ENDED): _NOTHING for role in Role},
}
"""Which protocol opcodes a session takes, by its own role and stage."""


class Standing:
    """Where one session stands; what its parts share, so that none has to know another.

    `stage` changes with `step` only, and `allowed` (protocol opcodes) with it. `last_received` is
    when the last datagram with a valid check came, `last_sent` when anything left, in seconds.
    """

    __slots__ = ("_role", "allowed", "last_received", "last_sent", "stage")

    def __init__(self, role: Role) -> None:
        self._role = role
        self.stage = SessionPhase.NEW
        self.allowed: frozenset[int] = ALLOWED[role, SessionPhase.NEW]
        self.last_received = 0.0
        self.last_sent = 0.0

    def step(self, step: SessionStep) -> None:
        """Change the stage; the only place that does. Raises `LocalProtocolError` out of turn."""
        stage = TRANSITIONS.get((self.stage, step))
        if stage is None:
            raise LocalProtocolError(f"a session that is {self.stage.name} cannot {step.name}")
        self.stage = stage
        self.allowed = ALLOWED[self._role, stage]
