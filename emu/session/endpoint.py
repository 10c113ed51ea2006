"""One server address and all its sessions, without input or output.

Owns who a datagram belongs to, which strangers get a session, and the limits on both
(eq2-transport.md 3 and 9). Addresses are opaque. Knows no socket, clock or timer: the shell keeps
one timer for each session.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

from emu.errors import ConfigError, LimitExceeded, PeerError
from emu.limits.addresses import address_key, is_loopback
from emu.session.configuration import Role, SessionConfig
from emu.session.events import CloseReason
from emu.session.session import Session
from emu.wire import ProtocolOpcode, packets

_SESSION_REQUEST: Final = ProtocolOpcode.SESSION_REQUEST.to_bytes(2, "big")
_OUT_OF_SESSION: Final = ProtocolOpcode.OUT_OF_SESSION.to_bytes(2, "big")


@dataclass(frozen=True, slots=True)
class EndpointConfig:
    """Settings of an endpoint. Raises `ConfigError` with every value that cannot work.

    `check_key` None gives each session a random one; a number gives it to all of them, as
    EQ2Emulator does with 0x33624702, and then a valid check proves nothing about the sender.
    """

    session: SessionConfig = field(default_factory=SessionConfig)
    check_key: int | None = None
    session_limit: int = 10_000
    half_open_limit: int = 1024
    sessions_per_host_limit: int = 256
    candidates_per_address_limit: int = 2
    restart_silence: float = 2.0  # seconds
    answer_out_of_session: bool = False

    def __post_init__(self) -> None:
        problems = [
            f"{name}: must be 1 or more"
            for name in (
                "session_limit",
                "half_open_limit",
                "sessions_per_host_limit",
                "candidates_per_address_limit",
            )
            if getattr(self, name) < 1
        ]
        if self.check_key is not None and not 0 <= self.check_key <= 0xFFFFFFFF:
            problems.append("check_key: must be 0 to 4294967295")
        if problems:
            raise ConfigError(problems)


def host_of(address: Hashable) -> Hashable | None:
    """Return what the limit per host counts by, for a (host, port, ...) address; None: no limit.

    An IPv6 host is counted by its /64 network. A loopback host is not limited: it is this machine.
    """
    host: Hashable = next(iter(address), None) if isinstance(address, tuple) else address
    if not isinstance(host, str):
        return host
    return None if is_loopback(host) else address_key(host)


class Endpoint:
    """The sessions of one server socket.

    The shell, for each datagram: `receive_datagram` gives the session it belongs to, or None. It
    then drains `session.next_event()`, sends `session.datagrams_to_send(now)` to
    `session.address`, and asks `session.get_timer()`. It also takes every session of
    `next_ended()`: sessions the endpoint itself ended (a newer one took the address, or room was
    needed), each with a `SessionClosed` event to drain. A session whose `ended` is true it gives to
    `forget`, after its last datagrams. `datagrams_to_send` holds replies that belong to no session.

    `random_bytes(count)` must be unpredictable; it is asked for four bytes a session.
    """

    def __init__(
        self,
        config: EndpointConfig,
        *,
        random_bytes: Callable[[int], bytes],
        host_key: Callable[[Hashable], Hashable | None] = host_of,
    ) -> None:
        self.config = config
        self.datagrams_received = 0
        self._random_bytes = random_bytes
        self._host_key = host_key
        self._sessions: dict[Hashable, Session] = {}
        self._candidates: dict[Hashable, list[Session]] = {}
        self._half_open: dict[Session, None] = {}  # oldest first
        self._hosts: dict[Hashable, int] = {}
        self._ended: list[Session] = []
        self._replies: list[tuple[bytes, Hashable]] = []
        self._drops: dict[str, int] = {}

    # -- what an owner may look at --------------------------------------------------------------

    def __len__(self) -> int:
        """How many sessions there are, half-open ones included."""
        return len(self._sessions) + len(self._half_open)

    def __iter__(self) -> Iterator[Session]:
        """All sessions, half-open ones last; a snapshot."""
        return iter([*self._sessions.values(), *self._half_open])

    @property
    def half_open(self) -> int:
        """How many sessions have not proven their address yet."""
        return len(self._half_open)

    @property
    def drops(self) -> Mapping[str, int]:
        """How many datagrams that belong to no session were dropped, by reason."""
        return MappingProxyType(self._drops)

    def get(self, address: Hashable) -> Session | None:
        """Return the proven session of an address."""
        return self._sessions.get(address)

    # -- datagrams ------------------------------------------------------------------------------

    def receive_datagram(self, data: bytes, address: Hashable, now: float) -> Session | None:
        """Give a datagram to its session and return that, or None when it was dropped."""
        self.datagrams_received += 1
        session = self._sessions.get(address)
        if data[:2] == _SESSION_REQUEST:
            return self._receive_request(data, address, now)
        if self._candidates:
            candidate = self._candidate_for(data, address)
            if candidate is not None:
                self._admit(candidate)
                session = candidate
        if session is None:
            self._refuse(data, address)
            return None
        session.receive_datagram(data, now)
        return session

    def _receive_request(self, data: bytes, address: Hashable, now: float) -> Session | None:
        try:
            if len(data) > self.config.session.datagram_size_limit:
                raise LimitExceeded("datagram too long")
            request = packets.pull_session_request(data)
        except PeerError as error:
            self._drop(error.reason)
            return None
        session = self._sessions.get(address)
        if session is None or self._may_be_another(session, request.session, now):
            session = self._half_open_session(request.session, address)
        if session is not None:
            session.receive_datagram(data, now)
        return session

    def _may_be_another(self, session: Session, session_id: int, now: float) -> bool:
        """Tell a restarted client from a late copy of the request of the one we have.

        A client that starts again may come with the same id; the one before is silent then.
        """
        return (
            session.ended
            or session.session_id != session_id
            or now - session.last_received >= self.config.restart_silence
        )

    def _half_open_session(self, session_id: int, address: Hashable) -> Session | None:
        candidates = self._candidates.get(address) or []
        for candidate in candidates:
            if candidate.session_id == session_id:
                return candidate
        host = self._host_key(address)
        if host is not None and self._hosts.get(host, 0) >= self.config.sessions_per_host_limit:
            self._drop("too many sessions of one host")
            return None
        if len(self._sessions) >= self.config.session_limit and address not in self._sessions:
            self._drop("too many sessions")
            return None
        if len(candidates) >= self.config.candidates_per_address_limit:
            self._discard(candidates[0], CloseReason.EVICTED)
        elif len(self._half_open) >= self.config.half_open_limit:
            self._discard(next(iter(self._half_open)), CloseReason.EVICTED)
        return self._open(session_id, address, host)

    def _open(self, session_id: int, address: Hashable, host: Hashable | None) -> Session:
        check_key = self.config.check_key
        if check_key is None:
            check_key = int.from_bytes(self._random_bytes(4), "big")
        session = Session(
            self.config.session, role=Role.SERVER, session_id=session_id, check_key=check_key,
            address=address,
        )  # fmt: skip
        self._half_open[session] = None
        self._candidates.setdefault(address, []).append(session)
        if host is not None:
            self._hosts[host] = self._hosts.get(host, 0) + 1
        return session

    def _candidate_for(self, data: bytes, address: Hashable) -> Session | None:
        """Return the half-open session of this address that a datagram proves."""
        for candidate in self._candidates.get(address, ()):
            if candidate.has_valid_check(data):
                current = self._sessions.get(address)
                if current is None or not current.has_valid_check(data):
                    return candidate
                # One check key for all: only what a new client says first tells them apart.
                if candidate.is_opened_by(data) and current.is_in_use:
                    return candidate
        return None

    def _admit(self, session: Session) -> None:
        """Make a half-open session the one of its address; what was there before is over."""
        address = session.address
        self._remove_candidate(session)
        for other in list(self._candidates.get(address, ())):
            self._discard(other, CloseReason.REPLACED)
        replaced = self._sessions.get(address)
        if replaced is not None:
            self._discard(replaced, CloseReason.REPLACED)
        self._sessions[address] = session

    def _refuse(self, data: bytes, address: Hashable) -> None:
        self._drop("unknown session")
        if (
            self.config.answer_out_of_session
            and len(data) >= len(_OUT_OF_SESSION)
            and data[:2] != _OUT_OF_SESSION
            and len(self._replies) < self.config.half_open_limit
        ):
            self._replies.append((_OUT_OF_SESSION, address))

    def datagrams_to_send(self) -> list[tuple[bytes, Hashable]]:
        """Return replies that belong to no session, each no longer than what it answers."""
        replies = self._replies
        self._replies = []
        return replies

    # -- ending ---------------------------------------------------------------------------------

    def next_ended(self) -> Session | None:
        """Return a session that the endpoint itself ended and already forgot, or None."""
        return self._ended.pop(0) if self._ended else None

    def forget(self, session: Session) -> None:
        """Let go of a session; one that is not known (any more) is fine."""
        if session in self._half_open:
            self._remove_candidate(session)
        elif self._sessions.get(session.address) is session:
            del self._sessions[session.address]
        else:
            return
        host = self._host_key(session.address)
        if host is not None:
            left = self._hosts[host] - 1
            if left:
                self._hosts[host] = left
            else:
                del self._hosts[host]

    def _discard(self, session: Session, reason: CloseReason) -> None:
        session.replace(reason)
        self.forget(session)
        self._ended.append(session)

    def _remove_candidate(self, session: Session) -> None:
        del self._half_open[session]
        candidates = self._candidates[session.address]
        candidates.remove(session)
        if not candidates:
            del self._candidates[session.address]

    def _drop(self, reason: str) -> None:
        self._drops[reason] = self._drops.get(reason, 0) + 1
