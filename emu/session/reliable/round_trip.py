"""Estimate of the round trip and of the retransmission timeout (RFC 6298). All in seconds."""

from __future__ import annotations

from emu.session.configuration import SessionConfig


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
