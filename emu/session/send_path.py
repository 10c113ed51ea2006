"""The way out: from messages to datagrams, as few as possible and each up to MaxLength.

Cipher, order, acks, joining, seal: the way of `receive_path` backwards. Bounds what an address gets
that has shown nothing, and says how much more is worth queueing. Does not know why a packet is
sent.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from emu.errors import LocalProtocolError
from emu.session.channel import BrokenChannel, ReliableChannel, join_packets
from emu.session.codec import OPCODE_SIZE_LIMIT, MessageCodec, opcode_bytes
from emu.session.configuration import SessionConfig
from emu.session.events import CloseReason, SessionJournal, Writable
from emu.session.receive_path import NO_CHANNEL, ReceivePath
from emu.session.states import SessionPhase, Standing
from emu.times import Monotonic
from emu.wire import Seal

_VALIDATED: Final = SessionPhase.VALIDATED
_KEYED: Final = SessionPhase.KEYED
_CLOSING: Final = SessionPhase.CLOSING
_ENDED: Final = SessionPhase.ENDED
_AHEAD: Final = 4
"""Full datagrams that may wait behind a full window: the next ack finds them there. And only a
window that something waits for is grown."""


class SendPath:
    """One direction of one session.

    `is_bounded` says that answers must not outweigh what came, `ready` holds datagrams that leave
    whatever the stage, `early_bytes` is how many bytes wait for the key. `datagrams`, `bytes` and
    `messages` count what was sent.
    """

    __slots__ = (
        "_channel",
        "_codec",
        "_config",
        "_early",
        "_is_full",
        "_journal",
        "_received",
        "_seal",
        "_standing",
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
        standing: Standing,
        journal: SessionJournal,
        received: ReceivePath,
        *,
        is_bounded: bool,
    ) -> None:
        self._config = config
        self._standing = standing
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

    # -- what changes on the way ------------------------------------------------------------------

    def open(self, seal: Seal, channel: ReliableChannel) -> None:
        """Seal what leaves from now on, and keep this channel's order."""
        self._seal = seal
        self._channel = channel

    def start_cipher(self, codec: MessageCodec) -> None:
        """Encrypt from now on, beginning with what waited for the key."""
        self._codec = codec
        early = self._early
        self.forget_early()
        for opcode, payload in early or ():
            self._channel.add(codec.encode(opcode, payload))

    def forget_early(self) -> None:
        """Let go of messages that wait for the key."""
        self._early = None
        self.early_bytes = 0

    def close(self) -> None:
        """Encrypt nothing more; what is `ready` still leaves."""
        self._codec = None
        self.forget_early()

    # -- messages ---------------------------------------------------------------------------------

    def send(self, opcode: int, payload: bytes) -> None:
        """Queue one message, as `Session.send` says. Raises `BrokenChannel` when too much waits."""
        config = self._config
        if len(payload) > config.message_size_limit - OPCODE_SIZE_LIMIT:
            most = config.message_size_limit - OPCODE_SIZE_LIMIT
            raise LocalProtocolError(f"a message may have {most} bytes behind its opcode")
        if self._standing.stage >= _CLOSING:
            self._journal.drop("sent after close")
            return
        codec = self._codec
        if codec is None:
            opcode_bytes(opcode, config.stream_type.opcode_width)
            if self._early is None:
                self._early = []
            self._early.append((opcode, payload))
            self.early_bytes += len(payload)
        else:
            self._channel.add(codec.encode(opcode, payload))
        self.messages += 1
        if self.queued_bytes > config.send_queue_limit:
            raise BrokenChannel(CloseReason.SEND_QUEUE_FULL)

    @property
    def queued_bytes(self) -> int:
        """How many bytes wait for the key, for room, or for their acknowledgment."""
        return self.early_bytes + self._channel.queued_bytes

    def room(self, now: Monotonic) -> int:
        """Return how many bytes may usefully be queued now, as `Session.room` says."""
        if self._standing.stage >= _CLOSING:
            return 0
        queue = self._channel.queue
        congestion = queue.congestion
        room = congestion.window + _AHEAD * congestion.unit - self.queued_bytes
        if room > 0 and not queue.is_overdue(now):
            return room
        self._is_full = True
        return 0

    def tell_room(self, now: Monotonic) -> None:
        """Tell an owner who was refused room that there is some again; to be called after acks."""
        if self._is_full and self.room(now) >= _AHEAD * self._channel.queue.congestion.unit:
            self._is_full = False
            self._journal.events.append(Writable())

    # -- datagrams --------------------------------------------------------------------------------

    def take_ack(self, now: Monotonic) -> bytes | None:
        """Return the commonest datagram of all: an Ack, if that is all there is to say; else None.

        It is shorter than whatever it acknowledges, so it needs no look at what the peer has paid
        for.
        """
        standing = self._standing
        seal = self._seal
        if standing.stage is not _KEYED or self.ready or seal is None:
            return None
        ack = self._channel.take_only_ack()
        if ack is None:
            return None
        datagram = seal.seal(ack)
        self.datagrams += 1
        self.bytes += len(datagram)
        standing.last_sent = now
        return datagram

    def take(self, now: Monotonic, others: Sequence[bytes]) -> list[bytes]:
        """Return the datagrams that may leave now; `others` are packets outside the channel."""
        stage = self._standing.stage
        channel = self._channel
        seal = self._seal
        datagrams = self.ready
        self.ready = []
        if seal is not None and _VALIDATED <= stage < _ENDED:
            # Acks first: they are what the peer waits for. Whatever fits one datagram shares it.
            outgoing = channel.ack_packets()
            outgoing += others
            outgoing += channel.packets_to_send(now)
            if self._codec is not None:
                self._codec.release()
            if len(outgoing) > 1:
                config = self._config
                outgoing = join_packets(
                    outgoing, channel.room, config.combined_part_limit, config.combined_count_limit
                )
            datagrams.extend(map(seal.seal, outgoing))
        if not datagrams:
            return datagrams
        return self._count(datagrams, now)

    def _count(self, datagrams: list[bytes], now: Monotonic) -> list[bytes]:
        """Count what leaves; to an unvalidated address no more than it paid for."""
        allowed = datagrams
        if self.is_bounded:
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
        self._standing.last_sent = now
        return allowed
