"""What a session is made of and what it counts, without any of its behavior.

Owns the attributes, the counters and the one place that changes the state. `life` builds on it.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Hashable, Mapping
from types import MappingProxyType
from typing import Final, Self

from emu.errors import LocalProtocolError, PeerError
from emu.session.channel import ReliableChannel
from emu.session.cipher import KEY_BLOCK_SIZE, KEY_SIZE, make_key_block
from emu.session.configuration import Role, SessionConfig
from emu.session.events import (
    DatagramDropped,
    Event,
)
from emu.session.messages import MessageCodec
from emu.session.states import ALLOWED, TRANSITIONS, ConnectionState, Step
from emu.session.statistics import SessionStatistics
from emu.times import Monotonic
from emu.wire import (
    Seal,
    ServerKeyRequest,
    packets,
)

_NO_DROPS: Final[Mapping[str, int]] = MappingProxyType({})


class SessionBase:
    """State, timers and counters of one session.

    Public attributes: `role`, `config`, `address` (opaque), `session_id`, `check_key`,
    `max_length` (bytes a datagram may have), `state`, `proven` (a datagram with a valid check has
    come; always true for a client), `acknowledged` (the peer has acknowledged a packet), `ended`,
    `key` (RC4 key or None), and the counters
    `datagrams_received`, `datagrams_sent`, `bytes_received`, `bytes_sent`, `messages_received`,
    `messages_sent`.
    """

    __slots__ = (
        "__weakref__",
        "_allowed",
        "_channel",
        "_check_is_public",
        "_close_code",
        "_close_deadline",
        "_codec",
        "_control_due",
        "_disconnects",
        "_drops",
        "_early",
        "_early_bytes",
        "_events",
        "_keep_alive_due",
        "_keep_alive_interval",
        "_key_block",
        "_key_requested",
        "_last_received",
        "_last_sent",
        "_messages_when_idle",
        "_next_statistics",
        "_plain_start",
        "_ready",
        "_request_deadline",
        "_requests",
        "_seal",
        "_size_limit",
        "_stat_request",
        "_statistics_asked",
        "_statistics_due",
        "_statistics_tries",
        "acknowledged",
        "address",
        "bytes_received",
        "bytes_sent",
        "check_key",
        "config",
        "datagrams_received",
        "datagrams_sent",
        "ended",
        "key",
        "max_length",
        "messages_received",
        "messages_sent",
        "proven",
        "role",
        "session_id",
        "state",
        "trusted",
    )

    def __init__(
        self,
        config: SessionConfig,
        *,
        role: Role,
        session_id: int = 0,
        key_block: bytes = b"",
        check_key: int = 0,
        check_is_public: bool = False,
        address: Hashable = None,
    ) -> None:
        """Make a session that has not begun.

        A client gives `session_id` (u32, random) and `key_block` (60 random bytes, the last eight
        not all zero); a server gives `check_key` (u32), and gets its id from the SessionRequest.
        Where strangers know that key (`check_is_public`), only an acknowledgment proves an address.
        Raises `LocalProtocolError` for a key block that cannot be used.
        """
        if role is Role.CLIENT and (
            len(key_block) != KEY_BLOCK_SIZE or not any(key_block[-KEY_SIZE:])
        ):
            raise LocalProtocolError(f"a key block has {KEY_BLOCK_SIZE} bytes, not zero at the end")
        self.config = config
        self.role = role
        self.session_id = session_id
        self.check_key = check_key
        self._check_is_public = check_is_public
        self.address = address
        self.max_length = config.max_length
        self.state = ConnectionState.CLOSED
        self._allowed = ALLOWED[role, ConnectionState.CLOSED]
        self.proven = role is Role.CLIENT
        self.trusted = role is Role.CLIENT
        self.acknowledged = False
        self.ended = False
        self.key: bytes | None = None
        self.datagrams_received = self.datagrams_sent = 0
        self.bytes_received = self.bytes_sent = 0
        self.messages_received = self.messages_sent = 0
        self._key_block = key_block
        self._key_requested = False
        self._size_limit = config.datagram_size_limit
        self._seal: Seal | None = None
        self._plain_start: int | None = None
        self._channel: ReliableChannel = _NO_CHANNEL
        self._codec: MessageCodec | None = None
        self._control_due = False
        self._drops: dict[str, int] | None = None
        self._early: list[tuple[int, bytes]] | None = None
        self._early_bytes = 0
        self._events: deque[Event] = deque()
        self._ready: list[bytes] = []
        self._last_received = self._last_sent = 0.0
        self._request_deadline: float | None = None
        self._requests = 0
        self._close_code = 6  # by the application
        self._close_deadline: float | None = None
        self._disconnects = 0
        self._keep_alive_due = False
        self._keep_alive_interval = (
            config.keep_alive_interval if role is Role.CLIENT else config.server_keep_alive_interval
        )
        self._stat_request: ServerKeyRequest | None = None
        self._statistics_due = False
        self._statistics_tries = 0
        self._statistics_asked: dict[int, float] = {}  # when, by request id
        self._next_statistics = 0.0
        self._messages_when_idle = -1

    @classmethod
    def client(
        cls,
        config: SessionConfig | None = None,
        *,
        session_id: int | None = None,
        key_block: bytes | None = None,
        random_bytes: Callable[[int], bytes] = os.urandom,
    ) -> Self:
        """Make the client's side of a session, with an id and a key block of its own.

        Given ones (u32, 60 bytes) are taken instead. Raises `LocalProtocolError` for a key block
        that cannot be used.
        """
        if session_id is None:
            session_id = int.from_bytes(random_bytes(4), "big")
        if key_block is None:
            key_block = make_key_block(random_bytes)
        config = config or SessionConfig()
        return cls(config, role=Role.CLIENT, session_id=session_id, key_block=key_block)

    # -- what an owner may look at --------------------------------------------------------------

    def next_event(self) -> Event | None:
        """Return the oldest event not taken yet, or None."""
        return self._events.popleft() if self._events else None

    @property
    def drops(self) -> Mapping[str, int]:
        """How often something was dropped, by reason."""
        return MappingProxyType(self._drops) if self._drops else _NO_DROPS

    def statistics(self) -> SessionStatistics:
        """Return all counters as they are now."""
        channel = self._channel
        queue = channel.queue
        round_trip = queue.round_trip
        return SessionStatistics(
            datagrams_received=self.datagrams_received,
            datagrams_sent=self.datagrams_sent,
            bytes_received=self.bytes_received,
            bytes_sent=self.bytes_sent,
            messages_received=self.messages_received,
            messages_sent=self.messages_sent,
            retransmissions=queue.retransmissions,
            drops=sum(self.drops.values()),
            smoothed_round_trip=round_trip.smoothed if round_trip.measured else None,
            retransmission_timeout=round_trip.timeout,
            congestion_window=queue.congestion.window,
            packets_under_way=queue.under_way,
            packets_held=len(channel.window.held or ()),
            queued_bytes=channel.queued_bytes + self._early_bytes,
        )

    @property
    def retransmissions(self) -> int:
        """How many packets left more than once."""
        return self._channel.queue.retransmissions

    @property
    def last_received(self) -> float:
        """When the last datagram with a valid check came (before that: the SessionRequest)."""
        return self._last_received

    @property
    def held_bytes(self) -> int:
        """How many bytes the peer makes us keep: what came early, and what it has not taken yet."""
        return self._channel.held_bytes + self._early_bytes

    def has_valid_check(self, datagram: bytes) -> bool:
        """Tell whether a datagram is sealed with this session's key; changes nothing."""
        return self._seal is not None and self._seal.is_valid(datagram)

    def is_opened_by(self, datagram: bytes, answers: int) -> bool:
        """Tell whether a datagram with a valid check may be the first of a new client.

        It is when it asks for statistics and has received no more than our SessionResponses, which
        were `answers`. Where sessions share a check key it tells their clients apart, and it tells
        a new client from the last words of one that is gone. Changes nothing.
        """
        try:
            packet = self._seal.unseal(datagram) if self._seal is not None else b""
            request = packets.pull_packet(packet)
        except PeerError:
            return False
        return isinstance(request, ServerKeyRequest) and request.packets_received <= answers

    def _step(self, step: Step) -> None:
        """Change the state; the only place that does."""
        self.state = TRANSITIONS[self.state, step]
        self._allowed = ALLOWED[self.role, self.state]

    # -- counting -------------------------------------------------------------------------------

    def _count_sent(self, datagrams: list[bytes], now: Monotonic) -> list[bytes]:
        """Count what leaves; to an unproven address no more than it paid for."""
        allowed = datagrams
        if not self.proven or (self._check_is_public and not self.acknowledged):
            allowed = []
            budget = self.config.amplification_limit * self.bytes_received - self.bytes_sent
            for datagram in datagrams:
                budget -= len(datagram)
                if budget < 0:
                    self._drop("answer larger than allowed")
                    break
                allowed.append(datagram)
        self.datagrams_sent += len(allowed)
        for datagram in allowed:
            self.bytes_sent += len(datagram)
        self._last_sent = now
        return allowed

    def _drop(self, reason: str) -> None:
        drops = self._drops
        if drops is None:
            drops = self._drops = {}
        count = drops.get(reason, 0)
        drops[reason] = count + 1
        if not count and not self.ended:
            self._events.append(DatagramDropped(reason))


_NO_CHANNEL: Final = ReliableChannel(SessionConfig(), 512, 2)
"""What an unopened session has: empty, and never added to."""
