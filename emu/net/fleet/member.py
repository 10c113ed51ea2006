"""A member's connection to the hub: made when the process starts, and again whenever it is lost."""

from __future__ import annotations

import os
from typing import Any

from twisted.internet.defer import CancelledError, Deferred
from twisted.internet.interfaces import IHandshakeListener
from twisted.internet.protocol import connectionDone
from twisted.python.failure import Failure
from zope.interface import implementer

from emu.config import Address
from emu.net.fleet.connection import FleetConnection
from emu.net.link.tls import connect, peer_has_fingerprint
from emu.net.logs import logger
from emu.net.scheduler import DelayedCall, Scheduler
from emu.processes.fleet.bus import FleetBus
from emu.processes.fleet.end import FleetEnd
from emu.processes.fleet.greeting import NUMBER_SIZE, Joined, MemberGreeting, Self

_log = logger("processes")
CONNECT_TIMEOUT = 10.0
RETRY_FIRST = 0.5
RETRY_MOST = 10.0
"""Seconds from one attempt to the next; doubled with each that fails."""


@implementer(IHandshakeListener)
class HubConnection(FleetConnection):
    """One connection to the hub."""

    def __init__(self, owner: HubLink) -> None:
        super().__init__(owner.scheduler, owner.bus)
        self._owner = owner
        self._handshake: DelayedCall | None = None

    def connectionMade(self) -> None:
        """Wait for the hub to ask, unless its certificate must be seen first."""
        if self._owner.fingerprint:
            self._handshake = self._scheduler.later(CONNECT_TIMEOUT, self._no_handshake)
        else:
            self._begin()

    def handshakeCompleted(self) -> None:
        """Look at the certificate before anything is said."""
        self._end_handshake()
        if peer_has_fingerprint(self.transport, self._owner.fingerprint):
            self._begin()
        else:
            self._owner.tell("its certificate is not the one of processes.hub_tls_fingerprint")
            self.transport.abortConnection()

    def _no_handshake(self) -> None:
        self._handshake = None
        self._owner.tell("it does not speak TLS on this port")
        self.transport.abortConnection()

    def _end_handshake(self) -> None:
        if self._handshake is not None:
            self._handshake.cancel()
            self._handshake = None

    def _begin(self) -> None:
        self.transport.setTcpNoDelay(True)
        greeting = MemberGreeting(self._owner.own, os.urandom(NUMBER_SIZE))
        self.start(FleetEnd(greeting, self._owner.scheduler.now()))

    def joined(self, who: Joined) -> None:
        """Say that the hub took us."""
        self._owner.joined(who)

    def over(self, reason: str) -> None:
        """Say why not."""
        self._owner.tell(reason)

    def connectionLost(self, reason: Failure = connectionDone) -> None:
        """The connection is gone."""
        self._end_handshake()
        super().connectionLost(reason)
        self._owner.lost()


class HubLink:
    """Keeps a member connected. `start`, then `stop`."""

    def __init__(
        self,
        own: Self,
        hub: Address,
        *,
        fingerprint: str,
        bus: FleetBus,
        reactor: Any,
        scheduler: Scheduler,
    ) -> None:
        """Prepare; with a fingerprint (SHA-256, 64 hex digits) the connection is TLS."""
        self.own = own
        self.fingerprint = fingerprint
        self.bus = bus
        self.scheduler = scheduler
        self.connection: HubConnection | None = None
        self._hub = hub
        self._reactor = reactor
        self._attempt: Deferred[Any] | None = None
        self._later: DelayedCall | None = None
        self._delay = RETRY_FIRST
        self._told = ""
        self._stopped: Deferred[None] | None = None
        self._is_over = False

    def start(self) -> None:
        """Begin to connect."""
        self._later = None
        attempt = self._attempt = connect(
            self._reactor, self._hub.host, self._hub.port, self._build,
            timeout=CONNECT_TIMEOUT, with_tls=bool(self.fingerprint),
        )  # fmt: skip
        attempt.addCallbacks(lambda _: self._forget_attempt(), self._failed)

    async def stop(self) -> None:
        """Close the connection, and connect no more."""
        self._is_over = True
        if self._later is not None:
            self._later.cancel()
        if self._attempt is not None:
            self._attempt.cancel()
        if self.connection is not None:
            self._stopped = Deferred()
            self.connection.cut_off("this process stops")
            await self._stopped

    def joined(self, who: Joined) -> None:
        """The hub has taken us."""
        self._delay = RETRY_FIRST
        self._told = ""
        _log.info("joined the hub {name} at {hub}", name=who.name, hub=self._hub)

    def tell(self, reason: str) -> None:
        """Say why there is no hub, once for each reason."""
        if reason != self._told and not self._is_over:
            self._told = reason
            _log.warn(
                "no hub at {hub}: {reason}; zones of other processes cannot be reached",
                hub=self._hub, reason=reason,
            )  # fmt: skip

    def lost(self) -> None:
        """The connection is gone; try again soon."""
        self.connection = None
        if self._stopped is not None:
            self._stopped.callback(None)
        self._again()

    def _build(self) -> HubConnection:
        self.connection = HubConnection(self)
        return self.connection

    def _forget_attempt(self) -> None:
        self._attempt = None

    def _failed(self, failure: Failure) -> None:
        self._attempt = None
        if not isinstance(failure.value, CancelledError):
            self.tell(f"it cannot be reached ({failure.getErrorMessage().rstrip('.')})")
        self._again()

    def _again(self) -> None:
        if not self._is_over and self._later is None:
            self._later = self.scheduler.later(self._delay, self.start)
            self._delay = min(RETRY_MOST, 2 * self._delay)
