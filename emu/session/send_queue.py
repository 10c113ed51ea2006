"""What is to be sent reliably, what is in flight, and what was lost.

Source: docs/protocol/transport.md#reliability.

Owns sequence numbers of the sending side, acknowledgments, loss detection and the retransmission
timer. Loss is judged as RACK does (RFC 8985): a packet is lost when one sent after it arrived and
it is older than a round trip; the last ones of a flight are found by the timer, which sends the
oldest again and lets its acknowledgment tell about the rest. Does not know messages or seals.
"""

from __future__ import annotations

from collections import deque

from emu.errors import MalformedDatagram
from emu.session.configuration import SessionConfig
from emu.session.congestion import NewReno, RoundTrip
from emu.session.receive_window import MASK, distance
from emu.times import Monotonic
from emu.wire.packets import SEQUENCED_SIZE, push_sequenced

_ROUNDING = 1e-6  # seconds; sums of floats are no finer
_SHORTEST_WAIT = 0.003
"""Seconds that a packet is given at least before a later one's arrival makes it a lost one.

On a path of less than a millisecond the hosts themselves delay datagrams by more than the path
does, and a packet judged by its round trip alone would be sent again while its acknowledgment is
in flight: at 20 % loss every byte went out twice and a half.
"""
_BACKOFF_LIMIT = 2
"""How often the timeout is doubled: four times a measured one is patience enough with a path, and a
login over a bad one gets its tries within the time that a player waits."""
_LONG_WAIT = 0.25
"""After many attempts the next one comes when the wait has grown by this share. A link that stays
silent so gets fewer copies, and one that is back is noticed after a time that fits the gap."""
_REORDER_STEP = 0.25
_REORDER_MAXIMUM = 2.0


class _Sent:
    """One packet in flight."""

    __slots__ = ("lost", "packet", "sent_at", "timeouts", "transmissions")

    def __init__(self, packet: bytes, now: Monotonic) -> None:
        self.packet = packet
        self.sent_at = now
        self.timeouts = 0
        self.transmissions = 1
        self.lost = False


