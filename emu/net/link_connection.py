"""One TCP connection that carries a link: joins a `LinkEnd` to a transport and a clock.

Owns when bytes are written, how much may wait for a slow reader, and that a connection which was
closed is really gone soon after. What messages mean is the business of whoever derives from it.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Any

from twisted.internet.interfaces import IPushProducer
from twisted.internet.protocol import Protocol, connectionDone
from twisted.python.failure import Failure
from zope.interface import implementer

from emu.link.end import LinkClosed, LinkEnd
from emu.link.messages import LinkMessage
from emu.net.scheduler import DelayedCall, Scheduler, Timed
from emu.net.timers import Timer
from emu.times import Monotonic


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    """How slow a peer may be."""

    write_buffer: int = 1024 * 1024
    """Bytes that may wait until a peer reads; one more and it is cut off."""
    stall_timeout: float = 30.0
    """Seconds a peer may leave bytes waiting without reading any."""
    close_linger: float = 5.0
    """Seconds from closing to cutting off a peer that does not take the last bytes."""


@implementer(IPushProducer)
class LinkConnection(Protocol):
    """Base of the two sides' protocols; they make the end and take its events."""

    end: LinkEnd

    def __init__(self, scheduler: Scheduler, limits: ConnectionLimits) -> None:
        self._scheduler = scheduler
        self._limits = limits
        self._timer: Timer[Timed] = Timer(self)
        self._last_call: DelayedCall | None = None
        self._waiting: deque[bytes] = deque()
        self._waiting_bytes = 0
        self._paused = False
        self._serving = False
        self._gone = False
        self._finished = False

    # The service's side.

    @property
    def closed(self) -> bool:
        """True once the link is over."""
        return self.end.closed

    def send(self, message: LinkMessage, now: Monotonic) -> None:
        """Send a message; does nothing on a closed link."""
        self.end.send(message, now)
        self.serve()

    def close(self, reason: str, now: Monotonic) -> None:
        """End the link."""
        self.end.close(reason, now)
        self.serve()

    def take_event(self, event: object, now: Monotonic) -> None:
        """Take an event of the end that is not `LinkClosed`."""
        raise NotImplementedError

    def link_closed(self, reason: str, now: Monotonic) -> None:
        """The link is over; called once."""
        raise NotImplementedError

    # The transport's side.

    def start(self, end: LinkEnd) -> None:
        """Begin with the link; the transport is there."""
        self.end = end
        transport: Any = self.transport
        transport.registerProducer(self, True)
        self.serve()

    def dataReceived(self, data: bytes) -> None:
        """Take bytes from the peer."""
        self.end.receive_data(data, self._scheduler.now())
        self.serve()

    def connectionLost(self, reason: Failure = connectionDone) -> None:  # noqa: ARG002
        """The connection is gone."""
        self._gone = True
        self._waiting.clear()
        self._waiting_bytes = 0
        self._scheduler.drop(self._timer)
        if self._last_call is not None:
            self._last_call.cancel()
        self.end.connection_lost(self._scheduler.now())
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

    # Between the two.

    def serve(self) -> None:
        """Hand on events, write what is to be sent, arm the timer, close when the link is over."""
        if self._serving:
            return
        self._serving = True
        try:
            while (event := self.end.next_event()) is not None:
                now = self._scheduler.now()
                if isinstance(event, LinkClosed):
                    self.link_closed(event.reason, now)
                else:
                    self.take_event(event, now)
        finally:
            self._serving = False
        for frame in self.end.data_to_send():
            self._waiting.append(frame)
            self._waiting_bytes += len(frame)
        self._flush()
        self._scheduler.arm(self._timer, None if self._gone else self.end.get_timer())
        if self.end.closed and not self._finished:
            self._finish()

    def _flush(self) -> None:
        if self._gone:
            return
        transport: Any = self.transport
        while self._waiting and not self._paused:
            frame = self._waiting.popleft()
            self._waiting_bytes -= len(frame)
            transport.write(frame)
        if self._waiting_bytes > self._limits.write_buffer and not self.closed:
            self.cut_off("peer does not read")

    def handle_timer(self, now: Monotonic) -> None:
        """Do what is due; called by the scheduler."""
        self.before_timer(now)
        self.end.handle_timer(now)
        self.serve()

    def before_timer(self, now: Monotonic) -> None:
        """Called before the end's timer is handled."""

    def _stalled(self) -> None:
        self._last_call = None
        self.cut_off("peer does not read")

    def cut_off(self, reason: str) -> None:
        """End the link and the connection at once."""
        self._waiting.clear()
        self._waiting_bytes = 0
        self.end.close(reason, self._scheduler.now())
        transport: Any = self.transport
        transport.abortConnection()
        self.serve()

    def _finish(self) -> None:
        """Close the connection once; cut it off when the peer does not take the last bytes."""
        self._finished = True
        if self._gone:
            return
        if self._last_call is not None:
            self._last_call.cancel()
        transport: Any = self.transport
        self._last_call = self._scheduler.later(
            self._limits.close_linger, transport.abortConnection
        )
        transport.writeSequence(self._waiting)
        self._waiting.clear()
        self._waiting_bytes = 0
        transport.unregisterProducer()
        transport.loseConnection()
