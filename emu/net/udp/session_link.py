"""A session as the core of a service uses it: to send, to end it, to run coroutines for it."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from twisted.logger import Logger
from twisted.python.failure import Failure

from emu.net.tasks import run
from emu.net.udp.session_port import SessionPort


def nothing() -> None:
    """Do nothing when a session ends."""


class SessionLink:
    """The `ClientLink` of a client of the login service, and the `EntrantLink` of a player's."""

    __slots__ = ("_failure", "_log", "_port", "closing")

    def __init__(self, port: SessionPort, log: Logger, failure: str) -> None:
        """`failure` is what the log says when a coroutine raises."""
        self._port = port
        self._log = log
        self._failure = failure
        self.closing: Callable[[], object] = nothing
        """Is called when our side ends the session, whose last answer may take seconds."""

    def send(self, opcode: int, payload: bytes) -> None:
        """Send one application message in this turn of the reactor."""
        self._port.session.send(opcode, payload)
        self._port.touch()

    def trust(self) -> None:
        """Lift the limits of a stranger."""
        self._port.session.trust()

    def charge_to(self, account_id: int) -> None:
        """Charge the work for the session to an account; an earlier session's counts as well."""
        self._port.charge_to(account_id)

    def close(self, reason: str = "") -> None:  # noqa: ARG002  # the service has logged it
        """Close the session after what was sent has left."""
        self._port.session.close()
        self._port.touch()
        self.closing()

    def room(self) -> int:
        """Return how many bytes may usefully be sent now."""
        return self._port.room()

    def round_trip(self) -> float | None:
        """Return the seconds that a datagram takes there and back; None while not measured."""
        return self._port.session.statistics().smoothed_round_trip

    def wake(self) -> None:
        """Have the timer asked for again."""
        self._port.touch()

    def start(self, work: Coroutine[Any, Any, None]) -> None:
        """Run a coroutine of the service; the session ends with what it raises.

        The time that it takes is charged to the session, whenever it goes on.
        """
        run(work, self._failed, timed=self._port.timed)

    def set_busy(self, *, busy: bool) -> None:
        """Say whether the service takes no message now; further ones wait in the session."""
        self._port.set_busy(busy=busy)

    def _failed(self, failure: Failure) -> None:
        self._log.failure(self._failure, failure)
        self.close()
