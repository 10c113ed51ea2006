"""One server address with all its sessions, without input or output.

An endpoint finds the session of a datagram and decides what an unauthenticated peer must prove
(docs/protocol/transport.md#unauthenticated, docs/protocol/transport.md#bad-input). Addresses are
opaque. The caller owns sockets, clocks and timers.

A SessionRequest costs a small record and a reply, no session: its address may be forged. The
session is made when a datagram arrives whose check only the receiver of that reply can compute.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Final, Generic, TypeVar

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
from emu.session.events import CloseReason, SessionCounts
from emu.session.moves import Proven, SessionMoves
from emu.session.session import Session
from emu.times import Monotonic
from emu.wire import ProtocolOpcode, Seal, packets
from emu.wire.packets import marker_of

_SESSION_REQUEST: Final = int(ProtocolOpcode.SESSION_REQUEST)
_SERVER_KEY_REQUEST: Final = marker_of(ProtocolOpcode.SERVER_KEY_REQUEST)
_OUT_OF_SESSION: Final = marker_of(ProtocolOpcode.OUT_OF_SESSION)

MOST_LEFT: Final = 1024
"""The addresses that sessions have moved away from of which the check keys are remembered."""
_Proof = tuple[int, int]
"""Check key and MaxLength of a SessionResponse that has reached its address."""


class SessionTotals:
    """The sums over ended sessions. Each session counts for itself, so datagrams cost nothing more.

    `sessions` is how many there were, `counted` the sums of their counters, `drops` the dropped
    datagrams and messages by reason. `ended` is called with each session that ends.
    """

    __slots__ = ("counted", "drops", "ended", "sessions")

    def __init__(self) -> None:
        self.sessions = 0
        self.counted = SessionCounts()
        self.drops: Counter[str] = Counter()
        self.ended: Callable[[Session], object] = _ignore

    def add_session(self, session: Session) -> None:
        """Add the counters of a session that has ended."""
        self._add([session])
        self.ended(session)

    def with_those(self, alive: Iterable[Session]) -> SessionTotals:
        """Return the sums including sessions that are still alive."""
        sums = SessionTotals()
        sums.sessions = self.sessions
        sums.counted = self.counted
        # A copy: the caller's sum must not change while new sessions are added.
        sums.drops.update(self.drops)
        sums._add(alive)  # one of its own kind
        return sums

    def _add(self, sessions: Iterable[Session]) -> None:
        # The sum so far takes part in the addition below like one more session.
        counts = [self.counted]
        for session in sessions:
            counts.append(session.counts())
            if session.drops:
                self.drops.update(session.drops)
        self.sessions += len(counts) - 1
        self.counted = SessionCounts(*map(sum, zip(*counts, strict=True)))


def _ignore(_session: Session) -> None:
    """Do nothing when a session ends."""


Holder = TypeVar("Holder", bound=Hashable)

_FREED_SHARE: Final = 8
"""Beyond the limit, memory down to limit - limit / 8 is freed, so that this happens rarely."""


class SharedMemory(Generic[Holder]):
    """A limit in bytes for all holders together; `used` is what they hold now.

    Each session has bounds of its own, but ten thousand sessions at their bounds are more than a
    machine has.
    """

    __slots__ = ("_held", "limit", "used")

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.used = 0
        self._held: dict[Holder, int] = {}

    def of(self, holder: Holder) -> int:
        """Return how many bytes a holder held when that was noted last."""
        return self._held.get(holder, 0)

    def note(self, holder: Holder, held: int) -> None:
        """Note how many bytes a holder holds now; 0 forgets it."""
        before = self._held.get(holder, 0)
        if held == before:
            return
        self.used += held - before
        if held:
            self._held[holder] = held
        else:
            # The table has only sessions that hold something, so `to_end` sorts few.
            del self._held[holder]

    def to_end(self) -> list[Holder]:
        """Return the holders to end, largest first; none while the limit is kept."""
        # A session that holds much belongs to an attacker or to a client whose network is gone: a
        # client that is served holds next to nothing.
        excess = self.used - self.limit
        if excess <= 0:
            return []
        # Without this share every further byte at the limit would end one more session.
        excess += self.limit // _FREED_SHARE
        ended: list[Holder] = []
        # Largest first, so that as few sessions as possible end for it.
        for holder in sorted(self._held, key=self._held.__getitem__, reverse=True):
            if excess <= 0:
                break
            excess -= self._held[holder]
            ended.append(holder)
        return ended


class Endpoint:
    """The sessions of one server socket.

    For each datagram the caller gets its session from `receive_datagram`, or None. After None it
    sends what `datagrams_to_send` holds: SessionResponses, and replies that belong to no session.
    Of a session it drains `session.next_event()`, sends `session.datagrams_to_send(now)` to
    `session.address`, and arms a timer by `session.get_timer()`. It also drains every session of
    `next_ended()`: the endpoint ended it because a newer one took its address or its memory. A
    session whose `ended` is true goes to `forget` after its last datagrams. `moved` has the
    sessions whose `address` has changed (docs/protocol/transport.md#moves).

    `random_bytes(count)` must be unpredictable; it makes the secret of the check keys.
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
        self._moves: SessionMoves[Session] = SessionMoves(config, host_key)
        self._left: OrderedDict[Hashable, int] = OrderedDict()
        self._sessions: dict[Hashable, Session] = {}
        self._memory: SharedMemory[Session] = SharedMemory(config.memory_limit)
        self.ended: list[Session] = []
        """The sessions that `next_ended` returns; read-only for callers."""
        self.moved: list[tuple[Session, Hashable]] = []
        """Sessions that have moved, each with its earlier address; the caller empties the list."""
        self.moves = 0
        """How many times a session has moved to another address."""
        self._replies: list[tuple[bytes, Hashable]] = []
        self._drops: dict[str, int] = {}
        self.totals = SessionTotals()
        """The counters of ended sessions; `totals.with_those(self)` counts all."""

    # -- reading --------------------------------------------------------------------------------

    def __len__(self) -> int:
        """Return the number of sessions, without half-open ones."""
        return len(self._sessions)

    def __iter__(self) -> Iterator[Session]:
        """Return all sessions; a snapshot."""
        # Serving a session may end others, and a dict must not change during iteration.
        return iter(list(self._sessions.values()))

    @property
    def half_open(self) -> int:
        """How many addresses have requested a session and are not validated yet."""
        return len(self._half_open.records)

    @property
    def held_bytes(self) -> int:
        """How many bytes the peers of all sessions occupy, by the last `note_memory` of each."""
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
        # Before the session of the address is looked up: a restarted client sends a request from
        # the same address.
        if len(data) > 1 and data[1] == _SESSION_REQUEST and not data[0]:
            self._receive_request(data, address, now)
            return None
        session = self._sessions.get(address)
        if session is None:
            session = self._open_validated(data, address, now) or self._moved(data, address, now)
            if session is None:
                return None
        # Only while addresses request sessions can a datagram belong to another than the known one.
        elif self._half_open.records:
            session = self._owner_of(data, session, now)
        session.receive_datagram(data, now)
        # Empty with keyed checks, so the usual datagram pays for one test.
        waiting = self._admission.unacknowledged
        if waiting and session.acknowledged and session in waiting:
            self._admit_acknowledged(session)
        return session

    def _moved(self, data: bytes, address: Hashable, now: Monotonic) -> Session | None:
        """Return the session whose client has proven that it sends from an unknown address now."""
        sessions = self._sessions
        found = self._moves.receive(data, address, sessions.values(), len(sessions), now)
        if found is None:
            self._refuse(data, address)
            return None
        if not isinstance(found, Proven):
            self._drop("address not proven yet")
            self._reply(found, address)
            return None
        session, before = found.session, found.session.address
        reason = self._admission.reason_against_move(before, address)
        if reason is not None:
            self._drop(reason)
            return None
        self._admission.move(before, address)
        self._half_open.remove(address)
        del sessions[before]
        sessions[address] = session
        # A client that gets the earlier address must not get the key of the session as well.
        self._left[before] = session.check_key
        if len(self._left) > MOST_LEFT:
            self._left.popitem(last=False)
        self.moves += 1
        self.moved.append((session, before))
        session.move(address, now)
        session.receive_datagram(found.datagram, now)
        return session

    def _refuse(self, data: bytes, address: Hashable) -> None:
        self._drop("unknown session")
        if (
            self.config.answer_out_of_session
            and len(data) >= len(_OUT_OF_SESSION)
            # Two servers that answer each other's OutOfSession would never stop.
            and data[:2] != _OUT_OF_SESSION
        ):
            self._reply(_OUT_OF_SESSION, address)

    def datagrams_to_send(self) -> list[tuple[bytes, Hashable]]:
        """Return the replies that belong to no session, each less than twice its datagram."""
        replies = self._replies
        self._replies = []
        return replies

    def _reply(self, data: bytes, address: Hashable) -> None:
        # A flood within one turn of the reactor must not queue replies without bound.
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
        # An ended session waits for its last datagrams only, and blocks no new one.
        if session is not None and session.ended:
            session = None
        if session is not None and not self._may_be_another(session, request.session, now):
            # The session's own request again: its response was lost on the way.
            # With a key the client has our response. Only an attacker or the network repeats the
            # request.
            if session.key is None:
                self._respond(request.session, session.check_key, session.max_length, address)
            else:
                self._drop("repeated session request")
            return
        host = self._admission.host_key(address)
        # A session that replaces another one of its address does not add to the limits.
        if session is None:
            reason = self._admission.reason_against(host)
        else:
            barred = self._admission.is_barred(address, now)
            reason = "too many wrong checks" if barred else None
        if reason is not None:
            self._drop(reason)
            return
        self._respond_half_open(request, address, host, session, now)

    def _may_be_another(self, session: Session, session_id: int, now: Monotonic) -> bool:
        """Return whether a request is a restarted client's, not a late copy of the session's own.

        A restarted client may use the same id; its earlier session is silent then.
        """
        if session.key is None and session.session_id == UNKNOWN_SESSION:
            return False  # two clients may share a session that has hardly begun: nothing is lost
        return (
            session.session_id != session_id
            or now - session.last_received >= self.config.restart_silence
        )

    def _respond_half_open(
        self,
        request: packets.SessionRequest,
        address: Hashable,
        host: Hashable | None,
        session: Session | None,
        now: Monotonic,
    ) -> None:
        """Send and record a SessionResponse."""
        # The response never depends on a record, which a flood of forged requests may push out.
        # Part of the key's input: a forged request with another MaxLength gets another key and
        # disturbs nobody.
        max_length = self.config.session.clamp_max_length(request.max_length)
        # The earlier key is an input, so datagrams of the earlier session prove nothing for the new
        # one.
        before = session.check_key if session is not None else self._left.get(address, 0)
        check_key = self._check_keys.current(address, max_length, before, now)
        record = self._half_open.get(address, now)
        if record is None:
            expires = now + self.config.session.unvalidated_lifetime
            record = HalfOpen(request.session, max_length, check_key, host, expires, now)
            self._half_open.add_record(address, record, now)
        record.note_response(request.session, max_length, check_key)
        self._respond(request.session, check_key, max_length, address)

    def _respond(self, session_id: int, check_key: int, max_length: int, address: Hashable) -> None:
        form = self.config.session.stream_type.format
        response = packets.SessionResponse(session_id, check_key, max_length, form)
        self._reply(packets.SESSION_RESPONSE.push(response), address)

    # -- proofs ---------------------------------------------------------------------------------

    def _open_validated(self, data: bytes, address: Hashable, now: Monotonic) -> Session | None:
        """Return a new session if a datagram proves that its sender received our response."""
        # Without a record only the check proves that. The last datagrams of an ended session have
        # a valid check too, so the datagram must be one that only a new client sends.
        record = self._half_open.get(address, now)
        # Cheap test first: a flood of other datagrams must not cost a check each.
        if record is None and data[:2] != _SERVER_KEY_REQUEST:
            return None
        proof = self._proof(data, address, record, self._left.get(address, 0), now)
        if proof is None:
            return None
        # Checked again: other sessions may have been opened since the SessionResponse.
        reason = self._admission.reason_against(self._admission.host_key(address))
        if reason is not None:
            self._drop(reason)
            return None
        if record is not None:
            return self._open(address, proof, record, now)
        # A flood may have pushed the record out, so the number of our responses is unknown. The
        # most that a client asks for counts instead.
        if not self._begins_session(data, proof[0], self.config.session.session_request_attempts):
            return None
        return self._open(address, proof, None, now)

    def _owner_of(self, data: bytes, session: Session, now: Monotonic) -> Session:
        """Return the session that a datagram belongs to: that of its address, or a newer one."""
        address = session.address
        record = self._half_open.get(address, now)
        if record is None:
            return session
        # The session's own check wins. Otherwise a forged request alone would redirect the
        # datagrams of a client.
        if Seal(session.check_key).is_valid(data):
            # With one check key for all, only a new client's first datagram distinguishes the two.
            is_shared = record.check_key == session.check_key
            if not is_shared or not self._begins_session(data, record.check_key, record.responses):
                return session
            proof: _Proof | None = (record.check_key, record.max_length)
        else:
            proof = self._proof(data, address, record, session.check_key, now)
        if proof is None:
            self._count_miss(record, address, now)
            return session
        return self._open(address, proof, record, now)

    def _proof(
        self, data: bytes, address: Hashable, record: HalfOpen | None, before: int, now: Monotonic
    ) -> _Proof | None:
        """Return the check key and MaxLength that a datagram was sealed with, of those handed out.

        The default MaxLength is tried as well: there may be no record, or a forged request may
        have changed it.
        """
        if record is not None and Seal(record.check_key).is_valid(data):
            return record.check_key, record.max_length
        max_length = self.config.session.max_length
        # Two keys at most, the current and the previous secret's, so that a change of the secret
        # loses no client.
        for check_key in self._check_keys.accepted(address, max_length, before, now):
            if Seal(check_key).is_valid(data):
                return check_key, max_length
        return None

    def _begins_session(self, data: bytes, check_key: int, responses: int) -> bool:
        """Return whether a datagram with a valid check may be the first of a new client.

        That is a ServerKeyRequest that counts at most our `responses` SessionResponses as received.
        """
        config = self.config.session
        seal = Seal(
            check_key, config.stream_type.format, inflate_limit=config.datagram_inflate_limit
        )
        try:
            request = packets.pull_packet(seal.unseal(data))
        except PeerError:
            return False
        if not isinstance(request, packets.ServerKeyRequest):
            return False
        return request.packets_received <= responses

    def _count_miss(self, record: HalfOpen, address: Hashable, now: Monotonic) -> None:
        # A check has 16 bits. Without a limit an attacker could take over an address by trying all
        # 65,536.
        record.misses += 1
        if record.misses > self.config.takeover_miss_limit:
            # Without the record no further datagram can be tried against its key.
            self._half_open.remove(address)
            self._admission.bar(address, now)

    def _open(
        self, address: Hashable, proof: _Proof, record: HalfOpen | None, now: Monotonic
    ) -> Session:
        """Make the session of an address; a session that it had before ends."""
        check_key, max_length = proof
        session = Session(
            self.config.session, role=Role.SERVER, check_key=check_key, address=address,
            check_is_public=self._check_keys.are_public,
        )  # fmt: skip
        if record is None:
            session.accept(UNKNOWN_SESSION, max_length, now)
        else:
            # The client has just shown how long the path is. Otherwise each loss at the beginning
            # of a session would cost the timeout of an unknown path, 1.5 s.
            round_trip = now - record.begun
            session.accept(record.session_id, max_length, now, record.responses, round_trip)
        # Before a session is replaced, so that the replaced one cannot find the record of its
        # successor.
        self._half_open.remove(address)
        replaced = self._sessions.get(address)
        if replaced is not None:
            self._discard(replaced, CloseReason.REPLACED)
        self._sessions[address] = session
        if self._check_keys.are_public:
            oldest = self._admission.keep(session)
            if oldest is not None:
                self._discard(oldest, CloseReason.EVICTED)
        else:
            self._admission.count(session)
        return session

    def _admit_acknowledged(self, session: Session) -> None:
        """Count a session that has acknowledged a packet, unless its host has enough already."""
        host = self._admission.host_key(session.address)
        if self._admission.reason_against(host) is None:
            self._admission.count(session)
        else:
            self._discard(session, CloseReason.EVICTED)

    # -- ending ---------------------------------------------------------------------------------

    def next_ended(self) -> Session | None:
        """Return a session that the endpoint has ended and forgotten, or None."""
        return self.ended.pop(0) if self.ended else None

    def forget(self, session: Session) -> None:
        """Remove a session; does nothing if it is not present."""
        address = session.address
        # A newer session may have the address already; that one stays.
        if self._sessions.get(address) is not session:
            return
        del self._sessions[address]
        self.totals.add_session(session)
        self._memory.note(session, 0)
        self._admission.remove(session)

    def note_memory(self, session: Session, elsewhere: int = 0) -> int:
        """Note the memory that a session holds, and end the largest ones beyond the limit.

        `elsewhere` is how many bytes the owner keeps of its messages. To be called after each turn
        in which the session received or was given something. Returns the bytes it holds in all.
        """
        held = session.held_bytes + elsewhere
        if held == self._memory.of(session):  # nearly always 0, before and after
            return held
        # A session that was forgotten meanwhile must not be counted: nothing would remove it again.
        if self._sessions.get(session.address) is session:
            self._memory.note(session, held)
            for largest in self._memory.to_end():
                self._discard(largest, CloseReason.MEMORY)
        return held

    def _discard(self, session: Session, reason: CloseReason) -> None:
        # Ended first: `forget` reads its final counters.
        session.discard(reason)
        self.forget(session)
        self.ended.append(session)

    def _drop(self, reason: str) -> None:
        self._drops[reason] = self._drops.get(reason, 0) + 1
