"""The two paths of a session: from datagrams to messages, and from messages to datagrams.

The receive path takes each byte once and in order: check and seal, Combined, order, fragments,
AppCombined, cipher (docs/protocol/transport.md#datagrams, docs/protocol/transport.md#payloads). A
live session and the follower of a recording share it. Packets outside the reliable channel go to a
`Receiver`, which is an argument of each call. A stored one would make a reference cycle of path and
session, and under a flood of new sessions the garbage collector is too slow for those.

The send path runs the steps in reverse: cipher, order, acks, joining, seal. Datagrams are as few as
possible and each up to MaxLength. It also bounds the bytes sent to an unvalidated address, and says
how many bytes are worth queueing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Protocol
from zlib import crc32

from emu.errors import LimitExceeded, LocalProtocolError, MalformedDatagram, PeerError
from emu.session.channel import BrokenChannel, ReliableChannel
from emu.session.codec import OPCODE_SIZE_LIMIT, MessageCodec, opcode_bytes
from emu.session.configuration import SessionConfig
from emu.session.events import CloseReason, DropReason, Message, SessionJournal, Writable
from emu.session.lifecycle import Lifecycle, SessionPhase
from emu.times import Monotonic
from emu.wire import ProtocolOpcode, Seal
from emu.wire.packets import (
    OPCODE_SIZE,
    OTHER_CHANNELS,
    UNSEALED,
    pull_head,
    pull_parts,
    pull_sequenced,
)

_PACKET: Final = int(ProtocolOpcode.PACKET)
_FRAGMENT: Final = int(ProtocolOpcode.FRAGMENT)
_COMBINED: Final = int(ProtocolOpcode.COMBINED)
_APP_COMBINED: Final = int(ProtocolOpcode.APP_COMBINED)
_ACK: Final = int(ProtocolOpcode.ACK)
_ACK_SIZE: Final = 6  # two bytes each of opcode, sequence and check; every Packet is longer
_OPCODES: Final = frozenset(int(opcode) for opcode in ProtocolOpcode)
_KEYED: Final = SessionPhase.KEYED
_BAD_CHECK: Final = str(DropReason.BAD_CHECK)
_MESSAGE_BYTES: Final = 150  # about what Python needs for a message besides its payload


class Receiver(Protocol):
    """The owner of a receive path."""

    def validate_address(self) -> None:
        """Note the first datagram with a valid check."""

    def handle(self, packet: bytes, now: Monotonic) -> None:
        """Take a packet outside the reliable channel; may raise `PeerError`."""

    def acknowledge(self, opcode: int, sequence: int, now: Monotonic) -> None:
        """Take an Ack or OutOfOrderAck; may raise `PeerError`."""

    def receive_clear(self, message: bytes) -> None:
        """Take a message that came before the key; may raise `PeerError`."""


class UnauthenticatedLimits:
    """Limits on the messages of a peer that no service has authenticated yet."""

    __slots__ = ("_total", "_waiting")

    def __init__(self, config: SessionConfig) -> None:
        self._total = config.unauthenticated_message_count_limit
        self._waiting = config.unauthenticated_waiting_limit

    def check(self, journal: SessionJournal, messages: int) -> None:
        """Check one more message; `messages` counts it. Raises `BrokenChannel` beyond a limit."""
        # The journal also has events that cost the peer nothing, so only messages count.
        waiting = sum(type(event) is Message for event in journal.events)
        if waiting >= self._waiting or messages > self._total:
            raise BrokenChannel(CloseReason.FLOOD)


class ReceivePath:
    """One direction of one session.

    `limits` apply until the peer is authenticated. They are independent of `SessionPhase`, because
    a server may authenticate a peer before its first datagram or never. `datagrams`, `bytes` and
    `messages` count what came. A path that `is_paced` accepts no packet while too many messages
    wait for their owner.
    """

    __slots__ = (
        "_channel",
        "_codec",
        "_config",
        "_is_paced",
        "_journal",
        "_lifecycle",
        "_postponed",
        "_short_start",
        "_size_limit",
        "bytes",
        "datagrams",
        "limits",
        "messages",
        "seal",
    )

    def __init__(
        self,
        config: SessionConfig,
        lifecycle: Lifecycle,
        journal: SessionJournal,
        *,
        is_paced: bool = False,
    ) -> None:
        self._config = config
        self._lifecycle = lifecycle
        self._journal = journal
        self._size_limit = config.datagram_size_limit
        self._short_start: int | None = None
        self._is_paced = is_paced
        self._postponed: list[bytes] = []  # messages of an AppCombined, not decrypted yet
        self._channel: ReliableChannel = NO_CHANNEL
        self._codec: MessageCodec | None = None
        self.seal: Seal | None = None
        self.limits: UnauthenticatedLimits | None = UnauthenticatedLimits(config)
        self.datagrams = 0
        self.bytes = 0
        self.messages = 0

    # -- set-up -----------------------------------------------------------------------------------

    def open(self, seal: Seal, channel: ReliableChannel) -> None:
        """Accept datagrams with this seal from now on; their packets go to this channel."""
        self.seal = seal
        self._channel = channel

    def use_short_path(self) -> None:
        """Use the short path for whole Packets if the format allows it; call once validated."""
        if self.seal is not None and self.seal.plain:
            self._short_start = self.seal.start

    def start_cipher(self, codec: MessageCodec) -> None:
        """Decrypt every message from now on."""
        self._codec = codec
        # Before the key only the short key exchange is expected, even from a trusted peer.
        self._channel.lift_limits(trusted=self.limits is None)

    def trust(self) -> None:
        """Lift the limits for unauthenticated peers; those before the key remain."""
        self.limits = None
        if self._codec is not None:
            self._channel.lift_limits(trusted=True)

    def close(self) -> None:
        """Decrypt nothing more; the phase refuses all further packets."""
        self._short_start = None
        self._codec = None
        self._postponed = []

    # -- datagrams --------------------------------------------------------------------------------

    def receive(self, data: bytes, now: Monotonic, receiver: Receiver) -> None:
        """Take one datagram.

        Raises `BrokenChannel` when the session cannot continue, another `PeerError` when the
        datagram is dropped.
        """
        self.datagrams += 1
        self.bytes += len(data)
        # Nearly every datagram of a busy session is one Packet or Ack in the plain format. For
        # these the steps of `_receive_any` are written out here: a call costs as much as the CRC.
        start = self._short_start
        usual = start is not None and _ACK_SIZE <= len(data) <= self._size_limit
        marker, sequence = pull_head(data) if usual else (0, 0)
        if start is None or (marker != _PACKET and (marker != _ACK or len(data) != _ACK_SIZE)):
            self._receive_any(data, now, receiver)
            return
        if crc32(data[:-2], start) & 0xFFFF != data[-2] << 8 | data[-1]:
            self._journal.drop(_BAD_CHECK)  # an exception makes a flood costlier
            return
        self._lifecycle.last_received = now
        payload = data[4:-2]
        if marker == _ACK:
            receiver.acknowledge(_ACK, sequence, now)
        elif not self._channel.takes_next(sequence):
            self._receive_sequenced(_PACKET, sequence, payload, receiver)
        elif payload and payload[0]:
            self.receive_message(payload, receiver)
        else:
            self._receive_marked(payload, receiver)

    def _receive_any(self, data: bytes, now: Monotonic, receiver: Receiver) -> None:
        if len(data) > self._size_limit:
            raise LimitExceeded("datagram too long")
        if len(data) < OPCODE_SIZE:
            raise MalformedDatagram("short datagram")
        if data[0]:
            raise MalformedDatagram("not a protocol packet")
        lifecycle = self._lifecycle
        if lifecycle.phase is SessionPhase.ENDED:
            raise MalformedDatagram(DropReason.ENDED.value)
        # These have no check, so they must not count as a sign of life (`last_received`).
        if data[1] in UNSEALED:
            self._handle(data, now, receiver)
            return
        if self.seal is None:
            raise MalformedDatagram("not allowed now")
        packet = self.seal.unseal(data)
        lifecycle.last_received = now
        # The first valid check proves that the peer has read our SessionResponse.
        if lifecycle.phase is SessionPhase.RESPONDED:
            receiver.validate_address()
        if packet[1] == _COMBINED:
            self._receive_combined(packet, now, receiver)
        else:
            self._handle(packet, now, receiver)

    def _receive_combined(self, packet: bytes, now: Monotonic, receiver: Receiver) -> None:
        """Open a Combined and those nested in it; a bad part does not affect the others.

        The work is bounded for the datagram as a whole, whatever its nesting: there is no
        recursion, no exception for each bad part, and a limit on the parts in total.
        """
        lifecycle = self._lifecycle
        stack = [(packet, 0)]
        parts_left = self._config.combined_count_limit
        while stack and lifecycle.phase is not SessionPhase.ENDED:
            packet, depth = stack.pop()
            reason = self._refusal(packet, inside=depth > 0)
            if reason is not None:
                self._journal.drop(reason)
            elif packet[1] != _COMBINED:
                self._handle_part(packet, now, receiver)
            elif depth >= self._config.combine_depth_limit:
                self._journal.drop("combined packets too deep")
            else:
                parts = self._parts_of(packet, parts_left)
                parts_left -= len(parts)
                # Reversed, so that `pop` returns the parts in the order of the datagram.
                stack += [(part, depth + 1) for part in reversed(parts)]

    def _parts_of(self, packet: bytes, limit: int) -> tuple[bytes, ...]:
        try:
            return pull_parts(packet, limit, OPCODE_SIZE)
        except PeerError as error:
            self._journal.drop(error.reason)
            return ()

    def _handle_part(self, packet: bytes, now: Monotonic, receiver: Receiver) -> None:
        try:
            self._pass_on(packet, now, receiver)
        # A lost order affects all parts, so it must reach the owner.
        except BrokenChannel:
            raise
        except PeerError as error:
            self._journal.drop(error.reason)

    def _handle(self, packet: bytes, now: Monotonic, receiver: Receiver) -> None:
        reason = self._refusal(packet)
        if reason is not None:
            raise MalformedDatagram(reason)
        self._pass_on(packet, now, receiver)

    def _pass_on(self, packet: bytes, now: Monotonic, receiver: Receiver) -> None:
        opcode = packet[1]
        if opcode in (_PACKET, _FRAGMENT):
            sequence, data = pull_sequenced(packet)
            if not data and opcode == _FRAGMENT:
                raise MalformedDatagram("empty payload")
            self._receive_sequenced(opcode, sequence, data, receiver)
        else:
            receiver.handle(packet, now)

    def _refusal(self, packet: bytes, *, inside: bool = False) -> str | None:
        """Return why the phase refuses a packet, or None; `inside` a Combined or alone."""
        if len(packet) < OPCODE_SIZE or packet[0]:
            return "not a protocol packet"
        opcode = packet[1]
        # A check covers the datagram, and these packets have none of their own.
        if inside and opcode in UNSEALED:
            return "not allowed inside a combined packet"
        if opcode in self._lifecycle.allowed:
            return None
        if opcode in _OPCODES:
            return "not allowed now"
        return "unused channel" if opcode in OTHER_CHANNELS else "unknown protocol opcode"

    # -- the reliable channel ---------------------------------------------------------------------

    def _receive_sequenced(
        self, opcode: int, sequence: int, data: bytes, receiver: Receiver
    ) -> None:
        channel = self._channel
        if opcode == _PACKET and channel.takes_next(sequence):
            self._receive_payload(data, receiver)
            return
        for payload in channel.receive(opcode, sequence, data):
            self._receive_payload(payload, receiver)

    def _receive_payload(self, payload: bytes, receiver: Receiver) -> None:
        """Take a payload: a message, or after a 00 an escaped message or several messages."""
        if payload and payload[0]:
            self.receive_message(payload, receiver)
        else:
            self._receive_marked(payload, receiver)

    def _receive_marked(self, payload: bytes, receiver: Receiver) -> None:
        marker = payload[1] if len(payload) > 1 else None
        if marker == 0:
            self.receive_message(payload[1:], receiver)
        elif marker == _APP_COMBINED:
            self._receive_app_combined(payload, receiver)
        else:
            self._journal.drop("unknown payload marker" if payload else "empty payload")

    def _receive_app_combined(self, payload: bytes, receiver: Receiver) -> None:
        try:
            messages = pull_parts(payload, self._config.app_combined_count_limit, OPCODE_SIZE)
        except LimitExceeded:
            raise BrokenChannel("too many messages in an AppCombined") from None
        except MalformedDatagram:
            if self._codec is not None:  # the position in the cipher stream is lost
                raise BrokenChannel("malformed AppCombined") from None
            self._journal.drop("malformed AppCombined")
            return
        self._receive_parts(list(messages), receiver)

    def _receive_parts(self, messages: list[bytes], receiver: Receiver) -> None:
        """Take the messages of one payload; postpone the rest once the channel is paused."""
        channel = self._channel
        for number, message in enumerate(messages):
            if channel.is_paused:
                self._postponed = messages[number:]
                self._journal.waiting_bytes += sum(map(len, self._postponed))
                return
            if message[0]:
                self.receive_message(message, receiver)
            # Each message is escaped by itself, so the escape appears inside an AppCombined too.
            elif len(message) > 1 and message[1] == 0:
                self.receive_message(message[1:], receiver)
            else:
                self._journal.drop("AppCombined inside an AppCombined")

    def receive_message(self, message: bytes, receiver: Receiver) -> None:
        """Take one message without its escape byte: the next bytes of the cipher stream."""
        codec = self._codec
        if codec is None:
            self._receive_clear(message, receiver)
            return
        try:
            opcode, payload = codec.decode(message)
        except PeerError as error:
            if codec.broken:
                raise BrokenChannel(error.reason) from None
            self._journal.drop(error.reason)
            return
        self.messages += 1
        if self.limits is not None:
            self.limits.check(self._journal, self.messages)
        if self._lifecycle.phase is _KEYED:  # once our side closes, messages are dropped
            events = self._journal.events
            # Nearly every message is the only one that waits. It is not counted, to save time.
            if events:
                self._note_waiting(len(payload), len(events))
            events.append(Message(opcode, payload))

    def _note_waiting(self, size: int, others: int) -> None:
        """Count a message behind others; pause the channel at the limit."""
        journal = self._journal
        journal.waiting_bytes += size + _MESSAGE_BYTES
        config = self._config
        if self._is_paced and (
            others + 1 >= config.waiting_message_limit
            or journal.waiting_bytes >= config.waiting_bytes_limit
        ):
            self._channel.pause()

    def resume(self, receiver: Receiver) -> None:
        """Take the packets that waited while the channel was paused.

        Raises `BrokenChannel` when the session cannot continue.
        """
        channel = self._channel
        channel.is_paused = False
        postponed, self._postponed = self._postponed, []
        self._receive_parts(postponed, receiver)
        # The postponed messages may pause the channel again; then later payloads wait behind them.
        if not channel.is_paused:
            for payload in channel.resume():
                self._receive_payload(payload, receiver)

    def _receive_clear(self, message: bytes, receiver: Receiver) -> None:
        try:
            receiver.receive_clear(message)
        except BrokenChannel:
            raise
        except PeerError as error:
            self._journal.drop(error.reason)


NO_CHANNEL: Final = ReliableChannel(SessionConfig(), 512, 2)
"""The channel of a session that is not open: always empty."""

# A module constant is read faster than a member of an enum, and every datagram reads these.
_VALIDATED: Final = SessionPhase.VALIDATED
_CLOSING: Final = SessionPhase.CLOSING
_ENDED: Final = SessionPhase.ENDED
_AHEAD: Final = 4
"""Full datagrams that may wait behind a full window, so that the next ack can release them at once.
The window also grows only while something waits for it."""


class SendPath:
    """One direction of one session.

    `is_bounded` limits what leaves to `amplification_limit` times the bytes received. `ready` has
    datagrams that leave in any phase, `early_bytes` is how many bytes wait for the key.
    `datagrams`, `bytes` and `messages` count what was sent.
    """

    __slots__ = (
        "_channel",
        "_codec",
        "_config",
        "_early",
        "_is_full",
        "_journal",
        "_lifecycle",
        "_received",
        "_seal",
        "bytes",
        "datagrams",
        "early_bytes",
        "is_bounded",
        "messages",
        "ready",
    )

    def __init__(
        self,
        config: SessionConfig,
        lifecycle: Lifecycle,
        journal: SessionJournal,
        received: ReceivePath,
        *,
        is_bounded: bool,
    ) -> None:
        self._config = config
        self._lifecycle = lifecycle
        self._journal = journal
        self._received = received
        self._seal: Seal | None = None
        self._channel: ReliableChannel = NO_CHANNEL
        self._codec: MessageCodec | None = None
        self._early: list[tuple[int, bytes]] | None = None
        self.early_bytes = 0
        self._is_full = False
        self.is_bounded = is_bounded
        self.ready: list[bytes] = []
        self.datagrams = 0
        self.bytes = 0
        self.messages = 0

    # -- set-up -----------------------------------------------------------------------------------

    def open(self, seal: Seal, channel: ReliableChannel) -> None:
        """Use this seal and this channel from now on."""
        self._seal = seal
        self._channel = channel

    def start_cipher(self, codec: MessageCodec) -> None:
        """Encrypt from now on, beginning with the messages that waited for the key."""
        self._codec = codec
        early = self._early
        self.forget_early()
        for opcode, payload in early or ():
            self._channel.queue_message(codec.encode(opcode, payload))

    def forget_early(self) -> None:
        """Drop the messages that wait for the key."""
        self._early = None
        self.early_bytes = 0

    def close(self) -> None:
        """Encrypt nothing more; datagrams that are `ready` still leave."""
        self._codec = None
        self.forget_early()

    # -- messages ---------------------------------------------------------------------------------

    def send(self, opcode: int, payload: bytes) -> None:
        """Queue one message; see `Session.send`. Raises `BrokenChannel` when too much is queued."""
        config = self._config
        if len(payload) > config.message_size_limit - OPCODE_SIZE_LIMIT:
            most = config.message_size_limit - OPCODE_SIZE_LIMIT
            raise LocalProtocolError(f"a message may have {most} bytes behind its opcode")
        if self._lifecycle.phase >= _CLOSING:
            self._journal.drop("sent after close")
            return
        codec = self._codec
        if codec is None:
            # Only a check: a wrong opcode must fail in the caller, not later when the key arrives.
            opcode_bytes(opcode, config.stream_type.opcode_width)
            if self._early is None:
                self._early = []
            self._early.append((opcode, payload))
            self.early_bytes += len(payload)
            queued_bytes = self.queued_bytes
        else:
            queued_bytes = self._channel.queue_message(codec.encode(opcode, payload))
        self.messages += 1
        if queued_bytes > config.send_queue_limit:
            raise BrokenChannel(CloseReason.SEND_QUEUE_FULL)

    @property
    def queued_bytes(self) -> int:
        """How many bytes wait for the key, for the window, or for an acknowledgment."""
        channel = self._channel
        return self.early_bytes + channel.outgoing_bytes + channel.queue.queued_bytes

    def capacity(self, now: Monotonic) -> int:
        """Return how many bytes may usefully be queued now; see `Session.capacity`."""
        if self._lifecycle.phase >= _CLOSING:
            return 0
        queue = self._channel.queue
        congestion = queue.congestion
        capacity = congestion.window + _AHEAD * congestion.unit - self.queued_bytes
        if capacity > 0 and not queue.is_overdue(now):
            return capacity
        self._is_full = True
        return 0

    def report_capacity(self, now: Monotonic) -> None:
        """Report new capacity to an owner that had none; to be called after acks."""
        # Only when several full datagrams fit: a report for each ack would wake the owner for
        # little.
        if self._is_full and self.capacity(now) >= _AHEAD * self._channel.queue.congestion.unit:
            self._is_full = False
            self._journal.events.append(Writable())

    # -- datagrams --------------------------------------------------------------------------------

    def take_ack(self, now: Monotonic) -> bytes | None:
        """Return a datagram with an Ack if nothing else is to be sent; None otherwise.

        This is the most frequent datagram, so it takes a short path. An Ack is shorter than the
        packet it acknowledges: the bound for unvalidated addresses holds without a check.
        """
        lifecycle = self._lifecycle
        seal = self._seal
        if lifecycle.phase is not _KEYED or self.ready or seal is None:
            return None
        channel = self._channel
        ack = channel.take_only_ack() if channel.ack_pending else None
        if ack is None:
            return None
        datagram = seal.seal(ack)
        self.datagrams += 1
        self.bytes += len(datagram)
        lifecycle.last_sent = now
        return datagram

    def take_datagrams(self, now: Monotonic, others: Sequence[bytes]) -> list[bytes]:
        """Return the datagrams that may leave now; `others` are packets outside the channel."""
        phase = self._lifecycle.phase
        seal = self._seal
        datagrams = self.ready
        self.ready = []
        if seal is not None and _VALIDATED <= phase < _ENDED:
            datagrams.extend(map(seal.seal, self._channel.take_datagrams(now, others)))
            codec = self._codec
            # The compressor takes about 30 kB, and between datagrams most sessions are idle.
            if codec is not None and codec.holds_memory:
                codec.release()
        if not datagrams:
            return datagrams
        return self._count(datagrams, now)

    def _count(self, datagrams: list[bytes], now: Monotonic) -> list[bytes]:
        """Count and return the datagrams that leave; to an unvalidated address not all do."""
        allowed = datagrams
        if self.is_bounded:
            # The source address may be forged, and its owner the target of a reflection attack.
            # So it gets at most `amplification_limit` times the bytes that came from it, as in
            # RFC 9000, 8.1. A dropped datagram is retransmitted once more bytes have arrived.
            allowed = []
            budget = self._config.amplification_limit * self._received.bytes - self.bytes
            for datagram in datagrams:
                budget -= len(datagram)
                if budget < 0:
                    # The peer could only hold the datagrams behind it, so they are not sent either.
                    self._journal.drop("answer larger than allowed")
                    break
                allowed.append(datagram)
        self.datagrams += len(allowed)
        for datagram in allowed:
            self.bytes += len(datagram)
        self._lifecycle.last_sent = now
        return allowed
