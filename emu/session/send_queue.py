"""The sending side of the reliable channel: sequence numbers, losses, congestion, retransmission.

Loss detection follows RACK (RFC 8985): a packet is lost when one sent after it has arrived and it
is older than a round trip. The last packets of a flight have none after them. For those the timer
sends the oldest packet again, and its acknowledgment shows what happened to the others. Congestion
control is NewReno (RFC 5681, RFC 6582, losses as in RFC 9002); round trips follow RFC 6298.

Source: docs/protocol/transport.md#reliability.
"""

from __future__ import annotations

from collections import deque
from typing import Final, TypedDict

from emu.errors import MalformedDatagram
from emu.session.configuration import SessionConfig
from emu.times import Monotonic
from emu.wire.packets import SEQUENCED_SIZE, push_sequenced

MASK: Final = 0xFFFF
# Half of the number space: a number up to here counts as ahead, a larger one as behind.
HALF: Final = 0x8000


def distance(start: int, sequence: int) -> int:
    """Return how far `sequence` is ahead of `start`: -32768 to 32767, negative when behind."""
    ahead = (sequence - start) & MASK
    return ahead if ahead < HALF else ahead - MASK - 1


class RoundTrip:
    """The smoothed round trip, its variation, and the retransmission timeout computed from them.

    Until the first measurement the timeout is round_trip_start x timeout_multiplier
    (500 ms x 3.0, as in EQ2Emulator), unless the client's own statistics gave a hint.
    """

    __slots__ = ("_config", "high", "latest", "low", "measured", "smoothed", "timeout", "variation")

    def __init__(self, config: SessionConfig) -> None:
        self._config = config
        self.measured = False
        self.smoothed = config.round_trip_start
        self.variation = 0.0
        self.latest = 0.0
        self.low = 0.0
        self.high = 0.0
        self.timeout = self._bounded(config.round_trip_start * config.timeout_multiplier)

    def _bounded(self, timeout: float) -> float:
        # The minimum protects against sending again too early, the maximum against long silence.
        return max(self._config.timeout_minimum, min(timeout, self._config.timeout_maximum))

    def hint(self, average: float) -> None:
        """Use the round trip (seconds) in the peer's statistics until there is a measurement."""
        # A login takes only a few round trips. Without the hint each loss in it would cost the
        # 1.5 s timeout of an unknown path, although the client has measured the path already.
        if not self.measured and average > 0:
            self.smoothed = min(average, self._config.timeout_maximum)
            self.timeout = self._bounded(self.smoothed * self._config.timeout_multiplier)

    def measure(self, sample: float) -> None:
        """Add one measured round trip in seconds, never that of a packet that was sent twice."""
        # A caller may pass a `now` slightly before the time of sending.
        sample = max(sample, 0.0)
        self.latest = sample
        if self.measured:
            # Variation first, from the old mean, with gains 1/4 and 1/8 (RFC 6298, 2.3).
            self.variation += (abs(self.smoothed - sample) - self.variation) / 4
            self.smoothed += (sample - self.smoothed) / 8
            self.low = min(self.low, sample)
            self.high = max(self.high, sample)
        else:
            self.measured = True
            self.smoothed = self.low = self.high = sample
            self.variation = sample / 2
        self.timeout = self._bounded(self.smoothed + 4 * self.variation)


