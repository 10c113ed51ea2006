"""The send path: from messages to datagrams, as few as possible and each up to MaxLength.

It runs the steps of `receive_path` in reverse: cipher, order, acks, joining, seal. It also bounds
the bytes sent to an unvalidated address, and says how many bytes are worth queueing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from emu.errors import LocalProtocolError
from emu.session.channel import BrokenChannel, ReliableChannel
from emu.session.codec import OPCODE_SIZE_LIMIT, MessageCodec, opcode_bytes
from emu.session.configuration import SessionConfig
from emu.session.events import CloseReason, SessionJournal, Writable
from emu.session.lifecycle import Lifecycle, SessionPhase
from emu.session.receive_path import NO_CHANNEL, ReceivePath
from emu.times import Monotonic
from emu.wire import Seal

_VALIDATED: Final = SessionPhase.VALIDATED
_KEYED: Final = SessionPhase.KEYED
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
            self._channel.add(codec.encode(opcode, payload))

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
            opcode_bytes(opcode, config.stream_type.opcode_width)
            if self._early is None:
                self._early = []
            self._early.append((opcode, payload))
            self.early_bytes += len(payload)
            queued_bytes = self.queued_bytes
        else:
            queued_bytes = self._channel.add(codec.encode(opcode, payload))
        self.messages += 1
        if queued_bytes > config.send_queue_limit:
            raise BrokenChannel(CloseReason.SEND_QUEUE_FULL)

    @property
    def queued_bytes(self) -> int:
        """How many bytes wait for the key, for the window, or for an acknowledgment."""
        return self.early_bytes + self._channel.queued_bytes

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
        ack = self._channel.take_only_ack()
        if ack is None:
            return None
        datagram = seal.seal(ack)
        self.datagrams += 1
        self.bytes += len(datagram)
        lifecycle.last_sent = now
        return datagram

    def take(self, now: Monotonic, others: Sequence[bytes]) -> list[bytes]:
        """Return the datagrams that may leave now; `others` are packets outside the channel."""
        phase = self._lifecycle.phase
        seal = self._seal
        datagrams = self.ready
        self.ready = []
        if seal is not None and _VALIDATED <= phase < _ENDED:
            datagrams.extend(map(seal.seal, self._channel.take(now, others)))
            codec = self._codec
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
                    self._journal.drop("answer larger than allowed")
                    break
                allowed.append(datagram)
        self.datagrams += len(allowed)
        for datagram in allowed:
            self.bytes += len(datagram)
        self._lifecycle.last_sent = now
        return allowed
