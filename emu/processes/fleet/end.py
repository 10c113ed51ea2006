"""One end of a connection between two processes: greeting, keep-alive, silence, closing.

`emu.net.stream` drives it. Nothing the other end sends makes it raise: a fault closes
this connection with one reason. What the frames after the greeting mean is the bus' business.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Protocol

from emu.errors import PeerError
from emu.processes.fleet.frames import (
    LARGEST,
    LARGEST_OF_STRANGERS,
    Frame,
    FrameReader,
    encode_frame,
)
from emu.processes.fleet.greeting import Joined, Refused, Step
from emu.stream_end import StreamEnd
from emu.times import Monotonic

KEEP_ALIVE: Final = "alive"


class Greeting(Protocol):
    """How the other end becomes known."""

    def begin(self) -> list[Frame]:
        """Return what is said first."""

    def take(self, frame: Frame) -> Step:
        """Take a frame of the other end. Raises `PeerError`."""


@dataclass(frozen=True, slots=True)
class EndLimits:
    """Times in seconds."""

    greeting: float = 10.0
    """How long the greeting may take."""
    keep_alive: float = 5.0
    """Without sending for so long, something is sent."""
    silence: float = 16.0
    """Without receiving for so long, the other end is gone."""


@dataclass(frozen=True, slots=True)
class Received:
    """A frame came from one that is known."""

    frame: Frame


@dataclass(frozen=True, slots=True)
class Ended:
    """The connection is over; comes last."""

    reason: str


class FleetEnd(StreamEnd):
    """One end. Its events are `Joined`, then `Received`, and `Ended`."""

    __slots__ = (
        "_alive_at", "_greeting", "_limits", "_reader", "_silent_at", "joined",
    )  # fmt: skip

    def __init__(self, greeting: Greeting, now: Monotonic, limits: EndLimits | None = None) -> None:
        super().__init__()
        self._greeting = greeting
        self._limits = limits or EndLimits()
        self._reader = FrameReader(LARGEST_OF_STRANGERS)
        self._silent_at = now + self._limits.greeting
        self._alive_at = now + self._limits.keep_alive
        self.joined: Joined | None = None
        """Who is at the other end, once that is known."""
        for frame in greeting.begin():
            self._write(frame)

    def receive_data(self, data: bytes, now: Monotonic) -> None:
        """Take bytes from the other end."""
        if self.closed:
            return
        if self.joined is not None:
            self._silent_at = now + self._limits.silence
        try:
            for frame in self._reader.receive(data):
                self._take(frame, now)
                if self.closed:
                    return
        except Refused as error:
            self._write(["refused", error.reason])
            self.close(error.reason, now)
        except PeerError as error:
            self.close(error.reason, now)

    def send(self, frame: Frame, now: Monotonic) -> None:
        """Send a frame to one that is known; does nothing otherwise.

        Raises `LocalProtocolError` when it is too large.
        """
        if self.joined is not None and not self.closed:
            self._write(frame)
            self._alive_at = now + self._limits.keep_alive

    def get_timer(self) -> Monotonic | None:
        """Return when `handle_timer` wants to be called; None on a closed one."""
        if self.closed:
            return None
        alive_at = self._alive_at if self.joined is not None else self._silent_at
        return Monotonic(min(self._silent_at, alive_at))

    def handle_timer(self, now: Monotonic) -> None:
        """Do what is due."""
        if self.closed:
            return
        if now >= self._silent_at:
            self.close("silent" if self.joined else "no greeting in time", now)
        elif now >= self._alive_at:
            self.send([KEEP_ALIVE], now)

    def _ended(self, reason: str) -> Ended:
        return Ended(reason)

    def _take(self, frame: Frame, now: Monotonic) -> None:
        if self.joined is not None:
            if frame[0] != KEEP_ALIVE:
                self._events.append(Received(frame))
            return
        frames, self.joined = self._greeting.take(frame)
        for one in frames:
            self._write(one)
        if self.joined is not None:
            self._reader.largest = LARGEST
            self._silent_at = now + self._limits.silence
            self._events.append(self.joined)

    def _write(self, frame: Frame) -> None:
        self._output.append(encode_frame(frame))