class SendQueue:
    """The sending half of the reliable channel.

    `exhausted` turns true when the peer has acknowledged nothing for `idle_timeout` and one longest
    timeout, although packets were in flight all the time; or earlier, when the oldest packet has
    timed out `transmission_limit` times, if that is set.
    `retransmissions` counts packets sent again, `queued_bytes` all that is not yet acknowledged.
    """

    __slots__ = (
        "_backoff", "_base", "_config", "_in_flight", "_loss_time", "_lost", "_needs_detection",
        "_newest_acked", "_next", "_reorder", "_timer_start", "_waiting", "_waiting_since",
        "congestion", "exhausted", "queued_bytes", "retransmissions", "round_trip",
    )  # fmt: skip

    def __init__(self, config: SessionConfig, max_length: int) -> None:
        self._config = config
        self._waiting: deque[tuple[int, bytes]] | None = None
        # In the order of sequence numbers, since a dict keeps the order of its making and a packet
        # that is sent again keeps its place: the first is the one that the receiver waits for.
        self._in_flight: dict[int, _Sent] = {}
        self._lost: list[_Sent] = []  # also some that were sent again or arrived since
        self._base = self._next = config.first_sequence
        self._backoff = 0
        self._loss_time: float | None = None
        self._needs_detection = False
        self._newest_acked = (-1.0, 0)  # when the newest that arrived was sent, and which it is
        self._reorder = 1.0
        self._timer_start = 0.0
        self._waiting_since = 0.0  # the last acknowledgment, or the first packet of this flight
        self.exhausted = False
        self.queued_bytes = 0
        self.retransmissions = 0
        self.round_trip = RoundTrip(config)
        self.congestion = NewReno(
            start=config.congestion_window_start,
            minimum=config.congestion_window_minimum_datagrams * max_length,
            unit=max_length,
        )

    @property
    def empty(self) -> bool:
        """Whether nothing waits and nothing is in flight."""
        return not self._in_flight and not self._waiting

    @property
    def in_flight(self) -> int:
        """How many packets are sent and not acknowledged."""
        return len(self._in_flight)

    @property
    def entries(self) -> int:
        """How many packets wait or are in flight."""
        return len(self._in_flight) + (len(self._waiting) if self._waiting else 0)

    def add(self, opcode: int, data: bytes) -> None:
        """Queue one Packet or Fragment: its opcode, and what is behind the sequence."""
        if self._waiting is None:
            self._waiting = deque()
        self._waiting.append((opcode, data))
        self.queued_bytes += len(data)

    def take(self, now: Monotonic) -> list[bytes]:
        """Return the protocol packets that may leave now, lost ones first."""
        if self._needs_detection:
            self._detect_losses(now)
        # Nothing new while something lost waits for the window: the receiver could do nothing with
        # it but hold it.
        packets: list[bytes] = []
        if self._lost:
            self._resend(packets, now)
        if self._waiting and not self._lost:
            self._send_waiting(packets, now)
        return packets

    def _send_waiting(self, packets: list[bytes], now: Monotonic) -> None:
        waiting = self._waiting
        in_flight = self._in_flight
        congestion = self.congestion
        # The timer runs from the first of a flight, and anew from each ack and each repeat, never
        # from a packet in the middle: a steady stream would put it off for ever (RFC 6298, 5).
        if not in_flight:
            self._timer_start = self._waiting_since = now
        # The peer drops what is a window ahead of what it waits for, and says nothing of it.
        while waiting and (self._next - self._base) & MASK < self._config.window:
            opcode, data = waiting[0]
            size = SEQUENCED_SIZE + len(data)
            if not congestion.may_send(size):
                return
            waiting.popleft()
            sequence = self._next
            self._next = (sequence + 1) & MASK
            packet = push_sequenced(opcode, sequence) + data
            in_flight[sequence] = _Sent(packet, now)
            congestion.on_sent(size)
            packets.append(packet)
        if not waiting:
            self._waiting = None
            congestion.on_all_sent()

    def _resend(self, packets: list[bytes], now: Monotonic) -> None:
        # Everything in flight may wait for the oldest: a receiver that holds less than a flight has
        # thrown the rest away and acknowledges nothing more until it has that one. So it leaves
        # although the window is full, as the first retransmission of RFC 5681 does.
        oldest = self._oldest
        if oldest.lost:
            self._send_again(oldest, packets, now)
        lost = self._lost
        while lost:
            sent = lost[0]
            if sent.lost:
                if not self.congestion.may_send(len(sent.packet)):
                    return
                self._send_again(sent, packets, now)
            del lost[0]

    def _send_again(self, sent: _Sent, packets: list[bytes], now: Monotonic) -> None:
        sent.lost = False
        sent.sent_at = now
        sent.transmissions += 1
        self.retransmissions += 1
        self.congestion.on_sent(len(sent.packet))
        packets.append(sent.packet)
        self._timer_start = now

    @property
    def _oldest(self) -> _Sent:
        """The one the receiver waits for; only to be asked while something is in flight."""
        return next(iter(self._in_flight.values()))

    def acknowledge_up_to(self, sequence: int, now: Monotonic) -> bool:
        """Handle an Ack; say whether something arrived by it that was in flight.

        Raises `MalformedDatagram` for a packet that was never sent.
        """
        count = distance(self._base, sequence) + 1
        if count <= 0:
            return False  # late copy of an older Ack
        if count > (self._next - self._base) & MASK:
            raise MalformedDatagram("ack of a packet never sent")
        in_flight = len(self._in_flight)
        was_repeated = False
        for step in range(count):
            sent = self._arrived((self._base + step) & MASK, now)
            was_repeated |= sent is not None and sent.transmissions > 1
        # The last one only: those before it may have waited at the receiver for one that was late.
        # When one of them was sent twice, the last may have waited for that one: no measure of the
        # path either.
        if sent is not None and not was_repeated:
            self.round_trip.measure(now - sent.sent_at)
        self._base = (sequence + 1) & MASK
        self._progress(now)
        return len(self._in_flight) < in_flight

    def acknowledge_all(self, now: Monotonic) -> None:
        """Take everything that was sent as arrived: the peer has answered it in another way."""
        if self._in_flight:
            self.acknowledge_up_to((self._next - 1) & MASK, now)

    def acknowledge_one(self, sequence: int, now: Monotonic) -> bool:
        """Handle an OutOfOrderAck in the same way."""
        ahead = distance(self._base, sequence)
        if ahead < 0:
            return False
        if ahead >= (self._next - self._base) & MASK:
            raise MalformedDatagram("ack of a packet never sent")
        sent = self._arrived(sequence, now)
        if sent is not None:
            # Of two copies nobody knows which one is acknowledged (Karn's rule).
            if sent.transmissions == 1:
                self.round_trip.measure(now - sent.sent_at)
            self._progress(now)
        return sent is not None

    def _arrived(self, sequence: int, now: Monotonic) -> _Sent | None:
        """Take a packet off the way and learn from it; None when that was done before."""
        sent = self._in_flight.pop(sequence, None)
        if sent is None:
            return None
        size = len(sent.packet)
        self.queued_bytes -= size - SEQUENCED_SIZE
        if sent.lost:
            sent.lost = False  # it was taken out of flight then
        else:
            self.congestion.on_acked(size, sent.sent_at)
        if sent.transmissions > 1 and now - sent.sent_at + _ROUNDING < self.round_trip.low:
            # The first copy arrived after all: this path reorders, so wait longer from now on.
            self._reorder = min(self._reorder + _REORDER_STEP, _REORDER_MAXIMUM)
            return sent
        # By time and then by number: a whole flight leaves at one `now`.
        newest_at, newest = self._newest_acked
        if (sent.sent_at, distance(newest, sequence)) > (newest_at, 0):
            self._newest_acked = (sent.sent_at, sequence)
        return sent

    def _progress(self, now: Monotonic) -> None:
        # Detection waits for `take`: a datagram may bring a hundred acks, and the packets in flight
        # are looked through once for all of them.
        self._backoff = 0
        self._timer_start = self._waiting_since = now
        self._needs_detection = bool(self._in_flight)
        if not self._in_flight:
            self._loss_time = None
            self._lost.clear()

    def _detect_losses(self, now: Monotonic) -> None:
        self._needs_detection = False
        self._loss_time = None
        newest_at, newest = self._newest_acked
        age_limit = max(self.round_trip.smoothed * self._reorder, _SHORTEST_WAIT)
        for sequence, sent in self._in_flight.items():
            if sent.sent_at > newest_at or (
                sent.sent_at == newest_at and distance(newest, sequence) > 0
            ):
                if sent.transmissions == 1:
                    break  # all behind it left even later
                continue  # sent again, so younger than its place says
            if sent.lost:
                continue
            if now - sent.sent_at + _ROUNDING >= age_limit:
                self._mark_lost(sent, now)
            # Too young to be lost, old enough to be suspected: look again when it is.
            elif self._loss_time is None or sent.sent_at + age_limit < self._loss_time:
                self._loss_time = sent.sent_at + age_limit

    def _mark_lost(self, sent: _Sent, now: Monotonic) -> None:
        self.congestion.on_lost(len(sent.packet), sent.sent_at, now)
        self._queue_again(sent)

    def _queue_again(self, sent: _Sent) -> None:
        sent.lost = True
        self._lost.append(sent)

    def timer(self) -> Monotonic | None:
        """Return when `handle_timer` wants to be called, or None."""
        if not self._in_flight:
            return None
        config = self._config
        timeout = min(
            self.round_trip.timeout * (1 << min(self._backoff, _BACKOFF_LIMIT)),
            config.timeout_maximum,
        )
        if self._backoff > _BACKOFF_LIMIT and timeout < config.retry_interval:
            waited = self._timer_start - self._waiting_since
            timeout = max(timeout, min(waited * _LONG_WAIT, config.retry_interval))
        deadline = self._timer_start + timeout
        if self._loss_time is not None and self._loss_time < deadline:
            return Monotonic(self._loss_time)
        return Monotonic(deadline)

    def is_overdue(self, now: Monotonic) -> bool:
        """Whether something should have been acknowledged by now: it has to be sent again first."""
        deadline = self.timer()
        return deadline is not None and deadline <= now

    def handle_timer(self, now: Monotonic) -> None:
        """Look for losses when the time for it has come; `take` then has what to send again."""
        deadline = self.timer()
        if deadline is None or now < deadline:
            return
        # A loss that acks have shown is no timeout: it costs half the window, not all of it.
        if self._loss_time is not None and now >= self._loss_time:
            self._needs_detection = True
            self._detect_losses(now)
            if self._lost:
                return
        self._timer_start = now
        sent = self._oldest
        if sent.lost:
            return  # it leaves with the next `take`
        # Only these count as attempts. A copy that is sent because others arrived shows a peer that
        # is there, and on a short path a dozen of them may be spent within a moment.
        sent.timeouts += 1
        if self._is_given_up(sent, now):
            self.exhausted = True
            return
        # Only the oldest leaves. Its acknowledgment tells which of the others are lost; if the path
        # was only slow, none of them has gone twice.
        self._backoff += 1
        self.congestion.on_timeout(len(sent.packet), now)
        self._queue_again(sent)

    def _is_given_up(self, oldest: _Sent, now: Monotonic) -> bool:
        """Whether the peer has acknowledged nothing for too long.

        The silence limit decides, as for a peer that is not heard at all; one timeout more, because
        after a gap just below the limit an acknowledgment needs an attempt that arrives.
        """
        config = self._config
        limit = config.transmission_limit
        if limit is not None and oldest.timeouts >= limit:
            return True
        return now - self._waiting_since >= config.idle_timeout + config.timeout_maximum

    def hurry(self, now: Monotonic) -> None:
        """Send the oldest packet again, unless that was done a moment ago: the peer misses it."""
        if not self._in_flight:
            return
        sent = self._oldest
        if not sent.lost and now - sent.sent_at >= self._config.timeout_minimum:
            self._mark_lost(sent, now)

    def clear(self) -> None:
        """Let go of everything."""
        self._waiting = None
        self._in_flight.clear()
        self._lost.clear()
        self._loss_time = None
        self.queued_bytes = 0
