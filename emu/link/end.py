"""What both ends of a link have in common: frames, keep-alive, silence, rates, closing.

Driven by whoever owns the socket: `receive_data` and `connection_lost` from the network,
`handle_timer` from a clock, `send` and `close` from the service; then `data_to_send`,
`next_event` and `get_timer` are read. Nothing a peer sends makes any of them raise: a fault
closes this link with one fixed reason. Source of the times: docs/protocol/link.md#frame.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from emu.errors import PeerError
from emu.limits.throttle import RateLimit
from emu.link.frames import KEEP_ALIVE, MAX_FRAME_SIZE, Frame, FrameReader
from emu.link.messages import LinkMessage, to_frame
from emu.stream_end import StreamEnd
from emu.times import Monotonic


@dataclass(frozen=True, slots=True)
class LinkLimits:
    """How much and how long; seconds and bytes."""

    keep_alive: float = 45.0
    """Seconds without sending after which a keep-alive goes out."""
    silence: float = 90.0
    """Seconds without receiving anything after which the link is closed."""
    frame_timeout: float = 30.0
    """Seconds a frame that has begun may take."""
    max_frame_size: int = MAX_FRAME_SIZE
    frames_per_second: float = 500.0
    frame_burst: float = 5_000.0
    bytes_per_second: float = 2.0 * 1024 * 1024
    """Received bytes and, beside them, those that compressed frames become."""
    byte_burst: float = 8.0 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class MessageReceived:
    """The peer sent a message that the service should see."""

    message: LinkMessage


@dataclass(frozen=True, slots=True)
class LinkClosed:
    """The link is over; comes last. `reason` is a short fixed text, fit to be counted by."""

    reason: str


class LinkEnd(StreamEnd):
    """One end of a link. `LoginEnd` and `WorldEnd` add what may come when.

    Events: `MessageReceived`, those of one kind of end, and `LinkClosed`.
    """

    __slots__ = (
        "_bytes",
        "_frame_deadline",
        "_frames",
        "_keep_alive_at",
        "_limits",
        "_reader",
        "_silent_at",
        "drops",
    )

    def __init__(self, limits: LinkLimits, now: Monotonic) -> None:
        super().__init__()
        self._limits = limits
        self._reader = FrameReader(limits.max_frame_size)
        self._frames = RateLimit(limits.frames_per_second, limits.frame_burst, now)
        self._bytes = RateLimit(limits.bytes_per_second, limits.byte_burst, now)
        self._keep_alive_at = now + limits.keep_alive
        self._silent_at = now + limits.silence
        self._frame_deadline: float | None = None
        self.drops: Counter[str] = Counter()
        """Messages ignored, by reason."""

    def receive_data(self, data: bytes, now: Monotonic) -> None:
        """Take bytes from the peer."""
        if self.closed or not data:
            return
        self._silent_at = now + self._limits.silence
        if not self._bytes.take(len(data), now):
            self.close("too many bytes", now)
            return
        before = self._frame_deadline
        try:
            for frame in self._reader.receive(data):
                before = None
                self._receive_frame(frame, now)
                if self.closed:
                    return
        except PeerError as error:
            self._peer_error(error, now)
            return
        if not self._reader.unfinished:
            self._frame_deadline = None
        elif before is None:
            self._frame_deadline = now + self._limits.frame_timeout

    def send(self, message: LinkMessage, now: Monotonic) -> None:
        """Send a message; does nothing on a closed link. Raises `StructValueError`."""
        if not self.closed:
            self._write(to_frame(message), now)

    def get_timer(self) -> Monotonic | None:
        """Return when `handle_timer` wants to be called; None on a closed link."""
        return None if self.closed else Monotonic(min(self._deadlines()))

    def handle_timer(self, now: Monotonic) -> None:
        """Do what is due."""
        if self.closed:
            return
        if now >= self._silent_at:
            self.close("silent", now)
        elif self._frame_deadline is not None and now >= self._frame_deadline:
            self.close("frame not finished in time", now)
        elif now >= self._keep_alive_at:
            self._write(KEEP_ALIVE, now)

    def _ended(self, reason: str) -> LinkClosed:
        return LinkClosed(reason)

    def _deadlines(self) -> list[float]:
        deadlines = [self._silent_at, self._keep_alive_at]
        if self._frame_deadline is not None:
            deadlines.append(self._frame_deadline)
        return deadlines

    def _write(self, frame: bytes, now: Monotonic) -> None:
        self._output.append(frame)
        self._keep_alive_at = now + self._limits.keep_alive

    def _receive_frame(self, frame: Frame, now: Monotonic) -> None:
        if not self._frames.take(1, now):
            self.close("too many frames", now)
        elif not self._bytes.take(frame.inflated, now):
            self.close("too many bytes", now)
        elif frame.opcode == 0:
            if frame.payload[:1] > b"\0":
                self.close("relay control", now)
        else:  # a destination means nothing here: neither end of a link relays
            self._receive_message(frame, now)

    def _receive_message(self, frame: Frame, now: Monotonic) -> None:
        """Judge one frame that is no keep-alive; may raise `PeerError`."""
        raise NotImplementedError

    def _peer_error(self, error: PeerError, now: Monotonic) -> None:
        """End the link over a fault of the peer."""
        self.close(error.reason, now)
