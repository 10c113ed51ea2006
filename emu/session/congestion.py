"""Congestion control (RFC 5681, RFC 6582, losses as in RFC 9002) and round trips (RFC 6298).

Counts bytes in flight and says whether more may be sent. Does not know packets or sequence numbers.
"""

from __future__ import annotations

from emu.session.configuration import SessionConfig
from emu.times import Monotonic


class RoundTrip:
    """Smoothed round trip, its variation, and the timeout that follows from them.

    Before the first measurement the timeout is round_trip_start x timeout_multiplier
    (500 ms x 3.0, the seed's numbers), unless the client's own statistics gave a hint.
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
        return max(self._config.timeout_minimum, min(timeout, self._config.timeout_maximum))

    def hint(self, average: float) -> None:
        """Take the peer's statistics as a start; own measurements count for more."""
        # A login is over after a few round trips, and its client has measured one by then: without
        # the hint each loss in it would cost the 1.5 seconds of somebody who knows nothing.
        if not self.measured and average > 0:
            self.smoothed = min(average, self._config.timeout_maximum)
            self.timeout = self._bounded(self.smoothed * self._config.timeout_multiplier)

    def measure(self, sample: float) -> None:
        """Take one measured round trip, never of a packet that was sent twice."""
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
    """Slow start, congestion avoidance, one halving per round trip of losses.

    `start` and `minimum` are window sizes in bytes, `unit` the size of a full datagram.
    """

    __slots__ = (
        "_limited", "_minimum", "_recovery_start", "_threshold", "in_flight", "unit", "window",
    )  # fmt: skip

    def __init__(self, *, start: int, minimum: int, unit: int) -> None:
        self.window = max(start, minimum)
        self.in_flight = 0
        self._minimum = minimum
        self.unit = unit
        self._threshold: int | None = None
        self._recovery_start = -1.0
        self._limited = False  # the window, not the application, holds us back

    def may_send(self, size: int) -> bool:
        """Tell whether `size` more bytes fit the window; something always may be in flight."""
        # With nothing in flight no ack would ever come to open the window.
        if self.in_flight and self.in_flight + size > self.window:
            self._limited = True
            return False
        return True

    def on_all_sent(self) -> None:
        """Nothing waits any more: the window is not what holds us back."""
        self._limited = False

    def on_sent(self, size: int) -> None:
        """Count bytes that leave."""
        self.in_flight += size

    def on_acked(self, size: int, sent_at: float) -> None:
        """Count bytes that arrived, and open the window if it was what held us back."""
        self.in_flight -= size
        # Acks of somebody who sends little show nothing about a larger window: grown by them it
        # would let the first real burst overrun the path. And what left before the loss was noticed
        # left under the old window (RFC 9002, 7.3.2).
        if not self._limited or sent_at <= self._recovery_start:
            return
        if self._threshold is None or self.window < self._threshold:
            self.window += size  # slow start: doubled in a round trip
        else:
            # One datagram more in a round trip. Never by 0, which short packets in a wide window
            # would come to.
            self.window += max(1, self.unit * size // self.window)

    def on_lost(self, size: int, sent_at: float, now: Monotonic) -> None:
        """Count bytes that were lost; losses of one flight halve the window once."""
        self.in_flight -= size
        # One full buffer somewhere drops many of a flight; that is one event. Only what was sent
        # after the last halving and is lost shows that it was not enough.
        if sent_at > self._recovery_start:
            self._recovery_start = now
            self.window = max(self.window // 2, self._minimum)
            self._threshold = self.window

    def on_timeout(self, size: int, now: Monotonic) -> None:
        """Nothing came back for a whole timeout: start again from the smallest window."""
        self.in_flight -= size
        self._recovery_start = now
        self._threshold = max(self.window // 2, self._minimum)
        self.window = self._minimum
        # Whatever waits now waits for this window, also before `may_send` is asked the next time:
        # the acks until then have to count.
        self._limited = True
