"""One server address and all its sessions, without input or output.

Owns who a datagram belongs to and what a stranger has to show for a session
(docs/protocol/transport.md#strangers, docs/protocol/transport.md#bad-input). Addresses are opaque.
Knows no socket, clock or timer: the shell keeps one timer for each session.

A SessionRequest costs its sender's address a small record and an answer. The session is made when a
datagram comes back whose check only the receiver of that answer can have made.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from types import MappingProxyType
from typing import Final

from emu.errors import LimitExceeded, PeerError
from emu.session.admission import (
    UNKNOWN_SESSION,
    CheckKeys,
    FixedCheckKey,
    HalfOpen,
    HalfOpenTable,
    KeyedCheckKeys,
    SessionAdmission,
    host_of,
)
from emu.session.configuration import EndpointConfig, Role
from emu.session.events import CloseReason
from emu.session.session import Session
from emu.session.totals import SessionTotals, SharedMemory
from emu.times import Monotonic
from emu.wire import ProtocolOpcode, Seal, SessionRequest, SessionResponse, packets
from emu.wire.packets import marker_of

_SESSION_REQUEST: Final = int(ProtocolOpcode.SESSION_REQUEST)
_SERVER_KEY_REQUEST: Final = marker_of(ProtocolOpcode.SERVER_KEY_REQUEST)
_OUT_OF_SESSION: Final = marker_of(ProtocolOpcode.OUT_OF_SESSION)

_Proof = tuple[int, int]
"""Check key and MaxLength of a SessionResponse that has reached its address."""


class Endpoint:
    """The sessions of one server socket.

    The shell, for each datagram: `receive_datagram` gives the session it belongs to, or None; after
    None it sends what `datagrams_to_send` holds: answers to SessionRequests, and replies that
    belong to no session. Of a session it drains `session.next_event()`, sends
    `session.datagrams_to_send(now)` to `session.address`, and asks `session.get_timer()`. It also
    takes every session of `next_ended()`: sessions the endpoint itself ended (a newer one took the
    address, or room was needed), each with a `SessionClosed` event to drain. A session whose
    `ended` is true it gives to `forget`, after its last datagrams.

    `random_bytes(count)` must be unpredictable; it is asked for a secret now and then.
    """

    def __init__(
        self,
        config: EndpointConfig,
        *,
        random_bytes: Callable[[int], bytes],
        host_key: Callable[[Hashable], Hashable | None] = host_of,
    ) -> None:
        self.config = config
        self._check_keys: CheckKeys = (
            KeyedCheckKeys(random_bytes, config.secret_lifetime)
            if config.check_key is None
            else FixedCheckKey(config.check_key)
        )
        self._admission = SessionAdmission(config, host_key)
        self._half_open = HalfOpenTable(config.half_open_limit)
        self._sessions: dict[Hashable, Session] = {}
        self._memory: SharedMemory[Session] = SharedMemory(config.memory_limit)
        self.ended: list[Session] = []
        """What `next_ended` has; to be looked at only."""
        self._replies: list[tuple[bytes, Hashable]] = []
        self._drops: dict[str, int] = {}
        self.totals = SessionTotals()
        """What sessions that are over have counted; `totals.with_those(self)` counts all."""

    # -- what an owner may look at --------------------------------------------------------------

    def __len__(self) -> int:
        """How many sessions there are; what is half open is none yet."""
        return len(self._sessions)

    def __iter__(self) -> Iterator[Session]:
        """All sessions; a snapshot."""
        return iter(list(self._sessions.values()))

    @property
    def half_open(self) -> int:
        """How many addresses have asked for a session and are not validated yet."""
        return len(self._half_open.records)

    @property
    def held_bytes(self) -> int:
        """How many bytes the peers of all sessions make us keep, as `weigh` learned last."""
        return self._memory.used

    @property
    def drops(self) -> Mapping[str, int]:
        """How many datagrams that belong to no session were dropped, by reason."""
        return MappingProxyType(self._drops)

    def get(self, address: Hashable) -> Session | None:
        """Return the session of an address."""
        return self._sessions.get(address)

    # -- datagrams ------------------------------------------------------------------------------

    def receive_datagram(self, data: bytes, address: Hashable, now: Monotonic) -> Session | None:
        """Give a datagram to its session and return that, or None when there is none."""
        if len(data) > 1 and data[1] == _SESSION_REQUEST and not data[0]:
            self._receive_request(data, address, now)
            return None
        session = self._sessions.get(address)
        if session is None:
            session = self._open_for_stranger(data, address, now)
            if session is None:
                self._refuse(data, address)
                return None
        elif self._half_open.records:
            session = self._owner_of(data, session, now)
        session.receive_datagram(data, now)
        waiting = self._admission.unacknowledged
        if waiting and session.acknowledged and session in waiting:
            self._take_acknowledged(session)
        return session

    def _refuse(self, data: bytes, address: Hashable) -> None:
        self._drop("unknown session")
        if (
            self.config.answer_out_of_session
            and len(data) >= len(_OUT_OF_SESSION)
            and data[:2] != _OUT_OF_SESSION
        ):
            self._reply(_OUT_OF_SESSION, address)

    def datagrams_to_send(self) -> list[tuple[bytes, Hashable]]:
        """Return what those without a session get, each less than twice what it answers."""
        replies = self._replies
        self._replies = []
        return replies

    def _reply(self, data: bytes, address: Hashable) -> None:
        if len(self._replies) < self.config.half_open_limit:
            self._replies.append((data, address))

    # -- requests -------------------------------------------------------------------------------

    def _receive_request(self, data: bytes, address: Hashable, now: Monotonic) -> None:
        try:
            if len(data) > self.config.session.datagram_size_limit:
                raise LimitExceeded("datagram too long")
            request = packets.SESSION_REQUEST.pull(data)
        except PeerError as error:
            self._drop(error.reason)
            return
        session = self._sessions.get(address)
        if session is not None and session.ended:
            session = None
        if session is not None and not self._may_be_another(session, request.session, now):
            if session.key is None:
                self._answer(request.session, session.check_key, session.max_length, address)
            else:
                self._drop("repeated session request")
            return
        host = self._admission.host_key(address)
        if session is None:
            reason = self._admission.reason_against(host)
        else:
            barred = self._admission.is_barred(address, now)
            reason = "too many wrong checks" if barred else None
        if reason is not None:
            self._drop(reason)
            return
        self._answer_half_open(request, address, host, session, now)

    def _may_be_another(self, session: Session, session_id: int, now: Monotonic) -> bool:
        """Tell a restarted client from a late copy of the request of the one we have.

        A client that starts again may come with the same id; the one before is silent then.
        """
        if session.key is None and session.session_id == UNKNOWN_SESSION:
            return False  # nothing is lost when the two share what has hardly begun
        return (
            session.session_id != session_id
            or now - session.last_received >= self.config.restart_silence
        )

    def _answer_half_open(
        self,
        request: SessionRequest,
        address: Hashable,
        host: Hashable | None,
        session: Session | None,
        now: Monotonic,
    ) -> None:
        """Answer a request and take note of it; what is sent depends on no such note."""
        max_length = self.config.session.clamp_max_length(request.max_length)
        before = session.check_key if session is not None else 0
        check_key = self._check_keys.current(address, max_length, before, now)
        record = self._half_open.get(address, now)
        if record is None:
            expires = now + self.config.session.unvalidated_lifetime
            record = HalfOpen(request.session, max_length, check_key, host, expires)
            self._half_open.add(address, record, now)
        record.answer(request.session, max_length, check_key)
        self._answer(request.session, check_key, max_length, address)

    def _answer(self, session_id: int, check_key: int, max_length: int, address: Hashable) -> None:
        form = self.config.session.stream_type.format
        answer = SessionResponse(session_id, check_key, max_length, form)
        self._reply(packets.SESSION_RESPONSE.push(answer), address)

    # -- proofs ---------------------------------------------------------------------------------

    def _open_for_stranger(self, data: bytes, address: Hashable, now: Monotonic) -> Session | None:
        """Return a new session when a datagram shows that its sender got our answer.

        Whose record had to make room is known by the check alone, but only with what a new client
        says first: the last words of a session that is over have a valid check as well.
        """
        record = self._half_open.get(address, now)
        if record is None and data[:2] != _SERVER_KEY_REQUEST:
            return None
        proof = self._proof(data, address, record, 0, now)
        if proof is None:
            return None
        reason = self._admission.reason_against(self._admission.host_key(address))
        if reason is not None:
            self._drop(reason)
            return None
        if record is not None:
            return self._open(address, proof, record.session_id, record.answers, now)
        session = self._make_session(address, proof, UNKNOWN_SESSION, 0, now)
        if not session.is_opened_by(data, self.config.session.session_request_attempts):
            return None
        self._admit(session)
        return session

    def _owner_of(self, data: bytes, session: Session, now: Monotonic) -> Session:
        """Return whose a datagram from the address of a session is: that one's or a newer one's."""
        address = session.address
        record = self._half_open.get(address, now)
        if record is None:
            return session
        if session.has_valid_check(data):
            # One check key for all: only what a new client says first tells them apart.
            is_shared = record.check_key == session.check_key
            if not is_shared or not session.is_opened_by(data, record.answers):
                return session
            proof: _Proof | None = (record.check_key, record.max_length)
        else:
            proof = self._proof(data, address, record, session.check_key, now)
        if proof is None:
            self._count_miss(record, address, now)
            return session
        return self._open(address, proof, record.session_id, record.answers, now)

    def _proof(
        self, data: bytes, address: Hashable, record: HalfOpen | None, before: int, now: Monotonic
    ) -> _Proof | None:
        """Return which check key and MaxLength of those handed out a datagram was made with.

        Without a record, or with one that a forger has spoilt, the MaxLength that clients ask for
        is tried.
        """
        if record is not None and Seal(record.check_key).is_valid(data):
            return record.check_key, record.max_length
        max_length = self.config.session.max_length
        for check_key in self._check_keys.accepted(address, max_length, before, now):
            if Seal(check_key).is_valid(data):
                return check_key, max_length
        return None

    def _count_miss(self, record: HalfOpen, address: Hashable, now: Monotonic) -> None:
        """Let nobody take an address over by trying all 65,536 checks."""
        record.misses += 1
        if record.misses > self.config.takeover_miss_limit:
            self._half_open.remove(address)
            self._admission.bar(address, now)

    def _open(
        self, address: Hashable, proof: _Proof, session_id: int, answers: int, now: Monotonic
    ) -> Session:
        session = self._make_session(address, proof, session_id, answers, now)
        self._admit(session)
        return session

    def _make_session(
        self, address: Hashable, proof: _Proof, session_id: int, answers: int, now: Monotonic
    ) -> Session:
        check_key, max_length = proof
        session = Session(
            self.config.session, role=Role.SERVER, check_key=check_key, address=address,
            check_is_public=self._check_keys.are_public,
        )  # fmt: skip
        session.accept(session_id, max_length, now, answers)
        return session

    def _admit(self, session: Session) -> None:
        """Make a session the one of its address; what was there before is over."""
        address = session.address
        self._half_open.remove(address)
        replaced = self._sessions.get(address)
        if replaced is not None:
            self._discard(replaced, CloseReason.REPLACED)
        self._sessions[address] = session
        if not self._check_keys.are_public:
            self._admission.count(session)
            return
        oldest = self._admission.keep(session)
        if oldest is not None:
            self._discard(oldest, CloseReason.EVICTED)

    def _take_acknowledged(self, session: Session) -> None:
        """Count a session that has acknowledged something, unless its host has enough already."""
        host = self._admission.host_key(session.address)
        if self._admission.reason_against(host) is None:
            self._admission.count(session)
        else:
            self._discard(session, CloseReason.EVICTED)

    # -- ending ---------------------------------------------------------------------------------

    def next_ended(self) -> Session | None:
        """Return a session that the endpoint itself ended and already forgot, or None."""
        return self.ended.pop(0) if self.ended else None

    def forget(self, session: Session) -> None:
        """Let go of a session; one that is not known (any more) is fine."""
        address = session.address
        if self._sessions.get(address) is not session:
            return
        del self._sessions[address]
        self.totals.add(session)
        self._memory.note(session, 0)
        self._admission.remove(session)

    def weigh(self, session: Session, elsewhere: int = 0) -> int:
        """Take note of what a session holds, and end those that hold most when it is too much.

        `elsewhere` is what its owner keeps of its messages, in bytes. To be called after each turn
        in which the session took something in or was given something to send. Returns what it holds
        in all.
        """
        held = session.held_bytes + elsewhere
        if held == self._memory.of(session):  # nearly always nothing, before and after
            return held
        if self._sessions.get(session.address) is session:
            self._memory.note(session, held)
            for heavy in self._memory.to_end():
                self._discard(heavy, CloseReason.MEMORY)
        return held

    def _discard(self, session: Session, reason: CloseReason) -> None:
        session.replace(reason)
        self.forget(session)
        self.ended.append(session)

    def _drop(self, reason: str) -> None:
        self._drops[reason] = self._drops.get(reason, 0) + 1
