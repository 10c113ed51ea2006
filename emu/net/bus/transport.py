"""Base of the transports of the bus: receivers, counters, and the time of the next attempt.

A transport connects for as long as it runs. It sends a heartbeat to itself every two seconds, and
connects anew when two are missing: a broker that stands still closes no connection.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Final, Protocol

from emu.net.logs import logger
from emu.processes.exchange import Transport

_log = logger("bus")

HEARTBEAT: Final = 2.0
"""Seconds between two heartbeats."""
MISSING: Final = 2
"""Heartbeats that may be missing before the connection counts as lost."""
RETRY_FIRST: Final = 0.25
RETRY_MOST: Final = 2.0
"""Seconds between attempts; doubled after each that fails.

An attempt takes two seconds at most, so that a broker that returns is noticed within four.
"""
MOST_QUEUED: Final = 8 * 1024 * 1024
"""Bytes that may wait to be sent; further messages are dropped."""


class BusReceiver(Protocol):
    """The exchange, as a transport uses it."""

    def connected(self) -> None:
        """Note that messages can be sent and that all subjects are listened to."""

    def disconnected(self) -> None:
        """Note that nobody can be reached."""

    def received(self, subject: str, data: bytes) -> None:
        """Handle a message."""


class BrokerTransport(Transport, Protocol):
    """A transport on a broker; `start`, then `stop`."""

    receiver: BusReceiver
    """Set before `start`."""
    state: TransportState

    def start(self) -> None:
        """Begin to connect, and connect again whenever the connection is lost."""

    async def stop(self) -> None:
        """Send what waits and close the connection."""


class TransportState:
    """What operators see of a transport, and the pauses between its attempts."""

    def __init__(self, broker: str) -> None:
        """`broker` is the address as it may be shown: without a password."""
        self.broker = broker
        self.counters: Counter[str] = Counter()
        self.delay = 0.0
        """Seconds that the last heartbeat took."""
        self.reason = "not connected yet"
        """Why there is no connection; empty while there is one."""
        self._logged = ""
        self._pause = RETRY_FIRST
        self._missing = 0
        self._sent_at: float | None = None

    def connected(self) -> None:
        """Note and log a new connection."""
        if self.counters["connections"]:
            self.counters["reconnects"] += 1
        self.counters["connections"] += 1
        self._pause = RETRY_FIRST
        self.reason = self._logged = ""
        self._missing, self._sent_at = 0, None
        _log.info("connected to the bus at {broker}", broker=self.broker)

    def lost(self, reason: str) -> float:
        """Note why there is no connection; return the seconds until the next attempt.

        The reason is logged when it is another one than before.
        """
        self.reason = reason
        if reason != self._logged:
            self._logged = reason
            _log.warn(
                "no bus at {broker}: {reason}; other processes cannot be reached until it is back",
                broker=self.broker, reason=reason,
            )  # fmt: skip
        pause = self._pause
        self._pause = min(RETRY_MOST, 2 * pause)
        return pause

    def beat(self, now: float, send: Callable[[], object]) -> bool:
        """Send a heartbeat; return False if too many are missing."""
        if self._sent_at is not None:
            self._missing += 1
            if self._missing >= MISSING:
                return False
        else:
            self._sent_at = now
        send()
        return True

    def heard_beat(self, now: float) -> None:
        """Note that a heartbeat has come back."""
        if self._sent_at is not None:
            self.delay = now - self._sent_at
        self._missing, self._sent_at = 0, None

    def dropped(self, messages: int = 1) -> None:
        """Count messages that were not sent."""
        self.counters["dropped"] += messages
