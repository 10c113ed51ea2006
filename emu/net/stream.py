"""One bounded TCP connection: joins a sans-IO core (a `StreamEnd`) to a transport and a clock.

Owns when bytes are written, how much may wait for a slow reader, and that a connection which was
closed is really gone soon after. What bytes mean, and how long silence or half a frame may last, is
the core's business; what its events mean is the business of whoever derives from `Stream`.
"""

from __future__ import annotations

from collections import deque
from typing import Any

from twisted.internet.interfaces import IPushProducer
from twisted.internet.protocol import Protocol, connectionDone
from twisted.python.failure import Failure
from zope.interface import implementer

from emu.limits.connections import StreamLimits
from emu.net.scheduler import DelayedCall, Scheduler
from emu.net.timers import Timed, Timer
from emu.stream_end import StreamEnd
from emu.times import Monotonic


@implementer(IPushProducer)
class Stream(Protocol):
    """Base of the protocols over one core; they make it in `connectionMade` and take its events."""

    core: StreamEnd
    transport: Any  # Twisted's interfaces tell a part of what its transports do

    def __init__(self, scheduler: Scheduler, limits: StreamLimits) -> None:
        self._scheduler = scheduler
        self._limits = limits
        self._timer: Timer[Timed] = Timer(self)
        self._last_call: DelayedCall | None = None
        self._waiting: deque[bytes] = deque()
        self._waiting_bytes = 0
        self._paused = False
        self._deaf = False
        self._serving = False
        self._gone = False
        self._finished = False
        self.begun = False
        """Whether there is a core; without one what comes is let be, and every end is at once."""

    # The owner's side.

    @property
    def closed(self) -> bool:
        """True once the connection is over."""
        return self.core.closed

    @property
    def wants_data(self) -> bool:
        """Whether the peer is read from; while not, what it sends waits on its side."""
        return True

    def close(self, reason: str, now: Monotonic) -> None:
        """End the connection once what waits is written."""
        if not self.begun:
            self.transport.abortConnection()
            return
        self.core.close(reason, now)
        self.serve()

    def cut_off(self, reason: str) -> None:
        """End the connection at once."""
        self._waiting.clear()
        self._waiting_bytes = 0
        if self.begun:
            self.core.close(reason, self._scheduler.now())
        self.transport.abortConnection()
        if self.begun:
            self.serve()

    def take_event(self, event: object, now: Monotonic) -> None:
        """Take an event of the core."""
        raise NotImplementedError

    # The transport's side.

    def start(self, core: StreamEnd) -> None:
        """Begin; the transport is there."""
        self.core = core
        self.begun = True
        self.transport.registerProducer(self, True)
        self.serve()

    def dataReceived(self, data: bytes) -> None:
        """Take bytes from the peer."""
        if self.begun:
            self.core.receive_data(data, self._scheduler.now())
            self.serve()

    def connectionLost(self, reason: Failure = connectionDone) -> None:  # noqa: ARG002
        """The connection is gone."""
        self._gone = True
        self._waiting.clear()
        self._waiting_bytes = 0
        self._scheduler.drop(self._timer)
        if self._last_call is not None:
            self._last_call.cancel()
        if self.begun:
            self.core.connection_lost(self._scheduler.now())
            self.serve()

    def pauseProducing(self) -> None:
        """The peer reads more slowly than we write."""
        self._paused = True
        if not self._gone and not self.closed and self._last_call is None:
            self._last_call = self._scheduler.later(self._limits.stall_timeout, self._stalled)

    def resumeProducing(self) -> None:
        """The peer has caught up."""
        self._paused = False
        if self._last_call is not None and not self.closed:
            self._last_call.cancel()
            self._last_call = None
        self._flush()

    def stopProducing(self) -> None:
        """The transport takes nothing more; `connectionLost` follows."""
        self._paused = True

    def handle_timer(self, now: Monotonic) -> None:
        """Do what is due; called by the scheduler."""
        self.core.handle_timer(now)
        self.serve()

    # Between the two.

    def serve(self) -> None:
        """Hand on events, write what is to be sent, arm the timer, close when all is over."""
        if self._serving:
            return
        self._serving = True
        try:
            while (event := self.core.next_event()) is not None:
                self.take_event(event, self._scheduler.now())
        finally:
            self._serving = False
        for data in self.core.data_to_send():
            self._waiting.append(data)
            self._waiting_bytes += len(data)
        self._flush()
        self._scheduler.arm(self._timer, None if self._gone else self.core.get_timer())
        if self.core.closed:
            if not self._finished:
                self._finish()
        elif not self._gone:
            self._listen()

    def _listen(self) -> None:
        """Read from the peer or leave it waiting, as the core has room."""
        if self._deaf == (not self.wants_data):
            return
        self._deaf = not self._deaf
        if self._deaf:
            self.transport.pauseProducing()
        else:
            self.transport.resumeProducing()

    def _flush(self) -> None:
        if self._gone:
            return
        while self._waiting and not self._paused:
            data = self._waiting.popleft()
            self._waiting_bytes -= len(data)
            self.transport.write(data)
        if self._waiting_bytes > self._limits.write_buffer and not self.closed:
            self.cut_off("peer does not read")

    def _stalled(self) -> None:
        self._last_call = None
        self.cut_off("peer does not read")

    def _finish(self) -> None:
        """Close the connection once; cut it off when the peer does not take the last bytes."""
        self._finished = True
        if self._gone:
            return
        if self._last_call is not None:
            self._last_call.cancel()
        self._last_call = self._scheduler.later(
            self._limits.close_linger, self.transport.abortConnection
        )
        if self._deaf:  # what still comes is read and dropped, so that the peer's end is noticed
            self.transport.resumeProducing()
        self.transport.writeSequence(self._waiting)
        self._waiting.clear()
        self._waiting_bytes = 0
        self.transport.unregisterProducer()
        self.transport.loseConnection()
