"""Congestion control: NewReno (RFC 5681, RFC 6582) in bytes, with selective losses as in RFC 9002.

Counts bytes in flight and says whether more may be sent. Does not know packets or sequence numbers.
"""

from __future__ import annotations

from emu.times import Monotonic


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
