"""One TCP connection that carries a link: joins a `LinkEnd` to a transport and a clock.

Owns when bytes are written, how much may wait for a slow reader, and that a connection which was
closed is really gone soon after. What messages mean is the business of whoever derives from it.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Any

from twisted.internet.interfaces import IDelayedCall, IPushProducer, IReactorTime
from twisted.internet.protocol import Protocol, connectionDone
from twisted.python.failure import Failure
from zope.interface import implementer

from emu.link.end import LinkClosed, LinkEnd
from emu.link.messages import Message


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

    def __init__(self, clock: IReactorTime, limits: ConnectionLimits) -> None:
        self._clock = clock
        self._limits = limits
        self._call: IDelayedCall | None = None
        self._last_call: IDelayedCall | None = None
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

    def send(self, message: Message, now: float) -> None:
        """Send a message; does nothing on a closed link."""
        self.end.send(message, now)
        self.serve()

    def close(self, reason: str, now: float) -> None:
        """End the link."""
        self.end.close(reason, now)
        self.serve()

    def take_event(self, event: object, now: float) -> None:
        """Take an event of the end that is not `LinkClosed`."""
        raise NotImplementedError

    def link_closed(self, reason: str, now: float) -> None:
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
        self.end.receive_data(data, self._clock.seconds())
        self.serve()

    def connectionLost(self, reason: Failure = connectionDone) -> None:  # noqa: ARG002
        """The connection is gone."""
        self._gone = True
        self._waiting.clear()
        self._waiting_bytes = 0
        if self._last_call is not None and self._last_call.active():
            self._last_call.cancel()
        self.end.connection_lost(self._clock.seconds())
        self.serve()

    def pauseProducing(self) -> None:
        """The peer reads more slowly than we write."""
        self._paused = True
        if not self._gone and not self.closed and self._last_call is None:
            self._last_call = self._clock.callLater(self._limits.stall_timeout, self._stalled)

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
                now = self._clock.seconds()
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
        self._arm()
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
            self._cut_off("peer does not read")

    def _arm(self) -> None:
        """Keep one call for the end's next deadline; a later one is left to come up early."""
        deadline = None if self._gone else self.end.get_timer()
        if deadline is None:
            if self._call is not None:
                self._call.cancel()
                self._call = None
        elif self._call is None:
            self._call = self._clock.callLater(
                max(0.0, deadline - self._clock.seconds()), self._due
            )
        elif deadline < self._call.getTime():
            self._call.reset(max(0.0, deadline - self._clock.seconds()))

    def _due(self) -> None:
        self._call = None
        self.before_timer(self._clock.seconds())
        self.end.handle_timer(self._clock.seconds())
        self.serve()

    def before_timer(self, now: float) -> None:
        """Called before the end's timer is handled."""

    def _stalled(self) -> None:
        self._last_call = None
        self._cut_off("peer does not read")

    def _cut_off(self, reason: str) -> None:
        self._waiting.clear()
        self._waiting_bytes = 0
        self.end.close(reason, self._clock.seconds())
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
        self._last_call = self._clock.callLater(
            self._limits.close_linger, transport.abortConnection
        )
        transport.writeSequence(self._waiting)
        self._waiting.clear()
        self._waiting_bytes = 0
        transport.unregisterProducer()
        transport.loseConnection()
