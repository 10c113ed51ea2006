"""One session, either role, without input or output (docs/protocol/transport.md).

Datagrams and the time go in; datagrams, events and one timer come out. `Session` owns the phase and
changes it. `paths` carries a datagram through check, order and cipher, in both directions;
`lifecycle` has the deadlines and keeps the packets outside the reliable channel.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Mapping
from typing import Final, Self

from emu.errors import LocalProtocolError, MalformedDatagram, PeerError
from emu.session.channel import BrokenChannel, ReliableChannel
from emu.session.codec import KEY_REQUEST, KeyExchange, MessageCodec, make_key_block
from emu.session.configuration import Role, SessionConfig
from emu.session.events import (
    AddressChanged,
    CloseReason,
    Event,
    KeyEstablished,
    SessionCounts,
    SessionEstablished,
    SessionJournal,
    SessionStatistics,
    StatisticsReceived,
)
from emu.session.lifecycle import (
    STATES,
    ConnectionState,
    ControlPackets,
    Lifecycle,
    SessionPhase,
    SessionStep,
    SessionTimers,
    TimerAction,
    statistics_of,
)
from emu.session.moves import StreamPlace
from emu.session.paths import NO_CHANNEL, ReceivePath, SendPath
from emu.times import Monotonic
from emu.wire import Format, ProtocolOpcode, Seal, packets

_ACK: Final = int(ProtocolOpcode.ACK)
_ACKS: Final = frozenset((_ACK, int(ProtocolOpcode.OUT_OF_ORDER_ACK)))
_CHECK_BYTES: Final = 2
_FORMATS: Final = frozenset(
    (Format.NONE, Format.COMPRESSED, Format.ENCODED, Format.COMPRESSED | Format.ENCODED)
)


class Session:
    """A session with one peer. Its owner, the network and the time drive it:

    * the owner calls `send`, `close` and, as a client, `connect`;
    * each datagram goes to `receive_datagram`;
    * `handle_timer` is called when `get_timer` says so.

    After any of them the owner takes all events with `next_event` and all datagrams with
    `datagrams_to_send`, and calls `get_timer` again. Once `ended` is true (the event
    `SessionClosed` reports it) the owner takes the last datagrams and forgets the session.

    Owners read these attributes and never write them:

    * `role`, `config`, and `address`, an opaque value that the session only keeps;
    * `session_id`, the client's id (u32), 0 while a server does not know it;
    * `check_key` (u32), and `max_length`, the bytes of the longest datagram;
    * `key`, the RC4 key (8 bytes), and `place`, what would be accepted next; both None at first;
    * `acknowledged`, whether the peer has acknowledged a packet, and `ended`, whether all is over;
    * `events`, the list that `next_event` takes from, oldest first; always the same list. An owner
      in a hot loop may pop the first event, and calls `refill` when the list is empty.
    """  # noqa: D400  # the list is the sentence

    __slots__ = (
        "__weakref__", "_channel", "_check_is_public", "_close_code", "_codec", "_control",
        "_journal", "_key_exchange", "_lifecycle", "_received", "_sent", "_timers",
        "acknowledged", "address", "check_key", "config", "ended", "events", "key", "max_length",
        "place", "role", "session_id",
    )  # fmt: skip

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
        """Make a session in phase NEW.

        A client passes `session_id` (u32, random) and `key_block` (60 random bytes, the last eight
        not all zero); `client` makes both. A server passes `check_key` (u32) and learns the session
        id from the SessionRequest. If anybody knows the check key (`check_is_public`), only an
        acknowledgment validates an address. Raises `LocalProtocolError` for an unusable key block.
        """
        self.config = config
        self.role = role
        self.address = address
        self.session_id = session_id
        self.check_key = check_key
        self.max_length = config.max_length
        self.key: bytes | None = None
        self.acknowledged = False
        self.ended = False
        self.place: StreamPlace | None = None
        self._check_is_public = check_is_public
        self._key_exchange = KeyExchange(role, key_block)
        self._close_code = packets.BY_APPLICATION
        self._channel: ReliableChannel = NO_CHANNEL
        self._codec: MessageCodec | None = None
        self._control = ControlPackets()
        self._journal = SessionJournal()
        self.events: list[Event] = self._journal.events
        self._lifecycle = Lifecycle(role)
        self._timers = SessionTimers(config, role, self._lifecycle)
        self._received = ReceivePath(config, self._lifecycle, self._journal, is_paced=True)
        self._sent = SendPath(
            config, self._lifecycle, self._journal, self._received, is_bounded=role is Role.SERVER
        )
        if role is Role.CLIENT:
            self._received.trust()

    @classmethod
    def client(
        cls,
        config: SessionConfig | None = None,
        *,
        session_id: int | None = None,
        key_block: bytes | None = None,
        random_bytes: Callable[[int], bytes] = os.urandom,
    ) -> Self:
        """Make a client's session with a random id (u32) and key block (60 bytes), unless given.

        Raises `LocalProtocolError` for an unusable key block.
        """
        if session_id is None:
            session_id = int.from_bytes(random_bytes(4), "big")
        if key_block is None:
            key_block = make_key_block(random_bytes)
        config = config or SessionConfig()
        return cls(config, role=Role.CLIENT, session_id=session_id, key_block=key_block)

    # -- reading ----------------------------------------------------------------------------------

    @property
    def state(self) -> ConnectionState:
        """The state of the session."""
        return STATES[self._lifecycle.phase]

    @property
    def validated(self) -> bool:
        """Whether a datagram with a valid check has come; always true for a client."""
        return self.role is Role.CLIENT or self._lifecycle.phase >= SessionPhase.VALIDATED

    @property
    def last_received(self) -> float:
        """When the last datagram with a valid check came; before that, the SessionRequest."""
        return self._lifecycle.last_received

    @property
    def drops(self) -> Mapping[str, int]:
        """How often something was dropped, by reason."""
        return self._journal.drops

    @property
    def held_bytes(self) -> int:
        """How many bytes of memory the peer occupies.

        Early packets, messages that wait for `next_event`, and what is not acknowledged.
        """
        return self._sent.early_bytes + self._channel.held_bytes + self._journal.waiting_bytes

    def counts(self) -> SessionCounts:
        """Return the counters that only grow, as they are now."""
        received, sent = self._received, self._sent
        return SessionCounts(
            received.datagrams,
            sent.datagrams,
            received.bytes,
            sent.bytes,
            received.messages,
            sent.messages,
            self._channel.queue.retransmissions,
        )

    def statistics(self) -> SessionStatistics:
        """Return all counters and measures as they are now; times in seconds."""
        return SessionStatistics(
            **self.counts()._asdict(),
            **self._channel.queue.measures(),
            drops=sum(self.drops.values()),
            packets_held=len(self._channel.window.held or ()),
            queued_bytes=self._sent.queued_bytes,
        )

    def capacity(self, now: Monotonic) -> int:
        """Return how many bytes may usefully be queued now: what the path takes, and a bit more.

        That is the congestion window without the bytes that are in flight or queued. `send` may
        exceed it; the excess only gets older before it leaves. It is 0 until a lost packet is sent
        again, and once the session closes. After 0, a `Writable` event reports new capacity.
        """
        return self._sent.capacity(now)

    # -- events -----------------------------------------------------------------------------------

    def next_event(self) -> Event | None:
        """Return the oldest event not taken yet, or None."""
        events = self.events
        if not events:
            self.refill()
        return events.pop(0) if events else None

    def refill(self) -> None:
        """Once all `events` are taken, add those of packets that waited for this."""
        journal = self._journal
        if not journal.waiting_bytes or self.events:
            return
        journal.waiting_bytes = 0
        try:
            self._received.resume(self)
        except BrokenChannel as error:
            self._abort(error.reason)

    # -- what an owner does -----------------------------------------------------------------------

    def connect(self, now: Monotonic) -> None:
        """Send a client's SessionRequest. Raises `LocalProtocolError` unless the session is new."""
        if self.role is not Role.CLIENT or self._lifecycle.phase is not SessionPhase.NEW:
            raise LocalProtocolError("only a new client session can connect")
        self._send_request(now)

    def accept(
        self, session_id: int, max_length: int, now: Monotonic, responses: int = 0,
        round_trip: float = 0.0,
    ) -> None:  # fmt: skip
        """Open a server's session; its endpoint has sent the SessionResponse, or sends it now.

        `session_id` is the client's, 0 when not known; `max_length` is that of the response. The
        endpoint has sent `responses`, and the first was answered after `round_trip` seconds.
        Raises `LocalProtocolError` unless the session is new and a server's.
        """
        if self.role is not Role.SERVER or self._lifecycle.phase is not SessionPhase.NEW:
            raise LocalProtocolError("only a new server session can accept")
        self._received.datagrams += responses
        self._sent.datagrams += responses
        self._respond(session_id, max_length, now)
        self._channel.queue.round_trip.hint(round_trip)

    def trust(self) -> None:
        """Lift the limits for unauthenticated peers: the owner knows now who the peer is.

        Until then a server ends a session whose client sends more than a login needs
        (`unauthenticated_...` of the configuration). A client trusts its server.
        """
        self._received.trust()

    def send(self, opcode: int, payload: bytes) -> None:
        """Queue one application message; header, compression, cipher and cutting are done here.

        The message waits until the key is known. Once the session closes it is dropped and counted,
        because a peer may leave at any time. More than `send_queue_limit` queued bytes end the
        session; `capacity` says how many are useful. Raises `LocalProtocolError` for an opcode or
        size that cannot be sent. A peer with the same configuration, once it trusts us, accepts
        every message that this method accepts.
        """
        try:
            self._sent.send(opcode, payload)
        except BrokenChannel as error:
            self._abort(error.reason)

    def close(self, reason: int = packets.BY_APPLICATION) -> None:
        """End the session in order: queued messages arrive first, then SessionDisconnect.

        `reason` is the u16 that the peer gets. `SessionClosed` follows when the peer has replied,
        at the latest after `close_timeout` plus twice `disconnect_timeout`.
        """
        phase = self._lifecycle.phase
        if phase < SessionPhase.VALIDATED:
            self._end(CloseReason.LOCAL)
        elif phase < SessionPhase.CLOSING:
            self._close_code = reason
            self._sent.forget_early()
            self._timers.close()

    def discard(self, reason: str) -> None:
        """End the session at once; nothing more is sent to the peer."""
        if not self.ended:
            self._sent.ready.clear()
            self._end(reason)

    # -- datagrams and time -----------------------------------------------------------------------

    def receive_datagram(self, data: bytes, now: Monotonic) -> None:
        """Take one datagram of the peer. Never raises for its content: drops are counted."""
        try:
            self._received.receive(data, now, self)
        except BrokenChannel as broken:
            self._abort(broken.reason)
        except PeerError as error:
            self._journal.drop(error.reason)

    def datagrams_to_send(self, now: Monotonic) -> list[bytes]:
        """Return the datagrams that may leave now, as few as possible, each up to MaxLength."""
        outgoing: list[bytes] = []
        if self._control.pending:
            outgoing = self._control.take_pending(
                self._channel.queue.round_trip,
                sent=self._sent.datagrams + 1,
                received=self._received.datagrams,
                now=now,
            )
        if self._lifecycle.phase is SessionPhase.CLOSING:
            self._disconnect_when_idle(outgoing, now)
        return self._sent.take_datagrams(now, outgoing)

    def take_ack(self, now: Monotonic) -> bytes | None:
        """Return the next datagram if it is an Ack and nothing else; None otherwise.

        An owner that gets one needs no other call: the session holds nothing, and its timer is not
        due earlier than before. After None it calls `datagrams_to_send`.
        """
        return None if self._control.pending else self._sent.take_ack(now)

    def move(self, address: Hashable, now: Monotonic) -> None:
        """Send to another address, which the peer has proven (`emu.session.moves`)."""
        self.events.append(AddressChanged(self.address, address))
        self.address = address
        self._channel.queue.resend_all(now)

    def get_timer(self) -> Monotonic | None:
        """Return when `handle_timer` should be called (same clock as `now`), or None for never.

        Nearly every datagram moves it to later. An owner saves work by keeping an earlier timer:
        `handle_timer` before its time does nothing.
        """
        return self._timers.get_timer(self._channel.queue.timer())

    def handle_timer(self, now: Monotonic) -> None:
        """Do what is due at `now`; take events and datagrams afterwards."""
        if self.ended:
            return
        for action in self._timers.take_due(now):
            self._act(action, now)
        if SessionPhase.VALIDATED <= self._lifecycle.phase < SessionPhase.ENDED:
            queue = self._channel.queue
            queue.handle_timer(now)
            if queue.exhausted:
                self._abort(CloseReason.GAVE_UP)

    def _act(self, action: TimerAction, now: Monotonic) -> None:
        match action:
            case TimerAction.REPEAT_REQUEST:
                self._send_request(now)
            case TimerAction.SEND_KEEP_ALIVE:
                self._control.keep_alive()
            case TimerAction.REQUEST_STATISTICS:
                self._request_statistics(now)
            case TimerAction.SEND_DISCONNECT:
                self._timers.disconnect(now, self._channel.queue.round_trip.timeout)
                self._sent.ready.append(self._last_datagram())
            case TimerAction.GIVE_UP_REQUEST:
                self._end(CloseReason.NO_ANSWER)
            case TimerAction.GIVE_UP_VALIDATION:
                self._end(CloseReason.UNVALIDATED)
            case TimerAction.GIVE_UP_SILENT_PEER:
                self._end_and_notify(CloseReason.SILENCE)
            case TimerAction.STOP_WAITING_FOR_DISCONNECT:
                self._end(CloseReason.LOCAL)

    # -- opening ----------------------------------------------------------------------------------

    def _send_request(self, now: Monotonic) -> None:
        self._timers.request(now)
        request = packets.SessionRequest(self.session_id, self.config.max_length)
        self._sent.ready.append(packets.SESSION_REQUEST.push(request))

    def _respond(self, session_id: int, max_length: int, now: Monotonic) -> None:
        self.session_id = session_id
        self.max_length = max_length
        self._open_paths(self.config.stream_type.format)
        self._timers.open(SessionStep.RESPOND, now)

    def _open_paths(self, form: Format) -> None:
        """Make seal and channel of what both sides agreed on."""
        config = self.config
        seal = Seal(
            self.check_key,
            form,
            threshold=config.datagram_compression_threshold,
            inflate_limit=config.datagram_inflate_limit,
        )
        self._channel = ReliableChannel(config, self.max_length, seal.overhead)
        self._received.open(seal, self._channel)
        self._sent.open(seal, self._channel)

    def validate_address(self) -> None:
        """Note the first datagram with a valid check: the client received our SessionResponse."""
        self._lifecycle.advance(SessionStep.VALIDATE)
        if not self._check_is_public:
            self._sent.is_bounded = False
        self._received.use_short_path()
        self.events.append(SessionEstablished(self.session_id))

    def _request_statistics(self, now: Monotonic) -> None:
        self._control.request_statistics()
        is_measured = self._channel.queue.round_trip.measured
        self._timers.plan_statistics(now, is_complete=self._codec is not None and is_measured)

    # -- the key ----------------------------------------------------------------------------------

    def receive_clear(self, message: bytes) -> None:
        """Take a message that came before the key: it must belong to the key exchange.

        Raises `PeerError` for any other, or for a key that means "not encrypted".
        """
        key = self._key_exchange.receive(message)
        if self.role is Role.SERVER:
            # The key block replies to the key request, even if the Ack of that was lost.
            self._channel.queue.acknowledge_all(Monotonic(self._lifecycle.last_received))
        else:
            self._channel.lead = self._key_exchange.reply()
        self._start_cipher(key)

    def _request_key(self, now: Monotonic) -> None:
        # Only one request is made: a second one could reach a client that already encrypts. A
        # client that repeats its ServerKeyRequest has missed ours, so it is retransmitted at once.
        if self._key_exchange.was_requested:
            self._channel.queue.resend_oldest(now)
        else:
            self._key_exchange.was_requested = True
            self._channel.queue_message(KEY_REQUEST)

    def _start_cipher(self, key: bytes) -> None:
        """Start both cipher streams, and encrypt the messages that waited for the key."""
        self._lifecycle.advance(SessionStep.KEY)
        codec = MessageCodec(self.config, self.role, key)
        self._codec = codec
        self.key = key
        self.events.append(KeyEstablished(key))
        self.place = StreamPlace(self._received.seal, self._channel, codec)
        self._received.start_cipher(codec)
        self._sent.start_cipher(codec)

    # -- control packets --------------------------------------------------------------------------

    def handle(self, packet: bytes, now: Monotonic) -> None:
        """Take a packet outside the reliable channel; raises `PeerError` to drop it."""
        opcode = packet[1]
        if opcode in _ACKS:
            self.acknowledge(opcode, packets.pull_acknowledged(packet), now)
            return
        match opcode:
            case ProtocolOpcode.KEEP_ALIVE:
                self._receive_keep_alive(packet, now)
            case ProtocolOpcode.SERVER_KEY_REQUEST:
                self._receive_key_request(packet, now)
            case ProtocolOpcode.SESSION_STAT_RESPONSE:
                self._receive_stat_response(packet, now)
            case ProtocolOpcode.SESSION_REQUEST:
                self._receive_session_request(packet, now)
            case ProtocolOpcode.SESSION_RESPONSE:
                self._receive_session_response(packet, now)
            case ProtocolOpcode.SESSION_DISCONNECT:
                self._receive_disconnect(packet)
            case ProtocolOpcode.OUT_OF_SESSION:
                self._receive_out_of_session(packet, now)

    def acknowledge(self, opcode: int, sequence: int, now: Monotonic) -> None:
        """Take an Ack or OutOfOrderAck; raises `PeerError` for a number that was never sent."""
        queue = self._channel.queue
        if (queue.acknowledge_up_to if opcode == _ACK else queue.acknowledge_one)(sequence, now):
            # A peer that knows our sequence number reads what we send, so its address is real even
            # under a public check key.
            self.acknowledged = True
            self._sent.is_bounded = False
            self._sent.report_capacity(now)

    def _receive_session_request(self, packet: bytes, now: Monotonic) -> None:
        request = packets.SESSION_REQUEST.pull(packet)
        phase = self._lifecycle.phase
        if phase is SessionPhase.NEW:
            self._respond(request.session, self.config.clamp_max_length(request.max_length), now)
        elif request.session != self.session_id:
            raise MalformedDatagram("another session id")
        elif phase is not SessionPhase.RESPONDED:
            raise MalformedDatagram("repeated session request")
        form = self.config.stream_type.format
        response = packets.SessionResponse(self.session_id, self.check_key, self.max_length, form)
        if not self._sent.ready:
            self._sent.ready.append(packets.SESSION_RESPONSE.push(response))

    def _receive_session_response(self, packet: bytes, now: Monotonic) -> None:
        response = packets.SESSION_RESPONSE.pull(packet)
        if (
            self._lifecycle.phase is not SessionPhase.REQUESTED
            or response.session != self.session_id
        ):
            raise MalformedDatagram("unasked session response")
        if response.unknown_a != _CHECK_BYTES or response.format not in _FORMATS:
            raise MalformedDatagram("session response with unknown check or format")
        self.check_key = response.key
        self.max_length = self.config.clamp_max_length(response.max_length)
        self._open_paths(Format(response.format))
        self._timers.open(SessionStep.ESTABLISH, now)
        self._received.use_short_path()
        self.events.append(SessionEstablished(self.session_id))
        self._request_statistics(now)

    def _receive_keep_alive(self, packet: bytes, now: Monotonic) -> None:
        packets.KEEP_ALIVE.pull(packet)
        if self._timers.may_answer(self._channel.queue.round_trip.timeout, now):
            self._control.keep_alive()

    def _receive_key_request(self, packet: bytes, now: Monotonic) -> None:
        request = packets.SERVER_KEY_REQUEST.pull(packet)
        self._control.respond(request)
        self._channel.queue.round_trip.hint(request.average / 1000)
        self._report_statistics(statistics_of(request))
        if self._codec is None:
            self._request_key(now)

    def _receive_stat_response(self, packet: bytes, now: Monotonic) -> None:
        response, queue = packets.SESSION_STAT_RESPONSE.pull(packet), self._channel.queue
        self._report_statistics(self._control.measure(response, queue.round_trip, now))

    def _report_statistics(self, event: StatisticsReceived) -> None:
        if len(self.events) < self.config.waiting_message_limit:
            self.events.append(event)

    def _receive_disconnect(self, packet: bytes) -> None:
        disconnect = packets.SESSION_DISCONNECT.pull(packet)
        if self.session_id and disconnect.session != self.session_id:
            raise MalformedDatagram("disconnect of another session")
        self.session_id = disconnect.session
        if self._lifecycle.phase >= SessionPhase.DISCONNECTING:
            self._end(CloseReason.LOCAL)  # the reply to ours
        else:
            self._end_and_notify(CloseReason.PEER)

    def _receive_out_of_session(self, packet: bytes, now: Monotonic) -> None:
        packets.OUT_OF_SESSION.pull(packet)
        # The packet has no check: anybody may have sent it. After a long silence it is plausible.
        if not self._timers.is_silent(now):
            raise MalformedDatagram("unproven OutOfSession")
        self._end(CloseReason.OUT_OF_SESSION)

    # -- ending -----------------------------------------------------------------------------------

    def _disconnect_when_idle(self, outgoing: list[bytes], now: Monotonic) -> None:
        """Add the SessionDisconnect once every queued message is acknowledged."""
        self._timers.wait_for_acknowledgments(now)
        if not self._channel.is_idle:
            return
        if not self.session_id:
            self._timers.end_wait(now)  # an OutOfSession cannot share a datagram
            return
        self._timers.disconnect(now, self._channel.queue.round_trip.timeout)
        outgoing.append(self._disconnect_packet())

    def _disconnect_packet(self) -> bytes:
        return packets.SESSION_DISCONNECT.push(
            packets.SessionDisconnect(self.session_id, self._close_code)
        )

    def _last_datagram(self) -> bytes:
        """Return the datagram that ends the session at the peer."""
        # A SessionDisconnect counts only with the right id. A client whose id is unknown (0) gets
        # an OutOfSession.
        seal = self._received.seal
        if not self.session_id or seal is None:
            return packets.OUT_OF_SESSION.push(packets.OutOfSession())
        return seal.seal(self._disconnect_packet())

    def _abort(self, reason: str) -> None:
        """End the session because of a fault that cannot be repaired; counted as a drop."""
        self._journal.drop(reason)
        self._end_and_notify(reason)

    def _end_and_notify(self, reason: str) -> None:
        """End the session at once, and send the peer a last datagram."""
        if SessionPhase.VALIDATED <= self._lifecycle.phase < SessionPhase.ENDED:
            self._sent.ready.append(self._last_datagram())
        self._end(reason)

    def _end(self, reason: str) -> None:
        """End the session at once; only datagrams that are ready still leave."""
        if self.ended:
            return
        self.ended = True
        self._lifecycle.advance(SessionStep.END)
        self._received.close()
        self._sent.close()
        self._channel.clear()
        self._codec = self.place = None
        self._journal.close(str(reason))
