"""A reactor of its own time whose UDP loses, repeats and reorders datagrams; nothing else is real.

Shells and clients run on it as on Twisted's: `drive` lets its time jump to whatever comes next.
"""

from __future__ import annotations

import random
from collections.abc import Coroutine
from typing import Any, TypeVar

from twisted.internet.address import IPv4Address
from twisted.internet.defer import Deferred, succeed
from twisted.internet.task import Clock

Result = TypeVar("Result")


class LossyReactor(Clock):
    """`loss`, `repeated` and `late` are probabilities for each datagram, `delay` is one way.

    A late datagram takes up to three delays more, so that later ones overtake it.
    """

    def __init__(
        self, *, loss: float = 0.0, repeated: float = 0.0, late: float = 0.0, delay: float = 0.02,
        seed: int = 0,
    ) -> None:  # fmt: skip
        super().__init__()
        self.rightNow = 1000.0
        self.loss, self.repeated, self.late, self.delay = loss, repeated, late, delay
        self.carried = self.lost = 0
        self._random = random.Random(seed)
        self._ports: dict[tuple[str, int], LossyPort] = {}
        self._next_port = 40_000

    def listenUDP(  # Twisted's name
        self,
        port: int,
        protocol: Any,
        interface: str = "",
        maxPacketSize: int = 8192,
    ) -> LossyPort:
        """Open a port."""
        del maxPacketSize
        if not port:
            port = self._next_port = self._next_port + 1
        made = LossyPort(self, (interface or "127.0.0.1", port), protocol)
        self._ports[made.address] = made
        protocol.makeConnection(made)
        return made

    def carry(self, data: bytes, source: tuple[str, int], to: tuple[str, int]) -> None:
        """Bring a datagram to where it goes, or lose it."""
        self.carried += 1
        chance = self._random.random
        if chance() < self.loss:
            self.lost += 1
            return
        for _ in range(2 if chance() < self.repeated else 1):
            late = 3 * self.delay * chance() if chance() < self.late else 0.0
            self.callLater(self.delay + late, self._arrive, data, source, to)

    def _arrive(self, data: bytes, source: tuple[str, int], to: tuple[str, int]) -> None:
        port = self._ports.get(to)
        if port is not None and port.peer in (None, source):
            port.protocol.datagramReceived(data, source)

    def close(self, address: tuple[str, int]) -> None:
        """Forget a port."""
        self._ports.pop(address, None)

    def drive(self, work: Coroutine[Any, Any, Result], seconds: float = 600.0) -> Result:
        """Run a coroutine to its end; time passes as it needs it."""
        done = Deferred.fromCoroutine(work)
        outcome: list[Any] = []
        done.addBoth(outcome.append)
        end = self.seconds() + seconds
        while not outcome:
            calls = self.getDelayedCalls()
            assert calls, "nothing will ever happen again"
            due = min(call.getTime() for call in calls)
            assert due < end, "it takes too long"
            self.advance(max(0.0, due - self.seconds()))
        if hasattr(outcome[0], "raiseException"):
            outcome[0].raiseException()
        result: Result = outcome[0]
        return result


class LossyPort:
    """One UDP port."""

    def __init__(self, reactor: LossyReactor, address: tuple[str, int], protocol: Any) -> None:
        self.address = address
        self.protocol = protocol
        self.peer: tuple[str, int] | None = None
        self._reactor = reactor

    def connect(self, host: str, port: int) -> None:
        self.peer = (host, port)

    def write(self, data: bytes, to: tuple[str, int] | None = None) -> None:
        target = to or self.peer
        assert target is not None
        self._reactor.carry(data, self.address, target[:2])

    def getHost(self) -> IPv4Address:  # Twisted's name
        return IPv4Address("UDP", *self.address)

    def stopListening(self) -> Deferred[None]:  # Twisted's name
        self._reactor.close(self.address)
        return succeed(None)
