"""Clients at addresses, connected to an endpoint without delay, and datagrams of unknown peers."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

from emu.session import (
    Endpoint,
    EndpointConfig,
    Event,
    Message,
    Role,
    Session,
    SessionConfig,
)
from emu.times import Monotonic
from emu.wire import SessionRequest, SessionResponse, pull_packet, push_packet
from tests.support.sessions.link import KEY_BLOCK, drain

Address = tuple[str, int]

HOME = ("192.0.2.1", 1000)

START = Monotonic(0.0)


def make_endpoint(**settings: Any) -> Endpoint:
    """Return an endpoint with these settings whose secrets are the same in every run."""
    numbers = itertools.count(1)
    return Endpoint(
        EndpointConfig(**settings), random_bytes=lambda count: next(numbers).to_bytes(count, "big")
    )


def ask(
    endpoint: Endpoint,
    address: Address = HOME,
    session_id: int = 7,
    now: Monotonic = START,
    max_length: int = 512,
) -> SessionResponse | None:
    """Send a SessionRequest; return the SessionResponse, None when there is none."""
    request = push_packet(SessionRequest(session_id, max_length))
    assert endpoint.receive_datagram(request, address, now) is None
    replies = endpoint.datagrams_to_send()
    assert len(replies) <= 1
    for data, to in replies:
        assert to == address
        assert len(data) <= 3 * len(request)
        answer = pull_packet(data)
        assert isinstance(answer, SessionResponse)
        return answer
    return None


def new_client(session_id: int = 7) -> Session:
    """Return a client's session that has not begun."""
    return Session(SessionConfig(), role=Role.CLIENT, session_id=session_id, key_block=KEY_BLOCK)


class Player:
    """A client at an address; `between` is called before each of its datagrams arrives."""

    def __init__(
        self,
        endpoint: Endpoint,
        address: Address = HOME,
        session_id: int = 7,
        between: Callable[[Monotonic], object] = lambda _now: None,
    ) -> None:
        self.endpoint = endpoint
        self.address = address
        self.session = new_client(session_id)
        self.peer: Session | None = None
        self.heard: list[Event] = []
        self.between = between

    def exchange(self, now: Monotonic, rounds: int = 6) -> Player:
        """Let both sides talk."""
        for _ in range(rounds):
            for datagram in self.session.datagrams_to_send(now):
                self.between(now)
                self._arrives(datagram, now)
            if self.peer is not None:
                for datagram in self.peer.datagrams_to_send(now):
                    self.session.receive_datagram(datagram, now)
        return self

    def _arrives(self, datagram: bytes, now: Monotonic) -> None:
        peer = self.endpoint.receive_datagram(datagram, self.address, now)
        for data, to in self.endpoint.datagrams_to_send():
            if to == self.address:
                self.session.receive_datagram(data, now)
        if peer is not None:
            self.peer = peer
            self.heard += drain(peer)

    def begin(self, now: Monotonic = START) -> Player:
        """Ask for a session and go no further."""
        self.session.connect(now)
        return self.exchange(now, rounds=1)

    def connect(self, now: Monotonic = START) -> Player:
        """Set the session up, key and all."""
        self.session.connect(now)
        self.exchange(now)
        assert self.peer is not None
        assert self.peer.key == KEY_BLOCK[:-9:-1]
        return self

    def says(self, opcode: int, now: Monotonic) -> bool:
        """Send a message; return whether it arrived."""
        self.session.send(opcode, b"")
        self.exchange(now)
        return Message(opcode, b"") in self.heard
