"""A TCP relay between a program and an engine: it delays, holds, loses and cuts."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

from twisted.internet import reactor as _reactor
from twisted.internet.interfaces import IAddress
from twisted.internet.protocol import ClientFactory, Factory, Protocol, connectionDone
from twisted.internet.task import deferLater
from twisted.python.failure import Failure

reactor: Any = _reactor
HOST = "127.0.0.1"


class _Side(Protocol):
    """One connection of a pair; what it receives goes to the other one."""

    def __init__(self, relay: Relay, other: _Side | None = None) -> None:
        self.relay = relay
        self.other = other
        self.waiting: list[bytes] = []

    def connectionMade(self) -> None:
        self.relay.sides.add(self)
        if self.other is None:
            self.other = _Side(self.relay, self)
            reactor.connectTCP(HOST, self.relay.target, _Onwards(self.other))
        else:
            for data in self.waiting:
                self.write(data)
            if self.other not in self.relay.sides:
                self.transport.loseConnection()  # type: ignore[union-attr]

    def dataReceived(self, data: bytes) -> None:
        if self.relay.is_silent:
            return
        assert self.other is not None
        if self.relay.delay:
            self.relay.later(self.other.write, data)
        else:
            self.other.write(data)

    def write(self, data: bytes) -> None:
        if self.transport is None:
            self.waiting.append(data)
        else:
            self.transport.write(data)

    def connectionLost(self, reason: Failure = connectionDone) -> None:
        self.relay.sides.discard(self)
        if self.other is not None and self.other.transport is not None:
            self.other.transport.loseConnection()


class _Onwards(ClientFactory):
    """The connection to the target; if it is refused, so is the one to the relay."""

    noisy = False

    def __init__(self, side: _Side) -> None:
        self.side = side

    def buildProtocol(self, addr: IAddress | None) -> _Side:
        return self.side

    def clientConnectionFailed(self, connector: object, reason: Failure) -> None:
        assert self.side.other is not None
        self.side.other.transport.abortConnection()  # type: ignore[union-attr]


class _Incoming(Factory):
    """Accepts connections for a relay."""

    noisy = False

    def __init__(self, relay: Relay) -> None:
        self.relay = relay

    def buildProtocol(self, addr: IAddress | None) -> _Side:
        return _Side(self.relay)


class Relay:
    """Listens on a port of its own and passes everything to a target port."""

    def __init__(self, target: int) -> None:
        self.target = target
        self.sides: set[_Side] = set()
        self.delay = 0.0
        """Seconds by which everything is later, in both directions."""
        self.is_silent = False
        """Whether everything is lost, as by a firewall that drops packets."""
        self._factory = _Incoming(self)
        self._port: Any = None
        self._number = 0
        self._calls: deque[Any] = deque()
        self.open()

    @property
    def port(self) -> int:
        return self._number

    def open(self) -> None:
        """Accept connections, on the same port as before."""
        self._port = reactor.listenTCP(self._number, self._factory, interface=HOST)
        self._number = self._port.getHost().port

    async def close(self) -> None:
        """Refuse connections and reset those that there are."""
        port, self._port = self._port, None
        if port is not None:
            await port.stopListening()
        # More than once: a connection to the target may be on its way.
        self.reset()
        while self.sides:
            await deferLater(reactor, 0.005)
            self.reset()

    def later(self, write: Callable[[bytes], None], data: bytes) -> None:
        """Pass data on after the delay."""

        def passed() -> None:
            self._calls.popleft()
            write(data)

        # All wait equally long, unless the delay was changed: then nothing overtakes.
        now = reactor.seconds()
        last = self._calls[-1].getTime() if self._calls else now
        self._calls.append(reactor.callLater(max(self.delay, last - now), passed))

    def reset(self) -> None:
        """Reset all connections."""
        while self._calls:
            self._calls.pop().cancel()
        for side in list(self.sides):
            if side.transport is not None:
                side.transport.abortConnection()  # type: ignore[attr-defined]
