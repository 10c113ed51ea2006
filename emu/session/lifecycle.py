"""The phases of a session as tables, its timers, and its control packets.

Owners see the three states of `ConnectionState`. A `SessionPhase` is finer: requested, answered,
validated, keyed and disconnecting are one value that only moves forward. `Lifecycle` is the state
machine, `SessionTimers` decides what is due and when. `ControlPackets` keeps the packets outside
the reliable channel until they are sent. A client sends a ServerKeyRequest, a server replies with a
SessionStatResponse. They carry packet counts and round trips, and the first request also asks for
the key.

Sources: docs/protocol/transport.md#setup, docs/protocol/transport.md#reliability,
docs/protocol/transport.md#keys.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from enum import Enum, IntEnum
from typing import Final

from emu.errors import LocalProtocolError, MalformedDatagram
from emu.session.configuration import Role, SessionConfig
from emu.session.events import StatisticsReceived
from emu.session.send_queue import RoundTrip
from emu.times import Monotonic
from emu.wire import ProtocolOpcode as Op
from emu.wire import ServerKeyRequest, SessionStatResponse, packets
from emu.wire.packets import marker_of


class ConnectionState(Enum):
    """The state of a session as its owner sees it. A session is never reused after its end."""

    CLOSED = "closed"
    ESTABLISHED = "established"
    CLOSING = "closing"


class SessionPhase(IntEnum):
    """The phase of a session, numbered in the order of its life: < means before."""

    NEW = 0
    """Nothing was sent or received."""
    REQUESTED = 1
    """A client has sent a SessionRequest."""
    RESPONDED = 2
    """A server has sent a SessionResponse; nothing proves yet that it arrived."""
    VALIDATED = 3
    """The peer has proven that it receives our datagrams; there is no key."""
    KEYED = 4
    """Messages go both ways."""
    CLOSING = 5
    """Our side closes: queued messages still have to arrive."""
    DISCONNECTING = 6
    """Our SessionDisconnect was sent once."""
    DISCONNECT_REPEATED = 7
    """Our SessionDisconnect was sent twice."""
    ENDED = 8
    """The session is over."""


class SessionStep(Enum):
    """A step of a session from one phase to another."""

    REQUEST = "a client sends a SessionRequest"
    RESPOND = "a server sends a SessionResponse"
    ESTABLISH = "a client receives the SessionResponse"
    VALIDATE = "the first datagram with a valid check arrives"
    KEY = "the RC4 key is known"
    CLOSE = "our side closes"
    DISCONNECT = "our SessionDisconnect is sent"
    END = "disconnected, timed out, failed or replaced"


STATES: Final[Mapping[SessionPhase, ConnectionState]] = {
    SessionPhase.NEW: ConnectionState.CLOSED,
    SessionPhase.REQUESTED: ConnectionState.CLOSED,
    SessionPhase.RESPONDED: ConnectionState.ESTABLISHED,
    SessionPhase.VALIDATED: ConnectionState.ESTABLISHED,
    SessionPhase.KEYED: ConnectionState.ESTABLISHED,
    SessionPhase.CLOSING: ConnectionState.CLOSING,
    SessionPhase.DISCONNECTING: ConnectionState.CLOSING,
    SessionPhase.DISCONNECT_REPEATED: ConnectionState.CLOSING,
    SessionPhase.ENDED: ConnectionState.CLOSED,
}
"""The state that an owner sees in each phase."""

TRANSITIONS: Final[Mapping[tuple[SessionPhase, SessionStep], SessionPhase]] = {
    # A step that is missing here is a fault of this program, so `advance` raises for it.
    (SessionPhase.NEW, SessionStep.REQUEST): SessionPhase.REQUESTED,
    (SessionPhase.NEW, SessionStep.RESPOND): SessionPhase.RESPONDED,
    (SessionPhase.NEW, SessionStep.END): SessionPhase.ENDED,
    # A client repeats its request until a response arrives.
    (SessionPhase.REQUESTED, SessionStep.REQUEST): SessionPhase.REQUESTED,
    (SessionPhase.REQUESTED, SessionStep.ESTABLISH): SessionPhase.VALIDATED,
    (SessionPhase.REQUESTED, SessionStep.END): SessionPhase.ENDED,
    (SessionPhase.RESPONDED, SessionStep.VALIDATE): SessionPhase.VALIDATED,
    (SessionPhase.RESPONDED, SessionStep.END): SessionPhase.ENDED,
    (SessionPhase.VALIDATED, SessionStep.KEY): SessionPhase.KEYED,
    (SessionPhase.VALIDATED, SessionStep.CLOSE): SessionPhase.CLOSING,
    (SessionPhase.VALIDATED, SessionStep.END): SessionPhase.ENDED,
    (SessionPhase.KEYED, SessionStep.CLOSE): SessionPhase.CLOSING,
    (SessionPhase.KEYED, SessionStep.END): SessionPhase.ENDED,
    # A key that arrives while we close lets us acknowledge the peer's last messages. It does not
    # open the session again.
    (SessionPhase.CLOSING, SessionStep.KEY): SessionPhase.CLOSING,
    (SessionPhase.CLOSING, SessionStep.DISCONNECT): SessionPhase.DISCONNECTING,
    (SessionPhase.CLOSING, SessionStep.END): SessionPhase.ENDED,
    (SessionPhase.DISCONNECTING, SessionStep.KEY): SessionPhase.DISCONNECTING,
    # The first SessionDisconnect may be lost, and nothing acknowledges it.
    (SessionPhase.DISCONNECTING, SessionStep.DISCONNECT): SessionPhase.DISCONNECT_REPEATED,
    (SessionPhase.DISCONNECTING, SessionStep.END): SessionPhase.ENDED,
    (SessionPhase.DISCONNECT_REPEATED, SessionStep.KEY): SessionPhase.DISCONNECT_REPEATED,
    (SessionPhase.DISCONNECT_REPEATED, SessionStep.END): SessionPhase.ENDED,
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
    # A server accepts no OutOfSession: it has no check, so anybody could end sessions with it.
    Role.SERVER: _EITHER | {Op.SESSION_REQUEST, Op.SERVER_KEY_REQUEST},
    Role.CLIENT: _EITHER | {Op.SESSION_STAT_RESPONSE, Op.OUT_OF_SESSION},
}
_BEFORE: Final[Mapping[Role, frozenset[int]]] = {
    Role.SERVER: frozenset((Op.SESSION_REQUEST,)),
    Role.CLIENT: frozenset((Op.SESSION_RESPONSE,)),
}
_NOTHING: Final[frozenset[int]] = frozenset()

ALLOWED: Final[Mapping[tuple[Role, SessionPhase], frozenset[int]]] = {
    **{(role, phase): _IN_SESSION[role] for role in Role for phase in SessionPhase},
    # Later entries replace earlier ones: first the usual set, then the phases that differ.
    **{
        (role, phase): _BEFORE[role]
        for role in Role
        for phase in (SessionPhase.NEW, SessionPhase.REQUESTED)
    },
    **{(role, SessionPhase.ENDED): _NOTHING for role in Role},
}
"""The protocol opcodes that a session accepts, by its own role and phase."""


class Lifecycle:
    """The state machine of one session, shared by everything that depends on the phase.

    Only `advance` changes `phase` and `allowed` (protocol opcodes). `last_received` is when the
    last datagram with a valid check came, `last_sent` when the last datagram left, in seconds.
    """

    __slots__ = ("_role", "allowed", "last_received", "last_sent", "phase")

    def __init__(self, role: Role) -> None:
        self._role = role
        self.phase = SessionPhase.NEW
        self.allowed: frozenset[int] = ALLOWED[role, SessionPhase.NEW]
        self.last_received = 0.0
        self.last_sent = 0.0

    def advance(self, step: SessionStep) -> None:
        """Change the phase. Raises `LocalProtocolError` for a step that the table does not list."""
        phase = TRANSITIONS.get((self.phase, step))
        if phase is None:
            raise LocalProtocolError(f"a session that is {self.phase.name} cannot {step.name}")
        self.phase = phase
        self.allowed = ALLOWED[self._role, phase]


_VALIDATED: Final = SessionPhase.VALIDATED
_KEYED: Final = SessionPhase.KEYED
_ENDED: Final = SessionPhase.ENDED


class TimerAction(Enum):
    """The action of a session when one of its timers is due."""

    REPEAT_REQUEST = "send the SessionRequest again"
    GIVE_UP_REQUEST = "end: no response to the SessionRequest"
    GIVE_UP_VALIDATION = "end: nothing proved the client's address"
    GIVE_UP_SILENT_PEER = "end: nothing received for too long"
    SEND_DISCONNECT = "send the SessionDisconnect"
    STOP_WAITING_FOR_DISCONNECT = "end: no reply to the SessionDisconnect"
    SEND_KEEP_ALIVE = "send a KeepAlive"
    REQUEST_STATISTICS = "send a ServerKeyRequest"


def request_pause(config: SessionConfig, tries: int) -> float:
    """Return the seconds until a request is repeated; `tries` is 0 for the first one."""
    # The round trip is still unknown. Short first pauses survive a lossy link and cost a server
    # next to nothing; growing ones do not flood a long path or a busy server.
    return config.session_request_pause * config.session_request_pause_growth**tries


class SessionTimers:
    """Every deadline of one session except retransmission.

    `connect`, `open`, `close`, `disconnect` and `end_wait` are called when that happens. They
    advance the `lifecycle` where the step starts or stops a deadline.
    """

    __slots__ = (
        "_config",
        "_deadline",
        "_is_client",
        "_keep_alive_interval",
        "_lifecycle",
        "_next_statistics",
        "_requests",
        "_statistics_tries",
    )

    def __init__(self, config: SessionConfig, role: Role, lifecycle: Lifecycle) -> None:
        self._config = config
        self._lifecycle = lifecycle
        self._deadline: Monotonic | None = None
        """When the current phase has lasted too long; None in phases without a limit."""
        self._requests = 0
        self._statistics_tries = 0
        self._next_statistics = math.inf  # a server never asks
        self._is_client = role is Role.CLIENT
        self._keep_alive_interval = (
            config.keep_alive_interval if self._is_client else config.server_keep_alive_interval
        )

    # -- what happens -----------------------------------------------------------------------------

    def request(self, now: Monotonic) -> None:
        """Note a SessionRequest. Raises `LocalProtocolError` once one was answered."""
        self._lifecycle.advance(SessionStep.REQUEST)
        self._deadline = Monotonic(now + request_pause(self._config, self._requests))
        self._requests += 1

    def open(self, step: SessionStep, now: Monotonic) -> None:
        """Note that a server has responded (`RESPOND`) or a client got the response (`ESTABLISH`).

        A server's client must prove its address within `unvalidated_lifetime`.
        """
        lifecycle = self._lifecycle
        lifecycle.advance(step)
        lifecycle.last_received = lifecycle.last_sent = now
        self._deadline = Monotonic(now + self._config.unvalidated_lifetime)

    def close(self) -> None:
        """Note that our side closes; the limit starts with the next `wait_for_acknowledgments`."""
        self._lifecycle.advance(SessionStep.CLOSE)
        # The deadline of the phase before must not end the closing session.
        self._deadline = None

    def wait_for_acknowledgments(self, now: Monotonic) -> None:
        """Start `close_timeout`, in which queued messages may still arrive, unless it runs."""
        # A later call must not prolong the wait: a peer that never acknowledges would hold us open.
        if self._deadline is None:
            self._deadline = Monotonic(now + self._config.close_timeout)

    def end_wait(self, now: Monotonic) -> None:
        """Make the deadline of this phase due now."""
        self._deadline = now

    def disconnect(self, now: Monotonic, timeout: float) -> None:
        """Note that our SessionDisconnect is sent, once or again.

        `timeout` is the retransmission's: a client that changes zones waits for this packet.
        """
        self._lifecycle.advance(SessionStep.DISCONNECT)
        pause = self._config.disconnect_timeout
        if self._lifecycle.phase is SessionPhase.DISCONNECTING:
            pause = min(pause, timeout)
        self._deadline = Monotonic(now + pause)

    def plan_statistics(self, now: Monotonic, *, is_complete: bool) -> None:
        """Plan a client's next ServerKeyRequest: soon until `is_complete`, rarely afterwards.

        A session is complete once it has its key and a measured round trip. The request also
        reports the round trip to the server. Without it both sides repeat lost packets too late.
        """
        config = self._config
        interval = config.statistics_interval
        if not is_complete:
            pause = min(request_pause(config, self._statistics_tries), config.timeout_maximum)
            interval = min(pause, interval)
            self._statistics_tries += 1
        self._next_statistics = now + interval

    # -- time -------------------------------------------------------------------------------------

    def get_timer(self, retransmission: Monotonic | None) -> Monotonic | None:
        """Return when `take_due` has something, or `retransmission` if that is earlier."""
        lifecycle = self._lifecycle
        phase = lifecycle.phase
        if phase is _ENDED:
            return None
        if phase < _VALIDATED:
            return self._deadline
        deadline = lifecycle.last_received + self._config.idle_timeout
        if phase <= _KEYED:
            deadline = min(deadline, self._next_keep_alive(), self._next_statistics)
        elif self._deadline is not None and self._deadline < deadline:
            deadline = self._deadline
        if retransmission is not None and retransmission < deadline:
            return retransmission
        return Monotonic(deadline)

    def take_due(self, now: Monotonic) -> Iterator[TimerAction]:
        """Yield the actions that are due now; one that ends the session comes alone."""
        lifecycle = self._lifecycle
        phase = lifecycle.phase
        if phase < _VALIDATED:
            if self._is_over(now):
                yield self._due_unvalidated(phase)
        elif now >= lifecycle.last_received + self._config.idle_timeout:
            yield TimerAction.GIVE_UP_SILENT_PEER
        # A closing session needs no keep-alive: its deadline ends it.
        elif phase <= _KEYED:
            if now >= self._next_keep_alive():
                yield TimerAction.SEND_KEEP_ALIVE
            if now >= self._next_statistics:
                yield TimerAction.REQUEST_STATISTICS
        elif self._is_over(now):
            # One repetition is enough: a peer that misses both has its own idle timeout.
            if phase is SessionPhase.DISCONNECT_REPEATED:
                yield TimerAction.STOP_WAITING_FOR_DISCONNECT
            else:
                yield TimerAction.SEND_DISCONNECT

    def _next_keep_alive(self) -> float:
        # A peer that misses its own keep-alives may be behind an interrupted link. It gets one
        # every `retry_interval` then: both sides hear each other soon after the link is back, and
        # before their idle timeouts.
        lifecycle = self._lifecycle
        config = self._config
        usual = lifecycle.last_sent + self._keep_alive_interval
        suspected = lifecycle.last_received + config.keep_alive_interval + config.retry_interval
        return min(usual, max(suspected, lifecycle.last_sent + config.retry_interval))

    def _due_unvalidated(self, phase: SessionPhase) -> TimerAction:
        if phase is SessionPhase.RESPONDED:
            return TimerAction.GIVE_UP_VALIDATION
        is_exhausted = self._requests >= self._config.session_request_attempts
        return TimerAction.GIVE_UP_REQUEST if is_exhausted else TimerAction.REPEAT_REQUEST

    def _is_over(self, now: Monotonic) -> bool:
        return self._deadline is not None and now >= self._deadline

    def may_answer(self, timeout: float, now: Monotonic) -> bool:
        """Return whether a KeepAlive is answered with another; `timeout` is the retransmission's.

        A server echoes every KeepAlive; a client that did so too would start a loop. A client
        replies only to a probe, for a server that hears nothing of it: an echo comes within the
        timeout of the client's last datagram, a probe later.
        """
        pause = max(timeout, self._config.retry_interval / 2)
        return not self._is_client or now - self._lifecycle.last_sent >= pause

    def is_silent(self, now: Monotonic) -> bool:
        """Return whether the peer was silent for so long that an OutOfSession may be believed."""
        return now - self._lifecycle.last_received >= self._config.out_of_session_silence


_KEEP_ALIVE: Final = marker_of(Op.KEEP_ALIVE)
_U16: Final = 0xFFFF
_U32: Final = 0xFFFFFFFF
_OPEN_REQUESTS: Final = 16
"""Statistics requests whose responses may be missing at the same time."""


class ControlPackets:
    """The packets of one session outside its reliable channel, kept until the next datagram.

    `pending` is whether `take_pending` has something. A second request for the same packet adds
    nothing.
    """

    __slots__ = ("_keep_alive", "_peer_request", "_requested_at", "_statistics", "pending")

    def __init__(self) -> None:
        self.pending = False
        self._keep_alive = False
        self._statistics = False
        self._peer_request: ServerKeyRequest | None = None
        self._requested_at: dict[int, Monotonic] | None = None  # by request id; servers have none

    def keep_alive(self) -> None:
        """Send a KeepAlive."""
        self._keep_alive = self.pending = True

    def request_statistics(self) -> None:
        """Send a ServerKeyRequest."""
        self._statistics = self.pending = True

    def respond(self, request: ServerKeyRequest) -> None:
        """Send a SessionStatResponse; only the last request gets one."""
        self._peer_request = request
        self.pending = True

    def take_pending(
        self, round_trip: RoundTrip, *, sent: int, received: int, now: Monotonic
    ) -> list[bytes]:
        """Return and forget what is pending.

        `sent` and `received` count datagrams, including the one that these packets leave in.
        """
        self.pending = False
        taken: list[bytes] = []
        request = self._peer_request
        if request is not None:
            self._peer_request = None
            response = stat_response(request, sent=sent, received=received, now=now)
            taken.append(packets.SESSION_STAT_RESPONSE.push(response))
        if self._statistics:
            self._statistics = False
            question = self._stat_request(round_trip, sent=sent, received=received, now=now)
            taken.append(packets.SERVER_KEY_REQUEST.push(question))
        if self._keep_alive:
            self._keep_alive = False
            taken.append(_KEEP_ALIVE)
        return taken

    def _stat_request(
        self, round_trip: RoundTrip, *, sent: int, received: int, now: Monotonic
    ) -> ServerKeyRequest:
        # The id field has 16 bits; the clock in milliseconds makes it differ from request to
        # request.
        request_id = int(now * 1000) & _U16
        requested_at = self._requested_at
        if requested_at is None:
            requested_at = self._requested_at = {}
        # Without responses the table would grow. The next response then belongs to a later request.
        if len(requested_at) >= _OPEN_REQUESTS:
            requested_at.clear()
        requested_at[request_id] = now
        latest = int(round_trip.latest * 1000)
        # At least one millisecond: the server takes 0 as "not measured", and sets its own
        # retransmission timeout by this number.
        average = max(int(round_trip.smoothed * 1000), 1) if round_trip.measured else 0
        low, high = int(round_trip.low * 1000), int(round_trip.high * 1000)
        return ServerKeyRequest(request_id, latest, average, low, high, latest, sent, received)

    def measure(
        self, response: SessionStatResponse, round_trip: RoundTrip, now: Monotonic
    ) -> StatisticsReceived:
        """Measure the round trip by a response, and return the event that reports it.

        A response to an earlier request counts too. It settles all open requests. Raises
        `MalformedDatagram` for a response to no open request.
        """
        requested_at = self._requested_at.get(response.request_id) if self._requested_at else None
        if requested_at is None:
            raise MalformedDatagram("unasked statistics")
        # A late response to an older request would measure a round trip that is too long.
        self._requested_at = None
        took = max(now - requested_at, 0.0)
        round_trip.measure(took)
        return StatisticsReceived(
            took, round_trip.smoothed, round_trip.low, round_trip.high,
            response.server_sent, response.server_received,
        )  # fmt: skip


def stat_response(
    request: ServerKeyRequest, *, sent: int, received: int, now: Monotonic
) -> SessionStatResponse:
    """Return a server's response to a request; it repeats the client's own counts."""
    return SessionStatResponse(
        # The clock field has 32 bits and wraps after 49 days.
        request.request_id, int(now * 1000) & _U32,
        request.packets_sent, request.packets_received, sent, received,
    )  # fmt: skip


def statistics_of(request: ServerKeyRequest) -> StatisticsReceived:
    """Return the event that reports a client's statistics to its server."""
    return StatisticsReceived(
        request.last / 1000, request.average / 1000, request.low / 1000, request.high / 1000,
        request.packets_sent, request.packets_received,
    )  # fmt: skip
