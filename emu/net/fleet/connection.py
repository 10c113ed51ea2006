"""One TCP connection between two processes: a `Stream` whose core is a `FleetEnd`.

Also the bus' `Link` to the process at the far end.
"""

from __future__ import annotations

from emu.limits.connections import StreamLimits
from emu.net.scheduler import Scheduler
from emu.net.stream import Stream
from emu.processes.fleet.bus import FleetBus
from emu.processes.fleet.end import Ended, FleetEnd, Received
from emu.processes.fleet.frames import Frame
from emu.processes.fleet.greeting import Joined
from emu.times import Monotonic

LIMITS = StreamLimits(write_buffer=16 * 1024 * 1024, stall_timeout=15.0)


class FleetConnection(Stream):
    """Base of both sides' connections; they make the end in `connectionMade`."""

    core: FleetEnd

    def __init__(self, scheduler: Scheduler, bus: FleetBus) -> None:
        super().__init__(scheduler, LIMITS)
        self._bus = bus

    @property
    def name(self) -> str:
        """Who is at the far end; empty while that is not known."""
        return self.core.joined.name if self.core.joined is not None else ""

    def send(self, frame: Frame) -> None:
        """Send a frame; does nothing when the connection is over. Raises `LocalProtocolError`."""
        self.core.send(frame, self._scheduler.now())
        self.serve()

    def take_event(self, event: object, now: Monotonic) -> None:  # noqa: ARG002  # as all take it
        """Take an event of the end."""
        if isinstance(event, Received):
            self._bus.received(self, event.frame)
        elif isinstance(event, Joined):
            self.joined(event)
            self._bus.joined(self, event)
        elif isinstance(event, Ended):
            self._bus.ended(self)
            self.over(event.reason)

    def joined(self, who: Joined) -> None:
        """The far end has proved who it is."""
        raise NotImplementedError

    def over(self, reason: str) -> None:
        """The connection is over; called once."""
        raise NotImplementedError