class NewReno:
    """Slow start, congestion avoidance, and one halving for the losses of a round trip.

    `start` and `minimum` are window sizes in bytes, `unit` is the size of a full datagram.
    `in_flight` counts bytes.
    """

    __slots__ = (
        "_limited", "_minimum", "_recovery_start", "_threshold", "in_flight", "unit", "window",
    )  # fmt: skip

    def __init__(self, *, start: int, minimum: int, unit: int) -> None:
        # `on_lost` never goes below the minimum, so a smaller start would grow at the first loss.
        self.window = max(start, minimum)
        self.in_flight = 0
        self._minimum = minimum
        self.unit = unit
        self._threshold: int | None = None
        self._recovery_start = -1.0
        self._limited = False  # whether the window delayed a packet since the queue was last empty

    def may_send(self, size: int) -> bool:
        """Return whether `size` more bytes fit the window; one packet always may be in flight."""
        # With nothing in flight no ack would ever arrive and open the window.
        if self.in_flight and self.in_flight + size > self.window:
            self._limited = True
            return False
        return True

    def on_all_sent(self) -> None:
        """Note that nothing waits: the application, not the window, limits the rate."""
        self._limited = False

    def on_sent(self, size: int) -> None:
        """Count bytes that leave."""
        self.in_flight += size

    def on_acked(self, size: int, sent_at: float) -> None:
        """Count bytes that arrived, and open the window if it limited the rate."""
        self.in_flight -= size
        # Acks of a slow sender prove nothing about a larger window. A window grown by them would
        # let the first large transfer overrun the path. Packets sent before the last loss was
        # detected left under the old window (RFC 9002, 7.3.2).
        if not self._limited or sent_at <= self._recovery_start:
            return
        # There is no threshold until the first loss has shown how much the path holds.
        if self._threshold is None or self.window < self._threshold:
            self.window += size  # slow start: doubles in a round trip
        else:
            # Congestion avoidance: one datagram more in a round trip. At least 1, because the
            # division gives 0 for short packets in a wide window.
            self.window += max(1, self.unit * size // self.window)

    def on_lost(self, size: int, sent_at: float, now: Monotonic) -> None:
        """Count lost bytes; the losses of one flight halve the window once."""
        self.in_flight -= size
        # One full buffer on the path drops many packets of a flight; that is one event. Only the
        # loss of a packet that left after the last halving shows that the window is still too wide.
        if sent_at > self._recovery_start:
            self._recovery_start = now
            self.window = max(self.window // 2, self._minimum)
            self._threshold = self.window

    def on_timeout(self, size: int, now: Monotonic) -> None:
        """Handle a timeout without any ack: start again from the smallest window."""
        self.in_flight -= size
        # Everything sent before now belongs to this event: its losses reduce nothing more.
        self._recovery_start = now
        self._threshold = max(self.window // 2, self._minimum)
        self.window = self._minimum
        # The queued packets wait for this window from now on, also until the next `may_send`. The
        # acks that arrive before it must open the window.
        self._limited = True


_ROUNDING = 1e-6  # seconds; sums of floats are no finer
_SHORTEST_WAIT = 0.003
"""The least age in seconds at which a packet counts as lost because a later one arrived.

On a path below a millisecond the hosts delay datagrams more than the path does. Judged by the round
trip alone, a packet would be sent again while its acknowledgment is in flight: at 20 % loss every
byte left 2.5 times.
"""
_STEADY_ATTEMPTS = 3
"""How many timeouts in a row pass before the timeout is doubled. The traffic of a login is thin: a
few packets in flight, and each timeout repeats one of them. On a path that loses a fifth, every
doubling costs a player seconds, and saves the path next to nothing."""
_BACKOFF_LIMIT = 2
"""How many times the timeout is doubled. Further doubling would leave a login over a bad path too
few attempts in the time that a player waits."""
_LONG_WAIT = 0.25
"""After many attempts the next one follows when the wait has grown by this share. A silent link
gets ever fewer copies, and a link that is back is noticed after a time in proportion to its gap."""
_REORDER_STEP = 0.25
_REORDER_MAXIMUM = 2.0
"""On a path that reorders, the age limit of a packet grows by this share of a round trip for each
needless copy, up to two round trips (RFC 8985, 6.2)."""


class _Sent:
    """One packet in flight."""

    __slots__ = ("lost", "packet", "sent_at", "timeouts", "transmissions")

    def __init__(self, packet: bytes, now: Monotonic) -> None:
        self.packet = packet
        self.sent_at = now
        self.timeouts = 0
        self.transmissions = 1
        self.lost = False


class QueueMeasures(TypedDict):
    """What a queue measures of its path; fields of `SessionStatistics`."""

    smoothed_round_trip: float | None
    retransmission_timeout: float
    congestion_window: int
    packets_in_flight: int


class SendQueue:
    """The packets of one session that wait or are in flight.

    `exhausted` becomes true when the peer has acknowledged nothing for `idle_timeout` plus one
    longest timeout while packets were in flight; or earlier, when the oldest packet has timed out
    `transmission_limit` times, if that is set. `retransmissions` counts packets sent again,
    `queued_bytes` the bytes that are not acknowledged.
    """

    __slots__ = (
        "_backoff", "_base", "_config", "_in_flight", "_loss_time", "_lost", "_needs_detection",
        "_newest_acked", "_next", "_reorder", "_timer_start", "_waiting", "_waiting_since",
        "congestion", "exhausted", "queued_bytes", "retransmissions", "round_trip",
    )  # fmt: skip

    def __init__(self, config: SessionConfig, max_length: int) -> None:
        self._config = config
        self._waiting: deque[tuple[int, bytes]] | None = None
        # In the order of sequence numbers: packets are added in that order, and one that is sent
        # again keeps its place. So the first is the one that the receiver waits for.
        self._in_flight: dict[int, _Sent] = {}
        self._lost: list[_Sent] = []  # may include packets that were sent again or have arrived
        # `_base` is the oldest number without an Ack, `_next` the number of the next new packet.
        self._base = self._next = config.first_sequence
        self._backoff = 0
        self._loss_time: float | None = None
        self._needs_detection = False
        self._newest_acked = (-1.0, 0)  # the latest sent packet that arrived: sent at, sequence
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

    def measures(self) -> QueueMeasures:
        """Return the measures of the path as `SessionStatistics` names them; times in seconds."""
        round_trip = self.round_trip
        return QueueMeasures(
            smoothed_round_trip=round_trip.smoothed if round_trip.measured else None,
            retransmission_timeout=round_trip.timeout,
            congestion_window=self.congestion.window,
            packets_in_flight=self.in_flight,
        )

    @property
    def last_acknowledged(self) -> int | None:
        """The last sequence number that an Ack has named; None before the first one."""
        return None if self._base == self._config.first_sequence else (self._base - 1) & MASK

    def has_sent(self, sequence: int) -> bool:
        """Return whether a number is `last_acknowledged` or that of a packet sent behind it."""
        return (sequence - self._base + 1) & MASK <= (self._next - self._base) & MASK

    def queue_packet(self, opcode: int, data: bytes) -> None:
        """Queue one Packet or Fragment: its opcode, and the bytes behind the sequence number."""
        if self._waiting is None:
            self._waiting = deque()
        self._waiting.append((opcode, data))
        self.queued_bytes += len(data)

    def take_packets(self, now: Monotonic) -> list[bytes]:
        """Return the protocol packets that may leave now, lost ones first."""
        if self._needs_detection:
            self._detect_losses(now)
        # No new packet while a lost one waits for the window: the receiver could only hold it.
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
        # The timer starts with the first packet of a flight, each ack and each retransmission, but
        # not with other packets: a steady stream would postpone it for ever (RFC 6298, 5).
        if not in_flight:
            self._timer_start = self._waiting_since = now
        # The peer silently drops packets beyond its receive window.
        while waiting and (self._next - self._base) & MASK < self._config.window:
            opcode, data = waiting[0]
            size = SEQUENCED_SIZE + len(data)
            if not congestion.may_send(size):
                return
            waiting.popleft()
            sequence = self._next
            self._next = (sequence + 1) & MASK
            # The bytes are stored with their number: a second encryption would break the cipher
            # stream.
            packet = push_sequenced(opcode, sequence) + data
            in_flight[sequence] = _Sent(packet, now)
            congestion.on_sent(size)
            packets.append(packet)
        if not waiting:
            self._waiting = None
            congestion.on_all_sent()

    def _resend(self, packets: list[bytes], now: Monotonic) -> None:
        # The oldest packet leaves even if the window is full, like the first retransmission of
        # RFC 5681. A receiver that could not hold the whole flight has dropped the rest and
        # acknowledges nothing until it gets the oldest: waiting for the window would deadlock.
        oldest = self._oldest
        if oldest.lost:
            self._send_again(oldest, packets, now)
        lost = self._lost
        while lost:
            sent = lost[0]
            # An entry that was sent again or has arrived meanwhile is skipped.
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
        """The packet that the receiver waits for; there must be one in flight."""
        return next(iter(self._in_flight.values()))

    def acknowledge_up_to(self, sequence: int, now: Monotonic) -> bool:
        """Handle an Ack; return whether it acknowledges a packet in flight.

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
        # Only the last packet measures the round trip: the others may have waited at the receiver
        # for a late one. If one of them was sent twice, the last may have waited for it as well.
        if sent is not None and not was_repeated:
            self.round_trip.measure(now - sent.sent_at)
        self._base = (sequence + 1) & MASK
        self._progress(now)
        return len(self._in_flight) < in_flight

    def acknowledge_all(self, now: Monotonic) -> None:
        """Take all sent packets as arrived: the peer has proven that in another way."""
        # No measurement: the proof may have been lost first, and sent again after a timeout of the
        # peer. One such sample would make all timeouts of a login too long.
        for sequence in list(self._in_flight):
            self._arrived(sequence, now)
        self._base = self._next
        self._progress(now)

    def acknowledge_one(self, sequence: int, now: Monotonic) -> bool:
        """Handle an OutOfOrderAck like `acknowledge_up_to`."""
        ahead = distance(self._base, sequence)
        if ahead < 0:
            return False
        if ahead >= (self._next - self._base) & MASK:
            raise MalformedDatagram("ack of a packet never sent")
        sent = self._arrived(sequence, now)
        if sent is not None:
            # With two copies it is unknown which one is acknowledged (Karn's algorithm).
            if sent.transmissions == 1:
                self.round_trip.measure(now - sent.sent_at)
            self._progress(now)
        return sent is not None

    def _arrived(self, sequence: int, now: Monotonic) -> _Sent | None:
        """Remove an arrived packet from flight and return it, or None if it was removed before."""
        sent = self._in_flight.pop(sequence, None)
        if sent is None:
            return None
        size = len(sent.packet)
        # `queued_bytes` counts payload only; the stored packet has its header too.
        self.queued_bytes -= size - SEQUENCED_SIZE
        if sent.lost:
            sent.lost = False  # `congestion` has counted it out of flight already
        else:
            self.congestion.on_acked(size, sent.sent_at)
        if sent.transmissions > 1 and now - sent.sent_at + _ROUNDING < self.round_trip.low:
            # Faster than any round trip: the ack is that of the first copy, so the path reorders.
            self._reorder = min(self._reorder + _REORDER_STEP, _REORDER_MAXIMUM)
            return sent
        # By time, then by sequence number: a whole flight leaves at one `now`.
        newest_at, newest = self._newest_acked
        if (sent.sent_at, distance(newest, sequence)) > (newest_at, 0):
            self._newest_acked = (sent.sent_at, sequence)
        return sent

    def _progress(self, now: Monotonic) -> None:
        # Detection waits for `take_packets`: a datagram may bring a hundred acks, and one pass over
        # the packets in flight serves them all.
        self._backoff = 0
        self._timer_start = self._waiting_since = now
        self._needs_detection = bool(self._in_flight)
        if not self._in_flight:
            # An old time would set the timer of the next flight too early.
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
                    break  # all packets behind it left later
                continue  # sent again, so younger than its place suggests
            # It waits in `_lost` already; counting it again would halve the window twice.
            if sent.lost:
                continue
            if now - sent.sent_at + _ROUNDING >= age_limit:
                self._mark_lost(sent, now)
            # Not old enough to be lost: check again when it is.
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
        doublings = max(self._backoff - _STEADY_ATTEMPTS, 0)
        timeout = min(
            self.round_trip.timeout * (1 << min(doublings, _BACKOFF_LIMIT)),
            config.timeout_maximum,
        )
        # A slow path may have a timeout above `retry_interval` already; that one stays.
        if doublings > _BACKOFF_LIMIT and timeout < config.retry_interval:
            waited = self._timer_start - self._waiting_since
            timeout = max(timeout, min(waited * _LONG_WAIT, config.retry_interval))
        deadline = self._timer_start + timeout
        if self._loss_time is not None and self._loss_time < deadline:
            return Monotonic(self._loss_time)
        return Monotonic(deadline)

    def is_overdue(self, now: Monotonic) -> bool:
        """Return whether an acknowledgment is overdue: a packet must be sent again first."""
        deadline = self.timer()
        return deadline is not None and deadline <= now

    def handle_timer(self, now: Monotonic) -> None:
        """Detect losses that are due; `take_packets` then returns the packets to send again."""
        deadline = self.timer()
        if deadline is None or now < deadline:
            return
        # A loss that acks have shown is no timeout: it halves the window instead of resetting it.
        if self._loss_time is not None and now >= self._loss_time:
            self._needs_detection = True
            self._detect_losses(now)
            if self._lost:
                return
        # The next timeout counts from here, even if the window delays the copy.
        self._timer_start = now
        sent = self._oldest
        if sent.lost:
            return  # it leaves with the next `take_packets`
        # Only timeouts count as attempts. A copy sent because later packets arrived proves that
        # the peer is alive, and on a short path a dozen of those may leave within a moment.
        sent.timeouts += 1
        if self._is_given_up(sent, now):
            self.exhausted = True
            return
        # Only the oldest leaves. Its acknowledgment shows which of the others are lost. If the path
        # was only slow, none of them is sent twice.
        self._backoff += 1
        self.congestion.on_timeout(len(sent.packet), now)
        self._queue_again(sent)

    def _is_given_up(self, oldest: _Sent, now: Monotonic) -> bool:
        """Return whether the peer has acknowledged nothing for too long."""
        # The limit is that of a silent peer plus one timeout: after a gap just below the limit an
        # acknowledgment still needs an attempt that arrives.
        config = self._config
        limit = config.transmission_limit
        if limit is not None and oldest.timeouts >= limit:
            return True
        return now - self._waiting_since >= config.idle_timeout + config.timeout_maximum

    def resend_oldest(self, now: Monotonic) -> None:
        """Send the oldest packet again, unless it was sent a moment ago: the peer misses it."""
        if not self._in_flight:
            return
        sent = self._oldest
        # A peer may ask several times within a round trip; one copy answers all of them.
        if not sent.lost and now - sent.sent_at >= self._config.timeout_minimum:
            self._mark_lost(sent, now)

    def resend_all(self, now: Monotonic) -> None:
        """Send everything in flight again: it left by a path that the peer has no more."""
        for sent in self._in_flight.values():
            if not sent.lost:
                self._mark_lost(sent, now)
        self._backoff = 0
        self._timer_start = self._waiting_since = now

    def clear(self) -> None:
        """Drop everything."""
        self._waiting = None
        self._in_flight.clear()
        self._lost.clear()
        self._loss_time = None
        self.queued_bytes = 0
