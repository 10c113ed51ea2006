"""One session, either role, without input or output (docs/protocol/transport.md).

Datagrams and time go in; datagrams, events and one timer come out. This is the door: what is behind
it is in `receive_path` and `send_path` (the ways of a datagram), `control` (packets outside the
reliable channel), `life` and `duties` (the clock), `core` (the parts and their stages). Knows no
socket, no clock and no meaning of a message; the address it speaks to is an opaque value that it
only keeps.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Mapping
from typing import Final, Self

from emu.errors import LocalProtocolError, PeerError
from emu.session.channel import BrokenChannel
from emu.session.codec import KEY_BLOCK_SIZE, KEY_SIZE, make_key_block
from emu.session.configuration import Role, SessionConfig
from emu.session.control import HANDLERS, receive_clear
from emu.session.core import Core
from emu.session.duties import do_due, take_owed
from emu.session.events import CloseReason, Event
from emu.session.states import STATES, ConnectionState, SessionPhase
from emu.session.statistics import SessionCounts, SessionStatistics
from emu.times import Monotonic
from emu.wire import ServerKeyRequest, packets
from emu.wire.packets import BY_APPLICATION

_ENDED: Final = SessionPhase.ENDED


class Session:
    """A session with one peer. Three things drive it:

    * its owner calls `send`, `close` and, as a client, `connect`;
    * the network: `receive_datagram`;
    * time: `handle_timer` when `get_timer` says so.

    After any of them the owner takes all events with `next_event`, all datagrams with
    `datagrams_to_send`, and asks `get_timer` again. Once `ended` is true (a `SessionClosed` event
    tells) it takes the last datagrams and forgets the session.
    """  # noqa: D400  # the list is the sentence

    __slots__ = ("__weakref__", "_core")

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
        not all zero), which `client` makes up by chance; a server gives `check_key` (u32), and gets
        its id from the SessionRequest. Where strangers know that key (`check_is_public`), only an
        acknowledgment validates an address. Raises `LocalProtocolError` for a key block that cannot
        be used.
        """
        if role is Role.CLIENT and (
            len(key_block) != KEY_BLOCK_SIZE or not any(key_block[-KEY_SIZE:])
        ):
            raise LocalProtocolError(f"a key block has {KEY_BLOCK_SIZE} bytes, not zero at the end")
        self._core = Core(
            config, role, session_id=session_id, key_block=key_block, check_key=check_key,
            check_is_public=check_is_public, address=address,
        )  # fmt: skip

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

    # -- what an owner may look at ----------------------------------------------------------------

    @property
    def role(self) -> Role:
        """Which side this is."""
        return self._core.role

    @property
    def config(self) -> SessionConfig:
        """Its settings."""
        return self._core.config

    @property
    def address(self) -> Hashable:
        """Whom it speaks to; opaque."""
        return self._core.address

    @property
    def session_id(self) -> int:
        """The client's id of the session (u32); 0 when a server does not know it."""
        return self._core.session_id

    @property
    def check_key(self) -> int:
        """The key of the checks (u32)."""
        return self._core.check_key

    @property
    def max_length(self) -> int:
        """How many bytes a datagram may have."""
        return self._core.max_length

    @property
    def key(self) -> bytes | None:
        """The RC4 key (8 bytes), None before it is known."""
        return self._core.key

    @property
    def acknowledged(self) -> bool:
        """Whether the peer has acknowledged a packet."""
        return self._core.acknowledged

    @property
    def state(self) -> ConnectionState:
        """Where the session stands."""
        return STATES[self._core.standing.stage]

    @property
    def ended(self) -> bool:
        """Whether the session is over."""
        return self._core.standing.stage is _ENDED

    @property
    def validated(self) -> bool:
        """Whether a datagram with a valid check has come; always true for a client."""
        return self.role is Role.CLIENT or self._core.standing.stage >= SessionPhase.VALIDATED

    @property
    def last_received(self) -> float:
        """When the last datagram with a valid check came (before that: the SessionRequest)."""
        return self._core.standing.last_received

    @property
    def drops(self) -> Mapping[str, int]:
        """How often something was dropped, by reason."""
        return self._core.journal.drops

    @property
    def held_bytes(self) -> int:
        """How many bytes the peer makes us keep.

        What came early, what waits for `next_event`, and what it has not taken yet itself.
        """
        core = self._core
        return core.sent.early_bytes + core.channel.held_bytes + core.journal.waiting_bytes

    @property
    def events(self) -> list[Event]:
        """The events that `next_event` returns, oldest first; always the same list.

        An owner in a hurry may take the first one off by itself. Once the list is empty it has to
        ask `next_event`, which brings what had to wait.
        """
        return self._core.journal.events

    def refill(self) -> None:
        """Bring what had to wait for the owner to take all `events`; does nothing before."""
        journal = self._core.journal
        if journal.waiting_bytes and not journal.events:
            self._go_on()

    def next_event(self) -> Event | None:
        """Return the oldest event not taken yet, or None."""
        journal = self._core.journal
        events = journal.events
        if events:
            return events.pop(0)
        if journal.waiting_bytes:
            self._go_on()
        return events.pop(0) if events else None

    def _go_on(self) -> None:
        """Take what had to wait for the owner to take what came before."""
        core = self._core
        core.journal.waiting_bytes = 0
        try:
            core.received.go_on(self)
        except BrokenChannel as error:
            core.abort(error.reason)

    def counts(self) -> SessionCounts:
        """Return the counters that only grow, as they are now."""
        received, sent = self._core.received, self._core.sent
        return SessionCounts(
            received.datagrams,
            sent.datagrams,
            received.bytes,
            sent.bytes,
            received.messages,
            sent.messages,
            self._core.channel.queue.retransmissions,
        )

    def statistics(self) -> SessionStatistics:
        """Return all counters as they are now."""
        sent = self._core.sent
        queue = self._core.channel.queue
        round_trip = queue.round_trip
        return SessionStatistics(
            **self.counts()._asdict(),
            drops=sum(self.drops.values()),
            smoothed_round_trip=round_trip.smoothed if round_trip.measured else None,
            retransmission_timeout=round_trip.timeout,
            congestion_window=queue.congestion.window,
            packets_in_flight=queue.in_flight,
            packets_held=len(self._core.channel.window.held or ()),
            queued_bytes=sent.queued_bytes,
        )

    def room(self, now: Monotonic) -> int:
        """Return how many bytes may usefully be queued now: what the path takes, and a bit more.

        That is the congestion window without what is in flight or waits already. It may be exceeded
        by `send`; what is queued then only gets older before it leaves. 0 while a loss has to be
        mended, and once the session closes. After 0 a `Writable` event tells when there is room
        again. Cheap enough to be asked for every viewer and tick.
        """
        return self._core.sent.room(now)

    def has_valid_check(self, datagram: bytes) -> bool:
        """Tell whether a datagram is sealed with this session's key; changes nothing."""
        seal = self._core.received.seal
        return seal is not None and seal.is_valid(datagram)

    def is_opened_by(self, datagram: bytes, answers: int) -> bool:
        """Tell whether a datagram with a valid check may be the first of a new client.

        It is when it asks for statistics and has received no more than our SessionResponses, which
        were `answers`. Where sessions share a check key it tells their clients apart, and it tells
        a new client from the last words of one that is gone. Changes nothing.
        """
        seal = self._core.received.seal
        try:
            request = packets.pull_packet(seal.unseal(datagram) if seal is not None else b"")
        except PeerError:
            return False
        return isinstance(request, ServerKeyRequest) and request.packets_received <= answers

    # -- what an owner does -----------------------------------------------------------------------

    def connect(self, now: Monotonic) -> None:
        """Begin as a client: ask for the session. Raises `LocalProtocolError` at any other time."""
        if self.role is not Role.CLIENT or self._core.standing.stage is not SessionPhase.NEW:
            raise LocalProtocolError("only a new client session can connect")
        self._core.ask(now)

    def accept(self, session_id: int, max_length: int, now: Monotonic, answers: int = 0) -> None:
        """Begin as a server: the SessionRequest is, or is being, answered with our check key.

        `session_id` is the client's, 0 when it is not known; `max_length` what the answer says;
        `answers` how many requests its endpoint has answered for it before. Raises
        `LocalProtocolError` for a session that is not a new server's.
        """
        if self.role is not Role.SERVER or self._core.standing.stage is not SessionPhase.NEW:
            raise LocalProtocolError("only a new server session can accept")
        self._core.received.datagrams += answers
        self._core.sent.datagrams += answers
        self._core.answer(session_id, max_length, now)

    def trust(self) -> None:
        """Lift the limits of a stranger: the owner of the session knows who the peer is.

        Until then a server ends a session whose client sends more or longer messages than it takes
        to say who one is (`stranger_...` of the configuration). A client trusts its server.
        """
        self._core.received.trust()

    def send(self, opcode: int, payload: bytes) -> None:
        """Queue one application message; header, compression, cipher and cutting are done here.

        Before the key is known it waits. After the session began to close it is counted and
        dropped, since a peer may go at any time. More than `send_queue_limit` waiting ends the
        session; `room` says how much is worth queueing. Raises `LocalProtocolError` for an opcode
        or a size that cannot be sent: whatever is accepted, a session of the same configuration
        takes, once it trusts us.
        """
        try:
            self._core.sent.send(opcode, payload)
        except BrokenChannel as error:
            self._core.abort(error.reason)

    def close(self, reason: int = BY_APPLICATION) -> None:
        """End the session in order: what is queued still arrives, then SessionDisconnect.

        `reason` is the u16 the peer gets. `SessionClosed` comes when the peer has answered, or has
        not for `close_timeout` plus twice `disconnect_timeout`.
        """
        stage = self._core.standing.stage
        if stage < SessionPhase.VALIDATED:
            self._core.end(CloseReason.LOCAL)
        elif stage < SessionPhase.CLOSING:
            self._core.close(reason)

    def replace(self, reason: str) -> None:
        """End the session at once and in silence, because its endpoint has no more place for it."""
        if not self.ended:
            self._core.sent.ready.clear()
            self._core.end(reason)

    # -- datagrams and time -----------------------------------------------------------------------

    def receive_datagram(self, data: bytes, now: Monotonic) -> None:
        """Take one datagram of the peer. Never raises for what is in it: drops are counted."""
        core = self._core
        try:
            core.received.receive(data, now, self)
        except BrokenChannel as broken:
            core.abort(broken.reason)
        except PeerError as error:
            core.journal.drop(error.reason)

    def datagrams_to_send(self, now: Monotonic) -> list[bytes]:
        """Return the datagrams that may leave now, as few as possible, each up to MaxLength."""
        core = self._core
        return core.sent.take(now, take_owed(core, now) if core.owed else ())

    def take_ack(self, now: Monotonic) -> bytes | None:
        """Return the one datagram that is to leave if it is an Ack and no more; else None.

        An owner who gets one has nothing else to ask for: the session holds nothing, and its timer
        is due when it was or later. After None there is `datagrams_to_send`.
        """
        core = self._core
        return None if core.owed else core.sent.take_ack(now)

    def get_timer(self) -> Monotonic | None:
        """Return when `handle_timer` should be called (same clock as `now`), or None for never.

        It moves with nearly every datagram, nearly always to later. An owner saves work by letting
        an earlier timer run out: `handle_timer` before its time does nothing.
        """
        core = self._core
        return core.life.get_timer(core.channel.queue.timer())

    def handle_timer(self, now: Monotonic) -> None:
        """Do what is due at `now`; take events and datagrams afterwards."""
        if not self.ended:
            do_due(self._core, now)

    # -- what the way in asks for (see `Receiver`) ------------------------------------------------

    def validate_address(self) -> None:
        """Take note that the first datagram with a valid check is here."""
        self._core.validate_address()

    def handle(self, packet: bytes, now: Monotonic) -> None:
        """Take a packet outside the reliable channel."""
        HANDLERS[packet[1]](self._core, packet, now)

    def receive_clear(self, message: bytes) -> None:
        """Take a message that came before the key."""
        receive_clear(self._core, message)
